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
	bool netem;	       /* else the relay impairs */
	bool police;	       /* act_police and matchall; else a shaper without a queue */
	bool vlan;	       /* 802.1Q devices; else a wire of its own for each VLAN */
};
#define MACHINE_DEFAULT                                                                            \
	((struct machine){.slip_ns = 1000000,                                                      \
			  .exact_max_bps = 1000000000,                                             \
			  .ovs_kernel = true,                                                      \
			  .ovs_tun = true,                                                         \
			  .netem = true,                                                           \
			  .police = true,                                                          \
			  .vlan = true})

struct compile_options {
	struct machine machine;
	bool unshaped; /* leave out every rate: what the machine itself can do */
};

struct topology; /* the cloud model: emulator/model/cloud.h */

struct topology_file {
	const char *name, *text;
	size_t len;
};

/*
 * A topology and what belongs to it: `main.name` is what problems call it; `sets` are "path=value"
 * overrides ("vms.client.host=h2"), applied before checking (a value that begins with { or [ is
 * YAML in flow style, an empty one takes the key away); `files` are the other files that it names
 * (topology_needs()), read by the caller. One whose text is NULL could not be read, and the caller
 * has said so in a problem of its own.
 */
#define TOPOLOGY_SET_PREFIX "--set " /* how problems name the place of an override */
struct topology_source {
	struct topology_file main;
	const char *const *sets;
	size_t n_sets;
	const struct topology_file *files;
	size_t n_files;
};

/*
 * The other files that a topology, with its overrides, names: "profiles/aliyun.yaml" for a profile
 * "aliyun/…" (looked for in the topology's own folder, then among the shipped ones), and its
 * delivery traces (relative to its own folder). Names and marks live in `a`; the names are those by
 * which `files` must give them, each once. What cannot be read of the topology yet is
 * topology_parse()'s to tell.
 */
struct topology_need {
	const char *name;
	struct mark at; /* where it is named first */
};
struct topology_needs {
	VEC(struct topology_need) list;
};
void topology_needs(const struct topology_source *src, struct arena *a, struct topology_needs *out);

/* Gives a topology also when there are problems (then it must only be freed). */
struct topology *topology_parse(const struct topology_source *src, struct problems *p);
void topology_free(struct topology *t);

/* Compiles. Adds problems that only show here (address exhausted, …). `w` is initialised here;
 * wire_done() is needed in either case. */
void topology_compile(const struct topology *t, const struct compile_options *o, struct wire *w,
		      struct problems *p);

/* The picture: format "dot", "mermaid", "text". 0 or -EINVAL. */
int graph_print(const struct wire *w, const char *format, struct strbuf *out, struct err *err);

#endif
