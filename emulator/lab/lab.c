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

/* The watcher makes sure that there is one lab of a name in one BASE; this looks into the others.
 */
static int check_free(const char *name, struct err *err)
{
	char bases[RUNDIR_BASES][PATH_MAX], time[32];
	size_t n = rundir_bases(bases);
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		struct err ignored = ERR_INIT;
		struct lab *lab;

		if (lab_open_in(bases[i], name, &lab, &ignored))
			continue;
		rc = err_fail(err, EEXIST, "lab '%s' is running since %s; `vpclab down %s` ends it",
			      name, state_time(time, lab->state), name);
		lab_close(lab);
	}
	return rc;
}

int lab_up(const struct plan *plan, const struct lab_up_options *o, struct lab **out,
	   struct lab_timing *timing, struct err *err)
{
	struct watch_job job = {.name = o->name ? o->name : plan->name, .plan = plan, .options = o};
	int64_t start = clock_now_ns();
	struct lab *lab;
	int ctl = -1, rc;

	rc = rundir_check_name(job.name, err);
	if (!rc)
		rc = check_free(job.name, err);
	if (!rc)
		rc = start_watcher(&job, &ctl, err);
	if (rc)
		return rc;
	rc = take_lab(job.name, ctl, &lab, err);
	close(ctl);
	if (rc)
		return rc;
	if (timing)
		fill_timing(lab, start, timing);
	*out = lab;
	return 0;
}

int lab_open_in(const char *base, const char *name, struct lab **out, struct err *err)
{
	autofree char *dir = mem_printf("%s/%s", base, name);
	json_t *state = NULL;
	int pidfd = -1, rc;

	if (rundir_prune(base, name)) /* nobody holds it: all of it has died */
		return err_fail(err, ENOENT, "there is no lab '%s'", name);
	rc = state_read(dir, &state, err);
	if (rc)
		return rc;
	switch (state_life(state, &pidfd)) {
	case STATE_STARTING:
		rc = err_fail(err, ENOENT, "lab '%s' is still being started", name);
		break;
	case STATE_ENDED:
		rc = err_fail(err, ENOENT, "lab '%s' has ended", name);
		break;
	case STATE_RUNNING:
		rc = handle_new(base, state, pidfd, out, err);
		break;
	}
	json_decref(state);
	return rc;
}

struct found { /* growing */
	struct lab **labs;
	size_t n;
};

static void find_in(const char *base, struct found *f)
{
	DIR *dir = opendir(base);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct err why = ERR_INIT;
		struct lab *lab;

		if (rundir_check_name(e->d_name, &why) || lab_open_in(base, e->d_name, &lab, &why))
			continue;
		f->labs = mem_realloc(f->labs, (f->n + 1) * sizeof(struct lab *));
		f->labs[f->n++] = lab;
	}
	if (dir)
		closedir(dir);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct lab *const *)a)->name, (*(struct lab *const *)b)->name);
}

/* All labs of this user that run, by name. Stale run directories go on the way. */
static struct found find_all(void)
{
	char bases[RUNDIR_BASES][PATH_MAX];
	size_t n = rundir_bases(bases);
	struct found f = {0};

	for (size_t i = 0; i < n; i++)
		find_in(bases[i], &f);
	if (f.n)
		qsort(f.labs, f.n, sizeof(struct lab *), by_name);
	return f;
}

static void found_done(struct found *f)
{
	for (size_t i = 0; i < f->n; i++)
		lab_close(f->labs[i]);
	free(f->labs);
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

	if (f->n == 0)
		return err_fail(err, ENOENT, "no lab is running; vpclab up FILE starts one");
	if (f->n > 1) {
		for (size_t i = 0; i < f->n; i++)
			strbuf_addf(&names, "%s%s", i ? ", " : "", f->labs[i]->name);
		return err_input(err, "%zu labs are running, say which one: %s", f->n,
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
	f = find_all();
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
	struct found f = find_all();

	(void)err; /* what cannot be read is not a lab of ours */
	*list = mem_zalloc((f.n + 1) * sizeof(**list));
	*n = f.n;
	for (size_t i = 0; i < f.n; i++)
		fill_entry(f.labs[i], &(*list)[i]);
	found_done(&f);
	return 0;
}

void lab_list_free(struct lab_entry *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].name);
		free(list[i].source);
	}
	free(list);
}
