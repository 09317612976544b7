/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of every topology in topologies/, in its three forms, byte for byte as in
 * tests/golden/plans, for the machine that `vpclab plan` assumes. `make golden` (or UPDATE_GOLDEN=1
 * in the environment) writes them anew; then read the difference before you commit it.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/file.h"
#include "emulator/plan/plan.h"
#include "tests/unit/needs.h"

#define TOPOLOGIES "topologies/"
#define GOLDEN	   "tests/golden/plans/"

struct variant {
	const char *file, *name; /* of the topology; of the golden files */
	const char *const *sets;
	size_t n_sets;
};

static const char *const form_2018[] = {"vms.web.eip.form=2018", "vms.db.eip.form=2018"};
static const char *const by_netem[] = {"links.1.delay=10ms", "links.1.loss=1%"};
static const char *const by_relay[] = {"links.1.delay=10ms", "links.1.loss={every: 100}"};
static const char *const fabric_delay[] = {"fabric.delay=1ms", "vms.client.vnic={rate: 100mbit, "
							       "direction: sum, connections: 100}"};

/* Ready topologies with something changed. */
static const struct variant changed[] = {
    {"eip.yaml", "eip-2018", form_2018, ARRAY_SIZE(form_2018)},
    {"dumbbell.yaml", "dumbbell-netem", by_netem, ARRAY_SIZE(by_netem)},
    {"dumbbell.yaml", "dumbbell-relay", by_relay, ARRAY_SIZE(by_relay)},
    {"flat.yaml", "flat-delay", fabric_delay, ARRAY_SIZE(fabric_delay)},
};

static void plan_topology(const struct variant *v, struct wire *w, struct plan *plan)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	autofree char *path = mem_printf(TOPOLOGIES "%s", v->file), *text = NULL;
	struct err err = ERR_INIT;
	struct problems problems;
	struct topology *t;
	size_t len;

	if (file_read(path, &text, &len, &err))
		fail_msg("%s", err.text);
	problems_init(&problems);
	t = needs_parse((struct topology_source){{path, text, len}, v->sets, v->n_sets, NULL, 0},
			&problems);
	if (!problems_count(&problems))
		topology_compile(t, &o, w, &problems);
	if (problems_count(&problems)) {
		struct strbuf out = {0};

		problems_print(&problems, &out);
		fail_msg("%s", strbuf_text(&out));
	}
	problems_done(&problems);
	topology_free(t);
	plan_build(w, &o.machine, plan);
}

/* The number of the first line in which two texts differ. */
static int line_of_difference(const char *a, const char *b)
{
	int line = 1;

	for (; *a && *a == *b; a++, b++)
		line += *a == '\n';
	return line;
}

static void check_golden(const char *name, const char *suffix, const char *got)
{
	autofree char *path = mem_printf(GOLDEN "%s.%s", name, suffix), *want = NULL;
	struct err err = ERR_INIT;
	size_t len;

	if (getenv("UPDATE_GOLDEN")) {
		if (file_mkdirs(GOLDEN, &err) || file_write(path, got, strlen(got), &err))
			fail_msg("%s", err.text);
		return;
	}
	if (file_read(path, &want, &len, &err))
		fail_msg("%s; `make golden` writes it", err.text);
	if (strcmp(got, want) != 0)
		fail_msg(
		    "the plan differs from %s from line %d on; when that is meant, `make golden` "
		    "writes it anew",
		    path, line_of_difference(got, want));
}

static void check_json(const char *name, const struct plan *plan)
{
	json_t *json = plan_json(plan);
	autofree char *compact = json_dumps(json, JSON_INDENT(1));
	autofree char *text = mem_printf("%s\n", compact);

	json_decref(json);
	check_golden(name, "json", text);
}

static void test_plan(void **state)
{
	const struct variant *v = *state;
	struct strbuf text = {0}, script = {0};
	struct plan plan;
	struct wire w;

	plan_topology(v, &w, &plan);
	plan_print_text(&plan, &text);
	plan_print_sh(&plan, &script);
	check_golden(v->name, "txt", strbuf_text(&text));
	check_golden(v->name, "sh", strbuf_text(&script));
	check_json(v->name, &plan);
	strbuf_done(&text);
	strbuf_done(&script);
	plan_done(&plan);
	wire_done(&w);
}

/* The same topology compiled twice gives the same plan: nothing depends on addresses in memory. */
static void test_deterministic(void **state)
{
	const struct variant *v = *state;
	struct strbuf text[2] = {{0}, {0}};

	for (int i = 0; i < 2; i++) {
		struct plan plan;
		struct wire w;

		plan_topology(v, &w, &plan);
		plan_print_text(&plan, &text[i]);
		plan_done(&plan);
		wire_done(&w);
	}
	assert_string_equal(strbuf_text(&text[0]), strbuf_text(&text[1]));
	strbuf_done(&text[0]);
	strbuf_done(&text[1]);
}

static int is_yaml(const struct dirent *e)
{
	return str_ends(e->d_name, ".yaml");
}

static void add_test(struct CMUnitTest *t, const char *name, CMUnitTestFunction fn,
		     struct variant *v)
{
	*t = (struct CMUnitTest){.name = name, .test_func = fn, .initial_state = v};
}

/* The ready ones as they are, then those that are changed. Gives how many. */
static size_t find_variants(struct arena *a, struct dirent **list, int n, struct variant *out)
{
	size_t used = 0;

	for (int i = 0; i < n; i++) {
		const char *file = arena_strdup(a, list[i]->d_name);

		out[used++] = (struct variant){
		    .file = file,
		    .name = arena_printf(a, "%.*s", (int)strlen(file) - 5, file),
		};
		free(list[i]);
	}
	free(list);
	for (size_t i = 0; i < ARRAY_SIZE(changed); i++)
		out[used++] = changed[i];
	return used;
}

int main(void)
{
	struct dirent **list = NULL;
	int n = scandir(TOPOLOGIES, &list, is_yaml, alphasort), rc;
	struct CMUnitTest *tests;
	struct variant *variants;
	struct arena arena;
	size_t used;

	if (n <= 0) {
		print_error("no topologies: run it in the top folder\n");
		return 1;
	}
	arena_init(&arena);
	variants = arena_alloc(&arena, ((size_t)n + ARRAY_SIZE(changed)) * sizeof(*variants));
	used = find_variants(&arena, list, n, variants);
	tests = arena_alloc(&arena, (used + 1) * sizeof(*tests));
	for (size_t i = 0; i < used; i++)
		add_test(&tests[i], variants[i].name, test_plan, &variants[i]);
	add_test(&tests[used], "deterministic", test_deterministic, &variants[used - 1]);
	rc = _cmocka_run_group_tests("golden plans", tests, used + 1, NULL, NULL);
	arena_done(&arena);
	return rc;
}
