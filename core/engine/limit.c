/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit: rules, from the surest evidence to the weakest; the first that holds is the answer. The
 * harness knows more (what the links carry) and refines it: core/harness/bound.c.
 *
 * Facts: tcpi_busy_time, tcpi_rwnd_limited and tcpi_sndbuf_limited as tcp_chrono_set() of the
 * kernel's net/ipv4/tcp_output.c keeps them. A thread's CPU time has the softirq work that ran in
 * its turn. Called by findings.c.
 */
#include "core/engine/limit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/engine/result.h"

struct limit {
	const struct engine_spec *spec;
	struct engine_result *out;
	const struct engine_side *sender, *receiver;
	struct engine_traits traits;
	double sender_busy, receiver_busy; /* share of the window of the busiest thread */
	double sender_wait, receiver_wait; /* … and of its waiting for a CPU */
};

static bool __attribute__((format(printf, 3, 4)))
limit_is(struct limit *l, const char *limit, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(l->out->limit_why, sizeof(l->out->limit_why), format, args);
	va_end(args);
	snprintf(l->out->limit, sizeof(l->out->limit), "%s", limit);
	return true;
}

/* Of the window; nothing where it is not known. */
static double limit_share(const struct engine_side *s, double seconds)
{
	return s->window_ns > 0 && seconds > 0 ? seconds / ((double)s->window_ns / 1e9) : 0;
}

/* Where all threads are kept on one CPU, that is what they have together. */
static double limit_busy(const struct engine_side *s)
{
	double all = s->cpu >= 0 ? s->cpu_user_s + s->cpu_system_s : 0;
	return limit_share(s, fmax(all, s->thread_cpu_s));
}

/* Has a thread been at work, or ready for it, all the time? */
static bool limit_full(double busy, double wait)
{
	return busy + wait >= LIMIT_BUSY;
}

/* Share of what was asked for that was sent, of the way that was worse off; NAN where nothing was
 * asked for. */
static double limit_offered(const struct limit *l)
{
	const struct engine_result *r = l->out;
	if (!(r->offered_pps > 0))
		return NAN;
	double there = r->sent_pps, back = r->back.sent_pps;
	return (l->traits.way == WAY_BOTH ? fmin(there, back) : there) / r->offered_pps;
}

/* Of the window, that the senders of that way were in calls that send. */
static double limit_sending(const struct limit *l)
{
	const json_t *there = l->out->detail, *back = json_object_get(there, "back");
	return fmax(result_number(there, "in_send_calls"), result_number(back, "in_send_calls"));
}

/* What was asked for and could not be offered. */
static bool limit_schedule(struct limit *l)
{
	const struct engine_result *r = l->out;
	double share = limit_offered(l), sending = limit_sending(l);
	if (l->traits.transactions || !(share < LIMIT_OFFERED))
		return false;
	if (r->refused)
		return limit_is(l, "sender",
				"%.1f %% of what was asked for was offered; its own system refused "
				"%lld sends",
				share * 100, (long long)r->refused);
	if ((limit_full(l->sender_busy, l->sender_wait) && !l->spec->spin) ||
	    sending > LIMIT_SENDING)
		return limit_is(l, "sender",
				"%.1f %% of what was asked for was offered: the sender's thread "
				"was %.0f %% busy, and in calls that send for %.0f %% of the time",
				share * 100, l->sender_busy * 100, sending * 100);
	return limit_is(l, "schedule",
			"%.1f %% of what was asked for was offered: %lld places on the schedule "
			"were given up, for the sender woke up too late",
			share * 100, (long long)r->missed);
}

/* Then it matters to nobody how busy an end was. */
static bool limit_kept(struct limit *l)
{
	if (!l->traits.datagram || !l->traits.stream || l->out->lost + l->out->back.lost > 0 ||
	    !(limit_offered(l) >= LIMIT_OFFERED))
		return false;
	return limit_is(l, "schedule", "all that was asked for was offered, and all of it arrived");
}

static bool limit_socket(struct limit *l)
{
	const struct engine_result *r = l->out;
	int64_t lost = r->lost + r->back.lost, here = r->lost_host + r->back.lost_host;
	if (!here || here * 2 < lost)
		return false;
	return limit_is(l, "receiver",
			"the receiver's own socket dropped %lld of the %lld datagrams that are "
			"missing; its thread was %.0f %% busy",
			(long long)here, (long long)lost, l->receiver_busy * 100);
}

/* Drops of a machine's own, as many as explain what is missing, come before any name of a link.
 * They are everyone's: where nothing of this flow is missing they were not its. */
static bool limit_backlog(struct limit *l)
{
	const struct engine_result *r = l->out;
	int64_t here = result_integer(l->receiver->host, "backlog_drops"),
		there = l->traits.way == WAY_BOTH ? result_integer(l->sender->host, "backlog_drops")
						  : 0;
	int64_t drops = there > here ? there : here;
	int64_t missing =
	    l->traits.datagram ? r->lost + r->back.lost : r->retransmits + r->back.retransmits;
	if (l->traits.transactions || missing <= 0 || drops * 2 < missing)
		return false;
	return limit_is(
	    l, "receiver",
	    "the receiving machine's CPUs dropped %lld packets, of everyone's, as their "
	    "queues of received ones were full; %lld %s",
	    (long long)drops, (long long)missing,
	    l->traits.datagram ? "datagrams are missing" : "segments were sent again");
}

static bool limit_windows(struct limit *l)
{
	const json_t *tcp = l->out->tcp;
	double rwnd = result_number(tcp, "rwnd_limited"),
	       buf = result_number(tcp, "sndbuf_limited");
	if (!tcp || l->traits.transactions)
		return false;
	if (rwnd >= LIMIT_HELD && limit_full(l->receiver_busy, l->receiver_wait))
		return limit_is(
		    l, "receiver",
		    "its window held the sender for %.0f %% of the time, and its thread "
		    "was %.0f %% busy and waited for a CPU for %.0f %%",
		    rwnd * 100, l->receiver_busy * 100, l->receiver_wait * 100);
	if (rwnd >= LIMIT_HELD)
		return limit_is(l, "window",
				"the receiver's window held the sender for %.0f %% of the time; "
				"its thread was %.0f %% busy and waited for a CPU for %.0f %%",
				rwnd * 100, l->receiver_busy * 100, l->receiver_wait * 100);
	if (buf >= LIMIT_HELD)
		return limit_is(l, "window",
				"the sender's own buffer (sndbuf) held it for %.0f %% of the time",
				buf * 100);
	return false;
}

/* Both ends on one CPU: neither thread has all of it, and together they do. */
static bool limit_shared(const struct limit *l)
{
	const struct engine_result *r = l->out;
	return r->same_machine && r->client.cpu >= 0 && r->client.cpu == r->server.cpu &&
	       l->sender_busy + l->receiver_busy >= LIMIT_BUSY;
}

static bool limit_threads(struct limit *l)
{
	bool kept = limit_offered(l) >= LIMIT_OFFERED; /* then it was not the sender */
	bool sender = !kept && limit_full(l->sender_busy, l->sender_wait);
	bool receiver = limit_full(l->receiver_busy, l->receiver_wait);
	bool more = sender && (!receiver || l->sender_busy >= l->receiver_busy);
	if (l->spec->spin)
		return false; /* always busy, whatever comes */
	if (limit_shared(l))
		return limit_is(l,
				!kept && l->sender_busy >= l->receiver_busy ? "sender" : "receiver",
				"both ends share CPU %d, which had no time left: the sender's "
				"threads took %.0f %%, the receiver's %.0f %%",
				l->out->client.cpu, l->sender_busy * 100, l->receiver_busy * 100);
	if (!sender && !receiver)
		return false;
	return limit_is(
	    l, more ? "sender" : "receiver",
	    "the %s's thread was %.0f %% busy and waited for a CPU for %.0f %% of the "
	    "time (the %s's %.0f %% and %.0f %%)",
	    more ? "sender" : "receiver", 100 * (more ? l->sender_busy : l->receiver_busy),
	    100 * (more ? l->sender_wait : l->receiver_wait), more ? "receiver" : "sender",
	    100 * (more ? l->receiver_busy : l->sender_busy),
	    100 * (more ? l->receiver_wait : l->sender_wait));
}

/* With data to send all the time, no window full and CPU left, TCP sends what the path answers. */
static bool limit_path_tcp(struct limit *l)
{
	const json_t *tcp = l->out->tcp;
	int64_t retransmits = result_integer(tcp, "retransmits");
	double rtt = result_number(tcp, "rtt_us"), least = result_number(tcp, "min_rtt_us");
	double window_us = (double)l->sender->window_ns / 1e3 * l->spec->streams;
	if (!tcp || l->traits.transactions ||
	    (double)result_integer(tcp, "busy_us") < 0.9 * window_us)
		return false;
	if (!retransmits && !(rtt > LIMIT_QUEUED * least))
		return false;
	return limit_is(l, "link",
			"data waited all the time and no socket's window was full: %lld segments "
			"were sent again, the round trip was %.0f µs over a least of %.0f µs",
			(long long)retransmits, rtt, least);
}

static bool limit_path_udp(struct limit *l)
{
	const struct engine_result *r = l->out;
	int64_t lost = r->lost + r->back.lost, here = r->lost_host + r->back.lost_host;
	int64_t sent =
	    l->sender->packets + result_integer(json_object_get(r->detail, "back"), "sent");
	if (!l->traits.datagram || !l->traits.stream)
		return false;
	if (lost > here)
		return limit_is(l, "link",
				"%lld of %lld datagrams did not arrive, and the receiver's socket "
				"dropped %lld of them",
				(long long)lost, (long long)sent, (long long)here);
	return false;
}

static void limit_unknown(struct limit *l)
{
	if (l->traits.transactions && l->traits.paced)
		limit_is(l, "schedule", "what is sent leaves by a schedule, whatever comes back");
	else if (l->traits.transactions)
		limit_is(l, "",
			 "nothing was full: each of the %d × %d transactions on the way waits for "
			 "its answer (threads %.0f %% and %.0f %% busy)",
			 l->spec->streams, l->spec->outstanding, l->sender_busy * 100,
			 l->receiver_busy * 100);
	else
		limit_is(
		    l, "",
		    "the sender's thread was %.0f %% busy and waited for a CPU for %.0f %%, the "
		    "receiver's %.0f %% and %.0f %%; nothing was lost or full",
		    l->sender_busy * 100, l->sender_wait * 100, l->receiver_busy * 100,
		    l->receiver_wait * 100);
}

void limit_find(const struct engine_spec *s, struct engine_result *out)
{
	struct limit l = {s, out, &out->client, &out->server, engine_test_traits(s->test), 0, 0,
			  0, 0};
	bool rate =
	    l.traits.stream || l.traits.transactions || (l.traits.open_end && !l.traits.datagram);
	if (out->limit[0] || !rate)
		return;
	if (l.traits.way == WAY_BACK) {
		l.sender = &out->server;
		l.receiver = &out->client;
	}
	l.sender_busy = limit_busy(l.sender);
	l.receiver_busy = limit_busy(l.receiver);
	l.sender_wait = limit_share(l.sender, l.sender->thread_wait_s);
	l.receiver_wait = limit_share(l.receiver, l.receiver->thread_wait_s);
	/* Waiting that began before the window is told in it. */
	l.sender_wait = fmax(0, fmin(l.sender_wait, 1 - l.sender_busy));
	l.receiver_wait = fmax(0, fmin(l.receiver_wait, 1 - l.receiver_busy));
	if (l.sender->window_ns <= 0)
		return;
	bool (*const rules[])(struct limit *) = {limit_schedule, limit_kept,	limit_socket,
						 limit_backlog,	 limit_windows, limit_threads,
						 limit_path_udp, limit_path_tcp};
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i](&l))
			return;
	limit_unknown(&l);
}
