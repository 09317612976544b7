/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_result: from the two workers' findings to figures of each pair, each group and all. Runs at
 * the driver, once; called as the merge of the engine `pairs`.
 *
 * Figures, of one pair:
 *   throughput_bps    bytes of its timing records / their time; of datagrams, the share that came
 *   transactions_ps   transactions / time of the records
 *   response_s        time of the records / transactions
 *   …_min, …_max      of single records;  …_half_width: of the 95 % interval (pair_stats.h);
 *                     …_precision: 100 · half_width / mean, in percent
 * Of several pairs, which run side by side: bytes and transactions over the time from the first
 * record's begin to the last one's end (elapsed_s), never a mean of rates; the half width is the
 * root of the sum of the pairs' squares, in proportion. response_s is over all records.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/engine/pairs.h"
#include "core/engine/result.h"

#define PAIRS_SHOWN 1000
#define PAIRS_WORST 10

struct sum { /* of one pair, or of several */
	struct pair_stats stats;
	struct pair_flow flow;
	int64_t sent, missed, connections;
	int pairs, complete, failed, code, calls;
	bool delays;		      /* the two clocks can be compared */
	double rate_half2, tps_half2; /* sums of squares; NAN: a pair has too few records */
	double rate_sum, tps_sum;     /* of the pairs' own means */
	double rate_bytes;	      /* of records, those that came */
	double r, r_min, mos;	      /* of calls: sums, least */
};

static void put(json_t *j, const char *name, const char *unit, double v)
{
	autofree char *key = mem_printf("%s%s", name, unit);
	json_object_set_new(j, key, result_real(v));
}

struct shown { /* a figure as it is reported */
	const char *name, *unit;
	double mean, min, max, half;
};

static void put_figure(json_t *j, const struct shown *f)
{
	autofree char *least = mem_printf("%s_min", f->name), *most = mem_printf("%s_max", f->name),
		      *half = mem_printf("%s_half_width", f->name);
	put(j, f->name, f->unit, f->mean);
	put(j, least, f->unit, f->min);
	put(j, most, f->unit, f->max);
	put(j, half, f->unit, f->half);
	put(j, f->name, "_precision", 100 * f->half / f->mean);
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

/* Of what its records sent, the bytes that came. */
static double bytes_of(const struct sum *s)
{
	double bytes = (double)s->stats.sum[PAIR_BYTES];
	return s->sent ? bytes * (double)s->flow.received / (double)s->sent : bytes;
}

/* The throughput of one pair, bit/s. */
static double rate_of(const struct sum *s)
{
	return ratio(bytes_of(s) * 8e9, (double)s->stats.sum[PAIR_NS]);
}

/* Figures of one pair by the time of its records, of several by the time that has passed. */
static void put_records(json_t *j, const struct sum *s, bool one)
{
	const struct pair_stats *t = &s->stats;
	bool any = t->records;
	double elapsed = (double)(t->last_ns - t->first_ns) / 1e9;
	struct pair_range none = {NAN, NAN}, rate = one && any && !s->sent ? t->rate : none,
			  tps = one && any ? t->tps : none, time = any ? t->time : none;
	struct shown figures[] = {
	    {"throughput", "_bps", one ? rate_of(s) : ratio(s->rate_bytes * 8, elapsed), rate.min,
	     rate.max, 8e9 * pair_stats_half(t, PAIR_BYTES, PAIR_NS)},
	    {"transactions", "_ps",
	     one ? 1e9 * pair_stats_ratio(t, PAIR_TRANSACTIONS, PAIR_NS)
		 : ratio((double)t->sum[PAIR_TRANSACTIONS], elapsed),
	     tps.min, tps.max, 1e9 * pair_stats_half(t, PAIR_TRANSACTIONS, PAIR_NS)},
	    {"response", "_s", pair_stats_ratio(t, PAIR_NS, PAIR_TRANSACTIONS) / 1e9,
	     time.min / 1e9, time.max / 1e9, pair_stats_half(t, PAIR_NS, PAIR_TRANSACTIONS) / 1e9},
	};
	if (!one) {
		figures[0].half = sqrt(s->rate_half2) * ratio(figures[0].mean, s->rate_sum);
		figures[1].half = sqrt(s->tps_half2) * ratio(figures[1].mean, s->tps_sum);
	}
	json_object_set_new(j, "records", json_integer(t->records));
	json_object_set_new(j, "transactions", json_integer(t->sum[PAIR_TRANSACTIONS]));
	json_object_set_new(j, "bytes", json_integer((int64_t)s->rate_bytes));
	json_object_set_new(j, "measured_s", json_real((double)t->sum[PAIR_NS] / 1e9));
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		put_figure(j, &figures[i]);
	json_object_set_new(j, "connections", json_integer(s->connections));
}

static double loss_of(const struct sum *s)
{
	return ratio((double)(s->sent - s->flow.received), (double)s->sent);
}

static void put_datagrams(json_t *j, const struct sum *s)
{
	const struct pair_flow *f = &s->flow;
	double n = (double)f->received;
	bool any = n > 0, delays = any && s->delays;
	json_object_set_new(j, "sent", json_integer(s->sent));
	json_object_set_new(j, "received", json_integer(f->received));
	json_object_set_new(j, "lost", json_integer(s->sent - f->received));
	json_object_set_new(j, "loss", result_real(loss_of(s)));
	json_object_set_new(j, "max_consecutive_lost", json_integer(f->longest));
	/* How long rows of losses are, over what they are where losses fall at random (G.107). */
	json_object_set_new(j, "burst_ratio",
			    result_real(ratio((double)(s->sent - f->received), (double)f->runs) *
					(1 - loss_of(s))));
	json_object_set_new(j, "duplicated", json_integer(f->duplicated));
	json_object_set_new(j, "reordered", json_integer(f->reordered));
	json_object_set_new(j, "late", json_integer(f->late));
	json_object_set_new(j, "missed", json_integer(s->missed));
	json_object_set_new(j, "jitter_ns", result_real(any ? f->jitter_ns : NAN));
	json_object_set_new(j, "delay_ns", result_real(delays ? f->delay_mean : NAN));
	json_object_set_new(j, "delay_min_ns", result_real(delays ? (double)f->delay_min : NAN));
	json_object_set_new(j, "delay_max_ns", result_real(delays ? (double)f->delay_max : NAN));
	json_object_set_new(j, "delay_stddev_ns",
			    result_real(n > 1 ? sqrt(f->delay_squares / (n - 1)) : NAN));
	json_object_set_new(j, "delay_variation_ns",
			    result_real(any ? (double)(f->delay_max - f->delay_min) : NAN));
}

/* A call as it is heard: what the jitter buffer throws away is lost too, and all waits for it. */
static double call_r(const struct script_voip *v, const struct sum *s)
{
	double delay = (s->delays ? s->flow.delay_mean : NAN) +
		       (double)(v->datagram_ns + v->codec->lookahead_ns + v->jitter_buffer_ns +
				v->extra_delay_ns);
	double lost = (double)(s->sent - s->flow.received + s->flow.unplayed);
	return s->flow.received ? voip_r(v->codec, delay, ratio(lost, (double)s->sent)) : NAN;
}

static void put_call(json_t *j, const struct script_voip *v, const struct sum *s)
{
	double n = s->calls;
	json_object_set_new(j, "codec", json_string(v->codec->name));
	json_object_set_new(j, "jitter_buffer_lost", json_integer(s->flow.unplayed));
	json_object_set_new(j, "r_value", result_real(n > 0 ? s->r / n : NAN));
	json_object_set_new(j, "mos", result_real(n > 0 ? s->mos / n : NAN));
	if (s->pairs > 1)
		json_object_set_new(j, "r_value_min", result_real(n > 0 ? s->r_min : NAN));
	if (v->codec->assumed)
		json_object_set_new(j, "bpl_assumed", json_true());
}

static const char *state_name(enum pair_state state)
{
	return state == PAIR_FAILED ? "failed" : state == PAIR_COMPLETE ? "complete" : "cut";
}

static json_t *pair_json(int pair, const struct script_group *g, const struct sum *s)
{
	enum pair_state state = s->failed ? PAIR_FAILED : s->complete ? PAIR_COMPLETE : PAIR_CUT;
	json_t *j =
	    json_pack("{s:i,s:s,s:s}", "pair", pair, "group", g->name, "state", state_name(state));
	if (s->failed)
		json_object_set_new(
		    j, "why",
		    json_string(s->code ? strerror(s->code) : "the server closed the connection"));
	put_records(j, s, true);
	if (g->protocol != SCRIPT_TCP)
		put_datagrams(j, s);
	if (g->voip.codec)
		put_call(j, &g->voip, s);
	return j;
}

static void sum_add(struct sum *into, const struct sum *from)
{
	pair_stats_merge(&into->stats, &from->stats);
	pair_flow_merge(&into->flow, &from->flow);
	into->sent += from->sent;
	into->missed += from->missed;
	into->connections += from->connections;
	into->complete += from->complete;
	into->failed += from->failed;
	into->rate_half2 += from->rate_half2;
	into->tps_half2 += from->tps_half2;
	into->rate_sum += from->rate_sum;
	into->rate_bytes += from->rate_bytes;
	into->tps_sum += from->tps_sum;
	into->mos += from->mos;
	into->r += from->r;
	if (from->calls && (!into->calls || from->r_min < into->r_min))
		into->r_min = from->r_min;
	into->calls += from->calls;
	into->pairs += from->pairs;
	into->delays = from->delays;
}

/* s->delays is set already. */
static void sum_pair(const json_t *client, const json_t *flow, const struct script_group *g,
		     struct sum *s)
{
	*s = (struct sum){.pairs = 1,
			  .delays = s->delays,
			  .sent = json_integer_value(json_array_get(client, 1)),
			  .missed = json_integer_value(json_array_get(client, 2)),
			  .code = (int)json_integer_value(json_array_get(client, 4)),
			  .connections = json_integer_value(json_array_get(client, 5))};
	enum pair_state state = (enum pair_state)json_integer_value(json_array_get(client, 3));
	s->complete = state == PAIR_COMPLETE;
	s->failed = state == PAIR_FAILED;
	pair_stats_unpack(json_array_get(client, 0), &s->stats);
	pair_flow_unpack(flow, &s->flow);
	pair_flow_close(&s->flow, s->sent);
	if (s->stats.records) {
		double half = 8e9 * pair_stats_half(&s->stats, PAIR_BYTES, PAIR_NS);
		s->rate_half2 = half * half;
		half = 1e9 * pair_stats_half(&s->stats, PAIR_TRANSACTIONS, PAIR_NS);
		s->tps_half2 = half * half;
		s->rate_bytes = bytes_of(s);
		s->rate_sum = rate_of(s);
		s->tps_sum = 1e9 * pair_stats_ratio(&s->stats, PAIR_TRANSACTIONS, PAIR_NS);
	}
	if (g->voip.codec && s->flow.received) {
		s->calls = 1;
		s->r = s->r_min = call_r(&g->voip, s);
		s->mos = voip_mos(g->voip.codec, s->r);
	}
}

static json_t *sum_json(const struct sum *s)
{
	json_t *j =
	    json_pack("{s:i,s:i,s:i,s:f}", "pairs", s->pairs, "complete", s->complete, "failed",
		      s->failed, "elapsed_s", (double)(s->stats.last_ns - s->stats.first_ns) / 1e9);
	put_records(j, s, false);
	if (s->sent)
		put_datagrams(j, s);
	return j;
}

struct merge {
	struct script script;
	struct sum *pairs, *groups, total;
	const json_t *client, *server;
};

static void merge_sums(struct merge *m)
{
	size_t n = (size_t)m->script.pairs, i;
	json_t *flow;
	const json_t *list = json_object_get(m->client, "pairs");
	bool comparable = json_is_true(json_object_get(m->server, "comparable"));
	const json_t **flows = mem_zalloc(n * sizeof(*flows));
	json_array_foreach(json_object_get(m->server, "flows"), i, flow)
	{
		size_t pair = (size_t)json_integer_value(json_array_get(flow, 0));
		if (pair < n)
			flows[pair] = json_array_get(flow, 1);
	}
	for (size_t g = 0, k = 0; g < m->script.groups.n; g++) {
		const struct script_group *group = &m->script.groups.v[g];
		for (int p = 0; p < group->pairs; p++, k++) {
			m->pairs[k].delays = comparable;
			sum_pair(json_array_get(list, k), flows[k], group, &m->pairs[k]);
			sum_add(&m->groups[g], &m->pairs[k]);
		}
		sum_add(&m->total, &m->groups[g]);
	}
	free(flows);
}

/* Calls by how they sound, all else by throughput. */
static double worth(const struct sum *s)
{
	if (s->calls)
		return s->r;
	return s->stats.records ? s->rate_sum : -1;
}

static int by_worth(const void *a, const void *b)
{
	double x = worth(*(const struct sum *const *)a), y = worth(*(const struct sum *const *)b);
	return (x > y) - (x < y);
}

static json_t *merge_pairs(const struct merge *m)
{
	int n = m->script.pairs, shown = n > PAIRS_SHOWN ? PAIRS_WORST : n;
	json_t *list = json_array();
	const struct sum **order = mem_zalloc((size_t)n * sizeof(*order));
	for (int i = 0; i < n; i++)
		order[i] = &m->pairs[i];
	if (shown < n)
		qsort(order, (size_t)n, sizeof(*order), by_worth);
	for (int i = 0; i < shown; i++) {
		int pair = (int)(order[i] - m->pairs);
		json_array_append_new(
		    list, pair_json(pair, script_group_of(&m->script, (uint32_t)pair), order[i]));
	}
	free(order);
	return list;
}

static json_t *merge_detail(const struct merge *m)
{
	const struct sum *t = &m->total;
	json_t *groups = json_array();
	for (size_t g = 0; g < m->script.groups.n; g++) {
		const struct script_group *group = &m->script.groups.v[g];
		json_t *j = json_pack("{s:s}", "name", group->name), *sum = sum_json(&m->groups[g]);
		json_object_update(j, sum);
		json_decref(sum);
		if (group->voip.codec)
			put_call(j, &group->voip, &m->groups[g]);
		json_array_append_new(groups, j);
	}
	json_t *j = json_pack("{s:s,s:O,s:f,s:O,s:i,s:i,s:i,s:o}", "script", m->script.name,
			      "ended_by", json_object_get(m->client, "ended_by"), "run_s",
			      result_number(m->client, "run_ns") / 1e9, "seed",
			      json_object_get(m->client, "seed"), "pairs", t->pairs, "complete",
			      t->complete, "failed", t->failed, "groups", groups);
	json_object_set_new(
	    j, "shown",
	    json_string(m->script.pairs > PAIRS_SHOWN ? "the 10 worst pairs" : "all pairs"));
	if (result_integer(m->server, "invalid"))
		json_object_set(j, "changed_on_the_way", json_object_get(m->server, "invalid"));
	json_object_set_new(j, "total", sum_json(t));
	return j;
}

static void merge_dists(const struct merge *m, struct engine_result *out)
{
	struct hist *all = hist_new(), *one = hist_new();
	const json_t *lists[] = {json_object_get(m->client, "times"),
				 json_object_get(m->server, "delays")};
	struct engine_dist *dists[] = {&out->latency, &out->delay};
	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		size_t i;
		json_t *j;
		hist_reset(all);
		json_array_foreach((json_t *)lists[k], i, j)
		{
			hist_reset(one);
			if (json_is_object(j) && !hist_parse(j, one))
				hist_merge(all, one);
		}
		result_dist(all, dists[k]);
	}
	hist_free(all);
	hist_free(one);
}

/* What both ends received, interval by interval: the longer list, with the other's bytes in it. */
static json_t *merge_intervals(const json_t *a, const json_t *b)
{
	const json_t *longer = json_array_size(a) >= json_array_size(b) ? a : b;
	const json_t *other = longer == a ? b : a;
	json_t *list = json_deep_copy(longer);
	double before = 0, other_before = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *j = json_array_get(list, i);
		const json_t *o = json_array_get(other, i);
		double until = result_number(j, "t_s"), seconds = until - before;
		if (o && seconds > 0) {
			double bits =
			    result_number(o, "bps") * (result_number(o, "t_s") - other_before);
			json_object_set_new(j, "bps",
					    json_real(result_number(j, "bps") + bits / seconds));
			json_object_set_new(
			    j, "bytes",
			    json_integer(result_integer(j, "bytes") + result_integer(o, "bytes")));
			other_before = result_number(o, "t_s");
		}
		before = until;
	}
	return list;
}

static void merge_rates(const struct merge *m, struct engine_result *out)
{
	int64_t run = result_integer(m->client, "run_ns");
	if (out->server.window_ns < run)
		out->server.window_ns = run;
	out->client.window_ns = run;
	double client = ratio((double)out->client.bytes * 8e9, (double)run),
	       server = ratio((double)out->server.bytes * 8e9, (double)out->server.window_ns);
	out->goodput_bps = run > 0 ? client + server : 0;
	out->sent_bps = out->goodput_bps;
	out->pps = run > 0 ? (double)m->total.stats.sum[PAIR_TRANSACTIONS] * 1e9 / (double)run : 0;
	out->client.packets = m->total.stats.sum[PAIR_TRANSACTIONS];
	out->lost = m->total.sent - m->total.flow.received;
	out->loss = m->total.sent ? loss_of(&m->total) : 0;
	out->duplicated = m->total.flow.duplicated;
	out->reordered = m->total.flow.reordered;
	out->missed = m->total.missed;
	out->lost_host = result_integer(m->server, "drops");
	out->seed = result_integer(m->client, "seed");
	json_decref(out->intervals);
	out->intervals = merge_intervals(json_object_get(m->server, "intervals"),
					 json_object_get(m->client, "intervals"));
}

void pairs_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
		 struct engine_result *out)
{
	struct merge m = {.client = client, .server = server};
	struct err checked = ERR_INIT;
	if (!pairs_script(s, &m.script, &checked)) {
		m.pairs = mem_zalloc((size_t)m.script.pairs * sizeof(*m.pairs));
		m.groups = mem_zalloc(m.script.groups.n * sizeof(*m.groups));
		merge_sums(&m);
		merge_rates(&m, out);
		merge_dists(&m, out);
		out->pairs = merge_pairs(&m);
		out->detail = merge_detail(&m);
	}
	free(m.pairs);
	free(m.groups);
	script_done(&m.script);
}
