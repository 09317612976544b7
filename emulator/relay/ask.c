/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ask: the other end of a relay's socket. Called by emulator/lab/relays.c, cli and tests. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/relay/fatelog.h"
#include "emulator/relay/wiretalk.h"

#define ANSWER_NS (10 * NSEC_PER_SEC)

static int dial(const char *path, struct err *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(a.sun_path))
		return err_input(err, "'%s' is too long for a socket", path);
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(err, errno, "cannot make a socket");
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		err_sys(err, errno, "no relay at '%s'", path);
		close(fd);
		return -err->code;
	}
	return fd;
}

/* The relay says what is wrong with a command. */
static int take_error(const json_t *j, struct err *err)
{
	const char *text;
	int kind, code;

	if (json_unpack((json_t *)j, "{s:{s:i, s:i, s:s}}", "error", "kind", &kind, "code", &code,
			"text", &text))
		return 0;
	*err = (struct err){.kind = (enum err_kind)kind, .code = code > 0 ? code : EIO};
	snprintf(err->text, sizeof(err->text), "%s", text);
	return -err->code;
}

static int ask(const char *path, const json_t *command, json_t **answer, int *fd, struct err *err)
{
	json_t *j = NULL;
	autofd int s = dial(path, err);
	int rc = s < 0 ? s : wiretalk_send(s, command, -1);

	if (s < 0)
		return rc;
	if (!rc)
		rc = wiretalk_recv(s, clock_now_ns() + ANSWER_NS, &j, fd);
	if (rc)
		return err_sys(err, -rc, "the relay at '%s' does not answer", path);
	rc = take_error(j, err);
	if (rc)
		json_decref(j);
	else
		*answer = j;
	return rc;
}

int relay_ask(const char *control_path, const json_t *command, json_t **answer, struct err *err)
{
	return ask(control_path, command, answer, NULL, err);
}

int relay_fates(const char *control_path, struct strbuf *out, struct err *err)
{
	json_t *command = json_pack("{s:s}", "get", "fates"), *answer = NULL;
	autofd int fd = -1;
	int rc = ask(control_path, command, &answer, &fd, err);

	json_decref(command);
	json_decref(answer);
	return rc ? rc : fatelog_save(fd, out, err);
}
