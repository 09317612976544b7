/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events: a thin layer over epoll for the engines whose threads serve several sockets. It knows
 * nothing of what is sent. Used by tcp_rr_events.c, udp_rr_events.c, tcp_crr_client.c and
 * tcp_crr_server.c.
 */
#include "core/engine/events.h"

#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/units.h"

#define EVENTS_SPINS 64 /* empty looks between two offers of the CPU to others */

int events_add(struct events *e, int fd, uint32_t what, void *ptr)
{
	struct epoll_event event = {.events = what, .data.ptr = ptr};
	return epoll_ctl(e->fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int events_change(struct events *e, int fd, uint32_t what, void *ptr)
{
	struct epoll_event event = {.events = what, .data.ptr = ptr};
	return epoll_ctl(e->fd, EPOLL_CTL_MOD, fd, &event) ? -errno : 0;
}

int events_open(struct events *e, struct worker *w)
{
	e->w = w;
	e->fd = epoll_create1(EPOLL_CLOEXEC);
	return e->fd < 0 ? -errno : events_add(e, w->over_fd, EPOLLIN, NULL);
}

void events_close(struct events *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

static int events_spin(struct events *e, int64_t deadline_ns)
{
	for (int spins = 1;; spins++) {
		int n = epoll_wait(e->fd, e->got, EVENTS_MAX, 0);
		if (n > 0)
			return n;
		if (spins % EVENTS_SPINS)
			continue;
		if (worker_over(e->w) || clock_now_ns() >= deadline_ns)
			return 0;
		sched_yield();
	}
}

int events_wait(struct events *e, int64_t now_ns, int64_t deadline_ns)
{
	if (e->w->spec.spin)
		return events_spin(e, deadline_ns);
	int64_t left = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	struct timespec ts = {left / NSEC_PER_SEC, left % NSEC_PER_SEC};
	int n = epoll_pwait2(e->fd, e->got, EVENTS_MAX, &ts, NULL);
	return n < 0 ? 0 : n;
}
