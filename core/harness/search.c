// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * search: which load to try next, and what the trials so far say about each. Measures nothing
 * itself (procedure.c does). Called by rfc2544.c, rfc6349.c and `vpclab search`.
 *
 * Each goal goes through phases: with short trials and wide bounds first, since most loads are far
 * from the answer and show it at once; each phase begins at the bounds of the one before. All
 * trials are kept and count for every goal.
 */
#include "core/harness/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_TRIALS = 200, LEAST_DATAGRAMS = 100 };

struct bounds {
	int64_t lower, upper; /* 0: none */
	bool machine;	      /* upper could not be offered */
	const char *why;
};

struct searcher {
	struct procedure *p;
	const struct search_options *o;
	const struct engine_spec *base;
	struct search *s;
	int64_t least, most;
	int made;	     /* trials for this goal */
	const char *refused; /* the path takes no more flows: why */
};

static bool is_at(const struct trial *t, int64_t load_pps)
{
	return t->valid && t->load_pps == load_pps;
}

/* The definition of the draft, section on load classification, in seconds of trials. */
enum search_class search_classify(const struct trial *v, size_t n, int64_t load_pps,
				  const struct search_goal *g)
{
	double full_low = 0, full_high = 0, short_low = 0, short_high = 0;

	for (size_t i = 0; i < n; i++) {
		bool full = v[i].duration_ns >= g->final_ns, high = v[i].loss > g->loss_ratio;
		double *sum =
		    full ? (high ? &full_high : &full_low) : (high ? &short_high : &short_low);

		if (is_at(&v[i], load_pps))
			*sum += (double)v[i].duration_ns;
	}
	/* Short good trials only make up for short bad ones. */
	double excess = short_high - short_low * g->exceed_ratio / (1 - g->exceed_ratio);
	double high = full_high + fmax(excess, 0);
	double whole = fmax(full_low + high, (double)g->sum_ns);
	double allowed = whole * g->exceed_ratio;

	if (whole - full_low <= allowed)
		return SEARCH_LOWER;
	return high > allowed ? SEARCH_UPPER : SEARCH_UNDECIDED;
}

static int by_loss(const void *a, const void *b)
{
	double x = ((const struct trial *)a)->loss, y = ((const struct trial *)b)->loss;

	return (x > y) - (x < y);
}

/* The best trials, as many as the goal must have: the loss of the worst of them. */
static double conditional(struct searcher *s, const struct search_goal *g, int64_t load_pps)
{
	VEC(struct trial) at = {0};
	double sum = 0, left;

	if (!load_pps)
		return NAN;
	VEC_FOREACH (t, &s->s->trials) {
		if (!is_at(t, load_pps) || t->duration_ns < g->final_ns)
			continue;
		*VEC_ADD(s->p->arena, &at) = *t;
		sum += (double)t->duration_ns;
	}
	qsort(at.v, at.n, sizeof(*at.v), by_loss);
	left = fmax(sum, (double)g->sum_ns) * (1 - g->exceed_ratio);
	VEC_FOREACH (t, &at) {
		left -= (double)t->duration_ns;
		if (left <= 0.5)
			return (double)load_pps * (1 - t->loss);
	}
	return 0;
}

static bool has_full(const struct search *s, int64_t load_pps, const struct search_goal *g)
{
	VEC_FOREACH (t, &s->trials)
		if (is_at(t, load_pps) && t->duration_ns >= g->final_ns)
			return true;
	return false;
}

/* The lowest load that is too much, and the highest below it that is not. */
static struct bounds find_bounds(const struct search *s, const struct search_goal *g)
{
	struct bounds b = {0};

	VEC_FOREACH (t, &s->trials) {
		if (t->fault == TRIAL_REFUSED)
			continue; /* whatever the load */
		bool upper = !t->valid || search_classify(s->trials.v, s->trials.n, t->load_pps,
							  g) == SEARCH_UPPER;

		if (!upper || (b.upper && t->load_pps >= b.upper))
			continue;
		b.upper = t->load_pps;
		b.machine = !t->valid;
		b.why = t->why;
	}
	VEC_FOREACH (t, &s->trials)
		if (t->valid && t->load_pps > b.lower && (!b.upper || t->load_pps < b.upper) &&
		    search_classify(s->trials.v, s->trials.n, t->load_pps, g) == SEARCH_LOWER)
			b.lower = t->load_pps;
	return b;
}

/* A load between the bounds that has begun and needs more trials; 0: none. */
static int64_t find_undecided(const struct search *s, const struct search_goal *g,
			      const struct bounds *b)
{
	VEC_FOREACH (t, &s->trials)
		if (t->load_pps > b->lower && (!b->upper || t->load_pps < b->upper) &&
		    has_full(s, t->load_pps, g) &&
		    search_classify(s->trials.v, s->trials.n, t->load_pps, g) == SEARCH_UNDECIDED)
			return t->load_pps;
	return 0;
}

/* What arrived when `load` was offered: near to what the path carries. */
static double arrived_at(const struct search *s, int64_t load_pps)
{
	double least = (double)load_pps;

	VEC_FOREACH (t, &s->trials)
		if (is_at(t, load_pps) && (double)load_pps * (1 - t->loss) < least)
			least = (double)load_pps * (1 - t->loss);
	return least;
}

/* Below the upper bound, further each time. */
static int64_t go_down(const struct searcher *s, const struct bounds *b,
		       const struct search_goal *g, int downs)
{
	double step = fmin(g->width * ldexp(1, downs), 0.5);
	double to = floor((double)b->upper * (1 - step)),
	       arrived = floor(arrived_at(s->s, b->upper));
	int64_t load = (int64_t)(downs ? to : fmin(to, arrived));

	if (load >= b->upper)
		load = b->upper - 1;
	return load < s->least ? s->least : load;
}

static int64_t go_up(const struct searcher *s, const struct bounds *b, const struct search_goal *g,
		     int ups)
{
	double to = ceil((double)b->lower * (1 + fmin(g->width * ldexp(1, ups), 1)));

	return to > (double)s->most ? s->most : (int64_t)to;
}

static bool near_enough(const struct bounds *b, const struct search_goal *g)
{
	int64_t apart = b->upper - b->lower;

	return apart <= 1 || (double)apart <= g->width * (double)b->upper;
}

/* The next load of a phase; 0: it is over. `from`: the bounds of the phase before. */
static int64_t next_load(const struct searcher *s, const struct search_goal *g,
			 const struct bounds *from, int moves)
{
	struct bounds b = find_bounds(s->s, g);
	int64_t load = find_undecided(s->s, g, &b);

	if (load)
		return load;
	if (b.lower && b.upper)
		return near_enough(&b, g) ? 0 : b.lower + (b.upper - b.lower) / 2;
	if (b.lower) {
		if (b.lower >= s->most)
			return 0;
		return from->upper > b.lower ? from->upper : go_up(s, &b, g, moves);
	}
	if (b.upper) {
		if (b.upper <= s->least)
			return 0;
		return from->lower && from->lower < b.upper ? from->lower
							    : go_down(s, &b, g, moves);
	}
	return from->lower ? from->lower : s->most;
}

static int make_trial(struct searcher *s, int64_t load_pps, int64_t duration_ns, struct err *err)
{
	struct engine_spec spec = *s->base;
	struct trial t;

	spec.rate_bps = 0;
	spec.rate_pps = load_pps;
	spec.duration_ns = duration_ns;
	int r = procedure_trial(s->p, &spec, &t, err);
	if (r)
		return r;
	*VEC_ADD(s->p->arena, &s->s->trials) = t;
	s->made++;
	if (t.fault == TRIAL_REFUSED)
		s->refused = t.why;
	return 0;
}

static int run_phase(struct searcher *s, const struct search_goal *g, struct bounds *from,
		     struct err *err)
{
	int most = s->o->most_trials ? s->o->most_trials : MOST_TRIALS, moves = 0;
	int64_t load;

	while (s->made < most && !s->refused && (load = next_load(s, g, from, moves)) > 0) {
		struct bounds before = find_bounds(s->s, g);
		int r = make_trial(s, load, g->final_ns, err);

		if (r)
			return r;
		const struct trial *t = &s->s->trials.v[s->s->trials.n - 1];
		struct bounds b = find_bounds(s->s, g);
		if (b.lower != before.lower || b.upper != before.upper)
			moves++;
		procedure_tell(
		    s->p, "%s: %lld packets/s for %.3g s: %s%.4g %% lost; now %lld … %lld", g->name,
		    (long long)load, (double)g->final_ns / 1e9, t->valid ? "" : "invalid, ",
		    t->loss * 100, (long long)b.lower, (long long)(b.upper ? b.upper : s->most));
	}
	*from = find_bounds(s->s, g);
	return 0;
}

static void set_found(struct searcher *s, const struct search_goal *g, struct search_found *f)
{
	struct bounds b = find_bounds(s->s, g);

	*f = (struct search_found){
	    .goal = g,
	    .lower_pps = b.lower,
	    .upper_pps = b.upper,
	    .conditional_pps = conditional(s, g, b.lower),
	    .trials = s->made,
	};
	if (s->refused)
		f->above = SEARCH_REFUSED;
	else if (!b.upper)
		f->above = b.lower && b.lower >= s->most ? SEARCH_END : SEARCH_UNKNOWN;
	else if (!near_enough(&b, g) && b.upper > s->least)
		f->above = SEARCH_UNKNOWN;
	else
		f->above = b.machine ? SEARCH_MACHINE : SEARCH_LOSS;
	if (b.machine || s->refused)
		f->why = s->refused ? s->refused : b.why;
}

bool search_complete(const struct search_found *f)
{
	return f->above == SEARCH_LOSS || f->above == SEARCH_END;
}

/* Short and wide first, then one full trial a load, then the goal itself. */
static int run_goal(struct searcher *s, const struct search_goal *g, struct err *err)
{
	struct search_goal phases[3];
	struct bounds from = {0};
	size_t n = 0;
	int r = 0;

	s->made = 0;
	if (g->initial_ns < g->final_ns) {
		phases[n] = *g;
		phases[n].final_ns = phases[n].sum_ns = g->initial_ns;
		phases[n++].width = fmin(g->width * 4, 0.5);
	}
	if (g->sum_ns > g->final_ns) {
		phases[n] = *g;
		phases[n].sum_ns = g->final_ns;
		phases[n++].width = fmin(g->width * 2, 0.5);
	}
	phases[n++] = *g;
	for (size_t i = 0; i < n && !r; i++)
		r = run_phase(s, &phases[i], &from, err);
	struct search_found *f = VEC_ADD(s->p->arena, &s->s->found);
	set_found(s, g, f);
	if (r)
		f->above = SEARCH_UNKNOWN;
	return r;
}

/*
 * As fast as it goes: what arrives is about what the path carries, and a fifth more is surely too
 * much; but no more than the sender can pace.
 */
static int find_most(struct searcher *s, int64_t duration_ns, struct err *err)
{
	struct engine_spec spec = *s->base;

	spec.rate_bps = spec.rate_pps = 0;
	spec.duration_ns = duration_ns;
	int r = procedure_trial(s->p, &spec, &s->s->flood, err);
	if (r)
		return r;
	s->s->has_flood = true;
	double most = fmin(s->s->flood.pps * 1.2, s->s->flood.sent_pps * 0.98);
	if (s->s->flood.fault == TRIAL_REFUSED)
		return err_fail(err, EPERM, "%s", s->s->flood.why);
	if (most < 1)
		return err_fail(err, EIO, "of %lld datagrams that were sent none arrived",
				(long long)s->s->flood.sent);
	s->most = (int64_t)most;
	procedure_tell(s->p, "as fast as it goes: %.0f packets/s sent, %.0f received",
		       s->s->flood.sent_pps, s->s->flood.pps);
	return 0;
}

static int64_t least_of(const struct search_options *o)
{
	double full_s = (double)o->goals[0].final_ns / 1e9;
	double least = o->least_pps ? (double)o->least_pps : LEAST_DATAGRAMS / full_s;

	return least < 1 ? 1 : (int64_t)ceil(least);
}

int search_run(struct procedure *p, const struct engine_spec *base, const struct search_options *o,
	       struct search *out, struct err *err)
{
	struct searcher s = {
	    .p = p, .o = o, .base = base, .s = out, .least = least_of(o), .most = o->most_pps};
	int r = s.most ? 0 : find_most(&s, o->goals[0].initial_ns, err);

	if (s.least > s.most && s.most)
		s.least = s.most;
	out->most_pps = s.most;
	for (size_t i = 0; i < o->n_goals && !r; i++)
		r = run_goal(&s, &o->goals[i], err);
	return r;
}

void search_goal_set(struct search_goal *g, const char *name, double loss_ratio,
		     const struct search_goal *times)
{
	*g = *times;
	g->name = name;
	g->loss_ratio = loss_ratio;
}
