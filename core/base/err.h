/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err: one error, made where it happened, wrapped once a level, printed once in cli/.
 *
 * Every fallible function returns 0 or a negative errno and takes `struct err *err` last. The error
 * also carries a kind, from which the exit status of the program follows (err_exit_status()).
 */
#ifndef VPCLAB_BASE_ERR_H
#define VPCLAB_BASE_ERR_H

enum err_kind {
	ERR_NONE,
	ERR_SYSTEM,	  /* the system refused: exit 1 */
	ERR_INPUT,	  /* usage or a bad file: exit 2 */
	ERR_INCONCLUSIVE, /* the machine was the limit: exit 3 */
	ERR_UNSUPPORTED,  /* this kernel, user or system cannot do it: exit 4 */
};

struct err {
	enum err_kind kind;
	int code; /* positive errno */
	char text[2048];
};

#define ERR_INIT ((struct err){0})

/* Sets a system error; `code` is a positive errno whose strerror() is appended. Returns -code. */
int err_sys(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Sets an error of bad input (code EINVAL); nothing is appended. Returns -EINVAL. */
int err_input(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets an error of a missing feature (code ENOTSUP); say the fallback or the package. */
int err_unsupported(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets a plain failure that has no errno (code `code`, kind ERR_SYSTEM, nothing appended). */
int err_fail(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "CONTEXT: " before the text that is there. Returns -err->code (-EIO where none is set). */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The exit status of the program for this error: 1, 2, 3 or 4. */
int err_exit_status(const struct err *err);

#endif
