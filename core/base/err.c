/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err: fills `struct err`. It decides no policy and prints nothing; every layer calls it, cli/
 * prints the text and takes the exit status from the kind.
 */
#include "core/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* A text that was cut ends with a whole character: half of one is no UTF-8, which JSON refuses. */
static void drop_half_character(char *text, size_t size)
{
	size_t len = strlen(text), at = len;

	if (len + 1 < size)
		return;
	while (at && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
		at--;
	unsigned char first = at ? (unsigned char)text[at - 1] : 0;
	size_t whole = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

	if (whole > 1 && len - at + 1 < whole)
		text[at - 1] = '\0';
}

static void set_text(struct err *err, const char *fmt, va_list ap)
{
	char text[sizeof(err->text)]; /* the arguments may point into err->text */

	vsnprintf(text, sizeof(text), fmt, ap);
	drop_half_character(text, sizeof(text));
	memcpy(err->text, text, strlen(text) + 1);
}

static void append(char *text, size_t size, const char *more)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, ": %s", more);
	drop_half_character(text, size);
}

/* EMFILE alone does not say how many were too many. */
static const char *reason_of(int code, char *text, size_t size)
{
	char reason[96];
	const char *why = strerror_r(code, reason, sizeof(reason));
	struct rlimit files;

	if (code != EMFILE || getrlimit(RLIMIT_NOFILE, &files) < 0)
		snprintf(text, size, "%s", why);
	else
		snprintf(text, size, "%s (the limit is %llu: raise it with ulimit -n)", why,
			 (unsigned long long)files.rlim_cur);
	return text;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
	char reason[160];
	va_list ap;

	if (!err)
		return -code;
	va_start(ap, fmt);
	set_text(err, fmt, ap);
	va_end(ap);
	append(err->text, sizeof(err->text), reason_of(code, reason, sizeof(reason)));
	err->kind = ERR_SYSTEM;
	err->code = code;
	return -code;
}

/* The three that differ in kind and code alone. */
#define SET(err, the_kind, the_code, fmt)                                                          \
	do {                                                                                       \
		va_list ap_;                                                                       \
		if (!(err))                                                                        \
			return -(the_code);                                                        \
		va_start(ap_, fmt);                                                                \
		set_text(err, fmt, ap_);                                                           \
		va_end(ap_);                                                                       \
		(err)->kind = (the_kind);                                                          \
		(err)->code = (the_code);                                                          \
		return -(the_code);                                                                \
	} while (0)

int err_input(struct err *err, const char *fmt, ...)
{
	SET(err, ERR_INPUT, EINVAL, fmt);
}

int err_unsupported(struct err *err, const char *fmt, ...)
{
	SET(err, ERR_UNSUPPORTED, ENOTSUP, fmt);
}

int err_fail(struct err *err, int code, const char *fmt, ...)
{
	SET(err, ERR_SYSTEM, code, fmt);
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;

	if (!err)
		return -EIO;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	set_text(err, fmt, ap);
	va_end(ap);
	append(err->text, sizeof(err->text), old);
	return err->code ? -err->code : -EIO; /* nobody set it: a mistake, but never a success */
}

int err_exit_status(const struct err *err)
{
	switch (err->kind) {
	case ERR_NONE:
		return 0;
	case ERR_INPUT:
		return 2;
	case ERR_INCONCLUSIVE:
		return 3;
	case ERR_UNSUPPORTED:
		return 4;
	case ERR_SYSTEM:
		break;
	}
	return 1;
}
