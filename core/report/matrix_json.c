/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_json: the result of `vpclab verify` as JSON, whole, and of each faulty one a folder with
 * what the tool printed. Called by cmd_verify.c.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/str.h"
#include "core/report/matrix.h"
#include "core/report/nullable.h"

static json_t *answers(const struct matrix *m, const struct trial_result *r)
{
	json_t *list = json_array();

	VEC_FOREACH (a, &r->judged.answers)
		json_array_append_new(
		    list,
		    json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "about", a->about,
			      "judgement", judgement_name(a->judgement), "kind",
			      fault_name(a->kind), "said", nullable_number(a->said), "truth",
			      nullable_number(a->truth), "tolerance", nullable_number(a->tolerance),
			      "text", nullable_text(a->text ? a->text : ""), "new",
			      judgement_is_fault(a->judgement) &&
				  !baseline_has(m->baseline, r, a)));
	return list;
}

static json_t *evidence(const struct evidence *e)
{
	const struct {
		const char *name;
		double value;
	} rows[] = {
	    {"predicted_bps", e->predicted_bps},
	    {"counted_bps", e->counted_bps},
	    {"sent_bps", e->sent_bps},
	    {"predicted_pps", e->predicted_pps},
	    {"counted_pps", e->counted_pps},
	    {"sent_pps", e->sent_pps},
	    {"sent_packets", e->sent_packets},
	    {"arrived_packets", e->arrived_packets},
	    {"lost_host_packets", e->lost_host},
	    {"lost_relay_packets", e->lost_relay},
	    {"duplicated_packets", e->duplicated},
	    {"reordered_packets", e->reordered},
	    {"active_s", e->active_s},
	    {"run_s", e->run_s},
	    {"asked_s", e->asked_s},
	    {"asked_bps", e->asked_bps},
	    {"asked_size_bytes", e->asked_size},
	    {"asked_dscp", e->asked_dscp},
	    {"marked_packets", e->asked_dscp ? e->marked_packets : NAN},
	    {"delay_s", e->delay_s},
	    {"delay_back_s", e->delay_back_s},
	    {"frozen_s", e->frozen_s},
	    {"payload_bytes", e->payload_bytes},
	    {"fragments", e->fragments},
	    {"least_bps", e->least_bps},
	    {"most_bps", e->most_bps},
	    {"waited_s", e->waited_s},
	    {"waited_longest_s", e->waited_longest_s},
	};
	json_t *j = json_pack("{s:s?}", "machine", e->machine);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		json_object_set_new(j, rows[i].name, nullable_number(rows[i].value));
	return j;
}

static json_t *result(const struct matrix *m, const struct trial_result *r)
{
	const struct answer *worst;
	enum judgement j = trial_result_judgement(r, &worst);

	return json_pack(
	    "{s:s, s:s, s:s, s:s, s:o, s:o, s:s?, s:f, s:i, s:i, s:o, s:o}", "tool", r->tool,
	    "version", r->version, "trial", r->trial, "judgement", judgement_name(j), "skip",
	    nullable_text(r->skip), "inconclusive", nullable_text(r->inconclusive), "known",
	    r->known ? r->known->reference : NULL, "took_s", r->took_s, "runs", r->runs, "status",
	    r->output.status[0], "answers", answers(m, r), "evidence", evidence(&r->evidence));
}

json_t *matrix_json(const struct matrix *m)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;
	json_t *list = json_array();
	struct verify_counts c;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, result(m, &m->results[i]));
	verify_count(m->results, n, m->baseline, &c);
	return json_pack("{s:o, s:f, s:b, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}}",
			 "results", list, "took_s", m->took_s, "interrupted", m->interrupted,
			 "counts", "true", c.true_, "lie", c.lies, "off", c.off, "hang", c.hangs,
			 "crash", c.crashes, "wrong_exit", c.wrong_exits, "silent", c.silent,
			 "inconclusive", c.inconclusive, "skip", c.skipped, "new", c.fresh);
}

static int keep_one(const struct matrix *m, const struct trial_result *r, const char *folder,
		    struct err *err)
{
	static const char *const names[] = {[FROM_CLIENT_OUT] = "client.stdout",
					    [FROM_CLIENT_ERR] = "client.stderr",
					    [FROM_SERVER_OUT] = "server.stdout",
					    [FROM_SERVER_ERR] = "server.stderr"};
	autofree char *path = verify_keep_path(folder, r->trial, r->tool);
	int ret = file_mkdirs(path, err);
	json_t *j = result(m, r);
	autofree char *text = json_dumps(j, JSON_INDENT(2));
	autofree char *json_file = mem_printf("%s/result.json", path);

	json_decref(j);
	for (size_t i = 0; i < ARRAY_SIZE(names) && !ret; i++) {
		autofree char *file = mem_printf("%s/%s", path, names[i]);
		const char *said = r->output.text[i] ? r->output.text[i] : "";

		ret = file_write(file, said, strlen(said), err);
	}
	return ret ? ret : file_write(json_file, text, strlen(text), err);
}

int matrix_keep(const struct matrix *m, const char *folder, struct err *err)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;
	int r = file_mkdirs(folder, err);

	for (size_t i = 0; i < n && !r; i++) {
		if (verify_has_fault(&m->results[i]))
			r = keep_one(m, &m->results[i], folder, err);
	}
	return r;
}
