/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yaml: turns libfyaml's events into a tree of plain nodes. It knows no schema (yaml_want.c has the
 * helpers for readers of one). The model, scenarios, tool adapters call it.
 *
 * We build the tree ourselves, from events and without recursion, because then every node has a
 * position, duplicate keys are our own finding with both places, and depth, node count and what
 * aliases copy have limits: a hostile file costs bounded time, stack and memory.
 */
#include "core/base/yaml.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/keyset.h"

#define DEPTH_MAX 64
#define NODES_MAX 1000000

struct anchor {
	struct yaml_node *node;
	size_t size; /* nodes in it, aliases copied */
	int height;  /* 1 for a scalar; 0: not complete yet */
};

struct frame { /* a list or map that is open */
	struct yaml_node *node;
	size_t anchor; /* index + 1, 0: none */
	size_t size;
	int height;  /* of the highest child */
	bool is_key; /* stands where a key should: dropped when it closes */
	bool have_key, is_merge;
	const char *key; /* NULL: a bad key, its value is dropped */
	struct mark key_at;
	VEC(struct yaml_node *) merges;
};

struct builder {
	struct yaml *y;
	struct problems *p;
	const char *name;
	struct fy_parser *parser;
	struct arena scratch;
	struct frame stack[DEPTH_MAX];
	int depth;
	VEC(struct anchor) anchors;
	VEC(struct mark) keys; /* where each key stands */
	/* Keys (scope: their map; number: in `keys`) and anchors (scope: NULL; in `anchors`). */
	struct keyset names;
	size_t n_nodes, documents;
	bool stop, failed; /* reads no further; and what was read is of no use */
};

/* Adds a problem after which reading stops. */
static void give_up(struct builder *b, struct mark at, const char *text)
{
	problems_add(b->p, at, "%s", text);
	b->stop = true;
	b->failed = true;
}

/* ---- places and texts of tokens ---- */

static struct mark mark_of(const struct builder *b, const struct fy_mark *m)
{
	struct mark at = {.file = b->name};

	if (m) {
		at.line = m->line + 1;
		at.column = m->column + 1;
	}
	return at;
}

static enum fy_scalar_style style_of(struct fy_event *e)
{
	return e->type == FYET_SCALAR && e->scalar.value ? fy_token_scalar_style(e->scalar.value)
							 : FYSS_PLAIN;
}

static struct mark event_mark(const struct builder *b, struct fy_event *e)
{
	const struct frame *open = b->depth ? &b->stack[b->depth - 1] : NULL;
	const struct fy_mark *m = fy_event_start_mark(e);
	enum fy_scalar_style style = style_of(e);
	struct mark at = mark_of(b, m);

	/* libfyaml marks these after their quote or asterisk … */
	if (m &&
	    (e->type == FYET_ALIAS || style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED))
		at.column--;
	/* … and block texts on their first line. Those, and values left out, stand at their key. */
	if (open && open->have_key && (!m || style == FYSS_LITERAL || style == FYSS_FOLDED))
		return open->key_at;
	if (!m)
		return open ? open->node->at : (struct mark){b->name, 1, 1};
	return at;
}

/* The token's text in the document's arena; a problem and "" when it holds what is not text. */
static const char *token_text(struct builder *b, struct fy_token *token, struct mark at)
{
	size_t len = 0, bad;
	const char *text = token ? fy_token_get_text(token, &len) : NULL;

	if (!text)
		return "";
	bad = str_bad_byte(text, len);
	if (bad < len) {
		problems_add(b->p, at,
			     text[bad] ? "the text is not valid UTF-8"
				       : "the text contains a NUL byte");
		return "";
	}
	return arena_strndup(&b->y->arena, text, len);
}

/* ---- the tree ---- */

static struct yaml_node *new_node(struct builder *b, enum yaml_kind kind, struct mark at)
{
	struct yaml_node *n = arena_alloc(&b->y->arena, sizeof(*n));

	n->kind = kind;
	n->at = at;
	if (++b->n_nodes > NODES_MAX && !b->stop)
		give_up(b, at, "the document is too large: over 1000000 values, aliases copied");
	return n;
}

static void add_pair(struct builder *b, struct yaml_node *map, struct yaml_pair pair)
{
	*VEC_ADD(&b->y->arena, &map->pairs) = pair;
}

static void add_value(struct builder *b, struct frame *f, struct yaml_node *value)
{
	if (f->node->kind == YAML_SEQ) {
		*VEC_ADD(&b->y->arena, &f->node->items) = value;
		return;
	}
	if (f->is_merge)
		*VEC_ADD(&b->scratch, &f->merges) = value;
	else if (f->key)
		add_pair(b, f->node, (struct yaml_pair){f->key, f->key_at, value});
	f->have_key = false;
	f->is_merge = false;
	f->key = NULL;
}

/* A complete node goes to the open list or map, or becomes the document. */
static void attach(struct builder *b, struct yaml_node *node, size_t size, int height)
{
	struct frame *f = b->depth ? &b->stack[b->depth - 1] : NULL;

	if (!f) {
		b->y->root = node;
		return;
	}
	f->size += size;
	if (height > f->height)
		f->height = height;
	if (b->depth + height > DEPTH_MAX && !b->stop)
		give_up(b, node->at, "the document is nested too deeply: over 64 levels");
	add_value(b, f, node);
}

/* True when the next node of the open frame is a key. */
static bool at_key(const struct builder *b)
{
	return b->depth && b->stack[b->depth - 1].node->kind == YAML_MAP &&
	       !b->stack[b->depth - 1].have_key;
}

/* False when the map has that key already. */
static bool note_key(struct builder *b, const struct yaml_node *map, const char *key,
		     struct mark at)
{
	if (!keyset_add_text(&b->names, (uintptr_t)map, key, (int)b->keys.n))
		return false;
	*VEC_ADD(&b->scratch, &b->keys) = at;
	return true;
}

static void take_key(struct builder *b, const char *key, bool plain, struct mark at)
{
	struct frame *f = &b->stack[b->depth - 1];
	int earlier;

	if (at.line == f->node->at.line && at.column < f->node->at.column)
		f->node->at = at; /* "[a: 1]": libfyaml marks the map after its key */
	f->have_key = true;
	f->key_at = at;
	f->key = NULL;
	if (!key)
		return;
	earlier = keyset_find_text(&b->names, (uintptr_t)f->node, key);
	if (earlier >= 0) {
		const struct mark *first = &b->keys.v[earlier];

		problems_add(b->p, at, "key '%s' twice, first at %d:%d", key, first->line,
			     first->column);
		return;
	}
	note_key(b, f->node, key, at);
	f->key = key;
	f->is_merge = plain && str_eq(key, "<<");
}

static void bad_key(struct builder *b, const struct yaml_node *n, struct mark at)
{
	problems_add(b->p, at, "a key must be a text, this is %s", yaml_kind_name(n));
	take_key(b, NULL, false, at);
}

/* Index + 1 of a new anchor for the node, 0 when the event has none. */
static size_t new_anchor(struct builder *b, struct fy_event *e, struct yaml_node *node)
{
	struct fy_token *token = fy_event_get_anchor_token(e);

	if (!token)
		return 0;
	*VEC_ADD(&b->scratch, &b->anchors) = (struct anchor){.node = node};
	keyset_set_text(&b->names, 0, token_text(b, token, node->at), (int)b->anchors.n - 1);
	return b->anchors.n;
}

/* What the tag says about a scalar: true when it must stay text. Unknown tags are problems. */
static bool check_tag(struct builder *b, struct fy_event *e, struct mark at)
{
	static const char *const known[] = {"str", "int", "float", "bool", "null", "seq", "map"};
	struct fy_token *token = fy_event_get_tag_token(e);
	const char *tag, *core = "tag:yaml.org,2002:";

	if (!token)
		return false;
	tag = token_text(b, token, at);
	if (str_eq(tag, "!"))
		return true;
	for (size_t i = 0; str_starts(tag, core) && i < ARRAY_SIZE(known); i++)
		if (str_eq(tag + strlen(core), known[i]))
			return i == 0;
	problems_add(b->p, at, "the tag '%s' has no meaning here", tag);
	return false;
}

static bool is_null_text(const char *s)
{
	return !*s || str_eq(s, "~") || str_eq(s, "null") || str_eq(s, "Null") || str_eq(s, "NULL");
}

static void on_scalar(struct builder *b, struct fy_event *e)
{
	struct mark at = event_mark(b, e);
	struct yaml_node *n = new_node(b, YAML_SCALAR, at);
	size_t anchor = new_anchor(b, e, n);
	bool is_text = check_tag(b, e, at);

	n->text = token_text(b, e->scalar.value, at);
	n->quoted =
	    is_text || (e->scalar.value && fy_token_scalar_style(e->scalar.value) != FYSS_PLAIN);
	if (anchor) {
		b->anchors.v[anchor - 1].size = 1;
		b->anchors.v[anchor - 1].height = 1;
	}
	if (at_key(b)) {
		if (*n->text || n->quoted)
			take_key(b, n->text, !n->quoted, at);
		else
			bad_key(b, NULL, at);
		return;
	}
	if (!n->quoted && is_null_text(n->text)) {
		n->kind = YAML_NULL;
		n->text = NULL;
	}
	attach(b, n, 1, 1);
}

static void on_open(struct builder *b, struct fy_event *e, enum yaml_kind kind)
{
	struct mark at = event_mark(b, e);
	struct yaml_node *n = new_node(b, kind, at);
	size_t anchor = new_anchor(b, e, n);
	bool is_key = at_key(b);

	check_tag(b, e, at);
	if (is_key)
		bad_key(b, n, at);
	if (b->depth == DEPTH_MAX) {
		give_up(b, at, "the document is nested too deeply: over 64 levels");
		return;
	}
	b->stack[b->depth++] =
	    (struct frame){.node = n, .anchor = anchor, .size = 1, .is_key = is_key};
}

/* ---- merge keys and aliases ---- */

static void merge_map(struct builder *b, struct yaml_node *into, const struct yaml_node *from)
{
	if (from->kind == YAML_NULL) /* an alias that went wrong, reported */
		return;
	if (from->kind != YAML_MAP) {
		problems_add(b->p, from->at, "'<<' must be a map or a list of maps, this is %s",
			     yaml_kind_name(from));
		return;
	}
	VEC_FOREACH (pair, &from->pairs) {
		if (note_key(b, into, pair->key, pair->key_at))
			add_pair(b, into, *pair);
	}
}

/* A map's own keys win over merged ones, earlier merged ones over later. */
static void merge_all(struct builder *b, struct frame *f)
{
	VEC_FOREACH (value, &f->merges) {
		if ((*value)->kind != YAML_SEQ)
			merge_map(b, f->node, *value);
		VEC_FOREACH (item, &(*value)->items)
			merge_map(b, f->node, *item);
	}
}

static void on_close(struct builder *b)
{
	struct frame f = b->stack[--b->depth];

	merge_all(b, &f);
	if (f.anchor) {
		b->anchors.v[f.anchor - 1].size = f.size;
		b->anchors.v[f.anchor - 1].height = f.height + 1;
	}
	if (!f.is_key)
		attach(b, f.node, f.size, f.height + 1);
}

static struct yaml_node *copy_node(struct builder *b, const struct yaml_node *from)
{
	struct yaml_node *n = new_node(b, from->kind, from->at);

	n->text = from->text;
	n->quoted = from->quoted;
	VEC_FOREACH (item, &from->items)
		*VEC_ADD(&b->y->arena, &n->items) = copy_node(b, *item);
	VEC_FOREACH (pair, &from->pairs)
		add_pair(b, n,
			 (struct yaml_pair){pair->key, pair->key_at, copy_node(b, pair->value)});
	return n;
}

/* The anchor that an alias names, or NULL after adding a problem. */
static const struct anchor *find_anchor(struct builder *b, const char *name, struct mark at)
{
	int i = keyset_find_text(&b->names, 0, name);
	const struct anchor *a = i < 0 ? NULL : &b->anchors.v[i];

	if (!a)
		problems_add(b->p, at, "the alias '*%s' has no anchor '&%s' before it", name, name);
	else if (!a->height)
		problems_add(b->p, at, "the alias '*%s' stands inside what it names", name);
	return a && a->height ? a : NULL;
}

static void on_alias(struct builder *b, struct fy_event *e)
{
	struct mark at = event_mark(b, e);
	const struct anchor *a = find_anchor(b, token_text(b, e->alias.anchor, at), at);

	if (at_key(b)) {
		if (a && a->node->kind == YAML_SCALAR)
			take_key(b, a->node->text, false, at);
		else if (a)
			bad_key(b, a->node, at);
		else
			take_key(b, NULL, false, at);
		return;
	}
	if (!a)
		attach(b, new_node(b, YAML_NULL, at), 1, 1);
	else if (b->n_nodes + a->size > NODES_MAX)
		give_up(b, at, "the document is too large: over 1000000 values, aliases copied");
	else if (b->depth + a->height > DEPTH_MAX)
		give_up(b, at, "the document is nested too deeply: over 64 levels");
	else
		attach(b, copy_node(b, a->node), a->size, a->height);
}

/* ---- reading ---- */

static void second_document(struct builder *b, struct fy_event *e)
{
	const struct fy_mark *m = fy_event_start_mark(e);

	if (!m && e->type == FYET_DOCUMENT_START)
		return; /* not marked by "---": the next event knows the place */
	problems_add(b->p, mark_of(b, m), "a second document starts here; a file holds one");
	b->stop = true;
}

static void on_event(struct builder *b, struct fy_event *e)
{
	if (e->type == FYET_DOCUMENT_START)
		b->documents++;
	if (b->documents > 1) {
		second_document(b, e);
		return;
	}
	switch (e->type) {
	case FYET_SCALAR:
		on_scalar(b, e);
		break;
	case FYET_ALIAS:
		on_alias(b, e);
		break;
	case FYET_SEQUENCE_START:
		on_open(b, e, YAML_SEQ);
		break;
	case FYET_MAPPING_START:
		on_open(b, e, YAML_MAP);
		break;
	case FYET_SEQUENCE_END:
	case FYET_MAPPING_END:
		on_close(b);
		break;
	default:
		break;
	}
}

/* Where libfyaml speaks of its grammar, what the user most likely did. */
static const char *explained(const char *msg)
{
	static const struct {
		const char *says, *means;
	} table[] = {
	    {"invalid multiline plain key",
	     "this line is not 'key: value' like its neighbours; look at its indentation and at "
	     "the space after ':'"},
	    {"invalid nested block mapping on the same line",
	     "a second ': ' on one line; put the text in quotes"},
	    {"wrongly indented double-quoted scalar", "the quote (\") is not closed"},
	    {"wrongly indented single-quoted scalar", "the quote (') is not closed"},
	    {"missing comma in flow mapping", "a ',' or '}' is missing before this"},
	    {"missing comma in flow sequence", "a ',' or ']' is missing before this"},
	    {"flow sequence without a closing bracket", "']' is missing at the end of a list"},
	    {"flow mapping without a closing brace", "'}' is missing at the end of a map"},
	    {"did not find expected key", "a key is expected here, as in the lines before"},
	    {"invalid alias detected",
	     "'*' begins an alias, and its name is missing; put the text in quotes"},
	};

	for (size_t i = 0; msg && i < ARRAY_SIZE(table); i++)
		if (str_eq(msg, table[i].says))
			return table[i].means;
	return msg ? msg : "this is not YAML";
}

/* libfyaml tells one mistake in several ways; the first is the nearest. */
static void syntax_error(struct builder *b, struct fy_diag *diag)
{
	struct mark at = {.file = b->name, .line = 1, .column = 1};
	void *prev = NULL;
	const struct fy_diag_error *e = fy_diag_errors_iterate(diag, &prev);

	if (e && e->line > 0) {
		at.line = e->line;
		at.column = e->column;
	}
	give_up(b, at, explained(e ? e->msg : NULL));
}

static void read_events(struct builder *b, struct fy_diag *diag)
{
	struct fy_event *e;
	bool ended = false;

	while (!b->stop && (e = fy_parser_parse(b->parser))) {
		on_event(b, e);
		ended = e->type == FYET_STREAM_END;
		fy_parser_event_free(b->parser, e);
	}
	if (!b->stop && !ended)
		syntax_error(b, diag);
}

static void discard(struct fy_diag *diag, void *user, const char *buf, size_t len)
{
	(void)diag;
	(void)user;
	(void)buf;
	(void)len;
}

static void parse_text(struct builder *b, const char *text, size_t len)
{
	struct fy_diag_cfg diag_cfg;
	struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG};

	fy_diag_cfg_default(&diag_cfg);
	diag_cfg.fp = NULL;
	diag_cfg.output_fn = discard;
	diag_cfg.level = FYET_ERROR;
	cfg.diag = fy_diag_create(&diag_cfg);
	if (!cfg.diag)
		abort();
	fy_diag_set_collect_errors(cfg.diag, true);
	b->parser = fy_parser_create(&cfg);
	if (!b->parser || fy_parser_set_string(b->parser, text, len) != 0)
		abort();
	read_events(b, cfg.diag);
	fy_parser_destroy(b->parser);
	fy_diag_destroy(cfg.diag);
}

/* The place of a byte that cannot be text. */
static struct mark place_of(const char *name, const char *text, size_t offset)
{
	struct mark at = {.file = name, .line = 1, .column = 1};

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			at.line++;
			at.column = 1;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			at.column++;
		}
	}
	return at;
}

int yaml_parse(struct yaml *y, const char *name, const char *text, size_t len, struct problems *p)
{
	struct builder b = {.y = y, .p = p};
	size_t bad = str_bad_byte(text, len);

	arena_init(&y->arena);
	arena_init(&b.scratch);
	b.name = arena_strdup(&y->arena, name);
	y->root = NULL;
	if (bad < len)
		give_up(&b, place_of(b.name, text, bad),
			text[bad] ? "the file is not valid UTF-8 here" : "a NUL byte in the file");
	else if (len)
		parse_text(&b, text, len);
	if (b.failed || !y->root)
		y->root =
		    new_node(&b, YAML_NULL, (struct mark){.file = b.name, .line = 1, .column = 1});
	keyset_done(&b.names);
	arena_done(&b.scratch);
	return b.failed ? -EINVAL : 0;
}

void yaml_done(struct yaml *y)
{
	arena_done(&y->arena);
	y->root = NULL;
}
