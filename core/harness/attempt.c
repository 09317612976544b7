// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attempt: one measurement from its two workers to its sample. Decides nothing about it: repeating
 * is run.c's business, judging verdict.c's.
 *
 * Order matters: workers are started and connected first, then counters are set on the very ports
 * that they use, then the machine is looked at, then traffic starts. So the counters see all of the
 * flow but its handshake, and the CPU time is that of the traffic alone.
 */
#include "core/harness/attempt.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/counters.h"
#include "core/harness/losses.h"
#include "core/harness/queues.h"
#include "core/harness/schedule_run.h"
#include "core/harness/traffic.h"
#include "emulator/lab/relays.h"

enum { INTERVALS = 5, READING_EVERY_S = 1 };

#define SETTLE_STEP_NS (20 * NSEC_PER_MSEC)
#define SETTLE_MOST_NS (2 * NSEC_PER_SEC)
#define LINKS_STEP_NS  (5 * NSEC_PER_MSEC)
#define BEFORE_MOST_NS (1 * NSEC_PER_SEC)
#define QUIET_MOST_NS  (10 * NSEC_PER_SEC) /* a full queue at 1 Mbit/s */

struct attempt {
	const struct attempt_spec *s;
	struct engine_spec spec;
	const struct wire_endpoint *from, *to;
	struct path path, back;
	struct account links; /* the ledger of both ways before the traffic */
	bool links_read;
	json_t *relays;		       /* what those on the way said before it, or NULL */
	int64_t late_packets;	       /* of the flow, that arrived when the ends had stopped */
	struct schedule_run *schedule; /* NULL: nothing changes */
	struct proc proc[2];	       /* client, server */
	int fd[2];
	bool started[2];
	struct counters *counters;
	struct err counters_err;	 /* why there are none */
	struct truth_counts first, last; /* readings in the window */
	double read_s;			 /* when the last one was, since the window began */
	struct fidelity_snapshot before, after;
};

/* For the signal handler: pidfds of running workers, -1 where none. */
static atomic_int running[2] = {-1, -1};
static atomic_bool interrupted;

void attempt_interrupt(void)
{
	atomic_store(&interrupted, true);
	for (int i = 0; i < 2; i++) {
		int pidfd = atomic_load(&running[i]);

		if (pidfd >= 0)
			syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	}
}

bool attempt_interrupted(void)
{
	return atomic_load(&interrupted);
}

static int find_end(const struct wire *w, const char *name, const struct wire_endpoint **out,
		    struct err *err)
{
	autofree const char **names = mem_zalloc((w->endpoints.n + 1) * sizeof(*names));

	*out = wire_find_endpoint(w, name);
	if (*out)
		return 0;
	for (size_t i = 0; i < w->endpoints.n; i++)
		names[i] = w->endpoints.v[i].name;
	const char *near = str_suggest(name, names, w->endpoints.n);
	return err_input(err, "'%s' is not an endpoint of lab '%s'%s%s%s", name, w->name,
			 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static const struct ip *address_of(const struct wire_endpoint *e, int family)
{
	return family == AF_INET6 ? &e->ip6 : &e->ip4;
}

/* The program that runs now; asked once, since the file may be replaced while it runs. */
static const char *own_program(struct err *err)
{
	static char program[4096];

	if (program[0])
		return program;
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (n > 0)
		return program;
	err_sys(err, errno, "cannot find my own program by /proc/self/exe");
	return NULL;
}

static int start_worker(struct attempt *a, int side, struct err *err)
{
	const struct wire_endpoint *end = side ? a->to : a->from;
	const char *node = a->s->wire->nodes.v[end->node].name, *program = own_program(err);
	const char *argv[] = {program, "engine", "--stdio", NULL};
	struct proc_spec spec = PROC_SPEC(argv);
	int pair[2];

	if (!program)
		return -err->code;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_sys(err, errno, "cannot make a control channel");
	spec.in = spec.out = pair[1];
	spec.die_with_parent = true;
	int r = lab_spawn(a->s->lab, node, &spec, &a->proc[side], err);
	close(pair[1]);
	if (r) {
		close(pair[0]);
		return err_wrap(err, "starting the %s in %s", side ? "server" : "client", node);
	}
	a->fd[side] = pair[0];
	a->started[side] = true;
	atomic_store(&running[side], a->proc[side].pidfd);
	return 0;
}

/* A worker ends when its control channel does; one that hangs is killed. */
static void stop_worker(struct attempt *a, int side)
{
	struct err ignored = ERR_INIT;
	int status;

	if (!a->started[side])
		return;
	close(a->fd[side]);
	if (proc_wait(&a->proc[side], clock_now_ns() + NSEC_PER_SEC, &status, &ignored))
		proc_kill(&a->proc[side], 0);
	atomic_store(&running[side], -1);
}

static struct losses_at losses_at(const struct attempt *a)
{
	return (struct losses_at){a->s->lab, a->s->wire, &a->path, &a->back};
}

/* Before the traffic, and again while the ends' first words are on the way: a packet that has
 * entered by one counter and not yet by the next would look like a hole for good. */
static bool read_links_before(struct attempt *a, const struct losses_at *links)
{
	int64_t begin = clock_now_ns(), waiting, open, last = 0;
	struct err ignored = ERR_INIT;

	while (!losses_read(links, &a->links, &ignored)) {
		losses_moving(links, &a->links, &waiting, &open);
		if ((!waiting && open == last) || clock_now_ns() - begin > BEFORE_MOST_NS)
			return true;
		last = open;
		account_done(&a->links);
		clock_sleep_until_ns(clock_now_ns() + LINKS_STEP_NS);
	}
	return false;
}

/* Without counters a measurement still is one, but nothing confirms it: the verdict says so. */
static int on_connected(void *arg, const json_t *flows, struct err *err)
{
	struct attempt *a = arg;
	struct counters_at at = {
	    .lab = a->s->lab,
	    .wire = a->s->wire,
	    .path = &a->path,
	    .protocol = traffic_is_udp(a->spec.test) ? IPPROTO_UDP : IPPROTO_TCP,
	};

	struct losses_at links = losses_at(a);
	struct err ignored = ERR_INIT;

	a->links_read = read_links_before(a, &links);
	losses_relays(&links, &a->relays, &ignored);
	if (counters_open(&at, flows, &a->counters, &a->counters_err))
		a->counters = NULL;
	return fidelity_read(&a->before, err);
}

/*
 * Two readings in the window are enough, and each costs some CPU time, so not more: at the end of
 * the first interval, and at that of the last but one (after the last there may be no traffic any
 * more). Where the work and not the clock ends the window, every second.
 */
static bool reading_due(const struct attempt *a, double t_s)
{
	double interval_s = (double)a->spec.interval_ns / (double)NSEC_PER_SEC;
	double left_s = (double)a->spec.duration_ns / (double)NSEC_PER_SEC - t_s;

	if (!a->first.known)
		return true;
	if (a->spec.test == TEST_THROUGHPUT)
		return t_s - a->read_s > READING_EVERY_S;
	return left_s > interval_s * 0.5 && left_s < interval_s * 1.5;
}

static void on_interval(void *arg, const json_t *interval)
{
	struct attempt *a = arg;
	struct err ignored = ERR_INIT;
	double t_s = json_number_value(json_object_get(interval, "t_s"));
	bool stream = a->spec.test != TEST_TCP_RR && a->spec.test != TEST_UDP_RR;

	if (a->counters && stream && reading_due(a, t_s) &&
	    !counters_read(a->counters, &a->last, &ignored)) {
		a->read_s = t_s;
		if (!a->first.known)
			a->first = a->last;
	}
	if (a->s->tick)
		a->s->tick(a->s->arg);
}

static void on_start(void *arg, int64_t window_ns)
{
	struct attempt *a = arg;

	if (a->schedule)
		schedule_run_start(a->schedule, window_ns);
}

static void subtract(struct truth_counter *a, const struct truth_counter *b)
{
	a->packets -= b->packets;
	a->bytes -= b->bytes;
}

/*
 * Between the first reading and the last: all of it lies in the window. A file that is through
 * before the second reading is counted whole, over the time that the engine says it took.
 */
static void set_window(const struct attempt *a, struct run_sample *out)
{
	if (a->last.elapsed_ns > a->first.elapsed_ns) {
		out->window = a->last;
		out->window.elapsed_ns -= a->first.elapsed_ns;
		subtract(&out->window.flow, &a->first.flow);
		subtract(&out->window.device, &a->first.device);
	} else if (a->spec.test == TEST_THROUGHPUT) {
		out->window = out->whole;
		out->window.elapsed_ns = out->engine.server.window_ns;
	}
}

/*
 * What the receiver had of the whole flow. A request/response server counts both ways, so it makes
 * no claim. A stream that ends by the clock leaves what its receiver had not read.
 */
/* What udp_stream's client may have sent after the window, twice its time for a late end. */
static int64_t tail_bytes(const struct engine_result *e)
{
	return (int64_t)(e->sent_bps / 8 * 2 * ENGINE_UDP_TAIL_NS / NSEC_PER_SEC);
}

static void set_claim(const struct attempt *a, const struct run_sample *run,
		      struct truth_claim *claim)
{
	const struct engine_result *e = &run->engine;

	claim->bytes = -1;
	claim->slack_bytes = 0;
	if (run->spec.test == TEST_TCP_RR || run->spec.test == TEST_UDP_RR)
		return;
	claim->bytes = e->server.bytes_all;
	if (run->spec.test == TEST_UDP_STREAM)
		claim->slack_bytes =
		    (e->drops_all + run->losses.behind + a->late_packets) * e->size + tail_bytes(e);
	else
		claim->slack_bytes = e->retransmits * e->mss + e->rcvbuf +
				     (e->client.bytes_all - e->server.bytes_all);
}

static bool is_rr(enum engine_test test)
{
	return test == TEST_TCP_RR || test == TEST_UDP_RR;
}

/* Shares of all CPUs: what others used before, and in user mode during it, besides our workers. */
static const char *others_busy(const struct attempt *a, const struct run_sample *out,
			       struct arena *arena)
{
	const struct engine_side *c = &out->engine.client, *s = &out->engine.server;
	const struct fidelity *f = &out->fidelity;
	double elapsed_s = (double)f->elapsed_ns / (double)NSEC_PER_SEC, ours_s = 0;

	if (f->others > FIDELITY_QUIET_MAX)
		return arena_printf(arena, "other programs used %.0f %% of the CPUs before it",
				    f->others * 100);
	if (c->window_ns > 0 && s->window_ns > 0)
		ours_s =
		    (c->cpu_user_s / (double)c->window_ns + s->cpu_user_s / (double)s->window_ns) *
		    (double)f->elapsed_ns;
	double others = (f->user_s - ours_s) / elapsed_s / a->before.n_cpus;
	if (others > FIDELITY_QUIET_MAX)
		return arena_printf(arena, "other programs used %.0f %% of the CPUs during it",
				    others * 100);
	return NULL;
}

/*
 * All of the machine's CPU time, less what it used before anything ran, for each packet delivered:
 * those counted at the receiving device, and for request/response the answers too, since the CPU
 * carries both. With others at work nothing can be told, and why is said.
 */
static void set_cpu_per_packet(const struct attempt *a, struct arena *arena, struct run_sample *out)
{
	double idle_s = a->s->idle_busy * (double)out->fidelity.elapsed_ns / (double)NSEC_PER_SEC;
	double used_s = out->fidelity.busy_s - idle_s;
	int64_t packets = out->counted.packets;

	if (is_rr(out->spec.test))
		packets += out->engine.client.packets_all;
	out->cpu_per_packet_ns = NAN;
	if (!out->whole.known || !out->fidelity.known || packets <= 0)
		out->cpu_missing = "no packets were counted";
	else if ((out->cpu_missing = others_busy(a, out, arena)))
		return;
	else if (used_s <= 0)
		out->cpu_missing = "the machine used no more CPU time than before it";
	else
		out->cpu_per_packet_ns = used_s * (double)NSEC_PER_SEC / (double)packets;
}

/*
 * The two counters are read one after the other, and what was still queued on the way when the ends
 * stopped arrives after them. So they are read again until the flow's stands still.
 */
static int read_settled(struct attempt *a, struct truth_counts *out, struct err *err)
{
	int64_t deadline = clock_now_ns() + SETTLE_MOST_NS, packets;
	int r = counters_read(a->counters, out, err);

	while (!r) {
		packets = out->flow.packets;
		clock_sleep_until_ns(clock_now_ns() + SETTLE_STEP_NS);
		r = counters_read(a->counters, out, err);
		if (out->flow.packets == packets || clock_now_ns() > deadline)
			break;
	}
	return r;
}

/* Again while something is on its way: what is between two counters would be a hole. A full queue
 * needs its time, and the next run would wait for it too. */
static int read_links(struct attempt *a, struct account *out, struct err *err)
{
	struct losses_at links = losses_at(a);
	int64_t begin = clock_now_ns(), waiting, open, before;
	int r = losses_read(&links, out, err);

	losses_moving(&links, &a->links, &waiting, &before);
	while (!r && !attempt_interrupted()) {
		losses_moving(&links, out, &waiting, &open);
		if ((!waiting && open == before) ||
		    clock_now_ns() - begin > (waiting ? QUIET_MOST_NS : SETTLE_MOST_NS))
			break;
		account_done(out);
		clock_sleep_until_ns(clock_now_ns() + LINKS_STEP_NS);
		r = losses_read(&links, out, err);
	}
	return r;
}

/* Datagrams in one piece are packets that can be counted at both ends. */
static bool can_follow(const struct attempt *a, const struct run_sample *run)
{
	struct truth_traffic t = {.protocol = IPPROTO_UDP, .family = a->s->family};

	return run->spec.test == TEST_UDP_STREAM && run->whole.known && !run->engine.partial &&
	       run->engine.size + truth_headers(&t) <= a->path.mtu;
}

static void follow(struct attempt *a, const struct account *between, struct arena *arena,
		   struct run_sample *out)
{
	struct losses_at links = losses_at(a);
	const struct engine_result *e = &out->engine;
	struct losses_flow flow = {
	    .from = a->s->from,
	    .to = a->s->to,
	    .sent = e->client.packets_all,
	    .arrived = out->whole.flow.packets,
	    .delivered = e->server.packets_all,
	    .socket = e->drops_all,
	    .unread_most = a->late_packets + (e->size > 0 ? tail_bytes(e) / e->size + 1 : 0),
	};

	losses_follow(&links, between, &flow, arena, &out->losses);
}

static void set_losses(struct attempt *a, const struct account *after, struct arena *arena,
		       struct run_sample *out)
{
	struct losses_at links = losses_at(a);
	struct account between;

	account_between(&a->links, after, &between);
	losses_of(&links, &between, arena, &out->losses);
	if (can_follow(a, out) && !out->losses.waiting)
		follow(a, &between, arena, out);
	account_done(&between);
}

/* Packets of which nobody knows what became of them are a third truth that disagrees. */
static void doubt(struct run_sample *out)
{
	struct truth_counted *c = &out->counted;

	if (!out->losses.unexplained || c->agreement == TRUTH_DISAGREE)
		return;
	c->agreement = TRUTH_DISAGREE;
	snprintf(c->why, sizeof(c->why), "%s", out->losses.why);
}

static void set_relay(const struct attempt *a, struct run_sample *out)
{
	struct losses_at links = losses_at(a);
	struct err ignored = ERR_INIT; /* of a lab that has gone: all other counters say so */
	json_t *after;

	if (!a->relays || losses_relays(&links, &after, &ignored))
		return;
	if (!relays_limited(a->relays, after, out->fidelity.relay, sizeof(out->fidelity.relay)))
		out->fidelity.relay[0] = '\0';
	json_decref(after);
}

/* A link that was never offered what it carries has not been measured. */
static void set_needed(const struct attempt *a, struct run_sample *out)
{
	struct truth_predicted p;
	struct err err = ERR_INIT;

	if (a->spec.test != TEST_UDP_STREAM || attempt_predict(a->s, &p, &err) || !p.known)
		return;
	out->fidelity.needed_pps = p.pps;
	out->fidelity.sent_pps = out->engine.sent_pps;
}

/*
 * First what had come when the ends stopped, then, when the links are idle, all that came. The
 * difference came too late for the receiver.
 */
static void read_after(struct attempt *a, struct arena *arena, struct run_sample *out)
{
	struct truth_counts at_end = {0};
	struct err err = ERR_INIT, ignored = ERR_INIT;
	struct account after = {0};
	bool links;

	if (a->counters && counters_read(a->counters, &at_end, &ignored))
		at_end = (struct truth_counts){0};
	links = a->links_read && !read_links(a, &after, &ignored);
	if (!a->counters)
		out->whole.missing = arena_strdup(arena, a->counters_err.text);
	else if (read_settled(a, &out->whole, &err))
		out->whole.missing = arena_strdup(arena, err.text);
	if (out->whole.known && at_end.known)
		a->late_packets = out->whole.flow.packets - at_end.flow.packets;
	if (links)
		set_losses(a, &after, arena, out);
	account_done(&after);
}

static void assess(struct attempt *a, struct arena *arena, struct run_sample *out)
{
	struct truth_traffic t;
	struct truth_claim claim;

	read_after(a, arena, out);
	set_window(a, out);
	traffic_describe(a->s, &a->spec, &t);
	set_claim(a, out, &claim);
	truth_count(&t, &out->whole, &out->window, &claim, &out->counted);
	doubt(out);
	fidelity_between(&a->before, &a->after, &out->fidelity);
	out->fidelity.slip_ns = a->s->slip_ns;
	out->fidelity.socket_dropped = out->engine.lost_host;
	if (out->fidelity.n_cpus > 0)
		out->fidelity.others = a->s->idle_busy / out->fidelity.n_cpus;
	set_needed(a, out);
	set_relay(a, out);
	fidelity_judge(&out->fidelity);
	set_cpu_per_packet(a, arena, out);
}

static int prepare(struct attempt *a, struct err *err)
{
	const struct attempt_spec *s = a->s;
	struct err no_answers = ERR_INIT;
	int r = find_end(s->wire, s->from, &a->from, err);

	if (!r)
		r = find_end(s->wire, s->to, &a->to, err);
	if (r)
		return r;
	if (!address_of(a->to, s->family)->family)
		return err_input(err, "'%s' has no %s address", s->to,
				 s->family == AF_INET6 ? "IPv6" : "IPv4");
	r = path_find(s->wire, s->from, s->to, s->family, &a->path, err);
	if (r)
		return r;
	traffic_size(&a->path, s->family, &a->spec);
	path_reverse(s->wire, &a->path, &a->back, &no_answers); /* datagrams may need none */
	return 0;
}

/* What the run before left in the queues would be counted with this one's. */
static void wait_until_quiet(struct attempt *a)
{
	struct queues_at at = {a->s->lab, a->s->wire, &a->path, attempt_interrupted};
	struct err ignored = ERR_INIT; /* the counters will not agree then, and say so */

	queues_wait(&at, clock_now_ns() + QUIET_MOST_NS, &ignored);
}

static int measure(struct attempt *a, struct engine_result *result, struct err *err)
{
	struct engine_ends ends = {a->fd[0], a->fd[0], a->fd[1], a->fd[1]};
	struct engine_hooks hooks = {
	    .on_connected = on_connected,
	    .on_interval = on_interval,
	    .on_start = on_start,
	    .arg = a,
	};
	int r = engine_pair(&a->spec, address_of(a->to, a->s->family), &ends, &hooks, result, err);

	if (!r)
		r = fidelity_read(&a->after, err);
	if (attempt_interrupted())
		return err_fail(err, EINTR, "interrupted");
	return r;
}

/* Several counter readings even in a short window. */
static void set_interval(struct engine_spec *spec)
{
	if (spec->interval_ns > spec->duration_ns / INTERVALS)
		spec->interval_ns = spec->duration_ns / INTERVALS;
}

int attempt_run(const struct attempt_spec *s, struct arena *arena, struct run_sample *out,
		struct err *err)
{
	struct attempt a = {.s = s, .spec = s->engine};
	struct run_sample sample = {0};
	struct err late = ERR_INIT; /* of a schedule whose measurement failed anyway */
	int r;

	if (attempt_interrupted())
		return err_fail(err, EINTR, "interrupted");
	set_interval(&a.spec);
	r = prepare(&a, err);
	sample.spec = a.spec;
	if (!r)
		wait_until_quiet(&a);
	for (int side = 0; side < 2 && !r; side++)
		r = start_worker(&a, side, err);
	if (!r)
		r = schedule_run_open(s->lab, s->schedule, &a.schedule, err);
	if (!r)
		r = measure(&a, &sample.engine, err);
	if (schedule_run_close(a.schedule, arena, &sample, r ? &late : err) && !r)
		r = -err->code;
	if (!r) {
		assess(&a, arena, &sample);
		sample.index = out->index;
		sample.started_ns = out->started_ns;
		*out = sample;
	} else {
		engine_result_done(&sample.engine);
	}
	counters_close(a.counters);
	for (int side = 0; side < 2; side++)
		stop_worker(&a, side);
	account_done(&a.links);
	json_decref(a.relays);
	path_done(&a.path);
	path_done(&a.back);
	return r;
}
