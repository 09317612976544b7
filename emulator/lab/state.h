/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state: what is known of a running lab outside it: BASE/NAME/state.json, written by its watcher,
 * read by every later command.
 */
#ifndef VPCLAB_LAB_STATE_H
#define VPCLAB_LAB_STATE_H

#include <jansson.h>

#include "emulator/lab/ident.h"
#include "emulator/lab/lab.h"
#include "emulator/lab/rundir.h"

#define STATE_VERSION 1

enum state_life {
	STATE_STARTING, /* a command builds it just now */
	STATE_RUNNING,
	STATE_ENDED,   /* its supervisor is gone, or never was */
	STATE_UNKNOWN, /* its processes cannot be looked at: err says why */
};

/* The state of a lab that is being started; gives a reference. */
json_t *state_new(const char *name, const struct lab_up_options *o);

/* Puts in who the processes are, as `supervisor`, `watcher`. */
void state_set_ident(json_t *state, const char *key, const struct ident *id);
int state_get_ident(const json_t *state, const char *key, struct ident *id, struct err *err);

/* DIR/state.json, whole or not at all. `dir` is the lab's run directory. */
int state_write(const char *dir, const json_t *state, struct err *err);
/* Gives a reference. -ENOENT without one; -EPROTO where it is no state of this lab and version. */
int state_read(const struct rundir *r, json_t **state, struct err *err);

/* Does the lab that it describes live? *pidfd (may be NULL) is one of its supervisor when running:
 * a process of this user's, in the user namespace that the state says. */
enum state_life state_life(const json_t *state, int *pidfd, struct err *err);

/* The options that its topology was compiled with. */
int state_options(const json_t *state, struct compile_options *o, struct err *err);
/* The topology of the state, compiled with the state's own options. */
int state_compile(const json_t *state, struct wire *w, struct err *err);
/* The same with other overrides than the state has; ERR_INPUT says what is wrong with them. */
struct state_compile {
	const json_t *state, *sets;
	json_t **files; /* gets a reference to what the state then has as "files"; or NULL */
};
int state_compile_sets(const struct state_compile *c, struct wire *w, struct err *err);

/* That topology with these overrides (an array of texts); all borrowed from the two. To be freed
 * with state_source_done() in either case. */
int state_source(const json_t *state, const json_t *sets, struct topology_source *src,
		 struct err *err);
void state_source_done(struct topology_source *src);

/* "2026-11-30 12:46:36", in local time; for messages. */
const char *state_time(char buf[static 32], const json_t *state);

#endif
