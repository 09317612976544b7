/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair: what the driver knows of its two workers, and hearing them. Private to pair.c and
 * pair_hear.c. */
#ifndef VPCLAB_ENGINE_PAIR_H
#define VPCLAB_ENGINE_PAIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/engine/clock_offset.h"
#include "core/engine/control.h"
#include "core/engine/engine.h"

#define PAIR_TRACK_NS INT64_C(100000000) /* from look to look: 60 µs of clocks apart, at most */

enum pair_side { PAIR_CLIENT, PAIR_SERVER };
enum pair_when { PAIR_BEFORE, PAIR_AFTER };

struct pair {
	const struct engine_spec *spec;
	const struct engine_hooks *hooks; /* may be NULL */
	struct control ctl[2];
	json_t *ready[2], *connected, *result[2]; /* owned */
	json_t *intervals[2];			  /* arrays of those that came; owned */
	bool ended[2];				  /* sent its result or error */
	bool told[2];				  /* its totals went to the other one */
	bool stopping;				  /* both have been told to end */
	bool stopped;				  /* by the caller's stop_fd */
	bool running;				  /* the start is known to both */
	bool silent[2];				  /* no heartbeat for too long */
	int64_t begun_ns, setup_ns;		  /* the first message; until all is connected */
	int64_t end_ns;				  /* of the window, once running */
	bool own_clocks, one_clock;
	enum pair_side asked; /* for the time; how often, and when */
	int rounds;
	enum pair_when when;
	struct clock_offset clock[2][2];
	struct clock_track track[2]; /* while the streams run */
	int64_t track_asked_ns[2];   /* the last question of it; 0: none yet */
	struct err failure;	     /* what a worker said went wrong; kind 0: nothing */
};

extern const char *const pair_names[2], *const pair_roles[2]; /* by side */

/* Tells those that have not ended to stop. One that cannot be told is gone, which reading shows. */
void pair_stop(struct pair *p);

/* Waits for a message of either, at most until the deadline, and takes it in. -ETIMEDOUT sets no
 * text. */
int pair_poll(struct pair *p, int64_t deadline_ns, struct err *err);

/* Its channel ended, or fell silent, before its last message; and what to say then (-EPIPE). */
bool pair_dead(const struct pair *p, int side);
int pair_death(const struct pair *p, int side, struct err *err);

/* Until the condition holds; an error when a worker has failed or died, or when time is up:
 * "WHAT did not happen in time". */
int pair_until(struct pair *p, bool (*condition)(const struct pair *), int64_t deadline_ns,
	       const char *what, struct err *err);

#endif
