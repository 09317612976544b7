/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_capture: runs tcpdump beside a tool's server, cut to headers and to a number of packets, so
 * that a fault can be looked at afterwards. Reads nothing of it. Called by trial_run.c.
 */
#include "core/harness/trial_capture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/units.h"

#define READY_NS  (2 * NSEC_PER_SEC)
#define END_NS	  (2 * NSEC_PER_SEC)
#define LOOK_NS	  (10 * NSEC_PER_MSEC)
#define FILE_HEAD 24 /* bytes of a capture without packets, pcap-savefile(5) */

struct trial_capture {
	struct proc proc;
	char *file;
	int out, said;
	bool running;
};

/* It says "listening on" when what comes from now on is seen. */
static bool listens(const struct trial_capture *c)
{
	char text[512];
	ssize_t n = pread(c->said, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "listening on");
}

static bool await_ready(struct trial_capture *c)
{
	int64_t deadline = clock_now_ns() + READY_NS;
	struct err ignored = ERR_INIT;
	int status;

	while (!listens(c)) {
		if (clock_now_ns() > deadline)
			return false;
		if (!proc_wait(&c->proc, clock_now_ns() + LOOK_NS, &status, &ignored)) {
			c->running = false;
			return false;
		}
	}
	return true;
}

struct trial_capture *trial_capture_open(const struct rig *rig, const char *to, const char *file)
{
	/* -Z: it would become a user that there may not be; -U: whole packets whenever it ends. */
	static const char *const argv[] = {"tcpdump", "-Z",    "root", "-i", "any",
					   "-n",      "-p",    "-U",   "-s", "96",
					   "-c",      "50000", "-w",   "-",  NULL};
	const struct wire_endpoint *at = wire_find_endpoint(&rig->wire, to);
	struct trial_capture *c = mem_zalloc(sizeof(*c));
	struct proc_spec spec = PROC_SPEC(argv);
	struct err ignored = ERR_INIT;

	c->file = mem_strdup(file);
	c->out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	c->said = memfd_create("tcpdump", MFD_CLOEXEC);
	spec.in = PROC_NULL;
	spec.out = c->out;
	spec.errfd = c->said;
	spec.die_with_parent = true;
	c->running =
	    at && c->out >= 0 && c->said >= 0 &&
	    !lab_spawn(rig->lab, rig->wire.nodes.v[at->node].name, &spec, &c->proc, &ignored);
	if (c->running && await_ready(c))
		return c;
	trial_capture_close(c);
	return NULL;
}

void trial_capture_close(struct trial_capture *c)
{
	struct err ignored = ERR_INIT;
	struct stat st;
	int status;

	if (!c)
		return;
	if (c->running) {
		syscall(SYS_pidfd_send_signal, c->proc.pidfd, SIGINT, NULL, 0);
		if (proc_wait(&c->proc, clock_now_ns() + END_NS, &status, &ignored))
			proc_kill(&c->proc, 0);
	}
	if (c->out >= 0 && (fstat(c->out, &st) || st.st_size <= FILE_HEAD))
		unlink(c->file);
	if (c->out >= 0)
		close(c->out);
	if (c->said >= 0)
		close(c->said);
	free(c->file);
	free(c);
}
