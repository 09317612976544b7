/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_probe: questions and answers of path_check on the wire, see path_probe.h. It draws no
 * conclusion. Used by path_check.c.
 *
 * A question is a packet.h packet, then kind (8 bits), class (8), hop limit (8), a spare byte, size
 * and answer's size (16 each), wait in ms (32). Its answer repeats that and adds what the server
 * saw: class and hops left (8 each), size (16), the MTU that it was told (32; the first bit: by its
 * own device), source and destination port (16 each) and address (128 each). All in network order.
 */
#include "core/engine/path_probe.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/packet.h"

#define PATH_LOCAL	 0x80000000u
#define PATH_ROOM	 65536
#define PATH_QUESTION	 (PACKET_TIMED + 12)
#define PATH_ANSWER	 (PATH_QUESTION + 44)
#define PATH_FIRST_NS	 NSEC_PER_SEC /* patience before a round trip is known */
#define PATH_LEAST_NS	 (150 * NSEC_PER_MSEC)
#define PATH_TRIES	 3
#define PATH_TRIES_LOSSY 8
#define PATH_SLICE_NS	 (50 * NSEC_PER_MSEC)
#define PATH_SILENCE_NS	 (8 * NSEC_PER_SEC) /* a client that is silent for longer is gone */

struct path_wire { /* of a question; the answer has it too */
	uint8_t kind, dscp, hops, spare;
	uint16_t size, answer_size;
	uint32_t wait_ms;
};

struct path_seen { /* of an answer, after it */
	uint8_t tos, hops;
	uint16_t size;
	uint32_t mtu;
	uint16_t source_port, destination_port;
	uint8_t source[16], destination[16];
};

struct path_arrival { /* a datagram and what the kernel says about it */
	ssize_t length;
	int tos, hops;
	struct sockaddr_storage from;
	struct ip to;
	char pktinfo[CMSG_SPACE(sizeof(struct in6_pktinfo))]; /* to answer from there */
	size_t pktinfo_size;
};

static int path_headers(const struct path_probe *p)
{
	return p->s->w->family == AF_INET6 ? 48 : 28;
}

int path_probe_smallest(const struct path_probe *p)
{
	return path_headers(p) + PATH_QUESTION;
}

static void path_set(const struct path_probe *p, int four, int six, int value)
{
	if (p->s->w->family == AF_INET6)
		setsockopt(p->s->fd, IPPROTO_IPV6, six, &value, sizeof(value));
	else
		setsockopt(p->s->fd, IPPROTO_IP, four, &value, sizeof(value));
}

void path_probe_init(struct path_probe *p, struct stream *s)
{
	*p = (struct path_probe){.s = s, .data = mem_zalloc(PATH_ROOM)};
	path_set(p, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	path_set(p, IP_RECVERR, IPV6_RECVERR, 1);
	path_set(p, IP_RECVTOS, IPV6_RECVTCLASS, 1);
	path_set(p, IP_RECVTTL, IPV6_RECVHOPLIMIT, 1);
	path_set(p, IP_PKTINFO, IPV6_RECVPKTINFO, 1);
}

void path_probe_done(struct path_probe *p)
{
	free(p->data);
	p->data = NULL;
}

/* One number of a control message: the kernel gives the class of IPv4 as a byte, others as int. */
static int path_number(const struct cmsghdr *c)
{
	if (c->cmsg_len < CMSG_LEN(sizeof(int)))
		return *CMSG_DATA(c);
	int v;
	memcpy(&v, CMSG_DATA(c), sizeof(v));
	return v;
}

static void path_control(struct path_arrival *a, const struct cmsghdr *c)
{
	bool four = c->cmsg_level == IPPROTO_IP, six = c->cmsg_level == IPPROTO_IPV6;
	if ((four && c->cmsg_type == IP_TOS) || (six && c->cmsg_type == IPV6_TCLASS))
		a->tos = path_number(c);
	else if ((four && c->cmsg_type == IP_TTL) || (six && c->cmsg_type == IPV6_HOPLIMIT))
		a->hops = path_number(c);
	else if (four && c->cmsg_type == IP_PKTINFO) {
		struct in_pktinfo info;
		memcpy(&info, CMSG_DATA(c), sizeof(info));
		a->to.family = AF_INET;
		memcpy(a->to.bytes, &info.ipi_addr, 4);
		/* Answered from the address that was asked, by whichever device leads back. */
		info = (struct in_pktinfo){.ipi_spec_dst = info.ipi_addr};
		memcpy(a->pktinfo, &info, sizeof(info));
		a->pktinfo_size = sizeof(info);
	} else if (six && c->cmsg_type == IPV6_PKTINFO) {
		struct in6_pktinfo info;
		memcpy(&info, CMSG_DATA(c), sizeof(info));
		a->to.family = AF_INET6;
		memcpy(a->to.bytes, &info.ipi6_addr, 16);
		if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
			info.ipi6_ifindex = 0;
		memcpy(a->pktinfo, &info, sizeof(info));
		a->pktinfo_size = sizeof(info);
	}
}

/* The next datagram, without waiting; false: none. */
static bool path_take(struct path_probe *p, struct path_arrival *a)
{
	char control[512] __attribute__((aligned(8)));
	struct iovec iov = {p->data, PATH_ROOM};
	*a = (struct path_arrival){.tos = -1, .hops = -1};
	struct msghdr m = {.msg_name = &a->from,
			   .msg_namelen = sizeof(a->from),
			   .msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	a->length = recvmsg(p->s->fd, &m, MSG_DONTWAIT);
	if (a->length < 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		path_control(a, c);
	return true;
}

/* What a hop, or this host, said of a datagram of ours; false: nothing more. */
static bool path_error(struct path_probe *p, struct path_icmp *out, uint64_t *number)
{
	char control[512] __attribute__((aligned(8))), data[PATH_QUESTION];
	struct iovec iov = {data, sizeof(data)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(p->s->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT);
	if (n < 0)
		return false;
	struct packet packet;
	*out = (struct path_icmp){0};
	*number = n >= PACKET_TIMED && packet_get(data, (size_t)n, &packet) ? packet.number : 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		struct sock_extended_err e;
		bool four = c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR;
		if (!four && !(c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR))
			continue;
		memcpy(&e, CMSG_DATA(c), sizeof(e));
		*out = (struct path_icmp){.any = true,
					  .local = e.ee_origin == SO_EE_ORIGIN_LOCAL,
					  .type = e.ee_type,
					  .code = e.ee_code,
					  .mtu = e.ee_errno == EMSGSIZE ? (int)e.ee_info : 0};
		const char *offender = (const char *)CMSG_DATA(c) + sizeof(e);
		out->from.family = out->local ? 0 : four ? AF_INET : AF_INET6;
		if (four)
			memcpy(out->from.bytes, offender + offsetof(struct sockaddr_in, sin_addr),
			       4);
		else
			memcpy(out->from.bytes, offender + offsetof(struct sockaddr_in6, sin6_addr),
			       16);
	}
	return true;
}

int path_probe_device_mtu(struct path_probe *p)
{
	struct path_icmp icmp;
	uint64_t number;
	memset(p->data, 0, PATH_ROOM);
	/* More than any device takes at once: refused with the device's own. */
	int r = (int)send(p->s->fd, p->data, 65507, MSG_DONTWAIT | MSG_NOSIGNAL);
	int mtu = r >= 0 ? 65507 + path_headers(p) : 0;
	while (path_error(p, &icmp, &number))
		if (icmp.local && icmp.mtu)
			mtu = icmp.mtu;
	return mtu ? mtu : socket_mtu(p->s->fd);
}

static size_t path_payload(const struct path_probe *p, int size, size_t least)
{
	size_t payload = size > path_headers(p) ? (size_t)(size - path_headers(p)) : 0;
	return payload < least ? least : payload > 65507 ? 65507 : payload;
}

static bool path_send(struct path_probe *p, const struct path_question *q)
{
	size_t length = path_payload(p, q->size, PATH_QUESTION);
	struct packet packet = {p->s->w->session, PHASE_MEASURE, ++p->number, clock_now_ns()};
	struct path_wire wire = {.kind = (uint8_t)q->kind,
				 .dscp = (uint8_t)q->dscp,
				 .hops = (uint8_t)(q->hops ? q->hops : PATH_HOPS),
				 .size = htobe16((uint16_t)q->size),
				 .answer_size = htobe16((uint16_t)q->answer_size),
				 .wait_ms = htobe32((uint32_t)q->wait_ms)};
	path_set(p, IP_TTL, IPV6_UNICAST_HOPS, wire.hops);
	path_set(p, IP_TOS, IPV6_TCLASS, q->dscp << 2);
	memset(p->data, 0, length);
	packet_put(p->data, length, &packet);
	memcpy(p->data + PACKET_TIMED, &wire, sizeof(wire));
	p->s->packets_all++;
	p->bytes += (int64_t)length;
	/* An ICMP error of the one before makes one call fail; it is in the error queue. */
	for (int i = 0; i < 3; i++) {
		if (send(p->s->fd, p->data, length, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return true;
		if (errno == EMSGSIZE && i)
			return false;
	}
	return false;
}

static void path_ip(struct ip *ip, int family, const uint8_t *bytes)
{
	*ip = (struct ip){.family = family};
	memcpy(ip->bytes, bytes, family == AF_INET6 ? 16 : 4);
}

/* Is it the answer to the question that is out? */
static bool path_is_answer(struct path_probe *p, const struct path_arrival *arrival,
			   struct path_answer *a)
{
	struct packet packet;
	struct path_seen seen;
	if (arrival->length < PATH_ANSWER ||
	    !packet_get(p->data, (size_t)arrival->length, &packet) ||
	    packet.session != p->s->w->session || packet.phase != PHASE_MEASURE ||
	    packet.number != p->number)
		return false;
	memcpy(&seen, p->data + PATH_QUESTION, sizeof(seen));
	int family = p->s->w->family;
	a->answered = true;
	a->round_trip_ns = clock_now_ns() - packet.sent_ns;
	a->size = be16toh(seen.size);
	a->dscp = seen.tos >> 2;
	a->hops_left = seen.hops;
	a->server_mtu = (int)(be32toh(seen.mtu) & ~PATH_LOCAL);
	a->server_local = be32toh(seen.mtu) & PATH_LOCAL;
	a->source_port = be16toh(seen.source_port);
	a->destination_port = be16toh(seen.destination_port);
	path_ip(&a->source, family, seen.source);
	path_ip(&a->destination, family, seen.destination);
	a->answer_size = (int)arrival->length + path_headers(p);
	a->answer_dscp = arrival->tos < 0 ? -1 : arrival->tos >> 2;
	a->answer_hops_left = arrival->hops;
	return true;
}

/* Sleeps until something is there, or then. */
static void path_wait(const struct path_probe *p, int64_t until)
{
	int64_t left = until - clock_now_ns();
	if (left > PATH_SLICE_NS)
		left = PATH_SLICE_NS;
	struct timespec ts = {0, left > 0 ? left : 0};
	struct pollfd fd = {.fd = p->s->fd, .events = POLLIN};
	ppoll(&fd, 1, &ts, NULL);
}

/* Until the answer, an ICMP message about this question, or the deadline. */
static void path_listen(struct path_probe *p, int64_t sent_ns, int64_t deadline,
			struct path_answer *a)
{
	while (!worker_over(p->s->w)) {
		struct path_arrival arrival;
		struct path_icmp icmp;
		uint64_t number;
		while (path_error(p, &icmp, &number))
			if (icmp.any && (!number || number == p->number)) {
				a->icmp = icmp;
				a->round_trip_ns = clock_now_ns() - sent_ns;
			}
		while (!a->answered && path_take(p, &arrival))
			path_is_answer(p, &arrival, a);
		if (a->answered || a->icmp.any || clock_now_ns() >= deadline)
			return;
		path_wait(p, deadline);
	}
}

static int64_t path_patience(const struct path_probe *p)
{
	int64_t patience = p->smoothed_ns ? 4 * p->smoothed_ns + PATH_LEAST_NS : PATH_FIRST_NS;
	return patience < PATH_FIRST_NS ? patience : PATH_FIRST_NS;
}

bool path_probe_ask(struct path_probe *p, const struct path_question *q, struct path_answer *a)
{
	int tries = q->tries ? q->tries : p->lossy ? PATH_TRIES_LOSSY : PATH_TRIES;
	*a = (struct path_answer){0};
	for (int i = 0; i < tries && !a->answered && !a->icmp.any && !a->refused; i++) {
		int64_t sent = clock_now_ns();
		a->tries = i + 1;
		a->refused = !path_send(p, q);
		int64_t deadline = sent + path_patience(p) + q->wait_ms * NSEC_PER_MSEC;
		path_listen(p, sent, a->refused ? sent : deadline, a);
	}
	p->lossy |= a->answered && a->tries > 1;
	if (a->answered && q->kind == PATH_ECHO)
		p->smoothed_ns = p->smoothed_ns
				     ? p->smoothed_ns + (a->round_trip_ns - p->smoothed_ns) / 8
				     : a->round_trip_ns;
	return !worker_over(p->s->w);
}

static int path_port(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port
					: ((const struct sockaddr_in *)a)->sin_port;
}

static void path_see(const struct path_probe *p, const struct path_arrival *arrival,
		     struct path_seen *seen)
{
	const struct sockaddr_storage *from = &arrival->from;
	*seen = (struct path_seen){
	    .tos = (uint8_t)arrival->tos,
	    .hops = (uint8_t)arrival->hops,
	    .size = htobe16((uint16_t)(arrival->length + path_headers(p))),
	    .mtu = htobe32((uint32_t)p->told_mtu | (p->told_local ? PATH_LOCAL : 0)),
	    .source_port = (uint16_t)path_port(from),
	    .destination_port = htobe16((uint16_t)p->s->port)};
	if (from->ss_family == AF_INET6)
		memcpy(seen->source, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
	else
		memcpy(seen->source, &((const struct sockaddr_in *)from)->sin_addr, 4);
	memcpy(seen->destination, arrival->to.bytes, 16);
}

static void path_answer_one(struct path_probe *p, struct path_arrival *arrival,
			    const struct path_wire *wire)
{
	struct path_seen seen;
	size_t length = path_payload(p, be16toh(wire->answer_size), PATH_ANSWER);
	path_see(p, arrival, &seen);
	path_set(p, IP_TTL, IPV6_UNICAST_HOPS, PATH_HOPS);
	path_set(p, IP_TOS, IPV6_TCLASS, wire->dscp << 2);
	memcpy(p->data + PATH_QUESTION, &seen, sizeof(seen));
	memset(p->data + PATH_ANSWER, 0, length - PATH_ANSWER);
	bool six = arrival->from.ss_family == AF_INET6;
	char control[CMSG_SPACE(sizeof(struct in6_pktinfo))] __attribute__((aligned(8))) = {0};
	struct iovec iov = {p->data, length};
	struct msghdr m = {.msg_name = &arrival->from,
			   .msg_namelen =
			       six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in),
			   .msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = CMSG_SPACE(arrival->pktinfo_size)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = six ? IPPROTO_IPV6 : IPPROTO_IP;
	c->cmsg_type = six ? IPV6_PKTINFO : IP_PKTINFO;
	c->cmsg_len = CMSG_LEN(arrival->pktinfo_size);
	memcpy(CMSG_DATA(c), arrival->pktinfo, arrival->pktinfo_size);
	p->told_mtu = 0;
	p->told_local = false;
	for (int i = 0; i < 2; i++) /* an ICMP error of the one before fails one call */
		if (sendmsg(p->s->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return;
}

/* One datagram. False: it was the last one. `until_ns` grows by the silence that it announces. */
static bool path_serve_one(struct path_probe *p, struct path_arrival *arrival, int64_t *until_ns)
{
	struct packet packet;
	struct path_wire wire;
	if (arrival->length < PATH_QUESTION ||
	    !packet_get(p->data, (size_t)arrival->length, &packet) ||
	    packet.session != p->s->w->session || packet.phase != PHASE_MEASURE)
		return true;
	memcpy(&wire, p->data + PACKET_TIMED, sizeof(wire));
	int64_t now = clock_now_ns(), wait_ns = be32toh(wire.wait_ms) * NSEC_PER_MSEC;
	p->s->packets_all++;
	p->bytes += arrival->length;
	window_track_add(&p->s->track, now, 1);
	*until_ns = now + PATH_SILENCE_NS + wait_ns;
	if (wire.kind == PATH_WAIT && !run_sleep(p->s->w, now + wait_ns))
		return false;
	path_answer_one(p, arrival, &wire);
	return wire.kind != PATH_BYE;
}

void path_probe_serve(struct path_probe *p)
{
	int64_t until = p->s->w->win.begin_ns + PATH_SILENCE_NS;
	while (!worker_over(p->s->w) && clock_now_ns() < until) {
		struct path_arrival arrival;
		struct path_icmp icmp;
		uint64_t number;
		while (path_error(p, &icmp, &number))
			if (icmp.mtu) {
				p->told_mtu = icmp.mtu;
				p->told_local = icmp.local;
			}
		if (!path_take(p, &arrival))
			path_wait(p, until);
		else if (!path_serve_one(p, &arrival, &until))
			return;
	}
}
