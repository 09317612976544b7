// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attempt_way: the kernel's account of one way of the data. When to read is attempt.c's business,
 * what the numbers mean truth.c's and losses.c's. Called by attempt.c.
 */
#include "core/harness/attempt_way.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/harness/traffic.h"

#define SETTLE_STEP_NS (20 * NSEC_PER_MSEC)
#define SETTLE_MOST_NS (2 * NSEC_PER_SEC)

/* ---- counting ---- */

void way_open(struct way *way, const json_t *flows, struct counters_shared *shared)
{
	struct counters_at at = {
	    .lab = way->links.lab,
	    .wire = way->links.wire,
	    .path = way->links.there,
	    .protocol = traffic_is_udp(way->spec->test) ? IPPROTO_UDP : IPPROTO_TCP,
	    .from_server = way->from_server,
	    .shared = shared,
	};
	size_t n = json_array_size(flows), each = way->both ? n / 2 : n;

	/* The second half of the streams is that of the data from server to client. */
	at.first = way->both && way->from_server ? each : 0;
	at.n = each;
	if (counters_open(&at, flows, &way->counters, &way->counters_err))
		way->counters = NULL;
}

void way_read(struct way *way)
{
	struct err ignored = ERR_INIT;

	if (!way->counters || counters_read(way->counters, &way->last, &ignored))
		return;
	if (!way->first.known)
		way->first = way->last;
}

void way_end(struct way *way)
{
	struct err ignored = ERR_INIT;

	if (way->counters && counters_read(way->counters, &way->at_end, &ignored))
		way->at_end = (struct truth_counts){0};
}

void way_close(struct way *way)
{
	counters_close(way->counters);
	way->counters = NULL;
}

/*
 * The two counters are read one after the other, and what was still queued on the way when the ends
 * stopped arrives after them. So they are read again until the flow's stands still.
 */
static int read_settled(struct way *way, struct truth_counts *out, struct err *err)
{
	int64_t deadline = clock_now_ns() + SETTLE_MOST_NS, packets;
	int r = counters_read(way->counters, out, err);

	while (!r) {
		packets = out->flow.packets;
		clock_sleep_until_ns(clock_now_ns() + SETTLE_STEP_NS);
		r = counters_read(way->counters, out, err);
		if (out->flow.packets == packets || clock_now_ns() > deadline)
			break;
	}
	return r;
}

static void read_whole(struct way *way, struct arena *arena, struct truth_counts *out)
{
	struct err err = ERR_INIT;

	*out = (struct truth_counts){0};
	if (!way->counters)
		out->missing = arena_strdup(arena, way->counters_err.text);
	else if (read_settled(way, out, &err))
		out->missing = arena_strdup(arena, err.text);
	else if (!out->flow.packets && str_eq(way->spec->io, "afxdp") && out->device.packets)
		*out = (struct truth_counts){
		    .missing = "AF_XDP takes the packets before nft can count them"};
	if (out->known && way->at_end.known)
		way->late_packets = out->flow.packets - way->at_end.flow.packets;
}

static void subtract(struct truth_counter *a, const struct truth_counter *b)
{
	a->packets -= b->packets;
	a->bytes -= b->bytes;
}

/*
 * Between the first reading and the last: all of it lies in the window. A file that is through
 * before the second reading is counted whole, over the time that the engine says it took.
 */
static void set_window(const struct way *way, const struct engine_result *e,
		       const struct truth_counts *whole, struct truth_counts *window)
{
	*window = (struct truth_counts){0};
	if (way->last.elapsed_ns > way->first.elapsed_ns) {
		*window = way->last;
		window->elapsed_ns -= way->first.elapsed_ns;
		subtract(&window->flow, &way->first.flow);
		subtract(&window->device, &way->first.device);
	} else if (traffic_is_bulk(way->spec->test) &&
		   engine_test_traits(way->spec->test).open_end) {
		*window = *whole;
		window->elapsed_ns = e->server.window_ns;
	}
}

/* ---- what the engine says ---- */

struct engine_says { /* of one way, over all of it */
	int64_t sent_bytes, bytes, sent_packets, packets, drops, retransmits, tail_bytes;
};

/* What a sender of datagrams may have sent after the window, twice its time for a late end. */
static int64_t tail_bytes(double sent_bps)
{
	return (int64_t)(sent_bps / 8 * 2 * ENGINE_UDP_TAIL_NS / NSEC_PER_SEC);
}

static void engine_says(const struct way *way, const struct engine_result *e,
			struct engine_says *out)
{
	const struct engine_side *from = way->from_server ? &e->server : &e->client;
	const struct engine_side *to = way->from_server ? &e->client : &e->server;

	*out = (struct engine_says){from->bytes_all,	    to->bytes_all, from->packets_all,
				    to->packets_all,	    e->drops_all,  e->retransmits,
				    tail_bytes(e->sent_bps)};
	if (way->both && way->from_server)
		*out = (struct engine_says){e->back.sent_bytes_all,	 e->back.bytes_all,
					    e->back.sent_packets_all,	 e->back.packets_all,
					    e->back.drops_all,		 e->back.retransmits,
					    tail_bytes(e->back.sent_bps)};
}

/*
 * What the receiver had of the whole flow. What ended early, and tests whose bytes go both ways on
 * the same connection, make no claim. A stream that ends by the clock leaves what its receiver had
 * not read.
 */
static void set_claim(const struct way *way, const struct engine_result *e,
		      const struct losses *losses, struct truth_claim *claim)
{
	struct engine_says says;

	claim->bytes = -1;
	claim->slack_bytes = 0;
	if (!traffic_is_bulk(way->spec->test) || e->invalid[0])
		return;
	engine_says(way, e, &says);
	claim->bytes = says.bytes;
	if (traffic_is_udp(way->spec->test))
		claim->slack_bytes =
		    (says.drops + losses->behind + way->late_packets) * e->size + says.tail_bytes;
	else
		claim->slack_bytes =
		    says.retransmits * e->mss + e->rcvbuf + (says.sent_bytes - says.bytes);
}

/* ---- losses ---- */

/* Datagrams in one piece are packets that can be counted at both ends. */
static bool can_follow(const struct way *way, const struct engine_result *e,
		       const struct truth_counts *whole)
{
	struct truth_traffic t = {.protocol = IPPROTO_UDP, .family = way->family};

	return traffic_is_udp(way->spec->test) && traffic_is_bulk(way->spec->test) &&
	       whole->known && !e->partial && !str_eq(way->spec->io, "gso") &&
	       e->size + truth_headers(&t) <= way->links.there->mtu;
}

static void set_losses(struct way *way, const struct engine_result *e,
		       const struct account *between, const struct truth_counts *whole,
		       struct arena *arena, struct losses *out)
{
	struct engine_says says;

	*out = (struct losses){0};
	if (!between)
		return;
	losses_of(&way->links, between, arena, out);
	if (!can_follow(way, e, whole) || out->waiting)
		return;
	engine_says(way, e, &says);
	struct losses_flow flow = {
	    .from = way->from,
	    .to = way->to,
	    .sent = says.sent_packets,
	    .arrived = whole->flow.packets,
	    .delivered = says.packets,
	    .socket = says.drops,
	    .unread_most = way->late_packets + (e->size > 0 ? says.tail_bytes / e->size + 1 : 0),
	};
	losses_follow(&way->links, between, &flow, arena, out);
}

/* Packets of which nobody knows what became of them are a third truth that disagrees. */
static void doubt(const struct losses *losses, struct truth_counted *c)
{
	if (!losses->unexplained || c->agreement == TRUTH_DISAGREE)
		return;
	c->agreement = TRUTH_DISAGREE;
	snprintf(c->why, sizeof(c->why), "%s", losses->why);
}

void way_judge(struct way *way, const struct engine_result *e, const struct account *between,
	       struct arena *arena, struct way_found *out)
{
	struct truth_traffic t = {
	    .protocol = traffic_is_udp(way->spec->test) ? IPPROTO_UDP : IPPROTO_TCP,
	    .family = way->family,
	    .timestamps = true,
	    .opposite = way->both || way->others,
	};
	struct truth_claim claim;

	read_whole(way, arena, out->whole);
	set_losses(way, e, between, out->whole, arena, out->losses);
	set_window(way, e, out->whole, out->window);
	set_claim(way, e, out->losses, &claim);
	truth_count(&t, out->whole, out->window, &claim, out->counted);
	doubt(out->losses, out->counted);
}
