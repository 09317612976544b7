/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_rate: how much one direction carries: rate or police, basis, mode, queue, and packets a
 * second. Used wherever a topology file declares it; the second part of parse_value. What the
 * figures say of each other and of the MTU is topology_check_shape.c's to judge.
 */
#include "core/base/units.h"
#include "emulator/model/parse.h"

#define BPS_MIN	  8			    /* the kernel counts whole bytes per second */
#define BPS_MAX	  INT64_C(1000000000000000) /* far above any card, far below overflow */
#define PPS_MAX	  INT64_C(1000000000000)
#define BURST_MAX INT64_C(1000000000) /* packets */

static const char *const bases[] = {[BASIS_L1] = "l1", [BASIS_L2] = "l2", [BASIS_L3] = "l3", NULL};
static const char *const modes[] = {
    [SHAPE_AUTO] = "auto", [SHAPE_EXACT] = "exact", [SHAPE_FAST] = "fast", NULL};

bool parse_value_bps(struct parse *ps, const struct yaml_node *n, const char *what, int64_t *out)
{
	const char *s = yaml_want_text(n, what, ps->p);
	struct err err = ERR_INIT;
	int64_t bps;

	if (!s)
		return false;
	if (units_parse_rate(s, &bps, &err) < 0) {
		problems_add(ps->p, n->at, "%s", err.text);
		return false;
	}
	if (bps < BPS_MIN) {
		problems_add(ps->p, n->at, "a rate must be at least 8bit; leave it out for none");
		return false;
	}
	if (bps > BPS_MAX) {
		problems_add(ps->p, n->at, "'%s' is too much; a rate is at most 1000tbit", s);
		return false;
	}
	*out = bps;
	return true;
}

bool parse_value_pps(struct parse *ps, const struct yaml_node *n, const char *what, int64_t *out)
{
	const char *s = yaml_want_text(n, what, ps->p);
	struct err err = ERR_INIT;
	int64_t pps;

	if (!s)
		return false;
	if (units_parse_pps(s, &pps, &err) < 0) {
		problems_add(ps->p, n->at, "%s", err.text);
		return false;
	}
	if (pps < 1 || pps > PPS_MAX) {
		problems_add(ps->p, n->at, "%s: '%s' is not between 1pps and 1000gpps; %s", what, s,
			     pps ? "write less" : "leave it out for no cap");
		return false;
	}
	*out = pps;
	return true;
}

/* ---- rate ---- */

/* {base: 1gbit, burst: 10gbit, credit: 60s} */
static void read_rate_map(struct parse *ps, const struct yaml_node *map, struct cloud_rate *out)
{
	const struct yaml_node *base = yaml_get(map, "base"), *burst = yaml_get(map, "burst");
	const struct yaml_node *credit = yaml_get(map, "credit");
	struct wire_rate *r = &out->rate;

	parse_keys_check(&parse_keys_rate, map, ps->p);
	if (!base)
		problems_add(ps->p, map->at,
			     "a rate with a burst needs 'base', what is carried for good, like "
			     "{base: 1gbit, burst: 10gbit, credit: 60s}");
	if (!parse_value_bps(ps, base, "base", &r->bps))
		return;
	if (burst && !credit)
		problems_add(ps->p, burst->at,
			     "a burst rate needs 'credit', how long full credit lasts at it, like "
			     "credit: 60s");
	else if (credit && !burst)
		problems_add(ps->p, credit->at,
			     "credit needs 'burst', the rate while it lasts, like burst: 10gbit");
	else if (burst && parse_value_time(ps, credit, "credit", &r->credit_ns))
		parse_value_bps(ps, burst, "burst", &r->burst_bps);
	if (r->burst_bps && r->burst_bps <= r->bps) {
		problems_add(ps->p, burst->at, "burst: '%s' is not above the base rate of '%s'",
			     burst->text, base->text);
		r->burst_bps = 0;
	}
}

static void read_rate(struct parse *ps, const struct yaml_node *n, struct cloud_rate *out)
{
	struct cloud_rate got = {.at = n ? n->at : (struct mark){0}};
	struct wire_rate *r = &out->rate;

	if (!n)
		return;
	if (n->kind == YAML_MAP)
		read_rate_map(ps, n, &got);
	else
		parse_value_bps(ps, n, "rate", &got.rate.bps);
	if (!got.rate.bps)
		return;
	out->at = n->at;
	r->bps = got.rate.bps;
	r->burst_bps = got.rate.burst_bps;
	r->credit_ns = got.rate.burst_bps ? got.rate.credit_ns : 0;
	r->police = false;
	r->police_bytes = 0;
}

/* {rate: 100mbit, burst: 32KiB}, or 100mbit alone */
static void read_police(struct parse *ps, const struct yaml_node *n, struct cloud_rate *out)
{
	const struct yaml_node *rate = n;
	struct wire_rate r = out->rate;
	int64_t bytes = 0;

	if (!n)
		return;
	if (n->kind == YAML_MAP) {
		parse_keys_check(&parse_keys_police, n, ps->p);
		rate = yaml_get(n, "rate");
		if (!rate)
			problems_add(ps->p, n->at, "police needs 'rate', like {rate: 100mbit}");
		if (parse_value_size(ps, yaml_get(n, "burst"), "burst", &bytes) && !bytes)
			problems_add(ps->p, yaml_get(n, "burst")->at,
				     "a burst of 0 lets no frame through; leave it out for the "
				     "usual one");
	}
	if (!parse_value_bps(ps, rate, "police", &r.bps))
		return;
	out->at = n->at;
	out->queue_at = (struct mark){0}; /* of a rate that this one replaces */
	out->rate = (struct wire_rate){
	    .bps = r.bps, .basis = r.basis, .mode = r.mode, .police = true, .police_bytes = bytes};
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
	const struct yaml_node *police = yaml_get(map, "police");

	if (police && yaml_get(map, "rate"))
		problems_add(ps->p, police->at,
			     "'rate' lets wait what is over it, 'police' drops it at once; give "
			     "one of them");
	else
		read_police(ps, police, out);
	read_rate(ps, yaml_get(map, "rate"), out);
	parse_value_enum(ps, yaml_get(map, "basis"), "basis", bases, &basis);
	parse_value_enum(ps, yaml_get(map, "mode"), "mode", modes, &mode);
	if (yaml_get(map, "mode"))
		out->mode_at = yaml_get(map, "mode")->at;
	out->rate.basis = (enum rate_basis)basis;
	out->rate.mode = (enum shape_mode)mode;
	read_queue(ps, yaml_get(map, "queue"), out);
}

/* ---- packets a second ---- */

/* {shape: 50kpps, burst: 500} or {police: 50kpps, burst: 500} */
static bool read_pps_map(struct parse *ps, const struct yaml_node *map, struct wire_pps *out)
{
	const struct yaml_node *shape = yaml_get(map, "shape"), *police = yaml_get(map, "police");
	const struct yaml_node *burst = yaml_get(map, "burst");

	parse_keys_check(&parse_keys_pps, map, ps->p);
	if (!shape == !police) {
		problems_add(ps->p, map->at,
			     "pps needs one of 'shape' (what is over it waits) and 'police' (it is "
			     "dropped), like {police: 50kpps}");
		return false;
	}
	out->police = police;
	parse_value_int64(ps, burst, "burst", (const int64_t[]){1, BURST_MAX}, &out->burst);
	return parse_value_pps(ps, police ? police : shape, police ? "police" : "shape", &out->pps);
}

void parse_value_pps_cap(struct parse *ps, const struct yaml_node *n, struct wire_pps *out,
			 struct mark *at)
{
	struct wire_pps pps = {0};
	bool good;

	if (!n)
		return;
	if (n->kind == YAML_MAP)
		good = read_pps_map(ps, n, &pps);
	else
		good = parse_value_pps(ps, n, "pps", &pps.pps);
	if (!good)
		return;
	*out = pps;
	*at = n->at;
}

void parse_shape(struct parse *ps, const struct yaml_node *map, struct cloud_shape *out)
{
	parse_value_rate(ps, map, &out->rate);
	parse_value_pps_cap(ps, yaml_get(map, "pps"), &out->pps, &out->pps_at);
}
