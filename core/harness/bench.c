// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench: builds labs for run.c and notes how long it took and what ran where several ways exist.
 * Measures nothing inside them.
 */
#include "core/harness/bench.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/units.h"
#include "core/engine/cpu.h"
#include "core/harness/rig.h"
#include "core/harness/schedule.h"
#include "emulator/plan/plan_links.h"

#define IDLE_NS (400 * NSEC_PER_MSEC)

static int describe_machine(struct run_machine *m, struct err *err)
{
	struct utsname u;

	if (!uname(&u))
		snprintf(m->kernel, sizeof(m->kernel), "%.*s", (int)sizeof(m->kernel) - 1,
			 u.release);
	cpu_model(m->cpu, sizeof(m->cpu));
	m->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	m->root = geteuid() == 0;
	return lab_measure_machine(&m->model, err);
}

static int compile(struct bench *b, bool unshaped, struct problems *p, struct err *err)
{
	struct bench_lab *lab = &b->labs[unshaped];
	struct compile_options o = {.machine = b->r->machine.model, .unshaped = unshaped};

	topology_compile(b->load.topology, &o, &lab->wire, p);
	lab->compiled = true;
	if (!problems_count(p))
		scenario_check(b->s, &lab->wire, p);
	if (!problems_count(p) && !unshaped)
		schedule_check(b->s,
			       &(struct topology_source){.main = {b->s->topology, b->text, b->len},
							 .sets = b->s->sets.v,
							 .n_sets = b->s->sets.n,
							 .files = b->load.files.v,
							 .n_files = b->load.files.n},
			       &o, &lab->wire, p);
	if (problems_count(p))
		return err_input(err, "%s cannot be run as it is", b->s->file);
	return 0;
}

static int read_topology(struct bench *b, struct problems *p, struct err *err)
{
	const struct scenario *s = b->s;
	int r = file_read(s->topology, &b->text, &b->len, err);

	if (r) {
		problems_add(p, s->topology_at, "%s", err->text);
		return err_input(err, "the topology of %s cannot be read", s->file);
	}
	load_topology(&(struct topology_source){.main = {s->topology, b->text, b->len},
						.sets = s->sets.v,
						.n_sets = s->sets.n},
		      &b->load, p);
	if (problems_count(p))
		return err_input(err, "%s has problems", s->topology);
	return 0;
}

int bench_open(struct bench *b, const struct scenario *s, struct run_result *r, struct problems *p,
	       struct err *err)
{
	int ret;

	*b = (struct bench){.s = s, .r = r};
	ret = read_topology(b, p, err);
	if (!ret)
		ret = describe_machine(&r->machine, err);
	return ret ? ret : compile(b, false, p, err);
}

static void count_nodes(const struct wire *w, struct run_lab *shown)
{
	VEC_FOREACH (n, &w->nodes) {
		shown->hosts += n->kind == NODE_HOST;
		shown->vms += n->kind == NODE_VM;
		shown->machines += n->kind == NODE_MACHINE;
		shown->routers += n->kind == NODE_ROUTER;
		shown->eips += n->kind == NODE_EIP;
		shown->switches += n->kind == NODE_SWITCH;
	}
}

/* What is to be told of a lab that runs. */
static void describe_lab(struct bench *b, struct bench_lab *lab, const struct lab_up_options *o,
			 const struct lab_timing *timing)
{
	struct run_lab *shown = VEC_ADD(&b->r->arena, &b->r->labs);

	lab->shown = (int)b->r->labs.n - 1;
	shown->name = arena_strdup(&b->r->arena, o->name);
	shown->unshaped = o->compile.unshaped;
	shown->timing = *timing;
	shown->choices = json_incref(json_object_get(lab_state(lab->lab), "plan_choices"));
	shown->links = plan_links_json(&lab->wire, &o->compile.machine);
	count_nodes(&lab->wire, shown);
}

/* One that is not what the plan says is told of too: it is taken down like the others. */
static int build(struct bench *b, bool unshaped, struct err *err)
{
	struct bench_lab *lab = &b->labs[unshaped];
	autofree char *name =
	    mem_printf("%s-%d%s", b->s->name, getpid(), unshaped ? "-unshaped" : "");
	struct lab_up_options o = {
	    .name = name,
	    .source_name = b->s->topology,
	    .source_text = b->text,
	    .sets = b->s->sets.v,
	    .n_sets = b->s->sets.n,
	    .files = b->load.files.v,
	    .n_files = b->load.files.n,
	    .compile = {.machine = b->r->machine.model, .unshaped = unshaped},
	};
	struct lab_timing timing;
	int r = rig_build(&lab->wire, &o, &lab->lab, &timing, err);

	if (lab->lab)
		describe_lab(b, lab, &o, &timing);
	return r;
}

int bench_lab(struct bench *b, bool unshaped, struct bench_lab **out, struct err *err)
{
	struct bench_lab *lab = &b->labs[unshaped];
	struct problems none;
	int r = 0;

	problems_init(&none);
	if (!lab->compiled)
		r = compile(b, unshaped, &none, err);
	problems_done(&none);
	if (!r && !lab->lab)
		r = build(b, unshaped, err);
	if (r)
		return r;
	*out = lab;
	return 0;
}

int bench_idle(double *busy_cpus, struct err *err)
{
	struct fidelity_snapshot before, after;
	struct fidelity f;
	int r = fidelity_read(&before, err);

	if (r)
		return r;
	clock_sleep_until_ns(before.at_ns + IDLE_NS);
	r = fidelity_read(&after, err);
	if (r)
		return r;
	fidelity_between(&before, &after, &f);
	*busy_cpus = f.busy_s * (double)NSEC_PER_SEC / (double)f.elapsed_ns;
	return 0;
}

static void take_down(struct bench *b, struct bench_lab *lab, struct err *err)
{
	struct run_lab *shown = &b->r->labs.v[lab->shown];
	int64_t start = clock_now_ns();

	shown->left = lab_down(lab->lab, err) != 0;
	shown->down_ns = clock_now_ns() - start;
}

int bench_close(struct bench *b, struct err *err)
{
	int r = 0;

	for (int i = 0; i < 2; i++) {
		struct bench_lab *lab = &b->labs[i];
		struct err one = ERR_INIT;

		if (lab->lab)
			take_down(b, lab, &one);
		if (one.code && !r) {
			*err = one;
			r = -one.code;
		}
		if (lab->compiled)
			wire_done(&lab->wire);
	}
	load_done(&b->load);
	free(b->text);
	return r;
}
