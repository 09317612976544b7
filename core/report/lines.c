// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lines: formats intervals and summaries; decides nothing and computes no figure but a mean latency
 * from Little's law, for tests whose requests wait for their answers. Called by cli/.
 */
#include "core/report/lines.h"

#include <math.h>
#include <stdio.h>

#include "core/base/mem.h"

enum { SCALED = 24 };

static double number(const json_t *j, const char *key)
{
	const json_t *v = json_object_get(j, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Three digits and a unit of its size, as iperf writes them. */
static const char *scaled(char *buf, double v, double step, const char *const units[4])
{
	int i = 0;

	if (isnan(v)) {
		snprintf(buf, SCALED, "-");
		return buf;
	}
	for (; i < 3 && v >= step; i++)
		v /= step;
	snprintf(buf, SCALED, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[i]);
	return buf;
}

static const char *bytes_text(char *buf, double v)
{
	static const char *const units[] = {"Bytes", "KBytes", "MBytes", "GBytes"};

	return scaled(buf, v, 1024, units);
}

static const char *bits_text(char *buf, double v)
{
	static const char *const units[] = {"bits/sec", "Kbits/sec", "Mbits/sec", "Gbits/sec"};

	return scaled(buf, v, 1000, units);
}

enum shape { SHAPE_TCP, SHAPE_UDP, SHAPE_TRANSACTIONS };

static enum shape shape_of(const struct engine_spec *s)
{
	struct engine_traits t = engine_test_traits(s->test);

	if (t.transactions)
		return SHAPE_TRANSACTIONS;
	return t.datagram ? SHAPE_UDP : SHAPE_TCP;
}

static const char *id_of(const struct engine_spec *s, bool back)
{
	if (engine_test_traits(s->test).way == WAY_BOTH)
		return back ? "S-C" : "C-S";
	return s->streams > 1 ? "SUM" : "  1";
}

static void add_head(const struct engine_spec *s, struct strbuf *out)
{
	static const char *const heads[] = {
	    [SHAPE_TCP] = "Transfer     Bitrate           Retr   Cwnd          RTT",
	    [SHAPE_UDP] = "Transfer     Bitrate           Packets/s    Missing/Sent",
	    [SHAPE_TRANSACTIONS] = "Transactions     Rate               Latency",
	};

	strbuf_addf(out, "[ ID] Interval           %s\n", heads[shape_of(s)]);
}

static void add_span(const struct engine_spec *s, bool back, double from, double to,
		     struct strbuf *out)
{
	strbuf_addf(out, "[%3s] %6.2f-%-6.2f sec ", id_of(s, back), from, to);
}

static void add_tcp(const json_t *i, struct strbuf *out)
{
	char cwnd[SCALED] = "-", rtt[SCALED] = "-";
	double segments = number(i, "cwnd"), us = number(i, "rtt_us"), n = number(i, "retransmits");

	if (!isnan(segments))
		snprintf(cwnd, sizeof(cwnd), "%.0f segments", segments);
	if (!isnan(us))
		snprintf(rtt, sizeof(rtt), "%.0f us", us);
	if (isnan(n))
		strbuf_addf(out, "  %5s", "-");
	else
		strbuf_addf(out, "  %5.0f", n);
	strbuf_addf(out, "  %-14s %s", cwnd, rtt);
}

/* By time: what was sent in it and what came in it, so a queue that fills looks like loss. */
static void add_udp(const json_t *i, struct strbuf *out)
{
	double sent = number(i, "sent_packets"), came = number(i, "packets");
	double missing = sent > came ? sent - came : 0;

	strbuf_addf(out, "  %-11.0f", number(i, "pps"));
	if (!isnan(sent))
		strbuf_addf(out, "  %.0f/%.0f (%.2g%%)", missing, sent,
			    sent > 0 ? missing / sent * 100 : 0);
}

static void add_transactions(const struct engine_spec *s, const json_t *i, struct strbuf *out)
{
	double tps = number(i, "tps");
	double at_once = (double)s->streams * s->outstanding;

	strbuf_addf(out, "%12.0f  %10.1f trans/sec", number(i, "transactions"), tps);
	if (!engine_test_traits(s->test).paced && tps > 0)
		strbuf_addf(out, "  %8.1f us", at_once / tps * 1e6);
}

static void add_interval(const struct engine_spec *s, const json_t *i, bool back, double from,
			 struct strbuf *out)
{
	char a[SCALED], b[SCALED];
	double to = number(i, "t_s"), bytes = number(i, "bytes");

	add_span(s, back, from, to, out);
	if (shape_of(s) == SHAPE_TRANSACTIONS) {
		add_transactions(s, i, out);
	} else {
		if (isnan(bytes))
			bytes = number(i, "bps") / 8 * (to - from);
		strbuf_addf(out, "%12s  %15s", bytes_text(a, bytes),
			    bits_text(b, number(i, "bps")));
		if (shape_of(s) == SHAPE_UDP)
			add_udp(i, out);
		else
			add_tcp(i, out);
	}
	strbuf_addc(out, '\n');
}

/* What looks at a path has findings, and no rates to put in lines. */
static bool has_rates(const struct engine_spec *s)
{
	struct engine_traits t = engine_test_traits(s->test);

	return t.stream || t.transactions || !t.datagram;
}

void lines_init(struct lines *l, const struct engine_spec *s, void (*show)(const char *text))
{
	*l = (struct lines){.spec = s, .show = show};
}

/* What the sender knows, under the names that it has in a result. */
static json_t *joined(const json_t *headline, const json_t *other)
{
	static const char *const keys[][2] = {{"retransmits", "retransmits"},
					      {"rtt_us", "rtt_us"},
					      {"cwnd", "cwnd"},
					      {"packets", "sent_packets"}};
	json_t *j = json_copy((json_t *)headline);

	for (size_t k = 0; other && k < ARRAY_SIZE(keys); k++) {
		json_t *v = json_object_get(other, keys[k][0]);

		if (v && !json_object_get(j, keys[k][1]))
			json_object_set(j, keys[k][1], v);
	}
	return j;
}

static void show_both(struct lines *l)
{
	autostr struct strbuf out = {0};
	json_t *one = joined(l->headline, l->other);
	json_t *back = json_object_get(l->headline, "back");

	if (!l->headed)
		add_head(l->spec, &out);
	l->headed = true;
	add_interval(l->spec, one, false, l->last_s, &out);
	if (back) {
		json_t *way = joined(json_object_get(l->other, "back"), back);

		/* The client is the receiver of that way. */
		if (way)
			add_interval(l->spec, way, true, l->last_s, &out);
		json_decref(way);
	}
	l->last_s = number(l->headline, "t_s");
	json_decref(one);
	l->show(strbuf_text(&out));
	json_decref(l->headline);
	l->headline = NULL;
}

void lines_each(void *lines, bool headline, const json_t *interval)
{
	struct lines *l = lines;

	json_t **place = headline ? &l->headline : &l->other;

	if (!has_rates(l->spec))
		return;
	if (headline && l->headline)
		show_both(l);
	json_decref(*place);
	*place = json_incref((json_t *)interval);
	if (l->headline && l->other && number(l->other, "t_s") >= number(l->headline, "t_s"))
		show_both(l);
}

void lines_end(struct lines *l)
{
	if (l->headline)
		show_both(l);
	json_decref(l->other);
	l->other = NULL;
}

void lines_intervals(const struct engine_spec *s, const struct engine_result *r, struct strbuf *out)
{
	double last = 0;
	const json_t *i;
	size_t k;

	if (!has_rates(s))
		return;
	add_head(s, out);
	json_array_foreach(r->intervals, k, i)
	{
		const json_t *back = json_array_get(r->back.intervals, k);

		add_interval(s, i, false, last, out);
		if (back)
			add_interval(s, back, true, last, out);
		last = number(i, "t_s");
	}
}

struct total { /* of one way */
	bool back;
	double received_bps, sent_bps, seconds;
	int64_t retransmits, lost, sent;
};

static void add_total(const struct engine_spec *s, const struct total *t, struct strbuf *out)
{
	char a[SCALED], b[SCALED];

	for (int sender = 0; sender < 2; sender++) {
		double bps = sender ? t->sent_bps : t->received_bps;

		add_span(s, t->back, 0, t->seconds, out);
		strbuf_addf(out, "%12s  %15s", bytes_text(a, bps / 8 * t->seconds),
			    bits_text(b, bps));
		if (shape_of(s) == SHAPE_TCP && sender)
			strbuf_addf(out, "  %5lld", (long long)t->retransmits);
		else if (shape_of(s) == SHAPE_UDP && !sender && t->sent > 0)
			strbuf_addf(out, "  %lld/%lld (%.2g%%)", (long long)t->lost,
				    (long long)t->sent, (double)t->lost / (double)t->sent * 100);
		else
			strbuf_addf(out, "  %5s", "");
		strbuf_addf(out, "  %s\n", sender ? "sender" : "receiver");
	}
}

static void add_times(const struct engine_result *r, struct strbuf *out)
{
	const struct engine_dist *d = &r->latency;

	strbuf_addf(out, "[  1] %.1f trans/sec", r->pps);
	if (d->count > 0)
		strbuf_addf(out, ", latency us: mean %.1f, min %.1f, max %.1f", d->mean / 1e3,
			    d->min / 1e3, d->max / 1e3);
	if (!isnan(d->p50))
		strbuf_addf(out, ", p50 %.1f", d->p50 / 1e3);
	if (!isnan(d->p99))
		strbuf_addf(out, ", p99 %.1f", d->p99 / 1e3);
	if (r->lost)
		strbuf_addf(out, "; lost %lld", (long long)r->lost);
	strbuf_addc(out, '\n');
}

static double seconds_of(const struct engine_result *r, bool client)
{
	const struct engine_side *side = client ? &r->client : &r->server;

	return (double)side->window_ns / 1e9;
}

void lines_summary(const struct engine_spec *s, const struct engine_result *r, struct strbuf *out)
{
	enum engine_way way = engine_test_traits(s->test).way;
	struct total t = {
	    .received_bps = r->goodput_bps,
	    .sent_bps = r->sent_bps,
	    .seconds = seconds_of(r, way == WAY_BACK),
	    .retransmits = r->retransmits,
	    .lost = r->lost,
	    .sent = way == WAY_BACK ? r->server.packets : r->client.packets,
	};
	struct total back = {
	    .back = true,
	    .received_bps = r->back.goodput_bps,
	    .sent_bps = r->back.sent_bps,
	    .seconds = seconds_of(r, true),
	    .retransmits = r->back.retransmits,
	    .lost = r->back.lost,
	    .sent = llround(r->back.sent_pps * seconds_of(r, false)),
	};

	if (!has_rates(s))
		return;
	strbuf_add(out, "- - - - - - - - - - - - - - - - - - - - - - - - -\n");
	if (shape_of(s) == SHAPE_TRANSACTIONS) {
		add_times(r, out);
		return;
	}
	strbuf_addf(out, "[ ID] Interval           Transfer     Bitrate           %s\n",
		    shape_of(s) == SHAPE_UDP ? "Lost/Total Datagrams" : "Retr");
	add_total(s, &t, out);
	if (way == WAY_BOTH)
		add_total(s, &back, out);
	if (r->invalid[0])
		strbuf_addf(out, "invalid: %s\n", r->invalid);
}
