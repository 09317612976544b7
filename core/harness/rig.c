/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rig: from a topology's text to a running lab, and back to nothing. Called by the trials and by
 * `vpclab tool try`. */
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

static int build(const struct rig_spec *s, struct rig *r, struct err *err)
{
	struct lab_up_options o = {
	    .name = s->name,
	    .source_name = s->topology.name,
	    .source_text = s->topology.text,
	    .files = r->load.files.v,
	    .n_files = r->load.files.n,
	    .compile = {.machine = *s->machine},
	    .tied = true,
	};
	struct lab_timing timing;
	struct plan plan;

	plan_build(&r->wire, s->machine, &plan);
	int ret = lab_up(&plan, &o, &r->lab, &timing, err);
	plan_done(&plan);
	if (ret)
		r->lab = NULL;
	return ret;
}

static int check(const struct rig *r, struct err *err)
{
	autostr struct strbuf differences = {0};
	size_t n = 0;
	int ret = lab_check(r->lab, &differences, &n, err);

	if (!ret && n)
		ret = err_fail(err, EUCLEAN, "the lab is not what the plan says:\n%s",
			       strbuf_text(&differences));
	return ret;
}

int rig_open(const struct rig_spec *s, struct rig *out, struct problems *p, struct err *err)
{
	*out = (struct rig){0};
	int r = load(s, out, p, err);

	if (!r)
		r = build(s, out, err);
	return r ? r : check(out, err);
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
