/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inspect_links: the links of a lab as `vpclab inspect` shows them: limits, impairments, and what
 * became of their packets. */
#ifndef VPCLAB_CLI_INSPECT_LINKS_H
#define VPCLAB_CLI_INSPECT_LINKS_H

#include "core/cli/source.h"
#include "emulator/lab/account.h"

/* A row a direction, aligned. */
void inspect_links_print(const struct source *s, const struct account *a, struct strbuf *out);
/* What nodes themselves threw away, a line each; nothing where none did. */
void inspect_nodes_lost(const struct account *a, struct strbuf *out);

#endif
