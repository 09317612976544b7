/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_ovs: bridges, ports and flows of a node's Open vSwitch instance against the plan. Not
 * compared: the type of a port's interface, since the best kind that works was chosen when the lab
 * was built. Called by check.c.
 */
#include "emulator/lab/check_node.h"

#include <string.h>

#include "emulator/kernel/ovs_dump.h"

static const struct ovs_dump_bridge *check_ovs_find(const struct ovs_dump *d, const char *name)
{
	VEC_FOREACH (b, &d->bridges) {
		if (str_eq(b->name, name))
			return b;
	}
	return NULL;
}

/* What was planned, unless the lab says that another datapath had to do. */
static const char *check_ovs_datapath(const struct check_node *c, const struct op *op)
{
	const char *ran = json_string_value(
	    json_object_get(json_object_get(c->choices, c->name), "ovs_datapath"));

	return ran ? ran : op->ovs.datapath;
}

static void check_ovs_port(struct check_node *c, const struct ovs_dump *d, const struct op *op)
{
	const struct ovs_dump_bridge *planned = check_ovs_find(d, op->ovs.bridge);
	const struct ovs_dump_port *port = planned ? ovs_dump_find_port(planned, op->dev) : NULL;
	const char *elsewhere = NULL;

	if (port) {
		if (port->number < 0)
			check_say(c, "Open vSwitch: port %s does not work: %s", op->dev,
				  port->error ? port->error : "it was not set up");
		if (port->vlan != op->ovs.vlan)
			check_say(c, "Open vSwitch: port %s: tag planned %d, is %d (0: none)",
				  op->dev, op->ovs.vlan, port->vlan);
		return;
	}
	VEC_FOREACH (b, &d->bridges) {
		if (ovs_dump_find_port(b, op->dev))
			elsewhere = b->name;
	}
	check_say(c, "Open vSwitch: port %s planned on %s, is %s%s", op->dev, op->ovs.bridge,
		  elsewhere ? "on " : "missing", elsewhere ? elsewhere : "");
}

static bool check_ovs_port_planned(const struct check_node *c, const char *name)
{
	CHECK_FOREACH (op, c, OP_OVS_PORT)
		if (str_eq(op->dev, name))
			return true;
	return false;
}

static bool check_ovs_bridge_planned(const struct check_node *c, const char *name)
{
	CHECK_FOREACH (op, c, OP_OVS_BRIDGE)
		if (str_eq(op->dev, name))
			return true;
	return false;
}

/* The first port that a flow names and the bridge has not, or NULL. In flows only names are quoted.
 */
static const char *check_ovs_lost_port(struct check_node *c, const struct ovs_dump_bridge *b,
				       const char *flow)
{
	for (const char *s = flow; (s = strchr(s, '"'));) {
		size_t len = strcspn(++s, "\"");
		const char *name = arena_strndup(&c->arena, s, len);

		if (!ovs_dump_find_port(b, name))
			return name;
		s += len + 1;
	}
	return NULL;
}

static void check_ovs_flows(struct check_node *c, const struct ovs_dump_bridge *b)
{
	autostr struct strbuf planned = {0}, differences = {0};
	struct err err = ERR_INIT;

	CHECK_FOREACH (op, c, OP_OVS_FLOW) {
		const char *lost;

		if (!str_eq(op->ovs.bridge, b->name))
			continue;
		lost = check_ovs_lost_port(c, b, op->ovs.text);
		if (lost)
			check_say(c, "Open vSwitch: %s: a flow needs port %s, which is missing: %s",
				  b->name, lost, op->ovs.text);
		else
			strbuf_addf(&planned, "%s\n", op->ovs.text);
	}
	if (ovs_dump_compare(c->name, c->ns.fd, b, strbuf_text(&planned), &differences, &err)) {
		check_say(c, "Open vSwitch: %s: %s", b->name, err.text);
		return;
	}
	for (const char *line = strbuf_text(&differences); *line;) {
		size_t len = strcspn(line, "\n");

		check_say(c, "Open vSwitch: %s: flow %s: %.*s", b->name,
			  *line == '-' ? "missing" : "not planned", (int)len - 1, line + 1);
		line += len + 1;
	}
}

static void check_ovs_bridge(struct check_node *c, const struct ovs_dump_bridge *b,
			     const struct op *op)
{
	const char *datapath = check_ovs_datapath(c, op);
	char mac[ADDR_TEXT];

	if (!str_eq(b->datapath, datapath))
		check_say(c, "Open vSwitch: %s: datapath planned %s, is %s", b->name, datapath,
			  b->datapath);
	if (!str_eq(b->hwaddr, mac_format(mac, &op->ovs.mac)))
		check_say(c, "Open vSwitch: %s: MAC planned %s, is %s", b->name, mac,
			  b->hwaddr ? b->hwaddr : "chosen by itself");
	VEC_FOREACH (p, &b->ports) {
		if (!check_ovs_port_planned(c, p->name))
			check_say(c, "Open vSwitch: port %s on %s not planned", p->name, b->name);
	}
	check_ovs_flows(c, b);
}

static void check_ovs_all(struct check_node *c, const struct ovs_dump *d)
{
	CHECK_FOREACH (op, c, OP_OVS_BRIDGE) {
		const struct ovs_dump_bridge *b = check_ovs_find(d, op->dev);

		if (b)
			check_ovs_bridge(c, b, op);
		else
			check_say(c, "Open vSwitch: bridge %s missing", op->dev);
	}
	CHECK_FOREACH (op, c, OP_OVS_PORT)
		check_ovs_port(c, d, op);
	VEC_FOREACH (b, &d->bridges) {
		if (!check_ovs_bridge_planned(c, b->name))
			check_say(c, "Open vSwitch: bridge %s not planned", b->name);
	}
}

void check_ovs(struct check_node *c)
{
	struct err err = ERR_INIT;
	struct ovs_dump d;

	if (!c->ovs)
		return;
	/* An instance that does not answer is not as planned either. */
	if (ovs_dump(c->name, c->ns.fd, &d, &err))
		check_say(c, "Open vSwitch: %s", err.text);
	else
		check_ovs_all(c, &d);
	ovs_dump_done(&d);
}
