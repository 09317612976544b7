/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timestamp: SO_TIMESTAMPING, its control messages and its error queue. It sends and receives no
 * data and judges nothing. Used by udp_latency.c and path_check.c.
 */
#include "core/engine/timestamp.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/units.h"

#define TIMESTAMP_CHECK_NS (10 * NSEC_PER_MSEC)
#define TIMESTAMP_TRIES	   5

static int64_t timestamp_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * NSEC_PER_SEC + t->tv_nsec;
}

/* One clock between two readings of the other; the closest of a few, should we be interrupted. */
static void timestamp_compare(struct timestamp_clock *c)
{
	int64_t least = INT64_MAX;
	for (int i = 0; i < TIMESTAMP_TRIES; i++) {
		struct timespec real;
		int64_t before = clock_now_ns();
		clock_gettime(CLOCK_REALTIME, &real);
		int64_t after = clock_now_ns();
		if (after - before >= least)
			continue;
		least = after - before;
		c->ahead_ns = timestamp_ns(&real) - before - least / 2;
		c->checked_ns = after;
	}
}

/* What CLOCK_MONOTONIC was then. The difference of the clocks is looked at once in 10 ms, since
 * CLOCK_REALTIME may be set at any time. now_ns: CLOCK_MONOTONIC. */
static int64_t timestamp_monotonic(struct timestamp_clock *c, const struct timespec *real,
				   int64_t now_ns)
{
	if (!c->checked_ns || now_ns - c->checked_ns > TIMESTAMP_CHECK_NS)
		timestamp_compare(c);
	return timestamp_ns(real) - c->ahead_ns;
}

int timestamp_enable(int fd, bool sends)
{
	int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
	if (sends)
		flags |= SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
			 SOF_TIMESTAMPING_OPT_TSONLY;
	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) ? -errno : 0;
}

int64_t timestamp_received(struct msghdr *m, struct timestamp_clock *c, int64_t now_ns)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_TIMESTAMPING)
			continue;
		struct scm_timestamping t;
		memcpy(&t, CMSG_DATA(h), sizeof(t));
		if (t.ts[0].tv_sec)
			return timestamp_monotonic(c, &t.ts[0], now_ns);
	}
	return 0;
}

/* True: these control messages are of a sent datagram, whose number is in *number. */
static bool timestamp_number(struct msghdr *m, uint32_t *number)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		bool error = (h->cmsg_level == IPPROTO_IP && h->cmsg_type == IP_RECVERR) ||
			     (h->cmsg_level == IPPROTO_IPV6 && h->cmsg_type == IPV6_RECVERR);
		struct sock_extended_err e;
		if (!error)
			continue;
		memcpy(&e, CMSG_DATA(h), sizeof(e));
		if (e.ee_origin != SO_EE_ORIGIN_TIMESTAMPING || e.ee_info != SCM_TSTAMP_SND)
			continue;
		*number = e.ee_data;
		return true;
	}
	return false;
}

int timestamp_fetch(int fd, struct timestamp_clock *c, int64_t now_ns, struct timestamp_sent *out)
{
	for (;;) {
		char control[TIMESTAMP_CONTROL] __attribute__((aligned(8)));
		struct msghdr m = {.msg_control = control, .msg_controllen = sizeof(control)};
		if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
			if (errno == EINTR)
				continue;
			return errno == EAGAIN ? 0 : -errno;
		}
		struct timestamp_sent t;
		if (!timestamp_number(&m, &t.number))
			continue;
		t.when_ns = timestamp_received(&m, c, now_ns);
		if (!t.when_ns)
			continue;
		*out = t;
		return 1;
	}
}
