/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * canary: waits for the end of network namespaces. Called by down.c alone.
 *
 * The kernel destroys namespaces in batches, one batch after the other, on one ordered work queue
 * (cleanup_net() in net/core/net_namespace.c). A device that goes with a namespace takes its veth
 * peer with it, and that is announced where the peer lives. So the canary is a process with a
 * namespace of its own and two veth pairs: the far end of the first is in the lab's own namespace,
 * which it keeps open until all other namespaces of the lab are on the queue: when it is announced
 * as gone, the last batch with a namespace of the lab is being worked on. Then it drops the second
 * pair's: that is in a later batch, so when it goes, the batches before it are done.
 */
#include "emulator/lab/canary.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/units.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/nl.h"
#include "emulator/lab/msg.h"

enum { FIRST = 101, SECOND = 102, FAR = 0x7ffffff0 }; /* ifindexes; FAR: unused in any lab */

static int open_own_netns(struct err *err)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err_sys(err, errno, "cannot open the network namespace");
	return fd;
}

static int new_netns(struct err *err)
{
	if (unshare(CLONE_NEWNET) < 0) {
		err_sys(err, errno, "cannot make a network namespace");
		return -1;
	}
	return open_own_netns(err);
}

/* Hears of devices that go, in the namespace of the calling thread. */
static int listen_links(struct err *err)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return err_sys(err, errno, "cannot listen for devices that go");
	return fd;
}

struct far { /* the namespaces of the far ends */
	int lab, second;
};

/* Enters the lab's own namespace, then a new one for each end. Leaves the caller in the near one.
 */
static int make_pairs(const struct lab *lab, struct far *far, struct err *err)
{
	bool userns = json_is_true(json_object_get(lab->state, "userns"));
	struct mac mac = mac_from_text("vpclab down");
	struct link_spec near[] = {{.name = "first", .ifindex = FIRST, .mac = mac},
				   {.name = "second", .ifindex = SECOND, .mac = mac}};
	struct link_spec end = {.name = "vpclab-down", .ifindex = FAR, .mac = mac};
	struct nl_batch batch = {0};
	int fd, rc;

	if (setns(lab->pidfd, CLONE_NEWNET | (userns ? CLONE_NEWUSER : 0)) < 0)
		return err_sys(err, errno, "cannot enter lab '%s'", lab->name);
	far->lab = open_own_netns(err);
	far->second = far->lab < 0 ? -1 : new_netns(err);
	if (far->second < 0 || unshare(CLONE_NEWNET) < 0)
		return err->code ? -err->code : err_sys(err, errno, "cannot make a namespace");
	rc = nl_open(NETLINK_ROUTE, &fd, err);
	if (rc)
		return rc;
	link_veth(&batch, &near[0], &end, far->lab);
	link_veth(&batch, &near[1], &end, far->second);
	rc = nl_send(fd, &batch, err);
	nl_batch_done(&batch);
	close(fd);
	return rc;
}

static bool announces(const struct nlmsghdr *nlh, int len, int ifindex)
{
	for (; NLMSG_OK(nlh, (unsigned)len); nlh = NLMSG_NEXT(nlh, len)) {
		const struct ifinfomsg *ifi = NLMSG_DATA(nlh);

		if (nlh->nlmsg_type == RTM_DELLINK && ifi->ifi_index == ifindex)
			return true;
	}
	return false;
}

static int await_gone(int events, int ifindex)
{
	union {
		struct nlmsghdr head;
		char bytes[8192];
	} buf;

	for (;;) {
		ssize_t n = recv(events, &buf, sizeof(buf), 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && announces(&buf.head, (int)n, ifindex))
			return 0;
	}
}

/* An empty message: ready, or go. */
static int say(int line)
{
	json_t *m = json_object();
	int rc = msg_send(line, m);

	json_decref(m);
	return rc;
}

/* Or until the other end has ended. */
static void await_go(int line)
{
	json_t *m = NULL;

	msg_recv(line, &m);
	json_decref(m);
}

static int sing(const struct lab *lab, int line, struct err *err)
{
	struct far far = {-1, -1};
	int rc = make_pairs(lab, &far, err);
	int events = rc ? -1 : listen_links(err);

	if (events < 0)
		return -err->code;
	rc = say(line);
	if (rc)
		return rc;
	await_go(line);
	close(far.lab);
	rc = await_gone(events, FIRST);
	close(far.second);
	return rc ? rc : await_gone(events, SECOND);
}

static _Noreturn void canary_main(const struct lab *lab, int line)
{
	struct err err = ERR_INIT;
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Labs may end at the same time, each in a thread: what another one has open keeps its
	 * namespaces. */
	proc_close_others((int[]){lab->pidfd, line}, 2);
	rc = sing(lab, line, &err);
	if (err.code) {
		json_t *m = msg_error(&err);

		msg_send(line, m);
	}
	_exit(rc ? 1 : 0);
}

static int await_ready(int line, struct err *err)
{
	json_t *m = NULL;
	int rc = msg_recv(line, &m);

	rc = rc ? err_sys(err, -rc, "cannot watch the lab end") : msg_take_error(m, err);
	json_decref(m);
	return rc;
}

int canary_start(const struct lab *lab, struct canary *c, struct err *err)
{
	int ends[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, errno, "cannot make a pair of sockets");
	c->proc.pid = fork();
	if (c->proc.pid == 0)
		canary_main(lab, ends[1]);
	c->line = ends[0];
	close(ends[1]);
	c->proc.pidfd = c->proc.pid < 0 ? -1 : pidfd_open(c->proc.pid, 0);
	rc = c->proc.pidfd < 0 ? err_sys(err, errno, "cannot watch the lab end")
			       : await_ready(c->line, err);
	if (rc)
		canary_done(c);
	return rc;
}

int canary_wait(struct canary *c, int64_t deadline_ns, struct err *err)
{
	int status = 0, rc;

	/* A word, not only the end of the line: a process that another thread has just forked may
	 * hold it, too. */
	say(c->line);
	rc = proc_wait(&c->proc, deadline_ns, &status, err);
	if (!rc && status)
		rc = err_fail(err, EIO, "the end of the lab's namespaces could not be watched");
	canary_done(c);
	return rc;
}

void canary_done(struct canary *c)
{
	if (c->line >= 0)
		close(c->line);
	c->line = -1;
	proc_kill(&c->proc, 0);
}
