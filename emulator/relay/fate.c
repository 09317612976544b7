/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fate: decides what happens to each packet; does nothing to it. Called by lane.c. */
#include "emulator/relay/fate.h"

#include <math.h>

#include "emulator/relay/random.h"

#define DELAY_MAX_NS (INT64_MAX / 4) /* times stay far from overflow */

const char *fate_cause_name(enum fate_cause cause)
{
	static const char *const names[FATE_CAUSES] = {
	    [FATE_PASS] = "pass", [FATE_BLACK_HOLE] = "black_hole", [FATE_FLAP] = "flap",
	    [FATE_LOSS] = "loss", [FATE_QUEUE] = "queue",	    [FATE_OVERSIZE] = "oversize",
	    [FATE_SEND] = "send",
	};

	return names[cause];
}

void fate_init(struct fate *f, const struct wire_impair *impair, int direction, int64_t now_ns)
{
	*f = (struct fate){.impair = impair, .started_ns = now_ns};
	f->seed = random_bits(impair->seed, (uint64_t)direction, RANDOM_SEED);
}

static bool chance(const struct fate *f, enum random_purpose purpose, int64_t ppm)
{
	return ppm > 0 && random_ppm(random_bits(f->seed, f->number, purpose), ppm);
}

static bool lose_by_burst(struct fate *f)
{
	const struct wire_impair *i = f->impair;

	if (chance(f, RANDOM_STATE, f->bad ? i->to_good_ppm : i->to_bad_ppm))
		f->bad = !f->bad;
	return chance(f, RANDOM_LOSS, f->bad ? i->bad_loss_ppm : i->good_loss_ppm);
}

static bool lose(struct fate *f)
{
	const struct wire_impair *i = f->impair;

	switch (i->loss) {
	case LOSS_RANDOM:
		if (f->number == 1 || !chance(f, RANDOM_LOSS_REPEAT, i->loss_correlation_ppm))
			f->lost = chance(f, RANDOM_LOSS, i->loss_ppm);
		return f->lost;
	case LOSS_EVERY:
		return i->loss_every > 0 && f->number % (uint64_t)i->loss_every == 0;
	case LOSS_BURSTS:
		return lose_by_burst(f);
	case LOSS_AFTER:
		return f->number > (uint64_t)i->loss_after;
	case LOSS_NONE:
		break;
	}
	return false;
}

/* The next of the autoregressive process after `last`; its distribution is N(0,1) throughout. */
static double correlate(const struct fate *f, double last, double fresh)
{
	double rho = f->impair->jitter_correlation_ppm / 1e6;

	if (f->number == 1 || rho <= 0)
		return fresh;
	return rho * last + sqrt(1 - rho * rho) * fresh;
}

static int64_t jitter(const struct wire_impair *i, double normal)
{
	double scale = (double)i->jitter_ns, above = erfc(normal / M_SQRT2) / 2; /* 1 - Φ */
	double ns = 0;

	switch (i->jitter) {
	case JITTER_NORMAL:
		ns = scale * normal;
		break;
	case JITTER_UNIFORM:
		ns = scale * (1 - 2 * above);
		break;
	case JITTER_PARETO:
		ns = scale * (pow(above, -1 / 3.0) - 1);
		break;
	}
	return fabs(ns) < (double)DELAY_MAX_NS ? llround(ns) : DELAY_MAX_NS;
}

static int64_t delay(const struct wire_impair *i, double normal)
{
	int64_t ns = i->delay_ns < DELAY_MAX_NS ? i->delay_ns : DELAY_MAX_NS;

	if (i->jitter_ns)
		ns += jitter(i, normal);
	return ns < 0 ? 0 : ns;
}

static double fresh_normal(const struct fate *f, enum random_purpose purpose)
{
	return random_normal(random_bits(f->seed, f->number, purpose),
			     random_bits(f->seed, f->number, purpose + 1));
}

static void delays(struct fate *f, struct fate_of *out)
{
	double copy = 0;

	if (f->impair->jitter_ns) {
		if (out->duplicated)
			copy = correlate(f, f->normal, fresh_normal(f, RANDOM_COPY_JITTER));
		f->normal = correlate(f, f->normal, fresh_normal(f, RANDOM_JITTER));
	}
	out->delay_ns = delay(f->impair, f->normal);
	out->copy_delay_ns = delay(f->impair, copy);
}

static bool is_down(const struct fate *f, int64_t now_ns)
{
	const struct wire_impair *i = f->impair;
	int64_t since = now_ns - f->started_ns;

	if (i->flap_down_ns <= 0 || i->flap_up_ns < 0 || since < 0)
		return false;
	return since % (i->flap_up_ns + i->flap_down_ns) >= i->flap_up_ns;
}

void fate_next(struct fate *f, int64_t ip_bytes, int64_t arrival_ns, struct fate_of *out)
{
	const struct wire_impair *i = f->impair;
	bool lost;

	*out = (struct fate_of){0};
	f->number++;
	lost = lose(f);
	if (i->black_hole && ip_bytes > i->black_hole)
		out->cause = FATE_BLACK_HOLE;
	else if (is_down(f, arrival_ns))
		out->cause = FATE_FLAP;
	else if (lost)
		out->cause = FATE_LOSS;
	out->corrupted = chance(f, RANDOM_CORRUPT, i->corruption_ppm);
	out->bit = random_bits(f->seed, f->number, RANDOM_CORRUPT_BIT);
	out->duplicated = chance(f, RANDOM_DUPLICATE, i->duplication_ppm);
	out->held = chance(f, RANDOM_HOLD, i->reordering_ppm);
	delays(f, out);
}
