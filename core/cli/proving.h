/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proving: links of a running lab are proven and shown: what `check --prove` and `up --prove` do.
 */
#ifndef VPCLAB_CLI_PROVING_H
#define VPCLAB_CLI_PROVING_H

#include <jansson.h>

#include "core/base/err.h"
#include "core/harness/prove.h"
#include "emulator/lab/lab.h"

struct proving {
	bool prove; /* else there is nothing to prove, and what was to be printed is printed */
	bool quiet;
};

/*
 * `w` NULL: what the lab itself says it is. Proves all links where that is asked for, and prints:
 * `j` (taken) with the proofs in it, or where it is NULL the table. 0, 1 or 3 as the proofs say, or
 * a negative errno.
 */
int proving_finish(const struct lab *lab, const struct wire *w, const struct proving *how,
		   json_t *j, struct err *err);

#endif
