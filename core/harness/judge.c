/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judge: one run of a tool against the evidence. A figure within its tolerance is true; judge_why.c
 * names the fault of one outside. Nothing is looked up by the tool's name. Called by trial_run.c;
 * the unit test feeds it lies of each kind.
 */
#include "core/harness/judge.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/base/str.h"
#include "core/harness/judge_excuse.h"
#include "core/harness/judge_why.h"

#define SAME	     0.05 /* two of its figures, or one and the link's */
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

bool judgement_is_fault(enum judgement j)
{
	return j == JUDGED_LIE || j == JUDGED_OFF || j == JUDGED_HANG || j == JUDGED_CRASH ||
	       j == JUDGED_WRONG_EXIT;
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

static double counted(const struct evidence *e, enum figure f)
{
	switch (f) {
	case FIGURE_GOODPUT:
		return e->counted_bps;
	case FIGURE_PACKETS:
		return e->counted_pps;
	case FIGURE_LOSS:
		return judge_counted_loss(e);
	case FIGURE_LOST:
		return e->sent_packets - (e->arrived_packets - fmax(e->duplicated, 0));
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

/* ---- questions ---- */

/*
 * What came to the receiver's card and what its program could have of it are both what was
 * delivered: between them lies what its socket dropped.
 */
static double had(const struct evidence *e, const struct trial_question *q, double truth)
{
	bool delivered = q->figure == FIGURE_GOODPUT || q->figure == FIGURE_PACKETS ||
			 q->figure == FIGURE_RECEIVED;

	if (q->source != TRUTH_COUNTED || !delivered || !(e->lost_host > 0))
		return truth;
	return truth * fmax(1 - e->lost_host * e->fragments / e->arrived_packets, 0);
}

/* By how much it is outside of what is tolerated; below 0: it is not. */
static double beyond(const struct judging *j, const struct trial_question *q,
		     const struct answer *a, const struct reading *reading)
{
	double least = had(j->e, q, a->truth);
	double off = fmax(a->said - a->truth, least - a->said);

	return off - a->tolerance * (1 + 1e-9) - reading_half_digit(reading);
}

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
	double outside = beyond(j, q, a, reading);
	const char *doubt = judge_doubt(j->e, q, a, outside, &j->out->arena);
	if (doubt) {
		a->judgement = JUDGED_INCONCLUSIVE;
		a->kind = outside > 0 ? judge_why(j->e, q->figure, said, truth) : FAULT_NONE;
		say(j, a, "says %s; true is %s; %s: %s", said_text, truth_text,
		    j->e->spoilt ? "the lab failed" : "the machine was the limit", doubt);
	} else if (outside <= 0) {
		say(j, a, "says %s; true is %s", said_text, truth_text);
	} else {
		a->judgement = j->r->warnings.n ? JUDGED_OFF : JUDGED_LIE;
		a->kind = judge_why(j->e, q->figure, said, truth);
		say(j, a, "says %s %s, true is %s (tolerance %s): %s", figure_name(q->figure),
		    said_text, truth_text, tolerance_text, fault_sentence(a->kind));
	}
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
		a = answer(j, "end",
			   j->e->machine || j->e->spoilt ? JUDGED_INCONCLUSIVE : JUDGED_HANG,
			   FAULT_LATE_END);
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
	/* Where an event did not happen, or too little could come through, it may be right; but not
	 * who claims success where nothing came. */
	bool nothing = j->t->no_server || j->e->arrived_packets == 0;
	bool excused = j->e->spoilt || (j->e->machine && (wanted || !nothing));
	a = answer(j, "exit", excused ? JUDGED_INCONCLUSIVE : JUDGED_WRONG_EXIT, FAULT_WRONG_EXIT);
	say(j, a,
	    wanted ? "status %d although there was nothing wrong"
		   : "status %d although there can be no result",
	    j->o->status[0]);
}

/* What a tool exchanges besides its data need not have it. */
#define MARKED_LEAST 0.9

/* It tells nothing of it: what passed the way's end is what it has done. */
static void judge_dscp(struct judging *j)
{
	const struct evidence *e = j->e;
	struct answer *a;

	if (!e->asked_dscp)
		return;
	if (!tool_test_takes(j->test, "{dscp}") && !tool_test_takes(j->test, "{tos}")) {
		a = answer(j, "dscp", JUDGED_SILENT, FAULT_NONE);
		say(j, a, "cannot be asked for a DSCP");
		return;
	}
	if (!(e->arrived_packets > 0) || !j->success)
		return;
	bool good = e->marked_packets >= MARKED_LEAST * e->arrived_packets;
	a = good ? answer(j, "dscp", JUDGED_TRUE, FAULT_NONE)
		 : answer(j, "dscp", e->spoilt ? JUDGED_INCONCLUSIVE : JUDGED_LIE,
			  FAULT_SILENT_FALLBACK);
	a->said = e->arrived_packets;
	a->truth = e->marked_packets;
	say(j, a, "asked for DSCP %d; %.10g of the %.10g packets that arrived had it",
	    e->asked_dscp, e->marked_packets, e->arrived_packets);
}

/* ---- what holds for every tool, test and link ---- */

static struct answer *accuse(struct judging *j, const char *about, enum fault_kind kind)
{
	return answer(j, about, JUDGED_LIE, kind);
}

static double found(const struct judging *j, enum figure f)
{
	const struct reading *r = readings_headline(j->r, f);

	return r && r->found ? r->value : NAN;
}

static void loss_is_a_share(struct judging *j)
{
	double loss = found(j, FIGURE_LOSS), lost = found(j, FIGURE_LOST);
	double sent = found(j, FIGURE_SENT), received = found(j, FIGURE_RECEIVED);
	struct answer *a;

	if (loss < 0 || loss > 1) {
		a = accuse(j, "loss within 0 and 100 %", FAULT_WRONG_DENOMINATOR);
		a->said = loss;
		say(j, a, "says that %.4g %% were lost", loss * 100);
	}
	if (sent > 0 && fabs(lost / sent - loss) > 0.01 + 1 / sent) {
		a = accuse(j, "loss and lost agree", FAULT_DISAGREES);
		say(j, a, "says %.4g %% lost, and %.10g of %.10g", loss * 100, lost, sent);
	}
	/* Copies may be among those received: at most as many as there were. */
	if (sent - lost - received > 1 + 0.01 * sent ||
	    received - (sent - lost) > 1 + 0.01 * sent + fmax(j->e->duplicated, 0)) {
		a = accuse(j, "sent is received and lost", FAULT_DISAGREES);
		say(j, a, "says %.10g sent, %.10g received and %.10g lost", sent, received, lost);
	}
}

/*
 * A total is the sum of its intervals, and a rate lies between the least and the greatest of them
 * however long each was. One that is not told of the same side is another thing.
 */
static void series_make_total(struct judging *j, const struct reading *series)
{
	enum figure f = series->read->figure;
	bool rate = figure_dimension(f) == DIM_RATE || figure_dimension(f) == DIM_EACH_SECOND;
	double least = INFINITY, most = -INFINITY, sum = 0;
	char total_text[64], least_text[64], most_text[64];

	VEC_FOREACH (v, &series->series) {
		least = fmin(least, *v);
		most = fmax(most, *v);
		sum += *v;
	}
	if (figure_dimension(f) == DIM_NUMBER)
		least = most = sum;
	else if (!rate)
		return;
	VEC_FOREACH (total, &j->r->list) {
		if (total->read->figure != f || total->read->side != series->read->side ||
		    total->read->series || !total->found)
			continue;
		if (total->value >= least - SAME * fabs(least) &&
		    total->value <= most + SAME * fabs(most))
			continue;
		figure_format(f, total->value, total_text, sizeof(total_text));
		figure_format(f, least, least_text, sizeof(least_text));
		figure_format(f, most, most_text, sizeof(most_text));
		struct answer *a = accuse(j, "intervals make the total", FAULT_DISAGREES);
		a->said = total->value;
		if (rate)
			say(j, a, "says %s %s of all, and from %s to %s of the intervals",
			    figure_name(f), total_text, least_text, most_text);
		else
			say(j, a, "says %s %s of all, and %s of the intervals together",
			    figure_name(f), total_text, least_text);
	}
}

static bool by_client(const struct reading *r)
{
	return r->read->from == FROM_CLIENT_OUT || r->read->from == FROM_CLIENT_ERR;
}

static void ends_agree(struct judging *j, const struct reading *client,
		       const struct reading *server)
{
	enum figure f = client->read->figure;
	char client_text[64], server_text[64];
	double share, abs;

	trial_tolerance(f, &share, &abs);
	if (fabs(client->value - server->value) <=
	    fmax(fmax(share, SAME) * fabs(server->value), fmax(abs, 0.01)))
		return;
	figure_format(f, client->value, client_text, sizeof(client_text));
	figure_format(f, server->value, server_text, sizeof(server_text));
	struct answer *a = accuse(j, "client and server agree", FAULT_DISAGREES);
	a->said = client->value;
	say(j, a, "its client says %s %s, its server %s of the same side", figure_name(f),
	    client_text, server_text);
}

/* Only the trial's own question may say more exactly what is true. */
static void within_capacity(struct judging *j)
{
	const struct evidence *e = j->e;
	double said = found(j, FIGURE_GOODPUT), most = e->predicted_bps;
	char said_text[64], most_text[64];

	VEC_FOREACH (q, &j->t->questions)
		if (q->figure == FIGURE_GOODPUT)
			return;
	/* What is asked for at less than the link carries is no capacity; and where the counters
	 * saw more, a burst passed at once, or an event changed the link. */
	if (!(most > 0) || (e->asked_bps > 0 && e->asked_bps < 1.01 * most) ||
	    !(e->counted_bps <= (1 + SAME) * most) || !(said > (1 + SAME) * most))
		return;
	figure_format(FIGURE_GOODPUT, said, said_text, sizeof(said_text));
	figure_format(FIGURE_GOODPUT, most, most_text, sizeof(most_text));
	struct answer *a = accuse(j, "delivered within capacity",
				  judge_why(e, FIGURE_GOODPUT, said, e->counted_bps));
	a->said = said;
	a->truth = most;
	if (e->spoilt)
		a->judgement = JUDGED_INCONCLUSIVE;
	say(j, a, "says goodput %s, and the link carries %s", said_text, most_text);
}

static void judge_invariants(struct judging *j)
{
	if (j->r->json_broken && j->success)
		accuse(j, "output", FAULT_BROKEN_OUTPUT);
	loss_is_a_share(j);
	within_capacity(j);
	VEC_FOREACH (r, &j->r->list) {
		if (r->series.n)
			series_make_total(j, r);
		VEC_FOREACH (other, &j->r->list)
			if (r->found && other->found && by_client(r) && !by_client(other) &&
			    !r->read->series && !other->read->series &&
			    r->read->figure == other->read->figure &&
			    r->read->side == other->read->side && r->read->side != SIDE_CLAIMED)
				ends_agree(j, r, other);
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
	judge_dscp(&j);
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
