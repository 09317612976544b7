/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of a lab written down by hand (tests/unit/sample.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/file.h"
#include "emulator/model/topology.h"
#include "tests/unit/sample.h"

static char *picture(const struct wire *w, const char *format)
{
	struct err err = ERR_INIT;
	struct strbuf out = {0};

	if (graph_print(w, format, &out, &err))
		fail_msg("%s", err.text);
	return strbuf_take(&out);
}

static void check_has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("'%s' is not in:\n%s", what, text);
}

static void test_text(void **state)
{
	struct sample s;
	char *text;

	(void)state;
	sample_init(&s, ENGINE_OVS);
	text = picture(&s.w, "text");
	check_has(text, "\nfabric  switch\n"
			"  br0\n"
			"    ├─ h1 ═ h1 br0                          100 Mbit/s l1\n"
			"    └─ h2 ═ h2 br0                          100 Mbit/s l1\n");
	check_has(text,
		  "\nh2  host, Open vSwitch\n"
		  "  br0\n"
		  "    ├─ uplink ═ fabric br0                  100 Mbit/s l1\n"
		  "    ├─ h2 vtep                              172.16.0.2/24\n"
		  "    └─ vm 2's eth0                          10.0.0.2/24, fd00::2/64\n"
		  "  br9\n"
		  "    ├─ vxlan9                               VNI 9 to 1 other host, MTU 1450\n"
		  "    └─ vm 2's eth1                          10.9.0.2/24\n");
	/* The tap between vm1 and its bridge is left out. */
	check_has(text, "    └─ vm1 eth0 ");
	assert_null(strstr(text, "vnic1out"));
	free(text);
	wire_done(&s.w);
}

/* The largest of the ready topologies, as users see it. */
static void test_no_line_too_long(void **state)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	char *text, *picture_text, *line, *rest = NULL;
	struct err err = ERR_INIT;
	struct problems problems;
	struct topology *t;
	struct wire w;
	size_t len, lines = 0;

	(void)state;
	problems_init(&problems);
	if (file_read("topologies/zstack.yaml", &text, &len, &err))
		fail_msg("%s", err.text);
	t = topology_parse(&(struct topology_source){.main = {"zstack.yaml", text, len}},
			   &problems);
	topology_compile(t, &o, &w, &problems);
	assert_int_equal(problems_count(&problems), 0);
	picture_text = picture(&w, "text");
	for (line = strtok_r(picture_text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t columns = 0;

		for (const char *c = line; *c; c++)
			columns += ((unsigned char)*c & 0xc0) != 0x80;
		assert_true(columns <= 100);
		assert_true(line[strlen(line) - 1] != ' ');
		lines++;
	}
	assert_true(lines > 20);
	free(picture_text);
	free(text);
	wire_done(&w);
	topology_free(t);
	problems_done(&problems);
}

/* What each direction gets is seen from the end that the line begins with. */
static void test_two_rates(void **state)
{
	struct sample s;
	char *text;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	s.w.links.v[0].ba.rate.bps = 0;
	text = picture(&s.w, "mermaid");
	check_has(text, "|\"→ 100 Mbit/s l1, ← unshaped\"|");
	free(text);
	wire_done(&s.w);
}

static void test_dot(void **state)
{
	struct sample s;
	int depth = 0;
	char *text;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	s.w.nodes.v[s.vm1].name = "a \"b\" \\c";
	text = picture(&s.w, "dot");
	assert_int_equal(strncmp(text, "graph \"sample\" {\n", 17), 0);
	check_has(text, "label=\"a \\\"b\\\" \\\\c\\n10.0.0.1/24, fd00::1/64\\n10.9.0.1/24\"");
	check_has(text, "\tsubgraph cluster_h1 {\n\t\tlabel=\"h1 (host, Linux bridges)\";\n");
	check_has(text, " [label=\"VXLAN 9\", style=dashed];\n");
	for (const char *c = text; *c; c++)
		depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
	assert_int_equal(depth, 0);
	free(text);
	wire_done(&s.w);
}

static void test_mermaid(void **state)
{
	struct sample s;
	char *text;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	s.w.nodes.v[s.vm1].name = "a \"b\" <c> #d";
	text = picture(&s.w, "mermaid");
	assert_int_equal(strncmp(text, "flowchart LR\n", 13), 0);
	check_has(text, "[\"a #34;b#34; #60;c#62; #35;d<br/>10.0.0.1/24");
	check_has(text, "\tsubgraph host_h1[\"h1 (host, Linux bridges)\"]\n");
	check_has(text, " -.-|\"VXLAN 9\"| ");
	free(text);
	wire_done(&s.w);
}

static void test_unknown_format(void **state)
{
	struct err err = ERR_INIT;
	struct strbuf out = {0};
	struct sample s;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	assert_true(graph_print(&s.w, "png", &out, &err) < 0);
	assert_string_equal(err.text, "'png' is no format of a picture; use text, dot or mermaid");
	assert_int_equal(out.len, 0);
	wire_done(&s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text),      cmocka_unit_test(test_no_line_too_long),
	    cmocka_unit_test(test_two_rates), cmocka_unit_test(test_dot),
	    cmocka_unit_test(test_mermaid),   cmocka_unit_test(test_unknown_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
