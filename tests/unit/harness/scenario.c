// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scenario: the shipped scenarios are read without problems and mean what they say; each broken
 * file of tests/corpus/scenario gives exactly the problems in its .txt (UPDATE_GOLDEN=1 writes them
 * anew).
 */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/file.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/measure.h"
#include "core/harness/scenario.h"
#include "emulator/model/topology.h"
#include "core/harness/sentence.h"

#define CORPUS "tests/corpus/scenario/"

static struct scenario *parse_text(const char *text, struct problems *p)
{
	problems_init(p);
	return scenario_parse("dir/test.yaml", text, strlen(text), p);
}

static void print_problems(struct problems *p)
{
	autostr struct strbuf out = {0};

	problems_print(p, &out);
	print_message("%s", strbuf_text(&out));
}

static const char head[] = "version: 1\n"
			   "topology: ../t.yaml\n"
			   "paths:\n"
			   "  direct: {from: client, to: direct}\n"
			   "  eip: {from: client, to: eip(x)}\n"
			   "measure:\n"
			   "  throughput: {test: Throughput, file_size: 1MB}\n"
			   "  rr: {test: TCP_RR, size: [64, 1024], duration: 2s, cpus: apart}\n"
			   "  small: {test: udp_stream, frame: 64, unshaped: true, rate: 10kpps,\n"
			   "    server_cpu: 1}\n";

static void test_whole(void **state)
{
	struct problems p;
	struct scenario *s = parse_text(head, &p);

	(void)state;
	print_problems(&p);
	assert_int_equal(problems_count(&p), 0);
	assert_string_equal(s->name, "test");
	assert_string_equal(s->topology, "dir/../t.yaml");
	assert_int_equal(s->paths.n, 2);
	assert_string_equal(s->paths.v[1].to, "eip(x)");
	assert_int_equal(s->measures.n, 3);
	assert_int_equal(s->measures.v[0].spec.test, TEST_THROUGHPUT);
	assert_int_equal(s->measures.v[0].spec.file_size, 1000000);
	assert_int_equal(s->measures.v[1].spec.size, 64);
	assert_int_equal(s->measures.v[1].spec.response_size, 1024);
	assert_int_equal(s->measures.v[1].spec.duration_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(s->measures.v[1].cpus, CPUS_APART);
	assert_int_equal(s->measures.v[0].client_cpu, -1);
	assert_int_equal(s->measures.v[2].client_cpu, -1);
	assert_int_equal(s->measures.v[2].server_cpu, 1);
	assert_true(s->measures.v[2].unshaped);
	assert_int_equal(s->measures.v[2].frame, 64);
	assert_int_equal(s->measures.v[2].spec.rate_pps, 10000);
	assert_int_equal(s->measures.v[2].repeat.max, 10);
	assert_int_equal(s->compare_base, -1);
	scenario_free(s);
	problems_done(&p);
}

/* The command line asks the same. */
static void test_keys_and_tests(void **state)
{
	(void)state;
	assert_true(measure_takes("outstanding", TEST_UDP_RR));
	assert_false(measure_takes("outstanding", TEST_TCP_STREAM));
	assert_true(measure_takes("spin", TEST_TCP_RR));
	assert_false(measure_takes("spin", TEST_TCP_STREAM));
	assert_false(measure_takes("io", TEST_TCP_RR));
	assert_false(measure_takes("spin", TEST_PAIRS));
	assert_true(measure_takes("duration", TEST_PATH_CHECK));
	assert_true(measure_takes("response_size", TEST_UDP_LATENCY));
}

static void parse_sentence(const char *sentence, struct scenario_expect *e)
{
	struct problems p;
	struct scenario *s = parse_text(head, &p);

	if (!sentence_parse(s, sentence, (struct mark){.file = "s", .line = 1, .column = 1}, e,
			    &p)) {
		print_problems(&p);
		fail_msg("not understood: %s", sentence);
	}
	scenario_free(s);
	problems_done(&p);
}

static void test_sentences(void **state)
{
	struct scenario_expect e;

	(void)state;
	parse_sentence("throughput of direct within 1% or 2mbit of predicted", &e);
	assert_int_equal(e.relation, EXPECT_WITHIN);
	assert_int_equal(e.against, AGAINST_PREDICTED);
	assert_string_equal(e.what.metric->name, "average");
	assert_float_equal(e.tolerance_share, 0.01, 1e-12);
	assert_float_equal(e.tolerance_abs, 2e6, 1e-6);

	parse_sentence("rr.p50 of eip at most 2.5 times rr.p50 of direct", &e);
	assert_int_equal(e.relation, EXPECT_AT_MOST);
	assert_int_equal(e.against, AGAINST_QUANTITY);
	assert_float_equal(e.factor, 2.5, 1e-12);
	assert_int_equal(e.other.path, 0);

	parse_sentence("rr.p99 of direct below 150us", &e);
	assert_int_equal(e.relation, EXPECT_BELOW);
	assert_float_equal(e.value, 150000, 1e-9);

	parse_sentence("throughput of direct at least 0.9 times reference", &e);
	assert_int_equal(e.against, AGAINST_REFERENCE);
	assert_float_equal(e.factor, 0.9, 1e-12);

	parse_sentence("small.loss of direct within 0.1% of 0%", &e);
	assert_float_equal(e.tolerance_abs, 0.001, 1e-12);
	assert_float_equal(e.tolerance_share, 0, 0);

	parse_sentence("small of direct within 1% of counted", &e);
	assert_string_equal(e.what.metric->name, "pps");
	assert_int_equal(e.against, AGAINST_COUNTED);
}

static void test_references(void **state)
{
	autofree char *text =
	    mem_printf("%sreference:\n"
		       "  source: somebody\n"
		       "  throughput: {eip: {average: 905.304mbit, maximum: 926mbit}}\n"
		       "compare: {base: direct, with: [eip], metrics: [rr, rr.tps]}\n",
		       head);
	struct problems p;
	struct scenario *s = parse_text(text, &p);

	(void)state;
	print_problems(&p);
	assert_int_equal(problems_count(&p), 0);
	assert_float_equal(scenario_reference(s, 0, metric_find("average", TEST_THROUGHPUT), 1),
			   905304000, 1e-3);
	assert_float_equal(scenario_reference(s, 0, metric_find("max", TEST_THROUGHPUT), 1), 926e6,
			   1e-3);
	assert_true(isnan(scenario_reference(s, 0, metric_find("average", TEST_THROUGHPUT), 0)));
	assert_int_equal(s->compare_metrics.n, 2);
	assert_string_equal(s->compare_metrics.v[0].metric->name, "p50");
	scenario_free(s);
	problems_done(&p);
}

static void test_shipped(void **state)
{
	struct dirent *entry;
	DIR *dir = opendir("scenarios");
	int n = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		struct err err = ERR_INIT;
		struct problems p;
		size_t len;

		if (!str_ends(entry->d_name, ".yaml"))
			continue;
		autofree char *path = mem_printf("scenarios/%s", entry->d_name), *text = NULL;
		assert_int_equal(file_read(path, &text, &len, &err), 0);
		problems_init(&p);
		struct scenario *s = scenario_parse(path, text, len, &p);
		print_problems(&p);
		assert_int_equal(problems_count(&p), 0);
		assert_true(scenario_recognise(text, len));
		scenario_free(s);
		problems_done(&p);
		n++;
	}
	closedir(dir);
	assert_true(n > 0);
}

static void check_corpus(const char *name)
{
	autofree char *path = mem_printf(CORPUS "%s.yaml", name);
	autofree char *expected_path = mem_printf(CORPUS "%s.txt", name);
	autofree char *text = NULL, *expected = NULL;
	autofree char *file = mem_printf("%s.yaml", name);
	autostr struct strbuf out = {0};
	struct err err = ERR_INIT;
	struct problems p;
	size_t len;

	assert_int_equal(file_read(path, &text, &len, &err), 0);
	problems_init(&p);
	scenario_free(scenario_parse(file, text, len, &p));
	problems_print(&p, &out);
	assert_true(problems_count(&p) > 0);
	problems_done(&p);
	if (getenv("UPDATE_GOLDEN"))
		assert_int_equal(file_write(expected_path, out.s, out.len, &err), 0);
	if (file_read(expected_path, &expected, &len, &err))
		fail_msg("%s", err.text);
	assert_string_equal(strbuf_text(&out), expected);
}

static void test_corpus(void **state)
{
	struct dirent *entry;
	DIR *dir = opendir(CORPUS);
	int n = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (!str_ends(entry->d_name, ".yaml"))
			continue;
		autofree char *name = mem_strdup(entry->d_name);
		name[strlen(name) - strlen(".yaml")] = '\0';
		check_corpus(name);
		n++;
	}
	closedir(dir);
	assert_true(n >= 10);
}

/* The problems of a scenario whose path `p` has these ends, with the shipped topology. */
static void check_path(const char *ends, const char *want)
{
	autofree char *text =
	    mem_printf("version: 1\ntopology: t.yaml\npaths:\n  p: {%s}\nmeasure:\n"
		       "  rr: {test: tcp_rr}\n  rr6: {test: udp_stream, family: ipv6}\n",
		       ends);
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	autostr struct strbuf out = {0};
	autofree char *file = NULL;
	struct err err = ERR_INIT;
	struct problems p;
	struct wire w;
	size_t len;

	if (file_read("topologies/zstack.yaml", &file, &len, &err))
		fail_msg("%s", err.text);
	struct scenario *s = parse_text(text, &p);
	struct topology *t =
	    topology_parse(&(struct topology_source){.main = {"zstack.yaml", file, len}}, &p);
	topology_compile(t, &o, &w, &p);
	scenario_check(s, &w, &p);
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), want);
	wire_done(&w);
	topology_free(t);
	scenario_free(s);
	problems_done(&p);
}

/* Ends that the topology does not have, and paths that it has no way for. */
static void test_check(void **state)
{
	(void)state;
	check_path("from: client, to: direct", "");
	check_path("from: client, to: dircet",
		   "dir/test.yaml:4:25: 'dircet' is not an endpoint of topology 'zstack'; did you "
		   "mean 'direct'?\n1 problem\n");
	check_path("from: client, to: flat-eip",
		   "dir/test.yaml:4:25: no way from client to flat-eip: no route to 10.10.0.10 at "
		   "client; reach it by eip(flat-eip)\n"
		   "dir/test.yaml:4:25: no way from client to flat-eip: flat-eip has no IPv6 "
		   "address\n2 problems\n");
	/* An address is as good as the name that has it. */
	check_path("from: 192.0.2.10, to: '2001:db8:1::b'", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_keys_and_tests), cmocka_unit_test(test_whole),
	    cmocka_unit_test(test_sentences),	   cmocka_unit_test(test_references),
	    cmocka_unit_test(test_shipped),	   cmocka_unit_test(test_corpus),
	    cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
