// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * metric: the table of figures. Adds no judgement: what a value means is verdict.c's business, and
 * how it was found is pair.c's. Called by the scenario parser, verdict and the reports.
 */
#include "core/harness/metric.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/result.h"
#include "core/stats/hist.h"

/* What only one test finds, "a.b.c" of its detail; NAN where it has not. */
static double detail_number(const struct run_sample *run, const char *path)
{
	const json_t *j = run->engine.detail;
	char key[32];

	while (*path) {
		size_t n = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		j = json_object_get(j, key);
		path += n + (path[n] == '.');
	}
	return json_is_number(j) ? json_number_value(j) : NAN;
}

#define GETTER(name, expression)                                                                   \
	static double get_##name(const struct run_sample *run)                                     \
	{                                                                                          \
		return (expression);                                                               \
	}

GETTER(rate_mean, run->engine.rate.mean)
GETTER(rate_min, run->engine.rate.min)
GETTER(rate_max, run->engine.rate.max)
GETTER(latency_mean, run->engine.latency.mean)
GETTER(latency_min, run->engine.latency.min)
GETTER(latency_max, run->engine.latency.max)
GETTER(latency_p50, run->engine.latency.p50)
GETTER(latency_p90, run->engine.latency.p90)
GETTER(latency_p99, run->engine.latency.p99)
GETTER(latency_p999, run->engine.latency.p999)
GETTER(goodput, run->engine.goodput_bps)
GETTER(sent, run->engine.sent_bps)
GETTER(pps, run->engine.pps)
GETTER(sent_pps, run->engine.sent_pps)
GETTER(loss, run->engine.loss)
GETTER(retransmits, (double)run->engine.retransmits)
GETTER(rtt, run->engine.rtt_us * 1000)
GETTER(cpu_per_packet, run->cpu_per_packet_ns)
GETTER(counted, run->counted.goodput_bps)
GETTER(lost, (double)run->engine.lost)
GETTER(lost_host, (double)run->engine.lost_host)
GETTER(duplicated, (double)run->engine.duplicated)
GETTER(reordered, (double)run->engine.reordered)
GETTER(late, (double)run->engine.late)
GETTER(offered_pps, run->engine.offered_pps)
GETTER(delay_p50, run->engine.delay.p50)
GETTER(delay_mean, run->engine.delay.mean)
GETTER(delay_p99, run->engine.delay.p99)
GETTER(delay_max, run->engine.delay.max)
GETTER(back_goodput, run->engine.back.goodput_bps)
GETTER(back_pps, run->engine.back.pps)
GETTER(back_loss, run->engine.back.loss)
GETTER(messages, run->engine.messages_pps)
GETTER(segments, run->engine.segments_pps)
GETTER(coalescing, run->engine.coalescing)
GETTER(steady, run->engine.steady_s * 1e9)
GETTER(client_cpu, run->engine.client.us_per_packet * 1e3)
GETTER(server_cpu, run->engine.server.us_per_packet * 1e3)
GETTER(client_demand, run->engine.client.us_per_kib * 1e3)
GETTER(server_demand, run->engine.server.us_per_kib * 1e3)
GETTER(jitter, detail_number(run, "forward.jitter_ns"))
GETTER(back_jitter, detail_number(run, "back.jitter_ns"))
GETTER(back_delay_p50, detail_number(run, "back.delay.p50"))
GETTER(back_delay_p99, detail_number(run, "back.delay.p99"))
GETTER(connect_p50, detail_number(run, "connect_ns.p50"))
GETTER(connect_p99, detail_number(run, "connect_ns.p99"))
GETTER(path_mtu, detail_number(run, "path_mtu"))

#define TCP_STREAM METRIC_TCP_STREAMS
#define UDP_STREAM METRIC_UDP_STREAMS
#define STREAMS	   (TCP_STREAM | UDP_STREAM)
#define BIDIR	   METRIC_BIDIRS
#define RR	   (METRIC_RR | METRIC_CRR)
#define LATENCY	   METRIC_TEST(TEST_UDP_LATENCY)
#define TIMES	   (RR | LATENCY)
#define DATAGRAMS  (UDP_STREAM | LATENCY)
#define IX	   METRIC_TEST(TEST_THROUGHPUT)
#define PAIRS	   METRIC_TEST(TEST_PAIRS)
#define PATH_CHECK METRIC_TEST(TEST_PATH_CHECK)
#define ALL	   (STREAMS | METRIC_RR | IX)

/* The first metric of a test is its default. What is not said is 0: the mean, unpredicted, fine. */
static const struct metric table[] = {
    {"average", IX, METRIC_BPS, METRIC_HIGHER, get_rate_mean,
     .help = "payload bits per second of a transaction, mean", .alias = "throughput",
     .truth = METRIC_GOODPUT},
    {"min", IX, METRIC_BPS, METRIC_HIGHER, get_rate_min, .help = "of the slowest transaction",
     .alias = "minimum", .over = METRIC_LEAST, .truth = METRIC_GOODPUT},
    {"max", IX, METRIC_BPS, METRIC_HIGHER, get_rate_max, .help = "of the fastest transaction",
     .alias = "maximum", .over = METRIC_MOST, .truth = METRIC_GOODPUT},
    {"response.average", IX, METRIC_NS, METRIC_LOWER, get_latency_mean,
     .help = "time of a transaction, mean", .alias = "response", .truth = METRIC_RESPONSE},
    {"response.min", IX, METRIC_NS, METRIC_LOWER, get_latency_min,
     .help = "time of the fastest transaction", .alias = "response.minimum", .over = METRIC_LEAST,
     .truth = METRIC_RESPONSE},
    {"response.max", IX, METRIC_NS, METRIC_LOWER, get_latency_max,
     .help = "time of the slowest transaction", .alias = "response.maximum", .over = METRIC_MOST,
     .truth = METRIC_RESPONSE},
    {"pps", UDP_STREAM, METRIC_PPS, METRIC_HIGHER, get_pps, .help = "datagrams per second received",
     .truth = METRIC_PACKETS, .grain = GRAIN_PACKETS},
    {"goodput", STREAMS | PAIRS, METRIC_BPS, METRIC_HIGHER, get_goodput,
     .help = "payload bits per second received", .truth = METRIC_GOODPUT, .grain = GRAIN_PACKETS},
    {"sent", STREAMS, METRIC_BPS, METRIC_HIGHER, get_sent,
     .help = "payload bits per second that the sender handed over", .grain = GRAIN_PACKETS},
    {"sent_pps", UDP_STREAM, METRIC_PPS, METRIC_HIGHER, get_sent_pps,
     .help = "datagrams per second sent", .grain = GRAIN_PACKETS},
    {"loss", DATAGRAMS, METRIC_SHARE, METRIC_LOWER, get_loss,
     .help = "share of what was sent that did not arrive"},
    {"p50", TIMES, METRIC_NS, METRIC_LOWER, get_latency_p50, .help = "round trip, median",
     .alias = "median", .grain = GRAIN_BUCKETS},
    {"mean", TIMES, METRIC_NS, METRIC_LOWER, get_latency_mean, .help = "round trip, mean",
     .alias = "average"},
    {"min", TIMES, METRIC_NS, METRIC_LOWER, get_latency_min, .help = "round trip, least",
     .alias = "minimum", .over = METRIC_LEAST},
    {"max", TIMES, METRIC_NS, METRIC_LOWER, get_latency_max, .help = "round trip, greatest",
     .alias = "maximum", .over = METRIC_MOST},
    {"p90", TIMES, METRIC_NS, METRIC_LOWER, get_latency_p90, .help = "round trip, 90 % are below",
     .grain = GRAIN_BUCKETS},
    {"p99", TIMES, METRIC_NS, METRIC_LOWER, get_latency_p99, .help = "round trip, 99 % are below",
     .grain = GRAIN_BUCKETS},
    {"p999", TIMES, METRIC_NS, METRIC_LOWER, get_latency_p999,
     .help = "round trip, 99.9 % are below", .grain = GRAIN_BUCKETS},
    {"tps", RR | PAIRS, METRIC_TPS, METRIC_HIGHER, get_pps, .help = "transactions per second",
     .grain = GRAIN_PACKETS},
    {"retransmits", TCP_STREAM | IX, METRIC_COUNT, METRIC_LOWER, get_retransmits,
     .help = "TCP segments sent again"},
    {"rtt", TCP_STREAM | IX, METRIC_NS, METRIC_LOWER, get_rtt,
     .help = "TCP's own smoothed round trip at the end"},
    {"counted", STREAMS | IX, METRIC_BPS, METRIC_HIGHER, get_counted,
     .help = "payload bits per second by the kernel's counter at the receiver's device",
     .truth = METRIC_GOODPUT, .grain = GRAIN_PACKETS},
    {"cpu_per_packet", ALL, METRIC_NS, METRIC_LOWER, get_cpu_per_packet,
     .help =
	 "CPU time of the whole machine for each packet delivered (tcp_rr, udp_rr: answers too)"},
    {"lost", DATAGRAMS | METRIC_RR, METRIC_COUNT, METRIC_LOWER, get_lost,
     .help = "datagrams that did not arrive", .seldom = true},
    {"lost_host", UDP_STREAM, METRIC_COUNT, METRIC_LOWER, get_lost_host,
     .help = "… of them, dropped by the socket of the receiver", .seldom = true},
    {"duplicated", DATAGRAMS, METRIC_COUNT, METRIC_LOWER, get_duplicated,
     .help = "datagrams that came more than once", .seldom = true},
    {"reordered", DATAGRAMS, METRIC_COUNT, METRIC_LOWER, get_reordered,
     .help = "datagrams that came after a later one (RFC 4737)", .seldom = true},
    {"late", DATAGRAMS | METRIC_RR, METRIC_COUNT, METRIC_LOWER, get_late,
     .help = "came too late to count", .seldom = true},
    {"offered_pps", UDP_STREAM, METRIC_PPS, METRIC_HIGHER, get_offered_pps,
     .help = "datagrams per second that were asked for", .seldom = true},
    {"delay.p50", DATAGRAMS, METRIC_NS, METRIC_LOWER, get_delay_p50, .help = "one way, median",
     .seldom = true, .grain = GRAIN_BUCKETS},
    {"delay.mean", DATAGRAMS, METRIC_NS, METRIC_LOWER, get_delay_mean, .help = "one way, mean",
     .seldom = true},
    {"delay.p99", DATAGRAMS, METRIC_NS, METRIC_LOWER, get_delay_p99,
     .help = "one way, 99 % are below", .seldom = true, .grain = GRAIN_BUCKETS},
    {"delay.max", DATAGRAMS, METRIC_NS, METRIC_LOWER, get_delay_max, .help = "one way, greatest",
     .seldom = true},
    {"back.goodput", BIDIR, METRIC_BPS, METRIC_HIGHER, get_back_goodput,
     .help = "payload bits per second received, the other way", .seldom = true,
     .grain = GRAIN_PACKETS},
    {"back.pps", METRIC_TEST(TEST_UDP_BIDIR), METRIC_PPS, METRIC_HIGHER, get_back_pps,
     .help = "datagrams per second received, the other way", .seldom = true,
     .grain = GRAIN_PACKETS},
    {"back.loss", METRIC_TEST(TEST_UDP_BIDIR), METRIC_SHARE, METRIC_LOWER, get_back_loss,
     .help = "share of what was sent that did not arrive, the other way", .seldom = true},
    {"messages", STREAMS | METRIC_RR, METRIC_PPS, METRIC_HIGHER, get_messages,
     .help = "writes, datagrams or requests per second of the application", .seldom = true,
     .grain = GRAIN_PACKETS},
    {"segments", TCP_STREAM | METRIC_TEST(TEST_TCP_RR), METRIC_PPS, METRIC_HIGHER, get_segments,
     .help = "TCP segments with data per second of the sender", .seldom = true},
    {"coalescing", TCP_STREAM | METRIC_TEST(TEST_TCP_RR), METRIC_COUNT, METRIC_LOWER,
     get_coalescing, .help = "messages in a segment", .seldom = true},
    {"steady", STREAMS | METRIC_RR, METRIC_NS, METRIC_LOWER, get_steady,
     .help = "when the rate became steady", .seldom = true},
    {"client_cpu", STREAMS | TIMES, METRIC_NS, METRIC_LOWER, get_client_cpu,
     .help = "CPU time of the client for each packet or transaction", .seldom = true},
    {"server_cpu", STREAMS | TIMES, METRIC_NS, METRIC_LOWER, get_server_cpu,
     .help = "CPU time of the server for each packet or transaction", .seldom = true},
    {"client_demand", STREAMS | METRIC_RR, METRIC_NS, METRIC_LOWER, get_client_demand,
     .help = "CPU time of the machine of the client for 1024 bytes of payload", .seldom = true},
    {"server_demand", STREAMS | METRIC_RR, METRIC_NS, METRIC_LOWER, get_server_demand,
     .help = "CPU time of the machine of the server for 1024 bytes of payload", .seldom = true},
    {"jitter", LATENCY, METRIC_NS, METRIC_LOWER, get_jitter,
     .help = "of the way forward (RFC 3550)", .seldom = true},
    {"back.jitter", LATENCY, METRIC_NS, METRIC_LOWER, get_back_jitter,
     .help = "of the way back (RFC 3550)", .seldom = true},
    {"back.delay.p50", LATENCY, METRIC_NS, METRIC_LOWER, get_back_delay_p50,
     .help = "one way back, median", .seldom = true, .grain = GRAIN_BUCKETS},
    {"back.delay.p99", LATENCY, METRIC_NS, METRIC_LOWER, get_back_delay_p99,
     .help = "one way back, 99 % are below", .seldom = true, .grain = GRAIN_BUCKETS},
    {"connect.p50", METRIC_CRR, METRIC_NS, METRIC_LOWER, get_connect_p50,
     .help = "time to connect, median", .seldom = true, .grain = GRAIN_BUCKETS},
    {"connect.p99", METRIC_CRR, METRIC_NS, METRIC_LOWER, get_connect_p99,
     .help = "time to connect, 99 % are below", .seldom = true, .grain = GRAIN_BUCKETS},
    {"path_mtu", PATH_CHECK, METRIC_COUNT, METRIC_HIGHER, get_path_mtu,
     .help = "largest IP packet that arrives whole, bytes"},
};

double metric_step(const struct metric *m, const struct run_sample *run)
{
	const struct engine_result *e = &run->engine;
	double value = fabs(m->get(run)), packets;

	switch (m->grain) {
	case GRAIN_FINE:
		break;
	case GRAIN_BUCKETS:
		return hist_step(value);
	case GRAIN_PACKETS:
		packets =
		    e->pps * fmax((double)e->client.window_ns, (double)e->server.window_ns) / 1e9;
		return packets >= 1 ? value / packets : 0;
	}
	return 0;
}

const struct metric *metric_at(size_t i)
{
	return i < ARRAY_SIZE(table) ? &table[i] : NULL;
}

const struct metric *metric_find(const char *name, enum engine_test test)
{
	/* tcp_stream counts bytes, udp_stream packets: the first that the test has is its default.
	 */
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (!(table[i].tests & METRIC_TEST(test)))
			continue;
		if (!name || str_eq(table[i].name, name) ||
		    (table[i].alias && str_eq(table[i].alias, name)))
			return &table[i];
	}
	return NULL;
}

int metric_unknown(const char *name, enum engine_test test, struct err *err)
{
	const char *names[ARRAY_SIZE(table)];
	autostr struct strbuf list = {0};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (!(table[i].tests & METRIC_TEST(test)))
			continue;
		names[n++] = table[i].name;
		strbuf_addf(&list, "%s%s", list.len ? ", " : "", table[i].name);
	}
	const char *near = str_suggest(name, names, n);
	if (near)
		return err_input(err, "'%s' is not a metric of %s; did you mean '%s'?", name,
				 engine_test_name(test), near);
	return err_input(err, "'%s' is not a metric of %s; it has %s", name, engine_test_name(test),
			 strbuf_text(&list));
}

static int parse_number(const char *text, double *value, struct err *err)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	if (end == text || *end || errno || !isfinite(*value) || *value < 0)
		return err_input(err, "'%s' is not a number", text);
	return 0;
}

int metric_parse_value(const struct metric *m, const char *text, double *value, struct err *err)
{
	int64_t v = 0;
	int r = 0;

	switch (m->unit) {
	case METRIC_BPS:
		r = units_parse_rate(text, &v, err);
		break;
	case METRIC_NS:
		r = units_parse_time(text, &v, err);
		break;
	case METRIC_PPS:
		r = units_parse_pps(text, &v, err);
		break;
	case METRIC_SHARE:
		r = units_parse_percent(text, &v, err);
		if (!r)
			*value = (double)v / 1e6;
		return r;
	case METRIC_TPS:
	case METRIC_COUNT:
		return parse_number(text, value, err);
	}
	if (!r)
		*value = (double)v;
	return r;
}

struct look { /* how a figure of some size is shown */
	double scale;
	int digits;
	const char *unit;
};

/* µs below 10 ms, since round trips are compared with each other. */
static struct look look_of_time(double ns)
{
	if (ns < 1e3)
		return (struct look){1, 0, "ns"};
	if (ns < 1e5)
		return (struct look){1e3, 1, "µs"};
	if (ns < 1e7)
		return (struct look){1e3, 0, "µs"};
	if (ns < 1e9)
		return (struct look){1e6, 1, "ms"};
	return (struct look){1e9, 3, "s"};
}

/* 1 Gbit/s as 941.5 Mbit/s is read: G only from 10 on. */
static struct look look_of_scaled(double v, const char *const units[4])
{
	if (v >= 9.9995e9)
		return (struct look){1e9, 2, units[3]};
	if (v >= 0.99995e6)
		return (struct look){1e6, v < 1e8 ? 2 : 1, units[2]};
	if (v >= 0.99995e3)
		return (struct look){1e3, v < 1e5 ? 2 : 1, units[1]};
	return (struct look){1, 1, units[0]};
}

static struct look look_of(enum metric_unit unit, double v)
{
	static const char *const bits[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s"};
	static const char *const packets[] = {"pps", "kpps", "Mpps", "Gpps"};

	v = fabs(v);
	switch (unit) {
	case METRIC_BPS:
		return look_of_scaled(v, bits);
	case METRIC_PPS:
		return look_of_scaled(v, packets);
	case METRIC_NS:
		return look_of_time(v);
	case METRIC_TPS:
		return (struct look){1, v < 100, "1/s"};
	case METRIC_SHARE:
		return (struct look){0.01, v < 0.01 ? 3 : 1, "%"};
	case METRIC_COUNT:
		break;
	}
	return (struct look){1, v < 100 && v != floor(v), ""};
}

const char *metric_format(char *buf, size_t size, enum metric_unit unit, double value)
{
	return metric_format_interval(buf, size, unit, (struct metric_interval){value, NAN});
}

const char *metric_format_interval(char *buf, size_t size, enum metric_unit unit,
				   struct metric_interval v)
{
	struct look look = look_of(unit, v.mean);
	const char *space = look.unit[0] ? " " : "";
	double width = v.half_width / look.scale;

	if (isnan(v.mean))
		snprintf(buf, size, "–");
	else if (isnan(width))
		snprintf(buf, size, "%s%.*f%s%s", v.mean < 0 ? "−" : "", look.digits,
			 fabs(v.mean) / look.scale, space, look.unit);
	else
		snprintf(buf, size, "%s%.*f ±%.*f%s%s", v.mean < 0 ? "−" : "", look.digits,
			 fabs(v.mean) / look.scale,
			 width < 0.095 && look.digits < 2 ? look.digits + 1 : look.digits, width,
			 space, look.unit);
	return buf;
}

const char *metric_unit_name(enum metric_unit unit)
{
	static const char *const names[] = {
	    [METRIC_BPS] = "bps", [METRIC_NS] = "ns",	    [METRIC_PPS] = "pps",
	    [METRIC_TPS] = "tps", [METRIC_SHARE] = "share", [METRIC_COUNT] = "count",
	};

	return names[unit];
}
