/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_rate: the truth of one direction: rate, basis, mode, queue. Used wherever a topology file
 * declares one; the second part of parse_value.
 */
#include "core/base/units.h"
#include "emulator/model/parse.h"

static const char *const bases[] = {[BASIS_L1] = "l1", [BASIS_L2] = "l2", [BASIS_L3] = "l3", NULL};
static const char *const modes[] = {
    [SHAPE_AUTO] = "auto", [SHAPE_EXACT] = "exact", [SHAPE_FAST] = "fast", NULL};

static void read_bps(struct parse *ps, const struct yaml_node *n, struct cloud_rate *out)
{
	struct err err = ERR_INIT;
	const char *s;
	int64_t bps;

	if (n && n->kind == YAML_MAP) {
		problems_add(ps->p, n->at,
			     "rates with a burst are not in this version; write one "
			     "rate, like 1gbit");
		return;
	}
	s = yaml_want_text(n, "rate", ps->p);
	if (!s)
		return;
	if (units_parse_rate(s, &bps, &err) < 0) {
		problems_add(ps->p, n->at, "%s", err.text);
	} else if (bps < 8) {
		/* The kernel counts whole bytes per second. */
		problems_add(ps->p, n->at, "a rate must be at least 8bit; leave it out for none");
	} else {
		out->rate.bps = bps;
		out->at = n->at;
	}
}

/* "20ms" is how long, "64KiB" how much may wait. */
static void read_queue(struct parse *ps, const struct yaml_node *n, struct cloud_rate *out)
{
	const char *s = yaml_want_text(n, "queue", ps->p);
	struct err err = ERR_INIT;
	int64_t v;

	if (!s)
		return;
	if (str_ends(s, "s") && units_parse_time(s, &v, &err) == 0) {
		out->rate.queue_ns = v;
		out->rate.queue_bytes = 0;
	} else if (units_parse_size(s, &v, &err) == 0) {
		out->rate.queue_bytes = v;
		out->rate.queue_ns = 0;
	} else {
		problems_add(ps->p, n->at,
			     "'%s' is not a queue; write how long (20ms) or how much "
			     "(64KiB) may wait",
			     s);
		return;
	}
	if (v > 0)
		out->queue_at = n->at;
	else
		problems_add(ps->p, n->at,
			     "a queue of 0 holds no frame; leave it out for the "
			     "usual one");
}

void parse_value_rate(struct parse *ps, const struct yaml_node *map, struct cloud_rate *out)
{
	int basis = (int)out->rate.basis, mode = (int)out->rate.mode;

	read_bps(ps, yaml_get(map, "rate"), out);
	parse_value_enum(ps, yaml_get(map, "basis"), "basis", bases, &basis);
	parse_value_enum(ps, yaml_get(map, "mode"), "mode", modes, &mode);
	out->rate.basis = (enum rate_basis)basis;
	out->rate.mode = (enum shape_mode)mode;
	read_queue(ps, yaml_get(map, "queue"), out);
}
