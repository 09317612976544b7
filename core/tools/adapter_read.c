/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adapter_read: where an adapter's figures are read from, and in which unit; core/tools/reading.c
 * reads them. Called by adapter.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"
#include "core/tools/adapter_parse.h"
#include "core/tools/pattern.h"
#include "core/tools/reading.h"

static int read_word(struct adapter_parse *ps, const struct yaml_node *map, const char *key,
		     const char *const *words)
{
	const struct yaml_node *n = yaml_get(map, key);
	const char *text = yaml_want_text(n, key, ps->p);
	autostr struct strbuf all = {0};

	for (int i = 0; text && words[i]; i++) {
		if (str_eq(text, words[i]))
			return i;
		strbuf_addf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	if (text)
		problems_add(ps->p, n->at, "%s: '%s' is not one of %s", key, text,
			     strbuf_text(&all));
	return 0;
}

static void read_source(struct adapter_parse *ps, const struct yaml_node *map, struct tool_read *r)
{
	static const char *const sources[] = {"client.stdout",
					      "client.stderr",
					      "server.stdout",
					      "server.stderr",
					      "client.json",
					      "server.json",
					      NULL};
	static const enum tool_source from[] = {FROM_CLIENT_OUT, FROM_CLIENT_ERR, FROM_SERVER_OUT,
						FROM_SERVER_ERR, FROM_CLIENT_OUT, FROM_SERVER_OUT};
	int i = read_word(ps, map, "from", sources);
	struct err err = ERR_INIT;

	r->from = from[i];
	r->path = adapter_parse_text(ps, map, "path");
	r->match = adapter_parse_text(ps, map, "match");
	if (i >= 4 && !r->path)
		problems_add(ps->p, map->at,
			     "a figure from JSON needs a 'path', such as "
			     "end.sum.bits_per_second");
	if (i < 4 && !r->match)
		problems_add(ps->p, map->at,
			     "a figure from text needs a 'match', such as '(?<value>[\\d.]+) "
			     "Mbits/sec'");
	if (r->path && r->match)
		problems_add(ps->p, map->at, "give either 'path' or 'match', not both");
	if (r->path && reading_check_path(r->path, &err))
		problems_add(ps->p, yaml_get(map, "path")->at, "%s", err.text);
	adapter_parse_pattern(ps, yaml_get(map, "match"), "value");
}

/* A unit is written here, or read from the text, never guessed. */
static void read_unit(struct adapter_parse *ps, const struct yaml_node *map, struct tool_read *r)
{
	struct err err = ERR_INIT;
	struct pattern *p = NULL;
	double factor;

	r->unit = adapter_parse_text(ps, map, "unit");
	if (r->unit) {
		if (figure_unit(r->unit, figure_dimension(r->figure), &factor, &err))
			problems_add(ps->p, yaml_get(map, "unit")->at, "%s", err.text);
		return;
	}
	if (figure_dimension(r->figure) == DIM_NUMBER) {
		r->unit = "count";
		return;
	}
	if (!r->match || pattern_new(r->match, &p, &err))
		p = NULL;
	if (!p || !pattern_has(p, "unit"))
		problems_add(ps->p, map->at,
			     "%s: say its unit, 'unit: …', or capture it as (?<unit>…)",
			     figure_name(r->figure));
	pattern_free(p);
}

static void read_number(struct adapter_parse *ps, const struct yaml_node *map, const char *key,
			double *v)
{
	const struct yaml_node *n = yaml_get(map, key);
	const char *text = yaml_want_text(n, key, ps->p);
	char *end;

	if (!text)
		return;
	*v = strtod(text, &end);
	if (*end || !isfinite(*v))
		problems_add(ps->p, n->at, "%s: '%s' is not a number", key, text);
}

void adapter_parse_read(struct adapter_parse *ps, const struct yaml_node *n, struct tool_test *t)
{
	static const char *const picks[] = {"last", "first", "sum", "mean", "min", "max", NULL};
	static const char *const sides[] = {"claimed", "sender", "receiver", NULL};
	const struct yaml_node *map = yaml_want_map(n, "read", ps->p);
	struct tool_read r = {.at = n->at, .headline = true, .factor = 1, .absent = NAN};
	struct err err = ERR_INIT;

	if (!map)
		return;
	yaml_check_keys(map, "read",
			ADAPTER_KEYS("metric", "from", "path", "match", "pick", "unit", "factor",
				     "side", "headline", "series", "absent"),
			ps->p);
	const char *metric = adapter_parse_need(ps, map, "metric", "a read");
	if (!metric)
		return;
	if (figure_parse(metric, &r.figure, &err)) {
		problems_add(ps->p, yaml_get(map, "metric")->at, "%s", err.text);
		return;
	}
	VEC_FOREACH (other, &t->reads)
		r.headline = r.headline && !(other->headline && other->figure == r.figure);
	if (!yaml_get(map, "from"))
		problems_add(ps->p, map->at, "a read has no 'from', such as client.stdout");
	else
		read_source(ps, map, &r);
	read_unit(ps, map, &r);
	read_number(ps, map, "factor", &r.factor);
	read_number(ps, map, "absent", &r.absent);
	if (r.factor <= 0)
		problems_add(ps->p, yaml_get(map, "factor")->at, "factor: must be above 0");
	r.pick = (enum tool_pick)read_word(ps, map, "pick", picks);
	r.side = (enum tool_side)read_word(ps, map, "side", sides);
	yaml_want_bool(yaml_get(map, "headline"), "headline", &r.headline, ps->p);
	yaml_want_bool(yaml_get(map, "series"), "series", &r.series, ps->p);
	r.headline = r.headline && !r.series;
	*VEC_ADD(&ps->a->arena, &t->reads) = r;
}
