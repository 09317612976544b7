/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proving: links of a running lab are proven and shown: what `check --prove` and `up --prove` do.
 */
#ifndef VPCLAB_CLI_PROVING_H
#define VPCLAB_CLI_PROVING_H

#include <jansson.h>

#include "core/base/err.h"
#include "core/harness/prove.h"
#include "emulator/lab/lab.h"

/*
 * Proves all links, with progress on standard error unless `quiet`. `w` NULL: what the lab itself
 * says it is. Fills `out`; proofs_done() is needed in either case.
 */
int proving_run(const struct lab *lab, const struct wire *w, bool quiet, struct proofs *out,
		struct err *err);

/* Prints the table. */
void proving_print(const struct lab *lab, const struct proofs *p);
/* Adds "proofs", "proofs_took_s" and "verdict" to an object. */
void proving_json(json_t *o, const struct proofs *p);
/* 0, 1 or 3. */
int proving_status(const struct proofs *p);

#endif
