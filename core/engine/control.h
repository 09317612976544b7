/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control: JSON objects, one a line, on a pair of descriptors. Both ends of a measurement's control
 * channel use it. It never blocks on reading; the owner polls `in`.
 *
 * Heartbeats: both ends send {"type":"alive"} each CONTROL_BEAT_NS, which keeps the channel open in
 * the tables of NATs and firewalls, and a peer that has begun to do so and falls silent is noticed.
 * They are taken out of what control_next() gives. A peer that never sends any, such as a person at
 * a terminal, is not expected to.
 */
#ifndef VPCLAB_ENGINE_CONTROL_H
#define VPCLAB_ENGINE_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

struct control {
	int in, out; /* borrowed */
	char *buf;
	size_t len, cap;
	bool eof;
	bool stuck;	  /* the peer has not read for CONTROL_SILENCE_NS */
	bool beats;	  /* the peer sends heartbeats */
	int64_t heard_ns; /* when the last byte came */
	int64_t beat_ns;  /* when the next one of ours is due */
};

#define CONTROL_BEAT_NS	   INT64_C(1000000000)
#define CONTROL_SILENCE_NS INT64_C(4000000000)
#define CONTROL_PATIENT_NS INT64_C(20000000000)

/* How long a worker with so many streams, or its driver, may be silent, when its window ends at
 * end_ns. Where hundreds of threads are runnable, on this machine or on the other one, who sends
 * heartbeats waits for its turn for seconds, and that is no death: until the window is over nothing
 * is lost by waiting longer. A measurement whose peer is gone still ends within 5 s of its
 * duration. */
static inline int64_t control_patience_ns(int streams, int64_t end_ns, int64_t now_ns)
{
	int64_t more = streams > 100 ? streams * INT64_C(1000000) : 0;
	return (now_ns < end_ns + CONTROL_SILENCE_NS / 2 ? CONTROL_PATIENT_NS
							 : CONTROL_SILENCE_NS) +
	       more;
}

void control_init(struct control *c, int in, int out);
void control_done(struct control *c); /* frees memory, leaves the descriptors open */

/* Reads once what is there; call it after poll() said so. Sets eof. Negative errno on failure. */
int control_fill(struct control *c, struct err *err);

/* The next whole message, or NULL with 0 in *status when there is none yet; a line that is no JSON
 * object gives NULL and -EINVAL. Gives a reference. */
json_t *control_next(struct control *c, int *status, struct err *err);

/* Writes one message whole and releases it; a peer that is gone is -EPIPE and never a signal, one
 * that has not read for CONTROL_SILENCE_NS is -ETIMEDOUT, from then on at once. */
int control_send(struct control *c, json_t *message, struct err *err);

/* Sends a heartbeat where one is due; to a peer that is gone it is no error. */
int control_beat(struct control *c, struct err *err);

/* True when the peer should have been heard and was not, for `limit_ns`. Ask only after poll() has
 * said that there is nothing to read: this process may have been stopped meanwhile. */
bool control_silent(const struct control *c, int64_t limit_ns);

/* The text of "type", "" where there is none; borrows. */
const char *control_type(const json_t *message);

#endif
