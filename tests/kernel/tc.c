/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each tree of traffic control that a shape becomes, made by our messages and by the tc commands
 * that a plan prints: tc must list the same. What we read back must be what we told, also above
 * 34.3 Gbit/s where 32-bit rates end. A change must keep the packets that wait.
 */
#include "tests/kernel/sandbox.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <math.h>
#include <sys/socket.h>

#include "emulator/kernel/dump.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/sysctl.h"
#include "emulator/lab/check.h"
#include "emulator/lab/lab.h"
#include "emulator/plan/plan_tc.h"

#define MBIT INT64_C(1000000)
#define GBIT INT64_C(1000000000)

enum { V0 = 100, FRAME = 1000 };

struct fixture {
	struct netns a;
	struct nl_batch batch;
	struct dump dump;
	struct machine here;
};

static struct mac mac_of(const char *text)
{
	struct err err = ERR_INIT;
	struct mac mac;

	sandbox_ok(&err, mac_parse(text, &mac, &err));
	return mac;
}

static void send_all(struct fixture *f)
{
	struct err err = ERR_INIT;

	sandbox_ok(&err, nl_send(f->a.rt, &f->batch, &err));
}

/* Without IPv6 devices send nothing by themselves. */
static struct netns quiet_netns(void)
{
	struct netns ns = sandbox_netns("a"), self;
	struct err err = ERR_INIT;

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_enter(&ns, &err));
	sandbox_ok(&err, sysctl_set("net/ipv6/conf/default/disable_ipv6", "1", &err));
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	return ns;
}

static int setup(void **state)
{
	const struct link_spec v0 = {"v0", V0, 1500, mac_of("02:00:00:00:00:01"), 4, 2, 0};
	const struct link_spec v1 = {"v1", V0 + 1, 1500, mac_of("02:00:00:00:00:02"), 1, 3, 0};
	struct fixture *f = mem_zalloc(sizeof(*f));
	struct err err = ERR_INIT;

	sandbox_ok(&err, lab_measure_machine(&f->here, &err));
	f->a = quiet_netns();
	link_veth(&f->batch, &v0, &v1, f->a.fd);
	link_up(&f->batch, "v0", V0);
	link_up(&f->batch, "v1", V0 + 1);
	send_all(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	struct netns self;

	sandbox_ok(&err, netns_self(&self, &err));
	nl_batch_done(&f->batch);
	dump_done(&f->dump);
	netns_close(&f->a);
	free(sandbox_run(&self, (const char *const[]){"ip", "netns", "del", "a", NULL}));
	netns_close(&self);
	free(f);
	return 0;
}

#define RATE(b, base, m) .rate = {.bps = (b), .basis = BASIS_##base, .mode = SHAPE_##m}

static const struct shape {
	const char *what;
	struct wire_shape shape;
	int mtu;
} shapes[] = {
    {"rate", {RATE(100 * MBIT, L1, EXACT)}, 1500},
    {"rate l3", {RATE(100 * MBIT, L3, EXACT)}, 1500},
    {"40 Gbit/s", {RATE(40 * GBIT, L1, EXACT)}, 9000},
    {"100 Gbit/s", {RATE(100 * GBIT, L2, FAST)}, 9000},
    {"200 Gbit/s", {RATE(200 * GBIT, L3, EXACT)}, 1500},
    {"packets", {.pps = {.pps = 10000}}, 1500},
    {"10 million packets, jumbo", {.pps = {.pps = 10000000}}, 9000},
    {"rate and packets", {RATE(50 * MBIT, L1, EXACT), .pps = {.pps = 10000}}, 1500},
    {"rate l3 and packets", {RATE(50 * MBIT, L3, EXACT), .pps = {.pps = 10000}}, 1500},
    {"credit",
     {.rate = {.bps = 10 * MBIT,
	       .basis = BASIS_L1,
	       .mode = SHAPE_EXACT,
	       .burst_bps = 50 * MBIT,
	       .credit_ns = 2 * NSEC_PER_SEC}},
     1500},
    {"credit of more bytes than 32 bits hold with the overhead",
     {.rate = {.bps = MBIT,
	       .basis = BASIS_L1,
	       .mode = SHAPE_EXACT,
	       .burst_bps = 2 * MBIT,
	       .credit_ns = 72000 * NSEC_PER_SEC}},
     1500},
    {"credit above 34.3 Gbit/s",
     {.rate = {.bps = 40 * GBIT,
	       .basis = BASIS_L2,
	       .mode = SHAPE_FAST,
	       .burst_bps = 100 * GBIT,
	       .credit_ns = 300 * NSEC_PER_MSEC}},
     1500},
    {"queues", {RATE(100 * MBIT, L1, EXACT), .queues = {.count = 4, .bps_each = 25 * MBIT}}, 1500},
    {"queues of packets",
     {RATE(100 * MBIT, L3, EXACT), .pps = {.pps = 40000},
      .queues = {.count = 4, .pps_each = 10000}},
     1500},
    {"queues of 100 Gbit/s",
     {RATE(200 * GBIT, L2, FAST), .queues = {.count = 2, .bps_each = 100 * GBIT}},
     9000},
    {"queues without a rate", {.queues = {.count = 3, .bps_each = 25 * MBIT}}, 1500},
    {"queues, bytes and packets of each, flows",
     {RATE(100 * MBIT, L1, EXACT), .queues = {.count = 4, .bps_each = 25 * MBIT, .pps_each = 10000},
      .flow_bps = 5 * MBIT},
     1500},
    {"queues and credit",
     {.rate = {.bps = 10 * MBIT,
	       .basis = BASIS_L1,
	       .mode = SHAPE_EXACT,
	       .burst_bps = 50 * MBIT,
	       .credit_ns = 2 * NSEC_PER_SEC},
      .queues = {.count = 2, .bps_each = 25 * MBIT}},
     1500},
    {"flows", {RATE(100 * MBIT, L1, EXACT), .flow_bps = 5 * MBIT}, 1500},
    {"police without a policer",
     {.rate = {.bps = 100 * MBIT, .basis = BASIS_L1, .mode = SHAPE_EXACT, .police = true}},
     1500},
};

static void make_steps(const struct shape *s, struct shaper *out)
{
	struct machine m = MACHINE_DEFAULT;

	m.police = false;
	shaper_steps(&s->shape, s->mtu, &m, out);
	assert_true(out->steps.n > 0);
}

static void apply_steps(struct fixture *f, const struct shaper *sh, enum qdisc_how how)
{
	VEC_FOREACH (step, &sh->steps)
		qdisc_step(&f->batch, "v0", V0, step, how);
	send_all(f);
}

static void remove_root(struct fixture *f)
{
	free(SANDBOX_RUN(&f->a, "tc", "qdisc", "del", "dev", "v0", "root"));
}

/* In no particular order as the kernel tells them, so sorted. */
static char *listing(struct fixture *f)
{
	return SANDBOX_RUN(&f->a, "sh", "-ec",
			   "{ tc -d qdisc show dev v0; tc -d class show dev v0; } | sed 's, refcnt "
			   "[0-9]*,,' | sort");
}

/* Fails with the first line that differs. */
static void same_listing(const char *ours, const char *theirs)
{
	const char *a = ours, *b = theirs;

	for (size_t i = 0; ours[i] && ours[i] == theirs[i]; i++) {
		a = ours[i] == '\n' ? ours + i + 1 : a;
		b = ours[i] == '\n' ? theirs + i + 1 : b;
	}
	if (strcmp(ours, theirs) != 0)
		fail_msg("ours: %.*s, tc's: %.*s", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"),
			 b);
}

static void by_commands(struct fixture *f, const struct shaper *sh)
{
	VEC_FOREACH (step, &sh->steps) {
		const struct op op = {.kind = OP_TC, .dev = "v0", .ifindex = V0, .tc = *step};
		autostr struct strbuf line = {0};

		strbuf_add(&line, "tc ");
		plan_tc_sh(&op, &line);
		free(SANDBOX_RUN(&f->a, "sh", "-ec", strbuf_text(&line)));
	}
}

static void as_tc_makes_it(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		autofree char *ours = NULL, *theirs = NULL;
		struct shaper sh;

		print_message("%s\n", shapes[i].what);
		make_steps(&shapes[i], &sh);
		apply_steps(f, &sh, QDISC_ADD);
		ours = listing(f);
		remove_root(f);
		by_commands(f, &sh);
		theirs = listing(f);
		remove_root(f);
		same_listing(ours, theirs);
		shaper_done(&sh);
	}
}

static void read_all(struct fixture *f)
{
	struct err err = ERR_INIT;

	sandbox_ok(&err, dump_qdiscs(f->a.rt, &f->dump, &err));
	sandbox_ok(&err, dump_classes(f->a.rt, &f->dump, &err));
	sandbox_ok(&err, dump_policers(f->a.rt, &f->dump, &err));
}

static const struct dump_qdisc *find_step(const struct dump *d, const struct tc_step *s)
{
	if (s->kind == TC_CLASS) {
		VEC_FOREACH (q, &d->classes)
			if (q->ifindex == V0 && q->handle == s->handle)
				return q;
		return NULL;
	}
	VEC_FOREACH (q, &d->qdiscs)
		if (q->ifindex == V0 && q->handle == s->handle)
			return q;
	return NULL;
}

static void same_bucket(const struct tc_bucket *told, const struct tc_bucket *is)
{
	assert_int_equal(is->rate_bytes, told->rate_bytes);
	assert_int_equal(is->overhead, told->overhead);
	assert_int_equal(is->mpu, told->mpu);
}

static void same_time(uint64_t bytes, const struct tc_bucket *b, int64_t is_ns)
{
	double ns = fmod((double)bytes * 1e9 / (double)b->rate_bytes, (double)DUMP_BURST_WRAP_NS);

	if (fabs((double)is_ns - ns) > 1200 + ns * 1e-6)
		fail_msg("bucket of %.0f ns reads back as %.0f", ns, (double)is_ns);
}

static void same_step(const struct tc_step *told, const struct dump_qdisc *q)
{
	const struct tc_step *is = &q->step;

	assert_int_equal(is->kind, told->kind);
	assert_int_equal(is->parent, told->parent);
	assert_int_equal(is->stab_overhead, told->stab_overhead);
	if (told->kind == TC_TBF) {
		same_bucket(&told->tbf.rate, &is->tbf.rate);
		assert_int_equal(is->tbf.peak.rate_bytes, told->tbf.peak.rate_bytes);
		assert_int_equal(is->tbf.limit_bytes, told->tbf.limit_bytes);
		same_time(told->tbf.rate.burst_bytes + told->tbf.rate.overhead, &told->tbf.rate,
			  q->burst_ns);
	} else if (told->kind == TC_CLASS) {
		same_bucket(&told->cls.rate, &is->cls.rate);
		same_bucket(&told->cls.ceil, &is->cls.ceil);
		same_time(told->cls.rate.burst_bytes, &told->cls.rate, q->burst_ns);
		same_time(told->cls.ceil.burst_bytes, &told->cls.ceil, q->peak_ns);
	} else if (told->kind == TC_FIFO) {
		assert_int_equal(is->fifo_limit_bytes, told->fifo_limit_bytes);
	} else if (told->kind == TC_PFIFO) {
		assert_int_equal(is->pfifo_limit_packets, told->pfifo_limit_packets);
	} else if (told->kind == TC_HTB) {
		assert_int_equal(is->htb.default_minor, told->htb.default_minor);
	}
}

static void reads_back(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct shaper sh;
		size_t classes = 0;

		print_message("%s\n", shapes[i].what);
		make_steps(&shapes[i], &sh);
		apply_steps(f, &sh, QDISC_ADD);
		read_all(f);
		VEC_FOREACH (step, &sh.steps) {
			const struct dump_qdisc *q = find_step(&f->dump, step);

			assert_non_null(q);
			same_step(step, q);
			classes += step->kind == TC_CLASS;
		}
		assert_int_equal(f->dump.classes.n, classes);
		remove_root(f);
		shaper_done(&sh);
	}
}

/* Deeper than 32 bits of bytes: told as time, which tc cannot. */
static void deep_credit(void **state)
{
	const struct shape s = {"",
				{.rate = {.bps = 40 * GBIT,
					  .basis = BASIS_L2,
					  .mode = SHAPE_FAST,
					  .burst_bps = 100 * GBIT,
					  .credit_ns = 2 * NSEC_PER_SEC}},
				1500};
	struct fixture *f = *state;
	const struct dump_qdisc *q;
	struct shaper sh;

	make_steps(&s, &sh);
	assert_int_equal(sh.steps.v[0].tbf.rate.burst_bytes, 15000000000);
	apply_steps(f, &sh, QDISC_ADD);
	read_all(f);
	q = find_step(&f->dump, &sh.steps.v[0]);
	assert_non_null(q);
	same_time(15000000000, &sh.steps.v[0].tbf.rate, q->burst_ns);
	remove_root(f);
	shaper_done(&sh);
}

/* Frames into v0's shaper, from its own namespace. */
static void send_frames(struct fixture *f, int n)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = V0, .sll_halen = 6};
	uint8_t frame[FRAME] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
	struct err err = ERR_INIT;
	struct netns self;

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_enter(&f->a, &err));
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	assert_true(fd >= 0);
	for (int i = 0; i < n; i++)
		assert_int_equal(
		    sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to)), FRAME);
	close(fd);
}

static const struct dump_qdisc *root_of(struct fixture *f)
{
	read_all(f);
	VEC_FOREACH (q, &f->dump.qdiscs)
		if (q->ifindex == V0 && q->parent == TC_AT_ROOT)
			return q;
	fail_msg("no qdisc");
	return NULL;
}

/* At 8 kbit/s a frame of 1000 bytes leaves each second: those that wait are there after a change.
 */
static void keeps_packets(const struct shape *before, const struct shape *after, void **state)
{
	struct fixture *f = *state;
	const struct dump_qdisc *q;
	struct shaper was, is;
	uint32_t waiting;

	make_steps(before, &was);
	make_steps(after, &is);
	apply_steps(f, &was, QDISC_ADD);
	send_frames(f, 40);
	waiting = root_of(f)->backlog_packets;
	assert_true(waiting >= 20);
	apply_steps(f, &is, QDISC_CHANGE);
	q = root_of(f);
	/* Its bucket is full again: a few may have left at once, none was dropped. */
	assert_int_equal(q->dropped, 0);
	assert_int_equal(q->packets + q->backlog_packets, 40);
	assert_true(q->backlog_packets + 10 >= waiting);
	VEC_FOREACH (step, &is.steps)
		same_step(step, find_step(&f->dump, step));
	remove_root(f);
	shaper_done(&was);
	shaper_done(&is);
}

static void tbf_keeps_packets(void **state)
{
	const struct shape before = {"", {RATE(8000, L1, EXACT)}, 1500};
	const struct shape after = {"", {RATE(16000, L3, EXACT)}, 1500};

	keeps_packets(&before, &after, state);
}

static void stack_keeps_packets(void **state)
{
	const struct shape before = {
	    "", {RATE(8000, L1, EXACT), .pps = {.pps = 1, .burst = 2}}, 1500};
	const struct shape after = {
	    "", {RATE(16000, L1, EXACT), .pps = {.pps = 2, .burst = 1}}, 1500};

	keeps_packets(&before, &after, state);
}

static void classes_keep_packets(void **state)
{
	const struct shape before = {
	    "", {RATE(16000, L1, EXACT), .queues = {.count = 2, .bps_each = 8000}}, 1500};
	const struct shape after = {
	    "", {RATE(32000, L1, EXACT), .queues = {.count = 2, .bps_each = 16000}}, 1500};

	keeps_packets(&before, &after, state);
}

static void deletes(void **state)
{
	struct fixture *f = *state;
	struct shaper sh;

	make_steps(&shapes[0], &sh);
	apply_steps(f, &sh, QDISC_ADD);
	qdisc_delete(&f->batch, "v0", V0, &sh.steps.v[0]);
	send_all(f);
	assert_int_equal(root_of(f)->handle, 0);
	shaper_done(&sh);
}

static void queue_counts(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	autofree char *v0 = SANDBOX_RUN(&f->a, "ip", "-d", "link", "show", "v0");
	autofree char *v1 = SANDBOX_RUN(&f->a, "ip", "-d", "link", "show", "v1");

	assert_non_null(strstr(v0, "numtxqueues 4 numrxqueues 2"));
	assert_non_null(strstr(v1, "numtxqueues 1 numrxqueues 3"));
	sandbox_ok(&err, dump_links(f->a.rt, &f->dump, &err));
	assert_int_equal(dump_find_name(&f->dump, "v0")->tx_queues, 4);
	assert_int_equal(dump_find_name(&f->dump, "v0")->rx_queues, 2);
}

static void policer(void **state)
{
	const struct wire_shape shape = {
	    .rate = {.bps = 40 * GBIT, .basis = BASIS_L1, .mode = SHAPE_EXACT, .police = true}};
	struct fixture *f = *state;
	struct machine m = MACHINE_DEFAULT;
	const struct tc_step *police;
	struct shaper sh;

	if (!f->here.police)
		skip(); /* this kernel has no act_police or no matchall */
	shaper_steps(&shape, 1500, &m, &sh);
	assert_int_equal(sh.steps.n, 2);
	police = &sh.steps.v[1];
	apply_steps(f, &sh, QDISC_ADD);
	for (int change = 0; change < 2; change++) {
		read_all(f);
		assert_int_equal(f->dump.policers.n, 1);
		same_bucket(&police->police.rate, &f->dump.policers.v[0].step.police.rate);
		same_time(police->police.rate.burst_bytes, &police->police.rate,
			  f->dump.policers.v[0].burst_ns);
		sh.steps.v[1].police.rate.rate_bytes *= 2;
		apply_steps(f, &sh, QDISC_CHANGE);
	}
	free(SANDBOX_RUN(&f->a, "tc", "qdisc", "del", "dev", "v0", "clsact"));
	by_commands(f, &sh);
	read_all(f);
	assert_int_equal(f->dump.policers.n, 1);
	same_bucket(&police->police.rate, &f->dump.policers.v[0].step.police.rate);
	free(SANDBOX_RUN(&f->a, "tc", "qdisc", "del", "dev", "v0", "clsact"));
	shaper_done(&sh);
}

static void netem_as_tc(struct fixture *f, const struct wire_impair *i)
{
	autofree char *ours = NULL, *theirs = NULL;
	const struct wire_rate rate = {.bps = 100 * MBIT};
	struct shaper sh = {0};

	arena_init(&sh.arena);
	shaper_netem(i, &rate, 1500, VEC_ADD(&sh.arena, &sh.steps));
	apply_steps(f, &sh, QDISC_ADD);
	ours = listing(f);
	read_all(f);
	assert_int_equal(find_step(&f->dump, &sh.steps.v[0])->step.netem.delay_ns,
			 sh.steps.v[0].netem.delay_ns);
	apply_steps(f, &sh, QDISC_CHANGE);
	remove_root(f);
	by_commands(f, &sh);
	theirs = listing(f);
	remove_root(f);
	/* Newer kernels tell the seed, which tc chose for itself. */
	if (strstr(ours, " seed "))
		*strstr(ours, " seed ") = '\0';
	if (strstr(theirs, " seed "))
		*strstr(theirs, " seed ") = '\0';
	same_listing(ours, theirs);
	shaper_done(&sh);
}

static void netem(void **state)
{
	static const struct wire_impair impairs[] = {
	    {.delay_ns = 10 * NSEC_PER_MSEC, .seed = 7},
	    {.delay_ns = 10 * NSEC_PER_MSEC,
	     .jitter_ns = 1500 * NSEC_PER_USEC,
	     .jitter = JITTER_NORMAL,
	     .jitter_correlation_ppm = 250000},
	    {.delay_ns = 640 * NSEC_PER_USEC,
	     .jitter_ns = 320 * NSEC_PER_USEC,
	     .jitter = JITTER_PARETO},
	    {.loss = LOSS_RANDOM, .loss_ppm = 12345, .loss_correlation_ppm = 100000},
	    {.loss = LOSS_BURSTS,
	     .to_bad_ppm = 1000,
	     .to_good_ppm = 300000,
	     .bad_loss_ppm = 900000},
	    {.delay_ns = NSEC_PER_SEC, .duplication_ppm = 500, .corruption_ppm = 1000},
	};
	struct fixture *f = *state;

	if (!f->here.netem)
		skip(); /* this kernel has no netem */
	for (size_t i = 0; i < ARRAY_SIZE(impairs); i++)
		netem_as_tc(f, &impairs[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_tc_makes_it),
	    cmocka_unit_test(reads_back),
	    cmocka_unit_test(deep_credit),
	    cmocka_unit_test(tbf_keeps_packets),
	    cmocka_unit_test(stack_keeps_packets),
	    cmocka_unit_test(classes_keep_packets),
	    cmocka_unit_test(deletes),
	    cmocka_unit_test(queue_counts),
	    cmocka_unit_test(policer),
	    cmocka_unit_test(netem),
	};

	sandbox_enter();
	return cmocka_run_group_tests(tests, setup, teardown);
}
