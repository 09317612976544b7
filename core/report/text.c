// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text: widths, padding and wrapping of UTF-8 text on a terminal, for terminal.c and `vpclab
 * measure`. Knows nothing of results, and of Unicode only that a continuation byte takes no column.
 */
#include "core/report/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool text_color(int fd)
{
	const char *no = getenv("NO_COLOR");

	return isatty(fd) && !(no && *no);
}

size_t text_columns(int fd)
{
	struct winsize size;

	return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : TEXT_COLUMNS;
}

size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void text_pad(struct strbuf *out, const char *s, size_t width)
{
	strbuf_add(out, s);
	for (size_t n = text_width(s); n < width; n++)
		strbuf_addc(out, ' ');
}

void text_spaces(struct strbuf *out, size_t n)
{
	while (n--)
		strbuf_addc(out, ' ');
}

/* Columns of the first word. */
static size_t word_width(const char *s, size_t *bytes)
{
	size_t n = 0;

	for (*bytes = 0; s[*bytes] && s[*bytes] != ' ' && s[*bytes] != '\n'; ++*bytes)
		n += ((unsigned char)s[*bytes] & 0xc0) != 0x80;
	return n;
}

void text_wrap(struct strbuf *out, const char *text, size_t column, size_t indent)
{
	bool first = true;

	while (*text) {
		size_t bytes, width = word_width(text, &bytes);

		if (!bytes) { /* an empty line stays one, other line ends are spaces */
			if (text[0] == '\n' && text[1] == '\n') {
				strbuf_addc(out, '\n');
				strbuf_addc(out, '\n');
				text_spaces(out, indent);
				column = indent;
				first = true;
				text++;
			}
			text++;
			continue;
		}
		if (!first && column + 1 + width > TEXT_COLUMNS) {
			strbuf_addc(out, '\n');
			text_spaces(out, indent);
			column = indent;
		} else if (!first) {
			strbuf_addc(out, ' ');
			column++;
		}
		strbuf_addn(out, text, bytes);
		column += width;
		text += bytes;
		first = false;
	}
}
