// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sentence: a hand-written parser for one sentence of `expect:`. Reads words from left to right,
 * and says at which word it stopped understanding and what could stand there. Does not judge
 * anything. Called by scenario.c.
 */
#include "core/harness/sentence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/units.h"

struct words {
	const struct scenario *s;
	struct problems *p;
	const char *text; /* the whole sentence */
	struct mark at;	  /* of its first letter */
	const char *next; /* what is not read yet */
	const char *here; /* the current word */
	char word[128];	  /* a copy of it; "" at the end */
};

static void advance(struct words *w)
{
	while (*w->next == ' ' || *w->next == '\t' || *w->next == '\n')
		w->next++;
	w->here = w->next;
	size_t n = strcspn(w->next, " \t\n");
	snprintf(w->word, sizeof(w->word), "%.*s", (int)n, w->next);
	w->next += n;
}

static struct mark mark_here(const struct words *w)
{
	struct mark at = w->at;

	at.column += (int)(w->here - w->text);
	return at;
}

/* "… expected 'of', this is 'off'", or "… the sentence ends here". */
static bool expected(struct words *w, const char *what)
{
	if (w->word[0])
		problems_add(w->p, mark_here(w), "expected %s, not '%s'", what, w->word);
	else
		problems_add(w->p, mark_here(w), "the sentence ends where %s is expected", what);
	return false;
}

static bool take(struct words *w, const char *word)
{
	if (!str_eq(w->word, word))
		return false;
	advance(w);
	return true;
}

static bool want(struct words *w, const char *word)
{
	char quoted[32];

	if (take(w, word))
		return true;
	snprintf(quoted, sizeof(quoted), "'%s'", word);
	return expected(w, quoted);
}

bool sentence_metric(const struct scenario *s, const char *word, struct mark at,
		     struct scenario_quantity *q, struct problems *p)
{
	struct err err = ERR_INIT;
	const char *dot = strchr(word, '.');
	char name[128];

	snprintf(name, sizeof(name), "%.*s", dot ? (int)(dot - word) : (int)strlen(word), word);
	*q = (struct scenario_quantity){.measure = scenario_find_measure(s, name), .path = -1};
	if (q->measure < 0) {
		scenario_unknown_measure(s, name, at, p);
		return false;
	}
	enum engine_test test = s->measures.v[q->measure].spec.test;
	q->metric = metric_find(dot ? dot + 1 : NULL, test);
	if (q->metric)
		return true;
	metric_unknown(dot ? dot + 1 : "", test, &err);
	at.column += dot ? (int)(dot + 1 - word) : 0;
	problems_add(p, at, "%s", err.text);
	return false;
}

static bool read_path(struct words *w, int *path)
{
	if (!w->word[0])
		return expected(w, "the name of a path");
	*path = scenario_find_path(w->s, w->word);
	if (*path < 0)
		scenario_unknown_path(w->s, w->word, mark_here(w), w->p);
	else
		advance(w);
	return *path >= 0;
}

static bool read_quantity(struct words *w, struct scenario_quantity *q)
{
	int path = -1;

	if (!w->word[0])
		return expected(w, "a measurement");
	if (!sentence_metric(w->s, w->word, mark_here(w), q, w->p))
		return false;
	advance(w);
	if (!want(w, "of") || !read_path(w, &path))
		return false;
	q->path = path;
	return true;
}

static bool is_percent(const char *word)
{
	return str_ends(word, "%");
}

/* "1%", "2mbit", "1% or 2mbit" */
static bool read_tolerance(struct words *w, struct scenario_expect *e)
{
	do {
		struct err err = ERR_INIT;
		int64_t ppm = 0;
		int r;

		if (!w->word[0])
			return expected(w, "a tolerance such as 1%");
		/* A share has percent for its own unit: there 1% is absolute, as its name says. */
		if (is_percent(w->word) && e->what.metric->unit != METRIC_SHARE) {
			r = units_parse_percent(w->word, &ppm, &err);
			e->tolerance_share = (double)ppm / 1e6;
		} else {
			r = metric_parse_value(e->what.metric, w->word, &e->tolerance_abs, &err);
		}
		if (r) {
			problems_add(w->p, mark_here(w), "%s", err.text);
			return false;
		}
		advance(w);
	} while (take(w, "or"));
	return true;
}

static const struct {
	const char *word;
	enum expect_against against;
} targets[] = {
    {"predicted", AGAINST_PREDICTED},
    {"counted", AGAINST_COUNTED},
    {"reference", AGAINST_REFERENCE},
};

/* What the metric has no such figure for is an error now, not a skip an hour later. */
static bool check_target(struct words *w, struct scenario_expect *e)
{
	const char *name = e->what.metric->name;

	if (e->against == AGAINST_PREDICTED && e->what.metric->truth == METRIC_UNPREDICTED) {
		problems_add(w->p, mark_here(w),
			     "the model predicts no %s; it predicts throughput, goodput, pps and "
			     "response",
			     name);
		return false;
	}
	if (e->against == AGAINST_COUNTED && e->what.metric->truth != METRIC_GOODPUT &&
	    e->what.metric->truth != METRIC_PACKETS) {
		problems_add(w->p, mark_here(w), "the kernel's counters say nothing about %s",
			     name);
		return false;
	}
	return true;
}

static bool read_factor(struct words *w, struct scenario_expect *e)
{
	char *end;
	double v = strtod(w->word, &end);
	const char *after = w->next + strspn(w->next, " \t\n");

	if (end == w->word || *end || strncmp(after, "times", 5))
		return true;
	if (!(v > 0 && v < 1e9))
		return expected(w, "a number above 0");
	e->factor = v;
	advance(w);
	return want(w, "times");
}

/* Units differ where one is a rate and the other a time: no sentence can mean that. */
static bool read_other(struct words *w, struct scenario_expect *e)
{
	struct mark at = mark_here(w);

	e->against = AGAINST_QUANTITY;
	if (!read_quantity(w, &e->other))
		return false;
	if (e->other.metric->unit == e->what.metric->unit)
		return true;
	problems_add(w->p, at, "'%s' is in %s and '%s' in %s: they cannot be compared",
		     e->what.metric->name, metric_unit_name(e->what.metric->unit),
		     e->other.metric->name, metric_unit_name(e->other.metric->unit));
	return false;
}

static bool starts_number(const char *word)
{
	return (word[0] >= '0' && word[0] <= '9') || word[0] == '-' || word[0] == '.';
}

static bool read_target(struct words *w, struct scenario_expect *e)
{
	struct err err = ERR_INIT;

	if (!w->word[0])
		return expected(w, "a value, 'predicted', 'counted', 'reference' or a measurement");
	if (!read_factor(w, e))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (!str_eq(w->word, targets[i].word))
			continue;
		e->against = targets[i].against;
		bool ok = check_target(w, e);
		advance(w);
		return ok;
	}
	if (!starts_number(w->word))
		return read_other(w, e);
	e->against = AGAINST_VALUE;
	if (metric_parse_value(e->what.metric, w->word, &e->value, &err)) {
		problems_add(w->p, mark_here(w), "%s", err.text);
		return false;
	}
	advance(w);
	return true;
}

static bool read_relation(struct words *w, struct scenario_expect *e)
{
	if (take(w, "within")) {
		e->relation = EXPECT_WITHIN;
		return read_tolerance(w, e) && want(w, "of");
	}
	if (take(w, "above") || take(w, "over")) {
		e->relation = EXPECT_ABOVE;
		return true;
	}
	if (take(w, "below") || take(w, "under")) {
		e->relation = EXPECT_BELOW;
		return true;
	}
	if (!take(w, "at"))
		return expected(w, "'within', 'above', 'below', 'at least' or 'at most'");
	if (take(w, "least")) {
		e->relation = EXPECT_AT_LEAST;
		return true;
	}
	if (take(w, "most")) {
		e->relation = EXPECT_AT_MOST;
		return true;
	}
	return expected(w, "'least' or 'most'");
}

bool sentence_parse(const struct scenario *s, const char *text, struct mark at,
		    struct scenario_expect *out, struct problems *p)
{
	struct words w = {.s = s, .p = p, .text = text, .at = at, .next = text};
	struct scenario_expect e = {.text = text, .at = at, .factor = 1};

	advance(&w);
	if (!read_quantity(&w, &e.what) || !read_relation(&w, &e) || !read_target(&w, &e))
		return false;
	if (w.word[0])
		return expected(&w, "the end of the sentence");
	*out = e;
	return true;
}
