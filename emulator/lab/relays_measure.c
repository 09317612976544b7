/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * relays_measure: how many packets a second a relay carries on this machine, in a scratch
 * namespace. Called by doctor.c. It is the load that it cannot keep up with, of full frames with a
 * delay: the sender takes a CPU too, as in a lab.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/nl.h"
#include "emulator/lab/relays.h"
#include "emulator/lab/scratch.h"

#define SOCKET	   "/run/relay"
#define MEASURE_NS (150 * NSEC_PER_MSEC)
#define DELAY_NS   NSEC_PER_MSEC

enum { SENDER = 101, IN, OUT, RECEIVER }; /* ifindexes of two pairs */

static const struct relay_spec spec = {
    .name = "scratch",
    .dir[RELAY_AB] = {"in", "out", {.given = true, .delay_ns = DELAY_NS}},
    .dir[RELAY_BA] = {"out", "in", {.given = true, .delay_ns = DELAY_NS}},
};

static int start(pid_t *pid, struct err *err)
{
	int fds[2];
	char c;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot make a pipe");
	*pid = fork();
	if (*pid == 0) {
		struct err ignored = ERR_INIT;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		relay_run(&spec, SOCKET, fds[1], &ignored);
		_exit(1);
	}
	close(fds[1]);
	if (*pid < 0 || read(fds[0], &c, 1) != 1)
		err_fail(err, EIO, "a relay does not start here (no packet sockets?)");
	close(fds[0]);
	return -err->code;
}

static int out_packets(int64_t *n, struct err *err)
{
	json_t *command = json_pack("{s:s}", "get", "stats"), *stats = NULL;
	int rc = relay_ask(SOCKET, command, &stats, err);

	*n = json_integer_value(json_object_get(json_object_get(stats, "ab"), "out_packets"));
	json_decref(command);
	json_decref(stats);
	return rc;
}

/* More than is carried. */
static int send_frames(struct err *err)
{
	autofd int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_sys(err, errno, "cannot make a packet socket");
	int64_t n = scratch_flood(fd, SENDER, MEASURE_NS);
	return n < 0 ? err_sys(err, (int)-n, "cannot send") : 0;
}

static int measure(json_t **out, struct err *err)
{
	int64_t began = clock_now_ns(), n = 0;
	int rc = send_frames(err);
	double seconds = (double)(clock_now_ns() - began) / 1e9;

	if (!rc)
		rc = out_packets(&n, err);
	if (!rc)
		*out = json_pack("{s:I}", "pps", (json_int_t)((double)n / seconds));
	return rc;
}

static int measure_in_scratch(void *arg, json_t **out, struct err *err)
{
	pid_t pid = -1;
	static const struct link_spec ends[] = {
	    {.name = "sender", .ifindex = SENDER},
	    {.name = "in", .ifindex = IN},
	    {.name = "out", .ifindex = OUT},
	    {.name = "receiver", .ifindex = RECEIVER},
	};
	int rc = scratch_veths(ends, ARRAY_SIZE(ends), err);

	(void)arg;
	if (!rc)
		rc = start(&pid, err);
	if (!rc)
		rc = measure(out, err);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return rc;
}

int relays_measure(int64_t *pps, struct err *err)
{
	json_t *got = NULL;
	int rc = scratch_run(measure_in_scratch, NULL, &got, err);

	if (!rc)
		*pps = json_integer_value(json_object_get(got, "pps"));
	json_decref(got);
	return rc;
}
