/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inside: runs a program of the user's inside a node, on the user's terminal, until it ends. */
#ifndef VPCLAB_CLI_INSIDE_H
#define VPCLAB_CLI_INSIDE_H

#include "core/base/proc.h"
#include "core/cli/source.h"

/*
 * Gives the program's exit status as a shell would (128 + signal), or a negative errno when it
 * could not be started; a program that is not there is bad input. Signals that are sent to vpclab
 * are passed on to it.
 */
int inside_run(const struct source *lab, int node, const struct proc_spec *spec, struct err *err);

#endif
