/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adapter: how somebody else's measuring tool is found, started, stopped and read: a YAML file, no
 * code. scenarios/tools/skeleton.yaml documents every key. Pure: nothing is started here.
 *
 * Texts and arrays live in the adapter's arena.
 */
#ifndef VPCLAB_TOOLS_ADAPTER_H
#define VPCLAB_TOOLS_ADAPTER_H

#include "core/base/problems.h"
#include "core/base/yaml.h"
#include "core/tools/figure.h"

/* A word of a command line. A group is there only when the asker gave what it names. */
struct tool_word {
	const char *text; /* with {placeholders}, see command.h; NULL: a group */
	const char *when; /* group: name of a placeholder (`with: streams`, `without: rate.bps`) */
	bool absent;	  /* group: `without` */
	VEC(const char *) words; /* group */
	struct mark at;
};

enum tool_ready { READY_AT_ONCE, READY_LISTEN_TCP, READY_LISTEN_UDP, READY_LINE };

struct tool_command {
	bool given;
	VEC(struct tool_word) argv; /* first: "{program}" where it is the adapter's own */
	enum tool_ready ready;	    /* server: when the client may start */
	const char *ready_line; /* READY_LINE: a regular expression that a line of its output has */
	const char *ready_port; /* READY_LISTEN_…: with placeholders; NULL: {port} */
	bool ends;	 /* server: ends by itself after one client (then its result is whole) */
	int stop_signal; /* server: how it is told to end; default SIGINT */
};

/* Where a figure is read from. */
enum tool_source { FROM_CLIENT_OUT, FROM_CLIENT_ERR, FROM_SERVER_OUT, FROM_SERVER_ERR };
enum tool_pick { PICK_LAST, PICK_FIRST, PICK_SUM, PICK_MEAN, PICK_MIN, PICK_MAX };
/* Whose figure the tool says it is, whatever it really is. */
enum tool_side { SIDE_CLAIMED, SIDE_SENDER, SIDE_RECEIVER };

struct tool_read {
	enum figure figure;
	struct mark at;
	enum tool_source from;
	const char *path; /* into JSON output: a.b[0].c, [*] for all; or … */
	const char
	    *match; /* … PCRE2 with a capture named `value`, and `unit` where the text has it */
	enum tool_pick pick; /* of several matches; default last */
	const char *unit;    /* of the value, see figure.h; NULL: the capture says it */
	double factor;	     /* besides the unit, such as 2 for a half round trip; default 1 */
	enum tool_side side;
	bool headline; /* what a person takes the tool's answer to be; the first that is found */
	double absent; /* the value where nothing is found; NAN: then there is none */
	bool series;   /* the values are one a time interval, not one figure */
};

struct tool_exit {
	int status;
	bool ok; /* the tool says by it that its result is valid */
};

struct tool_test {
	const char
	    *name; /* as our engines': tcp_stream, udp_stream, tcp_rr, udp_rr, udp_latency, ping */
	struct mark at;
	struct tool_command server, client;
	VEC(struct tool_read) reads;
	VEC(struct tool_exit) exits;  /* statuses that are not in it: 0 is ok, all others are not */
	VEC(const char *) warnings;   /* regular expressions: a line that has one is a warning */
	double default_size, start_s; /* bytes, 0: not known; seconds before its first packet */
};

struct tool_fault {		  /* known, with where it was reported */
	const char *id, *kind;	  /* kind: as judge.h names it, or NULL */
	const char *trials;	  /* names, or NULL: any */
	const char *least, *most; /* versions, inclusive; NULL: no bound */
	const char *reference;
	struct mark at;
};

struct adapter {
	struct arena arena;
	const char *file, *name, *title;
	const char *program; /* with a slash: a path; else it is looked for in PATH */
	const char *package_debian, *package_fedora; /* or NULL */
	VEC(const char *) version_args;
	const char *version_match; /* PCRE2 with a capture named `version` */
	VEC(struct tool_test) tests;
	VEC(struct tool_fault) faults;
};

/* Gives an adapter also when there are problems (then it must only be freed). */
struct adapter *adapter_parse(const char *name, const char *text, size_t len, struct problems *p);
void adapter_free(struct adapter *a);
const struct tool_test *adapter_test(const struct adapter *a, const char *name); /* or NULL */

/* Dotted versions: 3.7-no.git < 3.12 < 3.16.1. Negative, 0, positive. */
int adapter_version_compare(const char *a, const char *b);
/* The known fault of that kind in that version and trial, or NULL. */
const struct tool_fault *adapter_known(const struct adapter *a, const char *version,
				       const char *kind, const char *trial);

/* Has its client's command line such a placeholder, or one that begins so: "{rate.", "{dscp}"? */
bool tool_test_takes(const struct tool_test *t, const char *placeholder);

#endif
