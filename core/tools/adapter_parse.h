/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adapter_parse: what the readers of an adapter's parts share. Internal to core/tools/adapter*.c.
 * Problems go to `p`; texts that are kept live in the adapter's arena.
 */
#ifndef VPCLAB_TOOLS_ADAPTER_PARSE_H
#define VPCLAB_TOOLS_ADAPTER_PARSE_H

#include "core/tools/adapter.h"

/* A list of keys and its length, as yaml_check_keys() takes them. */
#define ADAPTER_KEYS(...)                                                                          \
	(const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

struct adapter_parse {
	struct adapter *a;
	struct problems *p;
};

const char *adapter_parse_keep(struct adapter_parse *ps, const char *text); /* NULL stays NULL */
const char *adapter_parse_text(struct adapter_parse *ps, const struct yaml_node *map,
			       const char *key); /* NULL where it is not there */
/* A text that must be there; `what` has it. */
const char *adapter_parse_need(struct adapter_parse *ps, const struct yaml_node *map,
			       const char *key, const char *what);
/* Does the expression compile, and have the capture that is read from it (NULL: none is)? */
void adapter_parse_pattern(struct adapter_parse *ps, const struct yaml_node *n,
			   const char *capture);

/* A test's `server` or `client` (`what`); NULL node: there is none. adapter_command.c */
void adapter_parse_command(struct adapter_parse *ps, const struct yaml_node *n, const char *what,
			   struct tool_command *c);
/* One of a test's `reads`. adapter_read.c */
void adapter_parse_read(struct adapter_parse *ps, const struct yaml_node *n, struct tool_test *t);

#endif
