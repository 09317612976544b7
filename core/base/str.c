/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * str: text that grows, small comparisons, shell quoting and the nearest word. It knows bytes, not
 * characters. Called by everybody who prints or reads text.
 */
#include "core/base/str.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

#define SUGGEST_MAX 64 /* longer words get no suggestion */

void strbuf_done(struct strbuf *b)
{
	free(b->s);
	*b = (struct strbuf){0};
}

/* Room for n more bytes and the NUL. */
static void reserve(struct strbuf *b, size_t n)
{
	size_t want = b->len + n + 1;

	if (want <= b->cap)
		return;
	if (want < b->cap * 2)
		want = b->cap * 2;
	if (want < 64)
		want = 64;
	b->s = mem_realloc(b->s, want);
	b->cap = want;
}

void strbuf_addn(struct strbuf *b, const char *s, size_t n)
{
	reserve(b, n);
	if (n)
		memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void strbuf_add(struct strbuf *b, const char *s)
{
	strbuf_addn(b, s, strlen(s));
}

void strbuf_addc(struct strbuf *b, char c)
{
	strbuf_addn(b, &c, 1);
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	strbuf_add(b, text);
}

const char *strbuf_text(const struct strbuf *b)
{
	return b->s ? b->s : "";
}

char *strbuf_take(struct strbuf *b)
{
	char *s = b->s ? b->s : mem_strdup("");

	*b = (struct strbuf){0};
	return s;
}

bool str_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	return len >= n && strcmp(s + len - n, suffix) == 0;
}

static bool shell_safe(const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_@%+:,./-=";

	return *s && *s != '=' && s[strspn(s, safe)] == '\0';
}

void str_shell_quote(struct strbuf *b, const char *s)
{
	if (shell_safe(s)) {
		strbuf_add(b, s);
		return;
	}
	strbuf_addc(b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			strbuf_add(b, "'\\''");
		else
			strbuf_addc(b, *s);
	}
	strbuf_addc(b, '\'');
}

static int lower(char c)
{
	return tolower((unsigned char)c);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* Edits from a to b, a swap of neighbours counting one (optimal string alignment), case ignored. */
static unsigned distance(const char *a, size_t len_a, const char *b, size_t len_b)
{
	unsigned row[3][SUGGEST_MAX + 1]; /* of i - 2, i - 1 and i, by turns */

	for (size_t j = 0; j <= len_b; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= len_a; i++) {
		unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= len_b; j++) {
			unsigned change = lower(a[i - 1]) != lower(b[j - 1]);

			now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + change);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				now[j] = min3(now[j], before[j - 2] + 1, now[j]);
		}
	}
	return row[len_a % 3][len_b];
}

const char *str_suggest(const char *word, const char *const *candidates, size_t n)
{
	size_t len = strlen(word);
	unsigned best = len / 3 > 1 ? (unsigned)(len / 3) : 1;
	const char *found = NULL;

	if (!len || len > SUGGEST_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t len_c = candidates[i] ? strlen(candidates[i]) : 0;
		unsigned d;

		if (!len_c || len_c > SUGGEST_MAX)
			continue;
		d = distance(word, len, candidates[i], len_c);
		if (d >= (len > len_c ? len : len_c)) /* nothing in common */
			continue;
		if (d < best || (d == best && !found)) {
			best = d;
			found = candidates[i];
		}
	}
	return found;
}

/* Length of the valid UTF-8 character at s (RFC 3629: no surrogates, no overlong forms), or 0. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	static const struct {
		unsigned char first_min, first_max, second_min, second_max, length;
	} form[] = {
	    {0x01, 0x7f, 0, 0, 1},	 {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(form); i++) {
		if (s[0] < form[i].first_min || s[0] > form[i].first_max)
			continue;
		if (form[i].length > left)
			return 0;
		if (form[i].length > 1 && (s[1] < form[i].second_min || s[1] > form[i].second_max))
			return 0;
		for (size_t k = 2; k < form[i].length; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return form[i].length;
	}
	return 0;
}

size_t str_bad_byte(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t n = utf8_length((const unsigned char *)text + i, len - i);

		if (!n)
			break;
		i += n;
	}
	return i;
}

void str_add_line(struct strbuf *b, const char *s, size_t most)
{
	size_t end = b->len + most, left = strlen(s);

	while (left) {
		size_t n = utf8_length((const unsigned char *)s, left);
		unsigned char c = (unsigned char)*s;

		if (b->len >= end) {
			strbuf_add(b, "…");
			return;
		}
		if (!n)
			strbuf_add(b, "\xef\xbf\xbd");
		else if (c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)s[1] < 0xa0))
			strbuf_addc(b, ' ');
		else
			strbuf_addn(b, s, n);
		s += n ? n : 1;
		left -= n ? n : 1;
	}
}
