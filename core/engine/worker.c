/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker: one process's side of the protocol in engine.h, message by message.
 *
 * The control channel is always heard: while waiting for messages, for connections, and (in run.c)
 * while streams run. Its end ends the worker. Nothing here touches measured data. Called by
 * `vpclab engine --stdio` and by whoever forks a worker.
 */
#include "core/engine/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/result.h"

#define WORKER_FILES 16			/* descriptors besides the streams' */
#define WORKER_EDGES (INT64_C(1) << 26) /* of all streams: 512 MiB of counts */
/* Before the start the driver may be busy: it waits for others, installs counters. */
#define WORKER_PATIENCE_NS (30 * NSEC_PER_SEC)
#define WORKER_LINGER_NS   (3 * NSEC_PER_SEC)
#define WORKER_IDLE_NS	   (600 * NSEC_PER_SEC) /* without a start, a forgotten worker ends itself */

static int worker_timeout_ms(int64_t deadline_ns)
{
	int64_t left = deadline_ns - clock_now_ns();
	if (left <= 0)
		return 0;
	left = left < CONTROL_BEAT_NS ? left : CONTROL_BEAT_NS;
	return (int)((left + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

int worker_beat(struct worker *w, bool heard, struct err *err)
{
	int64_t limit = w->started
			    ? control_patience_ns(w->n_streams, w->win.end_ns, clock_now_ns())
			    : WORKER_PATIENCE_NS;
	if (!heard && control_silent(&w->ctl, limit))
		return err_fail(err, ECANCELED, "nothing came over the control channel for %lld s",
				(long long)(limit / NSEC_PER_SEC));
	return control_beat(&w->ctl, err);
}

/* Reads control; its end, or any message (only "stop" can come), cancels what is being waited for.
 */
static int worker_interrupted(struct worker *w, struct err *err)
{
	int r = control_fill(&w->ctl, err);
	if (r)
		return r;
	if (w->ctl.eof)
		return err_fail(err, ECANCELED, "the control channel was closed");
	json_t *m = control_next(&w->ctl, &r, err);
	if (m)
		r = err_fail(err, ECANCELED, "stopped by a message ('%s') before the start",
			     control_type(m));
	json_decref(m);
	return r;
}

int worker_wait(struct worker *w, int fd, short events, int64_t deadline_ns, struct err *err)
{
	for (;;) {
		struct pollfd fds[2] = {{.fd = fd, .events = events},
					{.fd = w->ctl.in, .events = POLLIN}};
		int n = poll(fds, 2, worker_timeout_ms(deadline_ns));
		if (n < 0 && errno != EINTR)
			return err_sys(err, errno, "waiting for a socket");
		bool control = n > 0 && fds[1].revents;
		int r = worker_beat(w, control, err);
		if (!r && control)
			r = worker_interrupted(w, err);
		if (r)
			return r;
		if (n > 0 && fds[0].revents)
			return 0;
		if (n <= 0 && clock_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
	}
}

/* Polls control, and on the server what knocks; then attaches and reads. */
static int worker_poll(struct worker *w, int64_t deadline_ns, struct err *err)
{
	struct pollfd fds[2] = {{.fd = w->ctl.in, .events = POLLIN},
				{.fd = w->knock_fd, .events = POLLIN}};
	int r = poll(fds, 2, worker_timeout_ms(deadline_ns));
	bool control = r > 0 && fds[0].revents, knocks = r > 0 && fds[1].revents;
	if (r < 0 && errno != EINTR)
		return err_sys(err, errno, "waiting for messages");
	r = worker_beat(w, control, err);
	if (!r && knocks)
		r = setup_attach(w, err);
	if (!r && control)
		r = control_fill(&w->ctl, err);
	return r;
}

/* The next message; NULL and *r on failure, the channel's end or the deadline. */
static json_t *worker_message(struct worker *w, int64_t deadline_ns, int *r, struct err *err)
{
	for (;;) {
		json_t *m = control_next(&w->ctl, r, err);
		if (m || *r)
			return m;
		if (w->ctl.eof)
			*r = err_fail(err, ECANCELED, "the control channel was closed");
		else if (clock_now_ns() >= deadline_ns)
			*r = err_fail(err, ETIMEDOUT, "no message in time");
		else
			*r = worker_poll(w, deadline_ns, err);
		if (*r)
			return NULL;
	}
}

/* The keys of the spec message that are the protocol's. */
static int worker_protocol(struct worker *w, const json_t *m, struct err *err)
{
	const char *role = json_string_value(json_object_get(m, "role"));
	const char *family = json_string_value(json_object_get(m, "family"));
	const char *clock = json_string_value(json_object_get(m, "clock"));
	const json_t *version = json_object_get(m, "version");
	const json_t *session = json_object_get(m, "session");
	if (!str_eq(control_type(m), "spec"))
		return err_input(err, "type: the first message must be 'spec', this is '%s'",
				 control_type(m));
	if (version && json_integer_value(version) != 1)
		return err_input(err, "version: this program speaks version 1");
	if (!str_eq(role, "server") && !str_eq(role, "client"))
		return err_input(err, "role: must be 'server' or 'client'");
	if (clock && !str_eq(clock, "shared") && !str_eq(clock, "own"))
		return err_input(err, "clock: must be 'shared' or 'own'");
	if (family && !str_eq(family, "ipv4") && !str_eq(family, "ipv6"))
		return err_input(err, "family: must be 'ipv4' or 'ipv6'");
	if (session && (!json_is_integer(session) || json_integer_value(session) < 0 ||
			json_integer_value(session) > UINT32_MAX))
		return err_input(err, "session: must be a whole number from 0 to 4294967295");
	w->server = str_eq(role, "server");
	w->family = str_eq(family, "ipv6") ? AF_INET6 : AF_INET;
	w->own_clock = clock && str_eq(clock, "own");
	w->session = (uint32_t)json_integer_value(session);
	return 0;
}

static void worker_streams(struct worker *w)
{
	w->n_streams = w->spec.streams * (w->def->way == WAY_BOTH ? 2 : 1);
	size_t size = sizeof(*w->streams) * (size_t)w->n_streams;
	if (posix_memalign((void **)&w->streams, _Alignof(struct stream), size))
		abort(); /* as mem.h does without memory */
	memset(w->streams, 0, size);
	for (int i = 0; i < w->n_streams; i++) {
		w->streams[i].w = w;
		w->streams[i].index = i;
		w->streams[i].fd = -1;
		w->streams[i].back = i >= w->spec.streams;
	}
}

/* Spreads the streams over threads. */
static void worker_crews(struct worker *w)
{
	int cpu = w->server ? w->spec.server_cpu : w->spec.client_cpu;
	int most = w->spec.threads		    ? w->spec.threads
		   : w->spec.spread		    ? cpu_count_allowed()
		   : cpu < 0 && cpu_allowed(1) >= 0 ? 2
						    : 1;
	bool shared = w->def->crew[w->server ? 0 : 1];
	w->n_crews = !shared || most > w->n_streams ? w->n_streams : most;
	w->crews = mem_zalloc((size_t)w->n_crews * sizeof(*w->crews));
	int next = 0;
	for (int i = 0; i < w->n_crews; i++) {
		int n = (w->n_streams - next) / (w->n_crews - i);
		w->crews[i] =
		    (struct crew){.w = w, .index = i, .streams = &w->streams[next], .n = n};
		next += n;
	}
}

/* As many descriptors as this measurement needs, where they are to be had. */
static int worker_raise_files(const struct worker *w, struct err *err)
{
	struct rlimit files, more;
	long long need =
	    WORKER_FILES + w->n_streams + (w->def->own_connections ? w->spec.ports : 0);
	if (getrlimit(RLIMIT_NOFILE, &files))
		return err_sys(err, errno, "asking for the limit of open files");
	more.rlim_cur = more.rlim_max = files.rlim_max;
	if (more.rlim_max < (rlim_t)need) /* root may */
		more.rlim_cur = more.rlim_max = (rlim_t)need;
	if (!setrlimit(RLIMIT_NOFILE, &more))
		files = more;
	else if (files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (files.rlim_cur >= (rlim_t)need)
		return 0;
	return err_fail(err, EMFILE,
			"%d connections need %lld descriptors; the limit is %lld: raise it with "
			"ulimit -n",
			w->n_streams, need, (long long)files.rlim_cur);
}

int worker_tell_time(struct worker *w, const json_t *m, struct err *err)
{
	json_t *answer =
	    json_pack("{s:s,s:I}", "type", "clock", "now_ns", (json_int_t)clock_now_ns());
	json_object_set(answer, "at_ns", json_object_get(m, "at_ns"));
	return control_send(&w->ctl, answer, err);
}

static int worker_specified(struct worker *w, struct err *err)
{
	int r;
	json_t *m = worker_message(w, clock_now_ns() + w->first_ns, &r, err);
	if (!m)
		return r;
	r = worker_protocol(w, m, err);
	if (!r)
		r = engine_spec_parse(m, &w->spec, err);
	json_decref(m);
	if (r)
		return r;
	w->def = engines_get(w->spec.test);
	int cpu = w->server ? w->spec.server_cpu : w->spec.client_cpu;
	r = cpu < 0 ? 0 : cpu_pin(cpu, w->server ? "server_cpu" : "client_cpu", err);
	if (r)
		return r;
	worker_streams(w);
	r = worker_raise_files(w, err);
	if (r)
		return r;
	worker_crews(w);
	char id[128];
	clock_id(id, sizeof(id));
	json_t *ready =
	    json_pack("{s:s,s:s,s:s}", "type", "ready", "clock_id", id, "program", VPCLAB_VERSION);
	if (w->server && (r = setup_server(w, ready, err))) {
		json_decref(ready);
		return r;
	}
	return control_send(&w->ctl, ready, err);
}

/* Without a size asked for, a UDP stream fills the path's MTU, as far as it is known here. */
static void worker_size(struct worker *w)
{
	if (w->spec.size || w->def->unit != UNIT_PACKETS)
		return;
	int headers = w->family == AF_INET6 ? 48 : 28;
	int mtu = socket_mtu(w->streams[0].fd);
	w->spec.size = mtu > headers + 64 && mtu <= 9000 ? mtu - headers : 1500 - headers;
}

static int worker_connect(struct worker *w, json_t *m, struct err *err)
{
	if (w->server)
		return err_input(err, "connect: that is for the client");
	int r = setup_connect(w, m, err);
	if (r)
		return r;
	worker_size(w);
	json_t *flows = json_array();
	bool answered = true;
	for (int i = 0; i < w->n_streams; i++)
		answered &= w->streams[i].attached || !w->def->datagram;
	r = setup_flows(w, flows, err);
	if (r) {
		json_decref(flows);
		return r;
	}
	return control_send(&w->ctl,
			    json_pack("{s:s,s:o,s:I,s:b}", "type", "connected", "flow", flows,
				      "size", (json_int_t)w->spec.size, "answered", answered),
			    err);
}

/* The numbers of a start message, as strictly as those of a specification. */
static int worker_start_read(struct worker *w, const json_t *m, int64_t *at, struct err *err)
{
	const json_t *when = json_object_get(m, "at_ns"), *size = json_object_get(m, "size");
	int64_t now = clock_now_ns(), last = now + WORKER_IDLE_NS;
	if (!json_is_integer(when))
		return err_input(err, "start: at_ns: must be a whole number");
	*at = json_integer_value(when);
	if (*at < 0 || *at > last)
		return err_input(err, "start: at_ns: %lld is not within 0 to %lld (now is %lld)",
				 (long long)*at, (long long)last, (long long)now);
	const json_t *ahead = json_object_get(m, "peer_ahead_ns");
	if (ahead && !json_is_integer(ahead))
		return err_input(err, "start: peer_ahead_ns: must be a whole number");
	w->clock_known = ahead;
	w->peer_ahead_ns = json_integer_value(ahead);
	if (size && engine_spec_change(&w->spec, "size", size, err))
		return err_wrap(err, "start");
	if (!w->spec.size && w->def->unit == UNIT_PACKETS)
		return err_input(err, "start: size: how large is a datagram?");
	return 0;
}

static int worker_start(struct worker *w, const json_t *m, struct err *err)
{
	int64_t at = 0;
	int bad = worker_start_read(w, m, &at, err);
	if (bad)
		return bad;
	struct window_times t = {at, w->spec.warmup_ns, w->spec.duration_ns, w->spec.interval_ns};
	window_init(&w->win, &t, w->def->open_end, w->n_streams);
	if ((int64_t)w->win.edges * w->n_streams > WORKER_EDGES)
		return err_input(
		    err,
		    "interval: %d intervals of %d streams are too many counts to keep: "
		    "make it longer",
		    w->win.edges - 1, w->n_streams);
	int64_t late = clock_now_ns() - at;
	if (late > w->spec.warmup_ns + 10 * NSEC_PER_MSEC)
		return err_fail(err, ETIME,
				"start: the message came %lld ms after its time, later than "
				"the warm-up",
				(long long)(late / NSEC_PER_MSEC));
	while (w->server && !setup_complete(w)) {
		if (clock_now_ns() > at + w->spec.warmup_ns + NSEC_PER_SEC)
			return err_fail(err, ETIMEDOUT, "start: not all of the %d streams have %s",
					w->n_streams,
					w->def->datagram ? "heard from their client" : "connected");
		int r = worker_poll(w, clock_now_ns() + 10 * NSEC_PER_MSEC, err);
		if (r)
			return r;
		if (w->ctl.eof)
			return err_fail(err, ECANCELED, "the control channel was closed");
	}
	if (!w->server && !w->peer_len)
		return err_input(err, "start: the client was not told to connect");
	setup_shut(w);
	w->started = true;
	return 0;
}

/* From the answer "ready" to the start. */
static int worker_prepare(struct worker *w, struct err *err)
{
	int64_t deadline = clock_now_ns() + WORKER_IDLE_NS;
	for (;;) {
		int r;
		json_t *m = worker_message(w, deadline, &r, err);
		if (!m)
			return r;
		bool start = str_eq(control_type(m), "start");
		if (start)
			r = worker_start(w, m, err);
		else if (str_eq(control_type(m), "connect"))
			r = worker_connect(w, m, err);
		else if (str_eq(control_type(m), "clock"))
			r = worker_tell_time(w, m, err);
		else
			r = err_fail(err, ECANCELED, "'%s' before the start", control_type(m));
		json_decref(m);
		if (r || start)
			return r;
	}
}

/* The most memory that this process has had, proc(5): VmHWM. 0: not known. */
static int64_t worker_memory(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	long long kib = 0;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib << 10;
}

/* The driver wants to know how far the clocks drifted. All is said: however it ends, it is well. */
static int worker_linger(struct worker *w, struct err *err)
{
	int r = 0;
	for (bool end = false; !end && !r;) {
		json_t *m = worker_message(w, clock_now_ns() + WORKER_LINGER_NS, &r, err);
		end = !m || str_eq(control_type(m), "end");
		if (m && str_eq(control_type(m), "clock"))
			r = worker_tell_time(w, m, err);
		json_decref(m);
	}
	*err = ERR_INIT;
	return 0;
}

static int worker_run(struct worker *w, struct err *err)
{
	int r = worker_specified(w, err);
	if (!r)
		r = worker_prepare(w, err);
	if (!r)
		r = run_streams(w, err);
	if (r)
		return r;
	json_t *result = result_of_worker(w);
	json_object_set_new(result, "memory_bytes", json_integer(worker_memory()));
	if (w->invalid[0])
		json_object_set_new(result, "invalid", json_string(w->invalid));
	r = control_send(&w->ctl, result, err);
	return r || !w->own_clock ? r : worker_linger(w, err);
}

static void worker_tell(struct worker *w, const struct err *err)
{
	struct err ignored = ERR_INIT;
	control_send(&w->ctl,
		     json_pack("{s:s,s:s,s:i,s:i}", "type", "error", "text", err->text, "code",
			       err->code, "kind", (int)err->kind),
		     &ignored);
}

static void worker_done(struct worker *w)
{
	for (int i = 0; w->streams && i < w->n_streams; i++) {
		struct stream *s = &w->streams[i];
		if (s->own && w->def->release)
			w->def->release(s);
		window_track_done(&s->track);
	}
	setup_close(w);
	if (w->done_fd >= 0)
		close(w->done_fd);
	if (w->over_fd >= 0)
		close(w->over_fd);
	for (int i = 0; i < w->n_crews; i++)
		free(w->crews[i].own);
	free(w->crews);
	free(w->listen_fds);
	free(w->listen_ports);
	free(w->tcp_at);
	free(w->streams);
	json_decref(w->totals);
	control_done(&w->ctl);
}

int engine_stdio(int in_fd, int out_fd, int64_t first_ns, struct err *err)
{
	struct worker w = {.listen_fd = -1,
			   .knock_fd = -1,
			   .done_fd = -1,
			   .over_fd = -1,
			   .first_ns = first_ns ? first_ns : WORKER_IDLE_NS};
	signal(SIGPIPE, SIG_IGN); /* sendfile(2) has no flag for that */
	control_init(&w.ctl, in_fd, out_fd);
	int r = worker_run(&w, err);
	if (r && !w.ctl.eof)
		worker_tell(&w, err);
	worker_done(&w);
	return r;
}
