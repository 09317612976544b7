/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adapter_command: an adapter's command lines: their words, when a server is ready, how it is told
 * to end; placeholders are checked, core/tools/command.c fills them in. Called by adapter.c.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"
#include "core/tools/adapter_parse.h"
#include "core/tools/command.h"

static void check_placeholders(struct adapter_parse *ps, const char *text, struct mark at)
{
	while ((text = strchr(text, '{'))) {
		autofree char *name = NULL;
		const char *near = NULL;
		size_t len = strcspn(text + 1, "}");

		if (text[1] == '{') {
			text += 2;
			continue;
		}
		if (!text[len + 1]) {
			problems_add(ps->p, at, "'%s': a brace is not closed; '{{' is a brace",
				     text);
			return;
		}
		name = mem_printf("%.*s", (int)len, text + 1);
		if (!command_knows(name, &near))
			problems_add(ps->p, at, "there is no placeholder '{%s}'%s%s%s", name,
				     near ? "; did you mean '{" : "", near ? near : "",
				     near ? "}'?" : "");
		text += len + 1;
	}
}

static void read_group(struct adapter_parse *ps, const struct yaml_node *n, struct tool_word *w)
{
	const struct yaml_node *with = yaml_get(n, "with"), *without = yaml_get(n, "without");
	const struct yaml_node *args = yaml_want_seq(yaml_get(n, "args"), "args", ps->p);
	const char *near = NULL;

	yaml_check_keys(n, "group of words", ADAPTER_KEYS("with", "without", "args"), ps->p);
	if (!with == !without || !yaml_get(n, "args")) {
		problems_add(ps->p, n->at,
			     "a group of words has 'with' or 'without', and 'args': {with: "
			     "streams, args: [-P, \"{streams}\"]}");
		return;
	}
	w->absent = without;
	w->when = adapter_parse_keep(ps, yaml_want_text(with ? with : without, "with", ps->p));
	if (w->when && !command_knows(w->when, &near))
		problems_add(ps->p, n->at, "there is no placeholder '%s'%s%s%s", w->when,
			     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	for (size_t i = 0; args && i < args->items.n; i++) {
		const char *text = yaml_want_text(args->items.v[i], "args", ps->p);

		if (!text)
			continue;
		check_placeholders(ps, text, args->items.v[i]->at);
		*VEC_ADD(&ps->a->arena, &w->words) = adapter_parse_keep(ps, text);
	}
}

static void read_argv(struct adapter_parse *ps, const struct yaml_node *n, struct tool_command *c)
{
	const struct yaml_node *list = yaml_want_seq(n, "argv", ps->p);

	for (size_t i = 0; list && i < list->items.n; i++) {
		const struct yaml_node *item = list->items.v[i];
		struct tool_word *w = VEC_ADD(&ps->a->arena, &c->argv);

		w->at = item->at;
		if (item->kind == YAML_MAP) {
			read_group(ps, item, w);
			continue;
		}
		w->text = adapter_parse_keep(ps, yaml_want_text(item, "argv", ps->p));
		if (w->text)
			check_placeholders(ps, w->text, item->at);
	}
	if (list && (!list->items.n || c->argv.v[0].when))
		problems_add(ps->p, list->at, "argv: the first word is the program");
}

static void read_ready(struct adapter_parse *ps, const struct yaml_node *n, struct tool_command *c)
{
	const struct yaml_node *map = yaml_want_map(n, "ready", ps->p);
	const char *listen = adapter_parse_text(ps, map, "listen");

	if (!map)
		return;
	yaml_check_keys(map, "ready", ADAPTER_KEYS("listen", "port", "line"), ps->p);
	c->ready_line = adapter_parse_text(ps, map, "line");
	adapter_parse_pattern(ps, yaml_get(map, "line"), NULL);
	c->ready_port = adapter_parse_text(ps, map, "port");
	if (c->ready_port)
		check_placeholders(ps, c->ready_port, map->at);
	if (listen && str_eq(listen, "tcp"))
		c->ready = READY_LISTEN_TCP;
	else if (listen && str_eq(listen, "udp"))
		c->ready = READY_LISTEN_UDP;
	else if (listen)
		problems_add(ps->p, map->at, "listen: '%s' is neither tcp nor udp", listen);
	else if (c->ready_line)
		c->ready = READY_LINE;
	else
		problems_add(ps->p, map->at,
			     "ready: say when, {listen: tcp}, {listen: udp} or {line: …}");
}

static void read_stop(struct adapter_parse *ps, const struct yaml_node *n, struct tool_command *c)
{
	static const struct {
		const char *name;
		int signal;
	} signals[] = {{"SIGINT", SIGINT}, {"SIGTERM", SIGTERM}, {"SIGKILL", SIGKILL}};
	const char *text = yaml_want_text(n, "stop", ps->p);

	c->stop_signal = SIGINT;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (text && str_eq(text, signals[i].name)) {
			c->stop_signal = signals[i].signal;
			return;
		}
	if (text)
		problems_add(ps->p, n->at, "stop: '%s' is not one of SIGINT, SIGTERM, SIGKILL",
			     text);
}

void adapter_parse_command(struct adapter_parse *ps, const struct yaml_node *n, const char *what,
			   struct tool_command *c)
{
	const struct yaml_node *map = yaml_want_map(n, what, ps->p);

	if (!map)
		return;
	yaml_check_keys(map, what, ADAPTER_KEYS("argv", "ready", "ends", "stop"), ps->p);
	c->given = true;
	if (!yaml_get(map, "argv"))
		problems_add(ps->p, map->at, "%s has no 'argv'", what);
	read_argv(ps, yaml_get(map, "argv"), c);
	read_ready(ps, yaml_get(map, "ready"), c);
	yaml_want_bool(yaml_get(map, "ends"), "ends", &c->ends, ps->p);
	read_stop(ps, yaml_get(map, "stop"), c);
	if (str_eq(what, "server") && !yaml_get(map, "ready"))
		problems_add(ps->p, map->at,
			     "server: say when it is ready: ready: {listen: tcp}, {listen: udp} or "
			     "{line: …}");
}
