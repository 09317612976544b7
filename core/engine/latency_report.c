/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency_report: what udp_latency found, from the bodies' counts to the result. It measures
 * nothing. Called through the table of engines.
 *
 * The result's `latency` is the round trip from when a probe was due, `delay` the way forward from
 * when it was sent, `lost` what was never answered (`late`: answered, after the timeout), server's
 * packets the probes that it saw, client's those sent in the window, as also in `offered_pps`.
 * Its `detail`, every distribution in ns with count, mean, stddev, min, max, p50, p75, p90, p95,
 * p99, p999, p9999 (null: the samples do not support it):
 *
 *   schedule, rate_pps, timeout_ns, seed
 *   sent, answered, lost, late, refused (by the local system), strays (no datagrams of ours)
 *   round_trip    {due, sent, less_host}: until the program has the answer, from when the probe was
 *                 due, and from when it left; less_host: from driver to driver, less what it was in
 *                 the server, which needs no comparable clocks
 *   timer_error   from due to sent: how late this sender was
 *   forward, back {delay, path, ipdv: distributions; jitter_ns, pdv, lost, duplicated, reordered}
 *                 delay: program to program. path: driver to driver. ipdv: RFC 3393, absolute, of
 *                 probes that follow each other. pdv: RFC 5481, delay less the least, its
 *                 percentiles. jitter_ns: RFC 3550, at the end. reordered: RFC 4737
 *   host          {client_send, client_receive, server_send, server_receive, turnaround}: between
 *                 program and driver at each end, and in the server's program; missing: why those
 *                 without samples have none, or null
 *   deadline      [{within_ms, share}]: of all that were sent, answered in that time since they
 *                 were due; what is lost never is
 *   clock         {shared, comparable}: are both ends' clocks one; if not, was their difference
 *                 found (its bound is the result's clock_error_ns; else no delay of a way)
 *   histogram     {round_trip, from_sent, timer_error, forward, back}: count, min, max, and buckets
 *                 [lowest ns, how many], exact below 256 ns, else to 1/256: what percentiles are
 *                 drawn from
 */
#include <math.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/latency.h"
#include "core/engine/result.h"

const char *const latency_names[LATENCY_KINDS] = {
    [LATENCY_ROUND_TRIP] = "round_trip",
    [LATENCY_FROM_SENT] = "from_sent",
    [LATENCY_TIMER_ERROR] = "timer_error",
    [LATENCY_FORWARD] = "forward",
    [LATENCY_BACK] = "back",
    [LATENCY_TURNAROUND] = "turnaround",
    [LATENCY_PATH_FORWARD] = "path_forward",
    [LATENCY_PATH_BACK] = "path_back",
    [LATENCY_PATH_ROUND] = "path_round",
    [LATENCY_CLIENT_SEND] = "client_send",
    [LATENCY_CLIENT_RECEIVE] = "client_receive",
    [LATENCY_SERVER_SEND] = "server_send",
    [LATENCY_SERVER_RECEIVE] = "server_receive",
    [LATENCY_IPDV_FORWARD] = "ipdv_forward",
    [LATENCY_IPDV_BACK] = "ipdv_back",
};

static const double latency_deadlines_ms[] = {0.1, 0.2, 0.5, 1,	  2,   5,   10,
					      20,  50,	100, 200, 500, 1000};

static void latency_add(json_t *j, const char *key, int64_t v)
{
	json_object_set_new(j, key, json_integer(v));
}

static void latency_report_hists(struct worker *w, json_t *result)
{
	json_t *all = json_object();
	struct hist *h = hist_new();
	for (int kind = 0; kind < LATENCY_KINDS; kind++) {
		hist_reset(h);
		for (int i = 0; i < w->n_streams; i++)
			hist_merge(h, ((struct latency *)w->streams[i].own)->hist[kind]);
		json_object_set_new(all, latency_names[kind], hist_json(h));
	}
	json_object_set_new(result, "hists", all);
	hist_free(h);
}

/* The intervals by when a probe was due, as all other figures are. All threads have ended. */
static void latency_report_series(struct worker *w, json_t *result)
{
	json_t *list = json_object_get(result, "intervals");
	for (size_t k = 0; k < json_array_size(list); k++) {
		json_t *one = json_array_get(list, k);
		double from = k ? result_number(json_array_get(list, k - 1), "t_s") : 0;
		double seconds = result_number(one, "t_s") - from;
		int64_t n = 0;
		for (int i = 0; i < w->n_streams; i++)
			n += ((const struct latency *)w->streams[i].own)->answered_in[k];
		json_object_set_new(one, "transactions", json_integer(n));
		json_object_set_new(one, "tps", result_real((double)n / seconds));
	}
}

static void latency_report_client(struct worker *w, json_t *result)
{
	int64_t sent = 0, answered = 0, lost = 0, late = 0, refused = 0, strays = 0, strange = 0;
	for (int i = 0; i < w->n_streams; i++) {
		const struct latency *l = w->streams[i].own;
		sent += l->measured;
		answered += l->answered;
		lost += l->lost;
		late += l->late;
		refused += l->refused;
		strays += l->strays;
		strange += l->stamp_strange;
	}
	latency_add(result, "packets", sent);
	latency_add(result, "answered", answered);
	latency_add(result, "lost", lost);
	latency_add(result, "late", late);
	latency_add(result, "refused", refused);
	latency_add(result, "strays", strays);
	latency_add(result, "stamps_strange", strange);
	latency_add(result, "seed", w->spec.seed);
	json_object_set_new(
	    result, "clock",
	    json_pack("{s:b,s:b}", "shared", !w->own_clock, "comparable", worker_comparable(w)));
	latency_report_hists(w, result);
	latency_report_series(w, result);
}

static void latency_report_server(struct worker *w, json_t *result)
{
	int64_t answers = 0, drops = 0;
	for (int i = 0; i < w->n_streams; i++) {
		const struct latency *l = w->streams[i].own;
		int64_t now = socket_drops(w->streams[i].fd);
		answers += l->order[PHASE_MEASURE];
		drops += now > l->drops ? now - l->drops : 0;
	}
	latency_add(result, "answers", answers);
	latency_add(result, "drops_all", drops);
}

/* What both count, of what comes in: probes at the server, answers at the client. */
void latency_report(struct worker *w, json_t *result)
{
	int64_t unique = 0, duplicated = 0, reordered = 0;
	double jitter = 0;
	bool stamps = true;
	for (int i = 0; i < w->n_streams; i++) {
		const struct latency *l = w->streams[i].own;
		unique += l->seq[PHASE_MEASURE].unique;
		duplicated += l->seq[PHASE_MEASURE].duplicated;
		reordered += l->seq[PHASE_MEASURE].reordered;
		jitter += l->jitter.ns / w->n_streams;
		stamps &= l->send_stamps;
	}
	latency_add(result, "packets", unique);
	latency_add(result, "unique", unique);
	latency_add(result, "duplicated", duplicated);
	latency_add(result, "reordered", reordered);
	json_object_set_new(result, "jitter_ns", json_real(jitter));
	json_object_set_new(result, "send_stamps", json_boolean(stamps));
	if (w->server)
		latency_report_server(w, result);
	else
		latency_report_client(w, result);
}

/* At the driver. */
struct latency_found {
	const struct engine_spec *spec;
	const json_t *client, *server;
	struct hist *hist[LATENCY_KINDS];
	int64_t sent, lost, lost_forward, lost_back;
};

static json_t *latency_dist(const struct hist *h)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = {{"p50", 0.5},	{"p75", 0.75},	 {"p90", 0.9},	   {"p95", 0.95},
			 {"p99", 0.99}, {"p999", 0.999}, {"p9999", 0.9999}};
	json_t *j = json_object();
	json_object_set_new(j, "count", json_integer(h->count));
	json_object_set_new(j, "mean", result_real(hist_mean(h)));
	json_object_set_new(j, "stddev", result_real(hist_stddev(h)));
	json_object_set_new(j, "min", h->count ? json_integer(h->min) : json_null());
	json_object_set_new(j, "max", h->count ? json_integer(h->max) : json_null());
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		json_object_set_new(j, quantiles[i].name,
				    result_real(hist_quantile(h, quantiles[i].q)));
	return j;
}

/* RFC 5481, 4.2: how much longer than the least delay, which is the same for all. */
static json_t *latency_pdv(const struct hist *h)
{
	json_t *j = json_object();
	double least = (double)h->min;
	json_object_set_new(j, "p50", result_real(hist_quantile(h, 0.5) - least));
	json_object_set_new(j, "p90", result_real(hist_quantile(h, 0.9) - least));
	json_object_set_new(j, "p99", result_real(hist_quantile(h, 0.99) - least));
	json_object_set_new(j, "p999", result_real(hist_quantile(h, 0.999) - least));
	return j;
}

static json_t *latency_way(const struct latency_found *f, bool back)
{
	const json_t *receiver = back ? f->client : f->server;
	const struct hist *delay = f->hist[back ? LATENCY_BACK : LATENCY_FORWARD];
	const struct hist *path = f->hist[back ? LATENCY_PATH_BACK : LATENCY_PATH_FORWARD];
	const struct hist *ipdv = f->hist[back ? LATENCY_IPDV_BACK : LATENCY_IPDV_FORWARD];
	json_t *j = json_object();
	json_object_set_new(j, "delay", latency_dist(delay));
	json_object_set_new(j, "path", latency_dist(path));
	json_object_set_new(j, "ipdv", latency_dist(ipdv));
	json_object_set_new(j, "pdv", latency_pdv(delay));
	json_object_set_new(j, "jitter_ns", result_real(result_number(receiver, "jitter_ns")));
	latency_add(j, "lost", back ? f->lost_back : f->lost_forward);
	latency_add(j, "duplicated", result_integer(receiver, "duplicated"));
	latency_add(j, "reordered", result_integer(receiver, "reordered"));
	return j;
}

/* Why there are no times of the drivers, of one end. */
static const char *latency_missing(const struct latency_found *f)
{
	bool client = f->hist[LATENCY_CLIENT_SEND]->count,
	     server = f->hist[LATENCY_SERVER_SEND]->count;
	if (client && server)
		return NULL;
	if (!json_is_true(json_object_get(f->client, "send_stamps")) ||
	    !json_is_true(json_object_get(f->server, "send_stamps")))
		return "the rate is too high to ask when each probe left, or this kernel cannot "
		       "tell";
	if (!client && !server)
		return "neither end's device tells when it sends";
	return client ? "the server's device does not tell when it sends"
		      : "the client's device does not tell when it sends";
}

static json_t *latency_host(const struct latency_found *f)
{
	static const enum latency_kind kinds[] = {LATENCY_CLIENT_SEND, LATENCY_CLIENT_RECEIVE,
						  LATENCY_SERVER_SEND, LATENCY_SERVER_RECEIVE,
						  LATENCY_TURNAROUND};
	const char *missing = latency_missing(f);
	json_t *j = json_object();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		json_object_set_new(j, latency_names[kinds[i]], latency_dist(f->hist[kinds[i]]));
	json_object_set_new(j, "missing", missing ? json_string(missing) : json_null());
	return j;
}

static json_t *latency_round_trip(const struct latency_found *f)
{
	json_t *j = json_object();
	json_object_set_new(j, "due", latency_dist(f->hist[LATENCY_ROUND_TRIP]));
	json_object_set_new(j, "sent", latency_dist(f->hist[LATENCY_FROM_SENT]));
	json_object_set_new(j, "less_host", latency_dist(f->hist[LATENCY_PATH_ROUND]));
	return j;
}

static json_t *latency_deadlines(const struct latency_found *f)
{
	json_t *list = json_array();
	for (size_t i = 0; f->sent > 0 && i < ARRAY_SIZE(latency_deadlines_ms); i++) {
		double ms = latency_deadlines_ms[i];
		int64_t in =
		    hist_at_most(f->hist[LATENCY_ROUND_TRIP], (int64_t)llround(ms * NSEC_PER_MSEC));
		json_array_append_new(list, json_pack("{s:f,s:f}", "within_ms", ms, "share",
						      (double)in / (double)f->sent));
	}
	return list;
}

static json_t *latency_histogram(const struct latency_found *f)
{
	static const enum latency_kind kinds[] = {LATENCY_ROUND_TRIP, LATENCY_FROM_SENT,
						  LATENCY_TIMER_ERROR, LATENCY_FORWARD,
						  LATENCY_BACK};
	json_t *j = json_object(), *hists = json_object_get(f->client, "hists");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		json_t *one = json_object_get(hists, latency_names[kinds[i]]);
		if (one)
			json_object_set(j, latency_names[kinds[i]], one);
	}
	return j;
}

static const char *latency_schedule(enum engine_schedule schedule)
{
	static const char *const names[] = {[SCHEDULE_PERIODIC] = "periodic",
					    [SCHEDULE_POISSON] = "poisson",
					    [SCHEDULE_UNIFORM] = "uniform",
					    [SCHEDULE_NORMAL] = "normal"};
	return names[schedule];
}

static json_t *latency_detail(const struct latency_found *f)
{
	static const char *const counts[] = {"answered", "lost",   "late",
					     "refused",	 "strays", "stamps_strange"};
	json_t *j = json_object();
	json_object_set_new(j, "schedule", json_string(latency_schedule(f->spec->schedule)));
	json_object_set_new(j, "rate_pps", result_real(latency_rate(f->spec)));
	latency_add(j, "timeout_ns", latency_timeout(f->spec));
	latency_add(j, "seed", result_integer(f->client, "seed"));
	latency_add(j, "sent", f->sent);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		latency_add(j, counts[i], result_integer(f->client, counts[i]));
	json_object_set_new(j, "round_trip", latency_round_trip(f));
	json_object_set_new(j, "timer_error", latency_dist(f->hist[LATENCY_TIMER_ERROR]));
	json_object_set_new(j, "forward", latency_way(f, false));
	json_object_set_new(j, "back", latency_way(f, true));
	json_object_set_new(j, "host", latency_host(f));
	json_object_set_new(j, "deadline", latency_deadlines(f));
	json_object_set(j, "clock", json_object_get(f->client, "clock"));
	json_object_set_new(j, "histogram", latency_histogram(f));
	return j;
}

/* Of those never answered, which way: the server knows what it saw and what it answered. */
static void latency_losses(struct latency_found *f)
{
	int64_t seen = result_integer(f->server, "unique");
	f->sent = result_integer(f->client, "packets");
	f->lost = result_integer(f->client, "lost");
	f->lost_forward = f->sent > seen ? f->sent - seen : 0;
	if (f->lost_forward > f->lost)
		f->lost_forward = f->lost;
	f->lost_back = f->lost - f->lost_forward;
}

static void latency_fill(const struct latency_found *f, struct engine_result *out)
{
	double seconds = (double)out->client.window_ns / 1e9;
	int64_t here = result_integer(f->server, "drops_all");
	out->seed = result_integer(f->client, "seed");
	out->lost = f->lost;
	out->lost_host = here < f->lost_forward ? here : f->lost_forward;
	out->drops_all = here;
	out->loss = f->sent > 0 ? (double)f->lost / (double)f->sent : 0;
	out->late = result_integer(f->client, "late");
	out->refused = result_integer(f->client, "refused");
	out->duplicated =
	    result_integer(f->server, "duplicated") + result_integer(f->client, "duplicated");
	out->reordered =
	    result_integer(f->server, "reordered") + result_integer(f->client, "reordered");
	out->pps = seconds > 0 ? (double)result_integer(f->client, "answered") / seconds : 0;
	out->sent_pps = seconds > 0 ? (double)f->sent / seconds : 0;
	out->offered_pps = latency_rate(f->spec);
	out->offered_bps = out->offered_pps * (double)f->spec->size * 8;
	result_dist(f->hist[LATENCY_ROUND_TRIP], &out->latency);
	result_dist(f->hist[LATENCY_FORWARD], &out->delay);
}

void latency_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
		   struct engine_result *out)
{
	struct latency_found f = {.spec = s, .client = client, .server = server};
	const json_t *hists = json_object_get(client, "hists");
	for (int kind = 0; kind < LATENCY_KINDS; kind++) {
		const json_t *one = json_object_get(hists, latency_names[kind]);
		f.hist[kind] = hist_new();
		if (one)
			hist_parse(one, f.hist[kind]); /* what is no histogram leaves it empty */
	}
	latency_losses(&f);
	latency_fill(&f, out);
	out->detail = latency_detail(&f);
	for (int kind = 0; kind < LATENCY_KINDS; kind++)
		hist_free(f.hist[kind]);
}
