// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * truth: what an ideal meter would read. Header arithmetic over a path of the wire model, and the
 * comparison of the kernel's two counters with each other and with the engine's claim. Reads
 * nothing from the kernel itself and knows no verdicts. Called by pair.c.
 */
#include "core/harness/truth.h"

#include <math.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/units.h"

enum {
	ETHERNET_HEADER = 14,
	L1_OVERHEAD = 24, /* FCS 4, preamble and delimiter 8, gap 12 (IEEE 802.3, 4A.4.2) */
	L1_LEAST = 84,	  /* the 64-byte minimum frame with preamble and gap */
	IPV4_HEADER = 20,
	IPV6_HEADER = 40,
	IPV6_FRAGMENT = 8,
	TCP_HEADER = 20,
	TCP_TIMESTAMPS = 12,
	UDP_HEADER = 8,
	SEGMENTS_PER_ACK = 2, /* RFC 1122, 4.2.3.2: at least one for every second full segment */
};

static int ip_header(const struct truth_traffic *t)
{
	return t->family == AF_INET6 ? IPV6_HEADER : IPV4_HEADER;
}

int truth_headers(const struct truth_traffic *t)
{
	if (t->protocol == IPPROTO_UDP)
		return ip_header(t) + UDP_HEADER;
	return ip_header(t) + TCP_HEADER + (t->timestamps ? TCP_TIMESTAMPS : 0);
}

int64_t truth_charged(enum rate_basis basis, int64_t ip_bytes, int encap_bytes)
{
	int64_t bytes = ip_bytes + encap_bytes;

	switch (basis) {
	case BASIS_L3:
		return bytes;
	case BASIS_L2:
		return bytes + ETHERNET_HEADER;
	case BASIS_L1:
		bytes += ETHERNET_HEADER + L1_OVERHEAD;
		return bytes > L1_LEAST ? bytes : L1_LEAST;
	}
	return bytes;
}

/* One packet of the flow with all its fragments (RFC 791, RFC 8200: multiples of 8 bytes). */
static int64_t charged_packet(const struct truth_traffic *t, enum rate_basis basis, int mtu,
			      const struct truth_predicted *out, int encap)
{
	int64_t ip_bytes = out->payload_bytes + truth_headers(t), sum = 0;
	int headers = ip_header(t) + (t->family == AF_INET6 ? IPV6_FRAGMENT : 0);
	int64_t left = ip_bytes - ip_header(t), most = (mtu - headers) & ~7;

	if (ip_bytes <= mtu || most <= 0)
		return truth_charged(basis, ip_bytes, encap);
	for (; left > 0; left -= most)
		sum += truth_charged(basis, (left < most ? left : most) + headers, encap);
	return sum;
}

struct load {		   /* what one direction of one link carries for each packet of the flow */
	double data, acks; /* charged bytes */
	int64_t ack_bytes; /* one acknowledgement */
};

/*
 * Adds what crosses `shaper` on its way along `p`: full packets, or acknowledgements, of which
 * there is one for every second packet.
 */
static void add_way(const struct wire_dev *d, const struct path *p, int shaper,
		    const struct truth_traffic *t, const struct truth_predicted *out,
		    struct load *load, bool acks)
{
	VEC_FOREACH (hop, &p->hops) {
		if (hop->shaper != shaper)
			continue;
		if (!acks) {
			load->data += (double)charged_packet(t, d->egress.rate.basis, out->mtu, out,
							     hop->encap_bytes);
			continue;
		}
		load->ack_bytes =
		    truth_charged(d->egress.rate.basis, truth_headers(t), hop->encap_bytes);
		load->acks += (double)load->ack_bytes / SEGMENTS_PER_ACK;
	}
}

static void load_of(const struct wire_dev *d, int shaper, const struct path *forward,
		    const struct path *back, const struct truth_traffic *t,
		    const struct truth_predicted *out, struct load *load)
{
	bool acks = t->protocol == IPPROTO_TCP && back;

	*load = (struct load){0};
	add_way(d, forward, shaper, t, out, load, false);
	if (acks)
		add_way(d, back, shaper, t, out, load, true);
	if (!t->opposite || !back)
		return;
	add_way(d, back, shaper, t, out, load, false);
	if (acks)
		add_way(d, forward, shaper, t, out, load, true);
}

static void name_link(const struct wire *w, const struct wire_dev *d, struct truth_predicted *out)
{
	const char *name = d->egress_link >= 0 ? w->links.v[d->egress_link].name : d->name;

	snprintf(out->link, sizeof(out->link), "%s", name);
}

/* One shaper on the way; keeps the tightest. */
static void consider(const struct wire *w, int shaper, const struct load *load,
		     struct truth_predicted *out)
{
	const struct wire_dev *d = &w->devs.v[shaper];
	double bytes_per_s = (double)d->egress.rate.bps / 8;
	double low = bytes_per_s / (load->data + load->acks), high = bytes_per_s / load->data;

	if (!out->known || high < out->high_pps)
		out->high_pps = high;
	if (out->known && low >= out->low_pps)
		return;
	out->known = true;
	out->low_pps = low;
	out->charged_bytes = (int64_t)load->data;
	out->ack_bytes = load->ack_bytes;
	out->rate_bps = d->egress.rate.bps;
	out->basis = d->egress.rate.basis;
	name_link(w, d, out);
}

static void finish(const struct truth_traffic *t, struct truth_predicted *out)
{
	double bits = (double)out->payload_bytes * 8;

	if (t->offered_pps > 0 && (!out->known || t->offered_pps < out->low_pps)) {
		out->known = true;
		out->low_pps = out->high_pps = t->offered_pps;
		snprintf(out->link, sizeof(out->link), "the sender's own rate");
		out->rate_bps = (int64_t)(t->offered_pps * bits);
		out->charged_bytes = out->ack_bytes = 0;
	}
	out->pps = out->low_pps;
	out->goodput_bps = out->pps * bits;
	out->low_bps = out->low_pps * bits;
	out->high_bps = out->high_pps * bits;
	if (out->ack_bytes)
		out->assumption = "acks: 1 per 2 segments";
}

void truth_predict(const struct wire *w, const struct path *forward, const struct path *back,
		   const struct truth_traffic *t, struct truth_predicted *out)
{
	memset(out, 0, sizeof(*out));
	out->mtu = forward->mtu;
	out->payload_bytes =
	    t->protocol == IPPROTO_UDP ? t->payload : forward->mtu - truth_headers(t);
	VEC_FOREACH (hop, &forward->hops) {
		struct load load;

		if (hop->shaper < 0 || w->devs.v[hop->shaper].egress.rate.bps <= 0)
			continue;
		load_of(&w->devs.v[hop->shaper], hop->shaper, forward, back, t, out, &load);
		consider(w, hop->shaper, &load, out);
	}
	finish(t, out);
}

static int64_t tolerance(int64_t of, int64_t least)
{
	int64_t share = (int64_t)((double)of * TRUTH_TOLERANCE_SHARE);

	return share > least ? share : least;
}

static int64_t payload_of(const struct truth_traffic *t, const struct truth_counter *c)
{
	return c->bytes - c->packets * truth_headers(t);
}

static void disagree(struct truth_counted *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void disagree(struct truth_counted *out, const char *fmt, ...)
{
	va_list ap;

	if (out->agreement == TRUTH_DISAGREE)
		return;
	out->agreement = TRUTH_DISAGREE;
	va_start(ap, fmt);
	vsnprintf(out->why, sizeof(out->why), fmt, ap);
	va_end(ap);
}

/*
 * The device also counts what is not of the flow: ARP, neighbour discovery, and what belongs to an
 * opposite flow, of which nobody here knows how much it is. It can never count less than the flow,
 * and its bytes are the flow's plus an Ethernet header each, plus the foreign packets.
 */
static void compare_counters(const struct truth_traffic *t, const struct truth_counts *c,
			     struct truth_counted *out)
{
	int64_t most = tolerance(c->flow.packets, TRUTH_TOLERANCE_PACKETS);
	int64_t foreign_bytes =
	    c->device.bytes - c->flow.bytes - c->device.packets * ETHERNET_HEADER;

	out->foreign_packets = c->device.packets - c->flow.packets;
	if (out->foreign_packets < 0)
		disagree(out,
			 "two truths disagree: nft counted %lld packets of the flow, the device "
			 "only %lld in all",
			 (long long)c->flow.packets, (long long)c->device.packets);
	else if (out->foreign_packets > most && !t->opposite)
		disagree(out,
			 "two truths disagree: nft counted %lld packets of the flow, the device "
			 "%lld, and only %lld may be others",
			 (long long)c->flow.packets, (long long)c->device.packets, (long long)most);
	else if (foreign_bytes < 0 ||
		 (foreign_bytes > tolerance(c->flow.bytes, most * 1500) && !t->opposite))
		disagree(out, "two truths disagree: %lld bytes by nft, %lld by the device",
			 (long long)c->flow.bytes, (long long)c->device.bytes);
}

/*
 * A receiver cannot have more than arrived. It may have less: what was sent twice, what its socket
 * dropped, and what it had not read when it stopped.
 */
static void compare_claim(const struct truth_claim *claim, struct truth_counted *out)
{
	int64_t slack = tolerance(out->payload_bytes, 64 * 1024);
	int64_t missing = out->payload_bytes - claim->bytes;

	if (claim->bytes < 0)
		return;
	if (missing < -slack)
		disagree(out,
			 "two truths disagree: the engine received %lld bytes, the counter only "
			 "%lld",
			 (long long)claim->bytes, (long long)out->payload_bytes);
	else if (missing > slack + claim->slack_bytes)
		disagree(out,
			 "two truths disagree: the counter has %lld bytes of payload, the engine "
			 "only %lld",
			 (long long)out->payload_bytes, (long long)claim->bytes);
}

void truth_count(const struct truth_traffic *t, const struct truth_counts *whole,
		 const struct truth_counts *window, const struct truth_claim *claim,
		 struct truth_counted *out)
{
	*out = (struct truth_counted){.goodput_bps = NAN, .pps = NAN};
	if (!whole->known) {
		out->agreement = TRUTH_UNKNOWN;
		snprintf(out->why, sizeof(out->why), "no counters: %s",
			 whole->missing ? whole->missing : "not taken");
		return;
	}
	out->packets = whole->flow.packets;
	out->payload_bytes = payload_of(t, &whole->flow);
	compare_counters(t, whole, out);
	compare_claim(claim, out);
	if (!window || !window->known || window->elapsed_ns <= 0)
		return;
	double seconds = (double)window->elapsed_ns / (double)NSEC_PER_SEC;
	out->goodput_bps = (double)payload_of(t, &window->flow) * 8 / seconds;
	out->pps = (double)window->flow.packets / seconds;
}
