/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state: a lab's state.json as a jansson object. It starts and enters nothing. Called by watch.c,
 * which writes it, and lab.c.
 */
#include "emulator/lab/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "emulator/lab/load.h"

static json_t *machine_json(const struct machine *m)
{
	return json_pack("{s:I, s:I, s:b, s:b, s:b, s:b, s:b}", "slip_ns", (json_int_t)m->slip_ns,
			 "exact_max_bps", (json_int_t)m->exact_max_bps, "ovs_kernel", m->ovs_kernel,
			 "ovs_tun", m->ovs_tun, "netem", m->netem, "police", m->police, "vlan",
			 m->vlan);
}

/* Text that may not be UTF-8 (a file name): what JSON cannot hold becomes '?'. */
static json_t *text_json(const char *s)
{
	json_t *j = json_string(s ? s : "");
	autofree char *copy = NULL;

	if (j)
		return j;
	copy = mem_strdup(s);
	for (char *c = copy; *c; c++)
		if (*c & 0x80)
			*c = '?';
	return json_string(copy);
}

/* The topology's other files, by name: they may be gone or changed when the lab is looked at. */
static json_t *files_json(const struct topology_file *files, size_t n)
{
	json_t *all = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(all, files[i].name, json_stringn(files[i].text, files[i].len));
	return all;
}

json_t *state_new(const char *name, const struct lab_up_options *o)
{
	json_t *sets = json_array();

	for (size_t i = 0; i < o->n_sets; i++)
		json_array_append_new(sets, text_json(o->sets[i]));
	return json_pack(
	    "{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:I, s:I}", "version",
	    STATE_VERSION, "vpclab", VPCLAB_VERSION, "status", "starting", "name", name, "source",
	    text_json(o->source_name), "topology", text_json(o->source_text), "sets", sets, "files",
	    files_json(o->files, o->n_files), "machine", machine_json(&o->compile.machine),
	    "unshaped", o->compile.unshaped, "tied", o->tied, "uid", (json_int_t)geteuid(),
	    "started_s", (json_int_t)time(NULL));
}

void state_set_ident(json_t *state, const char *key, const struct ident *id)
{
	json_object_set_new(state, key,
			    json_pack("{s:i, s:I, s:s}", "pid", (int)id->pid, "start_ticks",
				      (json_int_t)id->start, "boot_id", id->boot));
	if (strcmp(key, "supervisor") == 0) /* for people and scripts: the short way to it */
		json_object_set_new(state, "pid", json_integer(id->pid));
}

int state_get_ident(const json_t *state, const char *key, struct ident *id, struct err *err)
{
	json_int_t start;
	const char *boot;
	int pid;

	if (json_unpack((json_t *)state, "{s:{s:i, s:I, s:s}}", key, "pid", &pid, "start_ticks",
			&start, "boot_id", &boot))
		return err_fail(err, ENOENT, "the lab's state does not name its %s", key);
	*id = (struct ident){.pid = pid, .start = (uint64_t)start};
	snprintf(id->boot, sizeof(id->boot), "%s", boot);
	return 0;
}

int state_write(const char *dir, const json_t *state, struct err *err)
{
	autofree char *path = mem_printf("%s/state.json", dir);
	autofree char *text = json_dumps(state, JSON_INDENT(1));

	if (!text)
		return err_fail(err, EINVAL, "the lab's state cannot be written as JSON");
	return file_write(path, text, strlen(text), err);
}

static int parse(const char *path, const char *text, size_t len, json_t **state, struct err *err)
{
	json_error_t why;
	json_t *got = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	int version;

	if (!got)
		return err_fail(err, EPROTO, "'%s/state.json' is damaged (line %d: %s)", path,
				why.line, why.text);
	if (json_unpack(got, "{s:i}", "version", &version) || version != STATE_VERSION) {
		json_decref(got);
		return err_fail(err, EPROTO,
				"'%s/state.json' was written by another version of "
				"vpclab",
				path);
	}
	*state = got;
	return 0;
}

int state_read(const struct rundir *r, json_t **state, struct err *err)
{
	autofd int fd = rundir_open_state(r, err);
	autofree char *text = NULL;
	json_t *got = NULL;
	size_t len;
	int rc;

	if (fd < 0)
		return fd;
	rc = file_read_fd(fd, "state.json", &text, &len, err);
	if (!rc)
		rc = parse(r->path, text, len, &got, err);
	if (rc)
		return rc;
	if (!str_eq(json_string_value(json_object_get(got, "name")), r->name)) {
		json_decref(got);
		return err_fail(err, EPROTO, "'%s/state.json' is of another lab", r->path);
	}
	*state = got;
	return 0;
}

/* Without its watcher it never gets ready. Stale ones are told by the lock, see rundir.h. */
static enum state_life life_of_starting(const json_t *state)
{
	struct err ignored = ERR_INIT;
	struct ident id;
	int fd;

	if (state_get_ident(state, "watcher", &id, &ignored))
		return STATE_STARTING;
	fd = ident_open(&id);
	if (fd >= 0)
		close(fd);
	return fd == -ESRCH ? STATE_ENDED : STATE_STARTING;
}

enum state_life state_life(const json_t *state, int *pidfd, struct err *err)
{
	const char *status = json_string_value(json_object_get(state, "status"));
	struct err ignored = ERR_INIT;
	struct ident id;
	int fd;

	if (!status || strcmp(status, "running") != 0)
		return life_of_starting(state);
	if (state_get_ident(state, "supervisor", &id, &ignored))
		return STATE_ENDED;
	fd = ident_open(&id);
	if (fd == -ESRCH)
		return STATE_ENDED;
	if (fd < 0) {
		err_sys(err, -fd, "cannot look at process %d", (int)id.pid);
		return STATE_UNKNOWN;
	}
	if (!ident_is_ours(&id, json_is_true(json_object_get(state, "userns")))) {
		close(fd);
		return STATE_ENDED;
	}
	if (pidfd)
		*pidfd = fd;
	else
		close(fd);
	return STATE_RUNNING;
}

int state_options(const json_t *state, struct compile_options *o, struct err *err)
{
	json_int_t slip, exact;
	int unshaped, kernel, tun, netem, police, vlan;

	if (json_unpack((json_t *)state, "{s:b, s:{s:I, s:I, s:b, s:b, s:b, s:b, s:b}}", "unshaped",
			&unshaped, "machine", "slip_ns", &slip, "exact_max_bps", &exact,
			"ovs_kernel", &kernel, "ovs_tun", &tun, "netem", &netem, "police", &police,
			"vlan", &vlan))
		return err_fail(err, EPROTO,
				"the lab's state does not say how it was compiled: another "
				"version of vpclab made it");
	*o = (struct compile_options){
	    .unshaped = unshaped,
	    .machine = {.slip_ns = slip,
			.exact_max_bps = exact,
			.ovs_kernel = kernel,
			.ovs_tun = tun,
			.netem = netem,
			.police = police,
			.vlan = vlan},
	};
	return 0;
}

/* The problems as one error: the topology was good when the lab was made, so this is rare. */
static int problems_error(struct problems *p, struct err *err)
{
	autostr struct strbuf text = {0};

	problems_print(p, &text);
	return err_input(err, "the lab's topology no longer compiles:\n%s", strbuf_text(&text));
}

/* Those of overrides, which are named as they were given. */
static int sets_error(struct problems *p, struct err *err)
{
	autostr struct strbuf text = {0};

	problems_sort(p);
	VEC_FOREACH (it, &p->list) {
		const char *place = it->at.file ? it->at.file : "";

		if (str_starts(place, TOPOLOGY_SET_PREFIX))
			place += strlen(TOPOLOGY_SET_PREFIX);
		strbuf_addf(&text, "%s%s: %s", text.len ? "\n" : "", place, it->text);
	}
	return err_input(err, "%s", strbuf_text(&text));
}

/* The other files, as files_json() wrote them. */
static int read_files(const json_t *state, struct topology_source *src, struct err *err)
{
	json_t *files = json_object_get(state, "files"), *text;
	struct topology_file *all = mem_zalloc((json_object_size(files) + 1) * sizeof(*all));
	const char *name;

	src->files = all;
	json_object_foreach(files, name, text)
	{
		if (!json_is_string(text))
			return err_fail(err, EPROTO, "the lab's state does not hold '%s'", name);
		all[src->n_files++] =
		    (struct topology_file){name, json_string_value(text), json_string_length(text)};
	}
	return 0;
}

static int read_sets(const json_t *sets, struct topology_source *src, struct err *err)
{
	const char **texts = mem_zalloc((json_array_size(sets) + 1) * sizeof(*texts));

	src->sets = texts;
	for (; src->n_sets < json_array_size(sets); src->n_sets++) {
		texts[src->n_sets] = json_string_value(json_array_get(sets, src->n_sets));
		if (!texts[src->n_sets])
			return err_fail(err, EPROTO,
					"the lab's state has a 'sets' that is no text");
	}
	return 0;
}

int state_source(const json_t *state, const json_t *sets, struct topology_source *src,
		 struct err *err)
{
	const char *text = json_string_value(json_object_get(state, "topology"));
	const char *source = json_string_value(json_object_get(state, "source"));
	int rc;

	*src = (struct topology_source){0};
	if (!text || !source)
		return err_fail(err, EPROTO, "the lab's state does not hold its topology");
	src->main = (struct topology_file){source, text, strlen(text)};
	rc = read_sets(sets, src, err);
	return rc ? rc : read_files(state, src, err);
}

void state_source_done(struct topology_source *src)
{
	free((void *)src->sets);
	free((void *)src->files);
	*src = (struct topology_source){0};
}

/* Gives problems, and `w` where there are none. `files` (or NULL): what it was made of. */
static int compile(const struct state_compile *c, struct wire *w, struct problems *p,
		   struct err *err)
{
	struct topology_source src;
	struct compile_options o;
	struct load load;
	int rc = state_options(c->state, &o, err);

	if (rc)
		return rc;
	rc = state_source(c->state, c->sets, &src, err);
	if (!rc) {
		load_topology(&src, &load, p);
		if (problems_count(p) == 0) {
			topology_compile(load.topology, &o, w, p);
			if (problems_count(p))
				wire_done(w);
		}
		if (c->files)
			*c->files = files_json(load.files.v, load.files.n);
		load_done(&load);
	}
	state_source_done(&src);
	return rc;
}

int state_compile(const json_t *state, struct wire *w, struct err *err)
{
	const struct state_compile c = {state, json_object_get(state, "sets"), NULL};
	struct problems p;
	int rc;

	problems_init(&p);
	rc = compile(&c, w, &p, err);
	if (!rc && problems_count(&p))
		rc = problems_error(&p, err);
	problems_done(&p);
	return rc;
}

int state_compile_sets(const struct state_compile *c, struct wire *w, struct err *err)
{
	struct problems p;
	int rc;

	problems_init(&p);
	rc = compile(c, w, &p, err);
	if (!rc && problems_count(&p))
		rc = sets_error(&p, err);
	problems_done(&p);
	return rc;
}

const char *state_time(char buf[static 32], const json_t *state)
{
	time_t t = (time_t)json_integer_value(json_object_get(state, "started_s"));
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, 32, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, 32, "an unknown time");
	return buf;
}
