/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adapter_fuzz: any bytes as a tool's adapter. One without a problem must have all that a run
 * needs: its command lines are filled in, with and without what may be asked for, and outputs are
 * read.
 */
#include <sys/socket.h>

#include "core/tools/command.h"
#include "core/tools/reading.h"
#include "tests/fuzz/fuzz.h"

static void fill(const struct tool_command *c, const struct command_values *v)
{
	struct err err = ERR_INIT;
	struct command_line l;

	if (c->given && !command_expand(c, v, &l, &err))
		require(l.argv.n > 0 && l.argv.v[0] && !l.argv.v[l.argv.n]);
	else
		require(!c->given || *err.text);
	if (c->given)
		command_done(&l);
}

static void run(const struct tool_test *t)
{
	static const struct command_values values[] = {
	    {.server = {.family = AF_INET}, .port = 5201, .duration_s = 2},
	    {.program = "/bin/true",
	     .file = "/tmp/x",
	     .server = {.family = AF_INET6},
	     .client = {.family = AF_INET6},
	     .port = 5201,
	     .duration_s = 2,
	     .rate_bps = 5e6,
	     .size = 1000,
	     .response_size = 10,
	     .streams = 4,
	     .dscp = 46,
	     .no_delay = true,
	     .count = 7}};
	char text[] =
	    "1 lost of 2,000 (0.05%) at 5.0 Mbits/sec\nWARNING: {\"a\": [1, {\"b\": 2}]}\n";
	char json[] = "{\"end\": {\"sum\": {\"bits_per_second\": 1}}, \"a\": [1, 2, [3]]}";
	const struct tool_output o = {.text = {json, text, text, json}};
	struct readings r;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		fill(&t->server, &values[i]);
		fill(&t->client, &values[i]);
	}
	readings_of(t, &o, &r);
	require(r.list.n == t->reads.n);
	readings_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf out = {0};
	struct problems p;

	problems_init(&p);
	struct adapter *a = adapter_parse("fuzz", (const char *)data, size, &p);
	if (!problems_count(&p)) {
		require(a->name && a->program && a->tests.n);
		VEC_FOREACH (t, &a->tests)
			run(t);
		adapter_known(a, "1.2.3", "wrong-unit", "clean");
	}
	problems_print(&p, &out);
	strbuf_done(&out);
	problems_done(&p);
	adapter_free(a);
	return 0;
}
