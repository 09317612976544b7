// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * json: builds the JSON form of a result; writes no file. Called by cli/.
 *
 * jansson's own names begin with json_ as well; those defined here are json_result, json_predicted,
 * json_scale and json_sample.
 */
#include "core/report/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/harness/verdict.h"
#include "core/report/nullable.h"
#include "core/report/proofs.h"

static void set_text(json_t *o, const char *key, const char *s)
{
	json_object_set_new(o, key, nullable_text(s));
}

static void set_int(json_t *o, const char *key, int64_t v)
{
	json_object_set_new(o, key, json_integer(v));
}

static void set_number(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, nullable_number(v));
}

/* "p50" of nanoseconds is "p50_ns"; a name that ends in its unit already keeps it. */
static void unit_key(char *buf, size_t size, const char *name, enum metric_unit unit)
{
	const char *suffix = metric_unit_name(unit);
	size_t n = strlen(name), m = strlen(suffix);

	if (unit == METRIC_COUNT || (n >= m && !strcmp(name + n - m, suffix)))
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%s_%s", name, suffix);
}

json_t *json_scale(const struct truth_predicted *p)
{
	if (!p->scale_num)
		return json_null();
	return json_pack("{s:I, s:I}", "num", (json_int_t)p->scale_num, "den",
			 (json_int_t)p->scale_den);
}

json_t *json_predicted(const struct truth_predicted *p)
{
	static const char *const limits[] = {
	    [LIMIT_RATE] = "rate", [LIMIT_PACKETS] = "packets", [LIMIT_QUEUE] = "queue",
	    [LIMIT_FLOW] = "flow", [LIMIT_TRACE] = "trace",	[LIMIT_SENDER] = "sender",
	};
	json_t *o;

	if (!p->known && !p->unknown[0])
		return json_null();
	o = json_object();
	if (!p->known) {
		set_text(o, "unknown", p->unknown);
		return o;
	}
	set_text(o, "limit", limits[p->limit]);
	set_number(o, p->limit_packets ? "limit_pps" : "limit_bps", p->limit_value);
	set_number(o, "delivered_share", p->delivered_share);
	set_number(o, "goodput_bps", p->goodput_bps);
	if (truth_scaled(p))
		set_number(o, "full_size_goodput_bps", truth_full_size(p, p->goodput_bps));
	set_number(o, "low_bps", p->low_bps);
	set_number(o, "high_bps", p->high_bps);
	set_number(o, "packets_pps", p->pps);
	set_int(o, "payload_bytes", p->payload_bytes);
	set_int(o, "charged_bytes", p->charged_bytes);
	set_int(o, "ack_bytes", p->ack_bytes);
	set_int(o, "mtu_bytes", p->mtu);
	set_text(o, "link", p->link);
	set_int(o, "rate_bps", p->rate_bps);
	set_text(o, "basis", wire_basis_name(p->basis));
	set_text(o, "assumption", p->assumption);
	return o;
}

static json_t *json_counter(const struct truth_counter *c)
{
	json_t *o = json_object();

	set_int(o, "packets", c->packets);
	set_int(o, "bytes", c->bytes);
	return o;
}

static json_t *json_counts(const struct truth_counts *c)
{
	json_t *o;

	if (!c->known)
		return json_null();
	o = json_object();
	json_object_set_new(o, "flow_l3", json_counter(&c->flow));
	json_object_set_new(o, "device_l2", json_counter(&c->device));
	set_int(o, "elapsed_ns", c->elapsed_ns);
	return o;
}

static json_t *json_counted(const struct truth_counted *c, const struct truth_counts *whole,
			    const struct truth_counts *window)
{
	static const char *const agreement[] = {
	    [TRUTH_AGREE] = "agree",
	    [TRUTH_DISAGREE] = "disagree",
	    [TRUTH_UNKNOWN] = "unknown",
	};
	json_t *o = json_object();

	set_text(o, "truths", agreement[c->agreement]);
	set_text(o, "why", c->why[0] ? c->why : NULL);
	set_int(o, "packets", c->packets);
	set_int(o, "payload_bytes", c->payload_bytes);
	set_int(o, "foreign_packets", c->foreign_packets);
	set_number(o, "goodput_bps", c->goodput_bps);
	set_number(o, "packets_pps", c->pps);
	json_object_set_new(o, "whole_flow", json_counts(whole));
	json_object_set_new(o, "window", json_counts(window));
	return o;
}

static json_t *json_fidelity(const struct fidelity *f)
{
	static const char *const limits[] = {
	    [FIDELITY_ENOUGH] = "none",	  [FIDELITY_BACKLOG] = "backlog",
	    [FIDELITY_SOCKET] = "socket", [FIDELITY_STEAL] = "steal",
	    [FIDELITY_CPU] = "cpu",	  [FIDELITY_OTHERS] = "others",
	    [FIDELITY_SENDER] = "sender", [FIDELITY_RELAY] = "relay",
	};
	json_t *o = json_object();

	set_text(o, "limit", limits[f->limit]);
	set_text(o, "why", f->why[0] ? f->why : NULL);
	set_number(o, "idle_share", f->known ? f->idle : NAN);
	set_number(o, "least_idle_share", f->known ? f->least_idle : NAN);
	set_number(o, "steal_share", f->known ? f->steal : NAN);
	set_int(o, "busiest_cpu", f->busiest_cpu);
	set_int(o, "cpus", f->n_cpus);
	set_number(o, "busy_s", f->busy_s);
	set_number(o, "user_s", f->user_s);
	set_int(o, "elapsed_ns", f->elapsed_ns);
	set_int(o, "softnet_dropped", f->softnet_dropped);
	set_int(o, "softnet_squeezed", f->softnet_squeezed);
	set_int(o, "socket_dropped", f->socket_dropped);
	set_number(o, "others_share", f->others);
	set_int(o, "slip_ns", f->slip_ns);
	return o;
}

static json_t *json_losses(const struct losses *l)
{
	json_t *o, *list;

	if (!l->known)
		return json_null();
	o = json_object();
	list = json_array();
	VEC_FOREACH (i, &l->list) {
		json_t *loss = json_object();

		set_text(loss, "cause", i->cause);
		set_text(loss, "where", i->where);
		set_text(loss, "link", i->link);
		set_text(loss, "of", i->answers ? "answers" : "data");
		set_int(loss, "packets", i->packets);
		json_array_append_new(list, loss);
	}
	json_object_set_new(o, "sent_packets", l->followed ? json_integer(l->sent) : json_null());
	json_object_set_new(o, "delivered_packets",
			    l->followed ? json_integer(l->delivered) : json_null());
	json_object_set_new(o, "lost", list);
	set_int(o, "lost_others_packets", l->others);
	set_int(o, "duplicated_packets", l->duplicated);
	set_int(o, "waiting_packets", l->waiting);
	set_int(o, "unexplained_packets", l->unexplained);
	set_text(o, "why", l->why);
	return o;
}

static json_t *json_changes(const struct run_sample *run)
{
	json_t *list = json_array();

	VEC_FOREACH (c, &run->changes) {
		json_t *o = json_object();

		set_text(o, "link", c->link);
		set_text(o, "set", c->text);
		set_number(o, "asked_ms", (double)c->asked_ns / 1e6);
		set_number(o, "done_ms", c->done_ns < 0 ? NAN : (double)c->done_ns / 1e6);
		set_text(o, "what", c->what);
		json_array_append_new(list, o);
	}
	return list;
}

/* Of a test with data both ways: that from server to client. */
static json_t *json_back(const struct run_back *b)
{
	json_t *o = json_object();

	json_object_set_new(o, "predicted", json_predicted(&b->predicted));
	json_object_set_new(o, "counted", json_counted(&b->counted, &b->whole, &b->window));
	json_object_set_new(o, "account", json_losses(&b->losses));
	return o;
}

json_t *json_sample(const struct run_sample *run)
{
	json_t *o = json_object();

	set_int(o, "run", run->index);
	set_int(o, "started_ns", run->started_ns);
	set_text(o, "error", run->error);
	if (run->error)
		return o;
	json_object_set_new(o, "spec", engine_spec_json(&run->spec));
	json_object_set_new(o, "engine", engine_result_json(&run->engine));
	json_object_set_new(o, "counted", json_counted(&run->counted, &run->whole, &run->window));
	json_object_set_new(o, "fidelity", json_fidelity(&run->fidelity));
	set_number(o, "cpu_per_packet_ns", run->cpu_per_packet_ns);
	set_text(o, "cpu_per_packet_missing", run->cpu_missing);
	set_text(o, "company", run->company);
	json_object_set_new(o, "account", json_losses(&run->losses));
	json_object_set_new(o, "changes", json_changes(run));
	if (run->back.known)
		json_object_set_new(o, "back", json_back(&run->back));
	return o;
}

static bool is_rate(const struct metric *m)
{
	return m->unit == METRIC_BPS || m->unit == METRIC_PPS;
}

static json_t *json_metrics(const struct run_result *r, const struct run_cell *c)
{
	const struct scenario_measure *m = &r->scenario->measures.v[c->measure];
	json_t *metrics = json_object();
	const struct metric *metric;

	for (size_t i = 0; (metric = metric_at(i)); i++) {
		struct summary s;
		char key[64];

		if (!(metric->tests & METRIC_TEST(m->spec.test)))
			continue;
		result_summary(c, metric, m->repeat.confidence, &s);
		if (!s.n)
			continue;
		json_t *o = json_object();
		set_int(o, "runs", (int64_t)s.n);
		set_number(o, "value", s.mean);
		if (is_rate(metric) && truth_scaled(&c->predicted) && !m->unshaped)
			set_number(o, "full_size", truth_full_size(&c->predicted, s.mean));
		set_number(o, "half_width", s.half_width);
		set_number(o, "stddev", s.stddev);
		set_number(o, "min", s.min);
		set_number(o, "max", s.max);
		unit_key(key, sizeof(key), metric->name, metric->unit);
		json_object_set_new(metrics, key, o);
	}
	return metrics;
}

static json_t *json_cell(const struct run_result *r, const struct run_cell *c)
{
	json_t *o = json_object(), *runs = json_array();

	set_text(o, "path", r->scenario->paths.v[c->path].name);
	set_text(o, "error", result_error(r, c));
	json_object_set_new(o, "settled", json_boolean(c->settled));
	json_object_set_new(o, "scale", json_scale(&c->predicted));
	json_object_set_new(o, "predicted", json_predicted(&c->predicted));
	set_number(o, "unshaped_ceiling_bps", c->ceiling_bps);
	json_object_set_new(o, "metrics", json_metrics(r, c));
	VEC_FOREACH (run, &c->runs)
		json_array_append_new(runs, json_sample(run));
	json_object_set_new(o, "runs", runs);
	return o;
}

static json_t *json_measures(const struct run_result *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->scenario->measures.n; i++) {
		const struct scenario_measure *m = &r->scenario->measures.v[i];
		json_t *o = json_object(), *cells = json_array();

		set_text(o, "name", m->name);
		set_text(o, "test", engine_test_name(m->spec.test));
		json_object_set_new(o, "unshaped", json_boolean(m->unshaped));
		set_number(o, "confidence", m->repeat.confidence);
		set_number(o, "width_share", m->repeat.width);
		set_int(o, "min_runs", m->repeat.min);
		set_int(o, "max_runs", m->repeat.max);
		VEC_FOREACH (c, &r->cells)
			if (c->measure == (int)i)
				json_array_append_new(cells, json_cell(r, c));
		json_object_set_new(o, "paths", cells);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_labs(const struct run_result *r)
{
	json_t *list = json_array();

	VEC_FOREACH (lab, &r->labs) {
		json_t *o = json_object(), *phases = json_object();

		set_text(o, "name", lab->name);
		json_object_set_new(o, "unshaped", json_boolean(lab->unshaped));
		set_int(o, "up_ns", lab->timing.total_ns);
		for (int i = 0; i < PHASE_COUNT; i++)
			set_int(phases, plan_phase_name((enum plan_phase)i),
				lab->timing.phase_ns[i]);
		json_object_set_new(o, "phases_ns", phases);
		set_int(o, "down_ns", lab->down_ns);
		json_object_set_new(o, "left", json_boolean(lab->left));
		set_int(o, "hosts", lab->hosts);
		set_int(o, "vms", lab->vms);
		set_int(o, "routers", lab->routers);
		set_int(o, "eips", lab->eips);
		set_int(o, "machines", lab->machines);
		set_int(o, "switches", lab->switches);
		json_object_set_new(o, "choices",
				    lab->choices ? json_incref(lab->choices) : json_null());
		json_object_set_new(o, "links", lab->links ? json_incref(lab->links) : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_machine(const struct run_machine *m)
{
	json_t *o = json_object();

	set_text(o, "kernel", m->kernel);
	set_text(o, "cpu", m->cpu);
	set_int(o, "cpus", m->cpus);
	json_object_set_new(o, "root", json_boolean(m->root));
	set_int(o, "slip_ns", m->model.slip_ns);
	set_int(o, "exact_max_bps", m->model.exact_max_bps);
	json_object_set_new(o, "ovs_kernel", json_boolean(m->model.ovs_kernel));
	json_object_set_new(o, "ovs_tun", json_boolean(m->model.ovs_tun));
	set_number(o, "idle_busy_cpus", m->idle_busy);
	return o;
}

static json_t *json_scenario(const struct scenario *s)
{
	json_t *o = json_object(), *sets = json_array(), *paths = json_array();

	set_text(o, "file", s->file);
	set_text(o, "name", s->name);
	set_text(o, "title", s->title);
	set_text(o, "topology", s->topology);
	VEC_FOREACH (set, &s->sets)
		json_array_append_new(sets, json_string(*set));
	json_object_set_new(o, "set", sets);
	VEC_FOREACH (p, &s->paths)
		json_array_append_new(paths, json_pack("{s:s, s:s, s:s}", "name", p->name, "from",
						       p->from, "to", p->to));
	json_object_set_new(o, "paths", paths);
	set_text(o, "lesson", s->lesson);
	return o;
}

static json_t *json_verdicts(const struct run_result *r)
{
	json_t *list = json_array();

	VEC_FOREACH (v, &r->verdicts) {
		json_t *o = json_object();

		set_text(o, "expect", r->scenario->expects.v[v->expect].text);
		set_text(o, "verdict", verdict_name(v->verdict));
		set_text(o, "found", v->found);
		set_text(o, "evidence", v->evidence);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_overheads(const struct run_result *r)
{
	json_t *list = json_array();

	VEC_FOREACH (v, &r->overheads) {
		json_t *o = json_object();
		char name[128];

		set_text(o, "path", r->scenario->paths.v[v->what.path].name);
		set_text(o, "metric",
			 scenario_quantity_name(r->scenario, &v->what, name, sizeof(name)));
		set_text(o, "unit", metric_unit_name(v->what.metric->unit));
		set_number(o, "base", v->known ? v->base : NAN);
		set_number(o, "mean", v->known ? v->mean : NAN);
		set_number(o, "difference", v->known ? v->difference.diff : NAN);
		set_number(o, "half_width", v->known ? v->difference.half_width : NAN);
		json_object_set_new(o, "significant",
				    v->known ? json_boolean(v->difference.significant)
					     : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_references(const struct scenario *s)
{
	json_t *o, *list = json_array();

	VEC_FOREACH (ref, &s->references) {
		json_t *figure = json_object();
		char name[128];

		set_text(figure, "path", s->paths.v[ref->what.path].name);
		set_text(figure, "metric",
			 scenario_quantity_name(s, &ref->what, name, sizeof(name)));
		set_text(figure, "unit", metric_unit_name(ref->what.metric->unit));
		set_number(figure, "value", ref->value);
		json_array_append_new(list, figure);
	}
	o = json_object();
	set_text(o, "source", s->reference_source);
	json_object_set_new(o, "figures", list);
	return o;
}

json_t *json_result(const struct run_result *r)
{
	const struct scenario *s = r->scenario;
	enum verdict overall = verdict_overall(r);
	json_t *o = json_object();

	set_text(o, "schema", JSON_RESULT_SCHEMA);
	set_text(o, "vpclab", VPCLAB_VERSION);
	set_int(o, "started_s", r->started_s);
	set_int(o, "total_ns", r->total_ns);
	json_object_set_new(o, "interrupted", json_boolean(r->interrupted));
	set_text(o, "error", r->error);
	set_text(o, "verdict", verdict_name(overall));
	set_int(o, "exit_status", verdict_exit_status(overall));
	json_object_set_new(o, "scenario", json_scenario(s));
	json_object_set_new(o, "machine", json_machine(&r->machine));
	json_object_set_new(o, "labs", json_labs(r));
	json_object_set_new(o, "proofs", r->proven ? proofs_json(&r->proofs) : json_null());
	set_int(o, "proofs_took_ns", r->proofs.took_ns);
	json_object_set_new(o, "measurements", json_measures(r));
	json_object_set_new(o, "expectations", json_verdicts(r));
	if (s->compare_base >= 0)
		set_text(o, "compare_base", s->paths.v[s->compare_base].name);
	json_object_set_new(o, "compare", json_overheads(r));
	if (s->reference_source)
		json_object_set_new(o, "reference", json_references(s));
	return o;
}
