/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern: PCRE2 behind a few calls. Called by adapter.c and reading.c. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "core/tools/pattern.h"

#include <pcre2.h>
#include <stdlib.h>

#include "core/base/mem.h"

struct pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	const char *subject; /* of the last match, borrowed */
	bool gave_up;
};

int pattern_new(const char *text, struct pattern **out, struct err *err)
{
	PCRE2_UCHAR why[256];
	PCRE2_SIZE at;
	int code;
	pcre2_code *c = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE,
				      &code, &at, NULL);

	if (!c) {
		pcre2_get_error_message(code, why, sizeof(why));
		return err_input(err, "'%s' is no regular expression: %s, at character %zu", text,
				 (const char *)why, (size_t)at + 1);
	}
	*out = mem_zalloc(sizeof(**out));
	(*out)->code = c;
	(*out)->match = pcre2_match_data_create_from_pattern(c, NULL);
	return 0;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	pcre2_match_data_free(p->match);
	pcre2_code_free(p->code);
	free(p);
}

bool pattern_has(const struct pattern *p, const char *capture)
{
	return pcre2_substring_number_from_name(p->code, (PCRE2_SPTR)capture) > 0;
}

bool pattern_next(struct pattern *p, const char *text, size_t len, size_t *at)
{
	int n =
	    *at > len ? -1 : pcre2_match(p->code, (PCRE2_SPTR)text, len, *at, 0, p->match, NULL);

	if (n < 0) {
		p->gave_up = *at <= len && n != PCRE2_ERROR_NOMATCH;
		return false;
	}
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(p->match);

	p->subject = text;
	*at = v[1] > v[0] ? v[1] : v[1] + 1; /* an empty match must not stand still */
	return true;
}

bool pattern_gave_up(const struct pattern *p)
{
	return p->gave_up;
}

bool pattern_get(const struct pattern *p, const char *capture, struct strbuf *out)
{
	int i = pcre2_substring_number_from_name(p->code, (PCRE2_SPTR)capture);
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(p->match);

	if (i <= 0 || (uint32_t)i >= pcre2_get_ovector_count(p->match) || v[2 * i] == PCRE2_UNSET)
		return false;
	strbuf_addn(out, p->subject + v[2 * i], v[2 * i + 1] - v[2 * i]);
	return true;
}
