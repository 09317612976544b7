/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * down: ends a lab. It removes nothing one by one: it ends PID 1 and waits until the kernel has
 * taken everything that hung on it. Called by cli and the harness.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "emulator/lab/canary.h"
#include "emulator/lab/handle.h"
#include "emulator/lab/rundir.h"
#include "emulator/lab/wake.h"

#define GRACE_NS (2 * NSEC_PER_SEC)  /* for an orderly end */
#define END_NS	 (10 * NSEC_PER_SEC) /* after which something is wrong */
#define WAKE_MS	 100		     /* then stopped parents are woken */
#define NETNS_NS (20 * NSEC_PER_SEC) /* the kernel's own work: milliseconds a namespace */

/* True when the supervisor ended before the deadline. */
static bool ended(const struct lab *lab, int64_t deadline)
{
	pid_t pid = (pid_t)json_integer_value(json_object_get(lab->state, "pid"));
	struct pollfd p = {.fd = lab->pidfd, .events = POLLIN};
	int64_t left = 0;

	do {
		left = (deadline - clock_now_ns()) / NSEC_PER_MSEC;
		if (poll(&p, 1, left < 0 ? 0 : left > WAKE_MS ? WAKE_MS : (int)left) > 0)
			return true;
		wake_parents(pid);
	} while (left > 0);
	return false;
}

static int end_processes(const struct lab *lab, struct err *err)
{
	int64_t now = clock_now_ns();

	pidfd_send_signal(lab->pidfd, SIGTERM, NULL, 0);
	if (ended(lab, now + GRACE_NS))
		return 0;
	pidfd_send_signal(lab->pidfd, SIGKILL, NULL, 0);
	if (ended(lab, now + END_NS))
		return 0;
	return err_fail(err, ETIMEDOUT,
			"lab '%s' does not end: a process that someone put into it from outside is "
			"dead, and its parent (hanging?) has not collected it",
			lab->name);
}

int lab_down(struct lab *lab, struct err *err)
{
	struct err no_canary = ERR_INIT;
	struct canary canary = {.proc = {-1, -1}, .line = -1};
	/* Also without one the lab must end; only the moment of the end is not seen then. */
	int watched = canary_start(lab, &canary, &no_canary);
	int rc = end_processes(lab, err);

	if (!rc && !watched)
		rc = canary_wait(&canary, clock_now_ns() + NETNS_NS, err);
	canary_done(&canary);
	if (!rc && !rundir_wait_gone(lab->base, lab->name, clock_now_ns() + END_NS))
		rc = err_fail(err, ETIMEDOUT, "the directory of lab '%s' does not go away: %s",
			      lab->name, lab->dir);
	lab_close(lab);
	return rc;
}

/* No supervisor is known. Its watcher is asked; if that has died, the supervisor ends by itself. */
static int end_by_watcher(const char *base, const char *name, struct err *err)
{
	struct rundir r;
	int rc = rundir_open(base, name, &r, err);

	if (rc)
		return rc;
	rundir_ask_end(&r);
	rundir_close(&r);
	if (!rundir_wait_gone(base, name, clock_now_ns() + END_NS))
		return err_fail(err, ETIMEDOUT,
				"lab '%s' does not end; kill the processes that hold %s/%s (fuser "
				"shows them), all named vpclab-watch and vpclab-lab",
				name, base, name);
	return 0;
}

static int end_in(const char *base, const char *name, struct err *err)
{
	struct lab *lab;
	int rc = lab_open_in(base, name, &lab, err);

	if (!rc)
		return lab_down(lab, err);
	return rc == -ENOENT || rc == -EPROTO ? end_by_watcher(base, name, err) : rc;
}

int lab_end(const char *name, struct err *err)
{
	char bases[RUNDIR_BASES][PATH_MAX];
	size_t n = rundir_bases(bases);
	int rc = rundir_check_name(name, err);

	if (rc)
		return rc;
	rc = -ENOENT;
	for (size_t i = 0; rc == -ENOENT && i < n; i++)
		rc = end_in(bases[i], name, err);
	return rc;
}
