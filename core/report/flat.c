// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flat: writes figures as they are; computes none. Called by cli/.
 */
#include "core/report/flat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/mem.h"

static void add_field(struct strbuf *out, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		strbuf_addf(out, "%s,", text);
		return;
	}
	strbuf_addc(out, '"');
	for (; *text; text++)
		strbuf_addf(out, *text == '"' ? "\"%c" : "%c", *text);
	strbuf_add(out, "\",");
}

static void add_number(struct strbuf *out, double v)
{
	if (!isnan(v))
		strbuf_addf(out, "%.10g", v);
	strbuf_addc(out, ',');
}

static void add_time(struct strbuf *out, double s)
{
	char text[32];
	int64_t ms = isnan(s) ? 0 : llround(s * 1e3);
	time_t t = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	strbuf_addf(out, "%s.%03dZ,", text, (int)(ms % 1000));
}

struct row {
	double began_s; /* of the window */
	const char *kind, *way;
	double from_s, to_s;
};

static void add_begin(const struct flat_about *a, const struct engine_spec *s,
		      const struct row *row, struct strbuf *out)
{
	add_time(out, row->began_s + row->from_s);
	add_field(out, a->from);
	add_field(out, a->to);
	add_field(out, engine_test_name(s->test));
	add_field(out, row->kind);
	add_field(out, row->way);
	add_number(out, row->from_s);
	add_number(out, row->to_s);
}

/* Columns that an interval has, by the names that it has there. */
static const char *const columns[][2] = {
    {"bytes", "bytes"},
    {"bps", "bits_per_s"},
    {"packets", "packets"},
    {"pps", "packets_per_s"},
    {"transactions", "transactions"},
    {"tps", "transactions_per_s"},
    {"sent_bps", "sent_bits_per_s"},
    {"sent_pps", "sent_packets_per_s"},
    {"retransmits", "retransmits"},
    {"rtt_us", "rtt_us"},
    {"rttvar_us", "rttvar_us"},
    {"min_rtt_us", "min_rtt_us"},
    {"cwnd", "cwnd_segments"},
    {"data_segs_out", "segments"},
    {"delivery_bps", "delivery_bits_per_s"},
    {"rwnd_limited", "rwnd_limited_share"},
    {"sndbuf_limited", "sndbuf_limited_share"},
};

static const char *const total_columns[] = {
    "lost_packets",	 "loss_percent",    "duplicated_packets",
    "reordered_packets", "latency_mean_us", "latency_p50_us",
    "latency_p90_us",	 "latency_p99_us",  "latency_max_us",
    "delay_mean_us",	 "limit",
};

static void add_header(struct strbuf *out)
{
	strbuf_add(out, "time,from,to,test,kind,way,start_s,end_s,");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		strbuf_addf(out, "%s,", columns[i][1]);
	for (size_t i = 0; i < ARRAY_SIZE(total_columns); i++)
		strbuf_addf(out, "%s%s", total_columns[i],
			    i + 1 < ARRAY_SIZE(total_columns) ? "," : "\n");
}

static void add_values(const json_t *j, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		const json_t *v = json_object_get(j, columns[i][0]);

		add_number(out, json_is_number(v) ? json_number_value(v) : NAN);
	}
}

/* The intervals, and what they add up to as far as that is a sum. */
static void add_intervals(const struct flat_about *a, const struct engine_spec *s,
			  const struct engine_result *r, bool back, struct strbuf *out)
{
	const json_t *list = back ? r->back.intervals : r->intervals;
	const char *way = back || engine_test_traits(s->test).way == WAY_BACK ? "back" : "forward";
	double last = 0;
	const json_t *i;
	size_t k;

	json_array_foreach((json_t *)list, k, i)
	{
		double to = json_number_value(json_object_get(i, "t_s"));
		struct row row = {r->began_s, "interval", way, last, to};

		add_begin(a, s, &row, out);
		add_values(i, out);
		for (size_t n = 1; n < ARRAY_SIZE(total_columns); n++)
			strbuf_addc(out, ',');
		strbuf_addc(out, '\n');
		last = to;
	}
}

static void set(json_t *j, const char *key, double v)
{
	if (!isnan(v))
		json_object_set_new(j, key, json_real(v));
}

static json_t *totals(const struct engine_spec *s, const struct engine_result *r)
{
	struct engine_traits t = engine_test_traits(s->test);
	const struct engine_side *own = t.way == WAY_BACK ? &r->client : &r->server;
	json_t *j = r->tcp ? json_copy(r->tcp) : json_object();

	if (t.transactions) {
		set(j, "transactions", (double)r->client.packets);
		set(j, "tps", r->pps);
		return j;
	}
	set(j, "bytes", (double)own->bytes);
	set(j, "bps", r->goodput_bps);
	set(j, "sent_bps", r->sent_bps);
	set(j, "retransmits", t.datagram ? NAN : (double)r->retransmits);
	if (t.datagram) {
		set(j, "packets", (double)own->packets);
		set(j, "pps", r->pps);
		set(j, "sent_pps", r->sent_pps);
	}
	return j;
}

static void add_losses(const struct engine_spec *s, const struct engine_result *r,
		       struct strbuf *out)
{
	bool datagram = engine_test_traits(s->test).datagram;

	add_number(out, datagram ? (double)r->lost : NAN);
	add_number(out, datagram ? r->loss * 100 : NAN);
	add_number(out, datagram ? (double)r->duplicated : NAN);
	add_number(out, datagram ? (double)r->reordered : NAN);
}

static void add_total(const struct flat_about *a, const struct engine_spec *s,
		      const struct engine_result *r, struct strbuf *out)
{
	const struct engine_dist *d = &r->latency;
	struct row row = {r->began_s, "total", "forward", 0, (double)r->client.window_ns / 1e9};
	json_t *j = totals(s, r);

	if (engine_test_traits(s->test).way == WAY_BACK)
		row.way = "back";
	add_begin(a, s, &row, out);
	add_values(j, out);
	json_decref(j);
	add_losses(s, r, out);
	add_number(out, d->mean / 1e3);
	add_number(out, d->p50 / 1e3);
	add_number(out, d->p90 / 1e3);
	add_number(out, d->p99 / 1e3);
	add_number(out, d->max / 1e3);
	add_number(out, r->delay.mean / 1e3);
	strbuf_addf(out, "%s\n", r->limit);
}

static void add_back(const struct flat_about *a, const struct engine_spec *s,
		     const struct engine_result *r, struct strbuf *out)
{
	struct row row = {r->began_s, "total", "back", 0, (double)r->client.window_ns / 1e9};
	json_t *j = json_object();

	set(j, "bps", r->back.goodput_bps);
	set(j, "sent_bps", r->back.sent_bps);
	set(j, "retransmits", (double)r->back.retransmits);
	if (engine_test_traits(s->test).datagram) {
		set(j, "pps", r->back.pps);
		set(j, "sent_pps", r->back.sent_pps);
	}
	add_begin(a, s, &row, out);
	add_values(j, out);
	json_decref(j);
	add_number(out, (double)r->back.lost);
	add_number(out, r->back.loss * 100);
	add_number(out, (double)r->back.duplicated);
	add_number(out, (double)r->back.reordered);
	strbuf_add(out, ",,,,,,\n");
}

void flat_csv(const struct flat_about *a, const struct engine_spec *s,
	      const struct engine_result *r, struct strbuf *out)
{
	if (!a->headless)
		add_header(out);
	add_intervals(a, s, r, false, out);
	add_total(a, s, r, out);
	if (!r->back.intervals)
		return;
	add_intervals(a, s, r, true, out);
	add_back(a, s, r, out);
}

static void pair_number(struct strbuf *out, const char *key, int digits, double v)
{
	if (!isnan(v))
		strbuf_addf(out, "%s=%.*f\n", key, digits, v);
}

static void netperf_latency(const struct engine_dist *d, struct strbuf *out)
{
	if (d->count <= 0)
		return;
	pair_number(out, "MIN_LATENCY", 2, d->min / 1e3);
	pair_number(out, "MAX_LATENCY", 2, d->max / 1e3);
	pair_number(out, "MEAN_LATENCY", 2, d->mean / 1e3);
	pair_number(out, "STDDEV_LATENCY", 2, d->stddev / 1e3);
	pair_number(out, "P50_LATENCY", 2, d->p50 / 1e3);
	pair_number(out, "P90_LATENCY", 2, d->p90 / 1e3);
	pair_number(out, "P99_LATENCY", 2, d->p99 / 1e3);
}

/* "LOCAL_CPU_UTIL" and the like. */
static void netperf_side(const char *end, bool transactions, const struct engine_side *side,
			 struct strbuf *out)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_CPU_UTIL", end);
	pair_number(out, key, 2, side->cpu_busy * 100);
	snprintf(key, sizeof(key), "%s_SD", end);
	pair_number(out, key, 3, transactions ? side->machine_us_per_packet : side->us_per_kib);
}

void flat_netperf(const struct engine_spec *s, const struct engine_result *r, struct strbuf *out)
{
	struct engine_traits t = engine_test_traits(s->test);
	const char *direction = t.way == WAY_BACK ? "Receive" : "Send";

	if (t.transactions || t.way == WAY_BOTH)
		direction = "Send|Recv";
	strbuf_addf(out, "PROTOCOL=%s\nDIRECTION=%s\n", t.datagram ? "UDP" : "TCP", direction);
	pair_number(out, "ELAPSED_TIME", 2, (double)r->client.window_ns / 1e9);
	if (t.transactions) {
		pair_number(out, "THROUGHPUT", 2, r->pps);
		strbuf_add(out, "THROUGHPUT_UNITS=Trans/s\n");
		pair_number(out, "TRANSACTION_RATE", 2, r->pps);
		strbuf_addf(out, "REQUEST_SIZE=%lld\nRESPONSE_SIZE=%lld\n", (long long)s->size,
			    (long long)s->response_size);
	} else {
		pair_number(out, "THROUGHPUT", 2, (r->goodput_bps + r->back.goodput_bps) / 1e6);
		strbuf_add(out, "THROUGHPUT_UNITS=10^6bits/s\n");
		pair_number(out,
			    t.way == WAY_BACK ? "REMOTE_SEND_THROUGHPUT" : "LOCAL_SEND_THROUGHPUT",
			    2, r->sent_bps / 1e6);
		pair_number(out,
			    t.way == WAY_BACK ? "LOCAL_RECV_THROUGHPUT" : "REMOTE_RECV_THROUGHPUT",
			    2, r->goodput_bps / 1e6);
		strbuf_addf(out, "%s_SEND_SIZE=%lld\n", t.way == WAY_BACK ? "REMOTE" : "LOCAL",
			    (long long)r->size);
	}
	netperf_latency(&r->latency, out);
	netperf_side("LOCAL", t.transactions, &r->client, out);
	netperf_side("REMOTE", t.transactions, &r->server, out);
	strbuf_addf(out, "SD_UNITS=%s\n", t.transactions ? "usec/Tran" : "usec/KB");
	if (t.datagram)
		return;
	strbuf_addf(out, "%s_TRANSPORT_RETRANS=%lld\n", t.way == WAY_BACK ? "REMOTE" : "LOCAL",
		    (long long)r->retransmits);
	strbuf_addf(out, "LOCAL_CONG_CONTROL=%s\nTRANSPORT_MSS=%d\n", r->congestion, r->mss);
}
