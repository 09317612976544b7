/* SPDX-License-Identifier: GPL-2.0-or-later */
/* data: the files that vpclab ships, topologies and scenarios: found by name. */
#ifndef VPCLAB_CLI_DATA_H
#define VPCLAB_CLI_DATA_H

#include "core/base/err.h"
#include "core/base/mem.h"

#define DATA_TOPOLOGIES "topologies"
#define DATA_SCENARIOS	"scenarios"

/*
 * The path of what the user named: "-" and existing files are themselves, else NAME is a shipped
 * KIND/NAME.yaml: installed beside the program, in the checkout that it was built in, or below the
 * current directory. Gives a heap string. -ENOENT with a suggestion (bad input).
 */
int data_find(const char *kind, const char *name, char **path, struct err *err);

/* The path of the schema of a KIND, a heap string. -ENOENT where it is not installed. */
int data_schema(const char *kind, char **path, struct err *err);

/* The names of all shipped files of a kind, each once, sorted. Texts in `a`. */
struct data_names {
	VEC(const char *) list;
};
void data_names(const char *kind, struct arena *a, struct data_names *out);

#endif
