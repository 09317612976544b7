/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * searches: what searches for rates found, as text for a terminal and as JSON: goals by loss
 * (search.h), RFC 2544, RFC 6349. In JSON units are in the names; what is not known is null.
 */
#ifndef VPCLAB_REPORT_SEARCHES_H
#define VPCLAB_REPORT_SEARCHES_H

#include <jansson.h>

#include "core/base/str.h"
#include "core/harness/rfc2544.h"
#include "core/harness/rfc6349.h"

void searches_text(const struct search *s, int64_t payload, struct strbuf *out);
json_t *searches_json(const struct search *s); /* gives a reference, as do those below */

void searches_rfc2544_text(const struct rfc2544 *r, const struct rfc2544_options *o,
			   struct strbuf *out);
json_t *searches_rfc2544_json(const struct rfc2544 *r, const struct rfc2544_options *o);

void searches_rfc6349_text(const struct rfc6349 *r, struct strbuf *out);
json_t *searches_rfc6349_json(const struct rfc6349 *r);

#endif
