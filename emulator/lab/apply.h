/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply: the plan's operations as kernel calls. The only place where plan and kernel meet.
 *
 * Runs inside the supervisor (private mount namespace with a tmpfs on /run). Phases go one after
 * the other; inside a phase, namespaces are spread over two threads. The first error stops
 * everything: the supervisor then exits and the kernel cleans up. While it runs, a namespace costs
 * two file descriptors: the caller raises its limit.
 */
#ifndef VPCLAB_LAB_APPLY_H
#define VPCLAB_LAB_APPLY_H

#include <jansson.h>

#include "emulator/plan/plan.h"

struct apply_result {
	int64_t phase_ns[PHASE_COUNT];
	/*
	 * What ran where several ways exist; a reference that the caller drops:
	 * {"h1": {"ovs_datapath": "netdev", "ovs_port": "afxdp-nonpmd", "ovs_port_why": "…"}}.
	 * ovs_port is one of ovs_instance.ran_ports; ovs_port_why, where faster kinds were tried in
	 * vain, tells why they do not work.
	 */
	json_t *choices;
};

int apply_plan(const struct plan *plan, struct apply_result *out, struct err *err);

#endif
