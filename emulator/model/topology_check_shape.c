/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_check_shape: what the figures of a direction or a card say against each other and
 * against the MTU: rates, queues, bursts, packets a second, impairments. It also reads delivery
 * traces, whose texts the topology's reader brought. Called by topology_check.c.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/units.h"
#include "emulator/model/parse.h"

#define FRAME_BYTES   14		     /* Ethernet header: a queue holds frames */
#define DELAY_BYTES   (INT64_C(64) << 20)    /* most that one direction keeps on the way */
#define DELAY_MAX_NS  (60 * NSEC_PER_SEC)    /* where no rate bounds it */
#define CREDIT_MAX_NS (86400 * NSEC_PER_SEC) /* a day */
#define TRACE_LINES   4000000
#define TRACE_MS_MAX  INT64_C(86400000) /* a day */

struct place { /* what is checked */
	const struct cloud_rate *rate;
	const struct wire_pps *pps;
	struct mark pps_at;
	int mtu;
};

static bool is_set(struct mark at)
{
	return at.line || at.file;
}

/* ---- rates ---- */

static void check_queue(const struct cloud_rate *r, int mtu, struct problems *p)
{
	double bytes = (double)r->rate.queue_bytes;

	if (!is_set(r->queue_at))
		return;
	if (r->rate.police) {
		problems_add(p, r->queue_at,
			     "what is policed does not wait; leave 'queue' out, or write 'rate' "
			     "instead of 'police'");
		return;
	}
	if (r->rate.queue_ns)
		bytes = (double)r->rate.queue_ns * (double)r->rate.bps / 8e9;
	if (bytes < mtu + FRAME_BYTES)
		problems_add(p, r->queue_at, "a queue of %.0f bytes does not hold one frame of %d",
			     floor(bytes), mtu + FRAME_BYTES);
}

static void check_burst(const struct cloud_rate *r, int mtu, struct problems *p)
{
	double credit = (double)(r->rate.burst_bps - r->rate.bps) * (double)r->rate.credit_ns / 8e9;

	if (r->rate.police_bytes && r->rate.police_bytes < mtu + FRAME_BYTES)
		problems_add(p, r->at,
			     "a burst of %" PRId64 " bytes does not let one frame of %d through",
			     r->rate.police_bytes, mtu + FRAME_BYTES);
	if (!r->rate.burst_bps)
		return;
	if (r->rate.credit_ns > CREDIT_MAX_NS)
		problems_add(p, r->at, "a credit of more than a day is no burst; write less");
	else if (credit < mtu + FRAME_BYTES)
		problems_add(p, r->at,
			     "a burst of %.0f bytes (above the base rate, for the time of the "
			     "credit) is less than one frame of %d; write a longer credit",
			     floor(credit), mtu + FRAME_BYTES);
}

static void check_rate(const struct place *at, struct problems *p)
{
	const struct cloud_rate *r = at->rate;

	if (is_set(r->queue_at) && !r->rate.bps && !at->pps->pps) {
		problems_add(p, r->queue_at, "a queue needs a rate");
		return;
	}
	if (r->rate.bps || r->rate.queue_bytes)
		check_queue(r, at->mtu, p);
	check_burst(r, at->mtu, p);
	if (is_set(r->queue_at) && r->rate.queue_ns && !r->rate.bps)
		problems_add(p, r->queue_at,
			     "a queue in time needs a rate; with packets a second alone write how "
			     "much may wait, like 64KiB");
}

/* Packets cannot be counted where super-packets pass. */
static void check_fast(const struct place *at, const char *what, struct problems *p)
{
	if (at->rate->rate.mode == SHAPE_FAST)
		problems_add(p, is_set(at->rate->mode_at) ? at->rate->mode_at : at->pps_at,
			     "mode 'fast' lets super-packets pass, with which no '%s' is exact; "
			     "write mode: exact, or leave it out",
			     what);
}

static void check_shape(const struct place *at, struct problems *p)
{
	check_rate(at, p);
	if (at->pps->pps)
		check_fast(at, "pps", p);
}

/* ---- cards ---- */

void topology_check_caps(const struct cloud_caps *c, int mtu, struct problems *p)
{
	struct place at = {.rate = &c->rate, .pps = &c->pps, .pps_at = c->pps_at, .mtu = mtu};

	check_shape(&at, p);
	if (c->queues.count > 1)
		check_fast(&at, "queues", p);
	if (c->flow_bps)
		check_fast(&at, "per_flow", p);
	if (is_set(c->direction_at) && c->direction != DIRECTION_EACH && !c->rate.rate.bps &&
	    !c->pps.pps)
		problems_add(p, c->direction_at,
			     "direction says how rate and pps count, and there is neither");
}

static void check_vms(const struct topology *t, struct problems *p)
{
	VEC_FOREACH (vm, &t->vms) {
		VEC_FOREACH (v, &vm->vnics) {
			int net = v->network.index;
			int mtu = net >= 0 ? cloud_network_mtu(t, &t->networks.v[net]) : CLOUD_MTU;

			topology_check_caps(&v->caps, v->caps.mtu.v ? v->caps.mtu.v : mtu, p);
		}
	}
}

/* ---- delivery traces ---- */

static void bad_trace(struct problems *p, const struct cloud_file *f, int line, const char *text)
{
	problems_add(p, (struct mark){.file = f->name, .line = line, .column = 1}, "%s", text);
}

/* One line of a trace; false after a problem. */
static bool read_line(const char *s, size_t len, int64_t *ms)
{
	*ms = 0;
	while (len && (s[len - 1] == '\r' || s[len - 1] == ' '))
		len--;
	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9' || *ms > TRACE_MS_MAX)
			return false;
		*ms = *ms * 10 + (s[i] - '0');
	}
	return *ms <= TRACE_MS_MAX;
}

struct trace {
	VEC(int64_t) ms;
};

/* mahimahi(1), mm-link: each line is the millisecond at which 1,504 bytes may pass. */
static bool read_trace(struct topology *t, const struct cloud_file *f, struct trace *out,
		       struct problems *p)
{
	const char *s = f->text, *end = f->text + f->len;
	int64_t ms, last = 0;

	for (int line = 1; s < end; line++) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));
		size_t len = (size_t)((stop ? stop : end) - s);

		if (!read_line(s, len, &ms)) {
			bad_trace(
			    p, f, line,
			    "a line of a delivery trace is a whole number of milliseconds, at "
			    "most a day");
			return false;
		}
		if (ms < last) {
			bad_trace(
			    p, f, line,
			    "the times of a delivery trace must rise; this is before the line "
			    "above");
			return false;
		}
		if (line > TRACE_LINES) {
			bad_trace(p, f, line, "a delivery trace has at most 4,000,000 lines");
			return false;
		}
		*VEC_ADD(&t->arena, &out->ms) = last = ms;
		s += len + 1;
	}
	if (out->ms.n && last)
		return true;
	bad_trace(p, f, 1,
		  out->ms.n ? "the last line of a delivery trace is its period: it must be above 0"
			    : "the delivery trace is empty");
	return false;
}

static const struct cloud_file *find_file(const struct topology *t, const char *name)
{
	VEC_FOREACH (f, &t->files) {
		if (str_eq(f->name, name))
			return f;
	}
	return NULL;
}

static void check_trace(struct topology *t, struct cloud_impair *i, struct problems *p)
{
	const struct cloud_file *f;
	struct trace trace = {0};

	if (!i->trace.s)
		return;
	f = find_file(t, i->trace.s);
	if (!f)
		problems_add(p, i->trace.at, "the delivery trace '%s' was not found", i->trace.s);
	if (!f || !f->text || !read_trace(t, f, &trace, p)) /* else it is told already why */
		return;
	i->impair.trace_ms = trace.ms.v;
	i->impair.trace_n = trace.ms.n;
}

/* ---- impairments ---- */

/* What is on the way is that of the scaled rate. */
static void check_delay(const struct topology *t, const struct cloud_impair *i,
			const struct wire_rate *r, struct problems *p)
{
	double scale = (double)t->scale_num / (double)t->scale_den;
	double bps = (double)(r->burst_bps ? r->burst_bps : r->bps) * scale;
	double bytes = (double)i->impair.delay_ns * bps / 8e9;
	char delay[32], rate[32], size[32];

	units_format_time(delay, sizeof(delay), i->impair.delay_ns);
	units_format_rate(rate, sizeof(rate), bps);
	if (bps > 0 && bytes > DELAY_BYTES)
		problems_add(p, i->delay_at,
			     "a delay of %s at %s keeps %s on the way, and at most 64 MiB have "
			     "room; write less of one of them",
			     delay, rate,
			     bytes < 9e18 ? units_format_size(size, sizeof(size), (int64_t)bytes)
					  : "far too much");
	else if (bps <= 0 && i->impair.delay_ns > DELAY_MAX_NS)
		problems_add(p, i->delay_at,
			     "a delay of %s is more than 60 s, the most where no rate bounds what "
			     "is on the way; write less, or a rate",
			     delay);
}

static void check_jitter(const struct cloud_impair *i, struct problems *p)
{
	char delay[32], jitter[32];

	if (i->impair.jitter_ns <= i->impair.delay_ns)
		return;
	units_format_time(delay, sizeof(delay), i->impair.delay_ns);
	units_format_time(jitter, sizeof(jitter), i->impair.jitter_ns);
	problems_add(p, i->jitter_at,
		     "a jitter of %s is more than the delay of %s, and no packet arrives before it "
		     "was sent; write a delay of at least %s",
		     jitter, delay, jitter);
}

static void check_impair(struct topology *t, struct cloud_impair *i, const struct place *at,
			 struct problems *p)
{
	check_trace(t, i, p);
	check_delay(t, i, &at->rate->rate, p);
	check_jitter(i, p);
	if (i->impair.black_hole >= at->mtu)
		problems_add(p, i->black_hole_at,
			     "a black hole above %" PRId64 " bytes never acts where the MTU is %d; "
			     "write less than %d",
			     i->impair.black_hole, at->mtu, at->mtu);
}

static struct place place_of(const struct cloud_shape *s, int mtu)
{
	return (struct place){.rate = &s->rate, .pps = &s->pps, .pps_at = s->pps_at, .mtu = mtu};
}

/* A shaper, a cap and an impairment see one wire frame each, so packets are made small before. */
static void check_big_tcp(const struct cloud_link *l, struct problems *p)
{
	for (int i = 0; l->big_tcp.v && i < 2; i++) {
		const struct cloud_shape *s = &l->dir[i];

		if (!s->rate.rate.bps && !s->pps.pps && !l->impair[i].impair.given)
			continue;
		problems_add(p, l->big_tcp.at,
			     "big_tcp: this link has a rate, a packet rate or an impairment, which "
			     "are exact only for single frames; leave one of them out");
		return;
	}
}

void topology_check_shapes(struct topology *t, struct problems *p)
{
	struct place at = place_of(&t->fabric.nic, cloud_fabric_mtu(t));

	if (!t->hosts.n)
		check_shape(&at, p);
	check_impair(t, &t->fabric.impair, &at, p);
	VEC_FOREACH (h, &t->hosts) {
		at = place_of(&h->nic, cloud_fabric_mtu(t));
		check_shape(&at, p);
	}
	check_vms(t, p);
	VEC_FOREACH (l, &t->links) {
		check_big_tcp(l, p);
		for (int i = 0; i < 2; i++) {
			at = place_of(&l->dir[i], l->mtu.v ? l->mtu.v : CLOUD_MTU);
			check_shape(&at, p);
			check_impair(t, &l->impair[i], &at, p);
		}
	}
}
