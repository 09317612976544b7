/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result: what is common to all engines in a worker's findings, in the merged result, and in its
 * JSON. It judges nothing. Used by run.c, worker.c, pair.c and the engines' report and merge.
 */
#include "core/engine/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/findings.h"
#include "core/engine/machine.h"
#include "core/engine/worker.h"

json_t *result_real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

double result_number(const json_t *j, const char *key)
{
	const json_t *v = json_object_get(j, key);
	return json_is_null(v) ? (double)NAN : json_number_value(v);
}

int64_t result_integer(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

static double result_seconds(int64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

static double result_units(const struct worker *w, int k, bool back)
{
	double units = 0;
	for (int i = 0; i < w->n_streams; i++)
		if (w->streams[i].back == back)
			units += window_track_at(&w->streams[i].track, k);
	return units;
}

/* Does this worker send the data of that way? */
static bool result_sends(const struct worker *w, bool back)
{
	return w->server == (back || w->def->way == WAY_BACK);
}

static void result_add_tcp(const struct worker *w, int k, json_t *j)
{
	if (k >= w->sampled || !w->tcp_at[k].sockets)
		return;
	json_t *tcp = sample_tcp_json(&w->tcp_at[k - 1], &w->tcp_at[k]);
	json_object_update(j, tcp);
	json_decref(tcp);
}

/* Whole units from the window's begin to edge k, so that the intervals' add up to the window's. */
static int64_t result_whole(const struct worker *w, int k, bool back)
{
	return llround(result_units(w, k, back) - result_units(w, 0, back));
}

static void result_add_units(const struct worker *w, int k, bool back, json_t *j)
{
	static const char *const names[] = {[UNIT_BYTES] = "bytes",
					    [UNIT_PACKETS] = "packets",
					    [UNIT_TRANSACTIONS] = "transactions"};
	int64_t n = result_whole(w, k, back) - result_whole(w, k - 1, back);
	json_object_set_new(j, names[w->def->unit], json_integer(n));
}

/* The interval from edge k − 1 to edge k, or to `until` where that is sooner. */
static json_t *result_interval(const struct worker *w, int k, int64_t until, bool back)
{
	int64_t from = window_edge(&w->win, k - 1), to = window_edge(&w->win, k);
	if (to > until)
		to = until;
	double rate =
	    (result_units(w, k, back) - result_units(w, k - 1, back)) / result_seconds(to - from);
	json_t *j = json_pack("{s:f}", "t_s", result_seconds(to - w->win.begin_ns));
	if (w->def->unit == UNIT_TRANSACTIONS)
		json_object_set_new(j, "tps", json_real(rate));
	if (w->def->unit == UNIT_PACKETS)
		json_object_set_new(j, "pps", json_real(rate));
	if (w->def->unit != UNIT_TRANSACTIONS) {
		double bytes = w->def->unit == UNIT_PACKETS ? (double)w->spec.size : 1;
		json_object_set_new(j, "bps", json_real(rate * bytes * 8));
	}
	result_add_units(w, k, back, j);
	if (result_sends(w, back))
		result_add_tcp(w, k, j);
	return j;
}

json_t *result_interval_message(const struct worker *w, int k)
{
	json_t *j = result_interval(w, k, INT64_MAX, false);
	json_object_set_new(j, "type", json_string("interval"));
	if (w->def->way == WAY_BOTH)
		json_object_set_new(j, "back", result_interval(w, k, INT64_MAX, true));
	return j;
}

static json_t *result_intervals(const struct worker *w, bool back)
{
	json_t *list = json_array();
	for (int k = 1; k < w->win.edges && window_edge(&w->win, k - 1) < w->stopped_ns; k++)
		json_array_append_new(list, result_interval(w, k, w->stopped_ns, back));
	return list;
}

static void result_add_cpu(const struct worker *w, json_t *j)
{
	struct cpu_use use;
	cpu_between(&w->begin.cpu, &w->end.cpu, &use);
	json_object_set_new(j, "cpu",
			    json_integer(w->server ? w->spec.server_cpu : w->spec.client_cpu));
	json_object_set_new(j, "cpu_user_s", result_real(use.user_s));
	json_object_set_new(j, "cpu_system_s", result_real(use.system_s));
	json_object_set_new(j, "cpu_busy", result_real(use.busy));
	json_object_set_new(j, "cpu_steal", result_real(use.steal));
	json_object_set_new(j, "cpu_softirq", result_real(use.softirq));
}

/* What the whole flow carried, of one way where data goes both ways. TCP: by the kernel's count,
 * since data that no one has read, and data sent twice, have crossed the network too. */
static void result_add_totals(const struct worker *w, json_t *j, bool back)
{
	int64_t bytes = 0, packets = 0;
	for (int i = 0; i < w->n_streams; i++) {
		struct socket_tcp tcp = {0};
		if (w->streams[i].back != back)
			continue;
		if (!w->def->datagram)
			socket_tcp_info(w->streams[i].fd, &tcp);
		bytes += stream_sends(&w->streams[i]) ? tcp.bytes_sent : tcp.bytes_received;
		bytes += w->streams[i].hello_bytes;
		packets += w->streams[i].packets_all;
	}
	if (w->def->datagram)
		bytes += packets * w->spec.size;
	json_object_set_new(j, "bytes_all", json_integer(bytes));
	json_object_set_new(j, "packets_all", json_integer(packets));
}

static void result_add_counts(const struct worker *w, json_t *j, bool back)
{
	double units = result_units(w, w->win.edges - 1, back) - result_units(w, 0, back);
	bool bytes = w->def->unit == UNIT_BYTES;
	double each = (double)w->spec.size;
	if (w->def->unit == UNIT_TRANSACTIONS)
		each += (double)w->spec.response_size;
	json_object_set_new(j, "units", json_real(units));
	json_object_set_new(j, "bytes", json_integer(llround(bytes ? units : units * each)));
	json_object_set_new(j, "packets", json_integer(bytes ? 0 : llround(units)));
	json_object_set_new(j, "intervals", result_intervals(w, back));
}

static void result_add_sockets(struct worker *w, json_t *j)
{
	json_object_set_new(j, "rcvbuf", json_integer(socket_rcvbuf(w->streams[0].fd)));
	json_object_set_new(j, "retransmits", json_integer(0));
	if (w->def->datagram)
		return;
	char congestion[16];
	socket_congestion(w->streams[0].fd, congestion);
	json_object_set_new(j, "congestion", json_string(congestion));
	json_object_set_new(j, "retransmits",
			    json_integer(w->end.tcp.retransmits - w->begin.tcp.retransmits));
	json_object_set_new(j, "rtt_us", json_real(w->end.tcp.rtt_us));
	json_object_set_new(j, "cwnd", json_real(w->end.tcp.cwnd));
	json_object_set_new(j, "mss", json_integer(w->end.tcp.mss));
}

/* When the window began, by the wall clock of this machine. */
static double result_began(const struct worker *w)
{
	struct timespec ts = {0};
	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9 -
	       result_seconds(clock_now_ns() - w->win.begin_ns);
}

json_t *result_of_worker(struct worker *w)
{
	int64_t window = w->stopped_ns - w->win.begin_ns;
	json_t *j = json_pack("{s:s,s:s,s:s,s:b,s:I}", "type", "result", "role",
			      w->server ? "server" : "client", "test", w->def->name, "partial",
			      w->partial, "window_ns", (json_int_t)(window > 0 ? window : 0));
	json_object_set_new(j, "began_s", result_real(result_began(w)));
	result_add_counts(w, j, false);
	result_add_totals(w, j, false);
	result_add_cpu(w, j);
	sample_report(w, j);
	json_object_set_new(j, "machine", machine_describe(w->n_streams ? w->streams[0].fd : -1));
	result_add_sockets(w, j);
	if (w->def->way == WAY_BOTH) {
		json_t *back =
		    json_pack("{s:I,s:O}", "window_ns", (json_int_t)(window > 0 ? window : 0),
			      "retransmits", json_object_get(j, "retransmits"));
		result_add_counts(w, back, true);
		result_add_totals(w, back, true);
		json_object_set_new(j, "back", back);
	}
	if (w->def->report)
		w->def->report(w, j);
	return j;
}

void result_dist(const struct hist *h, struct engine_dist *out)
{
	bool any = h->count > 0;
	*out = (struct engine_dist){
	    .count = h->count,
	    .mean = any ? hist_mean(h) : NAN,
	    .stddev = h->count > 1 ? hist_stddev(h) : NAN,
	    .min = any ? (double)h->min : NAN,
	    .max = any ? (double)h->max : NAN,
	    .p50 = any ? hist_quantile(h, 0.5) : NAN,
	    .p90 = any ? hist_quantile(h, 0.9) : NAN,
	    .p99 = any ? hist_quantile(h, 0.99) : NAN,
	    .p999 = any ? hist_quantile(h, 0.999) : NAN,
	};
}

void result_dist_get(const json_t *hist, struct engine_dist *out)
{
	struct hist *h = hist_new();
	if (hist && hist_parse(hist, h))
		hist_reset(h);
	result_dist(h, out);
	hist_free(h);
}

static void result_side(const json_t *j, struct engine_side *out)
{
	*out = (struct engine_side){
	    .cpu_user_s = result_number(j, "cpu_user_s"),
	    .cpu_system_s = result_number(j, "cpu_system_s"),
	    .cpu_busy = result_number(j, "cpu_busy"),
	    .cpu_steal = result_number(j, "cpu_steal"),
	    .cpu_softirq = result_number(j, "cpu_softirq"),
	    .bytes = result_integer(j, "bytes"),
	    .packets = result_integer(j, "packets"),
	    .window_ns = result_integer(j, "window_ns"),
	    .cpu = (int)result_integer(j, "cpu"),
	    .bytes_all = result_integer(j, "bytes_all"),
	    .packets_all = result_integer(j, "packets_all"),
	};
}

/* The headline's intervals, with what only the other side knows beside them. */
static json_t *result_merge_intervals(const json_t *headline, const json_t *sender)
{
	static const char *const keys[][2] = {{"retransmits", "retransmits"},
					      {"rtt_us", "rtt_us"},
					      {"rttvar_us", "rttvar_us"},
					      {"min_rtt_us", "min_rtt_us"},
					      {"cwnd", "cwnd"},
					      {"bytes_acked", "bytes_acked"},
					      {"segs_out", "segs_out"},
					      {"data_segs_out", "data_segs_out"},
					      {"delivery_bps", "delivery_bps"},
					      {"app_limited", "app_limited"},
					      {"busy_us", "busy_us"},
					      {"rwnd_limited", "rwnd_limited"},
					      {"sndbuf_limited", "sndbuf_limited"},
					      {"reord_seen", "reord_seen"},
					      {"dsack_dups", "dsack_dups"},
					      {"bps", "sent_bps"},
					      {"pps", "sent_pps"},
					      {"bytes", "sent_bytes"},
					      {"packets", "sent_packets"}};
	json_t *list = json_deep_copy(json_object_get(headline, "intervals"));
	const json_t *others = json_object_get(sender, "intervals");
	for (size_t i = 0; sender != headline && i < json_array_size(list); i++)
		for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
			json_t *v = json_object_get(json_array_get(others, i), keys[k][0]);
			if (v)
				json_object_set(json_array_get(list, i), keys[k][1], v);
		}
	return list;
}

static double result_rate(const json_t *j, const char *key)
{
	int64_t window = result_integer(j, "window_ns");
	return window > 0 ? result_number(j, key) / result_seconds(window) : 0;
}

/* The other way of a test that has both: the client receives. */
static void result_back(const json_t *client, const json_t *server, struct engine_result *out)
{
	out->back = (struct engine_back){
	    .goodput_bps = 8 * result_rate(client, "bytes"),
	    .sent_bps = 8 * result_rate(server, "bytes"),
	    .retransmits = result_integer(server, "retransmits"),
	    .sent_bytes_all = result_integer(server, "bytes_all"),
	    .sent_packets_all = result_integer(server, "packets_all"),
	    .bytes_all = result_integer(client, "bytes_all"),
	    .packets_all = result_integer(client, "packets_all"),
	    .intervals = result_merge_intervals(client, server),
	};
}

void result_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
		  json_t *flows, struct engine_result *out)
{
	const struct engine_def *def = engines_get(s->test);
	const json_t *headline = def->headline_client ? client : server;
	const json_t *sender = def->way == WAY_BACK ? server : client;
	const char *congestion = json_string_value(json_object_get(client, "congestion"));
	struct hist *none = hist_new();
	*out = (struct engine_result){
	    .test = s->test,
	    .partial = json_is_true(json_object_get(client, "partial")) ||
		       json_is_true(json_object_get(server, "partial")),
	    .goodput_bps = 8 * result_rate(headline, "bytes"),
	    .sent_bps = 8 * result_rate(sender, "bytes"),
	    .retransmits = result_integer(sender, "retransmits"),
	    .rtt_us = result_number(sender, "rtt_us"),
	    .cwnd = result_number(sender, "cwnd"),
	    .mss = (int)result_integer(client, "mss"),
	    .intervals = result_merge_intervals(headline, sender),
	    .flows = flows,
	    .size = s->size,
	    .rcvbuf = result_integer(def->way == WAY_BACK ? client : server, "rcvbuf"),
	    .messages_pps = NAN,
	    .segments_pps = NAN,
	    .coalescing = NAN,
	    .steady_s = NAN,
	    .began_s = result_number(client, "began_s"),
	    .seed = s->seed,
	};
	snprintf(out->congestion, sizeof(out->congestion), "%s", congestion ? congestion : "");
	if (!def->datagram)
		memcpy(out->congestion_asked, s->congestion, sizeof(out->congestion_asked));
	result_dist(none, &out->latency);
	result_dist(none, &out->rate);
	result_dist(none, &out->delay);
	hist_free(none);
	if (def->way == WAY_BOTH)
		result_back(json_object_get(client, "back"), json_object_get(server, "back"), out);
	snprintf(out->io, sizeof(out->io), "%s", s->io);
	result_side(client, &out->client);
	result_side(server, &out->server);
	if (def->merge)
		def->merge(s, client, server, out);
	findings_add(s, client, server, out);
}

void engine_result_done(struct engine_result *r)
{
	json_decref(r->intervals);
	json_decref(r->flows);
	json_decref(r->pairs);
	json_decref(r->back.intervals);
	json_decref(r->detail);
	json_decref(r->machines);
	json_decref(r->tcp);
	r->tcp = NULL;
	for (int i = 0; i < 2; i++) {
		struct engine_side *side = i ? &r->server : &r->client;
		json_decref(side->threads);
		json_decref(side->host);
		side->threads = side->host = NULL;
	}
	r->intervals = r->flows = r->pairs = r->back.intervals = r->detail = r->machines = NULL;
}

static json_t *result_dist_json(const struct engine_dist *d)
{
	json_t *j = json_object();
	json_object_set_new(j, "count", json_integer(d->count));
	json_object_set_new(j, "mean", result_real(d->mean));
	json_object_set_new(j, "stddev", result_real(d->stddev));
	json_object_set_new(j, "min", result_real(d->min));
	json_object_set_new(j, "max", result_real(d->max));
	json_object_set_new(j, "p50", result_real(d->p50));
	json_object_set_new(j, "p90", result_real(d->p90));
	json_object_set_new(j, "p99", result_real(d->p99));
	json_object_set_new(j, "p999", result_real(d->p999));
	return j;
}

json_t *result_dist_of(const json_t *hist)
{
	struct engine_dist d;
	result_dist_get(hist, &d);
	return result_dist_json(&d);
}

static json_t *result_side_json(const struct engine_side *s)
{
	json_t *j = json_object();
	json_object_set_new(j, "cpu", json_integer(s->cpu));
	json_object_set_new(j, "cpu_user_s", result_real(s->cpu_user_s));
	json_object_set_new(j, "cpu_system_s", result_real(s->cpu_system_s));
	json_object_set_new(j, "cpu_busy", result_real(s->cpu_busy));
	json_object_set_new(j, "cpu_steal", result_real(s->cpu_steal));
	json_object_set_new(j, "cpu_softirq", result_real(s->cpu_softirq));
	json_object_set_new(j, "bytes", json_integer(s->bytes));
	json_object_set_new(j, "packets", json_integer(s->packets));
	json_object_set_new(j, "window_ns", json_integer(s->window_ns));
	json_object_set_new(j, "bytes_all", json_integer(s->bytes_all));
	json_object_set_new(j, "packets_all", json_integer(s->packets_all));
	json_object_set_new(j, "n_threads", json_integer(s->n_threads));
	json_object_set_new(j, "thread_cpu_s", result_real(s->thread_cpu_s));
	json_object_set_new(j, "thread_wait_s", result_real(s->thread_wait_s));
	json_object_set_new(j, "cpus", json_integer(s->cpus));
	json_object_set_new(j, "memory_bytes", json_integer(s->memory_bytes));
	json_object_set_new(j, "us_per_packet", result_real(s->us_per_packet));
	json_object_set_new(j, "machine_us_per_packet", result_real(s->machine_us_per_packet));
	json_object_set_new(j, "us_per_kib", result_real(s->us_per_kib));
	if (s->threads)
		json_object_set(j, "threads", s->threads);
	if (s->host)
		json_object_set(j, "host", s->host);
	return j;
}

static void result_json_rates(const struct engine_result *r, json_t *j)
{
	json_object_set_new(j, "goodput_bps", result_real(r->goodput_bps));
	json_object_set_new(j, "sent_bps", result_real(r->sent_bps));
	json_object_set_new(j, "pps", result_real(r->pps));
	json_object_set_new(j, "sent_pps", result_real(r->sent_pps));
	json_object_set_new(j, "offered_bps", result_real(r->offered_bps));
	json_object_set_new(j, "offered_pps", result_real(r->offered_pps));
	json_object_set_new(j, "missed", json_integer(r->missed));
	json_object_set_new(j, "refused", json_integer(r->refused));
	json_object_set_new(j, "lost", json_integer(r->lost));
	json_object_set_new(j, "lost_host", json_integer(r->lost_host));
	json_object_set_new(j, "drops_all", json_integer(r->drops_all));
	json_object_set_new(j, "reordered", json_integer(r->reordered));
	json_object_set_new(j, "duplicated", json_integer(r->duplicated));
	json_object_set_new(j, "late", json_integer(r->late));
	json_object_set_new(j, "loss", result_real(r->loss));
}

static json_t *result_back_json(const struct engine_back *b)
{
	json_t *j = json_object();
	json_object_set_new(j, "goodput_bps", result_real(b->goodput_bps));
	json_object_set_new(j, "sent_bps", result_real(b->sent_bps));
	json_object_set_new(j, "pps", result_real(b->pps));
	json_object_set_new(j, "sent_pps", result_real(b->sent_pps));
	json_object_set_new(j, "loss", result_real(b->loss));
	json_object_set_new(j, "lost", json_integer(b->lost));
	json_object_set_new(j, "lost_host", json_integer(b->lost_host));
	json_object_set_new(j, "duplicated", json_integer(b->duplicated));
	json_object_set_new(j, "reordered", json_integer(b->reordered));
	json_object_set_new(j, "retransmits", json_integer(b->retransmits));
	json_object_set(j, "intervals", b->intervals);
	return j;
}

/* What held the rate, and how the figures are to be read. */
static void result_json_findings(const struct engine_result *r, json_t *j)
{
	json_object_set_new(j, "messages_pps", result_real(r->messages_pps));
	json_object_set_new(j, "segments_pps", result_real(r->segments_pps));
	json_object_set_new(j, "coalescing", result_real(r->coalescing));
	json_object_set_new(j, "limit", json_string(r->limit));
	json_object_set_new(j, "limit_why", json_string(r->limit_why));
	json_object_set_new(j, "steady_s", result_real(r->steady_s));
	json_object_set_new(j, "began_s", result_real(r->began_s));
	json_object_set_new(j, "cut_s", result_real(r->cut_s));
	json_object_set_new(j, "steady_why",
			    r->steady_why[0] ? json_string(r->steady_why) : json_null());
	json_object_set_new(j, "same_machine", json_boolean(r->same_machine));
	if (r->tcp) {
		json_object_set(j, "tcp", r->tcp);
		json_object_set_new(j, "tcp_sampled", json_integer(r->tcp_sampled));
	}
	json_object_set_new(j, "clock_error_ns", result_real(r->clock_error_ns));
	json_object_set_new(j, "seed", json_integer(r->seed));
	json_object_set_new(j, "io", json_string(r->io[0] ? r->io : "plain"));
	json_object_set_new(j, "invalid", r->invalid[0] ? json_string(r->invalid) : json_null());
	if (r->back.intervals)
		json_object_set_new(j, "back", result_back_json(&r->back));
	if (r->detail)
		json_object_set(j, "detail", r->detail);
	if (r->machines)
		json_object_set(j, "machines", r->machines);
}

json_t *engine_result_json(const struct engine_result *r)
{
	json_t *j =
	    json_pack("{s:s,s:b}", "test", engine_test_name(r->test), "partial", r->partial);
	result_json_rates(r, j);
	json_object_set_new(j, "retransmits", json_integer(r->retransmits));
	json_object_set_new(j, "rtt_us", result_real(r->rtt_us));
	json_object_set_new(j, "cwnd", result_real(r->cwnd));
	json_object_set_new(j, "mss", json_integer(r->mss));
	json_object_set_new(j, "congestion", json_string(r->congestion));
	json_object_set_new(j, "congestion_asked", json_string(r->congestion_asked));
	json_object_set_new(j, "size", json_integer(r->size));
	json_object_set_new(j, "rcvbuf", json_integer(r->rcvbuf));
	json_object_set_new(j, "latency_ns", result_dist_json(&r->latency));
	json_object_set_new(j, "delay_ns", result_dist_json(&r->delay));
	json_object_set_new(j, "rate_bps", result_dist_json(&r->rate));
	json_object_set_new(j, "client", result_side_json(&r->client));
	json_object_set_new(j, "server", result_side_json(&r->server));
	json_object_set(j, "intervals", r->intervals);
	json_object_set(j, "flows", r->flows);
	if (r->pairs)
		json_object_set(j, "pairs", r->pairs);
	result_json_findings(r, j);
	return j;
}
