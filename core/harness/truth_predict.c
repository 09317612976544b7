// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * truth_predict: what the model says a flow gets. It follows the flow hop by hop: each limit on the
 * way cuts it, each impaired link then takes its share. A limit of bits per second is turned into
 * packets by header arithmetic (truth.c). Called by attempt.c; reads nothing from the kernel.
 */
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "core/base/units.h"
#include "core/harness/truth.h"

enum {
	IPV6_FRAGMENT = 8,
	SEGMENTS_PER_ACK = 2, /* RFC 1122, 4.2.3.2: at least one for every second full segment */
	QUEUE_FRAMES = 1000,  /* of a rate that declares no queue (emulator/shaper) */
	ETHERNET_HEADER = 14,
	TRACE_BYTES = 1504, /* of one opportunity of a delivery trace */
};

#define ACKS_SHARE "acknowledgements share it, 1 per 2 segments (RFC 1122) to none"
#define ACKS_ALONE                                                                                 \
	"acknowledgements share it, 1 per segment (the delayed one's timer runs out) to none"
#define SHARE 1e-6 /* impairments are in parts per million */

/*
 * TCP fills a path with delay only when its window and the queue allow it. Buffers: Linux grows
 * them to 4 MiB (sending) and 6 MiB (receiving), of which bookkeeping takes about half. Queue:
 * after a loss CUBIC goes down to 0.7 (RFC 9438), so the queue must hold 0.3/0.7 of what the path
 * holds for the link to stay busy.
 */
#define WINDOW_BYTES 2e6

/*
 * A delayed acknowledgement waits for the second segment for 40 ms at least (TCP_DELACK_MIN in
 * Linux's net/tcp.h), longer when segments were seen to come slower than that; close to it both
 * happen.
 */
#define DELAYED_ACK_S 0.035
#define CUBIC_QUEUE   (0.3 / 0.7)

struct flow {
	const struct wire *w;
	const struct path *forward, *back;
	const struct truth_traffic *t;
	struct truth_predicted *out;
	double low, high; /* packets per second so far; HUGE_VAL: not limited */
	int shaper;	  /* the device that limits it, or -1 */
};

struct load {		   /* what one shaper carries for each packet of the flow */
	double data, acks; /* charged bytes */
	double data_packets, ack_packets;
	int64_t ack_bytes; /* one acknowledgement */
	/* A second, whatever the flow does: answers of an opposite flow of known rate. */
	double other_bytes, other_packets;
};

/* One packet of the flow with all its fragments (RFC 791, RFC 8200: multiples of 8 bytes). */
static void add_packet(const struct flow *f, enum rate_basis basis, int encap, struct load *load)
{
	const struct truth_traffic *t = f->t;
	int64_t ip_bytes = f->out->payload_bytes + truth_headers(t);
	int headers = truth_ip_header(t) + (t->family == AF_INET6 ? IPV6_FRAGMENT : 0);
	int64_t left = ip_bytes - truth_ip_header(t), most = truth_fragment(t, f->out->mtu);

	if (ip_bytes <= f->out->mtu || most <= 0) {
		load->data += (double)truth_charged(basis, ip_bytes, encap);
		load->data_packets++;
		return;
	}
	for (; left > 0; left -= most) {
		int64_t bytes = (left < most ? left : most) + headers;

		load->data += (double)truth_charged(basis, bytes, encap);
		load->data_packets++;
	}
}

/* Adds what crosses `shaper` along `p`: full packets, or acknowledgements of them. */
static void add_way(const struct flow *f, const struct path *p, int shaper, bool acks,
		    struct load *load)
{
	enum rate_basis basis = f->w->devs.v[shaper].egress.rate.basis;

	VEC_FOREACH (hop, &p->hops) {
		if (hop->shaper != shaper)
			continue;
		if (!acks) {
			add_packet(f, basis, hop->encap_bytes, load);
			continue;
		}
		load->ack_bytes = truth_charged(basis, truth_headers(f->t), hop->encap_bytes);
		load->acks += (double)load->ack_bytes / SEGMENTS_PER_ACK;
		load->ack_packets += 1.0 / SEGMENTS_PER_ACK;
	}
}

static bool on_the_way(const struct path *p, int shaper)
{
	VEC_FOREACH (hop, &p->hops) {
		if (hop->shaper == shaper)
			return true;
	}
	return false;
}

/* An opposite flow whose rate is known, and whose answers only are met here. */
static void add_other(const struct flow *f, int shaper, struct load *load)
{
	struct load answers = {0};

	add_way(f, f->forward, shaper, true, &answers);
	load->other_bytes = answers.acks * f->t->opposite_pps;
	load->other_packets = answers.ack_packets * f->t->opposite_pps;
}

static void load_of(const struct flow *f, int shaper, struct load *load)
{
	bool acks = f->t->protocol == IPPROTO_TCP && f->back;

	*load = (struct load){0};
	add_way(f, f->forward, shaper, false, load);
	if (acks)
		add_way(f, f->back, shaper, true, load);
	if (!f->t->opposite || !f->back)
		return;
	if (f->t->opposite_pps > 0 && !on_the_way(f->back, shaper)) {
		if (acks)
			add_other(f, shaper, load);
		return;
	}
	add_way(f, f->back, shaper, false, load);
	if (acks)
		add_way(f, f->forward, shaper, true, load);
}

/* ---- limits ---- */

struct limit {
	enum truth_limit kind;
	double value;	  /* bit/s … */
	bool packets;	  /* … or packets/s */
	double low, high; /* packets of the flow per second */
	const char *why;  /* low and high differ, or NULL */
};

static void cut(struct flow *f, int shaper, const struct limit *l, const struct load *load)
{
	const struct wire_dev *d = &f->w->devs.v[shaper];
	const char *link = d->egress_link >= 0 ? f->w->links.v[d->egress_link].name : d->name;

	if (l->high < f->high)
		f->high = l->high;
	if (l->low >= f->low)
		return;
	f->low = l->low;
	f->shaper = f->out->shaper = shaper;
	f->out->limit = l->kind;
	f->out->limit_value = l->value;
	f->out->limit_packets = l->packets;
	f->out->rate_bps = d->egress.rate.bps;
	f->out->basis = d->egress.rate.basis;
	f->out->charged_bytes = l->kind == LIMIT_PACKETS ? 0 : (int64_t)load->data;
	f->out->ack_bytes = load->ack_bytes;
	f->out->assumption = l->why;
	snprintf(f->out->link, sizeof(f->out->link), "%s", link);
}

/*
 * The least packets a second of the flow where `rate` of something is to carry `data` of it for
 * each and `acks` where every second segment is acknowledged; why it is not rate / data, or NULL.
 */
static double least(const struct flow *f, double rate, double data, double acks, const char **why)
{
	int streams = f->t->streams > 1 ? f->t->streams : 1;
	bool alone = acks > 0 && streams * (data + acks) > rate * DELAYED_ACK_S;

	*why = acks <= 0 ? NULL : alone ? ACKS_ALONE : ACKS_SHARE;
	return rate / (data + (alone ? SEGMENTS_PER_ACK : 1) * acks);
}

static double rest(double of, double taken)
{
	return taken < of ? of - taken : 0;
}

static void cut_rate(struct flow *f, int shaper, const struct load *load)
{
	const struct wire_rate *r = &f->w->devs.v[shaper].egress.rate;
	double base = (double)r->bps / 8, most = (double)(r->burst_bps ? r->burst_bps : r->bps) / 8;
	struct limit l = {.kind = LIMIT_RATE, .value = (double)r->bps, .high = most / load->data};

	l.low = least(f, rest(base, load->other_bytes), load->data, load->acks, &l.why);
	if (load->other_bytes > 0 && !l.why)
		l.why = ACKS_SHARE;
	if (r->burst_bps)
		l.why = "the base rate, and the burst rate while there is credit";

	if (r->bps)
		cut(f, shaper, &l, load);
}

static void cut_packets(struct flow *f, int shaper, const struct load *load)
{
	double pps = (double)f->w->devs.v[shaper].egress.pps.pps;
	struct limit l = {
	    .kind = LIMIT_PACKETS, .value = pps, .packets = true, .high = pps / load->data_packets};

	l.low =
	    least(f, rest(pps, load->other_packets), load->data_packets, load->ack_packets, &l.why);
	if (load->other_packets > 0 && !l.why)
		l.why = ACKS_SHARE;
	if (pps > 0)
		cut(f, shaper, &l, load);
}

/* Which queue a flow is hashed to is not known beforehand: several may share one. */
static void cut_queues(struct flow *f, int shaper, const struct load *load)
{
	const struct wire_queues *q = &f->w->devs.v[shaper].egress.queues;
	int streams = f->t->streams > 1 ? f->t->streams : 1;
	int most = streams < q->count ? streams : q->count;
	double bits = (double)q->bps_each / 8 / load->data;
	double packets = (double)q->pps_each / load->data_packets;
	double one = !q->bps_each ? packets : !q->pps_each || bits < packets ? bits : packets;
	struct limit l = {.kind = LIMIT_QUEUE,
			  .value = one == bits ? (double)q->bps_each : (double)q->pps_each,
			  .packets = one != bits,
			  .low = one,
			  .high = one * most,
			  .why = most > 1 ? "all flows in one queue to each in its own" : NULL};

	if (q->count > 1 && (q->bps_each || q->pps_each))
		cut(f, shaper, &l, load);
}

static void cut_flow(struct flow *f, int shaper, const struct load *load)
{
	int64_t bps = f->w->devs.v[shaper].egress.flow_bps;
	int streams = f->t->streams > 1 ? f->t->streams : 1;
	double one = (double)bps / 8 / load->data;
	struct limit l = {.kind = LIMIT_FLOW,
			  .value = (double)bps,
			  .low = one,
			  .high = one * streams,
			  .why = streams > 1 ? "all flows in one slot to each in its own" : NULL};

	if (bps)
		cut(f, shaper, &l, load);
}

static void pass_shaper(struct flow *f, int shaper)
{
	const struct wire_shape *s = &f->w->devs.v[shaper].egress;
	struct load load;

	if (!wire_shape_any(s))
		return;
	load_of(f, shaper, &load);
	cut_rate(f, shaper, &load);
	cut_packets(f, shaper, &load);
	cut_queues(f, shaper, &load);
	cut_flow(f, shaper, &load);
}

/* ---- impairments ---- */

static void give_up(struct flow *f, const char *link, const char *why)
{
	if (!f->out->unknown[0])
		snprintf(f->out->unknown, sizeof(f->out->unknown), "%s: %s", link, why);
}

static double loss_share(const struct wire_impair *i)
{
	double bad;

	switch (i->loss) {
	case LOSS_NONE:
	case LOSS_AFTER: /* given up before */
		return 0;
	case LOSS_RANDOM:
		return i->loss_ppm * SHARE;
	case LOSS_EVERY:
		return i->loss_every > 0 ? 1.0 / (double)i->loss_every : 0;
	case LOSS_BURSTS: /* share of time in the bad state, from the two transitions */
		if (!i->to_bad_ppm)
			return i->good_loss_ppm * SHARE;
		bad = (double)i->to_bad_ppm / ((double)i->to_bad_ppm + i->to_good_ppm);
		return (bad * i->bad_loss_ppm + (1 - bad) * i->good_loss_ppm) * SHARE;
	}
	return 0;
}

static double flap_share(const struct wire_impair *i)
{
	double period = (double)i->flap_up_ns + (double)i->flap_down_ns;

	return i->flap_down_ns > 0 ? (double)i->flap_down_ns / period : 0;
}

/* Opportunities that a frame uses up: a trace delivers bytes, and frames may span two of them. */
static void pass_trace(struct flow *f, const struct wire_link *l, const struct wire_impair *i)
{
	double period_s = (double)i->trace_ms[i->trace_n - 1] / 1000;
	double bytes = (double)(f->out->payload_bytes + truth_headers(f->t) + ETHERNET_HEADER);
	double pps = (double)i->trace_n * TRACE_BYTES / bytes / period_s;

	if (pps > f->high)
		return;
	f->low = f->high = pps;
	f->out->limit = LIMIT_TRACE;
	f->out->limit_packets = false;
	f->out->limit_value = (double)i->trace_n * TRACE_BYTES * 8 / period_s;
	f->out->rate_bps = (int64_t)f->out->limit_value;
	f->out->basis = BASIS_L2;
	f->out->charged_bytes = (int64_t)bytes;
	f->out->ack_bytes = 0;
	f->out->assumption = NULL;
	snprintf(f->out->link, sizeof(f->out->link), "%s", l->name);
}

static void pass_udp(struct flow *f, const struct wire_link *l, const struct wire_impair *i)
{
	double share;

	if (i->loss == LOSS_AFTER)
		give_up(f, l->name, "all packets after the first few are lost");
	if (i->trace_n)
		pass_trace(f, l, i);
	share = (1 - loss_share(i)) * (1 - flap_share(i)) * (1 - i->corruption_ppm * SHARE);
	if (i->black_hole && f->out->payload_bytes + truth_headers(f->t) > i->black_hole)
		share = 0;
	f->low *= share;
	f->high *= share;
	f->out->delivered_share *= share;
}

static void pass_tcp(struct flow *f, const struct wire_link *l, const struct wire_impair *i)
{
	if (i->loss != LOSS_NONE || i->corruption_ppm || i->flap_down_ns)
		give_up(f, l->name, "TCP's answer to loss is its own");
	else if (i->reordering_ppm || (i->jitter_ns && l->engine == IMPAIR_NETEM))
		give_up(f, l->name, "TCP's answer to reordering is its own");
	else if (i->black_hole)
		give_up(f, l->name, "its black hole takes full segments");
	else if (i->trace_n)
		give_up(f, l->name, "TCP's answer to a changing rate is its own");
}

/* The impaired link that a hop enters, and what it does that way; NULL: none. */
static const struct wire_link *link_at(const struct wire *w, const struct path_hop *hop,
				       const struct wire_impair **i)
{
	const struct wire_link *l = hop->impair_link < 0 ? NULL : &w->links.v[hop->impair_link];

	*i = !l ? NULL : hop->impair_ba ? &l->impair_ba : &l->impair_ab;
	return l;
}

static void pass_link(struct flow *f, const struct path_hop *hop)
{
	const struct wire_impair *i;
	const struct wire_link *l = link_at(f->w, hop, &i);

	if (!l)
		return;
	if (f->t->protocol == IPPROTO_UDP)
		pass_udp(f, l, i);
	else
		pass_tcp(f, l, i);
}

/* ---- TCP with delay ---- */

static double delay_s(const struct wire *w, const struct path *p)
{
	const struct wire_impair *i;
	double sum = 0;

	VEC_FOREACH (hop, &p->hops)
		if (link_at(w, hop, &i))
			sum += (double)i->delay_ns;
	return sum / (double)NSEC_PER_SEC;
}

static bool has_policer(const struct flow *f)
{
	VEC_FOREACH (hop, &f->forward->hops) {
		const struct wire_shape *s =
		    hop->shaper >= 0 ? &f->w->devs.v[hop->shaper].egress : NULL;

		if (s && ((s->rate.bps && s->rate.police) || (s->pps.pps && s->pps.police)))
			return true;
	}
	return false;
}

static void check_tcp(struct flow *f)
{
	double rtt_s = delay_s(f->w, f->forward) + (f->back ? delay_s(f->w, f->back) : 0);
	double bits = (double)f->out->payload_bytes * 8, held = f->low * bits / 8 * rtt_s;
	const struct wire_rate *r = f->shaper < 0 ? NULL : &f->w->devs.v[f->shaper].egress.rate;
	double queue;

	if (has_policer(f))
		give_up(f, f->out->link, "TCP's answer to a policer is its own");
	if (!r || rtt_s <= 0)
		return;
	queue = r->queue_bytes ? (double)r->queue_bytes
		: r->queue_ns  ? (double)r->bps / 8 * (double)r->queue_ns / (double)NSEC_PER_SEC
			       : (double)QUEUE_FRAMES * (f->out->mtu + ETHERNET_HEADER);
	if (held + queue > WINDOW_BYTES && held > WINDOW_BYTES / 2)
		give_up(f, f->out->link, "more bytes are on the way than TCP's buffers hold");
	else if (queue < held * CUBIC_QUEUE)
		give_up(f, f->out->link, "its queue is too short for TCP to fill a path this long");
}

/* A narrow way back holds TCP up when even one acknowledgement for two segments fills it. */
static void check_way_back(struct flow *f)
{
	VEC_FOREACH (hop, &f->back->hops) {
		struct load load = {0};
		double most;

		if (hop->shaper < 0 || on_the_way(f->forward, hop->shaper))
			continue;
		add_way(f, f->back, hop->shaper, true, &load);
		most = (double)f->w->devs.v[hop->shaper].egress.rate.bps / 8 / load.acks;
		if (most > 0 && most < f->low)
			give_up(f, f->w->devs.v[hop->shaper].name,
				"acknowledgements fill the way back");
	}
}

/* ---- the whole ---- */

static void finish(struct flow *f)
{
	struct truth_predicted *out = f->out;
	double bits = (double)out->payload_bytes * 8;

	out->known = isfinite(f->low) && !out->unknown[0];
	if (!out->known)
		return;
	out->low_pps = f->low;
	out->high_pps = f->high;
	out->pps = out->low_pps;
	out->goodput_bps = out->pps * bits;
	out->low_bps = out->low_pps * bits;
	out->high_bps = out->high_pps * bits;
	/* What is a range for another reason says that one. */
	if (out->low_pps >= out->high_pps)
		out->assumption = NULL;
}

static void start_at_offer(struct flow *f)
{
	double bits = (double)f->out->payload_bytes * 8;

	if (f->t->offered_pps <= 0)
		return;
	f->low = f->high = f->t->offered_pps;
	f->out->limit = LIMIT_SENDER;
	f->out->limit_value = f->t->offered_pps;
	f->out->limit_packets = true;
	f->out->rate_bps = (int64_t)(f->t->offered_pps * bits);
	snprintf(f->out->link, sizeof(f->out->link), "the sender's own rate");
}

void truth_predict(const struct wire *w, const struct path *forward, const struct path *back,
		   const struct truth_traffic *t, struct truth_predicted *out)
{
	struct flow f = {.w = w,
			 .forward = forward,
			 .back = back,
			 .t = t,
			 .out = out,
			 .low = HUGE_VAL,
			 .high = HUGE_VAL,
			 .shaper = -1};

	memset(out, 0, sizeof(*out));
	out->delivered_share = 1;
	out->shaper = -1;
	out->scale_num = w->scale_num;
	out->scale_den = w->scale_den;
	out->mtu = forward->mtu;
	out->payload_bytes =
	    t->protocol == IPPROTO_UDP ? t->payload : truth_segment(t, forward->mtu);
	start_at_offer(&f);
	VEC_FOREACH (hop, &forward->hops) {
		if (hop->shaper >= 0)
			pass_shaper(&f, hop->shaper);
		pass_link(&f, hop);
	}
	if (t->protocol == IPPROTO_TCP)
		check_tcp(&f);
	if (t->protocol == IPPROTO_TCP && back)
		check_way_back(&f);
	finish(&f);
}
