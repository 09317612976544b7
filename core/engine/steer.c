/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steer: see steer.h. /sys shows the devices of the namespace in which it was mounted, so a mount
 * of our own is made, attached nowhere: it shows those of this process. Called by udp_receive.c.
 */
#include "core/engine/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/mem.h"

#define STEER_QUEUES 256
#define STEER_MASK   512 /* text of a CPU mask */

struct steer_queue {
	int fd; /* of rps_cpus */
	char old[STEER_MASK];
};

static struct { /* the process's */
	pthread_mutex_t lock;
	int users;
	int device; /* ifindex */
	int n;
	struct steer_queue queues[STEER_QUEUES];
} steered = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int steer_sysfs(struct err *err)
{
	autofd int context = fsopen("sysfs", FSOPEN_CLOEXEC);
	if (context < 0 || fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return errno == EPERM
			   ? err_unsupported(err, "io steer: only root may steer packets: sysfs "
						  "cannot be mounted here")
			   : err_sys(err, errno, "io steer: mounting sysfs");
	int fd = fsmount(context, FSMOUNT_CLOEXEC, 0);
	return fd >= 0 ? fd : err_sys(err, errno, "io steer: mounting sysfs");
}

/* As the kernel reads CPU masks: hexadecimal, in groups of 32 CPUs. */
static void steer_mask(char *text, size_t size, int cpu)
{
	int n = snprintf(text, size, "%x", 1U << (cpu % 32));
	for (int group = cpu / 32; group > 0 && n < (int)size - 16; group--)
		n += snprintf(text + n, size - (size_t)n, ",00000000");
}

static int steer_set(struct steer_queue *q, const char *mask, const char *path, struct err *err)
{
	ssize_t n = pread(q->fd, q->old, sizeof(q->old) - 1, 0);
	q->old[n > 0 ? n : 0] = '\0';
	if (pwrite(q->fd, mask, strlen(mask), 0) >= 0)
		return 0;
	int code = errno;
	if (code == EPERM || code == EACCES)
		return err_unsupported(err,
				       "io steer: only root may steer packets: %s may not be "
				       "written",
				       path);
	return err_sys(err, code, "io steer: writing '%s' to %s", mask, path);
}

static void steer_restore(void)
{
	for (int i = 0; i < steered.n; i++) {
		struct steer_queue *q = &steered.queues[i];
		ssize_t done = pwrite(q->fd, q->old, strlen(q->old), 0);
		(void)done; /* a device that is gone needs no restoring */
		close(q->fd);
	}
	steered.n = 0;
}

/* All receive queues of the device. */
static int steer_device(int index, int cpu, struct err *err)
{
	char name[IF_NAMESIZE], path[128], mask[STEER_MASK];
	if (!if_indextoname((unsigned)index, name))
		return err_sys(err, errno, "io steer: the device %d that receives", index);
	autofd int sysfs = steer_sysfs(err);
	if (sysfs < 0)
		return sysfs;
	steer_mask(mask, sizeof(mask), cpu);
	int r = 0;
	while (!r && steered.n < STEER_QUEUES) {
		struct steer_queue *q = &steered.queues[steered.n];
		snprintf(path, sizeof(path), "class/net/%s/queues/rx-%d/rps_cpus", name, steered.n);
		q->fd = openat(sysfs, path, O_RDWR | O_CLOEXEC);
		if (q->fd < 0)
			break;
		steered.n++;
		r = steer_set(q, mask, path, err);
	}
	if (!r && !steered.n)
		r = errno == EPERM || errno == EACCES
			? err_unsupported(err,
					  "io steer: only root may steer packets: /sys/%s may not "
					  "be written",
					  path)
			: err_unsupported(err,
					  "io steer: %s has no receive queue to steer: "
					  "/sys/%s: %s",
					  name, path, strerror(errno));
	if (r)
		steer_restore();
	return r;
}

void steer_ask(int fd, int family, bool on)
{
	int value = on;
	setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &value, sizeof(value));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &value, sizeof(value));
}

/* Through which device the first datagram came, which stays queued; 0: it does not say. -1: none
 * came. */
static int steer_peek(int fd)
{
	char byte, control[CMSG_SPACE(sizeof(struct in6_pktinfo)) + 64] __attribute__((aligned(8)));
	struct iovec iov = {&byte, 1};
	struct sockaddr_storage from; /* a datagram has one, even an empty one; the end has none */
	struct msghdr m = {.msg_name = &from,
			   .msg_namelen = sizeof(from),
			   .msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &m, MSG_PEEK);
	if (n < 0)
		return errno == EINTR || errno == ECONNREFUSED ? 0 : -1;
	if (!n && !m.msg_namelen)
		return -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			return info.ipi_ifindex;
		}
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			return (int)info.ipi6_ifindex;
		}
	}
	return 0;
}

/* Those that were queued before anyone asked for destinations, before the start, say nothing. */
int steer_arrival(int fd, int family)
{
	char byte;
	int device;
	while (!(device = steer_peek(fd)))
		if (recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EINVAL)
			break;
	steer_ask(fd, family, false);
	return device > 0 ? device : 0;
}

int steer_begin(int device, int cpu, struct err *err)
{
	int r = 0;
	pthread_mutex_lock(&steered.lock);
	if (!steered.users)
		r = steer_device(device, cpu >= 0 ? cpu : sched_getcpu(), err);
	else if (device != steered.device)
		r = err_unsupported(err, "io steer: streams come in through different devices");
	if (!r) {
		steered.device = device;
		steered.users++;
	}
	pthread_mutex_unlock(&steered.lock);
	return r;
}

void steer_end(void)
{
	pthread_mutex_lock(&steered.lock);
	if (!--steered.users)
		steer_restore();
	pthread_mutex_unlock(&steered.lock);
}

int64_t steer_backlog_drops(void)
{
	FILE *f = fopen("/proc/net/softnet_stat", "re");
	int64_t sum = 0;
	char line[512];
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		unsigned processed, dropped;
		if (sscanf(line, "%x %x", &processed, &dropped) == 2)
			sum += dropped;
	}
	fclose(f);
	return sum;
}
