// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * measure_script: which script a scenario's pairs run, with its variables changed. A file is looked
 * for beside the scenario, then as it is named, then among the shipped scripts. What scripts mean
 * is scripts.c's. Called by measure.c.
 */
#include "core/harness/measure_script.h"

#include <jansson.h>

#include "core/base/str.h"
#include "core/harness/scripts.h"

static void take(const struct yaml_node *node, const char *script, struct scenario_measure *m,
		 struct problems *p)
{
	struct err err = ERR_INIT;
	json_t *text = json_string(script);

	if (engine_spec_change(&m->spec, "script", text, &err))
		problems_add(p, node->at, "%s", err.text);
	json_decref(text);
}

void measure_read_script(const struct yaml_node *map, struct scenario_measure *m,
			 struct problems *p)
{
	struct err err = ERR_INIT;
	const struct yaml_node *node = yaml_get(map, "script"), *given = yaml_get(map, "variables");
	const struct yaml_node *variables = yaml_want_map(given, "variables", p);
	const char *name = yaml_want_text(node, "script", p);
	VEC(const char *) set = {0};
	struct scripts s;
	struct arena a;

	if (given && !node)
		problems_add(p, given->at, "'variables' are those of a 'script'; there is none");
	if (!name || (given && !variables))
		return;
	if (m->spec.test == TEST_PATH_CHECK) {
		take(node, name, m, p);
		return;
	}
	arena_init(&a);
	for (size_t i = 0; variables && i < variables->pairs.n; i++) {
		autostr struct strbuf value = {0};

		yaml_write_value(variables->pairs.v[i].value, &value);
		*VEC_ADD(&a, &set) =
		    arena_printf(&a, "%s=%s", variables->pairs.v[i].key, strbuf_text(&value));
	}
	struct scripts_source source = {name, node->at.file, set.v, set.n};
	if (scripts_load(&source, &s, &err)) {
		problems_add(p, node->at, "%s", err.text);
	} else {
		take(node, s.json, m, p);
		if (s.duration_ns && !yaml_get(map, "duration"))
			m->spec.duration_ns = s.duration_ns;
		scripts_done(&s);
	}
	arena_done(&a);
}
