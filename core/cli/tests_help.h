/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests_help: `vpclab help tests`, from the engines' own table. */
#ifndef VPCLAB_CLI_TESTS_HELP_H
#define VPCLAB_CLI_TESTS_HELP_H

#include "core/base/str.h"

void tests_help(struct strbuf *out);

#endif
