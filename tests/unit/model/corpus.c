/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Broken topologies: tests/corpus/topology/NAME.yaml must give exactly the problems of
 * NAME.expected. UPDATE_GOLDEN=1 writes those anew.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/file.h"
#include "emulator/model/topology.h"

#define DIR_CORPUS "tests/corpus/topology"

static void diagnose(const char *name, const char *text, size_t len, struct strbuf *out)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	struct topology *t;
	struct problems p;
	struct wire w;

	problems_init(&p);
	t = topology_parse(&(struct topology_source){.main = {name, text, len}}, &p);
	topology_compile(t, &o, &w, &p);
	problems_print(&p, out);
	wire_done(&w);
	topology_free(t);
	problems_done(&p);
}

static char *slurp(const char *path, size_t *len)
{
	struct err err = ERR_INIT;
	char *text = NULL;

	if (file_read(path, &text, len, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

static void test_file(void **state)
{
	const char *name = *state;
	autofree char *path = mem_printf(DIR_CORPUS "/%s", name);
	autofree char *expected = mem_printf("%.*s.expected", (int)(strlen(path) - 5), path);
	autostr struct strbuf got = {0};
	autofree char *text = NULL, *want = NULL;
	struct err err = ERR_INIT;
	size_t len, want_len;

	text = slurp(path, &len);
	diagnose(name, text, len, &got);
	assert_true(got.len > 0); /* each is broken */
	if (getenv("UPDATE_GOLDEN"))
		assert_int_equal(file_write(expected, got.s, got.len, &err), 0);
	want = slurp(expected, &want_len);
	assert_string_equal(strbuf_text(&got), want);
}

/* A set must not be able to be worse than a file. */
static void test_sets(void **state)
{
	static const char good[] = "version: 1\nhosts: {h1: {}, h2: {}}\n"
				   "networks: {net: {cidr: 10.0.0.0/24}}\n"
				   "vms: {a.b: {host: h1, network: net}}\n";
	static const struct {
		const char *set, *want;
	} cases[] = {
	    {"vms.a.b.host=h2", ""},
	    {"fabric.nic.rate=10mbit", ""},
	    {"vms.a.b.count=5", ""},
	    {"vms.a.b.host=h9", "--set vms.a.b.host=h9: vm 'a.b' is on host 'h9', which does "
				"not exist; did you mean 'h1'?\n1 problem\n"},
	    {"fabric.nic.rate=fast", "--set fabric.nic.rate=fast: 'fast' is not a rate; write "
				     "it like 100mbit (bits per second: kbit, mbit, gbit)\n"
				     "1 problem\n"},
	    {"fabric", "--set fabric: write it like vms.client.host=h2\n1 problem\n"},
	    {"=x", "--set =x: write it like vms.client.host=h2\n1 problem\n"},
	    {"fabric.=x", "--set fabric.=x: the path has an empty part\n1 problem\n"},
	    {"hosts=x", "--set hosts=x: 'hosts' must be a map, this is a text\n"
			"1 problem\n"},
	    {"version.x=1", "--set version.x=1: nothing can be set below the text '1'\n"
			    "1 problem\n"},
	    {"networks.net.cidr=10.1.0.0/24", ""},
	    {"hosts.h1.bride=ovs", "--set hosts.h1.bride=ovs: unknown key 'bride' in host; did "
				   "you mean 'bridge'?\n1 problem\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autostr struct strbuf out = {0};
		struct problems p;
		struct topology *t;

		problems_init(&p);
		t = topology_parse(&(struct topology_source){.main = {"x.yaml", good, strlen(good)},
							     .sets = &cases[i].set,
							     .n_sets = 1},
				   &p);
		problems_print(&p, &out);
		assert_string_equal(strbuf_text(&out), cases[i].want);
		topology_free(t);
		problems_done(&p);
	}
}

static int is_yaml(const struct dirent *e)
{
	return str_ends(e->d_name, ".yaml");
}

int main(void)
{
	struct dirent **list;
	int n = scandir(DIR_CORPUS, &list, is_yaml, alphasort), rc;
	struct CMUnitTest *tests;

	if (n < 30) {
		fprintf(stderr, "%s: %d files; run this from the top of the tree\n", DIR_CORPUS, n);
		return 1;
	}
	tests = mem_zalloc(((size_t)n + 1) * sizeof(*tests));
	for (int i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = list[i]->d_name,
					       .test_func = test_file,
					       .initial_state = list[i]->d_name};
	tests[n] = (struct CMUnitTest)cmocka_unit_test(test_sets);
	rc = _cmocka_run_group_tests("corpus", tests, (size_t)n + 1, NULL, NULL);
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	free(tests);
	return rc;
}
