/* SPDX-License-Identifier: GPL-2.0-or-later */
/* data: the files that vpclab ships, topologies, scenarios and profiles: found by name. */
#ifndef VPCLAB_CLI_DATA_H
#define VPCLAB_CLI_DATA_H

#include <stdbool.h>

#include "core/base/err.h"

#define DATA_TOPOLOGIES "topologies"
#define DATA_SCENARIOS	"scenarios"
#define DATA_PROFILES	"topologies/profiles"
#define DATA_TOOLS	"scenarios/tools"
#define DATA_TRIALS	"scenarios/trials"

/*
 * The path of what the user named: "-" and what has a slash or ends in .yaml or .yml is a file;
 * else NAME is a shipped KIND/NAME.yaml (installed beside the program, in the checkout that it was
 * built in, or below the current directory), and where there is none, a file. So a program or a
 * folder called as a tool, a trial or a topology hides none. Gives a heap string. -ENOENT with a
 * suggestion (bad input).
 */
int data_find(const char *kind, const char *name, char **path, struct err *err);

/* Is the name written as files are, and not as shipped ones? */
bool data_says_file(const char *name);

/* The path of the schema of a KIND, a heap string. -ENOENT where it is not installed. */
int data_schema(const char *kind, char **path, struct err *err);

#endif
