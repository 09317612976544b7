/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_inside: installs, reads and removes the counters of flows, standing in the node's network
 * namespace. Everything else that counts is count_snapshot.c's. Called through lab_call() by
 * count.c, and by tests.
 */
#include "emulator/lab/count_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>
#include <linux/netlink.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "emulator/kernel/dump.h"
#include "emulator/kernel/nft.h"
#include "emulator/kernel/nl.h"
#include "emulator/lab/cut.h"

#define READ_SHORT_NS NSEC_PER_MSEC /* nobody came in between */
#define READ_TRIES    4

static struct nft_place count_place(const struct count_request *r)
{
	return (struct nft_place){"netdev", r->behind ? COUNT_TABLE_BEHIND : COUNT_TABLE, r->dev};
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
	if (f->dscp)
		strbuf_addf(s, "%s dscp %d ", f->family == AF_INET6 ? "ip6" : "ip", f->dscp);
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
	strbuf_addf(&hook, "type filter hook ingress device \"%s\" priority %d; policy accept;",
		    r->dev, r->behind ? CUT_PRIORITY + 100 : CUT_PRIORITY - 100);
	int rc = nft_add_table(tx, &at, err);
	if (rc == 0)
		rc = nft_add_chain(tx, &at, strbuf_text(&hook), err);
	return rc < 0 ? rc : nft_flush_chain(tx, &at, err);
}

static int count_fill(struct nft_tx *tx, const struct count_request *r, struct err *err)
{
	const struct nft_place at = count_place(r);
	int rc = count_chain(tx, r, err);

	for (size_t i = 0; rc == 0 && i < r->n_flows; i++) {
		autostr struct strbuf text = {0};
		count_rule(&text, &r->flows[i]);
		rc = nft_add_rule(tx, &at, strbuf_text(&text), NULL, err);
	}
	return rc;
}

static int count_drop(struct nft_tx *tx, const struct count_request *r, struct err *err)
{
	const struct nft_place at = count_place(r);
	int rc = nft_flush_chain(tx, &at, err);

	return rc ? rc : nft_delete_chain(tx, &at, err);
}

/* What `make` puts together, at once or not at all. */
static int count_transaction(const struct count_request *r,
			     int (*make)(struct nft_tx *, const struct count_request *,
					 struct err *),
			     struct err *err)
{
	struct nft_tx tx;
	autofd int fd = -1;
	int rc = nl_open(NETLINK_NETFILTER, &fd, err);

	if (rc < 0)
		return rc;
	nft_start(&tx, fd);
	rc = make(&tx, r, err);
	if (rc == 0)
		rc = nft_commit(&tx, err);
	nft_done(&tx);
	return rc;
}

int count_inside_install(void *arg, int out_fd, struct err *err)
{
	(void)out_fd;
	return count_transaction(arg, count_fill, err);
}

int count_inside_remove(void *arg, int out_fd, struct err *err)
{
	(void)out_fd;
	return count_transaction(arg, count_drop, err);
}

static json_t *count_flows(const struct nft_rule_now *v, size_t n)
{
	json_t *flows = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(flows, json_pack("{s:I, s:I}", "packets",
						       (json_int_t)v[i].counter.packets, "bytes",
						       (json_int_t)v[i].counter.bytes));
	return flows;
}

/*
 * The rules' counters and the time at which they were so: the middle of the reading. One that took
 * long was interrupted somewhere in it, so it is made again, and the shortest of them counts: a
 * rate is taken between two of these times.
 */
static int read_rules(int fd, const struct count_request *r, struct nft_rule_now *v, int64_t *at_ns,
		      struct err *err)
{
	const struct nft_place at = count_place(r);
	autofree struct nft_rule_now *again = mem_zalloc((r->n_flows + 1) * sizeof(*again));
	int64_t least = INT64_MAX;
	int rc = 0;

	for (int i = 0; i < READ_TRIES && least > READ_SHORT_NS && rc == 0; i++) {
		int64_t begin = clock_now_ns();

		rc = nft_read_rules(fd, &at, again, r->n_flows, err);
		int64_t took = clock_now_ns() - begin;
		if (rc || took >= least)
			continue;
		least = took;
		*at_ns = begin + took / 2;
		memcpy(v, again, r->n_flows * sizeof(*v));
	}
	return rc;
}

int count_inside_read(void *arg, int out_fd, struct err *err)
{
	const struct count_request *r = arg;
	autofree struct nft_rule_now *v = mem_zalloc((r->n_flows + 1) * sizeof(*v));
	struct dump d = {0};
	autofd int nf = -1, rt = -1;
	int64_t now = 0;
	int rc = nl_open(NETLINK_NETFILTER, &nf, err);

	if (rc == 0)
		rc = nl_open(NETLINK_ROUTE, &rt, err);
	if (rc == 0)
		rc = read_rules(nf, r, v, &now, err);
	if (rc == 0)
		rc = dump_links(rt, &d, err);
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
