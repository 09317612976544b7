/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology: a user's topology file, read, checked and compiled to the wire model. Pure.
 */
#ifndef VPCLAB_MODEL_TOPOLOGY_H
#define VPCLAB_MODEL_TOPOLOGY_H

#include "core/base/problems.h"
#include "emulator/model/wire.h"

/*
 * What the machine can do, as far as the shape depends on it. The defaults are fixed, so that
 * `vpclab plan` prints the same bytes everywhere; `vpclab up` and `run` fill in what they measured
 * and the result records it.
 */
struct machine {
	int64_t slip_ns;       /* worst timer slip that bursts must bridge */
	int64_t exact_max_bps; /* `mode: auto` picks exact up to this rate, fast above */
	bool ovs_kernel;       /* OVS: the kernel datapath is there */
	bool ovs_tun;	       /* OVS: /dev/net/tun can be opened (else the dummy datapath) */
};
#define MACHINE_DEFAULT                                                                            \
	((struct machine){                                                                         \
	    .slip_ns = 1000000, .exact_max_bps = 1000000000, .ovs_kernel = true, .ovs_tun = true})

struct compile_options {
	struct machine machine;
	bool unshaped; /* leave out every rate: what the machine itself can do */
};

struct topology; /* the cloud model: emulator/model/cloud.h */

/*
 * Reads topology text (`name` is what problems call it). `sets` are "path=value" overrides of
 * scalars ("vms.client.host=h2"), applied before checking. Gives a topology also when there are
 * problems (then it must only be freed). The caller frees it with topology_free().
 */
struct topology *topology_parse(const char *name, const char *text, size_t len,
				const char *const *sets, size_t n_sets, struct problems *p);
void topology_free(struct topology *t);

/* Compiles. Adds problems that only show here (address exhausted, …). `w` is initialised here;
 * wire_done() is needed in either case. */
void topology_compile(const struct topology *t, const struct compile_options *o, struct wire *w,
		      struct problems *p);

/* The picture: format "dot", "mermaid", "text". 0 or -EINVAL. */
int graph_print(const struct wire *w, const char *format, struct strbuf *out, struct err *err);

#endif
