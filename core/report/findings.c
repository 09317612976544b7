// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * findings: words for what was found. It measures and judges nothing: limits and steadiness are
 * core/engine's and core/harness's. Called by cli/.
 */
#include "core/report/findings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/harness/metric.h"
#include "core/report/text.h"

enum { LABEL = 16, JOINED_FROM = 2 };

static void begin(struct strbuf *out, const char *label)
{
	text_spaces(out, 2);
	text_pad(out, label, LABEL);
	strbuf_addc(out, ' ');
}

static void wrapped(struct strbuf *out, const char *label, const char *text)
{
	begin(out, label);
	text_wrap(out, text, LABEL + 3, LABEL + 3);
	strbuf_addc(out, '\n');
}

/* "1,087,982": these are compared with each other, digit by digit. */
static const char *whole(char *buf, size_t size, double v)
{
	char digits[32];
	size_t n, k = 0;

	snprintf(digits, sizeof(digits), "%.0f", v);
	n = strlen(digits);
	for (size_t i = 0; i < n && k + 2 < size; i++) {
		if (i && !((n - i) % 3))
			buf[k++] = ',';
		buf[k++] = digits[i];
	}
	buf[k] = '\0';
	return buf;
}

/*
 * The puzzle of small writes: a figure far above what so small packets could carry. TCP sends a
 * stream, so that writes which wait while data is on the way leave together (RFC 896, RFC 9293
 * 3.7.4), and what counts for the network is the segment.
 */
static void explain_coalescing(const struct engine_spec *s, const struct engine_result *r,
			       struct strbuf *text)
{
	if (r->coalescing >= JOINED_FROM) {
		strbuf_addf(text,
			    ". TCP joined %.0f writes of %lld bytes into each segment of %.0f: the "
			    "network carried large packets, so this is no figure of %lld-byte "
			    "packets. ",
			    r->coalescing, (long long)s->size, r->coalescing * (double)s->size,
			    (long long)s->size);
		strbuf_add(text,
			   s->no_delay
			       ? "TCP_NODELAY was on: it lets a write go at once while window "
				 "and queue have room, and joins what has to wait all the same. "
			       : "With TCP_NODELAY (--no-delay on) a write goes at once while "
				 "window and queue have room, so more and smaller segments "
				 "carry less; what has to wait is joined all the same. ");
		strbuf_addf(text, "Packets of %lld bytes: udp_stream --size %lld",
			    (long long)s->size, (long long)s->size);
	} else if (r->coalescing < 1 && r->coalescing > 0) {
		strbuf_addf(text, ": each write left as %.1f segments", 1 / r->coalescing);
	}
}

static void messages(const struct engine_spec *s, const struct engine_result *r, double wire_pps,
		     struct strbuf *out)
{
	struct engine_traits t = engine_test_traits(s->test);
	autostr struct strbuf text = {0};
	char a[32], b[32], c[32];

	if (!(r->messages_pps > 0))
		return;
	strbuf_addf(&text, "%s %s a second", whole(a, sizeof(a), r->messages_pps),
		    t.transactions ? "requests"
		    : t.datagram   ? "datagrams"
				   : "writes");
	if (!isnan(r->segments_pps))
		strbuf_addf(&text, ", %s TCP segments", whole(b, sizeof(b), r->segments_pps));
	if (!isnan(wire_pps))
		strbuf_addf(&text, ", %s packets at the receiver's card",
			    whole(c, sizeof(c), wire_pps));
	if (t.stream && !t.datagram)
		explain_coalescing(s, r, &text);
	else if (t.datagram && r->io[0] && !str_eq(r->io, "plain"))
		strbuf_addf(&text, "; io %s", r->io);
	wrapped(out, "handed over", strbuf_text(&text));
}

static void limit(const struct engine_result *r, struct strbuf *out)
{
	autostr struct strbuf text = {0};

	if (!r->limit[0] && !r->limit_why[0])
		return;
	strbuf_addf(&text, "%s: %s", r->limit[0] ? r->limit : "none found", r->limit_why);
	wrapped(out, "limit", strbuf_text(&text));
}

static double number(const json_t *j, const char *key)
{
	const json_t *v = json_object_get(j, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void tcp(const struct engine_spec *s, const struct engine_result *r, struct strbuf *out)
{
	autostr struct strbuf text = {0};
	double rwnd = number(r->tcp, "rwnd_limited"), buf = number(r->tcp, "sndbuf_limited");

	if (!r->tcp)
		return;
	strbuf_addf(&text,
		    "round trip %.0f µs (least %.0f, varies by %.0f), window of %.0f "
		    "segments of %d bytes, %s",
		    number(r->tcp, "rtt_us"), number(r->tcp, "min_rtt_us"),
		    number(r->tcp, "rttvar_us"), number(r->tcp, "cwnd"), r->mss, r->congestion);
	if (rwnd > 0.01)
		strbuf_addf(&text, "; %.0f %% of the time held by the receiver's window",
			    rwnd * 100);
	if (buf > 0.01)
		strbuf_addf(&text, "; %.0f %% by the send buffer", buf * 100);
	if (number(r->tcp, "reord_seen") > 0)
		strbuf_addf(&text, "; reordering seen %.0f times", number(r->tcp, "reord_seen"));
	if (number(r->tcp, "dsack_dups") > 0)
		strbuf_addf(&text, "; %.0f segments were sent again in vain",
			    number(r->tcp, "dsack_dups"));
	if (r->tcp_sampled && r->tcp_sampled < s->streams)
		strbuf_addf(&text, "; intervals look at %d of the %d connections", r->tcp_sampled,
			    s->streams);
	wrapped(out, "TCP", strbuf_text(&text));
}

static void side(const char *name, const struct engine_spec *s, const struct engine_side *e,
		 struct strbuf *text)
{
	double window_s = (double)e->window_ns / 1e9;
	struct engine_traits t = engine_test_traits(s->test);
	const char *of = t.transactions ? "transaction" : "packet";

	if (!(window_s > 0))
		return;
	strbuf_addf(text, "%s%s %.0f %% (user %.0f, system %.0f", text->len ? "; " : "", name,
		    (e->cpu_user_s + e->cpu_system_s) / window_s * 100,
		    e->cpu_user_s / window_s * 100, e->cpu_system_s / window_s * 100);
	if (e->n_threads > 1)
		strbuf_addf(text, ", busiest of %d threads %.0f", e->n_threads,
			    e->thread_cpu_s / window_s * 100);
	strbuf_add(text, ")");
	if (!isnan(e->us_per_packet))
		strbuf_addf(text, ", %.2f µs a %s", e->us_per_packet, of);
	if (!isnan(e->us_per_kib) && (t.stream || t.files))
		strbuf_addf(text, ", its machine %.3f µs/KiB", e->us_per_kib);
}

static void cpu(const struct engine_spec *s, const struct engine_result *r, struct strbuf *out)
{
	autostr struct strbuf text = {0};

	side("client", s, &r->client, &text);
	side("server", s, &r->server, &text);
	if (r->same_machine && !isnan(r->client.cpu_busy))
		strbuf_addf(&text,
			    "; both share one machine, which was %.0f %% busy (softirq %.0f, "
			    "steal %.0f)",
			    r->client.cpu_busy * 100, r->client.cpu_softirq * 100,
			    r->client.cpu_steal * 100);
	if (text.len)
		wrapped(out, "CPU", strbuf_text(&text));
}

/* Said only where it is news. */
static void steady(const struct engine_spec *s, const struct engine_result *r, struct strbuf *out)
{
	autostr struct strbuf text = {0};

	if (isnan(r->steady_s) && !s->steady && !str_starts(r->steady_why, "it still"))
		return; /* too short to tell, and nobody asked */
	if (isnan(r->steady_s))
		strbuf_addf(&text, "no: %s", r->steady_why);
	else if (r->cut_s > 0)
		strbuf_addf(&text, "from %.2f s on; what is before is not in the rates: %s",
			    r->cut_s, r->steady_why);
	else if (r->steady_s > 0)
		strbuf_addf(&text, "from %.2f s on: %s (--steady leaves that out)", r->steady_s,
			    r->steady_why);
	else if (s->steady)
		strbuf_add(&text, "from the window's begin on");
	if (text.len && (r->steady_why[0] || s->steady))
		wrapped(out, "steady", strbuf_text(&text));
}

static void back(const struct engine_spec *s, const struct engine_result *r, struct strbuf *out)
{
	const struct engine_back *b = &r->back;
	char a[64], c[64];

	if (!b->intervals)
		return;
	begin(out, "other way");
	strbuf_addf(out, "%s received, %s sent",
		    metric_format(a, sizeof(a), METRIC_BPS, b->goodput_bps),
		    metric_format(c, sizeof(c), METRIC_BPS, b->sent_bps));
	if (engine_test_traits(s->test).datagram)
		strbuf_addf(out, "; %s, %lld lost (%.3g %%), %lld duplicated, %lld reordered",
			    metric_format(a, sizeof(a), METRIC_PPS, b->pps), (long long)b->lost,
			    b->loss * 100, (long long)b->duplicated, (long long)b->reordered);
	else
		strbuf_addf(out, "; %lld segments sent again", (long long)b->retransmits);
	strbuf_addc(out, '\n');
}

/* A name without the unit that its value is shown with; "_" is a space to people. */
static char *plain_name(const char *prefix, const char *key)
{
	static const char *const units[] = {"_ns", "_bps", "_s"};
	const char *second = str_ends(key, "_ps") ? " a second" : "";
	char *name = mem_printf("%s%s%.*s%s", prefix, prefix[0] ? "." : "",
				(int)(strlen(key) - (second[0] ? strlen("_ps") : 0)), key, second);

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (str_ends(name, units[i])) {
			name[strlen(name) - strlen(units[i])] = '\0';
			break;
		}
	}
	for (char *c = name; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return name;
}

static void add_value(const json_t *v, const char *key, struct strbuf *out)
{
	char text[64];

	if (json_is_string(v)) {
		strbuf_add(out, json_string_value(v));
	} else if (json_is_number(v) && str_ends(key, "_ns")) {
		metric_format(text, sizeof(text), METRIC_NS, json_number_value(v));
		strbuf_add(out, text);
	} else if (json_is_number(v) && str_ends(key, "_bps")) {
		metric_format(text, sizeof(text), METRIC_BPS, json_number_value(v));
		strbuf_add(out, text);
	} else if (json_is_number(v) && str_ends(key, "_s")) {
		metric_format(text, sizeof(text), METRIC_NS, json_number_value(v) * 1e9);
		strbuf_add(out, text);
	} else if (json_is_integer(v)) {
		strbuf_addf(out, "%lld", (long long)json_integer_value(v));
	} else if (json_is_real(v)) {
		strbuf_addf(out, fabs(json_real_value(v)) >= 1000 ? "%.0f" : "%.4g",
			    json_real_value(v));
	} else if (json_is_boolean(v)) {
		strbuf_add(out, json_is_true(v) ? "yes" : "no");
	} else if (json_is_null(v)) {
		strbuf_add(out, "–");
	} else {
		char *dump = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);

		strbuf_add(out, dump ? dump : "");
		free(dump);
	}
}

/* An object with these is a distribution: one line. */
static bool is_dist(const json_t *j)
{
	return json_object_get(j, "p50");
}

/* Distributions are of nanoseconds, unless their name says another unit (engine.h). */
static enum metric_unit dist_unit(const char *key)
{
	return str_ends(key, "_bps")	 ? METRIC_BPS
	       : str_ends(key, "_bytes") ? METRIC_COUNT
					 : METRIC_NS;
}

static void add_dist(const json_t *j, const char *key, struct strbuf *out)
{
	static const char *const names[] = {"min", "mean", "p50", "p90", "p99", "p999", "max"};
	const json_t *count = json_object_get(j, "count");
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const json_t *v = json_object_get(j, names[i]);
		char text[64];

		if (!json_is_number(v))
			continue;
		metric_format(text, sizeof(text), dist_unit(key), json_number_value(v));
		strbuf_addf(out, "%s%s %s", any ? ", " : "", names[i], text);
		any = true;
	}
	if (count)
		strbuf_addf(out, "%s%lld in all", any ? ", " : "",
			    (long long)json_integer_value(count));
}

static void add_detail(const json_t *j, const char *prefix, int depth, struct strbuf *out);

/* Its plain members. How wide a confidence interval is, is in what is called precision too. */
static void add_row(const json_t *row, struct strbuf *out)
{
	autostr struct strbuf line = {0};
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)row, key, v)
	{
		if (json_is_null(v) || json_is_object(v) || json_is_array(v) ||
		    strstr(key, "_half_width_"))
			continue;
		autofree char *name = plain_name("", key);

		strbuf_addf(&line, "%s%s ", line.len ? ", " : "", name);
		add_value(v, key, &line);
	}
	text_spaces(out, 4);
	text_wrap(out, strbuf_text(&line), 4, 6);
	strbuf_addc(out, '\n');
}

static void add_table(const json_t *list, const char *name, struct strbuf *out)
{
	const json_t *row;
	size_t i;

	begin(out, name);
	strbuf_addf(out, "%zu:\n", json_array_size(list));
	json_array_foreach((json_t *)list, i, row)
	{
		if (i == FINDINGS_ROWS)
			break;
		add_row(row, out);
	}
	if (json_array_size(list) > FINDINGS_ROWS)
		strbuf_addf(out, "    … and %zu more: see --json\n",
			    json_array_size(list) - FINDINGS_ROWS);
}

static void add_member(const json_t *v, const char *name, const char *key, int depth,
		       struct strbuf *out)
{
	if (json_is_object(v) && is_dist(v)) {
		begin(out, name);
		add_dist(v, key, out);
		strbuf_addc(out, '\n');
	} else if (json_is_object(v) && depth < 4) {
		add_detail(v, name, depth + 1, out);
	} else if (json_is_array(v) && json_is_object(json_array_get(v, 0))) {
		add_table(v, name, out);
	} else if (!json_is_array(v) || json_array_size(v) <= FINDINGS_ROWS) {
		autostr struct strbuf text = {0};

		add_value(v, key, &text);
		wrapped(out, name, strbuf_text(&text));
	}
}

static void add_detail(const json_t *j, const char *prefix, int depth, struct strbuf *out)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)j, key, v)
	{
		autofree char *name = plain_name(prefix, key);

		if (!str_eq(key, "histogram") && !json_is_null(v)) /* those are for programs */
			add_member(v, name, key, depth, out);
	}
}

void findings_detail(const json_t *detail, struct strbuf *out)
{
	add_detail(detail, "", 0, out);
}

/* Why the first of the pairs that failed did. */
static void first_failure(const json_t *pairs, struct strbuf *out)
{
	const json_t *pair, *why;
	size_t i;

	json_array_foreach((json_t *)pairs, i, pair)
	{
		why = json_object_get(pair, "why");
		if (!why)
			continue;
		begin(out, "failed");
		strbuf_addf(out, "pair %lld: %s; see --json for more\n",
			    (long long)json_integer_value(json_object_get(pair, "pair")),
			    json_string_value(why));
		return;
	}
}

/* Scripts on pairs: the groups and all of them together. Each pair is for programs. */
static void scripted(const struct engine_result *r, struct strbuf *out)
{
	static const char *const plain[] = {"script", "ended_by", "run_s", "seed",
					    "changed_on_the_way"};
	const json_t *groups = json_object_get(r->detail, "groups");

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		const json_t *v = json_object_get(r->detail, plain[i]);

		autofree char *name = plain_name("", plain[i]);

		if (v)
			add_member(v, name, plain[i], 0, out);
	}
	bool alone = json_array_size(groups) == 1; /* then it knows more than the total, its MOS */

	if (json_array_size(groups) > 1)
		add_table(groups, "groups", out);
	begin(out, "total");
	strbuf_addc(out, '\n');
	add_row(alone ? json_array_get(groups, 0) : json_object_get(r->detail, "total"), out);
	first_failure(r->pairs, out);
}

void findings_describe(const struct engine_spec *s, const struct engine_result *r, double wire_pps,
		       struct strbuf *out)
{
	if (r->invalid[0])
		wrapped(out, "INVALID", r->invalid);
	back(s, r, out);
	messages(s, r, wire_pps, out);
	limit(r, out);
	tcp(s, r, out);
	cpu(s, r, out);
	steady(s, r, out);
	if (r->seed && !json_object_get(r->detail, "seed"))
		strbuf_addf(out, "  %-16s %lld\n", "seed", (long long)r->seed);
	if (r->clock_error_ns > 0)
		strbuf_addf(out, "  %-16s one-way times are right within ±%.1f µs\n", "clocks",
			    r->clock_error_ns / 1e3);
	if (json_object_get(r->detail, "groups"))
		scripted(r, out);
	else if (r->detail)
		findings_detail(r->detail, out);
}
