/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load: a topology together with the other files that it names. */
#ifndef VPCLAB_LAB_LOAD_H
#define VPCLAB_LAB_LOAD_H

#include "emulator/model/topology.h"

struct load {
	struct arena arena;
	struct topology *topology; /* freed by load_done() */
	/* All that it was made of, as lab_up_options wants it. A file that the overrides no longer
	 * name is not among them. Texts are `arena`'s or those of the source. */
	VEC(struct topology_file) files;
};

/*
 * Reads what the topology names (topology_needs()) and parses it. `src->files` are at hand already
 * and are not read again. Others are looked for in the folder of the topology, then among the
 * shipped topologies; one that cannot be read is a problem at the place where it is named. The
 * topology borrows the texts of `src` no longer than this call; `files` does as long as it lives.
 * load_done() is needed in any case.
 */
void load_topology(const struct topology_source *src, struct load *out, struct problems *p);
void load_done(struct load *l);

#endif
