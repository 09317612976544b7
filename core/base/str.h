/* SPDX-License-Identifier: GPL-2.0-or-later */
/* str: growing text, comparison helpers, and "did you mean". */
#ifndef VPCLAB_BASE_STR_H
#define VPCLAB_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
	char *s; /* NULL before the first add, then NUL-terminated: read by strbuf_text() */
	size_t len, cap;
};

void strbuf_done(struct strbuf *b);
void strbuf_add(struct strbuf *b, const char *s);
void strbuf_addn(struct strbuf *b, const char *s, size_t n);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_addc(struct strbuf *b, char c);
const char *strbuf_text(const struct strbuf *b); /* borrows; "" when empty */
char *strbuf_take(struct strbuf *b);		 /* gives the heap string, leaves b empty */
#define autostr __attribute__((cleanup(strbuf_done)))

bool str_eq(const char *a, const char *b); /* NULL equals only NULL */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* Offset of the first byte that is not text (NUL, or not UTF-8 by RFC 3629), or len. */
size_t str_bad_byte(const char *text, size_t len);

/*
 * Adds what a stranger wrote, so that it can stand in a line of ours: control characters are
 * blanks, bytes that are no UTF-8 are U+FFFD, and after `most` bytes (of the result, about) "…"
 * stands for the rest.
 */
void str_add_line(struct strbuf *b, const char *s, size_t most);

/* Puts `s` in single quotes for a POSIX shell where that is needed. */
void str_shell_quote(struct strbuf *b, const char *s);

/*
 * The candidate nearest to `word` by edit distance (transposition counts one), or NULL where none
 * is near enough to be worth suggesting (distance over a third of the length, at least 1).
 * `candidates` is an array of n strings; NULL entries are skipped.
 */
const char *str_suggest(const char *word, const char *const *candidates, size_t n);

#endif
