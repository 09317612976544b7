/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * msg: how builder, supervisor, watcher and command tell each other results and errors. Called by
 * watch.c, supervisor.c, enter.c and lab.c only; both ends are always the same program.
 */
#include "emulator/lab/msg.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"

#define MSG_MAX (256u * 1024 * 1024) /* a topology and its choices are far smaller */

static int read_all(int fd, void *data, size_t len)
{
	char *p = data;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ECONNRESET;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int msg_send(int fd, const json_t *m)
{
	autofree char *text = json_dumps(m, JSON_COMPACT);
	uint32_t len = text ? (uint32_t)strlen(text) : 0;
	int rc;

	if (!text)
		return -EINVAL;
	rc = file_write_fd(fd, &len, sizeof(len));
	return rc ? rc : file_write_fd(fd, text, len);
}

int msg_recv(int fd, json_t **m)
{
	autofree char *text = NULL;
	uint32_t len;
	int rc = read_all(fd, &len, sizeof(len));

	if (rc)
		return rc;
	if (len > MSG_MAX)
		return -EPROTO;
	text = mem_zalloc(len + 1);
	rc = read_all(fd, text, len);
	if (rc)
		return rc;
	*m = json_loadb(text, len, 0, NULL);
	return *m ? 0 : -EPROTO;
}

json_t *msg_error(const struct err *err)
{
	json_t *text = json_string(err->text);

	if (!text)
		text = json_string("an error whose text is not UTF-8");
	return json_pack("{s:{s:i, s:i, s:o}}", "error", "kind", (int)err->kind, "code", err->code,
			 "text", text);
}

int msg_take_error(const json_t *m, struct err *err)
{
	const char *text;
	int kind, code;

	if (json_unpack((json_t *)m, "{s:{s:i, s:i, s:s}}", "error", "kind", &kind, "code", &code,
			"text", &text))
		return 0;
	err->kind = (enum err_kind)kind;
	err->code = code > 0 ? code : EIO;
	snprintf(err->text, sizeof(err->text), "%s", text);
	return -err->code;
}
