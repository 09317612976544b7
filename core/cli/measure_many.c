// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * measure_many: points and their repeats, from options to a table. Called by cmd_measure.c.
 */
#include "core/cli/measure_many.h"

#include <errno.h>

#include "core/cli/print.h"
#include "core/report/curves.h"

bool measure_many_wanted(const struct many_options *o)
{
	return o->sweeps.n || o->repeat;
}

static int status_of(const struct many *m, const struct sweep *s, const struct scenario_repeat *how)
{
	VEC_FOREACH (p, &s->points)
		if (p->r.error || (how->max > 1 && !p->r.settled))
			return EXIT_INCONCLUSIVE;
	return procedure_stopped(&m->p) || s->interrupted ? EXIT_INCONCLUSIVE : EXIT_PASS;
}

static int print_sweep(struct many *m, const struct sweep_plan *plan, const struct sweep *s,
		       const struct scenario_repeat *how, enum face face)
{
	autostr struct strbuf text = {0};
	enum engine_test test = s->points.n ? s->points.v[0].r.spec.test : TEST_TCP_STREAM;

	many_wipe(m);
	if (face == FACE_JSON) {
		json_t *j = curves_sweep_json(plan, s, how);

		json_object_set_new(j, "from", json_string(m->at.from));
		json_object_set_new(j, "to", json_string(m->at.to));
		json_object_set_new(j, "test", json_string(engine_test_name(test)));
		print_json(j);
		return status_of(m, s, how);
	}
	if (face == FACE_CSV) {
		curves_sweep_csv(plan, s, how, &text);
	} else {
		strbuf_addf(&text, "%s → %s, %s\n", m->at.from, m->at.to, engine_test_name(test));
		curves_sweep_text(plan, s, how, &text);
	}
	print_text(&text);
	return status_of(m, s, how);
}

int measure_many(struct many *m, const struct many_options *o, const struct engine_spec *base,
		 enum face face, struct err *err)
{
	struct scenario_repeat how = {.confidence = 0.95, .min = 1, .max = 1};
	struct sweep_plan plan = {.family = m->at.family};
	struct sweep found = {0};
	int r = 0;

	if (face != FACE_TEXT && face != FACE_JSON && face != FACE_CSV)
		return err_input(err, "--format: --sweep and --repeat print text, json or csv");
	if (o->repeat && repeat_parse(o->repeat, &how, err))
		return err_wrap(err, "--repeat");
	for (size_t i = 0; i < o->sweeps.n && !r; i++)
		if (sweep_add(&plan, &m->arena, o->sweeps.v[i], base, err))
			r = err_wrap(err, "--sweep");
	if (!r)
		r = sweep_run(&m->p, &plan, base, &how, &found, err);
	if (r && (r != -EINTR || !found.points.n))
		return r;
	return print_sweep(m, &plan, &found, &how, face);
}
