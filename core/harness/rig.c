/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rig: from a topology's text to a running lab, and back to nothing. Called by the trials, by
 * `vpclab tool try` and, for the labs of scenarios, by bench.c. */
#include "core/harness/rig.h"

#include <errno.h>

#include "core/base/str.h"
#include "emulator/plan/plan.h"

static int load(const struct rig_spec *s, struct rig *r, struct problems *p, struct err *err)
{
	const struct topology_source src = {.main = s->topology};
	const struct compile_options o = {.machine = *s->machine};

	load_topology(&src, &r->load, p);
	r->loaded = true;
	if (!problems_count(p)) {
		topology_compile(r->load.topology, &o, &r->wire, p);
		r->compiled = true;
	}
	if (problems_count(p))
		return err_input(err, "%s has problems", s->topology.name);
	return 0;
}

static int check(const struct lab *lab, struct err *err)
{
	autostr struct strbuf differences = {0};
	size_t n = 0;
	int r = lab_check(lab, &differences, &n, err);

	if (r)
		return err_wrap(err, "checking the lab");
	if (n)
		return err_fail(err, EUCLEAN, "the lab is not what the plan says:\n%s",
				strbuf_text(&differences));
	return 0;
}

int rig_build(const struct wire *w, const struct lab_up_options *options, struct lab **out,
	      struct lab_timing *timing, struct err *err)
{
	struct lab_up_options o = *options;
	struct plan plan;

	o.tied = true;
	plan_build(w, &o.compile.machine, &plan);
	int r = lab_up(&plan, &o, out, timing, err);
	plan_done(&plan);
	if (r) {
		*out = NULL;
		return r;
	}
	return check(*out, err);
}

static int build(const struct rig_spec *s, struct rig *r, struct err *err)
{
	const struct lab_up_options o = {
	    .name = s->name,
	    .source_name = s->topology.name,
	    .source_text = s->topology.text,
	    .files = r->load.files.v,
	    .n_files = r->load.files.n,
	    .compile = {.machine = *s->machine},
	};
	struct lab_timing timing;

	return rig_build(&r->wire, &o, &r->lab, &timing, err);
}

int rig_open(const struct rig_spec *s, struct rig *out, struct problems *p, struct err *err)
{
	*out = (struct rig){0};
	int r = load(s, out, p, err);

	return r ? r : build(s, out, err);
}

int rig_close(struct rig *r, struct err *err)
{
	int ret = r->lab ? lab_down(r->lab, err) : 0;

	if (r->compiled)
		wire_done(&r->wire);
	if (r->loaded)
		load_done(&r->load);
	*r = (struct rig){0};
	return ret;
}
