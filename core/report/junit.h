/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * junit: expectations as the XML that CI systems read (the common subset of Jenkins, GitLab,
 * GitHub). One test case an expectation; inconclusive and skip are `skipped` with a message, a
 * measurement that never worked is an `error`.
 */
#ifndef VPCLAB_REPORT_JUNIT_H
#define VPCLAB_REPORT_JUNIT_H

#include "core/base/str.h"
#include "core/harness/result.h"

void junit_print(const struct run_result *r, struct strbuf *out);

/* Text for an attribute or an element: &, <, >, quotes; characters that XML 1.0 forbids become
 * U+FFFD. */
void junit_escape(struct strbuf *out, const char *s);

#endif
