/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check: walks over the nodes of a plan; sysctls and nftables rules. Devices are check_link.c's,
 * shapers check_tc.c's, addresses check_addr.c's, Open vSwitch is check_ovs.c's. Called by
 * lab_check() inside the lab, and by tests.
 */
#include "emulator/lab/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <linux/netlink.h>

#include "emulator/kernel/nft.h"
#include "emulator/kernel/nft_dump.h"
#include "emulator/kernel/nl.h"
#include "emulator/kernel/sysctl.h"
#include "emulator/lab/check_node.h"
#include "emulator/lab/count_inside.h"

#define SYSCTL_VALUE 4096

void check_say(struct check_node *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strbuf_addf(c->out, "%s: %s\n", c->name, text);
	(*c->n)++;
}

int check_ifindex(const struct check_node *c, const struct op *op)
{
	if (op->ifindex)
		return op->ifindex;
	const struct dump_link *l = dump_find_name(&c->dump, op->dev);
	return l ? l->ifindex : 0;
}

const char *check_name(const struct check_node *c, int ifindex)
{
	const struct dump_link *l = dump_find_link(&c->dump, ifindex);

	return l ? l->name : "?";
}

static int check_sysctls(struct check_node *c, struct err *err)
{
	char value[SYSCTL_VALUE];

	CHECK_FOREACH (op, c, OP_SYSCTL) {
		autofree char *planned = mem_strdup(op->sysctl.value);
		struct err e = ERR_INIT;
		int rc = sysctl_get(op->sysctl.key, value, sizeof(value), &e);
		if (rc == -ENOENT && op->sysctl.optional)
			continue;
		sysctl_squeeze(planned);
		if (rc == -ENOENT) {
			check_say(c, "sysctl %s is not there", op->sysctl.key);
		} else if (rc < 0) {
			*err = e;
			return rc;
		} else if (strcmp(value, planned) != 0) {
			check_say(c, "sysctl %s planned %s, is %s", op->sysctl.key, planned, value);
		}
	}
	return 0;
}

static int check_nft_expect(struct check_node *c, struct nft_ruleset *r, struct nft_names *names,
			    struct err *err)
{
	const struct nft_place arp = {"bridge", "nat", "PREROUTING"};
	bool arp_chain = false;
	int rc = 0;

	CHECK_FOREACH (op, c, OP_NFT_CHAIN) {
		const struct nft_place at = {op->nft.family, op->nft.table, op->nft.chain};
		if (rc == 0)
			rc = nft_expect_chain(r, &at, op->nft.hook, err);
	}
	CHECK_FOREACH (op, c, OP_NFT_RULE) {
		const struct nft_place at = {op->nft.family, op->nft.table, op->nft.chain};
		if (rc == 0)
			rc = nft_expect_rule(r, &at, op->nft.text, op->nft.comment, names, err);
		if (rc != -ENODEV)
			continue;
		check_say(c, "nft: %s", err->text); /* its device is gone */
		rc = 0;
	}
	CHECK_FOREACH (op, c, OP_ARPREPLY) {
		const struct nft_arpreply a = {op->dev, op->arpreply.ip, op->arpreply.mac};
		if (rc == 0 && !arp_chain)
			rc = nft_expect_chain(r, &arp, NFT_ARP_HOOK, err);
		arp_chain = true;
		nft_expect_arpreply(r, &a);
	}
	return rc;
}

/* Counters of count_install() come and go. */
static void check_nft_drop_counters(struct nft_ruleset *r)
{
	static const char ours[] = "netdev " COUNT_TABLE;
	size_t kept = 0;

	for (size_t i = 0; i < r->lines.n; i++)
		if (!str_starts(r->lines.v[i].chain, ours))
			r->lines.v[kept++] = r->lines.v[i];
	r->lines.n = kept;
}

static int check_nft(struct check_node *c, struct err *err)
{
	struct nft_ruleset planned = {0}, is = {0};
	autostr struct strbuf prefix = {0};
	autofd int fd = -1;
	int rc = nl_open(NETLINK_NETFILTER, &fd, err);

	if (rc < 0)
		return rc;
	struct nft_names names = nft_names_of(&fd);
	rc = check_nft_expect(c, &planned, &names, err);
	if (rc == 0)
		rc = nft_dump(fd, &is, err);
	if (rc == 0) {
		check_nft_drop_counters(&is);
		strbuf_addf(&prefix, "%s: ", c->name);
		nft_ruleset_compare(&planned, &is, strbuf_text(&prefix), c->out, c->n);
	}
	nft_ruleset_done(&planned);
	nft_ruleset_done(&is);
	return rc;
}

static int check_dump(struct check_node *c, struct err *err)
{
	int rc = dump_links(c->ns.rt, &c->dump, err);

	if (rc == 0)
		rc = dump_addrs(c->ns.rt, &c->dump, err);
	if (rc == 0)
		rc = dump_routes(c->ns.rt, &c->dump, err);
	if (rc == 0)
		rc = dump_neighs(c->ns.rt, &c->dump, err);
	if (rc == 0)
		rc = dump_qdiscs(c->ns.rt, &c->dump, err);
	if (rc == 0)
		rc = dump_classes(c->ns.rt, &c->dump, err);
	return rc < 0 ? rc : dump_policers(c->ns.rt, &c->dump, err);
}

static int check_all(struct check_node *c, struct err *err)
{
	int rc = check_dump(c, err);

	if (rc < 0)
		return rc;
	check_links(c);
	check_addrs(c);
	check_routes(c);
	check_neighs(c);
	check_qdiscs(c);
	check_ovs(c);
	rc = check_offloads(c, err);
	if (rc == 0)
		rc = check_sysctls(c, err);
	return rc < 0 ? rc : check_nft(c, err);
}

static void check_collect(struct check_node *c, const struct plan *plan)
{
	VEC_FOREACH (op, &plan->ops) {
		bool here = !strcmp(op->ns, c->name);
		if (op->kind == OP_VETH && !here)
			here = !strcmp(op->veth.b.ns, c->name);
		if (here)
			*VEC_ADD(&c->arena, &c->ops) = op;
		c->ovs = c->ovs || (here && op->kind == OP_OVS);
	}
}

/* `blank` has what is the same for all nodes. */
static int check_node(const struct plan *plan, const char *name, const struct check_node *blank,
		      struct err *err)
{
	struct check_node c = *blank;

	c.name = name;
	arena_init(&c.arena);
	check_collect(&c, plan);
	int rc = netns_open(name, &c.ns, err);
	if (rc == 0) {
		rc = check_all(&c, err);
	} else if (rc == -ENOENT) {
		check_say(&c, "namespace missing");
		rc = 0;
	}
	netns_close(&c.ns);
	dump_done(&c.dump);
	arena_done(&c.arena);
	return rc < 0 ? err_wrap(err, "node %s", name) : 0;
}

int check_compare(const struct plan *plan, const json_t *choices, struct strbuf *differences,
		  size_t *n, struct err *err)
{
	const struct check_node blank = {
	    .choices = choices, .out = differences, .n = n, .ns = NETNS_INIT};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < plan->ops.n; i++)
		if (plan->ops.v[i].kind == OP_NETNS)
			rc = check_node(plan, plan->ops.v[i].ns, &blank, err);
	return rc;
}
