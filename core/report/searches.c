// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * searches: faces of searches for rates. Called by `vpclab search`.
 */
#include "core/report/searches.h"

#include <math.h>

#include "core/base/units.h"
#include "core/report/grid.h"
#include "core/report/nullable.h"
#include "core/report/text.h"

static const char *above_words(const struct search_found *f)
{
	switch (f->above) {
	case SEARCH_LOSS:
		return "loss";
	case SEARCH_MACHINE:
		return "the machine";
	case SEARCH_REFUSED:
		return "flows that were refused";
	case SEARCH_END:
		return "nothing higher was to be tried";
	case SEARCH_UNKNOWN:
		break;
	}
	return "not completed";
}

static const char *pps(char *buf, size_t size, double v)
{
	return metric_format(buf, size, METRIC_PPS, v);
}

static void goal_row(const struct search_found *f, int64_t payload, struct grid *g)
{
	char a[64];

	grid_add(g, f->goal->name);
	grid_addf(g, "%g %%", f->goal->loss_ratio * 100);
	grid_add(g, f->lower_pps ? pps(a, sizeof(a), (double)f->lower_pps) : NULL);
	grid_add(g, f->upper_pps ? pps(a, sizeof(a), (double)f->upper_pps) : NULL);
	grid_add(g, isnan(f->conditional_pps) ? NULL : pps(a, sizeof(a), f->conditional_pps));
	grid_add(g, f->lower_pps && payload > 0
			? metric_format(a, sizeof(a), METRIC_BPS,
					f->conditional_pps * (double)payload * 8)
			: NULL);
	grid_addf(g, "%d", f->trials);
	grid_add(g, above_words(f));
}

static void add_remarks(const struct search *s, struct strbuf *out)
{
	VEC_FOREACH (f, &s->found) {
		if (f->above == SEARCH_MACHINE || f->above == SEARCH_REFUSED)
			strbuf_addf(out, "%s: above %lld packets/s nothing is known: %s\n",
				    f->goal->name, (long long)f->lower_pps, f->why ? f->why : "");
		if (!f->lower_pps && f->above == SEARCH_LOSS)
			strbuf_addf(out, "%s: no rate down to %lld packets/s stayed within %g %%\n",
				    f->goal->name, (long long)f->upper_pps,
				    f->goal->loss_ratio * 100);
	}
}

void searches_text(const struct search *s, int64_t payload, struct strbuf *out)
{
	static const char *const heads[] = {"goal",	   "loss",    "lower",	"upper",
					    "conditional", "payload", "trials", "bounded by"};
	struct grid g;

	grid_init(&g, ARRAY_SIZE(heads), 1);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		grid_add(&g, heads[i]);
	VEC_FOREACH (f, &s->found)
		goal_row(f, payload, &g);
	grid_print(&g, "  ", out);
	grid_done(&g);
	add_remarks(s, out);
}

static json_t *trial_json(const struct trial *t)
{
	json_t *j = json_object();

	json_object_set_new(j, "offered_pps",
			    t->load_pps ? json_integer(t->load_pps) : json_null());
	json_object_set_new(j, "duration_ns", json_integer(t->duration_ns));
	json_object_set_new(j, "sent_packets", json_integer(t->sent));
	json_object_set_new(j, "lost_packets", json_integer(t->lost));
	json_object_set_new(j, "loss_share", nullable_number(t->loss));
	json_object_set_new(j, "sent_pps", nullable_number(t->sent_pps));
	json_object_set_new(j, "received_pps", nullable_number(t->pps));
	json_object_set_new(j, "valid", json_boolean(t->valid));
	json_object_set_new(j, "tries", json_integer(t->tries));
	json_object_set_new(j, "why", nullable_text(t->why));
	return j;
}

static const char *above_name(enum search_above above)
{
	static const char *const names[] = {"unknown", "loss", "machine", "refused", "end"};

	return names[above];
}

static json_t *found_json(const struct search_found *f)
{
	json_t *j = json_object();
	const struct search_goal *g = f->goal;

	json_object_set_new(j, "goal", json_string(g->name));
	json_object_set_new(j, "loss_ratio_share", json_real(g->loss_ratio));
	json_object_set_new(j, "exceed_ratio_share", json_real(g->exceed_ratio));
	json_object_set_new(j, "initial_trial_ns", json_integer(g->initial_ns));
	json_object_set_new(j, "final_trial_ns", json_integer(g->final_ns));
	json_object_set_new(j, "duration_sum_ns", json_integer(g->sum_ns));
	json_object_set_new(j, "width_share", json_real(g->width));
	json_object_set_new(j, "lower_pps",
			    f->lower_pps ? json_integer(f->lower_pps) : json_null());
	json_object_set_new(j, "upper_pps",
			    f->upper_pps ? json_integer(f->upper_pps) : json_null());
	json_object_set_new(j, "conditional_pps", nullable_number(f->conditional_pps));
	json_object_set_new(j, "bounded_by", json_string(above_name(f->above)));
	json_object_set_new(j, "why", nullable_text(f->why));
	json_object_set_new(j, "trials", json_integer(f->trials));
	json_object_set_new(j, "complete", json_boolean(search_complete(f)));
	return j;
}

json_t *searches_json(const struct search *s)
{
	json_t *j = json_object(), *goals = json_array(), *trials = json_array();

	VEC_FOREACH (f, &s->found)
		json_array_append_new(goals, found_json(f));
	VEC_FOREACH (t, &s->trials)
		json_array_append_new(trials, trial_json(t));
	json_object_set_new(j, "most_pps", json_integer(s->most_pps));
	json_object_set_new(j, "flood", s->has_flood ? trial_json(&s->flood) : json_null());
	json_object_set_new(j, "goals", goals);
	json_object_set_new(j, "trials", trials);
	return j;
}

static const char *time_text(char *buf, size_t size, double ns)
{
	return metric_format(buf, size, METRIC_NS, ns);
}

static void throughput_text(const struct rfc2544 *r, struct strbuf *out)
{
	static const char *const heads[] = {"frame",   "throughput", "upper",	  "l2",
					    "latency", "p99",	     "bounded by"};
	char a[64];
	struct grid g;

	strbuf_add(out, "throughput and latency (RFC 2544, 26.1, 26.2)\n");
	grid_init(&g, ARRAY_SIZE(heads), 0);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		grid_add(&g, heads[i]);
	VEC_FOREACH (row, &r->rows) {
		const struct search_found *f = row->search.found.n ? row->search.found.v : NULL;
		bool delay = f && f->lower_pps && !row->delay_why;

		grid_addf(&g, "%lld", (long long)row->frame);
		grid_add(&g, f && f->lower_pps ? pps(a, sizeof(a), (double)f->lower_pps) : NULL);
		grid_add(&g, f && f->upper_pps ? pps(a, sizeof(a), (double)f->upper_pps) : NULL);
		grid_add(&g, metric_format(a, sizeof(a), METRIC_BPS, row->throughput_bps));
		grid_add(&g, delay ? time_text(a, sizeof(a), row->delay.mean) : NULL);
		grid_add(&g, delay ? time_text(a, sizeof(a), row->delay.p99) : NULL);
		grid_add(&g, row->skipped ? row->skipped : f ? above_words(f) : "not measured");
	}
	grid_print(&g, "  ", out);
	grid_done(&g);
	VEC_FOREACH (row, &r->rows)
		add_remarks(&row->search, out);
}

static void loss_text(const struct rfc2544 *r, struct strbuf *out)
{
	struct grid g;
	char a[64];

	strbuf_add(out, "frame loss rate (26.3)\n");
	grid_init(&g, 5, 0);
	grid_add(&g, "frame");
	grid_add(&g, "offered");
	grid_add(&g, "of the most");
	grid_add(&g, "lost");
	grid_add(&g, "");
	VEC_FOREACH (row, &r->rows) {
		VEC_FOREACH (t, &row->losses) {
			double most = (double)row->losses.v[0].load_pps;

			grid_addf(&g, "%lld", (long long)row->frame);
			grid_add(&g, pps(a, sizeof(a), (double)t->load_pps));
			grid_addf(&g, "%.0f %%", (double)t->load_pps / most * 100);
			grid_addf(&g, t->valid ? "%.4g %%" : "–", t->loss * 100);
			grid_add(&g, t->valid ? "" : t->why);
		}
	}
	grid_print(&g, "  ", out);
	grid_done(&g);
}

static void burst_text(const struct rfc2544 *r, struct strbuf *out)
{
	char a[64], b[64], c[64];

	strbuf_add(out, "back-to-back frames (26.4, RFC 9004)\n");
	VEC_FOREACH (row, &r->rows) {
		const struct rfc2544_burst *f = &row->burst;

		if (row->skipped || (!f->known && !f->why))
			continue;
		strbuf_addf(out, "  %5lld: ", (long long)row->frame);
		if (!f->known) {
			strbuf_addf(out, "nothing: %s\n", f->why);
			continue;
		}
		strbuf_addf(out, "%s%lld frames at %s: buffer %s, corrected %s\n",
			    f->open_end ? "at least " : "", (long long)f->frames,
			    pps(a, sizeof(a), f->burst_pps),
			    time_text(b, sizeof(b), f->buffer_s * 1e9),
			    time_text(c, sizeof(c), f->corrected_s * 1e9));
		if (f->why || f->wire)
			strbuf_addf(out, "         longer ones: %s\n", f->why ? f->why : f->wire);
	}
}

void searches_rfc2544_text(const struct rfc2544 *r, const struct rfc2544_options *o,
			   struct strbuf *out)
{
	if (o->throughput)
		throughput_text(r, out);
	if (o->loss)
		loss_text(r, out);
	if (o->burst)
		burst_text(r, out);
	if (o->goal.final_ns < RFC2544_TRIAL_NS)
		strbuf_addf(out,
			    "trials of %g s; RFC 2544 asks for at least 60 s (--duration 60s)\n",
			    (double)o->goal.final_ns / 1e9);
}

static json_t *burst_json(const struct rfc2544_burst *b)
{
	json_t *j = json_object();

	json_object_set_new(j, "frames", b->known ? json_integer(b->frames) : json_null());
	json_object_set_new(j, "at_least", json_boolean(b->open_end));
	json_object_set_new(j, "lost_from_frames",
			    b->lost_from ? json_integer(b->lost_from) : json_null());
	json_object_set_new(j, "wire", nullable_text(b->wire));
	json_object_set_new(j, "burst_pps", b->known ? nullable_number(b->burst_pps) : json_null());
	json_object_set_new(j, "buffer_s", b->known ? nullable_number(b->buffer_s) : json_null());
	json_object_set_new(j, "corrected_buffer_s",
			    b->known ? nullable_number(b->corrected_s) : json_null());
	json_object_set_new(j, "why", nullable_text(b->why));
	return j;
}

static json_t *latency_json(const struct rfc2544_row *row)
{
	json_t *j = json_object();
	bool known = !row->delay_why && row->delay.count > 0;

	json_object_set_new(j, "mean_ns", known ? nullable_number(row->delay.mean) : json_null());
	json_object_set_new(j, "min_ns", known ? nullable_number(row->delay.min) : json_null());
	json_object_set_new(j, "max_ns", known ? nullable_number(row->delay.max) : json_null());
	json_object_set_new(j, "p50_ns", known ? nullable_number(row->delay.p50) : json_null());
	json_object_set_new(j, "p99_ns", known ? nullable_number(row->delay.p99) : json_null());
	json_object_set_new(j, "why", nullable_text(row->delay_why));
	return j;
}

json_t *searches_rfc2544_json(const struct rfc2544 *r, const struct rfc2544_options *o)
{
	json_t *j = json_object(), *rows = json_array();

	VEC_FOREACH (row, &r->rows) {
		json_t *one = json_object(), *losses = json_array();

		json_object_set_new(one, "frame_bytes", json_integer(row->frame));
		json_object_set_new(one, "payload_bytes", json_integer(row->payload));
		json_object_set_new(one, "skipped", nullable_text(row->skipped));
		if (o->throughput && !row->skipped) {
			json_object_set_new(one, "throughput", searches_json(&row->search));
			json_object_set_new(one, "throughput_l2_bps",
					    nullable_number(row->throughput_bps));
			json_object_set_new(one, "latency", latency_json(row));
		}
		VEC_FOREACH (t, &row->losses)
			json_array_append_new(losses, trial_json(t));
		json_object_set_new(one, "frame_loss_rate", losses);
		if (o->burst && !row->skipped)
			json_object_set_new(one, "back_to_back", burst_json(&row->burst));
		json_array_append_new(rows, one);
	}
	json_object_set_new(j, "trial_ns", json_integer(o->goal.final_ns));
	json_object_set_new(j, "frames", rows);
	json_object_set_new(j, "complete", json_boolean(rfc2544_complete(r, o)));
	return j;
}

static void windows_text(const struct rfc6349 *r, struct strbuf *out)
{
	static const char *const heads[] = {"window", "of BDP",	      "actual",
					    "ideal",  "time ratio",   "efficiency",
					    "RTT",    "buffer delay", ""};
	char a[64];
	struct grid g;

	grid_init(&g, ARRAY_SIZE(heads), 0);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		grid_add(&g, heads[i]);
	VEC_FOREACH (row, &r->rows) {
		grid_add(&g,
			 row->window ? units_format_size(a, sizeof(a), row->window) : "kernel's");
		grid_addf(&g, row->window ? "%.0f %%" : "–", row->share * 100);
		grid_add(&g, row->error ? NULL
					: metric_format(a, sizeof(a), METRIC_BPS, row->actual_bps));
		grid_add(&g, metric_format(a, sizeof(a), METRIC_BPS, row->ideal_bps));
		grid_addf(&g, row->error ? "–" : "%.3f", row->time_ratio);
		grid_addf(&g, row->error ? "–" : "%.2f %%", row->efficiency * 100);
		grid_add(&g, row->error ? NULL : time_text(a, sizeof(a), row->rtt_ns));
		grid_addf(&g, row->error ? "–" : "%.0f %%", row->buffer_delay * 100);
		grid_add(&g, row->error ? row->error : row->machine ? row->machine : "");
	}
	grid_print(&g, "  ", out);
	grid_done(&g);
}

void searches_rfc6349_text(const struct rfc6349 *r, struct strbuf *out)
{
	char a[64], b[64];

	strbuf_addf(out, "  baseline RTT   %s\n", time_text(a, sizeof(a), r->rtt_ns));
	strbuf_addf(out, "  bottleneck     %s full packets, %s of TCP payload%s%s\n",
		    pps(a, sizeof(a), r->bottleneck_pps),
		    metric_format(b, sizeof(b), METRIC_BPS, r->bottleneck_bps),
		    r->bottleneck_why ? "; " : "", r->bottleneck_why ? r->bottleneck_why : "");
	if (r->path_mtu)
		strbuf_addf(out,
			    "  path MTU       %d bytes (TCP fills %d, segments carry %d)%s%s\n",
			    r->path_mtu, r->mtu, r->mss, r->path_mtu_why ? "; " : "",
			    r->path_mtu_why ? r->path_mtu_why : "");
	else
		strbuf_addf(out,
			    "  path MTU       not known: %s (TCP fills %d, segments carry %d)\n",
			    r->path_mtu_why ? r->path_mtu_why : "not looked for", r->mtu, r->mss);
	strbuf_addf(out, "  BDP            %s: the least window that fills the path\n",
		    units_format_size(a, sizeof(a), (int64_t)r->bdp_bytes));
	windows_text(r, out);
}

json_t *searches_rfc6349_json(const struct rfc6349 *r)
{
	json_t *j = json_object(), *rows = json_array();

	json_object_set_new(j, "baseline_rtt_ns", nullable_number(r->rtt_ns));
	json_object_set_new(j, "path_mtu_bytes",
			    r->path_mtu ? json_integer(r->path_mtu) : json_null());
	json_object_set_new(j, "path_mtu_why", nullable_text(r->path_mtu_why));
	json_object_set_new(j, "segment_mtu_bytes", r->mtu ? json_integer(r->mtu) : json_null());
	json_object_set_new(j, "mss_bytes", r->mss ? json_integer(r->mss) : json_null());
	json_object_set_new(j, "bottleneck_pps", nullable_number(r->bottleneck_pps));
	json_object_set_new(j, "bottleneck_bps", nullable_number(r->bottleneck_bps));
	json_object_set_new(j, "bottleneck_why", nullable_text(r->bottleneck_why));
	json_object_set_new(j, "bdp_bytes", nullable_number(r->bdp_bytes));
	VEC_FOREACH (row, &r->rows) {
		json_t *o = json_object();
		bool ok = !row->error;

		json_object_set_new(o, "window_bytes",
				    row->window ? json_integer(row->window) : json_null());
		json_object_set_new(o, "actual_bps",
				    ok ? nullable_number(row->actual_bps) : json_null());
		json_object_set_new(o, "ideal_bps", nullable_number(row->ideal_bps));
		json_object_set_new(o, "transfer_time_ratio",
				    ok ? nullable_number(row->time_ratio) : json_null());
		json_object_set_new(o, "efficiency_share",
				    ok ? nullable_number(row->efficiency) : json_null());
		json_object_set_new(o, "buffer_delay_share",
				    ok ? nullable_number(row->buffer_delay) : json_null());
		json_object_set_new(o, "rtt_ns", ok ? nullable_number(row->rtt_ns) : json_null());
		json_object_set_new(o, "retransmits", json_integer(row->retransmits));
		json_object_set_new(o, "machine", nullable_text(row->machine));
		json_object_set_new(o, "error", nullable_text(row->error));
		json_array_append_new(rows, o);
	}
	json_object_set_new(j, "windows", rows);
	return j;
}
