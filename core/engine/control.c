/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control: framing of the control channel, a line a message.
 *
 * Writing waits for a peer that reads slowly, and gives one up that does not read at all, such as a
 * driver that was stopped; reading does not wait. SIGPIPE is kept from the process by
 * blocking it in this thread while writing, since a library has no say in signal dispositions.
 * Used by worker.c, run.c and pair.c.
 */
#include "core/engine/control.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"

#define CONTROL_READ 65536
#define CONTROL_PART 4096 /* what poll(2) has promised room for never blocks: PIPE_BUF, pipe(7) */
#define CONTROL_MAX  (16 << 20) /* no message of ours is near; a peer that sends more is broken */

void control_init(struct control *c, int in, int out)
{
	*c = (struct control){.in = in, .out = out, .beat_ns = clock_now_ns() + CONTROL_BEAT_NS};
}

void control_done(struct control *c)
{
	free(c->buf);
	*c = (struct control){.in = -1, .out = -1};
}

int control_fill(struct control *c, struct err *err)
{
	if (c->len + CONTROL_READ > c->cap) {
		if (c->cap >= CONTROL_MAX)
			return err_fail(err, EMSGSIZE, "control message longer than %d bytes",
					CONTROL_MAX);
		c->cap += c->cap + CONTROL_READ;
		c->buf = mem_realloc(c->buf, c->cap);
	}
	ssize_t n = read(c->in, c->buf + c->len, c->cap - c->len);
	/* A socket says so when the other end closed it without having read all that we wrote. */
	if (n < 0 && errno == ECONNRESET)
		n = 0;
	if (n < 0)
		return errno == EINTR || errno == EAGAIN
			   ? 0
			   : err_sys(err, errno, "reading from the control channel");
	c->eof = n == 0;
	c->heard_ns = clock_now_ns();
	c->len += (size_t)n;
	return 0;
}

static json_t *control_line(struct control *c, int *status, struct err *err)
{
	*status = 0;
	char *end = c->len ? memchr(c->buf, '\n', c->len) : NULL;
	if (!end)
		return NULL;
	size_t line = (size_t)(end - c->buf);
	json_error_t why;
	json_t *j = json_loadb(c->buf, line, 0, &why);
	c->len -= line + 1;
	memmove(c->buf, end + 1, c->len);
	if (!json_is_object(j)) {
		json_decref(j);
		*status = err_input(err, "control message is not a JSON object: %s",
				    j ? "it is something else" : why.text);
		return NULL;
	}
	return j;
}

json_t *control_next(struct control *c, int *status, struct err *err)
{
	for (;;) {
		json_t *m = control_line(c, status, err);
		if (!m || !str_eq(control_type(m), "alive"))
			return m;
		c->beats = true;
		json_decref(m);
	}
}

static int control_write(int fd, const char *p, size_t len)
{
	int64_t deadline = clock_now_ns() + CONTROL_SILENCE_NS;
	while (len) {
		struct pollfd room = {.fd = fd, .events = POLLOUT};
		int ready = poll(&room, 1, CONTROL_BEAT_NS / NSEC_PER_MSEC);
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (ready <= 0 && clock_now_ns() > deadline)
			return -ETIMEDOUT;
		if (ready <= 0)
			continue;
		ssize_t n = write(fd, p, len < CONTROL_PART ? len : CONTROL_PART);
		if (n > 0) {
			p += n;
			len -= (size_t)n;
			deadline = clock_now_ns() + CONTROL_SILENCE_NS;
		} else if (n < 0 && errno != EINTR && errno != EAGAIN) {
			return -errno;
		}
	}
	return 0;
}

/* Writing with SIGPIPE held back, and taken off the queue if this write raised it. */
static int control_write_quietly(int fd, const char *p, size_t len)
{
	sigset_t pipe_set, before, pending;
	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_set, &before);
	int r = control_write(fd, p, len);
	if (r == -EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&pipe_set, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int control_send(struct control *c, json_t *message, struct err *err)
{
	autofree char *text = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(message);
	if (!text)
		return err_fail(err, ENOMEM, "a control message cannot be written as JSON");
	size_t len = strlen(text);
	text[len] = '\n'; /* in place of the NUL: the line is written by its length */
	int r = c->stuck ? -ETIMEDOUT : control_write_quietly(c->out, text, len + 1);
	c->stuck |= r == -ETIMEDOUT;
	return r ? err_sys(err, -r, "writing to the control channel") : 0;
}

int control_beat(struct control *c, struct err *err)
{
	int64_t now = clock_now_ns();
	if (now < c->beat_ns || c->eof)
		return 0;
	c->beat_ns = now + CONTROL_BEAT_NS;
	struct err mine = ERR_INIT;
	int r = control_send(c, json_pack("{s:s}", "type", "alive"), &mine);
	if (!r || r == -EPIPE || r == -ECONNRESET)
		return 0;
	*err = mine;
	return r;
}

bool control_silent(const struct control *c, int64_t limit_ns)
{
	return c->beats && !c->eof && clock_now_ns() - c->heard_ns > limit_ns;
}

const char *control_type(const json_t *message)
{
	const char *type = json_string_value(json_object_get(message, "type"));
	return type ? type : "";
}
