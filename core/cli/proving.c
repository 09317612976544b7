/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proving: the terminal's side of proofs; the work is core/harness/prove.c. Called by cmd_check.c
 * and cmd_up.c.
 */
#include "core/cli/proving.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/units.h"
#include "core/cli/print.h"
#include "core/harness/verdict.h"
#include "core/report/progress.h"
#include "core/report/proofs.h"
#include "core/report/text.h"

static void show(void *arg, size_t index, size_t n, const char *text)
{
	struct run_progress p = {
	    .text = text, .done = n ? (double)index / (double)n : 0, .step = true};

	progress_show(arg, &p);
}

static int prove(const struct lab *lab, const struct wire *w, bool quiet, struct proofs *out,
		 struct err *err)
{
	struct progress bar;
	struct prove_options o = {.progress = quiet ? NULL : show, .arg = &bar};
	int r;

	progress_init(&bar);
	r = prove_lab(lab, w, &o, out, err);
	progress_done(&bar);
	return r;
}

static int prove_lab_as(const struct lab *lab, const struct wire *w, bool quiet, struct proofs *out,
			struct err *err)
{
	struct wire own;
	int r;

	if (w)
		return prove(lab, w, quiet, out, err);
	r = lab_wire(lab, &own, err);
	if (!r)
		r = prove(lab, &own, quiet, out, err);
	wire_done(&own);
	return r;
}

static void print(const struct lab *lab, const struct proofs *p)
{
	autostr struct strbuf text = {0};

	if (p->list.n)
		proofs_table(p, text_color(STDOUT_FILENO), &text);
	strbuf_addf(&text, "%s: ", lab_name(lab));
	proofs_line(p, &text);
	strbuf_addf(&text, ", in %.1f s\n", (double)p->took_ns / (double)NSEC_PER_SEC);
	print_text(&text);
}

static void add_json(json_t *o, const struct proofs *p)
{
	json_object_set_new(o, "proofs", proofs_json(p));
	json_object_set_new(o, "proofs_took_s",
			    json_real((double)p->took_ns / (double)NSEC_PER_SEC));
	json_object_set_new(o, "verdict", json_string(verdict_name(proofs_overall(p))));
}

int proving_finish(const struct lab *lab, const struct wire *w, const struct proving *how,
		   json_t *j, struct err *err)
{
	struct proofs proofs = {0};
	int ret = how->prove ? prove_lab_as(lab, w, how->quiet, &proofs, err) : 0;

	if (!ret && j && how->prove)
		add_json(j, &proofs);
	if (!ret && j)
		print_json(json_incref(j));
	else if (!ret && how->prove)
		print(lab, &proofs);
	if (!ret && how->prove)
		ret = verdict_exit_status(proofs_overall(&proofs));
	json_decref(j);
	proofs_done(&proofs);
	return ret;
}
