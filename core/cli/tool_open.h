/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tool_open: an adapter by its name or file, read and checked. */
#ifndef VPCLAB_CLI_TOOL_OPEN_H
#define VPCLAB_CLI_TOOL_OPEN_H

#include "core/tools/adapter.h"

/*
 * A file, or the name of one in scenarios/tools. Its problems are printed to standard error. Gives
 * 0 and the adapter (adapter_free()), EXIT_USAGE after problems, or a negative errno.
 */
int tool_open(const char *name, struct adapter **out, struct err *err);

#endif
