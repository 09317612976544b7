/* SPDX-License-Identifier: GPL-2.0-or-later */
/* yaml_fuzz: any bytes as a YAML file. Every node is then looked at, as a reader of a schema does.
 */

#include "core/base/yaml.h"
#include "tests/fuzz/fuzz.h"

/* Nesting is limited, so walking by recursion is safe: that is a part of what is tried here. */
static size_t walk(const struct yaml_node *n, int depth)
{
	size_t nodes = 1;

	require(depth <= 64 && n->at.line > 0 && n->at.column > 0);
	require((n->kind == YAML_SCALAR) == (n->text != NULL));
	if (n->text)
		require(str_bad_byte(n->text, strlen(n->text)) == strlen(n->text));
	VEC_FOREACH (item, &n->items)
		nodes += walk(*item, depth + 1);
	VEC_FOREACH (pair, &n->pairs) {
		require(pair->key_at.line > 0 && yaml_get(n, pair->key));
		nodes += walk(pair->value, depth + 1);
	}
	return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const known[] = {"version", "name", "hosts", "links"};
	struct strbuf out = {0};
	struct problems p;
	struct yaml y;
	bool flag = false;
	int rc;

	problems_init(&p);
	rc = yaml_parse(&y, "fuzz", (const char *)data, size, &p);
	require(rc == 0 || problems_count(&p) > 0);
	require(walk(y.root, 1) <= 1000001);
	yaml_check_keys(y.root, "file", known, ARRAY_SIZE(known), &p);
	yaml_want_text(yaml_get(y.root, "name"), "name", &p);
	yaml_want_bool(yaml_get(y.root, "flag"), "flag", &flag, &p);
	problems_print(&p, &out);
	strbuf_done(&out);
	yaml_done(&y);
	problems_done(&p);
	return 0;
}
