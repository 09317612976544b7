/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch: the process outside that belongs to a lab. Called by lab_up() through fork().
 *
 * Who notices whose death: the watcher that of the supervisor (pidfd) and, until the lab is
 * released or for ever when it is tied, that of the command (pidfd and end of file), and that of
 * the run directory; the supervisor that of the watcher (lifeline). Whoever is left of the two
 * removes the run directory. It enters no namespace and builds nothing.
 */
#include "emulator/lab/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/proc.h"
#include "emulator/lab/msg.h"
#include "emulator/lab/rundir.h"
#include "emulator/lab/state.h"
#include "emulator/lab/supervisor.h"
#include "emulator/lab/wake.h"

#define END_GRACE_MS 2000 /* the supervisor's time to end by itself */
#define WAKE_MS	     200

struct watch {
	const struct watch_job *job;
	struct rundir run;
	json_t *state;
	pid_t sup;
	int sup_pidfd;
	int lifeline; /* write end; only its closing counts */
	int report;   /* read end */
	int notify;   /* of the run directory */
	int ctl, caller_pidfd;
};

enum event { EV_REPORT, EV_RELEASED, EV_CALLER_GONE, EV_SUPERVISOR_GONE, EV_UNREACHABLE };

static void default_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL); /* refused for KILL, STOP and libc's own: as wanted */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void put_stdio(int fd, int from)
{
	for (int i = from; fd >= 0 && i <= 2; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static void detach(struct watch *w)
{
	w->ctl = fcntl(w->job->ctl, F_DUPFD_CLOEXEC, 3);
	w->caller_pidfd = fcntl(w->job->caller_pidfd, F_DUPFD_CLOEXEC, 3);
	if (w->ctl < 0 || w->caller_pidfd < 0 || chdir("/") < 0)
		_exit(1);
	prctl(PR_SET_NAME, "vpclab-watch");
	default_signals();
	put_stdio(open("/dev/null", O_RDWR | O_CLOEXEC), 0);
	/* No pipe of the caller may stay open. */
	proc_close_others((int[]){w->ctl, w->caller_pidfd}, 2);
	umask(077);
}

/* What processes of the lab say on standard error, OVS daemons for one. */
static void open_log(const struct watch *w)
{
	put_stdio(rundir_open_log(&w->run), 1);
}

static int claim(struct watch *w, struct err *err)
{
	struct ident self;
	int rc = rundir_claim(NULL, w->job->name, &w->run, err);

	if (rc)
		return rc;
	open_log(w);
	w->state = state_new(w->job->name, w->job->options);
	if (!w->state)
		return err_input(err, "the topology's text is not UTF-8");
	rc = ident_of(getpid(), &self, err);
	if (rc)
		return rc;
	state_set_ident(w->state, "watcher", &self);
	rc = state_write(w->run.path, w->state, err);
	w->notify = rundir_notify(&w->run);
	if (!rc && w->notify < 0)
		rundir_log(&w->run, "the removal of this directory will not be noticed: %s",
			   strerror(errno));
	return rc;
}

static int start_supervisor(struct watch *w, struct err *err)
{
	struct supervisor_job job = {
	    .plan = w->job->plan,
	    .run = &w->run,
	    .userns = supervisor_needs_userns(),
	    .uid = geteuid(),
	    .gid = getegid(),
	};
	int life[2], rep[2], rc;

	if (pipe2(life, O_CLOEXEC) < 0 || pipe2(rep, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot make a pipe");
	job.lifeline = life[0];
	job.report = rep[1];
	job.not_its[0] = life[1];
	job.not_its[1] = rep[0];
	job.not_its[2] = w->ctl;
	job.not_its[3] = w->caller_pidfd;
	rc = supervisor_start(&job, &w->sup, &w->sup_pidfd, err);
	close(life[0]);
	close(rep[1]);
	w->lifeline = life[1];
	w->report = rep[0];
	json_object_set_new(w->state, "userns", json_boolean(job.userns));
	return rc;
}

/* Compiling once more, while the supervisor builds, costs no time of the user's. */
static int describe(struct watch *w, struct err *err)
{
	struct ident sup;
	struct wire wire;
	int rc = ident_of(w->sup, &sup, err);

	if (!rc)
		rc = state_compile(w->state, &wire, err);
	if (rc)
		return rc;
	state_set_ident(w->state, "supervisor", &sup);
	json_object_set_new(w->state, "nodes", json_integer((json_int_t)wire.nodes.n));
	json_object_set_new(w->state, "links", json_integer((json_int_t)wire.links.n));
	wire_done(&wire);
	return 0;
}

static enum event read_ctl(struct watch *w)
{
	char c = 0;
	ssize_t n = read(w->ctl, &c, 1);

	return n == 1 && c == WATCH_RELEASE ? EV_RELEASED : EV_CALLER_GONE;
}

/* Waits for one of the events; -1 as descriptor of what does not count (any more). */
static enum event wait_event(struct watch *w, int report, int ctl, int caller)
{
	struct pollfd p[] = {
	    {.fd = report, .events = POLLIN},	    {.fd = ctl, .events = POLLIN},
	    {.fd = w->sup_pidfd, .events = POLLIN}, {.fd = caller, .events = POLLIN},
	    {.fd = w->notify, .events = POLLIN},
	};

	for (;;) {
		if (poll(p, ARRAY_SIZE(p), -1) <= 0) {
			if (errno != EINTR)
				return EV_CALLER_GONE; /* ends the lab, cleanly */
			continue;
		}
		if (p[0].revents)
			return EV_REPORT;
		if (p[1].revents)
			return read_ctl(w);
		if (p[2].revents || p[3].revents)
			return p[2].revents ? EV_SUPERVISOR_GONE : EV_CALLER_GONE;
		rundir_drain(w->notify);
		if (!rundir_intact(&w->run))
			return EV_UNREACHABLE;
	}
}

static void end_supervisor(struct watch *w)
{
	struct pollfd p = {.fd = w->sup_pidfd, .events = POLLIN};

	if (w->sup <= 0)
		return;
	pidfd_send_signal(w->sup_pidfd, SIGTERM, NULL, 0);
	if (poll(&p, 1, END_GRACE_MS) <= 0)
		pidfd_send_signal(w->sup_pidfd, SIGKILL, NULL, 0);
	while (poll(&p, 1, WAKE_MS) == 0)
		wake_parents(w->sup);
	while (waitpid(w->sup, NULL, __WALL) < 0 && errno == EINTR)
		;
}

static int take_report(struct watch *w, json_t **report, struct err *err)
{
	int rc;

	if (wait_event(w, w->report, w->ctl, w->caller_pidfd) != EV_REPORT)
		return err_fail(err, ECANCELED, "starting the lab was broken off");
	rc = msg_recv(w->report, report);
	if (rc)
		return err_fail(err, -rc, "the lab ended while it was being built");
	rc = msg_take_error(*report, err);
	if (rc)
		json_decref(*report);
	return rc;
}

static int finish(struct watch *w, json_t *report, struct err *err)
{
	json_t *choices = json_object_get(report, "choices");

	json_object_set(w->state, "plan_choices", json_is_object(choices) ? choices : json_null());
	json_object_set(w->state, "phase_ns", json_object_get(report, "phase_ns"));
	json_object_set_new(w->state, "status", json_string("running"));
	return state_write(w->run.path, w->state, err);
}

/* Tells the command, and waits until it has the lab in hand. 0 when it has. */
static int hand_over(struct watch *w)
{
	int base_len = (int)(strrchr(w->run.path, '/') - w->run.path);
	json_t *m = json_pack("{s:O, s:s%}", "state", w->state, "base", w->run.path, base_len);
	int rc = msg_send(w->ctl, m);

	json_decref(m);
	if (rc)
		return rc;
	return wait_event(w, -1, w->ctl, w->caller_pidfd) == EV_RELEASED ? 0 : -ECANCELED;
}

static int bring_up(struct watch *w, struct err *err)
{
	json_t *report = NULL;
	int rc = claim(w, err);

	if (!rc)
		rc = start_supervisor(w, err);
	if (!rc)
		rc = describe(w, err);
	if (!rc)
		rc = take_report(w, &report, err);
	if (rc)
		return rc;
	rc = finish(w, report, err);
	json_decref(report);
	return rc;
}

static _Noreturn void watch_main(const struct watch_job *job)
{
	struct watch w = {.job = job,
			  .run = {.parent_fd = -1, .base_fd = -1, .fd = -1},
			  .sup_pidfd = -1,
			  .lifeline = -1,
			  .notify = -1,
			  .report = -1};
	struct err err = ERR_INIT;
	int rc;

	detach(&w);
	rc = bring_up(&w, &err);
	if (!rc && hand_over(&w) == 0)
		wait_event(&w, -1, -1, job->options->tied ? w.caller_pidfd : -1);
	end_supervisor(&w);
	rundir_remove(&w.run);
	if (rc) {
		json_t *m = msg_error(&err);

		msg_send(w.ctl, m);
		json_decref(m);
	}
	_exit(0);
}

void watch_detach(const struct watch_job *job)
{
	pid_t pid;

	setsid();
	pid = fork(); /* so that the command need not wait for it, and it never gets a terminal */
	if (pid == 0)
		watch_main(job);
	_exit(pid < 0 ? errno : 0);
}
