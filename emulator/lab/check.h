/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check: compares what the kernel has with what the plan says. It changes nothing.
 */
#ifndef VPCLAB_LAB_CHECK_H
#define VPCLAB_LAB_CHECK_H

#include <jansson.h>

#include "core/base/str.h"
#include "emulator/plan/plan.h"

/*
 * Compares every namespace of the plan: devices (kind, index, MTU, MAC, master, up, names),
 * addresses, routes, neighbours, forwarding entries, shapers, features, sysctls, nftables rules.
 * bridges, ports and flows of Open vSwitch. What is there and not planned is a difference too. Adds
 * one line of text per difference ("NODE: …"), and their number to *n. Not compared: the counters
 * of count_install(). `choices` (or NULL) is apply_result.choices: which datapath of Open vSwitch
 * runs.
 *
 * Runs inside the lab (its user and mount namespaces), in a process of its own: the calling thread
 * is moved through the network namespaces and left in one. Negative errno: something could not be
 * read.
 */
int check_compare(const struct plan *plan, const json_t *choices, struct strbuf *differences,
		  size_t *n, struct err *err);

#endif
