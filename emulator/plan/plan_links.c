// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plan_links: links as JSON. It reads the wire model and the shaper's figures, nothing of a running
 * lab. Called by core/cli and core/harness.
 */
#include "emulator/plan/plan_links.h"

#include "core/base/units.h"
#include "emulator/model/wire_text.h"
#include "emulator/shaper/shaper.h"

static json_t *text_or_null(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *some(int64_t v)
{
	return v > 0 ? json_integer(v) : json_null();
}

static void set_rate(json_t *o, const struct wire_rate *r, const struct shaper_figures *f)
{
	const char *police = f->policer ? "act_police" : "a queue of two frames";
	bool credit = f->credit_ns > 0;

	json_object_set_new(o, "rate_bps", some(r->bps));
	json_object_set_new(o, "basis", json_string(wire_basis_name(r->basis)));
	json_object_set_new(o, "mode", json_string(wire_mode_name(r->mode)));
	json_object_set_new(o, "burst_bytes", json_integer((json_int_t)f->burst_bytes));
	json_object_set_new(o, "queue_bytes", json_integer(f->queue_bytes));
	json_object_set_new(o, "queue_packets", json_integer(f->queue_packets));
	json_object_set_new(o, "burst_rate_bps", some(r->burst_bps));
	json_object_set_new(o, "credit_s",
			    credit ? json_real((double)f->credit_ns / (double)NSEC_PER_SEC)
				   : json_null());
	json_object_set_new(o, "declared_credit_s",
			    credit ? json_real((double)r->credit_ns / (double)NSEC_PER_SEC)
				   : json_null());
	json_object_set_new(o, "policed_by", text_or_null(r->bps && r->police ? police : NULL));
}

static void set_packets(json_t *o, const struct wire_pps *p, const struct shaper_figures *f)
{
	bool police = p->pps && p->police;

	json_object_set_new(o, "packets_pps", some(p->pps));
	json_object_set_new(o, "packets_burst", some(police ? wire_police_burst(p) : f->pps_burst));
	json_object_set_new(o, "packets_policed_by", text_or_null(police ? "nft limit" : NULL));
}

static json_t *direction_json(const struct wire *w, const struct machine *m,
			      const struct wire_shape *shape, int dev)
{
	struct shaper_figures f = {0};
	json_t *o;

	if (!wire_shape_any(shape))
		return json_null();
	if (dev >= 0)
		shaper_figures(shape, w->devs.v[dev].mtu, m, &f);
	o = json_object();
	set_rate(o, &shape->rate, &f);
	set_packets(o, &shape->pps, &f);
	return o;
}

static json_t *words_json(const struct wire_shape *shape, const struct wire_impair *impair)
{
	autostr struct strbuf limits = {0}, impairments = {0};

	wire_text_shape(&limits, shape);
	wire_text_impair(&impairments, impair);
	return json_pack("{s:s, s:s}", "limits", strbuf_text(&limits), "impairments",
			 strbuf_text(&impairments));
}

static json_t *link_json(const struct wire *w, const struct machine *m, const struct wire_link *l)
{
	json_t *o = json_pack("{s:s,s:s,s:s}", "name", l->name, "a",
			      w->nodes.v[w->devs.v[l->dev_a].node].name, "b",
			      w->nodes.v[w->devs.v[l->dev_b].node].name);

	json_object_set_new(o, "ab", direction_json(w, m, &l->ab, l->shaper_ab));
	json_object_set_new(o, "ba", direction_json(w, m, &l->ba, l->shaper_ba));
	json_object_set_new(o, "ab_words", words_json(&l->ab, &l->impair_ab));
	json_object_set_new(o, "ba_words", words_json(&l->ba, &l->impair_ba));
	json_object_set_new(o, "impaired_by", json_string(wire_text_engine(l->engine)));
	json_object_set_new(o, "sum", json_boolean(l->sum));
	if (l->connections)
		json_object_set_new(o, "connections", json_integer(l->connections));
	if (l->profile)
		json_object_set_new(o, "profile", json_string(l->profile));
	return o;
}

json_t *plan_links_json(const struct wire *w, const struct machine *m)
{
	json_t *list = json_array();

	VEC_FOREACH (l, &w->links)
		json_array_append_new(list, link_json(w, m, l));
	return list;
}
