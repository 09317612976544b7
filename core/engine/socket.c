/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * socket: what the engines need of socket(7), ip(7), ipv6(7), tcp(7). It makes no connection and
 * moves no data. Used by setup.c, run.c and the engines.
 */
#include "core/engine/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/str.h"

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
#define SOCKET_MEMINFO_VARS  9 /* linux/sock_diag.h: SK_MEMINFO_VARS, SK_MEMINFO_DROPS */
#define SOCKET_MEMINFO_DROPS 8
#define SOCKET_UDP_RCVBUF    (8 << 20) /* a receiver that is late for 50 ms of small packets */

static int socket_int(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

/* With the privilege beyond the system's limit, without it up to the limit. */
static int socket_buffer(int fd, int forced, int plain, int64_t bytes, const char *key,
			 struct err *err)
{
	if (!bytes || !socket_int(fd, SOL_SOCKET, forced, (int)bytes))
		return 0;
	int r = socket_int(fd, SOL_SOCKET, plain, (int)bytes);
	return r ? err_sys(err, -r, "%s: setting it to %lld", key, (long long)bytes) : 0;
}

/* The first line of a file of sysctl, without its end. */
static void socket_sysctl(const char *path, char *text, size_t size)
{
	autofd int f = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = f < 0 ? -1 : read(f, text, size - 1);
	if (n <= 0)
		n = snprintf(text, size, "not known");
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* Without CAP_NET_ADMIN only what tcp_allowed_congestion_control lists may be chosen, see tcp(7).
 */
int socket_congestion_set(int fd, const struct engine_spec *s, struct err *err)
{
	const char *name = s->congestion;
	if (!*name || !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)))
		return 0;
	int code = errno;
	char there[512];
	if (code == EPERM && !s->congestion_required)
		return 0;
	if (code == EPERM) {
		socket_sysctl("/proc/sys/net/ipv4/tcp_allowed_congestion_control", there,
			      sizeof(there));
		return err_unsupported(err,
				       "congestion: this user may not choose '%s': the sysctl "
				       "net.ipv4.tcp_allowed_congestion_control has only: %s",
				       name, there);
	}
	socket_sysctl("/proc/sys/net/ipv4/tcp_available_congestion_control", there, sizeof(there));
	if (code == ENOENT)
		return err_unsupported(err, "congestion: this kernel has no '%s'; it has %s", name,
				       there);
	return err_sys(err, code, "congestion: choosing '%s' (this kernel has %s)", name, there);
}

static int socket_options(int fd, const struct engine_spec *s, bool datagram, int family,
			  struct err *err)
{
	int64_t rcvbuf = s->rcvbuf ? s->rcvbuf : datagram ? SOCKET_UDP_RCVBUF : 0;
	int r = socket_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, rcvbuf, "rcvbuf", err);
	if (!r)
		r = socket_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, s->sndbuf, "sndbuf", err);
	if (!r && !datagram)
		r = socket_congestion_set(fd, s, err);
	if (r)
		return r;
	if (!datagram && s->mss && (r = socket_int(fd, IPPROTO_TCP, TCP_MAXSEG, s->mss)))
		return err_sys(err, -r, "mss: setting it to %d (Linux takes 88 to 32767)", s->mss);
	if (!datagram && s->no_delay && (r = socket_int(fd, IPPROTO_TCP, TCP_NODELAY, 1)))
		return err_sys(err, -r, "no_delay: setting TCP_NODELAY");
	if (s->dscp) {
		r = family == AF_INET6 ? socket_int(fd, IPPROTO_IPV6, IPV6_TCLASS, s->dscp << 2)
				       : socket_int(fd, IPPROTO_IP, IP_TOS, s->dscp << 2);
		if (r)
			return err_sys(err, -r, "dscp: setting it to %d", s->dscp);
	}
	if (*s->bind_device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, s->bind_device,
					  (socklen_t)strlen(s->bind_device)))
		return err_sys(err, errno, "bind_device: binding to '%s'", s->bind_device);
	if (family == AF_INET6 && (r = socket_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1)))
		return err_sys(err, -r, "setting IPV6_V6ONLY");
	return 0;
}

int socket_open(const struct engine_spec *s, bool datagram, int family, struct err *err)
{
	int type = (datagram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC;
	autofd int fd = socket(family, type, 0);
	if (fd < 0)
		return err_sys(err, errno, "opening a %s socket", datagram ? "UDP" : "TCP");
	int r = socket_options(fd, s, datagram, family, err);
	if (r)
		return r;
	int out = fd;
	fd = -1;
	return out;
}

socklen_t socket_address(struct sockaddr_storage *a, int family, const struct ip *ip, int port)
{
	memset(a, 0, sizeof(*a));
	if (family == AF_INET6) {
		struct sockaddr_in6 *six = (struct sockaddr_in6 *)a;
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		if (ip && ip->family)
			memcpy(&six->sin6_addr, ip->bytes, 16);
		return sizeof(*six);
	}
	struct sockaddr_in *four = (struct sockaddr_in *)a;
	four->sin_family = AF_INET;
	four->sin_port = htons((uint16_t)port);
	if (ip && ip->family)
		memcpy(&four->sin_addr, ip->bytes, 4);
	return sizeof(*four);
}

socklen_t socket_length(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

void socket_set_port(struct sockaddr_storage *a, int port)
{
	if (a->ss_family == AF_INET6)
		((struct sockaddr_in6 *)a)->sin6_port = htons((uint16_t)port);
	else
		((struct sockaddr_in *)a)->sin_port = htons((uint16_t)port);
}

/* The device behind which a link-local address is, here. */
static int socket_zone(const struct engine_spec *s, const char *text, const char *named,
		       uint32_t *scope, struct err *err)
{
	const char *zone = *named ? named : *s->bind_device ? s->bind_device : s->zone;
	if (!*zone)
		return err_input(err,
				 "%s is link-local: behind which device is it? Write %s%%DEVICE, "
				 "or name it with --bind-device",
				 text, text);
	if (*s->bind_device && !str_eq(zone, s->bind_device))
		return err_input(err, "%s is not behind the device '%s' (bind_device)", text,
				 s->bind_device);
	*scope = if_nametoindex(zone);
	return *scope ? 0 : err_input(err, "%s: there is no device '%s' here", text, zone);
}

int socket_locate(const struct engine_spec *s, const char *text, struct sockaddr_storage *a,
		  struct ip *ip, struct err *err)
{
	struct ip_zone at;
	uint32_t scope = 0;
	int r = ip_zone_parse(text, &at, err);
	if (!r && ip_is_link_local(&at.ip))
		r = socket_zone(s, text, at.zone, &scope, err);
	if (r)
		return r;
	socket_address(a, at.ip.family, &at.ip, 0);
	if (at.ip.family == AF_INET6)
		((struct sockaddr_in6 *)a)->sin6_scope_id = scope;
	if (ip)
		*ip = at.ip;
	return 0;
}

int socket_client(const struct engine_spec *s, int family, struct sockaddr_storage *a,
		  struct err *err)
{
	int r = socket_locate(s, s->client_address, a, NULL, err);
	if (r)
		return err_wrap(err, "client_address");
	if (a->ss_family != family)
		return err_input(err,
				 "client_address: %s is not of the family of the server's address",
				 s->client_address);
	return 0;
}

int socket_bind_client(int fd, const struct engine_spec *s, int family, struct err *err)
{
	struct sockaddr_storage a;
	if (!*s->client_address)
		return 0;
	int r = socket_client(s, family, &a, err);
	if (r)
		return r;
	/* The port is chosen when it connects: 10,000 connections to different ports may share one.
	 */
	socket_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	if (bind(fd, (struct sockaddr *)&a, socket_length(&a)))
		return err_sys(err, errno, "client_address: binding to %s", s->client_address);
	return 0;
}

static int socket_split(const struct sockaddr_storage *a, char text[static INET6_ADDRSTRLEN])
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;
	bool is_six = a->ss_family == AF_INET6;
	const void *bytes = is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr;
	if (!inet_ntop(a->ss_family, bytes, text, INET6_ADDRSTRLEN))
		text[0] = '\0';
	return ntohs(is_six ? six->sin6_port : four->sin_port);
}

int socket_port(int fd)
{
	struct sockaddr_storage a = {0};
	char text[INET6_ADDRSTRLEN];
	if (getsockname(fd, (struct sockaddr *)&a, &(socklen_t){sizeof(a)}))
		return 0;
	return socket_split(&a, text);
}

json_t *socket_flow(int fd, bool datagram)
{
	struct sockaddr_storage a = {0}, b = {0};
	char local[INET6_ADDRSTRLEN] = "", remote[INET6_ADDRSTRLEN] = "";
	int local_port = 0, remote_port = 0;
	if (!getsockname(fd, (struct sockaddr *)&a, &(socklen_t){sizeof(a)}))
		local_port = socket_split(&a, local);
	if (!getpeername(fd, (struct sockaddr *)&b, &(socklen_t){sizeof(b)}))
		remote_port = socket_split(&b, remote);
	return json_pack("{s:s,s:i,s:s,s:i,s:s}", "local", local, "local_port", local_port,
			 "remote", remote, "remote_port", remote_port, "protocol",
			 datagram ? "udp" : "tcp");
}

int socket_tcp_info(int fd, struct socket_tcp *out)
{
	struct tcp_info info = {0};
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &(socklen_t){sizeof(info)}))
		return -errno;
	*out = (struct socket_tcp){
	    .sockets = 1,
	    .retransmits = info.tcpi_total_retrans,
	    .rtt_us = info.tcpi_rtt,
	    .rttvar_us = info.tcpi_rttvar,
	    .min_rtt_us = info.tcpi_min_rtt == UINT32_MAX ? 0 : info.tcpi_min_rtt,
	    .cwnd = info.tcpi_snd_cwnd,
	    .mss = (int)info.tcpi_snd_mss,
	    .bytes_sent = (int64_t)info.tcpi_bytes_sent,
	    .bytes_received = (int64_t)info.tcpi_bytes_received,
	    .bytes_acked = (int64_t)info.tcpi_bytes_acked,
	    .segs_out = info.tcpi_segs_out,
	    .data_segs_out = info.tcpi_data_segs_out,
	    .delivery_bps = 8 * (double)info.tcpi_delivery_rate,
	    .app_limited = info.tcpi_delivery_rate_app_limited,
	    .busy_us = (int64_t)info.tcpi_busy_time,
	    .rwnd_limited_us = (int64_t)info.tcpi_rwnd_limited,
	    .sndbuf_limited_us = (int64_t)info.tcpi_sndbuf_limited,
	    .reord_seen = info.tcpi_reord_seen,
	    .dsack_dups = info.tcpi_dsack_dups,
	};
	return 0;
}

static double socket_mean(double mean, int n, double one)
{
	return mean + (one - mean) / (n + 1);
}

void socket_tcp_add(struct socket_tcp *sum, const struct socket_tcp *one)
{
	int n = sum->sockets++;
	sum->rtt_us = socket_mean(sum->rtt_us, n, one->rtt_us);
	sum->rttvar_us = socket_mean(sum->rttvar_us, n, one->rttvar_us);
	sum->cwnd = socket_mean(sum->cwnd, n, one->cwnd);
	if (one->min_rtt_us > 0 && (!(sum->min_rtt_us > 0) || one->min_rtt_us < sum->min_rtt_us))
		sum->min_rtt_us = one->min_rtt_us;
	if (!sum->mss || one->mss < sum->mss)
		sum->mss = one->mss;
	sum->retransmits += one->retransmits;
	sum->bytes_sent += one->bytes_sent;
	sum->bytes_received += one->bytes_received;
	sum->bytes_acked += one->bytes_acked;
	sum->segs_out += one->segs_out;
	sum->data_segs_out += one->data_segs_out;
	sum->delivery_bps += one->delivery_bps;
	sum->app_limited += one->app_limited;
	sum->busy_us += one->busy_us;
	sum->rwnd_limited_us += one->rwnd_limited_us;
	sum->sndbuf_limited_us += one->sndbuf_limited_us;
	sum->reord_seen += one->reord_seen;
	sum->dsack_dups += one->dsack_dups;
}

void socket_congestion(int fd, char name[static 16])
{
	socklen_t len = 16;
	memset(name, 0, 16);
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len))
		name[0] = '\0';
	name[15] = '\0';
}

int64_t socket_rcvbuf(int fd)
{
	int v = 0;
	return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, &(socklen_t){sizeof(v)}) ? 0 : v;
}

int64_t socket_drops(int fd)
{
	uint32_t v[SOCKET_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(v);
	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, v, &len) || len < sizeof(v))
		return -1;
	return v[SOCKET_MEMINFO_DROPS];
}

int socket_mtu(int fd)
{
	int family = 0, v = 0;
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &(socklen_t){sizeof(family)});
	int level = family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
	int option = family == AF_INET6 ? IPV6_MTU : IP_MTU;
	return getsockopt(fd, level, option, &v, &(socklen_t){sizeof(v)}) ? 0 : v;
}

void socket_abort_on_close(int fd)
{
	struct linger linger = {.l_onoff = 1, .l_linger = 0};
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}
