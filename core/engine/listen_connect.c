/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listen_connect: the other end of a listener. With a key, a thread carries the bytes between the
 * TLS session and the descriptor that the caller gets; it ends when either of the two does, and
 * nobody has to wait for it. Used for tls:// ends of a measurement.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/listen.h"
#include "core/engine/listen_tls.h"

/* 0, or the positive errno why not. */
static int connect_within(int fd, const struct addrinfo *a)
{
	int code = 0;
	if (connect(fd, a->ai_addr, a->ai_addrlen) && errno != EINPROGRESS)
		return errno;
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int64_t until = clock_now_ns() + LISTEN_SHAKE_NS;
	for (int n = 0; n <= 0;) {
		int64_t left = until - clock_now_ns();
		if (left <= 0)
			return ETIMEDOUT;
		n = poll(&p, 1, (int)(left / NSEC_PER_MSEC) + 1);
	}
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &(socklen_t){sizeof(code)});
	if (!code && fcntl(fd, F_SETFL, 0))
		code = errno;
	return code;
}

static int connect_to(const char *host, const char *port, struct err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all;
	int code = getaddrinfo(host, port, &hints, &all);
	if (code)
		return err_input(err, "%s port %s: %s", host, port, gai_strerror(code));
	code = ENOENT;
	int fd = -1;
	for (const struct addrinfo *a = all; a && code; a = a->ai_next) {
		if (fd >= 0)
			close(fd);
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		code = fd < 0 ? errno : connect_within(fd, a);
	}
	freeaddrinfo(all);
	if (!code)
		return fd;
	if (fd >= 0)
		close(fd);
	return err_sys(err, code, "connecting to %s port %s", host, port);
}

struct connect_pump {
	struct listen_tls *tls;
	int fd, plain;
};

static void *connect_thread(void *arg)
{
	struct connect_pump *p = arg;
	sigset_t all;
	sigfillset(&all); /* signals are for the program's own threads */
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	listen_tls_pump(p->tls, p->plain);
	listen_tls_close(p->tls);
	close(p->plain);
	close(p->fd);
	free(p);
	return NULL;
}

/* Takes the socket, on success only. */
static int connect_tls(int fd, const char *key_file, int *plain, struct err *err)
{
	struct listen_key key;
	int ends[2];
	int r = listen_key_read(key_file, &key, err);
	struct listen_tls *t = r ? NULL : listen_tls_open(fd, &key, false, err);
	explicit_bzero(&key, sizeof(key));
	if (!t)
		return -err->code;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		listen_tls_close(t);
		return err_sys(err, errno, "socketpair");
	}
	struct connect_pump *p = mem_zalloc(sizeof(*p));
	*p = (struct connect_pump){t, fd, ends[1]};
	pthread_attr_t detached;
	pthread_t thread;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &detached, connect_thread, p);
	pthread_attr_destroy(&detached);
	if (r) {
		listen_tls_close(t);
		close(ends[0]);
		close(ends[1]);
		free(p);
		return err_sys(err, r, "starting a thread");
	}
	*plain = ends[0];
	return 0;
}

/* Reads the listener's first line. Not a byte more: what follows is the worker's. */
static int connect_greeted(int fd, const char *host, const char *port, struct err *err)
{
	static const char wanted[] = LISTEN_HELLO;
	int64_t until = clock_now_ns() + LISTEN_SHAKE_NS;
	for (size_t i = 0; i + 1 < sizeof(wanted);) {
		int64_t left = (until - clock_now_ns()) / NSEC_PER_MSEC;
		struct pollfd p = {.fd = fd, .events = POLLIN};
		char c = 0;
		if (left <= 0)
			return err_fail(err, ETIMEDOUT,
					"%s port %s does not answer: it serves others now, wants a "
					"key, or is no listener of vpclab",
					host, port);
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		if (read(fd, &c, 1) != 1 || c != wanted[i++])
			return err_fail(err, EPROTO,
					"%s port %s is no listener of vpclab, or wants a key, or "
					"another one",
					host, port);
	}
	return 0;
}

int listen_connect(const char *host, const char *port, const char *key_file, int *fd,
		   struct err *err)
{
	int sock = connect_to(host, port, err), plain = sock;
	if (sock < 0)
		return sock;
	listen_tune(sock);
	int r = key_file ? connect_tls(sock, key_file, &plain, err) : 0;
	if (r) {
		close(sock);
		return err_wrap(err, "%s port %s", host, port);
	}
	r = connect_greeted(plain, host, port, err);
	if (r) {
		close(plain); /* of TLS: the thread closes the socket */
		return r;
	}
	*fd = plain;
	return 0;
}
