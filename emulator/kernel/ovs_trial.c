/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ovs_trial: tries the kinds of ports of the userspace datapath, the fastest first. Called by ovs.c
 * once for all instances of a lab.
 *
 * A scratch instance in a namespace of its own gets two veth ports; their far ends, each in a
 * namespace, exchange data by TCP. Far ends have checksum offload off, as in labs: packet sockets
 * hand on frames whose checksum is to be filled in by a card, and then ARP and ping work and TCP
 * never connects.
 *
 * Measured on two CPUs, veth to veth, far ends with tx off: afxdp 1.8, afxdp-nonpmd 1.5, packet
 * sockets 0.6 Gbit/s, with and without userspace TSO (which pays only where far ends may keep tx
 * on: 4.9). Plain afxdp is left out: its thread spins on a CPU for each emulated host.
 */
#include "emulator/kernel/ovs_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/kernel/addr.h"
#include "emulator/kernel/ethtool.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/neigh.h"
#include "emulator/kernel/netns.h"
#include "emulator/kernel/ovs_run.h"
#include "emulator/kernel/route.h"

#define TRIAL_NAME    ".trial"
#define KIND_NS	      (3 * NSEC_PER_SEC) /* for all programs of one trial */
#define TRIAL_TIME_NS (800 * NSEC_PER_MSEC)
#define TRIAL_BYTES   65536
#define TRIAL_PORT    7

static const struct ovs_kind kinds[] = {
    {"afxdp-nonpmd", "afxdp-nonpmd", false},
    {"netdev-tso", NULL, true},
    {"netdev", NULL, false},
};

enum { HUB, LEFT, RIGHT, N_NS };
enum { INDEX = 101 }; /* hub: 101 left port, 102 right port; in LEFT and RIGHT: 101 eth0 */

struct trial {
	struct netns self, ns[N_NS];
	struct nl_batch batch;
	struct mac mac[N_NS]; /* of LEFT and RIGHT */
};

static const char *const side_name[] = {[LEFT] = "left", [RIGHT] = "right"};

static struct ip side_ip(int side)
{
	/* RFC 5737 TEST-NET-1; the namespaces are ours alone */
	return (struct ip){.family = AF_INET, .bytes = {192, 0, 2, (uint8_t)side}};
}

static int new_netns(struct netns *ns, struct err *err)
{
	if (unshare(CLONE_NEWNET) < 0)
		return err_sys(err, errno, "cannot make a network namespace");
	ns->fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (ns->fd < 0)
		return err_sys(err, errno, "cannot open a network namespace");
	return nl_open(NETLINK_ROUTE, &ns->rt, err);
}

static int add_side(struct trial *t, int side, struct err *err)
{
	struct link_spec port = {.name = side_name[side],
				 .ifindex = INDEX + side - LEFT,
				 .mac = mac_from_text(side_name[side])};
	struct link_spec far = {.name = "eth0", .ifindex = INDEX, .mac = t->mac[side]};

	link_veth(&t->batch, &port, &far, t->ns[side].fd);
	link_up(&t->batch, port.name, port.ifindex);
	return nl_send(t->ns[HUB].rt, &t->batch, err);
}

static int configure_side(struct trial *t, int side, struct err *err)
{
	int other = side == LEFT ? RIGHT : LEFT, rt = t->ns[side].rt;
	struct prefix address = {side_ip(side), 24};
	struct route_spec route = {
	    .dst = prefix_network(&address), .dev = "eth0", .ifindex = INDEX};
	struct ip peer = side_ip(other);
	int rc = ethtool_off(rt, "eth0", ETHTOOL_TX, err);

	if (rc)
		return rc;
	addr_add(&t->batch, "eth0", INDEX, &address);
	neigh_add(&t->batch, "eth0", INDEX, &peer, &t->mac[other]);
	link_up(&t->batch, "eth0", INDEX);
	route_add(&t->batch, &route);
	return nl_send(rt, &t->batch, err);
}

static int make_network(struct trial *t, struct err *err)
{
	int rc = netns_self(&t->self, err);

	for (int i = HUB; !rc && i < N_NS; i++)
		rc = new_netns(&t->ns[i], err);
	for (int side = LEFT; !rc && side <= RIGHT; side++) {
		t->mac[side] = mac_from_text(side == LEFT ? "trial left" : "trial right");
		rc = add_side(t, side, err);
	}
	for (int side = LEFT; !rc && side <= RIGHT; side++)
		rc = configure_side(t, side, err);
	return rc;
}

static int finish(int rc, struct ovs_job *job, struct err *err)
{
	return rc ? rc : ovs_run_finish(job, err);
}

static int run(const struct ovs_at *at, const char *const *argv, struct err *err)
{
	struct ovs_job job = {0};

	return finish(ovs_run_start(at, argv, NULL, &job, err), &job, err);
}

static int enable_tso(const struct ovs_at *at, struct err *err)
{
	const char *const argv[] = {"ovs-vsctl", "--no-wait",
				    "set",	 "Open_vSwitch",
				    ".",	 "other_config:userspace-tso-enable=true",
				    NULL};

	return run(at, argv, err);
}

/* One port of the kind is enough, since TCP goes both ways; an AF_XDP port costs 0.25 s. */
static int add_ports(const struct ovs_at *at, const struct ovs_kind *kind, struct err *err)
{
	autofree char *type = mem_printf("type=%s", kind->type ? kind->type : "");
	/* clang-format off */
	const char *const argv[] = {
		"ovs-vsctl", "--timeout=5",
		"add-br", "trial", "--", "set", "bridge", "trial", "datapath_type=netdev",
		"--", "add-port", "trial", "left", "--", "add-port", "trial", "right",
		kind->type ? "--" : NULL, "set", "interface", "left", type, NULL};
	/* clang-format on */

	return run(at, argv, err);
}

static int start_instance(const struct ovs_at *at, const struct ovs_kind *kind, struct err *err)
{
	struct ovs_job job = {0};
	int rc = ovs_run_prepare(at, err);

	if (!rc)
		rc = finish(ovs_run_ovsdb(at, &job, err), &job, err);
	if (!rc && kind->tso)
		rc = enable_tso(at, err);
	if (!rc)
		rc = finish(ovs_run_vswitchd(at, "netdev", &job, err), &job, err);
	return rc ? rc : add_ports(at, kind, err);
}

/* A TCP socket in the namespace of a side, which it then stays in. */
static int socket_at(struct trial *t, int side, struct err *err)
{
	struct err back = ERR_INIT;
	int fd, rc = netns_enter(&t->ns[side], err);

	if (rc)
		return rc;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = fd < 0 ? err_sys(err, errno, "cannot make a socket") : 0;
	if (netns_enter(&t->self, &back) && !rc) {
		*err = back;
		close(fd);
		rc = -err->code;
	}
	return rc ? rc : fd;
}

static struct sockaddr_in server_address(void)
{
	struct ip ip = side_ip(RIGHT);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(TRIAL_PORT)};

	memcpy(&a.sin_addr, ip.bytes, sizeof(a.sin_addr));
	return a;
}

static int wait_for(int fd, short events, int64_t deadline, struct err *err)
{
	struct pollfd p = {.fd = fd, .events = events};
	int64_t left = (deadline - clock_now_ns()) / NSEC_PER_MSEC;

	if (left <= 0 || poll(&p, 1, (int)left) <= 0)
		return err_fail(err, ETIMEDOUT, "TCP does not get through");
	return 0;
}

/* Writes all at one end while reading it at the other. */
static int pump(int from, int to, int64_t deadline, struct err *err)
{
	static const char zeros[TRIAL_BYTES];
	size_t sent = 0, got = 0;

	while (got < TRIAL_BYTES) {
		char buf[16384];
		ssize_t n = sent < TRIAL_BYTES ? write(from, zeros, TRIAL_BYTES - sent) : 0;
		int rc;

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return err_sys(err, errno, "TCP does not get through");
		sent += n > 0 ? (size_t)n : 0;
		rc = wait_for(to, POLLIN, deadline, err);
		if (rc)
			return rc;
		n = read(to, buf, sizeof(buf));
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return err_fail(err, EIO, "TCP broke");
		got += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int exchange(int server, int client, struct err *err)
{
	struct sockaddr_in address = server_address();
	int64_t deadline = clock_now_ns() + TRIAL_TIME_NS;
	autofd int accepted = -1;
	int rc;

	if (bind(server, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(server, 1) < 0)
		return err_sys(err, errno, "cannot listen");
	if (connect(client, (struct sockaddr *)&address, sizeof(address)) < 0 &&
	    errno != EINPROGRESS)
		return err_sys(err, errno, "cannot connect");
	rc = wait_for(server, POLLIN, deadline, err);
	if (!rc)
		rc = wait_for(client, POLLOUT, deadline, err);
	if (rc)
		return rc;
	accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (accepted < 0)
		return err_sys(err, errno, "cannot accept");
	return pump(client, accepted, deadline, err);
}

static int connect_sides(struct trial *t, struct err *err)
{
	autofd int server = socket_at(t, RIGHT, err);
	autofd int client = server < 0 ? -1 : socket_at(t, LEFT, err);

	return client < 0 ? -err->code : exchange(server, client, err);
}

static int try_kind(const struct ovs_kind *kind, struct err *err)
{
	struct trial t = {.self = NETNS_INIT, .ns = {NETNS_INIT, NETNS_INIT, NETNS_INIT}};
	struct ovs_at at = {.name = TRIAL_NAME, .deadline_ns = clock_now_ns() + KIND_NS};
	struct err back = ERR_INIT;
	int rc = make_network(&t, err);

	/* Back home first: the programs start from here. */
	if (t.self.fd >= 0 && netns_enter(&t.self, &back) && !rc) {
		*err = back;
		rc = -err->code;
	}
	if (!rc) {
		at.ns_fd = t.ns[HUB].fd;
		rc = start_instance(&at, kind, err);
		if (!rc)
			rc = connect_sides(&t, err);
		ovs_run_stop(&at);
	}
	nl_batch_done(&t.batch);
	for (int i = HUB; i < N_NS; i++)
		netns_close(&t.ns[i]);
	netns_close(&t.self);
	return rc;
}

int ovs_trial(bool xdp, const struct ovs_kind **kind, struct strbuf *why, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct err failed = ERR_INIT;
		int rc;

		if (kinds[i].type && !xdp)
			continue;
		rc = try_kind(&kinds[i], &failed);
		if (!rc) {
			*kind = &kinds[i];
			return 0;
		}
		if (failed.kind == ERR_UNSUPPORTED) { /* no program: the other kinds fail too */
			*err = failed;
			return rc;
		}
		strbuf_addf(why, "%s%s: %s", why->len ? "; " : "", kinds[i].name, failed.text);
	}
	return err_unsupported(err,
			       "no kind of port of Open vSwitch's userspace datapath works: %s",
			       strbuf_text(why));
}
