// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * language: what may be written into a topology or scenario, read from the JSON schema that editors
 * use too, so that there is one description only. Unit tests hold the schema against the parsers.
 *
 * It understands the part of JSON Schema that ours use. Called by cmd_help.c and cmd_man.c.
 */
#include "core/cli/language.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/cli/data.h"

#define SECTIONS_MAX 32
#define WIDTH	     96 /* of a line of text */
#define KEY_WIDTH    18

struct section { /* one kind of map */
	const char *name;
	const json_t *schema;
};

struct language {
	const json_t *root;
	enum language_face face;
	struct strbuf *out;
	struct section sections[SECTIONS_MAX];
	size_t n;
};

static const char *text_of(const json_t *j, const char *key)
{
	return json_string_value(json_object_get(j, key));
}

static const char *reference(const json_t *schema)
{
	const char *ref = text_of(schema, "$ref");

	return ref ? strrchr(ref, '/') + 1 : NULL;
}

static const json_t *resolve(const struct language *l, const json_t *schema)
{
	const char *name = reference(schema);

	return name ? json_object_get(json_object_get(l->root, "$defs"), name) : schema;
}

static bool is_type(const json_t *schema, const char *type)
{
	const json_t *t = json_object_get(schema, "type"), *one;
	size_t i;

	if (json_is_string(t))
		return str_eq(json_string_value(t), type);
	json_array_foreach((json_t *)t, i,
			   one) if (str_eq(json_string_value(one), type)) return true;
	return false;
}

/* A map with keys of its own gets a section, once. */
static const char *section_of(struct language *l, const json_t *schema, const char *key)
{
	const char *name = reference(schema);
	const json_t *map = resolve(l, schema);

	if (!json_object_get(map, "properties"))
		return NULL;
	for (size_t i = 0; i < l->n; i++)
		if (l->sections[i].schema == map)
			return l->sections[i].name;
	if (l->n < SECTIONS_MAX)
		l->sections[l->n++] = (struct section){name ? name : key, map};
	return name ? name : key;
}

static void add_value(const json_t *v, struct strbuf *out)
{
	if (json_is_string(v))
		strbuf_add(out, json_string_value(v));
	else if (json_is_boolean(v))
		strbuf_add(out, json_is_true(v) ? "true" : "false");
	else
		strbuf_addf(out, "%lld", (long long)json_integer_value(v));
}

static void add_values(const json_t *list, const char *between, struct strbuf *out)
{
	const json_t *v;
	size_t i;

	json_array_foreach((json_t *)list, i, v)
	{
		strbuf_add(out, i ? between : "");
		add_value(v, out);
	}
}

static void add_type(struct language *l, const json_t *schema, const char *key, struct strbuf *out);

static void add_number(const json_t *schema, struct strbuf *out)
{
	const json_t *min = json_object_get(schema, "minimum");
	const json_t *max = json_object_get(schema, "maximum");

	strbuf_add(out, "number");
	if (min)
		strbuf_addf(out, max ? " %lld" : " from %lld", (long long)json_integer_value(min));
	if (max)
		strbuf_addf(out, " to %lld", (long long)json_integer_value(max));
}

/* "map of vm", "map": by what its values are. */
static void add_map(struct language *l, const json_t *schema, const char *key, struct strbuf *out)
{
	const json_t *values = json_object_get(schema, "additionalProperties");
	const char *section = section_of(l, schema, key);

	if (section) {
		strbuf_addf(out, "map, see %s", section);
	} else if (json_is_object(values) && section_of(l, values, key)) {
		strbuf_addf(out, "map of maps, see %s", section_of(l, values, key));
	} else {
		strbuf_add(out, "map");
	}
}

/* Alternatives, each way of saying it once. */
static void add_choice(struct language *l, const json_t *list, const char *key, struct strbuf *out)
{
	struct strbuf all = {0};
	const json_t *one;
	size_t i;

	json_array_foreach((json_t *)list, i, one)
	{
		struct strbuf form = {0};

		add_type(l, one, key, &form);
		if (!all.len || !strstr(strbuf_text(&all), strbuf_text(&form)))
			strbuf_addf(&all, "%s%s", all.len ? " or " : "", strbuf_text(&form));
		strbuf_done(&form);
	}
	strbuf_add(out, strbuf_text(&all));
	strbuf_done(&all);
}

static void add_type(struct language *l, const json_t *schema, const char *key, struct strbuf *out)
{
	const json_t *s = resolve(l, schema);
	const json_t *choice = json_object_get(s, "anyOf");

	choice = choice ? choice : json_object_get(s, "oneOf");
	if (json_object_get(s, "const")) {
		add_value(json_object_get(s, "const"), out);
	} else if (json_object_get(s, "enum")) {
		add_values(json_object_get(s, "enum"), " | ", out);
	} else if (is_type(s, "object")) {
		add_map(l, schema == s ? s : schema, key, out);
	} else if (is_type(s, "array")) {
		const json_t *items = json_object_get(s, "items");
		const char *section = section_of(l, items, key);

		strbuf_addf(out, section ? "list of maps, see %s" : "list of ", section);
		if (!section)
			add_type(l, items, key, out);
	} else if (text_of(s, "format")) {
		strbuf_add(out, "address");
	} else if (choice) {
		add_choice(l, choice, key, out);
	} else if (is_type(s, "boolean")) {
		strbuf_add(out, "true | false");
	} else if (is_type(s, "integer") && !is_type(s, "string")) {
		add_number(s, out);
	} else {
		strbuf_add(out, "text");
	}
}

static bool is_required(const json_t *map, const char *key)
{
	const json_t *list = json_object_get(map, "required"), *one;
	size_t i;

	json_array_foreach((json_t *)list, i,
			   one) if (str_eq(json_string_value(one), key)) return true;
	return false;
}

/* "TYPE (needed; default X): description" */
static void add_meaning(struct language *l, const json_t *map, const char *key,
			const json_t *schema, struct strbuf *out)
{
	const json_t *s = resolve(l, schema), *usual = json_object_get(schema, "default");
	const char *description = text_of(schema, "description");
	bool needed = is_required(map, key);

	usual = usual ? usual : json_object_get(s, "default");
	description = description ? description : text_of(s, "description");
	add_type(l, schema, key, out);
	if (needed || usual) {
		strbuf_add(out, needed ? " (needed" : " (default ");
		if (!needed)
			add_value(usual, out);
		strbuf_add(out, ")");
	}
	if (description)
		strbuf_addf(out, ": %s", description);
}

/* Words up to WIDTH, further lines below the first. */
static void add_wrapped(struct strbuf *out, const char *s, int indent)
{
	int column = indent;

	while (*s) {
		size_t n = strcspn(s, " ");
		int wide = 0;

		for (size_t i = 0; i < n; i++)
			wide += ((unsigned char)s[i] & 0xc0) != 0x80;
		if (column > indent && column + 1 + wide > WIDTH) {
			strbuf_addf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			strbuf_addc(out, ' ');
			column++;
		}
		strbuf_addf(out, "%.*s", (int)n, s);
		column += wide;
		s += n + (s[n] == ' ');
	}
	strbuf_addc(out, '\n');
}

/* Text for man(7): backslashes and hyphens as themselves. */
static void add_escaped(struct strbuf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\')
			strbuf_add(out, "\\e");
		else if (*s == '-')
			strbuf_add(out, "\\-");
		else
			strbuf_addc(out, *s);
	}
	strbuf_addc(out, '\n');
}

static void print_key(struct language *l, const char *key, const char *meaning)
{
	if (l->face == LANGUAGE_MAN) {
		strbuf_addf(l->out, ".TP\n.B ");
		add_escaped(l->out, key);
		add_escaped(l->out, meaning);
		return;
	}
	strbuf_addf(l->out, "  %-*s ", KEY_WIDTH - 3, key);
	add_wrapped(l->out, meaning, KEY_WIDTH);
}

static void print_heading(struct language *l, const char *name, const char *description)
{
	if (l->face == LANGUAGE_MAN) {
		strbuf_addf(l->out, ".SS ");
		add_escaped(l->out, name);
		if (description)
			add_escaped(l->out, description);
		return;
	}
	strbuf_addf(l->out, "\n%s", name);
	strbuf_add(l->out, description ? ": " : "");
	add_wrapped(l->out, description ? description : "", (int)strlen(name) + 2);
}

static void print_section(struct language *l, const struct section *s)
{
	const char *key;
	json_t *value;

	if (s->schema != l->root)
		print_heading(l, s->name, text_of(s->schema, "description"));
	json_object_foreach(json_object_get(s->schema, "properties"), key, value)
	{
		struct strbuf meaning = {0};

		add_meaning(l, s->schema, key, value, &meaning);
		print_key(l, key, strbuf_text(&meaning));
		strbuf_done(&meaning);
	}
}

/* Sections come in as their keys are printed, so each is after the one that names it first. */
static void print_all(struct language *l)
{
	const char *description = text_of(l->root, "description");

	if (l->face == LANGUAGE_MAN)
		add_escaped(l->out, description);
	else
		add_wrapped(l->out, description, 0);
	if (l->face == LANGUAGE_TEXT)
		strbuf_addc(l->out, '\n');
	l->sections[l->n++] = (struct section){"file", l->root};
	for (size_t i = 0; i < l->n; i++)
		print_section(l, &l->sections[i]);
}

int language_print(const char *kind, enum language_face face, struct strbuf *out, struct err *err)
{
	autofree char *path = NULL, *text = NULL;
	struct language l = {.face = face, .out = out};
	json_error_t why;
	size_t len;
	int r = data_schema(kind, &path, err);

	if (!r)
		r = file_read(path, &text, &len, err);
	if (r)
		return r;
	json_t *root = json_loadb(text, len, 0, &why);
	if (!root)
		return err_fail(err, EINVAL, "%s:%d: %s", path, why.line, why.text);
	l.root = root;
	print_all(&l);
	json_decref(root);
	return 0;
}
