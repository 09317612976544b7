/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_inside: installs, reads and removes counters, standing in the node's network namespace.
 * Called through lab_call() by count.c, and by tests.
 */
#include "emulator/lab/count_inside.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <linux/netlink.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "emulator/kernel/dump.h"
#include "emulator/kernel/netns.h"
#include "emulator/kernel/nft.h"
#include "emulator/kernel/nl.h"

static struct nft_place count_place(const struct count_request *r)
{
	return (struct nft_place){"netdev", COUNT_TABLE, r->dev};
}

static void count_address(struct strbuf *s, const char *side, const struct ip *ip)
{
	char text[ADDR_TEXT];

	if (ip->family)
		strbuf_addf(s, "%s %s %s ", ip->family == AF_INET6 ? "ip6" : "ip", side,
			    ip_format(text, ip));
}

static void count_rule(struct strbuf *s, const struct count_flow *f)
{
	const char *protocol = f->protocol == IPPROTO_TCP ? "tcp" : "udp";

	count_address(s, "saddr", &f->src);
	count_address(s, "daddr", &f->dst);
	if (!f->src_port && !f->dst_port)
		strbuf_addf(s, "meta l4proto %s ", protocol);
	if (f->src_port)
		strbuf_addf(s, "%s sport %u ", protocol, f->src_port);
	if (f->dst_port)
		strbuf_addf(s, "%s dport %u ", protocol, f->dst_port);
	strbuf_add(s, "counter");
}

/* Makes the chain, empty: what is there of an earlier install goes. */
static int count_chain(struct nft_tx *tx, const struct count_request *r, struct err *err)
{
	const struct nft_place at = count_place(r);
	autostr struct strbuf hook = {0};

	/* Before the lab's own rules: what they drop or send elsewhere has arrived too. */
	strbuf_addf(&hook, "type filter hook ingress device \"%s\" priority -1000; policy accept;",
		    r->dev);
	int rc = nft_add_table(tx, &at, err);
	if (rc == 0)
		rc = nft_add_chain(tx, &at, strbuf_text(&hook), err);
	return rc < 0 ? rc : nft_flush_chain(tx, &at, err);
}

int count_inside_install(void *arg, int out_fd, struct err *err)
{
	const struct count_request *r = arg;
	const struct nft_place at = count_place(r);
	struct nft_tx tx;
	autofd int fd = -1;
	int rc = nl_open(NETLINK_NETFILTER, &fd, err);

	(void)out_fd;
	if (rc < 0)
		return rc;
	nft_start(&tx, fd);
	rc = count_chain(&tx, r, err);
	for (size_t i = 0; rc == 0 && i < r->n_flows; i++) {
		autostr struct strbuf text = {0};
		count_rule(&text, &r->flows[i]);
		rc = nft_add_rule(&tx, &at, strbuf_text(&text), NULL, err);
	}
	if (rc == 0)
		rc = nft_commit(&tx, err);
	nft_done(&tx);
	return rc;
}

int count_inside_remove(void *arg, int out_fd, struct err *err)
{
	const struct count_request *r = arg;
	const struct nft_place at = count_place(r);
	struct nft_tx tx;
	autofd int fd = -1;
	int rc = nl_open(NETLINK_NETFILTER, &fd, err);

	(void)out_fd;
	if (rc < 0)
		return rc;
	nft_start(&tx, fd);
	rc = nft_flush_chain(&tx, &at, err);
	if (rc == 0)
		rc = nft_delete_chain(&tx, &at, err);
	if (rc == 0)
		rc = nft_commit(&tx, err);
	nft_done(&tx);
	return rc;
}

static int count_write(json_t *j, int out_fd, struct err *err)
{
	int rc = json_dumpfd(j, out_fd, JSON_COMPACT);

	json_decref(j);
	return rc ? err_sys(err, EIO, "write counters") : 0;
}

static json_t *count_link(const struct dump_link *l)
{
	const struct dump_stats *s = &l->stats;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "rx_packets", (json_int_t)s->rx_packets,
			 "rx_bytes", (json_int_t)s->rx_bytes, "rx_dropped",
			 (json_int_t)s->rx_dropped, "tx_packets", (json_int_t)s->tx_packets,
			 "tx_bytes", (json_int_t)s->tx_bytes, "tx_dropped",
			 (json_int_t)s->tx_dropped);
}

static json_t *count_flows(const struct nft_counter *v, size_t n)
{
	json_t *flows = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(flows,
				      json_pack("{s:I, s:I}", "packets", (json_int_t)v[i].packets,
						"bytes", (json_int_t)v[i].bytes));
	return flows;
}

int count_inside_read(void *arg, int out_fd, struct err *err)
{
	const struct count_request *r = arg;
	const struct nft_place at = count_place(r);
	autofree struct nft_counter *v = mem_zalloc((r->n_flows + 1) * sizeof(*v));
	struct dump d = {0};
	autofd int nf = -1, rt = -1;
	int64_t now = 0;
	int rc = nl_open(NETLINK_NETFILTER, &nf, err);

	if (rc == 0)
		rc = nl_open(NETLINK_ROUTE, &rt, err);
	if (rc == 0)
		rc = nft_read_counters(nf, &at, v, r->n_flows, err);
	if (rc == 0) {
		now = clock_now_ns();
		rc = dump_links(rt, &d, err);
	}
	const struct dump_link *l = rc < 0 ? NULL : dump_find_name(&d, r->dev);
	if (rc == 0 && !l)
		rc = err_sys(err, ENODEV, "%s", r->dev);
	if (rc == 0)
		rc = count_write(json_pack("{s:I, s:o, s:o}", "at_ns", (json_int_t)now, "flows",
					   count_flows(v, r->n_flows), "device", count_link(l)),
				 out_fd, err);
	dump_done(&d);
	return rc;
}

static json_t *count_qdiscs(const struct dump *d, int ifindex)
{
	json_t *out = json_array();
	char handle[16];

	VEC_FOREACH (q, &d->qdiscs) {
		if (q->ifindex != ifindex)
			continue;
		snprintf(handle, sizeof(handle), "%x:", q->handle >> 16);
		json_array_append_new(
		    out,
		    json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "kind",
			      q->kind ? q->kind : "", "handle", handle, "sent_packets",
			      (json_int_t)q->packets, "sent_bytes", (json_int_t)q->bytes, "dropped",
			      (json_int_t)q->dropped, "overlimits", (json_int_t)q->overlimits,
			      "backlog_packets", (json_int_t)q->backlog_packets, "backlog_bytes",
			      (json_int_t)q->backlog_bytes));
	}
	return out;
}

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
	json_object_set_new(node, "udp",
			    json_pack("{s:I, s:I}", "in_errors",
				      (json_int_t)(count_snmp(v4, "Udp", "InErrors") +
						   count_snmp6(v6, "Udp6InErrors")),
				      "rcvbuf_errors",
				      (json_int_t)(count_snmp(v4, "Udp", "RcvbufErrors") +
						   count_snmp6(v6, "Udp6RcvbufErrors"))));
	json_object_set_new(
	    node, "tcp",
	    json_pack("{s:I}", "retrans_segs", (json_int_t)count_snmp(v4, "Tcp", "RetransSegs")));
	return 0;
}

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
	json_object_set_new(node, "at_ns", json_integer(clock_now_ns()));
	if (rc == 0)
		rc = count_sockets(node, err);
	VEC_FOREACH (l, &d.links) {
		json_t *dev = count_link(l);
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
	return count_write(out, out_fd, err);
}
