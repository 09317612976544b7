/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pattern: regular expressions with named captures, by PCRE2 (pcre2pattern(3)), lines as `^` and
 * `$` see them.
 */
#ifndef VPCLAB_TOOLS_PATTERN_H
#define VPCLAB_TOOLS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/base/str.h"

struct pattern;

/* -EINVAL says where in the expression. */
int pattern_new(const char *text, struct pattern **out, struct err *err);
void pattern_free(struct pattern *p); /* NULL is nothing */
bool pattern_has(const struct pattern *p, const char *capture);

/* The next match in text[*at…]; moves *at behind it. False: none. Captures are of the last match.
 */
bool pattern_next(struct pattern *p, const char *text, size_t len, size_t *at);
/* After the last pattern_next(): it was false because trying took too long (pcre2api(3), match
 * limit), so that nobody knows whether there is a match. */
bool pattern_gave_up(const struct pattern *p);
/* Adds a capture's text; false: it took no part in the match. */
bool pattern_get(const struct pattern *p, const char *capture, struct strbuf *out);

#endif
