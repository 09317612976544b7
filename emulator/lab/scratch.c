/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scratch: a child in fresh namespaces. Called by machine.c, doctor.c and
 * relays_measure.c. The child is killed with
 * its parent; it starts no process that outlives it.
 */
#include "emulator/lab/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "emulator/kernel/nl.h"
#include "emulator/lab/msg.h"
#include "emulator/lab/supervisor.h"

static int set_up(struct err *err)
{
	bool userns = supervisor_needs_userns();
	unsigned uid = geteuid(), gid = getegid();
	int rc;

	if (unshare(CLONE_NEWNET | CLONE_NEWNS | (userns ? CLONE_NEWUSER : 0)) < 0)
		return supervisor_explain(errno, err);
	rc = userns ? supervisor_map_ids(uid, gid, err) : 0;
	if (rc)
		return rc;
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return supervisor_explain(errno, err);
	return 0;
}

static _Noreturn void child(int (*fn)(void *arg, json_t **out, struct err *err), void *arg,
			    int report)
{
	struct err err = ERR_INIT;
	json_t *m = NULL;
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rc = set_up(&err);
	if (!rc)
		rc = fn(arg, &m, &err);
	if (rc)
		m = msg_error(&err);
	rc = msg_send(report, m);
	json_decref(m);
	_exit(rc ? 1 : 0);
}

int scratch_run(int (*fn)(void *arg, json_t **out, struct err *err), void *arg, json_t **out,
		struct err *err)
{
	json_t *m = NULL;
	int fds[2], rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot make a pipe");
	pid = fork();
	if (pid == 0)
		child(fn, arg, fds[1]);
	rc = pid < 0 ? errno : 0;
	close(fds[1]);
	if (rc) {
		close(fds[0]);
		return err_sys(err, rc, "cannot start a process");
	}
	rc = msg_recv(fds[0], &m);
	close(fds[0]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (rc)
		return err_sys(err, -rc, "a process that tries out the kernel ended early");
	rc = msg_take_error(m, err);
	if (rc)
		json_decref(m);
	else
		*out = m;
	return rc;
}

int scratch_veths(const struct link_spec *ends, size_t n, struct err *err)
{
	autofd int ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	autofree struct link_spec *made = mem_zalloc(n * sizeof(*made));
	struct nl_batch batch = {0};
	autofd int rt = -1;
	int rc;

	if (ns < 0)
		return err_sys(err, errno, "cannot open the network namespace");
	rc = nl_open(NETLINK_ROUTE, &rt, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		made[i] = (struct link_spec){.name = ends[i].name,
					     .ifindex = ends[i].ifindex,
					     .mac = mac_from_text(ends[i].name)};
	for (size_t i = 0; i + 1 < n; i += 2)
		link_veth(&batch, &made[i], &made[i + 1], ns);
	rc = nl_send(rt, &batch, err);
	for (size_t i = 0; i < n; i++)
		link_up(&batch, made[i].name, made[i].ifindex);
	if (!rc)
		rc = nl_send(rt, &batch, err);
	nl_batch_done(&batch);
	return rc;
}

int64_t scratch_flood(int fd, int ifindex, int64_t span_ns)
{
	static char frame[SCRATCH_FRAME];
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = ifindex};
	struct iovec iov = {.iov_base = frame, .iov_len = sizeof(frame)};
	struct mmsghdr batch[16];
	int64_t end = clock_now_ns() + span_ns, frames = 0;

	frame[12] = (char)(ETH_P_802_EX1 >> 8);
	frame[13] = (char)(ETH_P_802_EX1 & 0xff);
	for (size_t i = 0; i < ARRAY_SIZE(batch); i++)
		batch[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &to,
							.msg_namelen = sizeof(to),
							.msg_iov = &iov,
							.msg_iovlen = 1}};
	while (clock_now_ns() < end) {
		int n = sendmmsg(fd, batch, ARRAY_SIZE(batch), 0);

		if (n < 0 && errno != EINTR && errno != ENOBUFS)
			return -errno;
		frames += n > 0 ? n : 0;
	}
	return frames;
}
