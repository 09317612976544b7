/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_counts: what the two ends of UDP streams found: written in each worker, read and put together
 * at the driver. It measures nothing. Called by way of the engines' tables.
 *
 * In engine_result.detail:
 *   datagrams_a_message  mean of those that the receiver got as one; io gso: up to 64
 *   fragments            packets that each datagram is on the way, by the sender's MTU
 *   packet_loss          with more than one: the loss of packets that gives this loss of datagrams,
 *                        1 − (1 − loss)^(1 / fragments)
 *   gap_ns, gap_error_ns paced: between datagrams of the window as they were handed to the kernel
 *                        (all of one call have one time), and its difference from the schedule's
 *                        gap, without sign; distributions
 *   within_20us          share of gap_error_ns that is at most 20 µs
 *   receivers            udp_multicast: see udp_multicast.c
 *   lost_host_at_most    io gso: true; the kernel counts a drop of up to 64 datagrams as one, so
 *                        lost_host and drops_all are as many as it can have been, and exact where
 *                        nothing is lost on the way
 *   backlog_drops        io steer, afxdp: what the receiving machine's CPUs dropped meanwhile
 * because their queues of received packets were full, of everyone's: lost, not lost_host back
 * udp_bidir: {sent, received, missed, refused} of server to client, datagrams
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/result.h"
#include "core/engine/steer.h"
#include "core/engine/udp.h"

json_t *udp_counts_sent(struct worker *w)
{
	json_t *sent = json_array();
	for (int i = 0; i < w->n_streams; i++) {
		const struct udp_stream *u = udp_source(&w->streams[i])->own;
		bool sends = stream_sends(&w->streams[i]);
		int64_t n = sends ? (int64_t)u->tx.sent[PHASE_MEASURE] : 0;
		json_array_append_new(sent, json_integer(n));
	}
	return sent;
}

/* How many packets a datagram is on the way, RFC 791 and RFC 8200: fragments begin at multiples of
 * 8 bytes. */
static int64_t udp_counts_fragments(const struct worker *w, int fd)
{
	int64_t six = w->family == AF_INET6, mtu = socket_mtu(fd), data = w->spec.size + 8;
	int64_t whole = mtu - (six ? 40 : 20), part = (whole - (six ? 8 : 0)) & ~INT64_C(7);
	return whole < 64 || data <= whole ? 1 : (data + part - 1) / part;
}

static void udp_counts_gaps(const struct worker *w, bool back, json_t *j)
{
	struct hist *gap = hist_new(), *error = hist_new();
	int64_t near = 0;
	for (int i = 0; i < w->n_streams; i++) {
		const struct udp_stream *u = w->streams[i].own;
		if (w->streams[i].back != back || !u->tx.gap)
			continue;
		hist_merge(gap, u->tx.gap);
		hist_merge(error, u->tx.gap_error);
		near += u->tx.near;
	}
	if (gap->count) {
		json_object_set_new(j, "gap", hist_json(gap));
		json_object_set_new(j, "gap_error", hist_json(error));
		json_object_set_new(j, "near", json_integer(near));
	}
	hist_free(gap);
	hist_free(error);
}

static void udp_counts_report_sent(const struct worker *w, bool back, json_t *j)
{
	json_t *each = json_array();
	int64_t total = 0, missed = 0, refused = 0, sending = 0, fragments = 1;
	for (int i = 0; i < w->n_streams; i++) {
		const struct udp_stream *u = w->streams[i].own;
		if (w->streams[i].back != back)
			continue;
		const struct udp_stream *source = udp_source(&w->streams[i])->own;
		json_array_append_new(each, json_integer((int64_t)source->tx.sent[PHASE_MEASURE]));
		total += (int64_t)u->tx.sent[PHASE_MEASURE];
		missed += u->tx.pace.missed;
		refused += u->tx.refused;
		sending += u->tx.sending_ns;
		if (w->streams[i].fd >= 0)
			fragments = udp_counts_fragments(w, w->streams[i].fd);
	}
	json_object_set_new(j, "sent_each", each);
	json_object_set_new(j, "packets", json_integer(total));
	json_object_set_new(j, "bytes", json_integer(total * w->spec.size));
	json_object_set_new(j, "size", json_integer(w->spec.size));
	json_object_set_new(j, "missed", json_integer(missed));
	json_object_set_new(j, "refused", json_integer(refused));
	json_object_set_new(j, "sending_ns", json_integer(sending));
	json_object_set_new(j, "fragments", json_integer(fragments));
	json_object_set_new(j, "senders", json_integer(udp_senders(w)));
	udp_counts_gaps(w, back, j);
}

static void udp_counts_add_receiver(const struct stream *s, json_t *receivers)
{
	const struct seq *q = &((const struct udp_stream *)s->own)->rx.seq[PHASE_MEASURE];
	json_array_append_new(receivers,
			      json_pack("{s:I,s:I,s:I,s:I,s:I}", "received", (json_int_t)q->unique,
					"lost_host", (json_int_t)udp_receive_lost_here(s),
					"duplicated", (json_int_t)q->duplicated, "reordered",
					(json_int_t)q->reordered, "late", (json_int_t)q->late));
}

/* Of one stream's receiver, added to what others found. */
static void udp_counts_add(const struct stream *s, json_t *j, struct hist *delay)
{
	const struct udp_receiver *r = &((const struct udp_stream *)s->own)->rx;
	const struct seq *q = &r->seq[PHASE_MEASURE];
	const struct {
		const char *key;
		int64_t value;
	} counts[] = {
	    {"packets", q->unique},
	    {"bytes", q->unique * s->w->spec.size},
	    {"duplicated", q->duplicated},
	    {"reordered", q->reordered},
	    {"late", q->late},
	    {"lost_host", udp_receive_lost_here(s)},
	    {"drops_all", udp_receive_drops(s) * udp_receive_drop(s)},
	    {"messages", r->messages},
	    {"packets_all", s->packets_all},
	};
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		json_object_set_new(
		    j, counts[i].key,
		    json_integer(result_integer(j, counts[i].key) + counts[i].value));
	json_array_append_new(json_object_get(j, "received"), json_integer(q->unique));
	json_array_append_new(json_object_get(j, "seen"), json_integer((int64_t)q->next));
	hist_merge(delay, r->delay);
	if (s->w->def->group)
		udp_counts_add_receiver(s, json_object_get(j, "receivers"));
}

static void udp_counts_report_received(struct worker *w, bool back, json_t *j)
{
	struct hist *delay = hist_new();
	json_t *sum = json_pack("{s:[],s:[],s:[]}", "received", "seen", "receivers");
	for (int i = 0; i < w->n_streams; i++)
		if (w->streams[i].back == back)
			udp_counts_add(&w->streams[i], sum, delay);
	const struct udp_stream *first = w->streams[back ? w->spec.streams : 0].own;
	if (first->rx.steered)
		json_object_set_new(sum, "backlog_drops",
				    json_integer(steer_backlog_drops() - first->rx.backlog));
	json_object_update(j, sum);
	json_object_set_new(j, "delay", hist_json(delay));
	json_decref(sum);
	hist_free(delay);
}

void udp_counts_report(struct worker *w, json_t *result)
{
	for (int back = 0; back <= (w->def->way == WAY_BOTH); back++) {
		json_t *j = back ? json_object_get(result, "back") : result;
		if (stream_sends(&w->streams[back ? w->spec.streams : 0]))
			udp_counts_report_sent(w, back, j);
		else
			udp_counts_report_received(w, back, j);
	}
	if (worker_sends(w))
		json_object_set_new(result, "sent", udp_counts_sent(w));
}

/* What each stream of a way sent. Of a run that was cut short, packets may be under way: then only
 * what is missing below the highest number seen counts. */
static const json_t *udp_counts_of(const json_t *sender, const json_t *receiver, bool partial)
{
	return partial ? json_object_get(receiver, "seen") : json_object_get(sender, "sent_each");
}

/* Sent and never seen. */
static int64_t udp_counts_lost(const json_t *sender, const json_t *receiver, bool partial)
{
	const json_t *sent = udp_counts_of(sender, receiver, partial);
	const json_t *received = json_object_get(receiver, "received");
	int64_t lost = 0;
	for (size_t i = 0; i < json_array_size(sent); i++) {
		int64_t missing = json_integer_value(json_array_get(sent, i)) -
				  json_integer_value(json_array_get(received, i));
		lost += missing > 0 ? missing : 0;
	}
	return lost;
}

struct udp_counts { /* of one way */
	double seconds, size;
	double pps, sent_pps, loss;
	int64_t sent, received, lost, lost_host;
	int senders;
};

static struct udp_counts udp_counts_way(const json_t *sender, const json_t *receiver, bool partial)
{
	struct udp_counts c = {
	    .seconds = (double)result_integer(receiver, "window_ns") / NSEC_PER_SEC,
	    .size = result_number(sender, "size"),
	    .senders = (int)result_integer(sender, "senders"),
	    .sent = result_integer(sender, "packets"),
	    .received = result_integer(receiver, "packets"),
	    .lost = udp_counts_lost(sender, receiver, partial),
	};
	int64_t here = result_integer(receiver, "lost_host");
	c.pps = c.seconds > 0 ? result_number(receiver, "units") / c.seconds : 0;
	c.sent_pps = c.seconds > 0 ? (double)c.sent / c.seconds : 0;
	c.lost_host = here < c.lost ? here : c.lost;
	double all = (double)(c.lost + c.received);
	c.loss = all > 0 ? (double)c.lost / all : 0;
	return c;
}

static json_t *udp_counts_detail(const json_t *sender, const json_t *receiver,
				 const struct udp_counts *c)
{
	json_t *j = json_object();
	double messages = result_number(receiver, "messages"),
	       all = result_number(receiver, "packets_all");
	int64_t fragments = result_integer(sender, "fragments");
	json_object_set_new(j, "datagrams_a_message",
			    result_real(messages > 0 ? all / messages : NAN));
	json_object_set_new(j, "fragments", json_integer(fragments));
	if (c->seconds > 0)
		json_object_set_new(j, "in_send_calls",
				    result_real(result_number(sender, "sending_ns") /
						(c->seconds * 1e9 * c->senders)));
	if (fragments > 1)
		json_object_set_new(j, "packet_loss",
				    result_real(1 - pow(1 - c->loss, 1 / (double)fragments)));
	if (result_integer(receiver, "lost_host") > c->lost)
		json_object_set_new(j, "lost_host_at_most", json_true());
	json_t *backlog = json_object_get(receiver, "backlog_drops");
	if (backlog)
		json_object_set(j, "backlog_drops", backlog);
	const json_t *error = json_object_get(sender, "gap_error");
	if (!error)
		return j;
	json_object_set_new(j, "gap_ns", result_dist_of(json_object_get(sender, "gap")));
	json_object_set_new(j, "gap_error_ns", result_dist_of(error));
	json_object_set_new(
	    j, "within_20us",
	    result_real(result_number(sender, "near") / result_number(error, "count")));
	return j;
}

/* Of a group: each receiver by itself. */
static json_t *udp_counts_receivers(const json_t *sender, const json_t *receiver, bool partial)
{
	const json_t *sent = udp_counts_of(sender, receiver, partial);
	json_t *list = json_deep_copy(json_object_get(receiver, "receivers"));
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *one = json_array_get(list, i);
		int64_t all = json_integer_value(json_array_get(sent, i));
		int64_t missing = all - result_integer(one, "received");
		int64_t lost = missing > 0 ? missing : 0, here = result_integer(one, "lost_host");
		json_object_set_new(one, "lost", json_integer(lost));
		json_object_set_new(one, "loss",
				    result_real(all > 0 ? (double)lost / (double)all : 0));
		json_object_set_new(one, "lost_host", json_integer(here < lost ? here : lost));
	}
	return list;
}

/* A sender without a receiver has measured nothing: no way there, a filter, a wrong address. `way`:
 * "back", or NULL: what the two workers say of the only one. */
static void udp_counts_silent(const struct engine_spec *s, const json_t *from, const json_t *to,
			      const char *way, struct engine_result *out)
{
	const json_t *sender = way ? json_object_get(from, way) : from;
	const json_t *receiver = way ? json_object_get(to, way) : to;
	int64_t sent = result_integer(sender, "packets"),
		refused = result_integer(sender, "refused");
	long long here = result_integer(json_object_get(from, "host"), "icmp_unreachable"),
		  there = result_integer(json_object_get(to, "host"), "icmp_unreachable");
	if (s->total_loss || out->invalid[0] || result_integer(receiver, "packets") ||
	    (!sent && !refused))
		return;
	snprintf(out->invalid, sizeof(out->invalid),
		 "not one datagram arrived in the window (%lld in all): %lld sent, %lld sends "
		 "refused, ICMP unreachable: %lld to the sender, %lld to the receiver",
		 (long long)result_integer(receiver, "packets_all"), (long long)sent,
		 (long long)refused, here, there);
}

static void udp_counts_back(const struct engine_spec *s, const json_t *client, const json_t *server,
			    struct engine_result *out)
{
	const json_t *sender = json_object_get(server, "back"),
		     *receiver = json_object_get(client, "back");
	struct udp_counts c = udp_counts_way(sender, receiver, out->partial);
	out->back.pps = c.pps;
	out->back.goodput_bps = c.pps * c.size * 8;
	out->back.sent_pps = c.sent_pps;
	out->back.sent_bps = c.sent_pps * c.size * 8;
	out->back.loss = c.loss;
	out->back.lost = c.lost;
	out->back.lost_host = c.lost_host;
	out->back.duplicated = result_integer(receiver, "duplicated");
	out->back.reordered = result_integer(receiver, "reordered");
	json_t *detail = udp_counts_detail(sender, receiver, &c);
	json_object_set_new(detail, "sent", json_integer(c.sent));
	json_object_set_new(detail, "received", json_integer(c.received));
	json_object_set_new(detail, "missed", json_integer(result_integer(sender, "missed")));
	json_object_set_new(detail, "refused", json_integer(result_integer(sender, "refused")));
	json_object_set_new(out->detail, "back", detail);
	udp_counts_silent(s, server, client, "back", out);
}

void udp_counts_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
		      struct engine_result *out)
{
	enum engine_way way = engines_get(s->test)->way;
	const json_t *sender = way == WAY_BACK ? server : client;
	const json_t *receiver = way == WAY_BACK ? client : server;
	struct udp_counts c = udp_counts_way(sender, receiver, out->partial);
	out->size = (int64_t)c.size;
	out->pps = c.pps;
	out->goodput_bps = c.pps * c.size * 8;
	out->sent_pps = c.sent_pps;
	out->offered_pps = s->rate_pps ? (double)s->rate_pps : (double)s->rate_bps / (8 * c.size);
	out->offered_bps = out->offered_pps * 8 * c.size;
	out->missed = result_integer(sender, "missed");
	out->refused = result_integer(sender, "refused");
	out->lost = c.lost;
	out->lost_host = c.lost_host;
	out->loss = c.loss;
	int64_t missing =
		    result_integer(sender, "packets_all") - result_integer(receiver, "packets_all"),
		drops = result_integer(receiver, "drops_all");
	bool bound = str_eq(s->io, "gso") && !out->partial && drops > missing;
	out->drops_all = bound ? missing : drops;
	out->duplicated = result_integer(receiver, "duplicated");
	out->reordered = result_integer(receiver, "reordered");
	out->late = result_integer(receiver, "late");
	result_dist_get(json_object_get(receiver, "delay"), &out->delay);
	out->detail = udp_counts_detail(sender, receiver, &c);
	if (engines_get(s->test)->group)
		json_object_set_new(out->detail, "receivers",
				    udp_counts_receivers(sender, receiver, out->partial));
	udp_counts_silent(s, sender, receiver, NULL, out);
	if (way == WAY_BOTH)
		udp_counts_back(s, client, server, out);
}
