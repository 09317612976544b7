// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scripts_help: what a script may say, for people; the checks are core/engine/script.c's. Shipped
 * scripts are listed with their titles and variables as their files have them. Called by
 * cmd_help.c.
 */
#include "core/cli/scripts_help.h"

#include <jansson.h>

#include "core/base/mem.h"
#include "core/base/share.h"
#include "core/engine/voip.h"
#include "core/harness/scripts.h"

static const char language[] =
    "A script says what the pairs of the test `pairs` do: vpclab measure SRC DST pairs --script\n"
    "SCRIPT [--var NAME=VALUE]…. E1 is the client, SRC; E2 the server, DST. It is a YAML file:\n"
    "\n"
    "  version: 1\n"
    "  name: mixed\n"
    "  end: time              # time: after `duration`; all, first: or when all pairs, or the\n"
    "  duration: 10s          #   first, have come to the end of their script\n"
    "  variables: {think: {exponential: 100ms}}\n"
    "  groups:\n"
    "  - name: files\n"
    "    pairs: 20            # up to 10000 in all groups\n"
    "    protocol: tcp        # tcp, udp, rtp\n"
    "    initial_delay: {uniform: [0, 1s]}\n"
    "    validate: true       # what comes must be what was sent\n"
    "    commands:\n"
    "    - connect\n"
    "    - loop:\n"
    "        count: 100       # without: until the end\n"
    "        do:\n"
    "        - start_timer\n"
    "        - send: {size: 1MB, buffer: 64KiB, rate: 50mbit}\n"
    "        - confirm\n"
    "        - end_timer\n"
    "        - sleep: think\n"
    "    - disconnect\n"
    "  - name: calls\n"
    "    pairs: 10\n"
    "    script: voip         # a shipped one or a file, with its variables changed\n"
    "    variables: {codec: g729}\n"
    "\n"
    "Commands, from E1's side; E2 does the other half of each:\n"
    "\n"
    "  connect, disconnect        a connection; udp and rtp: a socket, and whether E2 hears it\n"
    "  send: SIZE                 from E1 to E2; or {size: SIZE, buffer: SIZE, rate: RATE}: so "
    "much\n"
    "                             in a write or a datagram, and not faster than that\n"
    "  receive: SIZE              from E2 to E1, with the same keys; tcp alone\n"
    "  confirm                    E1 waits until E2 has got all up to here\n"
    "  sleep: TIME                or {time: TIME, at: e2}\n"
    "  loop: {count: N, do: […]}  up to 4 in each other\n"
    "  start_timer, end_timer     a timing record; its transactions are the turns of the\n"
    "                             innermost loops in it, or one\n"
    "\n"
    "SIZE, TIME and N are a number with its unit, the name of a variable, or random:\n"
    "{uniform: [least, most]}, {normal: [mean, deviation]}, {poisson: mean}, {exponential: mean}.\n"
    "A Poisson time counts milliseconds. The same --seed gives the same numbers.\n"
    "\n"
    "Calls: protocol: rtp and voip: {codec: NAME, frames: N in a datagram, jitter_buffer: TIME,\n"
    "extra_delay: TIME}; then send takes how long is spoken. Result: R-value and MOS by the\n"
    "E-model (ITU-T G.107), with what the codecs' losses cost from ITU-T G.113. Codecs:\n"
    "\n";

static void add_shipped(const char *name, struct strbuf *out)
{
	struct err ignored = ERR_INIT;
	struct scripts s;
	const char *key;
	json_t *value;

	strbuf_addf(out, "\n  %s\n", name);
	if (scripts_load(&(struct scripts_source){.name = name}, &s, &ignored))
		return;
	strbuf_addf(out, "      %s\n", s.title ? s.title : "");
	json_t *j = json_loads(s.json, 0, NULL);
	json_t *variables = json_object_get(j, "variables");
	if (!variables)
		variables =
		    json_object_get(json_array_get(json_object_get(j, "groups"), 0), "variables");
	json_object_foreach(variables, key, value)
	{
		autofree char *text = json_dumps(value, JSON_ENCODE_ANY);

		strbuf_addf(out, "      %s = ", key);
		for (const char *c = text; *c; c++)
			if (*c != '"')
				strbuf_addc(out, *c);
		strbuf_addc(out, '\n');
	}
	json_decref(j);
	scripts_done(&s);
}

void scripts_help(struct strbuf *out)
{
	struct share_names names;
	struct arena a;

	strbuf_add(out, language);
	for (int i = 0; voip_codec_at(i); i++)
		strbuf_addf(out, "  %-10s %s%s\n", voip_codec_at(i)->name, voip_codec_at(i)->title,
			    voip_codec_at(i)->assumed ? " (its loss robustness is assumed)" : "");
	strbuf_add(out, "\nShipped scripts and their variables:\n");
	arena_init(&a);
	share_names(SCRIPTS_KIND, &a, &names);
	for (size_t i = 0; i < names.list.n; i++)
		add_shipped(names.list.v[i], out);
	arena_done(&a);
}
