/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_fuzz: any bytes as a trial. One without a problem must have all that a run needs: a place,
 * a question or a wish, and a link for what happens to it.
 */
#include "core/harness/trial.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct trial *t)
{
	require(t->name && t->from && t->to && t->topology_name && t->asks.n);
	require(t->repeat >= 1 && t->clients >= 1);
	require(t->questions.n || t->exit != WANT_EITHER);
	VEC_FOREACH (a, &t->asks)
		require(a->test && a->spec.duration_ns >= 0);
	VEC_FOREACH (e, &t->events) {
		require(e->at_ns >= 0 && e->for_ns >= 0);
		require(e->kind == EVENT_KILL_SERVER || e->node || e->change.link || t->link);
	}
	VEC_FOREACH (s, &t->before)
		require(s->node && s->argv.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf out = {0};
	struct problems p;

	problems_init(&p);
	struct trial *t = trial_parse("fuzz", (const char *)data, size, &p);
	if (!problems_count(&p))
		check(t);
	problems_print(&p, &out);
	strbuf_done(&out);
	problems_done(&p);
	trial_free(t);
	return 0;
}
