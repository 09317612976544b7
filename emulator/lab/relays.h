/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * relays: the relays of a lab: started below its supervisor, asked and changed by the name of their
 * link, watched. What a relay does is emulator/relay's business.
 *
 * A relay is a child of whoever starts it, in a lab the process that builds; when that has ended,
 * the supervisor inherits it, collects it, and dies with it. Nothing else holds it: one that dies
 * by itself leaves its link cut, which relays_check() tells (and the supervisor's log).
 */
#ifndef VPCLAB_LAB_RELAYS_H
#define VPCLAB_LAB_RELAYS_H

#include <jansson.h>
#include <sys/types.h>

#include "core/base/str.h"
#include "emulator/lab/lab.h"
#include "emulator/lab/rundir.h"
#include "emulator/relay/relay.h"

/* Inside a lab (its mount namespace, where /run is its own) ------------------------------------ */

/*
 * Starts the relay of spec->name in the network namespace of the calling THREAD, whose devices must
 * be there and up, and returns when it passes packets (or with the error that it ended with). The
 * relay keeps no descriptor of the caller but standard error. It always has a fate log, of
 * RELAY_FATES_MAX records where spec->fates_max is 0. May be called from several threads.
 */
int relays_start(const struct relay_spec *spec, struct err *err);

/* Asks the relay of a link, see relay_ask(). -ENOENT: none of that name was started here; -ESRCH:
 * it has ended. */
int relays_ask(const char *link, const json_t *command, json_t **answer, struct err *err);

/* Gives the relay of a link other impairments, both directions at once. NULL: that direction stays.
 */
int relays_set(const char *link, const struct wire_impair *ab, const struct wire_impair *ba,
	       struct err *err);

/* Adds its fate log, the bytes that fatelog_open() of emulator/relay/fatelog.h takes. */
int relays_log(const char *link, struct strbuf *bytes, struct err *err);

/*
 * For each relay of the plan's wire model: is it there and does it what it should? Adds a line a
 * difference ("wires: relay of r-b: has ended"), and their number to *n.
 */
int relays_check(const struct wire *w, struct strbuf *differences, size_t *n, struct err *err);

/* Its process, in the lab's PID namespace; 0: none was started here. */
pid_t relays_pid(const char *link);

/* The supervisor has collected a child that it does not know: if it was a relay, the log says so.
 */
void relays_collected(pid_t pid, int wait_status, const struct rundir *run);

/* From outside --------------------------------------------------------------------------------- */

/* Asks the relays of all links that have one: {LINK: stats, …}; of one that has ended
 * {LINK: {"ended": true, "why": …}}. Gives a reference. */
int relays_read(const struct lab *lab, const struct wire *w, json_t **out, struct err *err);

/* Its fate log as the bytes that fatelog_open() takes. Heap. */
int relays_fates(const struct lab *lab, const char *link, char **bytes, size_t *len,
		 struct err *err);

/* Stops the relay of a link as it stands, or lets it go on: what is on its way, and what arrives
 * meanwhile, waits. -ENOENT: the link has none. */
int relays_freeze(const struct lab *lab, const char *link, bool stop, struct err *err);

/*
 * Were the relays the limit between two relays_read()s? True when one has ended, when packets
 * overran one, or when more than one in a hundred were put out late; `why` then says so.
 */
bool relays_limited(const json_t *before, const json_t *after, char *why, size_t size);

/* How many packets a second a relay carries here, one direction, measured in a scratch namespace in
 * less than 0.3 s, about. Other load makes it less. */
int relays_measure(int64_t *pps, struct err *err);

#endif
