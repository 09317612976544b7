/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shipped: every topology is sound and compiles, shaped or not, and the schema for editors
 * knows the keys that the parser knows.
 */
#include <dirent.h>
#include <jansson.h>

#include "emulator/model/parse.h"
#include "tests/unit/model/lab.h"

static int is_yaml(const struct dirent *e)
{
	return str_ends(e->d_name, ".yaml");
}

/* Names of devices, addresses and rules: what a plan is made of, in order. */
static char *digest(const struct wire *w)
{
	struct strbuf out = {0};
	char text[ADDR_TEXT];

	VEC_FOREACH (d, &w->devs)
		strbuf_addf(&out, "%d %s %s %d %d\n", d->node, d->name, mac_format(text, &d->mac),
			    d->ifindex, d->master);
	VEC_FOREACH (r, &w->routes)
		strbuf_addf(&out, "%d %s\n", r->dev, prefix_format(text, &r->dst));
	VEC_FOREACH (c, &w->nft) {
		VEC_FOREACH (r, &c->rules)
			strbuf_addf(&out, "%s %s\n", c->chain, r->text);
	}
	VEC_FOREACH (f, &w->flows)
		strbuf_addf(&out, "%d %s\n", f->bridge, f->text);
	return strbuf_take(&out);
}

/* Indices lead where they should: what plan, path and lab rely on. */
static void check_wire(const struct wire *w)
{
	for (size_t i = 0; i < w->devs.n; i++) {
		const struct wire_dev *d = &w->devs.v[i];

		assert_in_range(d->node, 0, w->nodes.n - 1);
		if (d->kind == DEV_VETH) {
			assert_in_range(d->peer, 0, w->devs.n - 1);
			assert_int_equal(w->devs.v[d->peer].peer, i);
		}
		if (d->master >= 0) {
			assert_int_equal(w->devs.v[d->master].kind, DEV_BRIDGE);
			assert_int_equal(w->devs.v[d->master].node, d->node);
		}
		if (d->egress.rate.bps) {
			const struct wire_link *l = &w->links.v[d->egress_link];

			assert_int_not_equal(d->egress.rate.mode, SHAPE_AUTO);
			assert_int_equal(d->egress_ba ? l->shaper_ba : l->shaper_ab, i);
		}
	}
	VEC_FOREACH (r, &w->routes) {
		const char *congctl = r->congctl;
		enum node_kind kind = w->nodes.v[r->node].kind;

		assert_int_equal(w->devs.v[r->dev].node, r->node);
		assert_true((kind == NODE_VM || kind == NODE_MACHINE) == str_eq(congctl, "cubic"));
	}
	VEC_FOREACH (c, &w->nft)
		assert_in_range(c->node, 0, w->nodes.n - 1);
}

static void test_topology(void **state)
{
	autofree char *path = mem_printf("topologies/%s", (const char *)*state);
	autofree char *text = NULL, *first = NULL, *second = NULL;
	struct compile_options unshaped = {.machine = MACHINE_DEFAULT, .unshaped = true};
	struct err err = ERR_INIT;
	struct lab a, b, c;
	size_t len;

	assert_int_equal(file_read(path, &text, &len, &err), 0);
	lab_init(&a, text);
	lab_init(&b, text);
	lab_init_with(&c, text, &unshaped, NULL);
	check_wire(&a.w);
	check_wire(&c.w);
	first = digest(&a.w);
	second = digest(&b.w);
	assert_string_equal(first, second);
	assert_true(str_starts(*state, a.w.name));
	lab_done(&a);
	lab_done(&b);
	lab_done(&c);
}

static void expect_key(const json_t *properties, const char *what, const char *key)
{
	if (!json_object_get(properties, key))
		fail_msg("schema.json: %s has no '%s'", what, key);
}

static void test_schema(void **state)
{
	json_error_t error;
	json_t *schema = json_load_file("topologies/schema.json", 0, &error), *defs;

	(void)state;
	assert_non_null(schema);
	defs = json_object_get(schema, "$defs");
	for (size_t i = 0; parse_keys_all[i]; i++) {
		const struct parse_keys *k = parse_keys_all[i];
		autofree char *def = mem_strdup(k->what);
		const json_t *properties;
		size_t n = 0;

		for (char *s = def; *s; s++)
			*s = *s == ' ' ? '_' : *s;
		properties = json_object_get(i ? json_object_get(defs, def) : schema, "properties");
		for (; k->known[n]; n++)
			expect_key(properties, k->what, k->known[n]);
		if (json_object_size(properties) != n)
			fail_msg("schema.json: %s has keys that the parser has not", k->what);
	}
	json_decref(schema);
}

int main(void)
{
	struct dirent **list;
	int n = scandir("topologies", &list, is_yaml, alphasort), rc;
	struct CMUnitTest *tests;

	if (n < 10) {
		fprintf(stderr, "topologies: %d files; run this from the top of the tree\n", n);
		return 1;
	}
	tests = mem_zalloc(((size_t)n + 1) * sizeof(*tests));
	for (int i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = list[i]->d_name,
					       .test_func = test_topology,
					       .initial_state = list[i]->d_name};
	tests[n] = (struct CMUnitTest)cmocka_unit_test(test_schema);
	rc = _cmocka_run_group_tests("shipped", tests, (size_t)n + 1, NULL, NULL);
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	free(tests);
	return rc;
}
