// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many: measurements of a procedure, made in a lab or between real machines. Called by cmd_search.c
 * and cmd_measure.c.
 */
#include "core/cli/many.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/harness/bench.h"
#include "core/harness/several.h"

/* What others do on the machine comes and goes, but to look at it takes time too. */
#define IDLE_EVERY_NS (10 * NSEC_PER_SEC)

static int measure(void *arg, const struct engine_spec *spec, struct run_sample *out,
		   struct err *err)
{
	struct many *m = arg;
	struct attempt_spec at = m->at;

	if (!m->idle_at_ns || clock_now_ns() - m->idle_at_ns > IDLE_EVERY_NS) {
		int r = bench_idle(&m->at.idle_busy, err);

		if (r)
			return r;
		m->idle_at_ns = clock_now_ns();
	}
	at.idle_busy = m->at.idle_busy;
	at.engine = *spec;
	attempt_place_given(m->cpus, &m->pins, &at.engine);
	return attempt_run(&at, &m->arena, out, err);
}

/* Nothing of ours counts packets there. */
static void fill_sample(const struct many *m, struct several_pair *pair, struct run_sample *out)
{
	const struct truth_claim none = {-1, 0};
	struct truth_traffic t = {.family = m->at.family};

	*out = (struct run_sample){.index = out->index,
				   .spec = pair->spec,
				   .engine = pair->result,
				   .cpu_per_packet_ns = NAN,
				   .cpu_missing = "real machines are not looked into"};
	out->whole.missing = "the ends are real machines";
	truth_count(&t, &out->whole, NULL, &none, &out->counted);
	pair->result = (struct engine_result){0}; /* it is the sample's now */
}

static int open_ends(const struct many *m, struct remote_worker *w, struct several_pair *pair,
		     struct err *err)
{
	struct ip_zone at = {0};
	int r = 0;

	for (int side = 0; side < 2 && !r; side++)
		r = remote_open(&m->ends[side], &m->remote, &w[side], err);
	if (!r)
		r = remote_address(&m->ends[1], &w[0], &m->remote, &at, err);
	pair->server = at.ip;
	memcpy(pair->spec.zone, at.zone, sizeof(at.zone));
	pair->ends = (struct engine_ends){w[0].out, w[0].in, w[1].out, w[1].in};
	pair->own_clocks = !r && (!remote_here(&w[0]) || !remote_here(&w[1]));
	return r;
}

/* A worker measures once, so each measurement has workers of its own. */
static int measure_remote(void *arg, const struct engine_spec *spec, struct run_sample *out,
			  struct err *err)
{
	const struct remote_worker none = {.in = -1, .out = -1, .words = -1};
	struct several_hooks hooks = {.stop_fd = attempt_interrupt_fd()};
	struct remote_worker w[2] = {none, none};
	struct several_pair pair = {.spec = *spec};
	struct many *m = arg;
	int r = open_ends(m, w, &pair, err);

	if (!r) {
		r = several_run(&pair, 1, &hooks, err);
		for (int side = 0; side < 2; side++)
			remote_explain(&m->ends[side], &w[side], &pair.err);
		if (pair.err.kind) {
			*err = pair.err;
			r = -err->code;
		}
		if (!r)
			fill_sample(m, &pair, out);
		several_done(&pair, 1);
	}
	for (int side = 0; side < 2; side++)
		remote_close(&w[side]);
	return r;
}

int many_remote(struct many *m, const struct remote_options *o, struct err *err)
{
	const char *texts[] = {m->at.from, m->at.to};
	int r = 0;

	m->remote = *o;
	m->p.measure = measure_remote;
	for (int side = 0; side < 2 && !r; side++)
		r = remote_parse(texts[side], &m->arena, &m->ends[side], err);
	return r;
}

static void progress(void *arg, const char *text)
{
	struct many *m = arg;

	fprintf(stderr, m->terminal ? "\r  %s\033[K" : "%s\n", text);
	fflush(stderr);
	m->drawn = m->terminal;
}

void many_init(struct many *m, const struct attempt_spec *at, bool quiet)
{
	*m = (struct many){.at = *at, .pins = {-1, -1}, .terminal = isatty(STDERR_FILENO)};
	arena_init(&m->arena);
	m->p = (struct procedure){
	    .measure = measure,
	    .arg = m,
	    .progress = quiet ? NULL : progress,
	    .progress_arg = m,
	    .stop = attempt_interrupted,
	    .arena = &m->arena,
	};
}

void many_wipe(struct many *m)
{
	if (m->drawn)
		fputs("\r\033[K", stderr);
	m->drawn = false;
}

void many_done(struct many *m)
{
	many_wipe(m);
	arena_done(&m->arena);
}

int many_mtu(const struct many *m)
{
	struct err ignored = ERR_INIT;
	struct path path;
	int mtu = 0;

	if (!m->at.wire)
		return 0;
	if (!path_find(m->at.wire, m->at.from, m->at.to, m->at.family, &path, &ignored))
		mtu = path.mtu;
	path_done(&path);
	return mtu;
}

/* In the node: "COUNT of MOST", or nothing where connections are not tracked. */
static int read_inside(void *arg, int out_fd, struct err *err)
{
	static const char *const files[] = {"/proc/sys/net/netfilter/nf_conntrack_count",
					    "/proc/sys/net/netfilter/nf_conntrack_max"};
	char text[2][32] = {{0}};

	(void)arg;
	(void)err;
	for (int i = 0; i < 2; i++) {
		FILE *f = fopen(files[i], "re");

		if (!f)
			return 0;
		if (!fgets(text[i], sizeof(text[i]), f))
			text[i][0] = '\0';
		fclose(f);
		text[i][strcspn(text[i], "\n")] = '\0';
	}
	dprintf(out_fd, "%s of %s", text[0], text[1]);
	return 0;
}

const char *many_evidence(void *many, struct arena *arena)
{
	const struct many *m = many;
	autostr struct strbuf text = {0};
	struct err ignored = ERR_INIT;
	struct path path;
	int before = -1;

	if (!m->at.wire)
		return NULL;
	if (!path_find(m->at.wire, m->at.from, m->at.to, m->at.family, &path, &ignored))
		VEC_FOREACH (hop, &path.hops) {
			const char *node = m->at.wire->nodes.v[hop->node].name;
			autofree char *out = NULL;
			size_t len = 0;

			if (hop->node == before)
				continue;
			before = hop->node;
			if (!lab_call(m->at.lab, node, read_inside, NULL, &out, &len, &ignored) &&
			    out && len)
				strbuf_addf(&text, "%s%s tracks %.*s", text.len ? ", " : "", node,
					    (int)len, out);
		}
	path_done(&path);
	return text.len ? arena_printf(arena, "%s connections", strbuf_text(&text)) : NULL;
}
