/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scripts_help: `vpclab help scripts`: the language of pairs, and the scripts that are shipped. */
#ifndef VPCLAB_CLI_SCRIPTS_HELP_H
#define VPCLAB_CLI_SCRIPTS_HELP_H

#include "core/base/str.h"

void scripts_help(struct strbuf *out);

#endif
