/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planned: is a running lab what its plan says? lab_check(): makes the plan again from the lab's
 * state and has check.c and relays.c compare it, in a process inside the lab. Called by cli and the
 * harness.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "emulator/lab/change.h"
#include "emulator/lab/check.h"
#include "emulator/lab/handle.h"
#include "emulator/lab/relays.h"
#include "emulator/lab/state.h"

struct comparison {
	const struct plan *plan;
	const struct wire *wire; /* it was made of */
	const json_t *choices;
};

/* Inside the lab: the number of differences on the first line, then they. */
static int compare(void *arg, int out_fd, struct err *err)
{
	const struct comparison *c = arg;
	autostr struct strbuf text = {0};
	size_t n = 0;
	int rc = check_compare(c->plan, c->choices, &text, &n, err);

	if (!rc)
		rc = relays_check(c->wire, &text, &n, err);
	if (rc)
		return rc;
	if (dprintf(out_fd, "%zu\n%s", n, strbuf_text(&text)) < 0)
		return err_sys(err, errno, "cannot report the differences");
	return 0;
}

static int compare_inside(const struct lab *lab, struct comparison *c, struct strbuf *differences,
			  size_t *n, struct err *err)
{
	autofree char *text = NULL;
	char *rest = NULL;
	int rc = lab_call(lab, NULL, compare, c, &text, NULL, err);

	if (rc)
		return rc;
	*n = strtoull(text, &rest, 10);
	if (*rest != '\n')
		return err_fail(err, EPROTO, "the comparison inside the lab said nothing");
	strbuf_add(differences, rest + 1);
	return 0;
}

int lab_check(const struct lab *lab, struct strbuf *differences, size_t *n, struct err *err)
{
	struct comparison c = {.choices = json_object_get(lab->state, "plan_choices")};
	struct compile_options options;
	struct plan plan;
	struct wire wire;
	int rc = state_options(lab->state, &options, err);

	if (!rc)
		rc = state_compile(lab->state, &wire, err);
	if (rc)
		return rc;
	plan_build(&wire, &options.machine, &plan);
	c.plan = &plan;
	c.wire = &wire;
	rc = compare_inside(lab, &c, differences, n, err);
	if (!rc && *n && change_broken_off(lab->state))
		strbuf_add(differences,
			   "a change was broken off; the next vpclab set puts the lab right\n");
	plan_done(&plan);
	wire_done(&wire);
	return rc;
}
