/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fatelog: what became of each of the first packets of a link, an answer key to the last packet.
 *
 * The relay writes records of fixed size into a memory file that it shares with whoever asks
 * (relay_fates() passes the descriptor), so reading costs the relay nothing. A departure is filled
 * in when the packet goes. Beyond the records that were asked for it only counts.
 *
 * The bytes of a log, as fatelog_save() gives them and fatelog_open() takes them: struct
 * fatelog_head, then the records of a→b, then those of b→a, in the byte order of the machine.
 */
#ifndef VPCLAB_RELAY_FATELOG_H
#define VPCLAB_RELAY_FATELOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/str.h"
#include "emulator/relay/fate.h"
#include "emulator/relay/relay.h"

#define FATELOG_BYTES 64 /* of each packet that are kept */
#define FATELOG_NAME  256

enum fatelog_flag {
	FATELOG_CORRUPTED = 1 << 0,
	FATELOG_COPY = 1 << 1,	    /* the second of a duplicated packet; same number */
	FATELOG_REORDERED = 1 << 2, /* held back until a later one had passed */
	FATELOG_LATE = 1 << 3,	    /* put out more than 0.5 ms after it was due */
};

struct fatelog_record {
	uint64_t number;		  /* in its direction, from 1 */
	int64_t arrival_ns, departure_ns; /* CLOCK_MONOTONIC; 0: it did not depart (yet) */
	int64_t due_ns;			  /* 0: never */
	uint32_t len;			  /* of the frame */
	uint8_t cause;			  /* enum fate_cause */
	uint8_t flags;
	uint16_t kept; /* bytes in `data`, as they arrived */
	uint8_t data[FATELOG_BYTES];
};

struct fatelog_dir {
	char in[16], out[16];
	uint64_t n, max;     /* records */
	uint64_t not_logged; /* packets and copies that came when it was full */
};

struct fatelog_head {
	char magic[8]; /* "VPCLFATE" */
	uint32_t record_bytes, directions;
	int64_t wall_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC when it began */
	char link[FATELOG_NAME];
	struct fatelog_dir dir[RELAY_DIRECTIONS];
};

/* The relay's side ----------------------------------------------------------------------------- */

struct fatelog {
	int fd; /* -1: there is no log */
	struct fatelog_head *head;
	struct fatelog_record *records[RELAY_DIRECTIONS];
	size_t bytes;
};

/* Of s->fates_max records a direction; 0: no log, and all calls do nothing. */
int fatelog_init(struct fatelog *l, const struct relay_spec *s, struct err *err);
void fatelog_done(struct fatelog *l);
/* A new record, zeroed, or NULL: it is full (counted), or there is no log. */
struct fatelog_record *fatelog_add(struct fatelog *l, int direction);

/* The reader's side ---------------------------------------------------------------------------- */

/* Copies the log out of its memory file. */
int fatelog_save(int fd, struct strbuf *out, struct err *err);

/* The log of a running relay as bytes. -ENOENT: it keeps none, or there is no relay. */
int relay_fates(const char *control_path, struct strbuf *out, struct err *err);

struct fatelog_view { /* borrows the bytes */
	const struct fatelog_head *head;
	const struct fatelog_record *records[RELAY_DIRECTIONS];
};
/* `bytes` aligned as malloc() does. -EPROTO: that is no log. */
int fatelog_open(const void *bytes, size_t len, struct fatelog_view *out, struct err *err);

/* Both directions by time of arrival: *direction and the record, or NULL at the end. Begin with
 * at = {0, 0}. */
const struct fatelog_record *fatelog_next(const struct fatelog_view *v, size_t at[RELAY_DIRECTIONS],
					  int *direction);

const char *fatelog_fate(const struct fatelog_record *r); /* "passed", "lost", "waits" */
/* Adds "loss", "corrupted, late": why it was lost and what else was done to it; often nothing. */
void fatelog_why(const struct fatelog_record *r, struct strbuf *out);
/* Adds "10.0.0.1 → 10.0.0.2 udp 5000 → 5001", as far as the bytes that were kept say. */
void fatelog_packet(const struct fatelog_record *r, struct strbuf *out);
/* Adds it all in one line: "#12 passed after 10.02 ms: corrupted". */
void fatelog_words(const struct fatelog_record *r, struct strbuf *out);
json_t *fatelog_json(const struct fatelog_record *r, int direction); /* gives a reference */

/*
 * As pcapng (IETF draft-ietf-opsawg-pcapng): an interface a direction, each packet with the bytes
 * that were kept, its time of arrival, and its fate as a comment.
 */
void fatelog_pcapng(const struct fatelog_view *v, struct strbuf *out);

#endif
