/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_multicast: one sender, spec.streams receivers in the server's worker, each with a socket of
 * its own that has joined spec.group (239.1.1.1 or ff15::1). Datagrams, schedule and counting are
 * udp_stream's, so that each receiver knows what it lost.
 *
 * The client sends from the device through which it reaches the server, or bind_device, and with a
 * hop limit of 1. The server joins on bind_device, or on every device that is up and has an address
 * of the family: one network that it reaches through two devices would give each datagram twice,
 * and they are counted as duplicates. No hello is sent: that would need an answer to a group.
 *
 * In the result, with N datagrams sent in the window and R receivers:
 *   client.packets, sent_pps   N, once
 *   server.packets             sum over the receivers of what each got, without duplicates
 *   lost                       sum over the receivers of N − what it got: N·R = server.packets +
 * lost loss                       lost / (N·R) pps, goodput_bps           sums over the receivers,
 * as are duplicated, reordered, late, lost_host, drops_all detail.receivers           [{"received",
 * "lost", "loss", "lost_host", "duplicated", "reordered", "late"}, …], each receiver by itself
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/engine/udp.h"

#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

#define MULTICAST_DEVICES 64

static bool multicast_is(const struct ip *ip)
{
	return ip->family == AF_INET6 ? ip->bytes[0] == 0xff : ip->bytes[0] >> 4 == 0xe;
}

static int udp_multicast_check(const struct engine_spec *s, struct err *err)
{
	struct ip group;
	int r = udp_stream_check(s, err);
	if (r || !*s->group)
		return r;
	if (ip_parse(s->group, &group, err))
		return err_wrap(err, "group");
	if (!multicast_is(&group))
		return err_input(err,
				 "group: %s is no multicast address, such as 239.1.1.1 or "
				 "ff15::1",
				 s->group);
	return 0;
}

static int multicast_group(const struct worker *w, struct ip *group, struct err *err)
{
	const char *text = *w->spec.group	   ? w->spec.group
			   : w->family == AF_INET6 ? "ff15::1"
						   : "239.1.1.1";
	int r = ip_parse(text, group, err);
	if (r)
		return err_wrap(err, "group");
	if (group->family != w->family)
		return err_input(err, "group: %s is not of the family of the server's address",
				 text);
	return 0;
}

static bool multicast_has(const int *devices, int n, int device)
{
	for (int i = 0; i < n; i++)
		if (devices[i] == device)
			return true;
	return false;
}

static const void *multicast_bytes(const struct sockaddr *a)
{
	return a->sa_family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr
					: (const void *)&((const struct sockaddr_in *)a)->sin_addr;
}

/* On one network, so that both would hear each datagram? Link-local networks tell nothing. */
static bool multicast_same(const struct ifaddrs *a, const struct ifaddrs *b)
{
	int family = a->ifa_addr->sa_family, size = family == AF_INET6 ? 16 : 4;
	const uint8_t *x = multicast_bytes(a->ifa_addr), *y = multicast_bytes(b->ifa_addr);
	if (!a->ifa_netmask || !b->ifa_netmask ||
	    (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)x)))
		return false;
	const uint8_t *m = multicast_bytes(a->ifa_netmask);
	if (memcmp(m, multicast_bytes(b->ifa_netmask), (size_t)size) != 0)
		return false;
	for (int i = 0; i < size; i++)
		if ((x[i] ^ y[i]) & m[i])
			return false;
	return true;
}

/* Is another device, before `a` in the list, on one network with a's? Then that one joins. */
static bool multicast_twin(const struct ifaddrs *all, const struct ifaddrs *a)
{
	for (const struct ifaddrs *mine = all; mine; mine = mine->ifa_next) {
		if (!mine->ifa_addr || mine->ifa_addr->sa_family != a->ifa_addr->sa_family ||
		    strcmp(mine->ifa_name, a->ifa_name) != 0)
			continue;
		for (const struct ifaddrs *b = all; b != mine; b = b->ifa_next)
			if (b->ifa_addr && b->ifa_addr->sa_family == a->ifa_addr->sa_family &&
			    b->ifa_flags & IFF_UP && strcmp(b->ifa_name, a->ifa_name) != 0 &&
			    multicast_same(mine, b))
				return true;
	}
	return false;
}

/* The devices that are up and have an address of the family (`only`: this one); of several on one
 * network the first, for each datagram would come by all of them. */
static int multicast_devices(int family, const struct sockaddr_storage *only, int *devices)
{
	struct ifaddrs *all = NULL;
	size_t at = family == AF_INET6 ? offsetof(struct sockaddr_in6, sin6_addr)
				       : offsetof(struct sockaddr_in, sin_addr);
	int n = 0;
	if (getifaddrs(&all))
		return 0;
	for (struct ifaddrs *a = all; a && n < MULTICAST_DEVICES; a = a->ifa_next) {
		if (!a->ifa_addr || a->ifa_addr->sa_family != family || !(a->ifa_flags & IFF_UP))
			continue;
		if (only && memcmp((const char *)only + at, (const char *)a->ifa_addr + at,
				   family == AF_INET6 ? 16 : 4) != 0)
			continue;
		if (!only && multicast_twin(all, a))
			continue;
		int device = (int)if_nametoindex(a->ifa_name);
		if (device && !multicast_has(devices, n, device))
			devices[n++] = device;
	}
	freeifaddrs(all);
	return n;
}

static int multicast_named(const struct engine_spec *s, int *devices, struct err *err)
{
	devices[0] = (int)if_nametoindex(s->bind_device);
	return devices[0] ? 1 : err_sys(err, errno, "bind_device: '%s'", s->bind_device);
}

static int multicast_join(int fd, const struct ip *group, int device)
{
	if (group->family == AF_INET6) {
		struct ipv6_mreq six = {.ipv6mr_interface = (unsigned)device};
		memcpy(&six.ipv6mr_multiaddr, group->bytes, 16);
		return setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &six, sizeof(six));
	}
	struct ip_mreqn four = {.imr_ifindex = device};
	memcpy(&four.imr_multiaddr, group->bytes, 4);
	return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &four, sizeof(four));
}

/* Joins where it can; an error when it can nowhere. */
static int multicast_join_all(struct worker *w, int fd, const struct ip *group, struct err *err)
{
	int devices[MULTICAST_DEVICES], joined = 0, code = ENODEV;
	int n = *w->spec.bind_device ? multicast_named(&w->spec, devices, err)
				     : multicast_devices(w->family, NULL, devices);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		if (multicast_join(fd, group, devices[i]))
			code = errno;
		else
			joined++;
	}
	/* What other sockets of this host have joined is not for this one. */
	setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &(int){0}, sizeof(int));
	if (w->family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, &(int){0}, sizeof(int));
	return joined ? 0 : err_sys(err, code, "joining the group on any of %d devices", n);
}

/* All receivers share a port. The first one chooses it, alone: SO_REUSEADDR before that could give
 * a port that someone else uses. */
static int multicast_receiver(struct stream *s, const struct ip *group, int port, struct err *err)
{
	struct worker *w = s->w;
	struct sockaddr_storage a;
	socklen_t len = socket_address(&a, w->family, group, port);
	s->fd = socket_open(&w->spec, true, w->family, err);
	if (s->fd < 0)
		return s->fd;
	setsockopt(s->fd, SOL_SOCKET, SO_RXQ_OVFL, &(int){1}, sizeof(int));
	if (port)
		setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (bind(s->fd, (struct sockaddr *)&a, len))
		return err_sys(err, errno, "binding to the group");
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	s->port = socket_port(s->fd);
	return multicast_join_all(w, s->fd, group, err);
}

static int multicast_open_server(struct worker *w, json_t *ready, struct err *err)
{
	struct ip group;
	int r = multicast_group(w, &group, err);
	for (int i = 0; i < w->n_streams && !r; i++)
		r = multicast_receiver(&w->streams[i], &group, i ? w->streams[0].port : 0, err);
	if (!r)
		json_object_set_new(ready, "port", json_integer(w->streams[0].port));
	return r;
}

/* The device through which the server is reached. */
static int multicast_way(struct worker *w, int *device, struct err *err)
{
	struct sockaddr_storage local = {0};
	int devices[MULTICAST_DEVICES];
	if (*w->spec.bind_device) {
		int n = multicast_named(&w->spec, devices, err);
		*device = devices[0];
		return n < 0 ? n : 0;
	}
	autofd int fd = socket_open(&w->spec, true, w->family, err);
	if (fd < 0)
		return fd;
	int r = socket_bind_client(fd, &w->spec, w->family, err);
	if (r)
		return r;
	if (connect(fd, (struct sockaddr *)&w->peer, w->peer_len) ||
	    getsockname(fd, (struct sockaddr *)&local, &(socklen_t){sizeof(local)}))
		return err_sys(err, errno, "finding the way to the server");
	if (!multicast_devices(w->family, &local, devices))
		return err_fail(err, ENODEV, "finding the device that leads to the server");
	*device = devices[0];
	return 0;
}

static int multicast_from(int fd, int family, int device)
{
	struct ip_mreqn four = {.imr_ifindex = device};
	return family == AF_INET6
		   ? setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &device, sizeof(device))
		   : setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &four, sizeof(four));
}

/* One stream sends; the others of the client have no socket. */
static int multicast_open_client(struct worker *w, json_t *connect_message, struct err *err)
{
	struct ip group;
	struct sockaddr_storage a;
	int device = 0, r = multicast_group(w, &group, err);
	if (!r)
		r = multicast_way(w, &device, err);
	if (r)
		return r;
	struct stream *s = &w->streams[0];
	s->port = (int)json_integer_value(json_object_get(connect_message, "port"));
	s->fd = socket_open(&w->spec, true, w->family, err);
	if (s->fd < 0)
		return s->fd;
	r = socket_bind_client(s->fd, &w->spec, w->family, err);
	if (r)
		return r;
	socklen_t len = socket_address(&a, w->family, &group, s->port);
	if (multicast_from(s->fd, w->family, device) || connect(s->fd, (struct sockaddr *)&a, len))
		return err_sys(err, errno, "sending to the group from device %d", device);
	for (int i = 0; i < w->n_streams; i++)
		w->streams[i].attached = true;
	return 0;
}

static void udp_multicast_body(struct stream *s)
{
	if (s->fd >= 0)
		udp_stream_body(s);
}

static const char *const udp_multicast_aliases[] = {NULL};

const struct engine_def udp_multicast_engine = {
    .test = TEST_UDP_MULTICAST,
    .name = "udp_multicast",
    .aliases = udp_multicast_aliases,
    .open = {multicast_open_server, multicast_open_client},
    .check = udp_multicast_check,
    .body = {udp_multicast_body, udp_multicast_body},
    .group = true,
    UDP_STREAM_PARTS,
};
