/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yaml_want: what readers of a schema ask of nodes; each wrong node becomes a problem where it
 * stands. It parses no numbers (units does). The other half of yaml.h.
 */
#include "core/base/yaml.h"

#include <string.h>

#define NAME_MAX_BYTES 64

struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return NULL;
	VEC_FOREACH (pair, &map->pairs)
		if (str_eq(pair->key, key))
			return pair->value;
	return NULL;
}

const char *yaml_kind_name(const struct yaml_node *n)
{
	switch (n ? n->kind : YAML_NULL) {
	case YAML_SCALAR:
		return "a text";
	case YAML_SEQ:
		return "a list";
	case YAML_MAP:
		return "a map";
	case YAML_NULL:
		break;
	}
	return "nothing";
}

static bool is_known(const char *key, const char *const *known, size_t n_known)
{
	for (size_t i = 0; i < n_known; i++)
		if (known[i] && str_eq(key, known[i]))
			return true;
	return false;
}

void yaml_check_keys(const struct yaml_node *map, const char *what, const char *const *known,
		     size_t n_known, struct problems *p)
{
	if (!map || map->kind != YAML_MAP)
		return;
	VEC_FOREACH (pair, &map->pairs) {
		const char *near;

		if (is_known(pair->key, known, n_known))
			continue;
		near = str_suggest(pair->key, known, n_known);
		if (near)
			problems_add(p, pair->key_at, "unknown key '%s' in %s; did you mean '%s'?",
				     pair->key, what, near);
		else
			problems_add(p, pair->key_at, "unknown key '%s' in %s", pair->key, what);
	}
}

/* The node when it is of that kind, else NULL and a problem; NULL gives NULL. */
static const struct yaml_node *want(const struct yaml_node *n, enum yaml_kind kind,
				    const char *what, struct problems *p)
{
	struct yaml_node wanted = {.kind = kind};

	if (!n || n->kind == kind)
		return n;
	problems_add(p, n->at, "'%s' must be %s, this is %s", what, yaml_kind_name(&wanted),
		     yaml_kind_name(n));
	return NULL;
}

const char *yaml_want_text(const struct yaml_node *n, const char *what, struct problems *p)
{
	n = want(n, YAML_SCALAR, what, p);
	return n ? n->text : NULL;
}

const char *yaml_want_name(const struct yaml_node *n, const char *what, struct problems *p)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";
	const char *text = yaml_want_text(n, what, p);
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return "";
	if (len >= 1 && len <= NAME_MAX_BYTES && strspn(text, letters) == len &&
	    !strchr("-_.", text[0]))
		return text;
	autostr struct strbuf said = {0};
	str_add_line(&said, text, 80);
	problems_add(p, n->at,
		     "%s: '%s' is no name: 1 to %d letters, digits, '-', '_' and '.', and the "
		     "first is a letter or a digit",
		     what, strbuf_text(&said), NAME_MAX_BYTES);
	return "";
}

const struct yaml_node *yaml_want_map(const struct yaml_node *n, const char *what,
				      struct problems *p)
{
	return want(n, YAML_MAP, what, p);
}

const struct yaml_node *yaml_want_seq(const struct yaml_node *n, const char *what,
				      struct problems *p)
{
	return want(n, YAML_SEQ, what, p);
}

void yaml_want_bool(const struct yaml_node *n, const char *what, bool *v, struct problems *p)
{
	if (!n)
		return;
	if (n->kind == YAML_SCALAR && str_eq(n->text, "true"))
		*v = true;
	else if (n->kind == YAML_SCALAR && str_eq(n->text, "false"))
		*v = false;
	else if (n->kind == YAML_SCALAR)
		problems_add(p, n->at, "'%s' must be true or false, this is '%s'", what, n->text);
	else
		problems_add(p, n->at, "'%s' must be true or false, this is %s", what,
			     yaml_kind_name(n));
}
