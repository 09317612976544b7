/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * change: lab_change() and lab_reset(): a running lab becomes what its topology says with other
 * overrides. Works out the difference of two plans outside; change_inside.c applies it. Called by
 * `vpclab set` and by the harness for a scenario's schedule.
 *
 * Theory of operation. A lock file in the run directory lets one change at a time in. Before
 * anything is touched, the new overrides are added to "changing" in the state; when all is done,
 * they are its "sets", and "changing" is gone. A process that is killed in between leaves it
 * behind: then nobody knows which parts of the lab are old and which new, `vpclab check` tells
 * those that are not as before, and the next change makes all parts anew on which they do not
 * agree.
 */
#include "emulator/lab/change.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "emulator/lab/handle.h"
#include "emulator/lab/state.h"
#include "emulator/model/wire_text.h"

#define LOCK_FILE "change.lock"
#define LOCK_NS	  (30 * NSEC_PER_SEC)
#define LOCK_LOOK (2 * NSEC_PER_MSEC)

/* Changes of a lab that may be broken off one after the other. */
#define CHANGE_PENDING_MAX (PLAN_DIFF_BEFORE_MAX - 2)

/* ---- overrides ---- */

/* Does a set of `later` make `earlier` say nothing? */
static bool covers(const char *later, const char *earlier)
{
	size_t len = strcspn(later, "=");

	return !strncmp(earlier, later, len) && (earlier[len] == '=' || earlier[len] == '.');
}

/*
 * Overrides `more` after those of `sets`; an earlier one of the same place, or of a place below it,
 * says nothing any more and is left out. Gives a reference.
 */
static json_t *change_join(const json_t *sets, const char *const *more, size_t n)
{
	json_t *all = json_copy((json_t *)sets);

	for (size_t i = 0; i < n; i++) {
		for (size_t k = json_array_size(all); k-- > 0;) {
			if (covers(more[i], json_string_value(json_array_get(all, k))))
				json_array_remove(all, k);
		}
		json_array_append_new(all, json_string(more[i]));
	}
	return all;
}

bool change_broken_off(const json_t *state)
{
	return json_is_array(json_object_get(state, "changing"));
}

/* ---- in words ---- */

static void describe_one(const struct wire_link *l, const char *way, const char *was,
			 const char *is, struct strbuf *out)
{
	if (strcmp(was, is) == 0)
		return;
	strbuf_addf(out, "%s%s: %s (was %s)\n", l->name, way, *is ? is : "nothing",
		    *was ? was : "nothing");
}

/* A queue that was asked for; the usual one needs no word. */
static void add_queue(struct strbuf *out, const struct wire_rate *r)
{
	char text[64];

	if (r->queue_ns)
		strbuf_addf(out, ", queue %s", units_format_time(text, sizeof(text), r->queue_ns));
	else if (r->queue_bytes)
		strbuf_addf(out, ", queue %lld bytes", (long long)r->queue_bytes);
}

static void describe_direction(const struct wire_link *was, const struct wire_link *is, bool ba,
			       const char *way, struct strbuf *out)
{
	autostr struct strbuf a = {0}, b = {0}, c = {0}, d = {0};

	wire_text_shape(&a, ba ? &was->ba : &was->ab);
	add_queue(&a, ba ? &was->ba.rate : &was->ab.rate);
	wire_text_shape(&b, ba ? &is->ba : &is->ab);
	add_queue(&b, ba ? &is->ba.rate : &is->ab.rate);
	describe_one(is, way, strbuf_text(&a), strbuf_text(&b), out);
	wire_text_impair(&c, ba ? &was->impair_ba : &was->impair_ab);
	wire_text_impair(&d, ba ? &is->impair_ba : &is->impair_ab);
	describe_one(is, way, strbuf_text(&c), strbuf_text(&d), out);
}

static void describe_connections(const struct wire_link *is, int64_t was, struct strbuf *out)
{
	autofree char *now =
	    is->connections ? mem_printf("%lld connections at most", (long long)is->connections)
			    : mem_strdup("any number of connections");

	if (was)
		strbuf_addf(out, "%s: %s (was %lld)\n", is->name, now, (long long)was);
	else
		strbuf_addf(out, "%s: %s (was any number)\n", is->name, now);
}

static const char *node_of(const struct wire *w, int dev)
{
	return w->nodes.v[w->devs.v[dev].node].name;
}

/* Adds a line for each link and direction that carries something else than before. */
static void change_describe(const struct wire *before, const struct wire *after, struct strbuf *out)
{
	for (size_t i = 0; i < after->links.n && i < before->links.n; i++) {
		const struct wire_link *was = &before->links.v[i], *is = &after->links.v[i];
		const char *a = node_of(after, is->dev_a), *b = node_of(after, is->dev_b);
		autofree char *ab = is->sum ? mem_strdup("") : mem_printf(", %s to %s", a, b);
		autofree char *ba = mem_printf(", %s to %s", b, a);

		describe_direction(was, is, false, ab, out);
		if (!is->sum)
			describe_direction(was, is, true, ba, out);
		if (was->connections != is->connections)
			describe_connections(is, was->connections, out);
	}
}

/* ---- the lock, and the state ---- */

static int take_lock(const struct lab *lab, struct err *err)
{
	autofree char *path = mem_printf("%s/" LOCK_FILE, lab->dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int64_t deadline = clock_now_ns() + LOCK_NS;

	if (fd < 0)
		return err_sys(err, errno, "cannot lock lab '%s' for a change", lab->name);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (clock_now_ns() < deadline) { /* flock() has no deadline of its own */
			clock_sleep_until_ns(clock_now_ns() + LOCK_LOOK);
			continue;
		}
		close(fd);
		return err_fail(err, EBUSY, "another command is changing lab '%s'", lab->name);
	}
	return fd;
}

/* What another change wrote since the lab was opened. */
static int refresh(struct lab *lab, struct err *err)
{
	struct rundir run;
	json_t *state = NULL;
	int rc = rundir_open(lab->base, lab->name, &run, err);

	if (rc)
		return rc;
	rc = state_read(&run, &state, err);
	rundir_close(&run);
	if (rc)
		return rc;
	json_object_set(lab->state, "sets", json_object_get(state, "sets"));
	json_object_set(lab->state, "files", json_object_get(state, "files"));
	json_object_del(lab->state, "changing");
	if (change_broken_off(state))
		json_object_set(lab->state, "changing", json_object_get(state, "changing"));
	json_decref(state);
	return 0;
}

/* `changing` NULL: no change is under way (any more). */
static int note(struct lab *lab, json_t *changing, struct err *err)
{
	if (changing)
		json_object_set(lab->state, "changing", changing);
	else
		json_object_del(lab->state, "changing");
	return state_write(lab->dir, lab->state, err);
}

/* ---- the change ---- */

struct side { /* a lab as it would be with some overrides */
	struct wire wire;
	struct plan plan;
	bool made;
};

struct change {
	struct lab *lab;
	struct side before, after;
	struct side pending[CHANGE_PENDING_MAX]; /* of changes that were broken off */
	size_t n_pending;
	json_t *files; /* of `after` */
	struct plan_diff diff, undo;
	struct strbuf *what;
};

static int make_side(struct change *c, const json_t *sets, json_t **files, struct side *out,
		     struct err *err)
{
	const struct state_compile compile = {c->lab->state, sets, files};
	struct compile_options o;
	int rc = state_options(c->lab->state, &o, err);

	if (!rc)
		rc = state_compile_sets(&compile, &out->wire, err);
	if (rc)
		return rc;
	plan_build(&out->wire, &o.machine, &out->plan);
	out->made = true;
	return 0;
}

static void side_done(struct side *s)
{
	if (!s->made)
		return;
	plan_done(&s->plan);
	wire_done(&s->wire);
}

static int make_sides(struct change *c, const json_t *sets, struct err *err)
{
	const json_t *state = c->lab->state, *changing = json_object_get(state, "changing");
	int rc = make_side(c, sets, &c->files, &c->after, err);

	if (!rc)
		rc = make_side(c, json_object_get(state, "sets"), NULL, &c->before, err);
	if (!rc && json_array_size(changing) > CHANGE_PENDING_MAX)
		rc = err_fail(err, ENOTRECOVERABLE,
			      "%zu changes of lab '%s' were broken off; take it down",
			      json_array_size(changing), c->lab->name);
	for (; !rc && c->n_pending < json_array_size(changing); c->n_pending++)
		rc = make_side(c, json_array_get(changing, c->n_pending), NULL,
			       &c->pending[c->n_pending], err);
	return rc;
}

static int make_diffs(struct change *c, struct err *err)
{
	const struct plan_diff_side after = {&c->after.wire, &c->after.plan};
	struct plan_diff_side before[PLAN_DIFF_BEFORE_MAX];
	size_t n = 0;
	int rc;

	before[n++] = (struct plan_diff_side){&c->before.wire, &c->before.plan};
	for (size_t i = 0; i < c->n_pending; i++)
		before[n++] = (struct plan_diff_side){&c->pending[i].wire, &c->pending[i].plan};
	rc = plan_diff(before, n, &after, &c->diff, err);
	before[n++] = after; /* half-way, each part is what one of them says */
	return rc ? rc : plan_diff(before, n, &before[0], &c->undo, err);
}

static int inside(void *arg, int out_fd, struct err *err)
{
	const struct change *c = arg;

	(void)out_fd;
	return change_apply(&c->diff, &c->undo, err);
}

static int touch(struct change *c, json_t *sets, struct err *err)
{
	json_t *old = json_incref(json_object_get(c->lab->state, "changing"));
	json_t *now = old ? json_copy(old) : json_array();
	autofree char *nothing = NULL;
	struct err second = ERR_INIT;
	int rc;

	json_array_append(now, sets);
	rc = note(c->lab, now, err);
	if (!rc)
		rc = lab_call(c->lab, NULL, inside, c, &nothing, NULL, err);
	/* A process that ended early left it half-way; else it is again as it was. */
	if (rc && rc != -ENOTRECOVERABLE && rc != -EINTR)
		note(c->lab, old, &second);
	json_decref(now);
	json_decref(old);
	return rc;
}

static int apply(struct change *c, json_t *sets, struct err *err)
{
	int rc = c->diff.changes.n ? touch(c, sets, err) : 0;

	if (rc)
		return rc;
	json_object_set(c->lab->state, "sets", sets);
	json_object_set(c->lab->state, "files", c->files);
	return note(c->lab, NULL, err);
}

static int change(struct change *c, json_t *sets, struct err *err)
{
	int rc = make_sides(c, sets, err);

	if (!rc)
		rc = make_diffs(c, err);
	if (!rc)
		rc = apply(c, sets, err);
	if (!rc)
		change_describe(&c->before.wire, &c->after.wire, c->what);
	if (!rc && c->n_pending)
		strbuf_add(c->what, "what a change that was broken off had left is put right\n");
	plan_diff_done(&c->diff);
	plan_diff_done(&c->undo);
	side_done(&c->before);
	for (size_t i = 0; i < c->n_pending; i++)
		side_done(&c->pending[i]);
	side_done(&c->after);
	json_decref(c->files);
	return rc;
}

/* To the topology with these values set, under the lab's lock; `more`: besides those set before. */
static int change_to(struct lab *lab, const char *const *sets, size_t n, bool more,
		     struct strbuf *what, struct err *err)
{
	struct change c = {.lab = lab, .what = what};
	autofd int lock = take_lock(lab, err);
	int rc = lock < 0 ? lock : refresh(lab, err);

	if (rc)
		return rc;
	json_t *none = json_array();
	json_t *all = change_join(more ? json_object_get(lab->state, "sets") : none, sets, n);
	rc = change(&c, all, err);
	json_decref(all);
	json_decref(none);
	return rc;
}

int lab_change(struct lab *lab, const char *const *sets, size_t n, struct strbuf *what,
	       struct err *err)
{
	return change_to(lab, sets, n, true, what, err);
}

int lab_reset(struct lab *lab, const char *const *sets, size_t n, struct strbuf *what,
	      struct err *err)
{
	return change_to(lab, sets, n, false, what, err);
}

int lab_source(const struct lab *lab, struct topology_source *out, struct err *err)
{
	return state_source(lab->state, json_object_get(lab->state, "sets"), out, err);
}

void lab_source_done(struct topology_source *src)
{
	state_source_done(src);
}
