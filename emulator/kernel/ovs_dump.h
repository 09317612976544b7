/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ovs_dump: what a private Open vSwitch instance (ovs.h) has: bridges and ports from its database,
 * flows from its switch. It changes nothing. Called by emulator/lab/check_ovs.c.
 */
#ifndef VPCLAB_KERNEL_OVS_DUMP_H
#define VPCLAB_KERNEL_OVS_DUMP_H

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/str.h"

struct ovs_dump_port {
	const char *name;
	int number;	   /* OpenFlow's; -1: the switch could not set it up, or has not yet */
	const char *error; /* why not, or NULL */
	int vlan;	   /* its tag; 0: none */
};

struct ovs_dump_bridge {
	const char *name;
	const char *datapath;		 /* "system", "netdev", "dummy" */
	const char *hwaddr;		 /* other_config:hwaddr, or NULL */
	VEC(struct ovs_dump_port) ports; /* without the bridge's own */
};

struct ovs_dump { /* zeroed is empty; strings live in its arena */
	struct arena arena;
	VEC(struct ovs_dump_bridge) bridges;
};

/*
 * Reads the instance of namespace `ns`, which is open as ns_fd. ovs_dump_done() also on failure:
 * no answer, no programs (ERR_UNSUPPORTED).
 */
int ovs_dump(const char *ns, int ns_fd, struct ovs_dump *out, struct err *err);
void ovs_dump_done(struct ovs_dump *dump);

/* The port of that name, or NULL. */
const struct ovs_dump_port *ovs_dump_find_port(const struct ovs_dump_bridge *b, const char *name);

/*
 * Compares the flows of a bridge with those of `planned`: one a line, as in struct ovs_flow, all of
 * whose ports are there. The rule that every bridge begins with (NORMAL, priority 0) is understood.
 * Adds a line to `differences` for each flow that is only planned ("-…") or only there ("+…"), as
 * ovs-ofctl(8) diff-flows prints it: counters do not matter, cookies and time-outs do.
 */
int ovs_dump_compare(const char *ns, int ns_fd, const struct ovs_dump_bridge *b,
		     const char *planned, struct strbuf *differences, struct err *err);

#endif
