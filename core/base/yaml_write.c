/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yaml_write: a node as text again, on one line. Called by the model and the harness, for values of
 * overrides.
 */
#include <string.h>

#include "core/base/yaml.h"

/* Text that YAML's flow style takes as it is. */
static bool is_plain(const char *s)
{
	return *s && !s[strcspn(s, "{}[],:#&*!|>'\"%@`\\\n\t")] && *s != '-' && *s != '?' &&
	       *s != ' ' && s[strlen(s) - 1] != ' ';
}

static void write_text(const char *text, bool quoted, struct strbuf *out)
{
	if (!quoted && is_plain(text)) {
		strbuf_add(out, text);
		return;
	}
	strbuf_addc(out, '"');
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			strbuf_addc(out, '\\');
		if (*c == '\n')
			strbuf_add(out, "\\n");
		else
			strbuf_addc(out, *c);
	}
	strbuf_addc(out, '"');
}

static void write_flow(const struct yaml_node *n, struct strbuf *out)
{
	switch (n->kind) {
	case YAML_NULL:
		strbuf_add(out, "null");
		break;
	case YAML_SCALAR:
		write_text(n->text, n->quoted, out);
		break;
	case YAML_SEQ:
		strbuf_addc(out, '[');
		VEC_FOREACH (item, &n->items) {
			strbuf_add(out, item == n->items.v ? "" : ", ");
			write_flow(*item, out);
		}
		strbuf_addc(out, ']');
		break;
	case YAML_MAP:
		strbuf_addc(out, '{');
		VEC_FOREACH (pair, &n->pairs) {
			strbuf_add(out, pair == n->pairs.v ? "" : ", ");
			write_text(pair->key, false, out);
			strbuf_add(out, ": ");
			write_flow(pair->value, out);
		}
		strbuf_addc(out, '}');
		break;
	}
}

void yaml_write_value(const struct yaml_node *n, struct strbuf *out)
{
	if (n->kind == YAML_SCALAR)
		strbuf_add(out, n->text); /* alone it needs no quotes */
	else
		write_flow(n, out);
}
