/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table: the figures of a result, a column for each path. */
#ifndef VPCLAB_REPORT_TABLE_H
#define VPCLAB_REPORT_TABLE_H

#include "core/base/str.h"
#include "core/harness/result.h"

void table_print(const struct run_result *r, struct strbuf *out);

#endif
