// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attempt: one measurement from its two workers to its sample. Decides nothing about it: repeating
 * is run.c's business, judging verdict.c's.
 *
 * Order matters: workers are started and connected first, then counters are set on the very ports
 * that they use, then the machine is looked at, then traffic starts. So the counters see all of the
 * flow but its handshake, and the CPU time is that of the traffic alone.
 */
#include "core/harness/bound.h"
#include "core/harness/attempt.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/attempt_part.h"
#include "core/harness/queues.h"
#include "core/harness/traffic.h"
#include "emulator/lab/relays.h"

enum { INTERVALS = 5, LEAST_INTERVALS = 3, READING_EVERY_S = 1, NAMED = 12 };

#define SETTLE_MOST_NS (2 * NSEC_PER_SEC)
#define LINKS_STEP_NS  (5 * NSEC_PER_MSEC)
#define BEFORE_MOST_NS (1 * NSEC_PER_SEC)
#define QUIET_MOST_NS  (10 * NSEC_PER_SEC) /* a full queue at 1 Mbit/s */

static atomic_bool interrupted;
static atomic_int interrupt_fd; /* plus 1; what a running engine_pair() looks at */

void attempt_interrupt(void)
{
	const uint64_t one = 1;
	int fd = atomic_load(&interrupt_fd) - 1;

	atomic_store(&interrupted, true);
	if (fd >= 0 && write(fd, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

bool attempt_interrupted(void)
{
	return atomic_load(&interrupted);
}

int attempt_interrupt_fd(void)
{
	int fd = atomic_load(&interrupt_fd) - 1;

	if (fd >= 0)
		return fd;
	fd = eventfd(attempt_interrupted(), EFD_CLOEXEC | EFD_NONBLOCK);
	atomic_store(&interrupt_fd, fd + 1);
	return fd;
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
	if (near)
		return err_input(err, "'%s' is not an endpoint of lab '%s'; did you mean '%s'?",
				 name, w->name, near);
	autostr struct strbuf some = {0};

	for (size_t i = 0; i < w->endpoints.n && i < NAMED; i++)
		strbuf_addf(&some, "%s%s", i ? ", " : "", names[i]);
	return err_input(err, "'%s' is not an endpoint of lab '%s', which has %s%s", name, w->name,
			 strbuf_text(&some), w->endpoints.n > NAMED ? ", …" : "");
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
	a->started[side] = false;
}

static struct losses_at losses_at(const struct attempt *a)
{
	return (struct losses_at){a->s->lab, a->s->wire, &a->there, &a->back};
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

static int on_connected(void *arg, const json_t *flows, struct err *err)
{
	struct attempt *a = arg;
	struct losses_at links = losses_at(a);
	struct err ignored = ERR_INIT;

	a->links_read = read_links_before(a, &links);
	losses_relays(&links, &a->relays, &ignored);
	for (int i = 0; i < a->n_ways; i++)
		way_open(&a->ways[i], flows, NULL);
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

	if (!a->read)
		return true;
	if (engine_test_traits(a->spec.test).open_end)
		return t_s - a->read_s > READING_EVERY_S;
	return left_s > interval_s * 0.5 && left_s < interval_s * 1.5;
}

void attempt_on_interval(struct attempt *a, const json_t *interval)
{
	double t_s = json_number_value(json_object_get(interval, "t_s"));

	if (traffic_is_bulk(a->spec.test) && reading_due(a, t_s)) {
		for (int i = 0; i < a->n_ways; i++)
			way_read(&a->ways[i]);
		a->read_s = t_s;
		a->read = true;
	}
	if (a->s->tick)
		a->s->tick(a->s->arg);
}

static void on_each(void *arg, bool headline, const json_t *interval)
{
	struct attempt *a = arg;

	if (a->s->each)
		a->s->each(a->s->arg, headline, interval);
}

static void on_interval(void *arg, const json_t *interval)
{
	attempt_on_interval(arg, interval);
}

static void on_start(void *arg, int64_t window_ns)
{
	struct attempt *a = arg;

	if (a->schedule)
		schedule_run_start(a->schedule, window_ns);
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

	if (engine_test_traits(out->spec.test).transactions)
		packets += out->engine.client.packets_all;
	if (out->back.known)
		packets += out->back.counted.packets;
	out->cpu_per_packet_ns = NAN;
	if (a->others)
		out->cpu_missing = "other pairs ran at the same time";
	else if (out->company)
		out->cpu_missing = out->company;
	else if (!out->whole.known || !out->fidelity.known || packets <= 0)
		out->cpu_missing = "no packets were counted";
	else if ((out->cpu_missing = others_busy(a, out, arena)))
		return;
	else if (used_s <= 0)
		out->cpu_missing = "the machine used no more CPU time than before it";
	else
		out->cpu_per_packet_ns = used_s * (double)NSEC_PER_SEC / (double)packets;
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

	if (a->others || !engine_test_traits(a->spec.test).paced ||
	    attempt_predict(a->s, &p, &err) || !p.known)
		return;
	out->fidelity.needed_pps = p.pps;
	out->fidelity.sent_pps = out->engine.sent_pps;
}

/*
 * First what had come when the ends stopped, then, when the links are idle, all that came. The
 * difference came too late for the receiver.
 */
static void judge_ways(struct attempt *a, struct arena *arena, struct run_sample *out)
{
	struct way_found found[2] = {
	    {&out->whole, &out->window, &out->counted, &out->losses},
	    {&out->back.whole, &out->back.window, &out->back.counted, &out->back.losses},
	};
	struct account after = {0}, between = {0};
	struct err ignored = ERR_INIT;

	for (int i = 0; i < a->n_ways; i++)
		way_end(&a->ways[i]);
	bool links = a->links_read && !read_links(a, &after, &ignored);
	if (links)
		account_between(&a->links, &after, &between);
	for (int i = 0; i < a->n_ways; i++)
		way_judge(&a->ways[i], &out->engine, links ? &between : NULL, arena, &found[i]);
	out->back.known = a->n_ways > 1;
	if (links)
		account_done(&between);
	account_done(&after);
}

static void set_bound(const struct attempt *a, struct run_sample *out)
{
	struct truth_predicted p;
	struct err ignored = ERR_INIT;
	bool known = !a->others && !attempt_predict(a->s, &p, &ignored);

	bound_refine(known ? &p : NULL, out);
}

static void set_company(const struct attempt *a, struct arena *arena, struct run_sample *out)
{
	int node = a->company && !a->others ? company_met(a->company) : -1;

	if (node >= 0)
		out->company =
		    arena_printf(arena,
				 "another measurement used %s at the same time: drops and "
				 "CPU time are of both",
				 a->s->wire->nodes.v[node].name);
}

void attempt_assess(struct attempt *a, struct arena *arena, struct run_sample *out)
{
	struct err ignored = ERR_INIT; /* it is a measurement without a prediction too */

	judge_ways(a, arena, out);
	if (out->back.known)
		attempt_predict_back(a->s, &out->back.predicted, &ignored);
	fidelity_between(&a->before, &a->after, &out->fidelity);
	out->fidelity.slip_ns = a->s->slip_ns;
	out->fidelity.socket_dropped = out->engine.lost_host + out->engine.back.lost_host;
	if (out->fidelity.n_cpus > 0)
		out->fidelity.others = a->s->idle_busy / out->fidelity.n_cpus;
	set_company(a, arena, out);
	set_needed(a, out);
	set_relay(a, out);
	fidelity_judge(&out->fidelity);
	set_cpu_per_packet(a, arena, out);
	set_bound(a, out);
}

static struct way make_way(const struct attempt *a, bool from_server, bool both)
{
	const struct path *there = from_server ? &a->back : &a->there;
	const struct path *answers = from_server ? &a->there : &a->back;

	return (struct way){
	    .spec = &a->spec,
	    .links = {a->s->lab, a->s->wire, there, both ? NULL : answers},
	    .from = from_server ? a->s->to : a->s->from,
	    .to = from_server ? a->s->from : a->s->to,
	    .family = a->s->family,
	    .from_server = from_server,
	    .both = both,
	    .others = a->others,
	};
}

static void make_ways(struct attempt *a)
{
	enum engine_way way = engine_test_traits(a->spec.test).way;

	a->ways[0] = make_way(a, way == WAY_BACK, way == WAY_BOTH);
	a->ways[1] = make_way(a, true, true);
	a->n_ways = way == WAY_BOTH ? 2 : 1;
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
	r = path_find(s->wire, s->from, s->to, s->family, &a->there, err);
	if (r)
		return r;
	r = path_reverse(s->wire, &a->there, &a->back, &no_answers);
	if (r && engine_test_traits(a->spec.test).way != WAY_FORWARD) {
		*err = no_answers;
		return r; /* datagrams that go forward need none */
	}
	if (engine_test_traits(a->spec.test).group && a->there.nats.n)
		return err_input(err,
				 "'%s' is behind a translation at %s, and NAT translates no "
				 "multicast group: measure to the address of the machine itself",
				 s->to, s->wire->nodes.v[a->there.nats.v[0].node].name);
	const char *zone = strchr(s->to, '%'); /* a device of the client, see model/zone.h */
	if (zone)
		snprintf(a->spec.zone, sizeof(a->spec.zone), "%s", zone + 1);
	traffic_size(&a->there, &a->back, s->family, &a->spec);
	make_ways(a);
	return 0;
}

/* What the run before left in the queues would be counted with this one's. */
static void wait_until_quiet(struct attempt *a)
{
	struct queues_at at = {a->s->lab, a->s->wire, &a->there, attempt_interrupted};
	struct err ignored = ERR_INIT; /* the counters will not agree then, and say so */

	queues_wait(&at, clock_now_ns() + QUIET_MOST_NS, &ignored);
}

/* The counters are read at the ends of the first and of the last but one: some, even in a short
 * window. Three that fill it will do, since people ask for whole seconds. */
static void set_interval(struct engine_spec *spec)
{
	if (spec->interval_ns <= spec->duration_ns / LEAST_INTERVALS &&
	    !(spec->duration_ns % spec->interval_ns))
		return;
	if (spec->interval_ns > spec->duration_ns / INTERVALS)
		spec->interval_ns = spec->duration_ns / INTERVALS;
}

int attempt_open(struct attempt *a, struct err *err)
{
	if (attempt_interrupted())
		return err_fail(err, EINTR, "interrupted");
	set_interval(&a->spec);
	int r = prepare(a, err);
	if (!r)
		a->company = company_join(a->s->lab, &a->there);
	if (!r)
		wait_until_quiet(a);
	for (int side = 0; side < 2 && !r; side++)
		r = start_worker(a, side, err);
	return r;
}

struct ip attempt_server(const struct attempt *a)
{
	return *address_of(a->to, a->s->family);
}

void attempt_close(struct attempt *a)
{
	for (int i = 0; i < a->n_ways; i++)
		way_close(&a->ways[i]);
	for (int side = 0; side < 2; side++)
		stop_worker(a, side);
	company_leave(a->company);
	account_done(&a->links);
	json_decref(a->relays);
	path_done(&a->there);
	path_done(&a->back);
}

static int measure(struct attempt *a, struct engine_result *result, struct err *err)
{
	struct engine_ends ends = {a->fd[0], a->fd[0], a->fd[1], a->fd[1]};
	struct engine_hooks hooks = {
	    .on_connected = on_connected,
	    .on_interval = on_interval,
	    .on_each = on_each,
	    .on_start = on_start,
	    .arg = a,
	    .stop_fd = attempt_interrupt_fd(),
	};
	int r = engine_pair(&a->spec, address_of(a->to, a->s->family), &ends, &hooks, result, err);

	if (r && attempt_interrupted()) /* else what there is, marked as a part */
		return err_fail(err, EINTR, "interrupted");
	return r ? r : fidelity_read(&a->after, err);
}

int attempt_run(const struct attempt_spec *s, struct arena *arena, struct run_sample *out,
		struct err *err)
{
	struct attempt a = {.s = s, .spec = s->engine};
	a.spec.total_loss |=
	    s->schedule && s->schedule->changes.n; /* a path is cut there on purpose */
	struct run_sample sample = {0};
	struct err late = ERR_INIT; /* of a schedule whose measurement failed anyway */
	int r = attempt_open(&a, err);

	sample.spec = a.spec;
	if (!r)
		r = schedule_run_open(s->lab, s->schedule, &a.schedule, err);
	if (!r)
		r = measure(&a, &sample.engine, err);
	if (schedule_run_close(a.schedule, arena, &sample, r ? &late : err) && !r)
		r = -err->code;
	if (!r) {
		attempt_assess(&a, arena, &sample);
		sample.index = out->index;
		sample.started_ns = out->started_ns;
		*out = sample;
	} else {
		engine_result_done(&sample.engine);
	}
	attempt_close(&a);
	return r;
}
