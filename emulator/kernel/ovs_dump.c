/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ovs_dump: reads an Open vSwitch instance by ovs-vsctl's JSON (RFC 7047, section 5.1) and has
 * ovs-ofctl compare flows, which brings both sides into its own order of fields. Called by
 * emulator/lab/check_ovs.c.
 */
#include "emulator/kernel/ovs_dump.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "emulator/kernel/ovs_run.h"

#define OVS_DUMP_TIMEOUT "--timeout=10"
#define OVS_DUMP_DIFFERS 2 /* exit status of ovs-ofctl diff-flows */

/* Rows of the tables as ovs-vsctl lists them; columns are in the order asked for. */
struct tables {
	json_t *bridges, *ports, *interfaces;
};

enum { BRIDGE_NAME, BRIDGE_DATAPATH, BRIDGE_CONFIG, BRIDGE_PORTS };
enum { PORT_UUID, PORT_NAME, PORT_TAG };
enum { IF_NAME, IF_NUMBER, IF_ERROR };

static const char *const list_tables[] = {"ovs-vsctl",
					  OVS_DUMP_TIMEOUT,
					  "--format=json",
					  "--columns=name,datapath_type,other_config,ports",
					  "list",
					  "Bridge",
					  "--",
					  "--columns=_uuid,name,tag",
					  "list",
					  "Port",
					  "--",
					  "--columns=name,ofport,error",
					  "list",
					  "Interface",
					  NULL};

/* The rows of the next table in the text, a new reference; NULL where there is none. */
static json_t *next_table(const char **text)
{
	const char *start = strchr(*text, '{');
	json_error_t e;
	json_t *table, *rows;

	if (!start)
		return NULL;
	table = json_loads(start, JSON_DISABLE_EOF_CHECK, &e);
	if (!table)
		return NULL;
	*text = start + e.position;
	rows = json_incref(json_object_get(table, "data"));
	json_decref(table);
	return rows;
}

static int read_tables(const struct ovs_at *at, struct tables *t, struct err *err)
{
	autostr struct strbuf text = {0};
	struct ovs_job job = {0};
	const char *rest;
	int status, rc = ovs_run_start(at, list_tables, NULL, &job, err);

	if (!rc)
		rc = ovs_run_read(&job, &text, &status, err);
	if (rc)
		return rc;
	rest = strbuf_text(&text);
	if (status)
		return err_fail(err, EIO, "%.*s", (int)strcspn(rest, "\n"), rest);
	t->bridges = next_table(&rest);
	t->ports = next_table(&rest);
	t->interfaces = next_table(&rest);
	return t->interfaces ? 0 : err_fail(err, EPROTO, "ovs-vsctl lists no tables");
}

static void drop_tables(struct tables *t)
{
	json_decref(t->bridges);
	json_decref(t->ports);
	json_decref(t->interfaces);
}

/* The members of ["set", […]] or ["map", […]]; an atom alone is a set of one, which is no list. */
static const json_t *members(const json_t *value)
{
	const char *kind = json_string_value(json_array_get(value, 0));

	if (!str_eq(kind, "set") && !str_eq(kind, "map"))
		return NULL;
	return json_array_get(value, 1);
}

/* The row whose first column is `key` (a name, or ["uuid", …]). */
static const json_t *find_row(const json_t *rows, const json_t *key)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (json_equal(json_array_get(row, 0), key))
			return row;
	}
	return NULL;
}

static void add_port(struct ovs_dump *d, struct ovs_dump_bridge *b, const struct tables *t,
		     const json_t *uuid)
{
	const json_t *port = find_row(t->ports, uuid), *name = json_array_get(port, PORT_NAME);
	const json_t *interface = find_row(t->interfaces, name);
	const json_t *number = json_array_get(interface, IF_NUMBER);
	const char *text = json_string_value(name);

	if (!text || str_eq(text, b->name))
		return;
	*VEC_ADD(&d->arena, &b->ports) = (struct ovs_dump_port){
	    .name = arena_strdup(&d->arena, text),
	    .number = json_is_integer(number) ? (int)json_integer_value(number) : -1,
	    .error =
		arena_strdup(&d->arena, json_string_value(json_array_get(interface, IF_ERROR))),
	    .vlan = (int)json_integer_value(json_array_get(port, PORT_TAG)),
	};
}

static void add_ports(struct ovs_dump *d, struct ovs_dump_bridge *b, const struct tables *t,
		      const json_t *ports)
{
	const json_t *set = members(ports), *uuid;
	size_t i;

	if (!set)
		add_port(d, b, t, ports);
	json_array_foreach(set, i, uuid) add_port(d, b, t, uuid);
}

static const char *map_get(const json_t *map, const char *key)
{
	const json_t *pair;
	size_t i;

	json_array_foreach(members(map), i, pair)
	{
		if (str_eq(json_string_value(json_array_get(pair, 0)), key))
			return json_string_value(json_array_get(pair, 1));
	}
	return NULL;
}

static void add_bridges(struct ovs_dump *d, const struct tables *t)
{
	const json_t *row;
	size_t i;

	json_array_foreach(t->bridges, i, row)
	{
		struct ovs_dump_bridge *b = VEC_ADD(&d->arena, &d->bridges);
		const char *name = json_string_value(json_array_get(row, BRIDGE_NAME));
		const char *datapath = json_string_value(json_array_get(row, BRIDGE_DATAPATH));

		b->name = arena_strdup(&d->arena, name ? name : "");
		/* "system" is the default, and may be left out (ovs-vswitchd.conf.db(5)). */
		b->datapath = arena_strdup(&d->arena, datapath && *datapath ? datapath : "system");
		b->hwaddr =
		    arena_strdup(&d->arena, map_get(json_array_get(row, BRIDGE_CONFIG), "hwaddr"));
		add_ports(d, b, t, json_array_get(row, BRIDGE_PORTS));
	}
}

int ovs_dump(const char *ns, int ns_fd, struct ovs_dump *out, struct err *err)
{
	struct ovs_at at = {.name = ns, .ns_fd = ns_fd};
	struct tables t = {0};
	int rc = read_tables(&at, &t, err);

	*out = (struct ovs_dump){0};
	arena_init(&out->arena);
	if (!rc)
		add_bridges(out, &t);
	drop_tables(&t);
	return rc;
}

void ovs_dump_done(struct ovs_dump *dump)
{
	arena_done(&dump->arena);
	*dump = (struct ovs_dump){0};
}

const struct ovs_dump_port *ovs_dump_find_port(const struct ovs_dump_bridge *b, const char *name)
{
	VEC_FOREACH (p, &b->ports) {
		if (str_eq(p->name, name))
			return p;
	}
	return NULL;
}

/*
 * Port names as numbers: where ovs-ofctl reads flows for diff-flows from a file, it knows no names.
 * In flows they are all that is quoted.
 */
static void add_numbered(struct strbuf *out, const struct ovs_dump_bridge *b, const char *flows)
{
	for (const char *s = flows; *s;) {
		size_t plain = strcspn(s, "\""), quoted;
		const struct ovs_dump_port *port;
		autofree char *name = NULL;

		strbuf_addn(out, s, plain);
		s += plain;
		if (!*s)
			return;
		quoted = strcspn(++s, "\"");
		name = mem_zalloc(quoted + 1);
		memcpy(name, s, quoted);
		port = ovs_dump_find_port(b, name);
		strbuf_addf(out, "%d", port ? port->number : -1);
		s += quoted + (s[quoted] == '"');
	}
}

static void add_difference_lines(struct strbuf *out, const char *text)
{
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");

		if (*line == '+' || *line == '-') {
			strbuf_addn(out, line, len);
			strbuf_addc(out, '\n');
		}
		line += len + (line[len] == '\n');
	}
}

int ovs_dump_compare(const char *ns, int ns_fd, const struct ovs_dump_bridge *b,
		     const char *planned, struct strbuf *differences, struct err *err)
{
	const char *const argv[] = {"ovs-ofctl",  OVS_DUMP_TIMEOUT, "--names", "diff-flows",
				    "/dev/stdin", b->name,	    NULL};
	struct ovs_at at = {.name = ns, .ns_fd = ns_fd};
	autostr struct strbuf flows = {0}, text = {0};
	struct ovs_job job = {0};
	int status, rc;

	add_numbered(&flows, b, planned);
	strbuf_add(&flows, "priority=0 actions=NORMAL\n");
	rc = ovs_run_start(&at, argv, strbuf_text(&flows), &job, err);
	if (!rc)
		rc = ovs_run_read(&job, &text, &status, err);
	if (rc)
		return rc;
	if (status && status != OVS_DUMP_DIFFERS)
		return err_fail(err, EIO, "%.*s", (int)strcspn(strbuf_text(&text), "\n"),
				strbuf_text(&text));
	add_difference_lines(differences, strbuf_text(&text));
	return 0;
}
