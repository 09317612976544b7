/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netem: what happens to packets on the way, as the kernel's netem takes it. Called by
 * emulator/plan. It leaves out what netem does not know (every Nth, after N, flaps, black holes,
 * traces, reordering by ratio): the model gives such links to the relay.
 */
#include "core/base/units.h"
#include "emulator/shaper/bucket.h"

#define LIMIT_LEAST	  1000
#define LIMIT_MOST_BYTES  (UINT64_C(64) << 20)
#define JITTERS_UNDER_WAY 4 /* hardly any packet of a normal distribution is later */

/* Rounded down as tc does it (print and parse of a percentage go through the same doubles). */
static uint32_t probability(int ppm)
{
	return (uint32_t)((double)UINT32_MAX * ((double)ppm / 1e6) + 0.5);
}

/*
 * Packets under way: twice what the rate puts out meanwhile, as the smallest frames that there are,
 * and the queue that may come at once. Memory bounds it, which is where the rate is not known, too.
 */
static uint32_t limit_packets(const struct wire_impair *i, const struct wire_rate *rate, int mtu)
{
	uint64_t frame = (uint64_t)mtu + BUCKET_ETHERNET_HEADER;
	uint64_t most = LIMIT_MOST_BYTES / frame, packets = most;
	int64_t bps = rate->burst_bps > rate->bps ? rate->burst_bps : rate->bps;

	if (bps) {
		int64_t ns = i->delay_ns + JITTERS_UNDER_WAY * i->jitter_ns;
		uint64_t queue = rate->queue_bytes > 0
				     ? (uint64_t)rate->queue_bytes
				     : bucket_bytes_in((uint64_t)bps / 8, rate->queue_ns);

		packets =
		    2 * bucket_bytes_in((uint64_t)bps / 8, ns) / BUCKET_L1_LEAST + queue / frame;
	}
	if (packets > most)
		packets = most;
	return packets < LIMIT_LEAST ? LIMIT_LEAST : (uint32_t)packets;
}

static void set_loss(const struct wire_impair *i, struct tc_netem *n)
{
	if (i->loss == LOSS_RANDOM) {
		n->loss = probability(i->loss_ppm);
		n->loss_correlation = probability(i->loss_correlation_ppm);
	} else if (i->loss == LOSS_BURSTS) {
		n->bursts = true;
		n->to_bad = probability(i->to_bad_ppm);
		n->to_good = probability(i->to_good_ppm);
		n->bad_loss = probability(i->bad_loss_ppm);
		n->good_loss = probability(i->good_loss_ppm);
	}
}

/*
 * The Pareto jitter of a link adds its scale times (u^(-1/3) - 1), u uniform; netem's table has
 * 4/3 (u^(-1/3) - 3/2): the same for a delay of half the scale more and 3/4 of the jitter.
 */
static void set_delay(const struct wire_impair *i, struct tc_netem *n)
{
	static const enum tc_distribution distributions[] = {
	    [JITTER_NORMAL] = TC_DIST_NORMAL,
	    [JITTER_UNIFORM] = TC_DIST_UNIFORM,
	    [JITTER_PARETO] = TC_DIST_PARETO,
	};

	n->delay_ns = i->delay_ns;
	n->jitter_ns = i->jitter_ns;
	if (!i->jitter_ns)
		return;
	n->distribution = distributions[i->jitter];
	n->delay_correlation = probability(i->jitter_correlation_ppm);
	if (i->jitter != JITTER_PARETO)
		return;
	n->delay_ns += i->jitter_ns / 2;
	n->jitter_ns -= i->jitter_ns / 4;
}

void shaper_netem(const struct wire_impair *i, const struct wire_rate *rate, int mtu,
		  struct tc_step *out)
{
	*out = (struct tc_step){.kind = TC_NETEM, .parent = TC_AT_ROOT, .handle = TC_ID(1, 0)};
	out->netem.limit_packets = limit_packets(i, rate, mtu);
	set_delay(i, &out->netem);
	set_loss(i, &out->netem);
	out->netem.duplicate = probability(i->duplication_ppm);
	out->netem.corrupt = probability(i->corruption_ppm);
	out->netem.seed = i->seed;
}
