/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scratch: runs a function in a child with a fresh network namespace, to try out what this kernel
 * and user can do. Nothing of it is left when the child has ended.
 */
#ifndef VPCLAB_LAB_SCRATCH_H
#define VPCLAB_LAB_SCRATCH_H

#include <jansson.h>

#include "core/base/err.h"

/*
 * The child gets network and mount namespaces of its own (where it is root, also as an ordinary
 * user) and a tmpfs on /run. `fn` gives a JSON object, which comes back in *out (a reference), or a
 * negative errno with err set.
 */
int scratch_run(int (*fn)(void *arg, json_t **out, struct err *err), void *arg, json_t **out,
		struct err *err);

#endif
