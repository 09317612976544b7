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

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/result.h"

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

#define STREAMS	   (METRIC_TEST(TEST_TCP_STREAM) | METRIC_TEST(TEST_UDP_STREAM))
#define TCP_STREAM METRIC_TEST(TEST_TCP_STREAM)
#define UDP_STREAM METRIC_TEST(TEST_UDP_STREAM)
#define RR	   (METRIC_TEST(TEST_TCP_RR) | METRIC_TEST(TEST_UDP_RR))
#define IX	   METRIC_TEST(TEST_THROUGHPUT)
#define ALL	   (STREAMS | RR | IX)

/* The first metric of a test is its default. */
static const struct metric table[] = {
    {"average", "throughput", IX, METRIC_BPS, METRIC_HIGHER, METRIC_MEAN, METRIC_GOODPUT,
     get_rate_mean, "payload bits per second of a transaction, mean"},
    {"min", "minimum", IX, METRIC_BPS, METRIC_HIGHER, METRIC_LEAST, METRIC_GOODPUT, get_rate_min,
     "of the slowest transaction"},
    {"max", "maximum", IX, METRIC_BPS, METRIC_HIGHER, METRIC_MOST, METRIC_GOODPUT, get_rate_max,
     "of the fastest transaction"},
    {"response.average", "response", IX, METRIC_NS, METRIC_LOWER, METRIC_MEAN, METRIC_RESPONSE,
     get_latency_mean, "time of a transaction, mean"},
    {"response.min", "response.minimum", IX, METRIC_NS, METRIC_LOWER, METRIC_LEAST, METRIC_RESPONSE,
     get_latency_min, "time of the fastest transaction"},
    {"response.max", "response.maximum", IX, METRIC_NS, METRIC_LOWER, METRIC_MOST, METRIC_RESPONSE,
     get_latency_max, "time of the slowest transaction"},
    {"pps", NULL, UDP_STREAM, METRIC_PPS, METRIC_HIGHER, METRIC_MEAN, METRIC_PACKETS, get_pps,
     "datagrams per second received"},
    {"goodput", NULL, STREAMS, METRIC_BPS, METRIC_HIGHER, METRIC_MEAN, METRIC_GOODPUT, get_goodput,
     "payload bits per second received"},
    {"sent", NULL, STREAMS, METRIC_BPS, METRIC_HIGHER, METRIC_MEAN, METRIC_UNPREDICTED, get_sent,
     "payload bits per second that the sender handed over"},
    {"sent_pps", NULL, UDP_STREAM, METRIC_PPS, METRIC_HIGHER, METRIC_MEAN, METRIC_UNPREDICTED,
     get_sent_pps, "datagrams per second sent"},
    {"loss", NULL, UDP_STREAM, METRIC_SHARE, METRIC_LOWER, METRIC_MEAN, METRIC_UNPREDICTED,
     get_loss, "share of the datagrams sent that did not arrive"},
    {"p50", "median", RR, METRIC_NS, METRIC_LOWER, METRIC_MEAN, METRIC_UNPREDICTED, get_latency_p50,
     "round trip, median"},
    {"mean", "average", RR, METRIC_NS, METRIC_LOWER, METRIC_MEAN, METRIC_UNPREDICTED,
     get_latency_mean, "round trip, mean"},
    {"min", "minimum", RR, METRIC_NS, METRIC_LOWER, METRIC_LEAST, METRIC_UNPREDICTED,
     get_latency_min, "round trip, least"},
    {"max", "maximum", RR, METRIC_NS, METRIC_LOWER, METRIC_MOST, METRIC_UNPREDICTED,
     get_latency_max, "round trip, greatest"},
    {"p90", NULL, RR, METRIC_NS, METRIC_LOWER, METRIC_MEAN, METRIC_UNPREDICTED, get_latency_p90,
     "round trip, 90 % are below"},
    {"p99", NULL, RR, METRIC_NS, METRIC_LOWER, METRIC_MEAN, METRIC_UNPREDICTED, get_latency_p99,
     "round trip, 99 % are below"},
    {"p999", NULL, RR, METRIC_NS, METRIC_LOWER, METRIC_MEAN, METRIC_UNPREDICTED, get_latency_p999,
     "round trip, 99.9 % are below"},
    {"tps", NULL, RR, METRIC_TPS, METRIC_HIGHER, METRIC_MEAN, METRIC_UNPREDICTED, get_pps,
     "transactions per second"},
    {"retransmits", NULL, TCP_STREAM | IX, METRIC_COUNT, METRIC_LOWER, METRIC_MEAN,
     METRIC_UNPREDICTED, get_retransmits, "TCP segments sent again"},
    {"rtt", NULL, TCP_STREAM | IX, METRIC_NS, METRIC_LOWER, METRIC_MEAN, METRIC_UNPREDICTED,
     get_rtt, "TCP's own smoothed round trip at the end"},
    {"counted", NULL, STREAMS | IX, METRIC_BPS, METRIC_HIGHER, METRIC_MEAN, METRIC_GOODPUT,
     get_counted, "payload bits per second by the kernel's counter at the receiver's device"},
    {"cpu_per_packet", NULL, ALL, METRIC_NS, METRIC_LOWER, METRIC_MEAN, METRIC_UNPREDICTED,
     get_cpu_per_packet,
     "CPU time of the whole machine for each packet delivered (tcp_rr, udp_rr: answers too)"},
};

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
