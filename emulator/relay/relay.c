/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relay: a whole relay: opens the ports, listens for commands, tells that it is ready, carries. */
#include "emulator/relay/relay.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "emulator/relay/control.h"

static void tell_ready(int fd)
{
	const char ready = 1;

	if (fd < 0)
		return;
	while (write(fd, &ready, 1) < 0 && errno == EINTR)
		;
	close(fd);
}

static int carry(struct control *c, struct loop *loop, const char *path, int ready_fd,
		 struct err *err)
{
	int rc = path ? relay_control_listen(c, path, err) : 0;

	if (!rc && path)
		rc = relay_control_start(c, loop, err);
	if (rc)
		return rc;
	tell_ready(ready_fd);
	return loop_run(loop, err);
}

int relay_run(const struct relay_spec *s, const char *control_path, int ready_fd, struct err *err)
{
	struct control control;
	struct loop loop;
	int rc = relay_control_init(&control, s, err);

	signal(SIGPIPE, SIG_IGN); /* ready_fd may be a pipe that nobody reads any more */
	if (!rc)
		rc = loop_open(&loop, control.spec, err);
	if (rc) {
		relay_control_done(&control);
		return rc;
	}
	rc = carry(&control, &loop, control_path, ready_fd, err);
	relay_control_done(&control);
	loop_close(&loop);
	return rc;
}
