/* SPDX-License-Identifier: GPL-2.0-or-later */
/* needs: a topology with the shipped files that it names, for tests of layers below lab/load.h. */
#ifndef VPCLAB_TESTS_NEEDS_H
#define VPCLAB_TESTS_NEEDS_H

#include "core/base/file.h"
#include "emulator/model/topology.h"

/* As topology_parse(); other files are looked for in topologies/ alone. */
static inline struct topology *needs_parse(struct topology_source src, struct problems *p)
{
	struct topology_needs needs;
	struct topology_file *files;
	struct topology *t;
	struct arena a;

	arena_init(&a);
	topology_needs(&src, &a, &needs);
	files = arena_alloc(&a, (needs.list.n + 1) * sizeof(*files));
	for (size_t i = 0; i < needs.list.n; i++) {
		struct topology_file *f = &files[src.n_files];
		autofree char *path = mem_printf("topologies/%s", needs.list.v[i].name);
		autofree char *text = NULL;
		struct err err = ERR_INIT;

		if (file_read(path, &text, &f->len, &err))
			continue;
		f->name = needs.list.v[i].name;
		f->text = arena_strndup(&a, text, f->len);
		src.n_files++;
	}
	src.files = files;
	t = topology_parse(&src, p);
	arena_done(&a);
	return t;
}

#endif
