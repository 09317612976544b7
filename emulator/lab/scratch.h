/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scratch: runs a function in a child with a fresh network namespace, to try out what this kernel
 * and user can do. Nothing of it is left when the child has ended.
 */
#ifndef VPCLAB_LAB_SCRATCH_H
#define VPCLAB_LAB_SCRATCH_H

#include <jansson.h>
#include <stdint.h>

#include "core/base/err.h"
#include "emulator/kernel/link.h"

/*
 * The child gets network and mount namespaces of its own (where it is root, also as an ordinary
 * user) and a tmpfs on /run. `fn` gives a JSON object, which comes back in *out (a reference), or a
 * negative errno with err set.
 */
int scratch_run(int (*fn)(void *arg, json_t **out, struct err *err), void *arg, json_t **out,
		struct err *err);

/* In such a child: veth pairs of ends[0] and [1], [2] and [3], …, all up. Only name and ifindex are
 * read. */
int scratch_veths(const struct link_spec *ends, size_t n, struct err *err);

/*
 * In such a child: sends frames that nobody takes by that device, as fast as it goes, for span_ns.
 * `fd` is any packet socket. Gives how many were sent, or a negative errno.
 */
#define SCRATCH_FRAME 1514 /* bytes of each: IP MTU 1500 */
int64_t scratch_flood(int fd, int ifindex, int64_t span_ns);

#endif
