/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run: the streams' threads, and beside them the one that watches clock and control channel.
 *
 * The watcher samples CPU and TCP figures at the edges of the window, sends intervals, and ends the
 * threads by shutting their sockets down: a blocked call returns at once and the measured path
 * needs no timeouts. It sleeps in poll() otherwise. Called by worker.c.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/cpu.h"
#include "core/engine/result.h"
#include "core/engine/worker.h"

#define RUN_SLICE_NS  (20 * NSEC_PER_MSEC)  /* a sleeping stream notices the end within this */
#define RUN_TICK_NS   (5 * NSEC_PER_MSEC)   /* how often a server asks whether all has come */
#define RUN_GRACE_NS  (4 * NSEC_PER_SEC)    /* for what is on its way at the end */
#define RUN_BOUND_NS  (3 * NSEC_PER_SEC)    /* likewise, of a transfer that the duration bounds */
#define RUN_EXCUSE_NS (900 * NSEC_PER_MSEC) /* a busy machine tells the two ends far apart */
#define RUN_STALL_NS                                                                               \
	(5 * NSEC_PER_SEC) /* an open-ended transfer that moves nothing for so long                \
			    */
#define RUN_QUIET_NS	  (10 * NSEC_PER_SEC) /* in a window that has an end, likewise */
#define RUN_SILENT_NS	  (2 * NSEC_PER_SEC)  /* at the end of the window, likewise */
#define RUN_RESET_ON_FORK 1		      /* SCHED_FLAG_RESET_ON_FORK, sched(7) */
#define RUN_GAPS	  20		      /* … or this many times the mean gap */
#define RUN_FEW		  100		      /* streams; each more gets a millisecond to end */
#define RUN_SLOWEST	  1000000 /* bit/s that an open-ended transfer is given time for */
#define RUN_STACK	  (256 << 10)

void run_fail(struct stream *s, int code, const char *what)
{
	struct worker *w = s->w;
	if (worker_over(w) || (!w->def->open_end && clock_now_ns() >= w->win.end_ns))
		return;
	if (!code)
		err_fail(&s->err, ECONNRESET, "stream %d: %s: the peer closed the connection",
			 s->index, what);
	else
		err_sys(&s->err, code, "stream %d: %s", s->index, what);
	atomic_store(&w->failed, true);
}

bool run_sleep(const struct worker *w, int64_t until_ns)
{
	for (;;) {
		int64_t now = clock_now_ns();
		if (worker_over(w))
			return false;
		if (now >= until_ns)
			return true;
		clock_sleep_until_ns(until_ns - now > RUN_SLICE_NS ? now + RUN_SLICE_NS : until_ns);
	}
}

static bool run_sends(const struct crew *c)
{
	for (int i = 0; i < c->n; i++)
		if (stream_sends(&c->streams[i]))
			return true;
	return false;
}

/* Sleeps until the start without waking up meanwhile, as thousands of threads may do; false: over.
 */
static bool run_await_start(const struct worker *w)
{
	for (;;) {
		int64_t left = w->win.start_ns - clock_now_ns();
		if (worker_over(w))
			return false;
		if (left <= 0)
			return true;
		struct pollfd fd = {.fd = w->over_fd, .events = POLLIN};
		struct timespec ts = {left / NSEC_PER_SEC, left % NSEC_PER_SEC};
		ppoll(&fd, 1, &ts, NULL);
	}
}

static void run_spread(const struct crew *c)
{
	struct err ignored = ERR_INIT; /* the CPU has gone meanwhile: stays free */
	cpu_pin(cpu_allowed(c->index % cpu_count_allowed()), "spread", &ignored);
}

/* Whoever only receives is there before the start. */
static void *run_thread(void *arg)
{
	struct crew *c = arg;
	struct worker *w = c->w;
	int side = w->server ? 0 : 1;
	c->tid = (int)syscall(SYS_gettid);
	prctl(PR_SET_TIMERSLACK, 1);
	if (w->spec.spread)
		run_spread(c);
	if (!run_sends(c) || run_await_start(w)) {
		if (w->def->crew[side])
			w->def->crew[side](c);
		else
			w->def->body[side](c->streams);
	}
	atomic_fetch_sub(&w->sending, run_sends(c));
	sample_thread_ends(c);
	while (write(w->done_fd, &(uint64_t){1}, sizeof(uint64_t)) < 0 && errno == EINTR)
		;
	return NULL;
}

static int run_start(struct worker *w, struct err *err)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, RUN_STACK);
	int r = 0;
	for (int i = 0; i < w->n_crews && !r; i++) {
		struct crew *c = &w->crews[i];
		r = pthread_create(&c->thread, &attr, run_thread, c);
		c->running = !r;
		if (r)
			err_sys(err, r, "starting %d threads", w->n_crews);
		else
			r = worker_beat(w, true, err);
	}
	pthread_attr_destroy(&attr);
	return r ? -err->code : 0;
}

/*
 * Asks for short turns for this thread (EEVDF, Linux 6.12), but not for those that it makes: where
 * hundreds of streams are runnable on its CPU, it would see the edges of the window long after they
 * have passed. Older kernels ignore it.
 */
static void run_short_turns(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {.size = sizeof(attr), .flags = RUN_RESET_ON_FORK, .runtime = 100 * NSEC_PER_USEC};
	errno = 0;
	attr.nice = getpriority(PRIO_PROCESS, 0);
	if (!errno)
		syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void run_over(struct worker *w)
{
	atomic_store(&w->over, true);
	eventfd_write(w->over_fd, 1);
	for (int i = 0; i < w->n_listen; i++)
		shutdown(w->listen_fds[i], SHUT_RDWR);
	for (int i = 0; i < w->n_streams; i++)
		shutdown(w->streams[i].fd, SHUT_RDWR);
}

static void run_join(struct worker *w)
{
	struct err ignored = ERR_INIT;
	for (int i = 0; i < w->n_crews; i++) {
		worker_beat(w, true, &ignored);
		if (w->crews[i].running)
			pthread_join(w->crews[i].thread, NULL);
		w->crews[i].running = false;
	}
}

/* Does what is due at each edge that has passed. */
static int run_edges(struct worker *w, int64_t now, struct err *err)
{
	int r = 0;
	while (!r && w->sampled < w->win.edges && window_edge(&w->win, w->sampled) <= now) {
		int k = w->sampled++;
		sample_tcp(w, SAMPLE_SOCKETS, &w->tcp_at[k]);
		if (k == 0)
			sample_worker(w, 0, &w->begin);
		else
			r = control_send(&w->ctl, result_interval_message(w, k), err);
		if (k == w->win.edges - 1 && !w->win.open) {
			sample_worker(w, 1, &w->end);
			w->stopped_ns = w->win.end_ns;
		}
	}
	return r;
}

static int run_message(struct worker *w, json_t *m, struct err *err)
{
	if (str_eq(control_type(m), "stop")) {
		w->partial = !w->stopped_ns;
		run_over(w);
	} else if (str_eq(control_type(m), "sent") && w->def->settled && !w->totals) {
		w->totals = json_incref(m);
		w->totals_ns = clock_now_ns();
	} else if (str_eq(control_type(m), "clock")) {
		return worker_tell_time(w, m, err);
	} else {
		return err_input(err, "message '%s' is not expected while streams run",
				 control_type(m));
	}
	return 0;
}

/* The other worker counts what has come against what we have sent. */
static int run_tell(struct worker *w, struct err *err)
{
	if (w->told || !w->def->sent || atomic_load(&w->sending))
		return 0;
	w->told = true;
	return control_send(
	    &w->ctl, json_pack("{s:s,s:o}", "type", "sent", "packets", w->def->sent(w)), err);
}

static int run_control(struct worker *w, struct err *err)
{
	int r = control_fill(&w->ctl, err);
	if (!r && w->ctl.eof)
		return err_fail(err, ECANCELED, "the control channel was closed");
	json_t *m = NULL;
	while (!r && (m = control_next(&w->ctl, &r, err))) {
		r = run_message(w, m, err);
		json_decref(m);
	}
	return r;
}

static int64_t run_deadline(const struct worker *w)
{
	int64_t end = w->win.end_ns + RUN_GRACE_NS;
	if (w->def->linger_ns > RUN_GRACE_NS) /* of answers that may be as late as that */
		end += w->def->linger_ns - RUN_GRACE_NS + NSEC_PER_SEC / 2;
	if (w->n_streams > RUN_FEW)
		end += w->n_streams * NSEC_PER_MSEC;
	if (w->def->open_end && !w->spec.bounded) {
		double files = (double)w->spec.file_size * 8 / RUN_SLOWEST * w->n_streams *
			       (double)(w->spec.count ? w->spec.count : 1);
		end += files < 1e9 ? (int64_t)(files * 1e9) : (int64_t)1e18;
	}
	return end;
}

/* Does it wait at the end for what is still on its way? */
static bool run_settles(const struct worker *w)
{
	return w->def->settled && worker_receives(w);
}

/* When the watcher has to look again if nothing happens. */
static int64_t run_next(const struct worker *w, int64_t now)
{
	if (w->sampled < w->win.edges)
		return window_edge(&w->win, w->sampled);
	if (run_settles(w))
		return now + RUN_TICK_NS;
	int64_t over = w->win.end_ns + w->def->linger_ns;
	return !w->def->open_end && !worker_over(w) ? over : run_deadline(w);
}

/* All that was counted until now, of the streams whose count says that something came. */
static double run_heard(const struct worker *w, int64_t *last_ns)
{
	double units = 0;
	*last_ns = 0;
	for (int i = 0; i < w->n_streams; i++) {
		const struct window_track *t = &w->streams[i].track;
		if (stream_sends(&w->streams[i]) && w->def->unit != UNIT_TRANSACTIONS)
			continue;
		units += (double)atomic_load_explicit(&t->units, memory_order_relaxed);
		*last_ns = t->last_ns > *last_ns ? t->last_ns : *last_ns;
	}
	return units;
}

/* An open end has no time at which it is over: on a path that was cut it would wait for very long.
 */
static void run_stalled(struct worker *w, int64_t now)
{
	int64_t last;
	if (!worker_receives(w))
		return;
	double units = run_heard(w, &last);
	if (units != w->moved || now < w->win.begin_ns || !w->moved_ns) {
		w->moved = units;
		w->moved_ns = now;
	}
	if (now - w->moved_ns < RUN_STALL_NS)
		return;
	snprintf(w->invalid, sizeof(w->invalid),
		 "nothing came for %lld s: the path was cut, or the other end stood still",
		 (long long)(RUN_STALL_NS / NSEC_PER_SEC));
	w->partial = true;
	run_over(w);
}

/* How long nothing has come, seen at `at_ns`, where that is longer than what came gives reason to
 * expect; else 0. */
static int64_t run_silent_ns(const struct worker *w, int64_t at_ns)
{
	int64_t last, since;
	double units = run_heard(w, &last);
	if (!units && w->def->datagram)
		return 0;
	since = last > w->win.begin_ns ? last : w->win.begin_ns;
	double passed = (double)(at_ns - w->win.begin_ns);
	double gaps = w->def->unit == UNIT_BYTES ? 0 : RUN_GAPS * passed / (units + 1);
	return (double)(at_ns - since) >= gaps ? at_ns - since : 0;
}

/* Can what does not come be missed here? */
static bool run_hears(const struct worker *w)
{
	return w->def->unit == UNIT_TRANSACTIONS || (w->def->stream && worker_receives(w));
}

/* Nobody waits for the end of a long window whose path was cut at its begin. */
static void run_quiet(struct worker *w, int64_t now)
{
	if (w->spec.total_loss || now < w->win.begin_ns || now >= w->win.end_ns || !run_hears(w))
		return;
	int64_t silent = run_silent_ns(w, now);
	if (silent < RUN_QUIET_NS)
		return;
	snprintf(w->invalid, sizeof(w->invalid),
		 "nothing came in the last %.1f s, and it ended there: the path was cut, or the "
		 "other end stood still",
		 (double)silent / NSEC_PER_SEC);
	w->partial = true;
	run_over(w);
}

/* Where data came and then no more, long before the end of the window, its figures are none of a
 * whole window. Datagrams that never came are a loss: that is a result. */
static void run_silence(struct worker *w)
{
	if (w->def->open_end || w->partial || w->invalid[0] || !run_hears(w))
		return;
	int64_t silent = run_silent_ns(w, w->win.end_ns);
	if (silent >= RUN_SILENT_NS)
		snprintf(w->invalid, sizeof(w->invalid),
			 "nothing came in the last %.1f s of the window: the path was cut, or the "
			 "other end stood still",
			 (double)silent / NSEC_PER_SEC);
}

/* A file that is larger than what gets through in the duration. */
static void run_bound(struct worker *w, int64_t now)
{
	if (!w->def->files || !w->spec.bounded || now < w->win.end_ns + RUN_BOUND_NS)
		return;
	snprintf(w->invalid, sizeof(w->invalid),
		 "a file of %lld bytes was not through %lld s after the duration: the figures are "
		 "of what came by then",
		 (long long)w->spec.file_size, (long long)(RUN_BOUND_NS / NSEC_PER_SEC));
	w->partial = true;
	run_over(w);
}

static int run_clock(struct worker *w, int64_t now, struct err *err)
{
	int r = run_edges(w, now, err);
	if (r || worker_over(w))
		return r;
	if (now >= run_deadline(w))
		return err_fail(err, ETIMEDOUT, "the streams did not end in time");
	if (w->def->open_end) {
		run_stalled(w, now);
		run_bound(w, now);
	} else {
		run_quiet(w, now);
	}
	if (w->def->open_end || now < w->win.end_ns + w->def->linger_ns)
		return 0;
	if (!run_settles(w) || w->def->settled(w, now))
		run_over(w);
	return 0;
}

/* One wait: threads that end, control, the clock. */
static int run_wait(struct worker *w, struct err *err)
{
	int64_t now = clock_now_ns(), next = run_next(w, now), left = next - now;
	struct timespec ts = {0};
	if (left > CONTROL_BEAT_NS)
		left = CONTROL_BEAT_NS;
	if (left > 0)
		ts = (struct timespec){left / NSEC_PER_SEC, left % NSEC_PER_SEC};
	struct pollfd fds[2] = {{.fd = w->ctl.in, .events = POLLIN},
				{.fd = w->done_fd, .events = POLLIN}};
	int n = ppoll(fds, 2, &ts, NULL), r = 0;
	if (n < 0 && errno != EINTR)
		return err_sys(err, errno, "waiting for streams");
	uint64_t ended = 0;
	if (n > 0 && fds[1].revents && read(w->done_fd, &ended, sizeof(ended)) > 0)
		w->ended += (int)ended;
	bool control = n > 0 && fds[0].revents;
	r = worker_beat(w, control, err);
	if (!r && control)
		r = run_control(w, err);
	if (!r && ended && worker_sends(w))
		r = run_tell(w, err);
	return r ? r : run_clock(w, clock_now_ns(), err);
}

static const struct err *run_failed(struct worker *w)
{
	if (!atomic_load(&w->failed))
		return NULL;
	for (int i = 0; i < w->n_streams; i++)
		if (w->streams[i].err.kind)
			return &w->streams[i].err;
	return NULL;
}

/* How a peer that is gone shows: TCP closed or reset, and a datagram's port that nobody has. */
static bool is_peer_gone(int code)
{
	return code == ECONNRESET || code == EPIPE || code == ECONNREFUSED || code == ENOTCONN;
}

/* A connection that the peer has closed may mean that both were told to stop, and the peer first:
 * then our own "stop" is about to come, and nothing has failed. */
static bool run_excused(struct worker *w, const struct err *failed)
{
	struct err ignored = ERR_INIT;
	int64_t until = clock_now_ns() + RUN_EXCUSE_NS;
	if (!is_peer_gone(failed->code))
		return false;
	while (!w->partial && !w->ctl.eof && clock_now_ns() < until) {
		struct pollfd fd = {.fd = w->ctl.in, .events = POLLIN};
		if (poll(&fd, 1, RUN_EXCUSE_NS / NSEC_PER_MSEC) <= 0 || run_control(w, &ignored))
			break;
	}
	return w->partial;
}

/* Until all threads have ended and, where there is one, the fixed end has passed. */
static int run_watch(struct worker *w, struct err *err)
{
	while (w->ended < w->n_crews || (!w->def->open_end && !worker_over(w) && !w->stopped_ns)) {
		int r = run_wait(w, err);
		if (r)
			return r;
		if (w->ended && !worker_over(w) && run_failed(w))
			run_over(w);
	}
	return 0;
}

static int run_prepare(struct worker *w, struct err *err)
{
	for (int i = 0; i < w->n_crews; i++)
		w->sending += run_sends(&w->crews[i]);
	w->tcp_at = mem_zalloc((size_t)w->win.edges * sizeof(*w->tcp_at));
	for (int i = 0; i < w->n_streams; i++) {
		struct stream *s = &w->streams[i];
		window_track_init(&s->track, &w->win, w->def->max_gap_ns[stream_sends(s)]);
		if (w->def->prepare)
			w->def->prepare(s);
		int r = worker_beat(w, true, err);
		if (r)
			return r;
	}
	if (clock_now_ns() > w->win.begin_ns)
		return err_fail(err, ETIME,
				"preparing %d streams took until after the window began",
				w->n_streams);
	return 0;
}

/* When the count ended, of a run without a fixed end or that was stopped before it. */
static int64_t run_last(const struct worker *w)
{
	int64_t last = 0;
	for (int i = 0; i < w->n_streams; i++)
		if (w->streams[i].track.last_ns > last)
			last = w->streams[i].track.last_ns;
	return w->partial ? clock_now_ns() : last;
}

int run_streams(struct worker *w, struct err *err)
{
	w->done_fd = eventfd(0, EFD_CLOEXEC);
	w->over_fd = eventfd(0, EFD_CLOEXEC);
	if (w->done_fd < 0 || w->over_fd < 0)
		return err_sys(err, errno, "eventfd");
	int r = run_prepare(w, err);
	if (r)
		return r;
	run_short_turns();
	r = run_start(w, err);
	if (!r)
		r = run_watch(w, err);
	run_over(w);
	run_join(w);
	if (r)
		return r;
	const struct err *failed = run_failed(w);
	if (failed && !run_excused(w, failed)) {
		*err = *failed;
		return -err->code;
	}
	if (!w->sampled) /* ended before the window began: an empty one */
		sample_worker(w, 0, &w->begin);
	if (!w->stopped_ns) {
		w->stopped_ns = run_last(w);
		sample_worker(w, 1, &w->end);
	}
	run_silence(w);
	return 0;
}
