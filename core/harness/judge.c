/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judge: one run of a tool against the evidence. A figure within its tolerance is true. One outside
 * is held against every way of going wrong that would give just this figure; the first that does
 * names the fault. Nothing is looked up by the tool's name. Called by trial_run.c; the unit test
 * feeds it lies of each kind.
 */
#include "core/harness/judge.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/base/str.h"

#define NEAR	     0.04 /* two figures are "the same" for the purpose of naming a fault */
#define SHELL_SIGNAL 128

struct judging {
	const struct trial *t;
	const struct tool_test *test;
	const struct tool_output *o;
	const struct readings *r;
	const struct evidence *e;
	struct judged *out;
	bool success; /* the tool claims it */
};

static bool near(double a, double b)
{
	return !isnan(a) && !isnan(b) && b != 0 && fabs(a / b - 1) <= NEAR;
}

const char *judgement_name(enum judgement j)
{
	static const char *const names[] = {
	    [JUDGED_TRUE] = "true",
	    [JUDGED_OFF] = "off",
	    [JUDGED_LIE] = "lie",
	    [JUDGED_SILENT] = "silent",
	    [JUDGED_HANG] = "hang",
	    [JUDGED_CRASH] = "crash",
	    [JUDGED_WRONG_EXIT] = "wrong exit",
	    [JUDGED_INCONCLUSIVE] = "inconclusive",
	    [JUDGED_SKIP] = "skip",
	};

	return names[j];
}

static struct answer *answer(struct judging *j, const char *about, enum judgement judgement,
			     enum fault_kind kind)
{
	struct answer *a = VEC_ADD(&j->out->arena, &j->out->answers);

	*a = (struct answer){.about = about,
			     .judgement = judgement,
			     .kind = kind,
			     .said = NAN,
			     .truth = NAN,
			     .tolerance = NAN,
			     .text = fault_sentence(kind)};
	return a;
}

static void say(struct judging *j, struct answer *a, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void say(struct judging *j, struct answer *a, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	a->text = arena_strdup(&j->out->arena, text);
}

/* ---- what is true ---- */

static double counted_loss(const struct evidence *e)
{
	return e->sent_packets > 0
		   ? 1 - (e->arrived_packets - fmax(e->duplicated, 0)) / e->sent_packets
		   : NAN;
}

static double counted(const struct evidence *e, enum figure f)
{
	switch (f) {
	case FIGURE_GOODPUT:
		return e->counted_bps;
	case FIGURE_PACKETS:
		return e->counted_pps;
	case FIGURE_LOSS:
		return counted_loss(e);
	case FIGURE_LOST:
		return counted_loss(e) * e->sent_packets;
	case FIGURE_SENT:
		return e->sent_packets;
	case FIGURE_RECEIVED:
		return e->arrived_packets - fmax(e->duplicated, 0);
	case FIGURE_DUPLICATED:
		return e->duplicated;
	case FIGURE_REORDERED:
		return e->reordered;
	case FIGURE_TRANSACTIONS:
		return e->counted_pps;
	case FIGURE_DURATION:
		return e->active_s;
	case FIGURE_LATENCY_MIN:
	case FIGURE_LATENCY_MEAN:
	case FIGURE_LATENCY_P50:
		return e->delay_s + e->delay_back_s;
	default:
		return NAN;
	}
}

static double predicted(const struct evidence *e, enum figure f)
{
	switch (f) {
	case FIGURE_GOODPUT:
		return e->predicted_bps;
	case FIGURE_PACKETS:
		return e->predicted_pps;
	default:
		return counted(e, f);
	}
}

static double truth_of(const struct judging *j, const struct trial_question *q)
{
	switch (q->source) {
	case TRUTH_COUNTED:
		return counted(j->e, q->figure);
	case TRUTH_PREDICTED:
		return predicted(j->e, q->figure);
	case TRUTH_FIXED:
		return q->value;
	default:
		return NAN;
	}
}

/* ---- why a figure is not true ---- */

/* The factors by which units are mistaken for each other. */
static bool unit_factor(double said, double truth)
{
	static const double factors[] = {8,	    1.024,	  1.048576, 1.073741824,
					 8 * 1.024, 8 * 1.048576, 1000};

	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		if (fabs(said / truth / factors[i] - 1) < 0.01 ||
		    fabs(said / truth * factors[i] - 1) < 0.01)
			return true;
	return false;
}

/* A wrong side's rate must differ from the truth itself, or it explains nothing. */
static bool explains(double cause, double said, double truth)
{
	return near(said, cause) && !near(truth, cause);
}

static enum fault_kind why_rate(const struct judging *j, double said, double truth)
{
	const struct evidence *e = j->e;
	double bits = e->counted_bps * e->active_s, sent_bits = e->sent_bps * e->active_s;

	if (e->fragments > 1.5 && said < truth)
		return FAULT_FRAGMENT_LOSS;
	if (explains(e->sent_bps, said, truth) ||
	    (explains(e->asked_bps, said, truth) && said > truth))
		return FAULT_WRONG_SIDE;
	if (explains(bits / e->run_s, said, truth) || explains(bits / e->asked_s, said, truth) ||
	    explains(sent_bits / e->asked_s, said, truth))
		return FAULT_WRONG_WINDOW;
	if (unit_factor(said, truth))
		return FAULT_WRONG_UNIT;
	if (e->asked_bps > 0 && !near(e->sent_bps, e->asked_bps) && near(said, e->sent_bps))
		return FAULT_SILENT_FALLBACK;
	if (said > truth)
		return FAULT_WRONG_SIDE; /* more than came can only be what was sent */
	return FAULT_OTHER;
}

static enum fault_kind why_packets(const struct judging *j, double said, double truth)
{
	const struct evidence *e = j->e;

	if (near(said, e->messages_pps) && e->messages_pps > 1.5 * e->wire_packets_pps)
		return FAULT_HIDDEN_COALESCING;
	if (e->fragments > 1.5)
		return FAULT_WRONG_PACKET_UNIT;
	if (explains(e->sent_pps, said, truth) || said > truth)
		return FAULT_WRONG_SIDE;
	return FAULT_OTHER;
}

static enum fault_kind why_loss(const struct judging *j, double said, double truth)
{
	const struct evidence *e = j->e;
	double link = counted_loss(e),
	       host = e->sent_packets > 0 ? e->lost_host / e->sent_packets : 0;

	if (said > 1 || said < 0)
		return FAULT_WRONG_DENOMINATOR;
	if (said < truth)
		return e->duplicated > 0 && near(truth - said, e->duplicated / e->sent_packets)
			   ? FAULT_HIDDEN_DUPLICATES
			   : FAULT_HIDDEN_LOSS;
	if (e->fragments > 1.5 && fabs(said - (1 - pow(1 - truth, e->fragments))) < 0.2 * said)
		return FAULT_FRAGMENT_LOSS;
	if (host > 0 && fabs(said - truth - host) < 0.1 * said + 1e-4)
		return FAULT_HOST_LOSS;
	if (fabs(said - link) < 0.1 * said + 1e-4)
		return FAULT_BURSTS; /* it was lost, and would not have been of an even flow */
	return FAULT_OTHER;
}

/* A count of lost packets is judged as the share that it is of those sent. */
static enum fault_kind why_lost(const struct judging *j, double said, double truth)
{
	double sent = j->e->sent_packets;

	return sent > 0 ? why_loss(j, fmin(said / sent, 1), truth / sent) : FAULT_OTHER;
}

static enum fault_kind why_time(const struct judging *j, double said, double truth)
{
	const struct evidence *e = j->e;
	double lost = counted_loss(e);

	if (e->frozen_s > 0 && said < truth)
		return FAULT_COORDINATED_OMISSION;
	if (lost > 0 && said > 3 * truth)
		return FAULT_STOPPED_AT_LOSS;
	/* The host's own time comes on top, so half of the round trip is at least half of the
	 * truth. */
	if (said >= 0.48 * truth && said < 0.8 * truth)
		return FAULT_HALF_ROUND_TRIP;
	if (unit_factor(said, truth))
		return FAULT_WRONG_UNIT;
	return FAULT_OTHER;
}

static enum fault_kind why(const struct judging *j, enum figure f, double said, double truth)
{
	switch (f) {
	case FIGURE_GOODPUT:
		return why_rate(j, said, truth);
	case FIGURE_PACKETS:
		return why_packets(j, said, truth);
	case FIGURE_LOSS:
		return why_loss(j, said, truth);
	case FIGURE_LOST:
		return why_lost(j, said, truth);
	case FIGURE_DUPLICATED:
		return said < truth ? FAULT_HIDDEN_DUPLICATES : FAULT_OTHER;
	case FIGURE_REORDERED:
		return said < truth ? FAULT_HIDDEN_REORDERING : FAULT_OTHER;
	case FIGURE_TRANSACTIONS:
	case FIGURE_CONNECTIONS:
		return counted_loss(j->e) > 0 && said < truth / 2 ? FAULT_STOPPED_AT_LOSS
								  : FAULT_OTHER;
	case FIGURE_RECEIVED:
	case FIGURE_SENT:
		return j->e->fragments > 1.5 ? FAULT_WRONG_PACKET_UNIT : FAULT_OTHER;
	default:
		return figure_dimension(f) == DIM_TIME ? why_time(j, said, truth) : FAULT_OTHER;
	}
}

/* ---- questions ---- */

static void weigh(struct judging *j, const struct trial_question *q, const struct reading *reading)
{
	double truth = truth_of(j, q), said = reading->value;
	double tolerance = fmax(q->tolerance_share * fabs(truth), q->tolerance_abs);
	struct answer *a = answer(j, figure_name(q->figure), JUDGED_TRUE, FAULT_NONE);
	char said_text[64], truth_text[64], tolerance_text[64];

	a->question = q;
	a->said = said;
	a->truth = truth;
	a->tolerance = tolerance;
	figure_format(q->figure, said, said_text, sizeof(said_text));
	figure_format(q->figure, truth, truth_text, sizeof(truth_text));
	figure_format(q->figure, tolerance, tolerance_text, sizeof(tolerance_text));
	if (q->source == TRUTH_NONE) {
		a->judgement = JUDGED_LIE;
		a->kind = FAULT_UNSUPPORTED_DIGITS;
		say(j, a, "says %s %s; %s", figure_name(q->figure), said_text,
		    fault_sentence(a->kind));
		return;
	}
	if (isnan(truth)) {
		a->judgement = JUDGED_INCONCLUSIVE;
		say(j, a, "says %s; the truth is not known", said_text);
		return;
	}
	if (fabs(said - truth) <= tolerance * (1 + 1e-9)) {
		say(j, a, "says %s; true is %s", said_text, truth_text);
		return;
	}
	a->kind = why(j, q->figure, said, truth);
	a->judgement = j->e->machine	  ? JUDGED_INCONCLUSIVE
		       : j->r->warnings.n ? JUDGED_OFF
					  : JUDGED_LIE;
	if (j->e->machine)
		say(j, a, "says %s; true is %s; the machine was the limit: %s", said_text,
		    truth_text, j->e->machine);
	else
		say(j, a, "says %s %s, true is %s (tolerance %s): %s", figure_name(q->figure),
		    said_text, truth_text, tolerance_text, fault_sentence(a->kind));
}

static void ask(struct judging *j, const struct trial_question *q)
{
	const struct reading *reading = readings_headline(j->r, q->figure);
	struct answer *a;

	if (reading && reading->found) {
		weigh(j, q, reading);
		return;
	}
	if (q->source == TRUTH_NONE) {
		a = answer(j, figure_name(q->figure), JUDGED_TRUE, FAULT_NONE);
		say(j, a, "rightly tells no %s", figure_name(q->figure));
	} else if (!reading || !j->success || j->o->timed_out) {
		a = answer(j, figure_name(q->figure), JUDGED_SILENT, FAULT_NONE);
		say(j, a, "tells no %s", figure_name(q->figure));
	} else {
		a = answer(j, figure_name(q->figure), JUDGED_LIE, FAULT_NO_RESULT);
		say(j, a, "ends with status %d and no %s: %s", j->o->status[0],
		    figure_name(q->figure), reading->why);
	}
	a->question = q;
}

/* ---- the run itself ---- */

static bool is_crash(int status)
{
	int number = status - SHELL_SIGNAL;

	return number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGFPE ||
	       number == SIGILL;
}

static void judge_end(struct judging *j)
{
	double limit =
	    j->t->ends_within_ns ? (double)j->t->ends_within_ns / 1e9 : j->e->asked_s + 10;
	struct answer *a;

	for (int end = 0; end < 2; end++)
		if (is_crash(j->o->status[end])) {
			a = answer(j, "crash", JUDGED_CRASH, FAULT_CRASH);
			say(j, a, "its %s was ended by signal %d", end ? "server" : "client",
			    j->o->status[end] - SHELL_SIGNAL);
		}
	if (j->o->timed_out) {
		a = answer(j, "end", JUDGED_HANG, FAULT_HANG);
		say(j, a, "asked for %.3g s, was still there after %.3g s and was killed",
		    j->e->asked_s, j->o->took_s);
	} else if (j->o->took_s > limit + j->test->start_s) {
		a = answer(j, "end", JUDGED_HANG, FAULT_LATE_END);
		say(j, a, "asked for %.3g s, took %.3g s", j->e->asked_s, j->o->took_s);
	}
}

static void judge_exit(struct judging *j)
{
	struct answer *a;

	if (j->o->timed_out || is_crash(j->o->status[0]) || j->t->exit == WANT_EITHER)
		return;
	bool wanted = j->t->exit == WANT_SUCCESS;
	if (j->success == wanted) {
		a = answer(j, "exit", JUDGED_TRUE, FAULT_NONE);
		say(j, a, "status %d", j->o->status[0]);
		return;
	}
	a = answer(j, "exit", JUDGED_WRONG_EXIT, FAULT_WRONG_EXIT);
	say(j, a,
	    wanted ? "status %d although there was nothing wrong"
		   : "status %d although there can be no result",
	    j->o->status[0]);
}

/* What holds for every tool, test and link. */
static void judge_invariants(struct judging *j)
{
	const struct reading *loss = readings_headline(j->r, FIGURE_LOSS);
	const struct reading *lost = readings_headline(j->r, FIGURE_LOST);
	const struct reading *sent = readings_headline(j->r, FIGURE_SENT);
	struct answer *a;

	if (j->r->json_broken && j->success)
		answer(j, "output", JUDGED_LIE, FAULT_BROKEN_OUTPUT);
	if (loss && loss->found && (loss->value < 0 || loss->value > 1)) {
		a = answer(j, "loss within 0 and 100 %", JUDGED_LIE, FAULT_WRONG_DENOMINATOR);
		a->said = loss->value;
		say(j, a, "says that %.4g %% were lost", loss->value * 100);
	}
	if (loss && lost && sent && loss->found && lost->found && sent->found && sent->value > 0 &&
	    fabs(lost->value / sent->value - loss->value) > 0.01 + 1 / sent->value) {
		a = answer(j, "loss and lost agree", JUDGED_LIE, FAULT_DISAGREES);
		say(j, a, "says %.4g %% lost, and %.10g of %.10g", loss->value * 100, lost->value,
		    sent->value);
	}
}

void judge(const struct trial *t, const struct tool_test *test, const struct tool_output *o,
	   const struct readings *r, const struct evidence *e, struct judged *out)
{
	struct judging j = {.t = t, .test = test, .o = o, .r = r, .e = e, .out = out};

	*out = (struct judged){0};
	arena_init(&out->arena);
	j.success = !o->timed_out && readings_claims_success(test, o);
	judge_end(&j);
	judge_exit(&j);
	judge_invariants(&j);
	/* Who says that there is no result has told the truth where there can be none. */
	if (t->exit == WANT_FAILURE && !j.success)
		return;
	VEC_FOREACH (q, &t->questions)
		ask(&j, q);
}

void judged_done(struct judged *j)
{
	arena_done(&j->arena);
	*j = (struct judged){0};
}
