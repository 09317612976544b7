// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * truth: header arithmetic, and the comparison of the kernel's two counters with each other and
 * with the engine's claim. What the model predicts is truth_predict.c's. Reads nothing from the
 * kernel itself and knows no verdicts. Called by attempt.c.
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
	TCP_HEADER = 20,
	TCP_TIMESTAMPS = 12,
	UDP_HEADER = 8,
	IPV6_FRAGMENT = 8,
	MSS_LEAST =
	    48, /* tcp_min_snd_mss, ip-sysctl: TCP sends no smaller segments, with options */
};

bool truth_scaled(const struct truth_predicted *p)
{
	return p->scale_num > 0 && p->scale_num != p->scale_den;
}

double truth_full_size(const struct truth_predicted *p, double rate)
{
	return truth_scaled(p) ? rate * (double)p->scale_den / (double)p->scale_num : rate;
}

int truth_ip_header(const struct truth_traffic *t)
{
	return t->family == AF_INET6 ? IPV6_HEADER : IPV4_HEADER;
}

int truth_headers(const struct truth_traffic *t)
{
	if (t->protocol == IPPROTO_UDP)
		return truth_ip_header(t) + UDP_HEADER;
	return truth_ip_header(t) + TCP_HEADER + (t->timestamps ? TCP_TIMESTAMPS : 0);
}

int64_t truth_segment(const struct truth_traffic *t, int mtu)
{
	int options = t->timestamps ? TCP_TIMESTAMPS : 0, fits = mtu - truth_headers(t);

	return fits > MSS_LEAST - options ? fits : MSS_LEAST - options;
}

int64_t truth_fragment(const struct truth_traffic *t, int mtu)
{
	int headers = truth_ip_header(t) + (t->family == AF_INET6 ? IPV6_FRAGMENT : 0);

	return (mtu - headers) & ~7;
}

int truth_fragments(const struct truth_traffic *t, int64_t payload, int mtu)
{
	int64_t bytes = payload + truth_headers(t) - truth_ip_header(t);
	int64_t most = truth_fragment(t, mtu);

	if (bytes + truth_ip_header(t) <= mtu || most <= 0)
		return 1;
	return (int)((bytes + most - 1) / most);
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

void truth_limit_text(const struct truth_predicted *p, struct strbuf *out)
{
	static const char *const words[] = {
	    [LIMIT_RATE] = "",	      [LIMIT_PACKETS] = "",	   [LIMIT_QUEUE] = " a queue",
	    [LIMIT_FLOW] = " a flow", [LIMIT_TRACE] = " by trace", [LIMIT_SENDER] = "",
	};
	char value[64];

	if (p->limit == LIMIT_SENDER)
		units_format_rate(value, sizeof(value), (double)p->rate_bps);
	else if (p->limit_packets)
		units_format_pps(value, sizeof(value), p->limit_value);
	else
		units_format_rate(value, sizeof(value), p->limit_value);
	strbuf_addf(out, "%s, %s%s", p->link, value, words[p->limit]);
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
