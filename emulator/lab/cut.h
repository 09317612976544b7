/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cut: devices of a running lab at which everything that arrives is lost, without a word to whoever
 * sent it: a cable that is pulled somewhere on the way.
 *
 * A rule at the device's ingress, before bridges, routes and the lab's own rules see the packet,
 * and behind the counters of what was sent (count.h). What AF_XDP takes off a device passes it by.
 */
#ifndef VPCLAB_LAB_CUT_H
#define VPCLAB_LAB_CUT_H

#include "emulator/lab/lab.h"

struct cut_at {
	const char *node, *dev;
};

/* Both may be said again: of a device that is cut, or is not, nothing changes. */
int cut_device(const struct lab *lab, const struct cut_at *at, struct err *err);
int cut_mend(const struct lab *lab, const struct cut_at *at, struct err *err);

#define CUT_PRIORITY (-900) /* of its chain; count.h's is before it or, `behind`, after it */

#endif
