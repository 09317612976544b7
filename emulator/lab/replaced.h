/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replaced: what queues had dropped that a change of the lab has replaced by others (a kernel
 * forgets the counters of a qdisc with the qdisc), and what came before a relay was there. The
 * account of a link must know both.
 *
 * Inside a lab only. It is kept in a file of the lab's own /run, and ends with the lab. Failing to
 * keep it fails nothing: then the ledger has a hole, and says so.
 */
#ifndef VPCLAB_LAB_REPLACED_H
#define VPCLAB_LAB_REPLACED_H

#include <jansson.h>

#include "emulator/kernel/dump.h"

struct replaced {
	struct dump before;
};

/* Around what may replace root qdiscs in the namespace of `rt`, a NETLINK_ROUTE socket. The second
 * one is needed after the first, whatever happened between. */
void replaced_before(struct replaced *r, int rt);
void replaced_after(struct replaced *r, const char *node, int rt);

/*
 * The relay of a link has just been started in the namespace of `rt`: what its two devices had
 * received by then, it never saw. Takes no time where that is nothing, as usual.
 */
struct relay_spec;
void replaced_unseen(const struct relay_spec *spec, const char *node, int rt);

/*
 * {NODE: {DEVICE: packets dropped by the root qdiscs that it had before,
 *         "DEVICE rx": packets that it received before its relay was there}}. Gives a reference.
 */
json_t *replaced_read(void);

#endif
