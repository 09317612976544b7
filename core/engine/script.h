/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script: what the pairs of a run do, as a program of few commands. From JSON; pure.
 *
 *   {"version": 1, "name": "…", "end": "time"|"all"|"first", "duration": "5s",
 *    "variables": {"NAME": AMOUNT, …},
 *    "groups": [{"name": "…", "pairs": 10, "protocol": "tcp"|"udp"|"rtp", "validate": false,
 *                "initial_delay": TIME, "variables": {…}, "voip": {…}, "commands": [COMMAND, …]}]}
 *
 * One list of commands, seen from E1, the client; E2, the server, does the other half of each, so
 * that the two cannot disagree:
 *
 *   connect                             E1 connects, E2 accepts
 *   send: SIZE                          E1 → E2; or {size, buffer, rate}: in writes (datagrams) of
 *                                       `buffer`, not faster than `rate`
 *   receive: SIZE                       E2 → E1; the same keys; tcp alone
 *   confirm                             E2 says in one byte that it has got all up to here
 *   sleep: TIME                         or {time: TIME, at: e1|e2}
 *   loop: {count: COUNT, do: [COMMAND…]}  without count: until the run ends; up to 4 in each other
 *   start_timer, end_timer              a timing record. Its transactions: the turns of the
 *                                       innermost loops in it, or 1
 *   disconnect
 *
 * SIZE, TIME and COUNT are a number with its unit, a variable's name, or random: {uniform: [a, b]},
 * {normal: [mean, deviation]}, {poisson: mean}, {exponential: mean}. Sizes are whole bytes, at
 * least 1; a Poisson time counts milliseconds. What is drawn depends on seed, pair and the place in
 * its sequence alone, so both ends know the sizes without telling each other.
 *
 * voip: {codec, frames: N in a datagram, jitter_buffer: TIME, extra_delay: TIME}; then `send` takes
 * how long is spoken instead of a size.
 */
#ifndef VPCLAB_ENGINE_SCRIPT_H
#define VPCLAB_ENGINE_SCRIPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/engine/voip.h"
#include "core/stats/distribution.h"

#define SCRIPT_DEPTH	4
#define SCRIPT_PAIRS	10000
#define SCRIPT_GROUPS	100
#define SCRIPT_DATAGRAM 32 /* bytes of payload that a datagram has at least: our own header */
#define SCRIPT_OPS	1000

enum script_command {
	SCRIPT_CONNECT,
	SCRIPT_DISCONNECT,
	SCRIPT_SEND,
	SCRIPT_RECEIVE,
	SCRIPT_CONFIRM,
	SCRIPT_SLEEP,
	SCRIPT_LOOP, /* `other`: where it goes on after the last turn */
	SCRIPT_NEXT, /* end of a turn; `other`: its SCRIPT_LOOP */
	SCRIPT_START,
	SCRIPT_END,
	SCRIPT_DONE, /* the last of every group */
};

enum script_protocol { SCRIPT_TCP, SCRIPT_UDP, SCRIPT_RTP };
enum script_end { SCRIPT_BY_TIME, SCRIPT_ALL, SCRIPT_FIRST };

struct script_amount { /* bytes, ns or turns */
	struct distribution d;
	double scale; /* of what is drawn */
	int64_t min, max;
};

struct script_op {
	enum script_command command;
	struct script_amount amount; /* send, receive, sleep; loop: max 0: for ever */
	int64_t buffer;		     /* bytes a write or a datagram */
	int64_t gap_ns;		     /* between the beginnings of two of them; 0: none */
	int other, depth;	     /* loops */
	bool at_e2;		     /* sleep */
	bool turns;		     /* loop: its turns are transactions */
	bool soon;		     /* connect: E1 sends next, so the greeting can go with that */
};

struct script_voip {
	const struct voip_codec *codec; /* NULL: no voice */
	int64_t datagram_ns;		/* speech in a datagram */
	int64_t jitter_buffer_ns, extra_delay_ns;
};

struct script_group {
	const char *name;
	int first, pairs; /* numbers of its pairs in the run: first … first + pairs − 1 */
	enum script_protocol protocol;
	bool validate;
	struct script_amount initial_delay;
	struct script_voip voip;
	VEC(struct script_op) ops;
};

struct script {
	struct arena arena;
	const char *name;
	enum script_end end;
	int pairs;
	bool tcp, udp; /* some group is */
	VEC(struct script_group) groups;
};

/* Where in the JSON a mistake is: a JSON pointer (RFC 6901, without escapes), and whether it is the
 * key itself or its value. */
struct script_where {
	char pointer[256];
	bool key;
};

/* -EINVAL: err has what is wrong, `where` (may be NULL) where. script_done() in either case. */
int script_parse(const json_t *j, struct script *s, struct script_where *where, struct err *err);
/* The same from JSON text; the error begins with the place. */
int script_parse_text(const char *text, struct script *s, struct err *err);
void script_done(struct script *s);

/* Whether an amount needs a draw, and the n-th draw of a pair. */
static inline bool script_random(const struct script_amount *a)
{
	return a->d.kind != DISTRIBUTION_CONSTANT;
}
int64_t script_draw(const struct script_amount *a, int64_t seed, uint32_t pair, uint64_t n);

const struct script_group *script_group_of(const struct script *s, uint32_t pair);

#endif
