// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source: opens what the user named, topology file or running lab, down to the wire model.
 *
 * It only reads; building is cmd_up.c. Called by all commands that look at a network.
 */
#include "core/cli/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/str.h"
#include "core/cli/data.h"
#include "core/harness/scenario.h"
#include "emulator/model/link_set.h"

static int print_problems(struct problems *p)
{
	autostr struct strbuf text = {0};

	if (!problems_count(p))
		return 0;
	problems_print(p, &text);
	fputs(strbuf_text(&text), stderr);
	return EXIT_USAGE;
}

static void compile(struct source *s, const struct option_list *sets, struct problems *p)
{
	const char *name = str_eq(s->path, "-") ? "standard input" : s->path;

	load_topology(&(struct topology_source){.main = {name, s->text, s->len},
						.sets = sets ? sets->v : NULL,
						.n_sets = sets ? sets->n : 0},
		      &s->load, p);
	if (problems_count(p))
		return;
	wire_done(&s->wire);
	topology_compile(s->load.topology, &s->compile, &s->wire, p);
}

static void source_init(struct source *s)
{
	memset(s, 0, sizeof(*s));
	wire_init(&s->wire);
}

/* A scenario where a topology is wanted: the usual slip. */
static int reject_scenario(const struct source *s, struct err *err)
{
	struct problems ignored;
	int r = 0;

	if (!scenario_recognise(s->text, s->len))
		return 0;
	problems_init(&ignored);
	struct scenario *scenario = scenario_parse(s->path, s->text, s->len, &ignored);
	r = err_input(err, "%s is a scenario%s%s", s->path,
		      scenario->topology ? "; its topology is " : ", not a topology",
		      scenario->topology ? scenario->topology : "");
	scenario_free(scenario);
	problems_done(&ignored);
	return r;
}

static int find_topology(const char *name, char **path, struct err *err)
{
	struct err none = ERR_INIT;
	int r = data_find(DATA_TOPOLOGIES, name, path, err);

	if (!r || data_find(DATA_SCENARIOS, name, path, &none))
		return r;
	return 0; /* reject_scenario() says what it is */
}

int source_open_file(const char *name, const struct option_list *sets, const struct machine *m,
		     struct source *out, struct err *err)
{
	struct problems p;
	int ret;

	source_init(out);
	out->compile.machine = m ? *m : MACHINE_DEFAULT;
	ret = find_topology(name, &out->path, err);
	if (!ret)
		ret = file_read(out->path, &out->text, &out->len, err);
	if (!ret)
		ret = reject_scenario(out, err);
	if (ret)
		return ret;
	problems_init(&p);
	compile(out, sets, &p);
	ret = print_problems(&p);
	problems_done(&p);
	return ret;
}

int source_open_lab(const char *name, struct source *out, struct err *err)
{
	int ret;

	source_init(out);
	ret = lab_open(name, &out->lab, err);
	if (ret == -ENOENT)
		err->kind = ERR_INPUT; /* a name that is not there: the user's mistake */
	if (ret)
		return ret;
	ret = lab_options(out->lab, &out->compile, err);
	if (ret)
		return ret;
	wire_done(&out->wire);
	return lab_wire(out->lab, &out->wire, err);
}

int source_open(const char *name, struct source *out, struct err *err)
{
	struct err none = ERR_INIT;
	int ret;

	if (!name)
		return source_open_lab(NULL, out, err);
	if (!strchr(name, '/') && !str_ends(name, ".yaml") && !str_eq(name, "-")) {
		ret = source_open_lab(name, out, &none);
		if (ret != -ENOENT) {
			*err = none;
			return ret;
		}
		source_done(out);
	}
	return source_open_file(name, NULL, NULL, out, err);
}

void source_done(struct source *s)
{
	if (s->lab)
		lab_close(s->lab);
	wire_done(&s->wire);
	load_done(&s->load);
	free(s->path);
	free(s->text);
}

static int unknown_node(const struct source *s, const char *name, struct err *err)
{
	autofree const char **names = mem_zalloc((s->wire.nodes.n + 1) * sizeof(*names));

	for (size_t i = 0; i < s->wire.nodes.n; i++)
		names[i] = s->wire.nodes.v[i].name;
	const char *near = str_suggest(name, names, s->wire.nodes.n);
	err_input(err, "lab '%s' has no node '%s'%s%s%s", lab_name(s->lab), name,
		  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return -ENOENT;
}

int source_open_node(const char *text, struct source *s, int *node, struct err *err)
{
	const char *colon = strchr(text, ':'), *name = colon ? colon + 1 : text;
	autofree char *lab = colon ? mem_printf("%.*s", (int)(colon - text), text) : NULL;
	int ret = source_open_lab(lab, s, err);

	if (ret)
		return ret;
	*node = wire_find_node(&s->wire, name);
	if (*node < 0) {
		const struct wire_endpoint *e = wire_find_endpoint(&s->wire, name);

		*node = e ? e->node : -1;
	}
	return *node < 0 ? unknown_node(s, name, err) : 0;
}

int source_open_link(const char *text, struct source *s, const char **link, struct err *err)
{
	const char *colon = strchr(text, ':');
	autofree char *name = colon ? mem_printf("%.*s", (int)(colon - text), text) : NULL;
	struct err other = ERR_INIT;
	int rc = source_open_lab(name, s, err);

	*link = colon ? colon + 1 : text;
	if (rc != -ENOENT || !name)
		return rc;
	source_done(s);
	rc = source_open_lab(NULL, s, &other);
	if (rc || link_find(&s->wire, text, &other) < 0)
		return -err->code;
	*err = ERR_INIT;
	*link = text;
	return 0;
}
