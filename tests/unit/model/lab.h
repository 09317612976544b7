/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lab: a topology text, compiled, for the unit tests of the model. */
#ifndef VPCLAB_TESTS_MODEL_LAB_H
#define VPCLAB_TESTS_MODEL_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/file.h"
#include "emulator/model/topology.h"
#include "tests/unit/needs.h"

struct lab {
	struct topology *t;
	struct wire w;
	struct problems p;
};

static inline void lab_init_with(struct lab *l, const char *text, const struct compile_options *o,
				 const char *set)
{
	struct strbuf out = {0};

	problems_init(&l->p);
	l->t = needs_parse((struct topology_source){.main = {"lab.yaml", text, strlen(text)},
						    .sets = &set,
						    .n_sets = set ? 1 : 0},
			   &l->p);
	topology_compile(l->t, o, &l->w, &l->p);
	problems_print(&l->p, &out);
	assert_string_equal(strbuf_text(&out), "");
	strbuf_done(&out);
}

static inline void lab_init(struct lab *l, const char *text)
{
	lab_init_with(l, text, &(struct compile_options){.machine = MACHINE_DEFAULT}, NULL);
}

static inline void lab_init_file(struct lab *l, const char *path)
{
	struct err err = ERR_INIT;
	char *text;
	size_t len;

	assert_int_equal(file_read(path, &text, &len, &err), 0);
	lab_init(l, text);
	free(text);
}

static inline void lab_done(struct lab *l)
{
	wire_done(&l->w);
	topology_free(l->t);
	problems_done(&l->p);
}

/* Index of a node or device; fails the test when there is none. */
static inline int lab_node(const struct lab *l, const char *name)
{
	int i = wire_find_node(&l->w, name);

	if (i < 0)
		fail_msg("no node '%s'", name);
	return i;
}

static inline int lab_dev(const struct lab *l, const char *node, const char *name)
{
	int i = wire_find_dev(&l->w, lab_node(l, node), name);

	if (i < 0)
		fail_msg("no device '%s' in '%s'", name, node);
	return i;
}

static inline const struct wire_dev *lab_dev_at(const struct lab *l, const char *node,
						const char *name)
{
	return &l->w.devs.v[lab_dev(l, node, name)];
}

/* "10.0.0.1/24 10.0.0.2/24": addresses of a device, in order. */
static inline void lab_expect_addrs(const struct lab *l, const char *node, const char *dev,
				    const char *want)
{
	struct strbuf got = {0};
	char text[ADDR_TEXT];

	VEC_FOREACH (a, &lab_dev_at(l, node, dev)->addrs)
		strbuf_addf(&got, "%s%s", got.len ? " " : "", prefix_format(text, &a->prefix));
	assert_string_equal(strbuf_text(&got), want);
	strbuf_done(&got);
}

/* The routes of a node, one a line: "10.0.0.0/24 dev eth0 src 10.0.0.1 cubic". */
static inline void lab_expect_routes(const struct lab *l, const char *node, const char *want)
{
	struct strbuf got = {0};
	char text[ADDR_TEXT];

	VEC_FOREACH (r, &l->w.routes) {
		if (r->node != lab_node(l, node))
			continue;
		strbuf_add(&got, r->dst.len ? prefix_format(text, &r->dst) : "default");
		if (r->via.family)
			strbuf_addf(&got, " via %s", ip_format(text, &r->via));
		strbuf_addf(&got, " dev %s", l->w.devs.v[r->dev].name);
		if (r->src.family)
			strbuf_addf(&got, " src %s", ip_format(text, &r->src));
		strbuf_addf(&got, "%s%s\n", r->congctl ? " " : "", r->congctl ? r->congctl : "");
	}
	assert_string_equal(strbuf_text(&got), want);
	strbuf_done(&got);
}

/* The rules of one chain, one a line. */
static inline void lab_expect_chain(const struct lab *l, const char *node, const char *table,
				    const char *chain, const char *want)
{
	struct strbuf got = {0}, name = {0};
	bool found = false;

	VEC_FOREACH (c, &l->w.nft) {
		strbuf_done(&name);
		strbuf_addf(&name, "%s %s", c->family, c->table);
		if (c->node != lab_node(l, node) || !str_eq(strbuf_text(&name), table) ||
		    !str_eq(c->chain, chain))
			continue;
		found = true;
		VEC_FOREACH (r, &c->rules)
			strbuf_addf(&got, "%s\n", r->text);
	}
	if (!found)
		fail_msg("no chain '%s' in table '%s' of '%s'", chain, table, node);
	assert_string_equal(strbuf_text(&got), want);
	strbuf_done(&got);
	strbuf_done(&name);
}

static inline const char *lab_sysctl(const struct lab *l, const char *node, const char *key)
{
	const char *value = NULL;

	VEC_FOREACH (s, &l->w.nodes.v[lab_node(l, node)].sysctls) {
		if (str_eq(s->key, key))
			value = s->value;
	}
	return value;
}

static inline const struct wire_link *lab_link(const struct lab *l, const char *name)
{
	VEC_FOREACH (link, &l->w.links) {
		if (str_eq(link->name, name))
			return link;
	}
	fail_msg("no link '%s'", name);
	return NULL;
}

#endif
