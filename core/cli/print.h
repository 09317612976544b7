/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print: what commands write to standard output. */
#ifndef VPCLAB_CLI_PRINT_H
#define VPCLAB_CLI_PRINT_H

#include <jansson.h>

#include "core/base/str.h"

void print_text(const struct strbuf *text); /* to standard output */

/* Prints and drops the reference. Adds "schema_version": 1 to an object. Gives EXIT_PASS. */
int print_json(json_t *j);

#endif
