/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_snapshot: reads every counter of a node that says where a packet is or went: devices,
 * qdiscs and their classes, rules, sockets, the IP layer; and those of relays. What the numbers
 * mean is account_walk.c's business. Called through lab_call() by count.c and account.c, and by
 * tests.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <linux/netlink.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "emulator/kernel/dump.h"
#include "emulator/kernel/netns.h"
#include "emulator/kernel/nft_tally.h"
#include "emulator/kernel/nl.h"
#include "emulator/lab/count_inside.h"
#include "emulator/lab/relays.h"
#include "emulator/lab/replaced.h"

#define COUNT_VETH_MBPS 10000

int count_write(json_t *j, int out_fd, struct err *err)
{
	int rc = json_dumpfd(j, out_fd, JSON_COMPACT);

	json_decref(j);
	return rc ? err_sys(err, EIO, "write counters") : 0;
}

/* ---- devices and qdiscs ---- */

json_t *count_link(const struct dump_link *l)
{
	const struct dump_stats *s = &l->stats;

	return json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "rx_packets", (json_int_t)s->rx_packets,
	    "rx_bytes", (json_int_t)s->rx_bytes, "rx_dropped", (json_int_t)s->rx_dropped,
	    "rx_multicast", (json_int_t)s->rx_multicast, "tx_packets", (json_int_t)s->tx_packets,
	    "tx_bytes", (json_int_t)s->tx_bytes, "tx_dropped", (json_int_t)s->tx_dropped);
}

/* As the kernel says it of veths (veth_get_link_ksettings()) and of bridges with ports
 * (br_get_link_ksettings()); 0: it says nothing. */
static int64_t count_speed(const struct dump *d, const struct dump_link *l)
{
	if (!strcmp(l->kind, "veth"))
		return COUNT_VETH_MBPS;
	if (strcmp(l->kind, "bridge") != 0)
		return 0;
	VEC_FOREACH (port, &d->links)
		if (port->master == l->ifindex && !strcmp(port->kind, "veth"))
			return COUNT_VETH_MBPS;
	return 0;
}

/* "root", "ingress" or "1:10", as tc says it. */
static const char *count_tc_id(char text[16], uint32_t id)
{
	if (id == 0xffffffffu)
		return "root";
	if (id >> 16 == 0xffff)
		return "ingress";
	snprintf(text, 16, "%x:%x", id >> 16, id & 0xffff);
	return text;
}

static json_t *count_tc(const struct dump_qdisc *q)
{
	char parent[16];

	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "kind", q->kind ? q->kind : "",
			 "parent", count_tc_id(parent, q->parent), "sent_packets",
			 (json_int_t)q->packets, "sent_bytes", (json_int_t)q->bytes, "dropped",
			 (json_int_t)q->dropped, "overlimits", (json_int_t)q->overlimits,
			 "backlog_packets", (json_int_t)q->backlog_packets, "backlog_bytes",
			 (json_int_t)q->backlog_bytes);
}

static json_t *count_qdiscs(const struct dump *d, int ifindex)
{
	json_t *out = json_array();

	VEC_FOREACH (q, &d->qdiscs) {
		json_t *j;

		if (q->ifindex != ifindex)
			continue;
		j = count_tc(q);
		json_object_set_new(j, "handle", json_sprintf("%x:", q->handle >> 16));
		json_array_append_new(out, j);
	}
	return out;
}

/* A class that no other is below: it has a queue of its own. */
static bool count_is_leaf(const struct dump *d, const struct dump_qdisc *class)
{
	VEC_FOREACH (c, &d->classes)
		if (c->ifindex == class->ifindex && c->parent == class->handle)
			return false;
	return true;
}

static json_t *count_classes(const struct dump *d, int ifindex)
{
	json_t *out = json_array();
	char id[16];

	VEC_FOREACH (c, &d->classes) {
		json_t *j;

		/* TBF shows its child as a class, which counts nothing. */
		if (c->ifindex != ifindex || !c->kind || strcmp(c->kind, "htb") != 0)
			continue;
		j = count_tc(c);
		json_object_set_new(j, "id", json_string(count_tc_id(id, c->handle)));
		json_object_set_new(j, "leaf", json_boolean(count_is_leaf(d, c)));
		json_array_append_new(out, j);
	}
	return out;
}

/* ---- rules ---- */

static int count_rules(json_t *node, struct err *err)
{
	json_t *rules = json_array();
	struct nft_tallies t = {0};
	autofd int fd = -1;
	int rc = nl_open(NETLINK_NETFILTER, &fd, err);

	if (rc == 0)
		rc = nft_tally_read(fd, &t, err);
	VEC_FOREACH (r, &t.v)
		if (!str_starts(r->table, COUNT_TABLE))
			json_array_append_new(
			    rules, json_pack("{s:s, s:s, s:s, s:i, s:b, s:s?, s:I, s:I}", "family",
					     r->family, "table", r->table, "chain", r->chain,
					     "number", r->number, "drops", (int)r->drops, "comment",
					     r->comment, "packets", (json_int_t)r->packets, "bytes",
					     (json_int_t)r->bytes));
	json_object_set_new(node, "rules", rules);
	nft_tally_done(&t);
	return rc;
}

/* ---- sockets and the IP layer ---- */

/* Value of NAME in a file of pairs of lines as /proc/net/snmp ("Udp: InErrors …\nUdp: 0 …"). */
static int64_t count_snmp(const char *text, const char *group, const char *name)
{
	char prefix[16];
	int n = snprintf(prefix, sizeof(prefix), "%s: ", group);

	for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
		if (strncmp(line, prefix, (size_t)n) != 0)
			continue;
		const char *values = strchr(line, '\n');
		const char *key = line + n;
		if (!values || strncmp(++values, prefix, (size_t)n) != 0)
			return 0;
		values += n;
		for (;;) {
			size_t len = strcspn(key, " \n");
			if (strlen(name) == len && !strncmp(key, name, len))
				return strtoll(values, NULL, 10);
			values += strcspn(values, " \n");
			if (key[len] != ' ' || *values != ' ')
				return 0;
			key += len + 1;
			values++;
		}
	}
	return 0;
}

/* Value in a file of lines "NAME VALUE" as /proc/net/snmp6. */
static int64_t count_snmp6(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL)
		if (!strncmp(line, name, len) && (line[len] == ' ' || line[len] == '\t'))
			return strtoll(line + len, NULL, 10);
	return 0;
}

/* What the IP layer of this node threw away, by cause. */
static json_t *count_ip(const char *v4, const char *v6)
{
	static const struct {
		const char *key, *v4, *v6;
	} causes[] = {
	    {"no_route", "OutNoRoutes", "Ip6OutNoRoutes"},
	    {"in_no_route", "InNoRoutes", "Ip6InNoRoutes"},
	    {"in_header_errors", "InHdrErrors", "Ip6InHdrErrors"},
	    {"in_address_errors", "InAddrErrors", "Ip6InAddrErrors"},
	    {"in_discards", "InDiscards", "Ip6InDiscards"},
	    {"out_discards", "OutDiscards", "Ip6OutDiscards"},
	    {"fragments_failed", "FragFails", "Ip6FragFails"},
	    {"reassembly_failed", "ReasmFails", "Ip6ReasmFails"},
	};
	json_t *out = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		json_object_set_new(out, causes[i].key,
				    json_integer(count_snmp(v4, "Ip", causes[i].v4) +
						 count_snmp6(v6, causes[i].v6)));
	return out;
}

static int count_sockets(json_t *node, struct err *err)
{
	struct err ignored = ERR_INIT;
	autofree char *v4 = NULL, *v6 = NULL;
	size_t len;
	int rc = file_read("/proc/thread-self/net/snmp", &v4, &len, err);

	if (rc < 0)
		return rc;
	/* A kernel or namespace without IPv6 has no such file. */
	if (file_read("/proc/thread-self/net/snmp6", &v6, &len, &ignored) < 0)
		v6 = mem_strdup("");
	json_object_set_new(
	    node, "udp",
	    json_pack(
		"{s:I, s:I, s:I}", "in_errors",
		(json_int_t)(count_snmp(v4, "Udp", "InErrors") + count_snmp6(v6, "Udp6InErrors")),
		"rcvbuf_errors",
		(json_int_t)(count_snmp(v4, "Udp", "RcvbufErrors") +
			     count_snmp6(v6, "Udp6RcvbufErrors")),
		"no_ports",
		(json_int_t)(count_snmp(v4, "Udp", "NoPorts") + count_snmp6(v6, "Udp6NoPorts"))));
	json_object_set_new(
	    node, "tcp",
	    json_pack("{s:I}", "retrans_segs", (json_int_t)count_snmp(v4, "Tcp", "RetransSegs")));
	json_object_set_new(node, "ip", count_ip(v4, v6));
	return 0;
}

/* ---- nodes ---- */

static int count_node(const char *name, json_t *nodes, struct err *err)
{
	json_t *node = json_object(), *devices = json_object();
	struct netns ns = NETNS_INIT;
	struct dump d = {0};
	int rc = netns_open(name, &ns, err);

	if (rc == 0)
		rc = dump_links(ns.rt, &d, err);
	if (rc == 0)
		rc = dump_qdiscs(ns.rt, &d, err);
	if (rc == 0)
		rc = dump_classes(ns.rt, &d, err);
	json_object_set_new(node, "at_ns", json_integer(clock_now_ns()));
	if (rc == 0)
		rc = count_rules(node, err);
	if (rc == 0)
		rc = count_sockets(node, err);
	VEC_FOREACH (l, &d.links) {
		json_t *dev = count_link(l);
		json_object_set_new(dev, "speed_mbps", json_integer(count_speed(&d, l)));
		json_object_set_new(dev, "classes", count_classes(&d, l->ifindex));
		json_object_set_new(dev, "qdiscs", count_qdiscs(&d, l->ifindex));
		json_object_set_new(devices, l->name, dev);
	}
	json_object_set_new(node, "devices", devices);
	json_object_set_new(nodes, name, node);
	dump_done(&d);
	netns_close(&ns);
	return rc < 0 ? err_wrap(err, "node %s", name) : 0;
}

/* Hexadecimal columns a CPU: processed, dropped, time_squeeze (softnet_seq_show()). */
static int count_softnet(json_t *out, struct err *err)
{
	autofree char *text = NULL;
	json_int_t dropped = 0, squeezed = 0;
	size_t len;
	int rc = file_read("/proc/net/softnet_stat", &text, &len, err);

	if (rc < 0)
		return rc;
	for (const char *line = text; line && *line;
	     line = strchr(line, '\n'), line += line != NULL) {
		unsigned d, s;
		if (sscanf(line, "%*x %x %x", &d, &s) != 2)
			continue;
		dropped += d;
		squeezed += s;
	}
	json_object_set_new(out, "softnet",
			    json_pack("{s:I, s:I}", "dropped", dropped, "squeezed", squeezed));
	return 0;
}

static int count_all_nodes(json_t *nodes, struct err *err)
{
	DIR *dir = opendir(NETNS_DIR);
	int rc = 0;

	if (!dir)
		return err_sys(err, errno, NETNS_DIR);
	for (struct dirent *e; rc == 0 && (e = readdir(dir));)
		if (e->d_name[0] != '.')
			rc = count_node(e->d_name, nodes, err);
	closedir(dir);
	return rc;
}

/* One that does not answer has ended: then its link says so by a hole. */
static json_t *count_relays(const struct wire *w)
{
	json_t *out = json_object(), *command = json_pack("{s:s}", "get", "stats");

	for (size_t i = 0; w && i < w->links.n; i++) {
		const struct wire_link *l = &w->links.v[i];
		struct err ignored = ERR_INIT;
		json_t *answer = NULL;

		if (l->engine != IMPAIR_RELAY)
			continue;
		if (relays_ask(l->name, command, &answer, &ignored) < 0)
			answer = json_null();
		json_object_set_new(out, l->name, answer);
	}
	json_decref(command);
	return out;
}

int count_inside_snapshot(void *arg, int out_fd, struct err *err)
{
	const struct count_request *r = arg;
	json_t *out = json_object(), *nodes = json_object();
	int rc;

	json_object_set_new(out, "at_ns", json_integer(clock_now_ns()));
	json_object_set_new(out, "nodes", nodes);
	rc = count_softnet(out, err);
	for (size_t i = 0; rc == 0 && i < r->n_nodes; i++)
		rc = count_node(r->nodes[i], nodes, err);
	if (rc == 0 && r->n_nodes == 0)
		rc = count_all_nodes(nodes, err);
	if (rc < 0) {
		json_decref(out);
		return rc;
	}
	json_object_set_new(out, "relays", count_relays(r->wire));
	json_object_set_new(out, "replaced", replaced_read());
	return count_write(out, out_fd, err);
}
