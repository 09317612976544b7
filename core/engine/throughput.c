/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * throughput: IxChariot's Throughput script. On one connection the client sends a file, the server
 * confirms it with one byte when all of it is there, and that is a transaction; again, `count`
 * times or until the duration is over, at least once. A stream is a pair.
 *
 * Time runs from before the first send until the confirmation is read, at the client, and so covers
 * half a round trip more than the transfer. Throughput is the bytes of all transactions over their
 * measured time, not the mean of their rates. Transactions that began in the warm-up do not count.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/result.h"
#include "core/engine/worker.h"
#include "core/stats/hist.h"

#define THROUGHPUT_WRITE (128 << 10)
#define THROUGHPUT_READ	 (256 << 10)

struct throughput {
	char *buf;
	size_t size;
	struct hist *time;	   /* client: ns a transaction */
	int64_t measured_ns;	   /* client: sum of those */
	double mean, squares;	   /* client: of the rates in bit/s (Welford) */
	int64_t first_ns, last_ns; /* client: first send, last confirmation */
};

static void throughput_defaults(struct engine_spec *s)
{
	s->size = THROUGHPUT_WRITE;
	s->warmup_ns = 0;
}

static int throughput_check(const struct engine_spec *s, struct err *err)
{
	return s->size ? 0 : err_input(err, "size: a write of 0 bytes moves nothing");
}

static void throughput_prepare(struct stream *s)
{
	struct throughput *t = mem_zalloc(sizeof(*t));
	t->size = s->w->server ? THROUGHPUT_READ : (size_t)s->w->spec.size;
	t->buf = mem_zalloc(t->size);
	t->time = hist_new();
	s->own = t;
}

static void throughput_release(struct stream *s)
{
	struct throughput *t = s->own;
	hist_free(t->time);
	free(t->buf);
	free(t);
}

static size_t throughput_part(const struct throughput *t, int64_t left)
{
	return left < (int64_t)t->size ? (size_t)left : t->size;
}

/* Sends a file and reads its confirmation; 0: the stream is over. */
static int64_t throughput_transfer(struct stream *s)
{
	struct throughput *t = s->own;
	for (int64_t left = s->w->spec.file_size; left > 0;) {
		ssize_t n = send(s->fd, t->buf, throughput_part(t, left), MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR) {
			run_fail(s, errno, "sending");
			return 0;
		}
		if (n > 0) {
			window_track_add(&s->track, clock_now_ns(), n);
			left -= n;
		}
	}
	char byte;
	ssize_t n;
	do
		n = recv(s->fd, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		run_fail(s, n ? errno : 0, "waiting for the confirmation");
	return n == 1 ? clock_now_ns() : 0;
}

static void throughput_record(struct stream *s, int64_t from, int64_t to)
{
	struct throughput *t = s->own;
	if (!t->first_ns)
		t->first_ns = from;
	t->last_ns = to;
	t->measured_ns += to - from;
	hist_add(t->time, to - from);
	double rate = (double)s->w->spec.file_size * 8e9 / (double)(to - from);
	double delta = rate - t->mean;
	t->mean += delta / (double)t->time->count;
	t->squares += delta * (rate - t->mean);
	s->packets_all++;
}

static void throughput_send(struct stream *s)
{
	const struct throughput *t = s->own;
	const struct engine_spec *spec = &s->w->spec;
	int64_t now = clock_now_ns();
	while (spec->count ? t->time->count < spec->count
			   : !t->time->count || now < s->w->win.end_ns) {
		int64_t from = now;
		now = throughput_transfer(s);
		if (!now)
			break;
		if (from >= s->w->win.begin_ns)
			throughput_record(s, from, now);
	}
	shutdown(s->fd, SHUT_WR);
}

/* Receives a file and confirms it; false: no more, or the stream is over. */
static bool throughput_confirm(struct stream *s)
{
	struct throughput *t = s->own;
	int64_t size = s->w->spec.file_size;
	for (int64_t left = size; left > 0;) {
		ssize_t n = recv(s->fd, t->buf, throughput_part(t, left), 0);
		if (n == 0 && left == size)
			return false;
		if (n == 0 || (n < 0 && errno != EINTR)) {
			run_fail(s, n ? errno : 0, "receiving");
			return false;
		}
		if (n > 0) {
			window_track_add(&s->track, clock_now_ns(), n);
			left -= n;
		}
	}
	if (send(s->fd, "", 1, MSG_NOSIGNAL) != 1) {
		run_fail(s, errno, "confirming");
		return false;
	}
	s->packets_all++;
	return true;
}

static void throughput_receive(struct stream *s)
{
	while (!worker_over(s->w) && throughput_confirm(s))
		;
}

static json_t *throughput_pair(const struct stream *s)
{
	const struct throughput *t = s->own;
	double bits = (double)s->w->spec.file_size * 8, n = (double)t->time->count;
	bool any = n > 0;
	json_t *j = json_pack("{s:i,s:I,s:I,s:f}", "stream", s->index, "transactions",
			      (json_int_t)t->time->count, "bytes",
			      (json_int_t)(t->time->count * s->w->spec.file_size), "measured_s",
			      (double)t->measured_ns / 1e9);
	json_object_set_new(j, "throughput_bps",
			    result_real(any ? n * bits * 1e9 / (double)t->measured_ns : NAN));
	json_object_set_new(j, "min_bps",
			    result_real(any ? bits * 1e9 / (double)t->time->max : NAN));
	json_object_set_new(j, "max_bps",
			    result_real(any ? bits * 1e9 / (double)t->time->min : NAN));
	json_object_set_new(j, "response_mean_s",
			    result_real(any ? hist_mean(t->time) / 1e9 : NAN));
	json_object_set_new(j, "response_min_s",
			    result_real(any ? (double)t->time->min / 1e9 : NAN));
	json_object_set_new(j, "response_max_s",
			    result_real(any ? (double)t->time->max / 1e9 : NAN));
	json_object_set_new(j, "rate_mean", json_real(t->mean));
	json_object_set_new(j, "rate_squares", json_real(t->squares));
	return j;
}

static void throughput_report(struct worker *w, json_t *result)
{
	if (w->server)
		return;
	struct hist *all = hist_new();
	json_t *pairs = json_array();
	int64_t first = INT64_MAX, last = 0, measured = 0;
	for (int i = 0; i < w->n_streams; i++) {
		const struct throughput *t = w->streams[i].own;
		hist_merge(all, t->time);
		json_array_append_new(pairs, throughput_pair(&w->streams[i]));
		measured += t->measured_ns;
		first = t->first_ns && t->first_ns < first ? t->first_ns : first;
		last = t->last_ns > last ? t->last_ns : last;
	}
	json_object_set_new(result, "pairs", pairs);
	json_object_set_new(result, "time", hist_json(all));
	json_object_set_new(result, "measured_ns", json_integer(measured));
	if (all->count) {
		json_object_set_new(result, "window_ns", json_integer(last - first));
		json_object_set_new(result, "bytes", json_integer(all->count * w->spec.file_size));
		json_object_set_new(result, "packets", json_integer(all->count));
	}
	hist_free(all);
}

/* A quantile of rates from one of times: the slow tail of one is the low end of the other. */
static double throughput_quantile(const struct hist *time, double q, double bits)
{
	return (double)time->count * (1 - q) >= 10 || q <= 0.5
		   ? bits * 1e9 / hist_quantile(time, 1 - q)
		   : NAN;
}

/* Mean and spread of rates over all pairs (Chan's update of Welford's sums). */
static double throughput_stddev(const json_t *pairs)
{
	double n = 0, mean = 0, squares = 0;
	size_t i;
	json_t *p;
	json_array_foreach(pairs, i, p)
	{
		double more = result_number(p, "transactions"),
		       delta = result_number(p, "rate_mean") - mean;
		if (more <= 0)
			continue;
		squares += result_number(p, "rate_squares") + delta * delta * n * more / (n + more);
		mean += delta * more / (n + more);
		n += more;
	}
	return n > 1 ? sqrt(squares / (n - 1)) : NAN;
}

static void throughput_rate(const struct hist *time, double bits, struct engine_dist *out)
{
	if (!time->count)
		return;
	out->count = time->count;
	out->min = bits * 1e9 / (double)time->max;
	out->max = bits * 1e9 / (double)time->min;
	out->p50 = throughput_quantile(time, 0.5, bits);
	out->p90 = throughput_quantile(time, 0.9, bits);
	out->p99 = throughput_quantile(time, 0.99, bits);
	out->p999 = throughput_quantile(time, 0.999, bits);
}

static void throughput_merge(const struct engine_spec *s, const json_t *client,
			     const json_t *server, struct engine_result *out)
{
	struct hist *time = hist_new();
	if (hist_parse(json_object_get(client, "time"), time))
		hist_reset(time);
	double bits = (double)s->file_size * 8;
	result_dist(time, &out->latency);
	throughput_rate(time, bits, &out->rate);
	double measured = result_number(client, "measured_ns");
	if (time->count) {
		out->rate.mean = (double)time->count * bits * 1e9 / measured;
		out->goodput_bps = 8e9 * (double)out->client.bytes / (double)out->client.window_ns;
		out->sent_bps = out->goodput_bps;
		out->pps = 1e9 * (double)time->count / (double)out->client.window_ns;
	}
	if (!time->count && result_integer(server, "window_ns") > 0) /* of the part that came */
		out->goodput_bps = 8e9 * result_number(server, "bytes") /
				   (double)result_integer(server, "window_ns");
	out->pairs = json_deep_copy(json_object_get(client, "pairs"));
	out->rate.stddev = throughput_stddev(out->pairs);
	size_t i;
	json_t *p;
	json_array_foreach(out->pairs, i, p)
	{
		json_object_del(p, "rate_mean");
		json_object_del(p, "rate_squares");
	}
	hist_free(time);
}

static const char *const throughput_aliases[] = {"throughput.scr", "ixchariot", NULL};

const struct engine_def throughput_engine = {
    .test = TEST_THROUGHPUT,
    .name = "throughput",
    .aliases = throughput_aliases,
    .files = true,
    .open_end = true,
    .unit = UNIT_BYTES,
    .max_gap_ns = {100 * NSEC_PER_MSEC, INT64_MAX},
    .defaults = throughput_defaults,
    .check = throughput_check,
    .prepare = throughput_prepare,
    .body = {throughput_receive, throughput_send},
    .release = throughput_release,
    .report = throughput_report,
    .merge = throughput_merge,
};
