/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ovs_trial: which kind of port of the userspace datapath works here; for ovs.c. */
#ifndef VPCLAB_KERNEL_OVS_TRIAL_H
#define VPCLAB_KERNEL_OVS_TRIAL_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/base/str.h"

struct ovs_kind {
	const char *name; /* in results */
	const char *type; /* of OVS interfaces that can be of it, or NULL: packet sockets */
	bool tso;	  /* other_config:userspace-tso-enable, read when vswitchd starts */
};

/*
 * Gives the fastest kind by which a TCP connection between two scratch namespaces, through a
 * scratch instance, carries data. Everything of the trial is gone or going when it returns. `why`
 * gets the reason for each kind that did not work, "KIND: …; KIND: …". ERR_UNSUPPORTED when none
 * does.
 */
int ovs_trial(bool xdp, const struct ovs_kind **kind, struct strbuf *why, struct err *err);

#endif
