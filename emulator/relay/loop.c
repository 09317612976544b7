/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop: waits and has lanes work. Called by relay.c; control.c gives it things to do. */
#include "emulator/relay/loop.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/units.h"

#define BLOCKED_NS (100 * NSEC_PER_USEC) /* until a device that takes no more is asked again */
#define SLICE_NS   (100 * NSEC_PER_USEC)
#define DOWN_NS	   (100 * NSEC_PER_MSEC) /* how often devices that are down are looked at */
#define LEAD_LEAST (5 * NSEC_PER_USEC)

int loop_open(struct loop *l, const struct relay_spec *s, struct err *err)
{
	int rc;

	*l = (struct loop){.name = s->name, .wake = -1, .lead_ns = LOOP_LEAD_NS / 2};
	for (int d = 0; d < RELAY_DIRECTIONS; d++)
		l->lanes[d].in.fd = -1;
	sem_init(&l->called, 0, 0);
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = l->wake < 0 ? err_sys(err, errno, "cannot make an eventfd") : 0;
	if (!rc)
		rc = fatelog_init(&l->log, s, err);
	for (int d = 0; !rc && d < RELAY_DIRECTIONS; d++)
		rc = lane_open(&l->lanes[d], d, s, &l->log, err);
	if (rc)
		loop_close(l);
	return rc;
}

void loop_close(struct loop *l)
{
	for (int d = 0; d < RELAY_DIRECTIONS; d++)
		lane_close(&l->lanes[d]);
	fatelog_done(&l->log);
	if (l->wake >= 0)
		close(l->wake);
	sem_destroy(&l->called);
}

void loop_call(struct loop *l, loop_fn *fn, void *arg)
{
	const uint64_t one = 1;

	l->arg = arg;
	atomic_store(&l->call, fn);
	/* One of the two takes it: the loop looks once more after it has said that it stops. */
	if (atomic_load(&l->stopped) && atomic_exchange(&l->call, NULL)) {
		fn(l, arg);
		return;
	}
	while (write(l->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	while (sem_wait(&l->called) < 0 && errno == EINTR)
		;
}

static void take_call(struct loop *l)
{
	loop_fn *fn = atomic_load_explicit(&l->call, memory_order_relaxed);
	uint64_t count;

	if (fn)
		fn = atomic_exchange(&l->call, NULL);
	if (!fn)
		return;
	while (read(l->wake, &count, sizeof(count)) < 0 && errno == EINTR)
		;
	fn(l, l->arg);
	sem_post(&l->called);
}

/*
 * Timers without slack, and the loop runs before others when it wakes. Root may have that for good:
 * the lowest real-time priority; what the kernel keeps back for the others (5 %, see
 * sched_rt_runtime_us in proc(5)) keeps an overloaded relay from starving them. An ordinary user's
 * loop asks for a short time slice, which gives it an early deadline (sched_setattr(2), since Linux
 * 6.12 for ordinary threads too).
 */
static void be_prompt(void)
{
	const struct sched_param realtime = {.sched_priority = 1};
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {.size = sizeof(attr), .runtime = SLICE_NS};

	prctl(PR_SET_TIMERSLACK, 1);
	if (get_nprocs() > 1 &&
	    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &realtime) == 0)
		return;
	setpriority(PRIO_PROCESS, 0, -15);
	attr.nice = getpriority(PRIO_PROCESS, 0);
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* How late this thread wakes, smoothed: follows a rise at once and a fall slowly. */
static void learn_lead(struct loop *l, int64_t slip_ns)
{
	int64_t want = slip_ns < LEAD_LEAST ? LEAD_LEAST : slip_ns;

	if (want > LOOP_LEAD_NS)
		want = LOOP_LEAD_NS;
	l->lead_ns += (want - l->lead_ns) / (want > l->lead_ns ? 4 : 64);
}

static int look_at_devices(struct loop *l, struct err *err)
{
	l->down = false;
	for (int d = 0; d < RELAY_DIRECTIONS; d++) {
		int up = port_in_state(&l->lanes[d].in);

		if (up < 0)
			return err_fail(err, ENODEV, "a device of the relay of '%s' has gone",
					l->name);
		l->down = l->down || !up;
	}
	return 0;
}

static bool any_error(const struct pollfd *p)
{
	for (int d = 0; d < RELAY_DIRECTIONS; d++)
		if (p[d].revents & (POLLERR | POLLHUP | POLLNVAL))
			return true;
	return false;
}

/* Until something arrives, somebody calls, or it is `until_ns`, less the lead. */
static int sleep_until(struct loop *l, int64_t until_ns, struct err *err)
{
	struct pollfd p[RELAY_DIRECTIONS + 1] = {
	    {.fd = l->lanes[RELAY_AB].in.fd, .events = POLLIN},
	    {.fd = l->lanes[RELAY_BA].in.fd, .events = POLLIN},
	    {.fd = l->wake, .events = POLLIN},
	};
	int64_t now = clock_now_ns(), wake_ns = until_ns - l->lead_ns, left;
	struct timespec t;
	int n;

	if (l->down && wake_ns > now + DOWN_NS)
		wake_ns = now + DOWN_NS;
	left = wake_ns - now;
	if (left <= 0)
		return 0;
	t = (struct timespec){left / NSEC_PER_SEC, left % NSEC_PER_SEC};
	n = ppoll(p, RELAY_DIRECTIONS + 1, until_ns == INT64_MAX && !l->down ? NULL : &t, NULL);
	if (n == 0)
		learn_lead(l, clock_now_ns() - wake_ns);
	return l->down || (n > 0 && any_error(p)) ? look_at_devices(l, err) : 0;
}

static void breathe(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static int wait_for_work(struct loop *l, bool blocked, struct err *err)
{
	int64_t now = clock_now_ns(), next = INT64_MAX;

	for (int d = 0; d < RELAY_DIRECTIONS; d++) {
		int64_t ns = lane_next_ns(&l->lanes[d]);

		next = ns < next ? ns : next;
	}
	if (blocked && next < now + BLOCKED_NS)
		next = now + BLOCKED_NS;
	if (next - now > l->lead_ns)
		return sleep_until(l, next, err);
	while (clock_now_ns() < next)
		breathe();
	return 0;
}

int loop_run(struct loop *l, struct err *err)
{
	int rc = 0;

	be_prompt();
	while (!rc && !l->end) {
		int64_t now = clock_now_ns(), wall = port_wall_ns();
		bool worked = false, blocked = false;

		take_call(l);
		for (int d = 0; d < RELAY_DIRECTIONS; d++)
			worked = lane_take(&l->lanes[d], now, wall) || worked;
		for (int d = 0; d < RELAY_DIRECTIONS; d++) {
			int n = lane_give(&l->lanes[d], clock_now_ns());

			worked = worked || n > 0;
			blocked = blocked || n == -EAGAIN;
		}
		if (!worked && !l->end)
			rc = wait_for_work(l, blocked, err);
	}
	atomic_store(&l->stopped, true);
	take_call(l);
	return rc;
}
