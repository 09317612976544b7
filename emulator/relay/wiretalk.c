/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wiretalk: framing of JSON on a socket. Called by control.c and ask.c. */
#include "emulator/relay/wiretalk.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"

#define SEND_NS (5 * NSEC_PER_SEC)

union with_fd {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int wait_for(int socket, short events, int64_t deadline_ns)
{
	struct pollfd p = {.fd = socket, .events = events};
	int64_t left = deadline_ns - clock_now_ns();
	int n = left <= 0 ? 0 : poll(&p, 1, (int)(left / NSEC_PER_MSEC) + 1);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n ? 0 : -ETIMEDOUT;
}

static int send_all(int socket, const void *data, size_t len, int64_t deadline_ns)
{
	const char *p = data;

	while (len) {
		ssize_t n = send(socket, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n < 0) {
			int rc = wait_for(socket, POLLOUT, deadline_ns);

			if (rc)
				return rc;
			continue;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The length goes with the descriptor, in one message. */
static int send_head(int socket, uint32_t len, int fd)
{
	struct iovec iov = {&len, sizeof(len)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	union with_fd with = {0};

	if (fd >= 0) {
		struct cmsghdr *c = &with.align;

		m.msg_control = with.bytes;
		m.msg_controllen = sizeof(with.bytes);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(len) ? 0 : -EPIPE;
}

int wiretalk_send(int socket, const json_t *j, int fd)
{
	autofree char *text = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);
	size_t len = text ? strlen(text) : 0;
	int rc;

	if (!text || len > WIRETALK_MAX)
		return -EINVAL;
	rc = send_head(socket, (uint32_t)len, fd);
	return rc ? rc : send_all(socket, text, len, clock_now_ns() + SEND_NS);
}

static void take_fd(struct msghdr *m, int *fd)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		int got;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    c->cmsg_len < CMSG_LEN(sizeof(got)))
			continue;
		memcpy(&got, CMSG_DATA(c), sizeof(got));
		if (fd && *fd < 0)
			*fd = got;
		else
			close(got);
	}
}

static int recv_all(int socket, void *data, size_t len, int64_t deadline_ns, int *fd)
{
	char *p = data;

	while (len) {
		struct iovec iov = {p, len};
		union with_fd with;
		struct msghdr m = {.msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = with.bytes,
				   .msg_controllen = sizeof(with.bytes)};
		int rc = wait_for(socket, POLLIN, deadline_ns);
		ssize_t n;

		if (rc)
			return rc;
		n = recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n == 0)
			return -ECONNRESET;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n < 0)
			continue;
		take_fd(&m, fd);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int wiretalk_recv(int socket, int64_t deadline_ns, json_t **j, int *fd)
{
	autofree char *text = NULL;
	uint32_t len;
	int got = -1, rc;

	rc = recv_all(socket, &len, sizeof(len), deadline_ns, &got);
	if (!rc && len > WIRETALK_MAX)
		rc = -EPROTO;
	if (!rc) {
		text = mem_zalloc((size_t)len + 1);
		rc = recv_all(socket, text, len, deadline_ns, &got);
	}
	if (!rc) {
		*j = json_loadb(text, len, JSON_DECODE_ANY, NULL);
		rc = *j ? 0 : -EPROTO;
	}
	if (!rc && fd)
		*fd = got;
	else if (got >= 0)
		close(got);
	return rc;
}
