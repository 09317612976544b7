/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_link: devices and their features against the plan. Called by check.c. */
#include "emulator/lab/check_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/kernel/ethtool.h"

struct check_link {
	const char *name, *kind;
	int ifindex, mtu, peer; /* peer: ifindex of a veth's other end, 0: not a veth */
	struct mac mac;
	const struct op *op;	  /* that made it */
	const char *master;	  /* name, or NULL */
	int tx_queues, rx_queues; /* 0: whatever */
	int big_tcp;		  /* likewise */
	bool up;
	const char *altname, *alias;
};

struct check_links {
	VEC(struct check_link) v;
};

static struct check_link *check_link_find(struct check_links *l, const char *name)
{
	VEC_FOREACH (i, &l->v) {
		if (!strcmp(i->name, name))
			return i;
	}
	return NULL;
}

static void check_link_veth(struct check_node *c, struct check_links *l, const struct op *op)
{
	const struct op_veth_end *ends[] = {&op->veth.a, &op->veth.b};

	for (int i = 0; i < 2; i++) {
		const struct op_veth_end *e = ends[i];
		if (strcmp(e->ns, c->name) != 0)
			continue;
		*VEC_ADD(&c->arena, &l->v) = (struct check_link){.name = e->name,
								 .kind = "veth",
								 .ifindex = e->ifindex,
								 .mtu = e->mtu,
								 .peer = ends[!i]->ifindex,
								 .mac = e->mac,
								 .tx_queues = e->tx_queues,
								 .rx_queues = e->rx_queues,
								 .big_tcp = e->big_tcp,
								 .op = op};
	}
}

/* Devices that the plan makes here. */
static void check_link_made(struct check_node *c, struct check_links *l)
{
	CHECK_FOREACH (op, c, OP_VETH)
		check_link_veth(c, l, op);
	CHECK_FOREACH (op, c, OP_BRIDGE)
		*VEC_ADD(&c->arena, &l->v) = (struct check_link){.name = op->dev,
								 .kind = "bridge",
								 .ifindex = op->ifindex,
								 .mtu = op->bridge.mtu,
								 .mac = op->bridge.mac,
								 .op = op};
	CHECK_FOREACH (op, c, OP_VXLAN)
		*VEC_ADD(&c->arena, &l->v) = (struct check_link){.name = op->dev,
								 .kind = "vxlan",
								 .ifindex = op->ifindex,
								 .mtu = op->vxlan.mtu,
								 .mac = op->vxlan.mac,
								 .op = op};
	CHECK_FOREACH (op, c, OP_VLAN)
		*VEC_ADD(&c->arena, &l->v) = (struct check_link){.name = op->dev,
								 .kind = "vlan",
								 .ifindex = op->ifindex,
								 .mtu = op->vlan.mtu,
								 .mac = op->vlan.mac,
								 .op = op};
}

/* What the plan does with them afterwards. */
static void check_link_changed(struct check_node *c, struct check_links *l)
{
	struct check_link *link;

	CHECK_FOREACH (op, c, OP_MASTER)
		if ((link = check_link_find(l, op->dev)))
			link->master = op->master.master;
	CHECK_FOREACH (op, c, OP_UP) {
		if (!(link = check_link_find(l, op->dev)))
			continue;
		link->up = true;
		link->altname = op->up.altname;
		link->alias = op->up.alias;
	}
}

static void check_link_number(struct check_node *c, const char *dev, const char *what, int planned,
			      int is)
{
	if (planned != is)
		check_say(c, "%s: %s planned %d, is %d", dev, what, planned, is);
}

static void check_link_text(struct check_node *c, const char *dev, const char *what,
			    const char *planned, const char *is)
{
	if (!str_eq(planned, is))
		check_say(c, "%s: %s planned %s, is %s", dev, what, planned ? planned : "none",
			  is ? is : "none");
}

static void check_link_kind(struct check_node *c, const struct check_link *p,
			    const struct dump_link *l)
{
	char a[ADDR_TEXT], b[ADDR_TEXT];

	if (p->op->kind == OP_BRIDGE && !strcmp(l->kind, "bridge")) {
		check_link_number(c, p->name, "stp", 0, l->stp);
		check_link_number(c, p->name, "forward delay", 0, (int)l->forward_delay);
		check_link_number(c, p->name, "multicast snooping", 0, l->snooping);
	} else if (p->op->kind == OP_VXLAN && !strcmp(l->kind, "vxlan")) {
		check_link_number(c, p->name, "VNI", p->op->vxlan.vni, l->vni);
		check_link_number(c, p->name, "UDP port", p->op->vxlan.port, l->port);
		if (!ip_equal(&p->op->vxlan.local, &l->local))
			check_say(c, "%s: local planned %s, is %s", p->name,
				  ip_format(a, &p->op->vxlan.local), ip_format(b, &l->local));
	} else if (p->op->kind == OP_VLAN && !strcmp(l->kind, "vlan")) {
		check_link_number(c, p->name, "VLAN", p->op->vlan.vlan, l->vlan);
		check_link_number(c, p->name, "index of its lower device",
				  p->op->vlan.lower_ifindex, l->peer);
	} else if (p->peer) {
		check_link_number(c, p->name, "index of the other end", p->peer, l->peer);
	}
}

static const char *check_link_master(const struct check_node *c, const struct dump_link *l)
{
	const char *master = l->master ? check_name(c, l->master) : NULL;

	/* Ports of the kernel datapath hang on its one device; which bridge is for ovs-vsctl. */
	return master && !strcmp(master, "ovs-system") ? NULL : master;
}

static void check_link_one(struct check_node *c, const struct check_link *p)
{
	const struct dump_link *l = dump_find_name(&c->dump, p->name);
	char a[ADDR_TEXT], b[ADDR_TEXT];

	if (!l) {
		check_say(c, "%s: device missing", p->name);
		return;
	}
	check_link_text(c, p->name, "kind", p->kind, l->kind);
	check_link_number(c, p->name, "index", p->ifindex, l->ifindex);
	check_link_number(c, p->name, "MTU", p->mtu, l->mtu);
	if (!mac_equal(&p->mac, &l->mac))
		check_say(c, "%s: MAC planned %s, is %s", p->name, mac_format(a, &p->mac),
			  mac_format(b, &l->mac));
	if (p->tx_queues)
		check_link_number(c, p->name, "transmit queues", p->tx_queues, l->tx_queues);
	if (p->rx_queues)
		check_link_number(c, p->name, "receive queues", p->rx_queues, l->rx_queues);
	if (p->big_tcp) {
		check_link_number(c, p->name, "gso_max_size", p->big_tcp, l->gso_max_size);
		check_link_number(c, p->name, "gro_max_size", p->big_tcp, l->gro_max_size);
	}
	check_link_text(c, p->name, "bridge", p->master, check_link_master(c, l));
	if (p->up != l->up)
		check_say(c, "%s: planned %s, is %s", p->name, p->up ? "up" : "down",
			  l->up ? "up" : "down");
	check_link_text(c, p->name, "alternative name", p->altname, l->altname);
	check_link_text(c, p->name, "alias", p->alias, l->alias);
	check_link_kind(c, p, l);
}

/* Devices that Open vSwitch makes by itself, and its bridges. */
static bool check_link_of_ovs(const struct check_node *c, const char *name)
{
	if (!c->ovs)
		return false;
	CHECK_FOREACH (op, c, OP_OVS_BRIDGE)
		if (!strcmp(op->dev, name))
			return true;
	return str_starts(name, "ovs-") || str_starts(name, "vxlan_sys_");
}

void check_links(struct check_node *c)
{
	struct check_links planned = {0};

	check_link_made(c, &planned);
	check_link_changed(c, &planned);
	VEC_FOREACH (p, &planned.v)
		check_link_one(c, p);
	VEC_FOREACH (l, &c->dump.links) {
		if (!strcmp(l->name, "lo")) {
			if (!l->up)
				check_say(c, "lo: planned up, is down");
		} else if (!check_link_find(&planned, l->name) && !check_link_of_ovs(c, l->name)) {
			check_say(c, "%s: device not planned", l->name);
		}
	}
	CHECK_FOREACH (op, c, OP_UP)
		if (c->ovs && !check_link_find(&planned, op->dev) && !check_ifindex(c, op))
			check_say(c, "%s: device missing", op->dev);
}

int check_offloads(struct check_node *c, struct err *err)
{
	CHECK_FOREACH (op, c, OP_OFFLOAD) {
		unsigned on;
		if (!dump_find_name(&c->dump, op->dev))
			continue; /* told already */
		int rc = ethtool_get(c->ns.rt, op->dev, &on, err);
		if (rc < 0)
			return rc;
		for (unsigned bit = 1; plan_offload_name(bit); bit <<= 1)
			if (op->offloads_off & on & bit)
				check_say(c, "%s: %s planned off, is on", op->dev,
					  plan_offload_name(bit));
	}
	return 0;
}
