/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lab: starting, finding and listing labs, as lab.h promises. What happens inside is in
 * supervisor.c, what stays outside in watch.c, entering in enter.c, ending in down.c. Called by cli
 * and the harness.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/lab/handle.h"
#include "emulator/lab/msg.h"
#include "emulator/lab/rundir.h"
#include "emulator/lab/state.h"
#include "emulator/lab/watch.h"

#define ABANDONED_NS (5 * NSEC_PER_SEC)
#define DYING_NS     NSEC_PER_SEC
#define FREE_NS	     (30 * NSEC_PER_SEC) /* for another command to start or to end the lab */

static int handle_new(const char *base, json_t *state, int pidfd, struct lab **out, struct err *err)
{
	const char *name = json_string_value(json_object_get(state, "name"));
	struct lab *lab;

	if (!name || strlen(name) > RUNDIR_NAME_MAX)
		return err_fail(err, EPROTO, "a lab's state without a name");
	lab = mem_zalloc(sizeof(*lab));
	snprintf(lab->base, sizeof(lab->base), "%s", base);
	snprintf(lab->dir, sizeof(lab->dir), "%.*s/%s",
		 (int)(sizeof(lab->dir) - RUNDIR_NAME_MAX - 2), base, name);
	lab->state = json_incref(state);
	lab->name = name;
	lab->pidfd = pidfd;
	*out = lab;
	return 0;
}

void lab_close(struct lab *lab)
{
	if (!lab)
		return;
	close(lab->pidfd);
	json_decref(lab->state);
	free(lab);
}

const char *lab_name(const struct lab *lab)
{
	return lab->name;
}

const json_t *lab_state(const struct lab *lab)
{
	return lab->state;
}

int lab_wire(const struct lab *lab, struct wire *w, struct err *err)
{
	return state_compile(lab->state, w, err);
}

int lab_options(const struct lab *lab, struct compile_options *o, struct err *err)
{
	return state_options(lab->state, o, err);
}

/* Starts the watcher and gives our end of the socket to it. */
static int start_watcher(struct watch_job *job, int *ctl, struct err *err)
{
	autofd int self = pidfd_open(getpid(), 0);
	int sv[2], status = 0;
	pid_t pid;

	if (self < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0)
		return err_sys(err, errno, "cannot start the lab's watcher");
	job->ctl = sv[1];
	job->caller_pidfd = self;
	pid = fork();
	if (pid == 0) {
		close(sv[0]);
		watch_detach(job);
	}
	if (pid < 0)
		err_sys(err, errno, "cannot start the lab's watcher");
	close(sv[1]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && status)
		err_sys(err, WEXITSTATUS(status) ? WEXITSTATUS(status) : EINTR,
			"cannot start the lab's watcher");
	if (pid < 0 || status) {
		close(sv[0]);
		return -err->code;
	}
	*ctl = sv[0];
	return 0;
}

/* The watcher was killed: what it left goes when the supervisor has noticed. */
static int abandoned(const char *name, struct err *err)
{
	char bases[RUNDIR_BASES][PATH_MAX];
	size_t n = rundir_bases(bases);

	for (size_t i = 0; i < n; i++)
		rundir_wait_gone(bases[i], name, clock_now_ns() + ABANDONED_NS);
	return err_fail(err, ECANCELED, "the watcher of lab '%s' was killed", name);
}

static int take_lab(const char *name, int ctl, struct lab **out, struct err *err)
{
	const char release = WATCH_RELEASE;
	const char *dir;
	json_t *m = NULL, *state;
	struct ident id;
	int rc, pidfd;

	if (msg_recv(ctl, &m))
		return abandoned(name, err);
	rc = msg_take_error(m, err);
	if (rc) {
		json_decref(m);
		return rc;
	}
	state = json_object_get(m, "state");
	dir = json_string_value(json_object_get(m, "base"));
	rc = state_get_ident(state, "supervisor", &id, err);
	pidfd = rc ? -1 : ident_open(&id);
	if (!rc && (!dir || pidfd < 0))
		rc = err_fail(err, ESRCH, "lab '%s' ended just after it had started", name);
	if (!rc)
		rc = handle_new(dir, state, pidfd, out, err);
	/* Without the answer the watcher ends the lab again. */
	if (!rc && send(ctl, &release, 1, MSG_NOSIGNAL) != 1) {
		lab_close(*out);
		rc = abandoned(name, err);
	}
	json_decref(m);
	return rc;
}

static void fill_timing(const struct lab *lab, int64_t start_ns, struct lab_timing *t)
{
	const json_t *phases = json_object_get(lab->state, "phase_ns");

	*t = (struct lab_timing){.total_ns = clock_now_ns() - start_ns};
	for (size_t i = 0; i < PHASE_COUNT; i++)
		t->phase_ns[i] = json_integer_value(json_array_get(phases, i));
}

static int read_state(const struct rundir *r, json_t **state, struct err *err)
{
	int rc = state_read(r, state, err);

	if (rc == -EPROTO)
		err_wrap(err, "lab '%s' lives but cannot be used; `vpclab down %s` ends it",
			 r->name, r->name);
	return rc;
}

/* -EALREADY when the lab of `r` runs, 0 when it is being started or ended. */
static int check_running(const struct rundir *r, struct err *err)
{
	json_t *state = NULL;
	enum state_life life;
	char time[32];
	int rc = read_state(r, &state, err);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	life = state_life(state, NULL, err);
	if (life == STATE_UNKNOWN)
		rc = -err->code;
	if (life == STATE_RUNNING)
		rc = err_fail(err, EALREADY,
			      "lab '%s' is running since %s; `vpclab down %s` ends it", r->name,
			      state_time(time, state), r->name);
	json_decref(state);
	return rc;
}

static int wait_free_in(const char *base, const char *name, int64_t deadline, struct err *err)
{
	for (;;) {
		autofd int notify = -1;
		struct rundir r;
		int rc = rundir_open(base, name, &r, err);

		if (rc)
			return rc == -ENOENT ? 0 : rc;
		notify = rundir_notify(&r); /* before looking: no change is lost */
		rc = check_running(&r, err);
		rundir_close(&r);
		if (rc)
			return rc;
		if (clock_now_ns() >= deadline)
			return err_fail(err, EBUSY,
					"lab '%s' is being started or ended by another "
					"command",
					name);
		rundir_wait_change(notify, deadline);
	}
}

/* Until no other command starts or ends a lab of that name. -EALREADY when one runs. */
static int wait_free(const char *name, int64_t deadline, struct err *err)
{
	char bases[RUNDIR_BASES][PATH_MAX];
	size_t n = rundir_bases(bases);
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++)
		rc = wait_free_in(bases[i], name, deadline, err);
	return rc;
}

/* -EALREADY: another command has begun with a lab of that name. */
static int try_up(struct watch_job *job, struct lab **out, struct err *err)
{
	int ctl = -1, rc = start_watcher(job, &ctl, err);

	if (rc)
		return rc;
	rc = take_lab(job->name, ctl, out, err);
	close(ctl);
	return rc;
}

int lab_up(const struct plan *plan, const struct lab_up_options *o, struct lab **out,
	   struct lab_timing *timing, struct err *err)
{
	struct watch_job job = {.name = o->name ? o->name : plan->name, .plan = plan, .options = o};
	int64_t start = clock_now_ns();
	int rc = rundir_check_name(job.name, err);
	bool again = !rc;

	while (again) {
		rc = wait_free(job.name, start + FREE_NS, err);
		if (rc)
			return rc;
		rc = try_up(&job, out, err);
		again = rc == -EALREADY;
	}
	if (!rc && timing)
		fill_timing(*out, start, timing);
	return rc;
}

/* The state of the lab in `r`, which runs; *pidfd is of its supervisor. -ESRCH: it is dead, but its
 * last process still has the lock. */
static int read_running(const struct rundir *r, json_t **state, int *pidfd, struct err *err)
{
	int rc = read_state(r, state, err);

	if (rc == -ENOENT)
		return err_fail(err, ENOENT, "lab '%s' is being started or ended", r->name);
	if (rc)
		return rc;
	switch (state_life(*state, pidfd, err)) {
	case STATE_STARTING:
		return err_fail(err, ENOENT, "lab '%s' is still being started", r->name);
	case STATE_ENDED:
		return err_fail(err, ESRCH, "lab '%s' has ended", r->name);
	case STATE_UNKNOWN:
		return -err->code;
	case STATE_RUNNING:
		break;
	}
	return 0;
}

int lab_open_in(const char *base, const char *name, struct lab **out, struct err *err)
{
	json_t *state = NULL;
	struct rundir r;
	int pidfd = -1, rc = rundir_open(base, name, &r, err);

	if (rc)
		return rc;
	rc = read_running(&r, &state, &pidfd, err);
	if (!rc)
		rc = handle_new(base, state, pidfd, out, err);
	json_decref(state);
	rundir_close(&r);
	if (rc == -ESRCH) { /* if nobody else is there to remove it, this command is */
		rundir_wait_gone(base, name, clock_now_ns() + DYING_NS);
		rc = -ENOENT;
	}
	return rc;
}

struct found { /* growing */
	struct lab **labs;
	size_t n;
	struct lab_entry *broken; /* live, but their state cannot be read */
	size_t n_broken;
};

static void add_broken(struct found *f, const char *name, const struct err *why)
{
	f->broken = mem_realloc(f->broken, (f->n_broken + 1) * sizeof(struct lab_entry));
	f->broken[f->n_broken++] =
	    (struct lab_entry){.name = mem_strdup(name), .problem = mem_strdup(why->text)};
}

static int find_one(const char *base, const char *name, struct found *f, struct err *err)
{
	struct lab *lab;
	int rc = rundir_check_name(name, err) ? -ENOENT : lab_open_in(base, name, &lab, err);

	if (rc == -EPROTO)
		add_broken(f, name, err);
	if (rc)
		return rc == -ENOENT || rc == -EPROTO ? 0 : rc;
	f->labs = mem_realloc(f->labs, (f->n + 1) * sizeof(struct lab *));
	f->labs[f->n++] = lab;
	return 0;
}

static int find_in(const char *base, struct found *f, struct err *err)
{
	struct dirent *e;
	DIR *dir;
	int rc = rundir_list(base, &dir, err);

	while (!rc && dir && (e = readdir(dir)))
		rc = find_one(base, e->d_name, f, err);
	if (dir)
		closedir(dir);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct lab *const *)a)->name, (*(struct lab *const *)b)->name);
}

/* All labs of this user that run, by name. Stale run directories go on the way. found_done() is
 * needed in either case. */
static int find_all(struct found *f, struct err *err)
{
	char bases[RUNDIR_BASES][PATH_MAX];
	size_t n = rundir_bases(bases);
	int rc = 0;

	*f = (struct found){0};
	for (size_t i = 0; !rc && i < n; i++)
		rc = find_in(bases[i], f, err);
	if (f->n)
		qsort(f->labs, f->n, sizeof(struct lab *), by_name);
	return rc;
}

static void found_done(struct found *f)
{
	for (size_t i = 0; i < f->n; i++)
		lab_close(f->labs[i]);
	free(f->labs);
	lab_list_free(f->broken, f->n_broken);
}

static int not_found(const char *name, const struct found *f, struct err *err)
{
	autofree const char **names = mem_zalloc((f->n + 1) * sizeof(*names));
	const char *near;

	for (size_t i = 0; i < f->n; i++)
		names[i] = f->labs[i]->name;
	if (f->n == 0)
		return err_fail(err, ENOENT, "there is no lab '%s'; none is running", name);
	near = str_suggest(name, names, f->n);
	if (!near && f->n == 1)
		return err_fail(err, ENOENT, "there is no lab '%s'; '%s' is running", name,
				names[0]);
	if (!near)
		return err_fail(err, ENOENT, "there is no lab '%s'; vpclab ls shows those that run",
				name);
	return err_fail(err, ENOENT, "there is no lab '%s'; did you mean '%s'?", name, near);
}

/* NAME not given: right where there is one lab alone. */
static int open_only(struct found *f, struct lab **out, struct err *err)
{
	autostr struct strbuf names = {0};

	if (f->n == 0 && f->n_broken)
		return err_fail(err, EPROTO, "%s", f->broken[0].problem);
	if (f->n == 0)
		return err_fail(err, ENOENT, "no lab is running; vpclab up FILE starts one");
	if (f->n > 1) {
		for (size_t i = 0; i < f->n; i++)
			strbuf_addf(&names, "%s%s", i ? ", " : "", f->labs[i]->name);
		return err_input(err, "%zu labs are running; say which one: %s", f->n,
				 strbuf_text(&names));
	}
	*out = f->labs[0];
	f->n = 0;
	return 0;
}

static int open_named(const char *name, struct lab **out, struct err *err)
{
	char bases[RUNDIR_BASES][PATH_MAX];
	size_t n = rundir_bases(bases);
	int rc = rundir_check_name(name, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		rc = lab_open_in(bases[i], name, out, err);
		if (rc != -ENOENT)
			return rc;
	}
	return rc;
}

int lab_open(const char *name, struct lab **out, struct err *err)
{
	struct found f;
	int rc = name ? open_named(name, out, err) : -ENOENT;

	if (rc != -ENOENT)
		return rc;
	rc = find_all(&f, err);
	if (!rc)
		rc = name ? not_found(name, &f, err) : open_only(&f, out, err);
	found_done(&f);
	return rc;
}

static void fill_entry(const struct lab *lab, struct lab_entry *e)
{
	const json_t *s = lab->state;
	const char *source = json_string_value(json_object_get(s, "source"));

	*e = (struct lab_entry){
	    .name = mem_strdup(lab->name),
	    .source = mem_strdup(source ? source : ""),
	    .pid = (pid_t)json_integer_value(json_object_get(s, "pid")),
	    .started_s = json_integer_value(json_object_get(s, "started_s")),
	    .nodes = (size_t)json_integer_value(json_object_get(s, "nodes")),
	    .links = (size_t)json_integer_value(json_object_get(s, "links")),
	};
}

int lab_list(struct lab_entry **list, size_t *n, struct err *err)
{
	struct found f;
	int rc = find_all(&f, err);

	if (!rc) {
		*n = f.n + f.n_broken;
		*list = mem_zalloc((*n + 1) * sizeof(**list));
		for (size_t i = 0; i < f.n; i++)
			fill_entry(f.labs[i], &(*list)[i]);
		for (size_t i = 0; i < f.n_broken; i++)
			(*list)[f.n + i] = f.broken[i];
		f.n_broken = 0; /* the texts have moved */
		free(f.broken);
		f.broken = NULL;
	}
	found_done(&f);
	return rc;
}

void lab_list_free(struct lab_entry *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].name);
		free(list[i].source);
		free(list[i].problem);
	}
	free(list);
}
