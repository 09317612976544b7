/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_read: what script.c and script_amount.c share while a script is read. Private to them. */
#ifndef VPCLAB_ENGINE_SCRIPT_READ_H
#define VPCLAB_ENGINE_SCRIPT_READ_H

#include "core/engine/script.h"

#define SCRIPT_PLACE 240

struct script_reader {
	struct script *s;
	struct script_group *g;
	struct script_where *where;
	struct err *err;
	const json_t *variables[2]; /* the group's, the script's; or NULL */
	int depth;
	bool timed, timers, connected;
	bool inner; /* the loop that was just read; for the one around it */
};

enum script_unit { SCRIPT_SIZE, SCRIPT_TIME, SCRIPT_COUNT };

struct script_range {
	enum script_unit unit;
	int64_t min, max;
	bool constant; /* nothing random here */
};

/* All give -EINVAL and set the place. script_failed: err has a text; `what` NULL adds nothing. */
int script_fail(struct script_reader *r, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int script_failed(struct script_reader *r, const char *at, const char *what);
int script_unknown(struct script_reader *r, const char *at, const char *what, const char *name,
		   const char *const *names, size_t n);
int script_check_keys(struct script_reader *r, const char *at, const json_t *map,
		      const char *const *names, size_t n);

/* The value of a key and its place; NULL: none (or map is NULL). Borrows. */
const json_t *script_key(struct script_reader *r, const char *at, const json_t *map,
			 const char *key, char place[static SCRIPT_PLACE]);

/* A text or whole number as text; false: it is neither. */
bool script_text(const json_t *j, char *text, size_t size);
/* What a variable stands for, where `j` is the name of one; else j. */
const json_t *script_resolve(struct script_reader *r, const json_t *j);
bool script_is_random(const json_t *j); /* {uniform: …} and such */
int script_amount(struct script_reader *r, const char *at, const json_t *j,
		  const struct script_range *range, struct script_amount *out);

#endif
