/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_impair: what happens to packets on the way: delay, loss and the like, as a link, one of its
 * directions or the fabric declares it. What it says of the MTU and of rates is
 * topology_check_shape.c's to judge, and so is reading a delivery trace. Called by parse_node.c and
 * parse_fabric.c.
 */
#include <string.h>

#include "core/base/units.h"
#include "emulator/model/parse.h"

#define PACKETS_MAX  INT64_C(1000000000000)
#define SIZE_MAX_IP  65535
#define FLAP_MOST_NS (365 * 86400 * NSEC_PER_SEC) /* times stay far from overflow */

static const struct yaml_node *map_or_null(const struct yaml_node *n)
{
	return n && n->kind == YAML_MAP ? n : NULL;
}

static const char *const jitter_names[] = {
    [JITTER_NORMAL] = "normal", [JITTER_UNIFORM] = "uniform", [JITTER_PARETO] = "pareto", NULL};

/* How many of `names` a map has; *which is the last of them. */
static int count_keys(const struct yaml_node *map, const char *const *names, int *which)
{
	int count = 0;

	for (int i = 0; names[i]; i++) {
		if (yaml_get(map, names[i])) {
			*which = i;
			count++;
		}
	}
	return count;
}

/* 1ms, or {uniform: 1ms, correlation: 25%} */
static void read_jitter(struct parse *ps, const struct yaml_node *n, struct wire_impair *out)
{
	int kind = JITTER_NORMAL, correlation = 0;
	const struct yaml_node *map = map_or_null(n), *amount = n;
	int64_t ns;

	if (map) {
		parse_keys_check(&parse_keys_jitter, map, ps->p);
		if (count_keys(map, jitter_names, &kind) != 1) {
			problems_add(ps->p, n->at,
				     "jitter has one distribution: normal, uniform or pareto, like "
				     "{normal: 1ms}");
			return;
		}
		amount = yaml_get(map, jitter_names[kind]);
		parse_value_percent(ps, yaml_get(map, "correlation"), "correlation", &correlation);
	}
	if (!parse_value_time(ps, amount, "jitter", &ns))
		return;
	out->jitter_ns = ns;
	out->jitter = (enum wire_jitter)kind;
	out->jitter_correlation_ppm = correlation;
}

/* ---- loss ---- */

/* Gilbert-Elliott: what is not said of losing is "all while bad, none while good". */
static bool read_bursts(struct parse *ps, const struct yaml_node *n, struct wire_impair *out)
{
	const struct yaml_node *map = yaml_want_map(n, "bursts", ps->p);
	bool good;

	if (!map)
		return false;
	parse_keys_check(&parse_keys_bursts, map, ps->p);
	if (!yaml_get(map, "to_bad") || !yaml_get(map, "to_good")) {
		problems_add(ps->p, n->at,
			     "bursts need 'to_bad' and 'to_good', the chance at each packet that "
			     "the state changes, like {to_bad: 1%%, to_good: 25%%}");
		return false;
	}
	out->bad_loss_ppm = 1000000;
	out->good_loss_ppm = 0;
	good = parse_value_percent(ps, yaml_get(map, "to_bad"), "to_bad", &out->to_bad_ppm);
	good &= parse_value_percent(ps, yaml_get(map, "to_good"), "to_good", &out->to_good_ppm);
	parse_value_percent(ps, yaml_get(map, "bad_loss"), "bad_loss", &out->bad_loss_ppm);
	parse_value_percent(ps, yaml_get(map, "good_loss"), "good_loss", &out->good_loss_ppm);
	if (good && !out->to_good_ppm && out->to_bad_ppm)
		problems_add(ps->p, yaml_get(map, "to_good")->at,
			     "to_good: with 0%% the first bad state never ends; write more");
	return good;
}

/* "500", and in words "500 packets" */
static bool read_packets(struct parse *ps, const struct yaml_node *n, const char *what,
			 int64_t least, int64_t *out)
{
	const char *s = yaml_want_text(n, what, ps->p);
	struct yaml_node number;
	autofree char *text = NULL;

	if (!s)
		return false;
	number = *n;
	if (str_ends(s, " packets")) {
		text = mem_printf("%.*s", (int)(strlen(s) - strlen(" packets")), s);
		number.text = text;
	}
	return parse_value_int64(ps, &number, what, (const int64_t[]){least, PACKETS_MAX}, out);
}

static void read_loss_map(struct parse *ps, const struct yaml_node *map, struct wire_impair *out)
{
	static const char *const kinds[] = {"random", "every", "bursts", "after", NULL};
	static const enum wire_loss values[] = {LOSS_RANDOM, LOSS_EVERY, LOSS_BURSTS, LOSS_AFTER};
	const struct yaml_node *correlation = yaml_get(map, "correlation"), *n;
	int kind = 0, count = count_keys(map, kinds, &kind);
	bool good;

	parse_keys_check(&parse_keys_loss, map, ps->p);
	if (count != 1) {
		problems_add(ps->p, map->at,
			     "loss is of one kind, this has %s; give one of random, every, bursts "
			     "and after",
			     count ? "several" : "none");
		return;
	}
	n = yaml_get(map, kinds[kind]);
	if (kind == 0)
		good = parse_value_percent(ps, n, "loss", &out->loss_ppm);
	else if (kind == 1)
		good = read_packets(ps, n, "every", 1, &out->loss_every);
	else if (kind == 2)
		good = read_bursts(ps, n, out);
	else
		good = read_packets(ps, n, "after", 0, &out->loss_after);
	if (correlation && kind != 0)
		problems_add(ps->p, correlation->at,
			     "only random loss has a correlation; this is '%s'", kinds[kind]);
	else
		parse_value_percent(ps, correlation, "correlation", &out->loss_correlation_ppm);
	if (good)
		out->loss = values[kind];
}

static void read_loss(struct parse *ps, const struct yaml_node *n, struct wire_impair *out)
{
	struct wire_impair got = {0};

	if (!n)
		return;
	if (n->kind == YAML_MAP)
		read_loss_map(ps, n, &got);
	else if (parse_value_percent(ps, n, "loss", &got.loss_ppm))
		got.loss = LOSS_RANDOM;
	if (got.loss == LOSS_RANDOM && !got.loss_ppm) /* 0%: none, also where a link has some */
		got.loss = LOSS_NONE;
	out->loss = got.loss;
	out->loss_ppm = got.loss_ppm;
	out->loss_correlation_ppm = got.loss_correlation_ppm;
	out->loss_every = got.loss_every;
	out->loss_after = got.loss_after;
	out->to_bad_ppm = got.to_bad_ppm;
	out->to_good_ppm = got.to_good_ppm;
	out->bad_loss_ppm = got.bad_loss_ppm;
	out->good_loss_ppm = got.good_loss_ppm;
}

/* ---- the rest ---- */

static void read_period(struct parse *ps, const struct yaml_node *n, const char *what, int64_t *out)
{
	int64_t ns;

	if (!parse_value_time(ps, n, what, &ns))
		return;
	if (!ns)
		problems_add(ps->p, n->at, "a flap's '%s' of 0 is no period; write it like 1s",
			     what);
	else if (ns > FLAP_MOST_NS)
		problems_add(ps->p, n->at, "a flap's '%s' is at most a year; write it like 1s",
			     what);
	else
		*out = ns;
}

static void read_flap(struct parse *ps, const struct yaml_node *n, struct wire_impair *out)
{
	const struct yaml_node *map = yaml_want_map(n, "flap", ps->p);
	int64_t up = 0, down = 0;

	if (!map)
		return;
	parse_keys_check(&parse_keys_flap, map, ps->p);
	if (!yaml_get(map, "up") || !yaml_get(map, "down")) {
		problems_add(ps->p, map->at,
			     "a flap needs 'up' and 'down', how long each lasts, like {up: 5s, "
			     "down: 1s}");
		return;
	}
	read_period(ps, yaml_get(map, "up"), "up", &up);
	read_period(ps, yaml_get(map, "down"), "down", &down);
	if (up && down) {
		out->flap_up_ns = up;
		out->flap_down_ns = down;
	}
}

static void read_shares(struct parse *ps, const struct yaml_node *map, struct wire_impair *out)
{
	parse_value_percent(ps, yaml_get(map, "duplication"), "duplication", &out->duplication_ppm);
	parse_value_percent(ps, yaml_get(map, "reordering"), "reordering", &out->reordering_ppm);
	parse_value_percent(ps, yaml_get(map, "corruption"), "corruption", &out->corruption_ppm);
}

/* A delay of a bare 0 says that there is none; 0s declares one that may be changed later. */
static bool is_none(const struct yaml_pair *pair)
{
	return str_eq(pair->key, "seed") ||
	       (str_eq(pair->key, "delay") && pair->value->kind == YAML_SCALAR &&
		str_eq(pair->value->text, "0"));
}

/* Where the first of them is declared, for problems with the whole; a seed alone is none. */
static const struct yaml_pair *first_impairment(const struct yaml_node *map)
{
	VEC_FOREACH (pair, &map->pairs) {
		for (const char *const *k = parse_impair_keys; *k; k++) {
			if (str_eq(pair->key, *k) && !is_none(pair))
				return pair;
		}
	}
	return NULL;
}

static void keep_mark(const struct yaml_node *n, struct mark *at)
{
	if (n)
		*at = n->at;
}

void parse_impair(struct parse *ps, const struct yaml_node *map, struct cloud_impair *out)
{
	const struct yaml_pair *first = first_impairment(map);
	struct wire_impair *i = &out->impair;
	int64_t seed = 0;

	if (parse_value_int64(ps, yaml_get(map, "seed"), "seed", (const int64_t[]){1, INT64_MAX},
			      &seed))
		i->seed = (uint64_t)seed;
	parse_value_time(ps, yaml_get(map, "delay"), "delay", &i->delay_ns);
	if (!first)
		return;
	out->at = first->key_at;
	i->given = true;
	read_jitter(ps, yaml_get(map, "jitter"), i);
	read_loss(ps, yaml_get(map, "loss"), i);
	read_shares(ps, map, i);
	read_flap(ps, yaml_get(map, "flap"), i);
	parse_value_int64(ps, yaml_get(map, "black_hole"), "black_hole",
			  (const int64_t[]){CLOUD_MTU_MIN, SIZE_MAX_IP}, &i->black_hole);
	if (yaml_get(map, "trace"))
		out->trace = parse_value_text(ps, yaml_get(map, "trace"), "trace");
	i->trace_file = out->trace.s;
	keep_mark(yaml_get(map, "delay"), &out->delay_at);
	keep_mark(yaml_get(map, "jitter"), &out->jitter_at);
	keep_mark(yaml_get(map, "black_hole"), &out->black_hole_at);
}
