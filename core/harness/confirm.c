/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confirm: several runs of one tool on one trial, each in a lab of its own, made one result. Called
 * by verify.c.
 *
 * A machine that somebody else uses for a second makes a figure wrong in ways that no counter
 * shows; it does not do so twice alike. A fault of the tool does.
 */
#include "core/harness/confirm.h"

#include "core/base/mem.h"
#include "core/base/str.h"

#define ENOUGH 2 /* runs that say it alike */

struct charge { /* one thing that is said against the tool */
	struct answer said;
	int times;
	const char *otherwise; /* a run that does not say it: its own word */
};

struct settling {
	const struct trial_result *runs;
	int n;
	struct arena arena;
	VEC(struct charge) charges;
};

static struct answer *about(const struct trial_result *r, const char *what)
{
	VEC_FOREACH (a, &r->judged.answers)
		if (str_eq(a->about, what))
			return a;
	return NULL;
}

static bool says(const struct trial_result *r, const struct answer *a)
{
	VEC_FOREACH (other, &r->judged.answers)
		if (judgement_is_fault(other->judgement) && other->kind == a->kind &&
		    str_eq(other->about, a->about))
			return true;
	return false;
}

static int times(const struct trial_result *runs, int n, const struct answer *a)
{
	int found = 0;

	for (int i = 0; i < n; i++)
		found += says(&runs[i], a);
	return found;
}

bool confirm_wants_more(const struct trial_result *runs, int n)
{
	for (int i = 0; i < n && n < CONFIRM_RUNS; i++)
		VEC_FOREACH (a, &runs[i].judged.answers)
			if (judgement_is_fault(a->judgement) && times(runs, n, a) < ENOUGH)
				return true;
	return false;
}

/* ---- all charges, before anything is changed ---- */

static const char *otherwise(const struct settling *s, const struct answer *a)
{
	for (int i = 0; i < s->n; i++) {
		const struct answer *other = about(&s->runs[i], a->about);

		if (says(&s->runs[i], a))
			continue;
		return other ? other->text : s->runs[i].inconclusive ?: "nothing of the kind";
	}
	return "";
}

static bool charged(const struct settling *s, const struct answer *a)
{
	VEC_FOREACH (c, &s->charges)
		if (c->said.kind == a->kind && str_eq(c->said.about, a->about))
			return true;
	return false;
}

static void collect(struct settling *s)
{
	for (int i = 0; i < s->n; i++)
		VEC_FOREACH (a, &s->runs[i].judged.answers)
			if (judgement_is_fault(a->judgement) && !charged(s, a))
				*VEC_ADD(&s->arena, &s->charges) =
				    (struct charge){*a, times(s->runs, s->n, a), otherwise(s, a)};
}

static const struct charge *standing(const struct settling *s, const char *what)
{
	VEC_FOREACH (c, &s->charges)
		if (c->times >= ENOUGH && str_eq(c->said.about, what))
			return c;
	return NULL;
}

/* The first with the most that stands. */
static int choose(const struct settling *s)
{
	int best = 0, most = -1;

	for (int i = 0; i < s->n; i++) {
		int stand = 0;

		VEC_FOREACH (c, &s->charges)
			stand += c->times >= ENOUGH && says(&s->runs[i], &c->said);
		if (stand > most) {
			best = i;
			most = stand;
		}
	}
	return best;
}

/* ---- what is told ---- */

static void tell(struct trial_result *told, const struct settling *s, const struct charge *c)
{
	struct answer *mine = about(told, c->said.about);
	bool stands = c->times >= ENOUGH;

	/* It is told so already; or of this question something stands, which is enough. */
	if ((stands && says(told, &c->said)) || (!stands && standing(s, c->said.about)))
		return;
	if (!mine)
		mine = VEC_ADD(&told->judged.arena, &told->judged.answers);
	*mine = c->said;
	if (stands) {
		mine->text = arena_strdup(&told->judged.arena, c->said.text);
		return;
	}
	mine->judgement = JUDGED_INCONCLUSIVE;
	mine->text = arena_printf(&told->judged.arena, "only in one of %d runs: %s; in another: %s",
				  s->n, c->said.text, c->otherwise);
}

int confirm_settle(struct trial_result *runs, int n)
{
	struct settling s = {.runs = runs, .n = n};

	arena_init(&s.arena);
	collect(&s);
	int best = choose(&s);
	VEC_FOREACH (c, &s.charges)
		tell(&runs[best], &s, c);
	arena_done(&s.arena);
	return best;
}
