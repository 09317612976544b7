/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yaml: YAML 1.2 documents as a tree of plain nodes with positions (libfyaml does the parsing).
 *
 * Anchors, aliases and merge keys are resolved. Duplicate keys and syntax errors are problems with
 * a position. Nodes live as long as the document.
 */
#ifndef VPCLAB_BASE_YAML_H
#define VPCLAB_BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/problems.h"

enum yaml_kind { YAML_NULL, YAML_SCALAR, YAML_SEQ, YAML_MAP };

struct yaml_node;
struct yaml_pair {
	const char *key;
	struct mark key_at;
	struct yaml_node *value;
};

struct yaml_node {
	enum yaml_kind kind;
	struct mark at;
	const char *text;	       /* YAML_SCALAR: the text as written, unquoted */
	bool quoted;		       /* YAML_SCALAR: was in quotes */
	VEC(struct yaml_node *) items; /* YAML_SEQ */
	VEC(struct yaml_pair) pairs;   /* YAML_MAP, in file order */
};

struct yaml {
	struct arena arena;
	struct yaml_node *root; /* never NULL: an empty document is YAML_NULL */
};

/*
 * Parses `text`; `name` is what problems call the file. Returns 0, or -EINVAL when the text is not
 * YAML (problems say where). yaml_done() is needed in either case.
 */
int yaml_parse(struct yaml *y, const char *name, const char *text, size_t len, struct problems *p);
void yaml_done(struct yaml *y);

struct yaml_node *yaml_get(const struct yaml_node *map, const char *key); /* NULL when absent */
const char *yaml_kind_name(const struct yaml_node *n); /* "a text", "a list", "a map", "nothing" */

/* The node in flow style, as a "path=value" takes it: a text alone as it is. */
void yaml_write_value(const struct yaml_node *n, struct strbuf *out);

/*
 * Adds a problem for each key of `map` that is not in the list ("unknown key 'rat' in link; did you
 * mean 'rate'?"); `what` names the thing.
 */
void yaml_check_keys(const struct yaml_node *map, const char *what, const char *const *known,
		     size_t n_known, struct problems *p);

/*
 * The scalar, seq or map wanted, or NULL after adding a problem ("'hosts' must be a map, this is a
 * list"). NULL node gives NULL with no problem, so optional keys are one call:
 *   const char *s = yaml_want_text(yaml_get(map, "host"), "host", p);
 */
const char *yaml_want_text(const struct yaml_node *n, const char *what, struct problems *p);
/* A name of the writer's own, which becomes a part of file names, tables and reports: 1 to 64
 * letters, digits, '-', '_', '.', the first none of those three. "" after adding a problem. */
const char *yaml_want_name(const struct yaml_node *n, const char *what, struct problems *p);
const struct yaml_node *yaml_want_map(const struct yaml_node *n, const char *what,
				      struct problems *p);
const struct yaml_node *yaml_want_seq(const struct yaml_node *n, const char *what,
				      struct problems *p);
/* true/false; anything else is a problem and leaves *v alone. NULL leaves *v alone. */
void yaml_want_bool(const struct yaml_node *n, const char *what, bool *v, struct problems *p);

#endif
