/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal: a result as a table that fits 100 columns, in UTF-8. */
#ifndef VPCLAB_REPORT_TERMINAL_H
#define VPCLAB_REPORT_TERMINAL_H

#include "core/base/str.h"
#include "core/harness/result.h"

void terminal_print(const struct run_result *r, bool color, struct strbuf *out);

/* Adds `text`, with `color` in the colour of the verdict. */
void terminal_verdict(struct strbuf *out, enum verdict v, bool color, const char *text);

#endif
