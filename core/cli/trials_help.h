/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trials_help: `vpclab help trial`: the keys of a trial's file. */
#ifndef VPCLAB_CLI_TRIALS_HELP_H
#define VPCLAB_CLI_TRIALS_HELP_H

#include "core/base/str.h"

void trials_help(struct strbuf *out);

#endif
