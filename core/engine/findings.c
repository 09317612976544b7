/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings: figures that need both ends or the whole series. Nothing here was measured by it, and
 * nothing replaces a count. Called by result.c at the end of a merge.
 */
#include "core/engine/findings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/engine/engines.h"
#include "core/engine/limit.h"
#include "core/engine/result.h"
#include "core/stats/steady.h"

static const char *findings_rate_key(const struct engine_def *def)
{
	return def->unit == UNIT_TRANSACTIONS ? "tps" : def->unit == UNIT_PACKETS ? "pps" : "bps";
}

/* A rate over the intervals from the cut on; each weighs as long as it is. */
static double findings_mean(const json_t *intervals, size_t from, const char *key)
{
	double sum = 0, last = 0, length = 0;
	const json_t *i;
	size_t k;
	json_array_foreach((json_t *)intervals, k, i)
	{
		double t = result_number(i, "t_s");
		if (k >= from) {
			sum += result_number(i, key) * (t - last);
			length += t - last;
		}
		last = t;
	}
	return length > 0 ? sum / length : NAN;
}

static void findings_cut(const struct engine_def *def, size_t cut, struct engine_result *out)
{
	const char *key = findings_rate_key(def), *const sent[] = {"sent_bps", "sent_pps"};
	double *const to[] = {&out->sent_bps, &out->sent_pps};
	double rate = findings_mean(out->intervals, cut, key);
	if (def->unit == UNIT_BYTES)
		out->goodput_bps = rate;
	else
		out->pps = rate;
	if (def->unit == UNIT_PACKETS)
		out->goodput_bps = findings_mean(out->intervals, cut, "bps");
	for (int i = 0; i < 2; i++)
		if (json_object_get(json_array_get(out->intervals, cut), sent[i]))
			*to[i] = findings_mean(out->intervals, cut, sent[i]);
	out->cut_s = out->steady_s;
}

static void findings_cut_why(const char *key, size_t cut, struct engine_result *out)
{
	size_t n = json_array_size(out->intervals);
	double all = findings_mean(out->intervals, 0, key) * (double)n;
	double rest = findings_mean(out->intervals, cut, key);
	double head = (all - rest * (double)(n - cut)) / (double)cut;
	snprintf(out->steady_why, sizeof(out->steady_why),
		 "the mean of the first %zu of %zu intervals is %.1f %% of that of the others", cut,
		 n, head / rest * 100);
}

static void findings_steady(const struct engine_spec *s, const struct engine_def *def,
			    struct engine_result *out)
{
	size_t n = json_array_size(out->intervals);
	autofree double *v = mem_zalloc((n + 1) * sizeof(*v));
	struct steady found;
	for (size_t i = 0; i < n; i++)
		v[i] = result_number(json_array_get(out->intervals, i), findings_rate_key(def));
	/* The last may be a shorter one, of an early end. */
	steady_find(v, n > STEADY_LEAST && out->partial ? n - 1 : n, &found);
	snprintf(out->steady_why, sizeof(out->steady_why), "%s", found.why);
	if (found.cut < 0)
		return;
	out->steady_s =
	    found.cut ? result_number(json_array_get(out->intervals, (size_t)found.cut - 1), "t_s")
		      : 0;
	if (found.cut)
		findings_cut_why(findings_rate_key(def), (size_t)found.cut, out);
	if (s->steady && found.cut)
		findings_cut(def, (size_t)found.cut, out);
}

static bool findings_has(const json_t *j, const char *key)
{
	return json_is_number(json_object_get(j, key));
}

/* Of the sender, a second: what the application handed over, and what TCP made of it. */
static void findings_messages(const struct engine_def *def, const json_t *sender,
			      const struct engine_side *side, struct engine_result *out)
{
	double seconds = (double)side->window_ns / 1e9;
	double writes = result_number(sender, "messages");
	if (!(seconds > 0))
		return;
	if (def->unit == UNIT_PACKETS)
		out->messages_pps = out->sent_pps;
	else if (def->unit == UNIT_TRANSACTIONS)
		out->messages_pps = out->pps;
	else if (findings_has(sender, "messages") && writes > 0)
		out->messages_pps = writes / seconds;
	if (!out->tcp)
		return;
	out->segments_pps = (double)result_integer(out->tcp, "data_segs_out") / seconds;
	if (out->segments_pps > 0)
		out->coalescing = out->messages_pps / out->segments_pps;
}

/* Packets that a side handled itself: of a stream's TCP the sender's segments, for both. */
static double findings_packets(const struct engine_def *def, const struct engine_side *side,
			       const struct engine_result *out)
{
	if (def->unit == UNIT_BYTES)
		return (double)result_integer(out->tcp, "data_segs_out");
	return (double)side->packets;
}

static void findings_costs(const struct engine_def *def, const json_t *result,
			   struct engine_side *side, const struct engine_result *out)
{
	double own_us = (side->cpu_user_s + side->cpu_system_s) * 1e6;
	double machine_us = side->cpu_busy * side->cpus * (double)side->window_ns / 1e3;
	double packets = findings_packets(def, side, out);
	side->us_per_packet = side->machine_us_per_packet = side->us_per_kib = NAN;
	if (!findings_has(result, "cpus"))
		return;
	if (packets > 0) {
		side->us_per_packet = own_us / packets;
		side->machine_us_per_packet = machine_us / packets;
	}
	if (side->bytes > 0)
		side->us_per_kib = machine_us / ((double)side->bytes / 1024);
}

static void findings_side(const json_t *result, struct engine_side *side)
{
	side->n_threads = (int)result_integer(result, "n_threads");
	side->thread_cpu_s = result_number(result, "thread_cpu_s");
	side->thread_wait_s = result_number(result, "thread_wait_s");
	side->cpus = (int)result_integer(result, "cpus");
	side->memory_bytes = result_integer(result, "memory_bytes");
	side->threads = json_incref(json_object_get(result, "threads"));
	side->host = json_incref(json_object_get(result, "host"));
}

static void findings_machines(const json_t *client, const json_t *server, struct engine_result *out)
{
	json_t *c = json_object_get(client, "machine"), *s = json_object_get(server, "machine");
	const char *one = json_string_value(json_object_get(c, "boot_id"));
	if (!c || !s)
		return;
	out->machines = json_pack("{s:O,s:O}", "client", c, "server", s);
	out->same_machine = one && str_eq(one, json_string_value(json_object_get(s, "boot_id")));
}

void findings_add(const struct engine_spec *s, const json_t *client, const json_t *server,
		  struct engine_result *out)
{
	const struct engine_def *def = engines_get(s->test);
	const json_t *sender = def->way == WAY_BACK ? server : client;
	findings_side(client, &out->client);
	findings_side(server, &out->server);
	out->tcp = json_incref(json_object_get(sender, "tcp"));
	out->tcp_sampled = (int)result_integer(sender, "tcp_sampled");
	findings_machines(client, server, out);
	findings_steady(s, def, out);
	findings_messages(def, sender, def->way == WAY_BACK ? &out->server : &out->client, out);
	findings_costs(def, client, &out->client, out);
	findings_costs(def, server, &out->server, out);
	limit_find(s, out);
}
