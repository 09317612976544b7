/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source: what a command works on, a topology file or a running lab, down to its wire model. */
#ifndef VPCLAB_CLI_SOURCE_H
#define VPCLAB_CLI_SOURCE_H

#include "core/cli/command.h"
#include "emulator/lab/lab.h"
#include "emulator/lab/load.h"
#include "emulator/model/topology.h"

struct source {
	char *path, *text; /* of the file; NULL for a running lab */
	size_t len;
	struct load load;		/* the topology; empty for a running lab */
	struct compile_options compile; /* of a running lab: with the machine as measured then */
	struct lab *lab;		/* NULL for a file */
	struct wire wire;		/* compiled, when opening gave 0 */
};

/*
 * Opens a topology: a file, "-", or the name of a shipped one. Problems of the file are printed to
 * standard error. Gives 0, EXIT_USAGE after problems, or a negative errno. source_done() is needed
 * in either case.
 */
int source_open_file(const char *name, const struct option_list *sets, const struct machine *m,
		     struct source *out, struct err *err);

/* The same for a running lab; name NULL: the only one. */
int source_open_lab(const char *name, struct source *out, struct err *err);

/* A running lab of that name where there is one, else a file; name NULL: the only lab. */
int source_open(const char *name, struct source *out, struct err *err);

void source_done(struct source *s);

/*
 * The node that "[LAB:]NODE" names, in its opened lab. NODE may be an endpoint ("eip(web)") too.
 * Gives 0 and the node's index, or -ENOENT with a suggestion. `s` as above.
 */
int source_open_node(const char *text, struct source *s, int *node, struct err *err);

/*
 * Opens the lab of "[LAB:]LINK", where LINK may be "NODE:DEV": what is before the first colon is a
 * lab when there is one of that name, else all of it is a link of the only lab. *link, a part of
 * `text`, is for link_find(), which judges it. `s` as above.
 */
int source_open_link(const char *text, struct source *s, const char **link, struct err *err);

#endif
