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
	char *file, *name; /* of the topology; of the golden files */
	const char *const *sets;
	size_t n_sets;
};

static const char *const form_2018[] = {"vms.web.eip.form=2018", "vms.db.eip.form=2018"};

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

static void add_test(struct CMUnitTest *t, char *name, CMUnitTestFunction fn, struct variant *v)
{
	*t = (struct CMUnitTest){.name = name, .test_func = fn, .initial_state = v};
}

int main(void)
{
	struct dirent **list = NULL;
	int n = scandir(TOPOLOGIES, &list, is_yaml, alphasort), used = 0, rc;
	struct CMUnitTest *tests;
	struct variant *variants;

	if (n <= 0) {
		print_error("no topologies: run it in the top folder\n");
		return 1;
	}
	tests = mem_zalloc(((size_t)n + 2) * sizeof(*tests));
	variants = mem_zalloc(((size_t)n + 1) * sizeof(*variants));
	for (int i = 0; i < n; i++) {
		struct variant *v = &variants[i];

		v->file = mem_strdup(list[i]->d_name);
		v->name = mem_printf("%.*s", (int)strlen(v->file) - 5, v->file);
		add_test(&tests[used++], v->name, test_plan, v);
		free(list[i]);
	}
	free(list);
	variants[n] = (struct variant){mem_strdup("eip.yaml"), mem_strdup("eip-2018"), form_2018,
				       ARRAY_SIZE(form_2018)};
	add_test(&tests[used++], variants[n].name, test_plan, &variants[n]);
	add_test(&tests[used++], "deterministic", test_deterministic, &variants[n]);
	rc = _cmocka_run_group_tests("golden plans", tests, (size_t)used, NULL, NULL);
	for (int i = 0; i <= n; i++) {
		free(variants[i].file);
		free(variants[i].name);
	}
	free(tests);
	free(variants);
	return rc;
}
