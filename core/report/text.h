/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text: UTF-8 text on a terminal of 100 columns. */
#ifndef VPCLAB_REPORT_TEXT_H
#define VPCLAB_REPORT_TEXT_H

#include <stdbool.h>

#include "core/base/str.h"

#define TEXT_COLUMNS 100

/* Should text on this descriptor be coloured: a terminal, and NO_COLOR is not set (no-color.org)?
 */
bool text_color(int fd);

/* The columns of the terminal on this descriptor; TEXT_COLUMNS where it is none. */
size_t text_columns(int fd);

/* Columns that a text takes; every character used here is one column wide. */
size_t text_width(const char *s);

void text_pad(struct strbuf *out, const char *s, size_t width); /* spaces behind it up to width */
void text_spaces(struct strbuf *out, size_t n);

/* Adds `text`, broken at spaces before column 100. It begins in `column`, later lines in `indent`;
 * single line ends count as spaces, empty lines stay. */
void text_wrap(struct strbuf *out, const char *text, size_t column, size_t indent);

#endif
