/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qdisc: rtnetlink messages for traffic control, one message a step (core/base/tc.h).
 *
 * Adding wants the place to be free. Changing speaks to what is there by the same handle and keeps
 * its queue and counters: TBF and fifos keep all packets (a TBF's buckets are full afterwards), a
 * class of HTB keeps its leaf, its tokens stay as they are; netem keeps packets with the times they
 * have. HTB itself cannot be changed, only its classes; a policer and a clsact are not changed but
 * replaced. Deleting takes away what hangs below too; packets that wait there are lost.
 */
#ifndef VPCLAB_KERNEL_QDISC_H
#define VPCLAB_KERNEL_QDISC_H

#include "core/base/tc.h"
#include "emulator/kernel/nl.h"

enum qdisc_how { QDISC_ADD, QDISC_CHANGE };

/* `dev` is for errors only. */
void qdisc_step(struct nl_batch *batch, const char *dev, int ifindex, const struct tc_step *s,
		enum qdisc_how how);
void qdisc_delete(struct nl_batch *batch, const char *dev, int ifindex, const struct tc_step *s);

/* Attributes of a netem step, for qdisc_step() and tests (netem.c). */
void qdisc_put_netem(struct nlmsghdr *nlh, const struct tc_netem *n);

#endif
