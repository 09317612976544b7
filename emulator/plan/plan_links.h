/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_links: the links of a lab as they are built, for machines to read: what limits them and by
 * what means, who impairs them. For `vpclab inspect --json` and the results of scenarios.
 */
#ifndef VPCLAB_PLAN_PLAN_LINKS_H
#define VPCLAB_PLAN_PLAN_LINKS_H

#include <jansson.h>

#include "emulator/model/topology.h"

/*
 * A list: {"name", "a", "b": nodes, "ab", "ba": directions, "ab_words", "ba_words": {"limits",
 * "impairments"}, "impaired_by": "none", "netem", "relay", "sum", "connections", "profile"}, the
 * last two where there are any. A direction is null where nothing limits it, else {"rate_bps",
 * "basis", "mode", "burst_bytes", "queue_bytes", "queue_packets", "burst_rate_bps", "credit_s":
 * what the kernel's bucket really holds, "declared_credit_s", "policed_by", "packets_pps",
 * "packets_burst", "packets_policed_by"}, null where there is none. Gives a reference.
 */
json_t *plan_links_json(const struct wire *w, const struct machine *m);

#endif
