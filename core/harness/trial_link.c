/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_link: from a trial's `link` to the text of a topology: client and server, or a router
 * between them. What is right in a link is the topology's parser's to say; what it says of the text
 * is told where the trial's own file has it. Called by trial.c.
 */
#include "core/harness/trial_link.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"
#include "emulator/model/topology.h"

/* Adds the link's keys to the line; ends[i] is where the i-th ends in it. */
static void add_keys(const struct yaml_node *link, struct strbuf *out, size_t *ends)
{
	size_t begin = out->len;

	while (begin && strbuf_text(out)[begin - 1] != '\n')
		begin--;
	for (size_t i = 0; i < link->pairs.n; i++) {
		strbuf_addf(out, ", %s: ", link->pairs.v[i].key);
		yaml_write_value(link->pairs.v[i].value, out);
		ends[i] = out->len - begin;
	}
}

/* What is wrong with the text that was made is told where the trial's file says it. */
static void check_topology(const struct trial *t, const struct yaml_node *link, const size_t *ends,
			   struct problems *p)
{
	const struct topology_source made = {
	    .main = {t->topology_name, t->topology, strlen(t->topology)}};
	struct problems found;
	int last = 0;

	for (const char *c = t->topology; *c; c++)
		last += *c == '\n';
	problems_init(&found);
	topology_free(topology_parse(&made, &found));
	VEC_FOREACH (f, &found.list) {
		size_t i = 0;

		while (i < link->pairs.n && (size_t)f->at.column > ends[i])
			i++;
		if (f->at.line == last && i < link->pairs.n)
			problems_add(p, link->pairs.v[i].key_at, "link, %s: %s",
				     link->pairs.v[i].key, f->text);
		else
			problems_add(p, link->at, "link: %s", f->text);
	}
	problems_done(&found);
}

/* IPv6 cannot be where packets are shorter than this (RFC 8200, 5). */
static bool too_small_for_ipv6(const struct yaml_node *link)
{
	const struct yaml_node *mtu = yaml_get(link, "mtu");

	return mtu && mtu->kind == YAML_SCALAR && atoi(mtu->text) < 1280;
}

/* Takes `, "fd08::1/64"` and `, "default via fd08::fe"` out of the text. */
static void drop_ipv6(char *text)
{
	char *out = text;

	for (const char *in = text; *in;) {
		if (!strncmp(in, ", \"fd", 5) || !strncmp(in, ", \"default via fd", 17))
			in = strchr(in + 3, '"') + 1;
		else
			*out++ = *in++;
	}
	*out = '\0';
}

/* Both families everywhere: an address that is not asked for costs nothing. */
void trial_link(struct trial *t, const struct yaml_node *link, bool router, struct problems *p)
{
	autofree size_t *ends = mem_zalloc((link->pairs.n + 1) * sizeof(*ends));
	autostr struct strbuf out = {0};

	strbuf_addf(&out, "version: 1\nname: %s\nnodes:\n", *t->name ? t->name : "trial");
	if (router)
		strbuf_add(
		    &out,
		    "  client: {kind: machine, addresses: [10.8.0.1/24, \"fd08::1/64\"], routes: "
		    "[default via 10.8.0.254, \"default via fd08::fe\"]}\n"
		    "  n: {kind: router, addresses: {eth0: [10.8.0.254/24, "
		    "\"fd08::fe/64\"], "
		    "eth1: [10.9.0.254/24, \"fd09::fe/64\"]}}\n"
		    "  server: {kind: machine, addresses: [10.9.0.1/24, \"fd09::1/64\"], routes: "
		    "[default via 10.9.0.254, \"default via fd09::fe\"]}\n"
		    "links:\n"
		    "  - {endpoints: [\"client:eth0\", \"n:eth0\"]}\n"
		    "  - {endpoints: [\"n:eth1\", \"server:eth0\"]");
	else
		strbuf_add(&out,
			   "  client: {kind: machine, addresses: [10.9.0.2/24, \"fd09::2/64\"]}\n"
			   "  server: {kind: machine, addresses: [10.9.0.1/24, \"fd09::1/64\"]}\n"
			   "links:\n"
			   "  - {endpoints: [\"client:eth0\", \"server:eth0\"]");
	add_keys(link, &out, ends);
	strbuf_add(&out, "}\n");
	char *text = arena_strdup(&t->arena, strbuf_text(&out));
	if (too_small_for_ipv6(link))
		drop_ipv6(text);
	for (char *at = text; t->link_local && (at = strstr(at, "fd09::"));)
		memcpy(at, "fe80", 4);
	t->topology = text;
	t->topology_name = arena_printf(&t->arena, "the link of %s", t->file);
	check_topology(t, link, ends, p);
	t->link = router ? "n-server" : "client-server";
	t->from = "client";
	t->to = "server";
}
