/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listen: the listener. It accepts, forks and reaps, and touches nothing that strangers send: the
 * handshake and the worker are in the session's own process, which dies with the listener. Whoever
 * does not finish the handshake is gone after 5 s; there are at most LISTEN_SESSIONS at a time, and
 * more wait in the kernel's queue. Called by `vpclab engine --listen`.
 */
#include "core/engine/listen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/addr.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/units.h"
#include "core/engine/engine.h"
#include "core/engine/listen_tls.h"
#include "core/engine/socket.h"

#define LISTEN_SESSIONS 64
#define LISTEN_FIRST_NS (60 * NSEC_PER_SEC) /* for a specification: a session is one of few */
#define LISTEN_RETRY_MS 100		    /* after accept(2) or fork(2) had no room */

struct listen_session {
	pid_t pid;
	int pidfd;
};

struct listener {
	const struct listen_options *o;
	struct listen_key key;
	int fd;
	struct listen_session sessions[LISTEN_SESSIONS];
	int n;
	bool full; /* the system had no room for another one a moment ago */
};

static bool listen_is_loopback(const struct ip *ip)
{
	static const uint8_t one[16] = {[15] = 1};
	return ip->family == AF_INET ? ip->bytes[0] == 127 : !memcmp(ip->bytes, one, 16);
}

/* "ADDRESS:PORT", "[ADDRESS]:PORT". */
static int listen_parse(const char *at, struct ip *ip, int *port, struct err *err)
{
	char address[ADDR_TEXT];
	const char *colon = strrchr(at, ':');
	size_t len = colon ? (size_t)(colon - at) : 0;
	int64_t number = 0;
	if (!len || len >= sizeof(address))
		return err_input(err, "'%s': write ADDRESS:PORT, or [ADDRESS]:PORT for IPv6", at);
	bool brackets = at[0] == '[' && at[len - 1] == ']';
	if (!brackets && memchr(at, ':', len))
		return err_input(err, "'%s': write an IPv6 address as [ADDRESS]:PORT", at);
	snprintf(address, sizeof(address), "%.*s", (int)(brackets ? len - 2 : len),
		 brackets ? at + 1 : at);
	int r = units_parse_int(colon + 1, 0, 65535, &number, err);
	if (!r)
		r = ip_parse(address, ip, err);
	*port = (int)number;
	return r ? err_wrap(err, "'%s'", at) : 0;
}

static int listen_open(struct listener *l, const struct ip *ip, int port, struct err *err)
{
	struct sockaddr_storage a;
	socklen_t len = socket_address(&a, ip->family, ip, port);
	l->fd = socket(ip->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return err_sys(err, errno, "opening a socket");
	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (bind(l->fd, (struct sockaddr *)&a, len) || listen(l->fd, LISTEN_SESSIONS))
		return err_sys(err, errno, "listening on %s", l->o->at);
	char text[ADDR_TEXT];
	if (l->o->ready)
		l->o->ready(l->o->arg, ip_format(text, ip), socket_port(l->fd));
	return 0;
}

/* In a process of its own, whose end is the session's. */
static int session_work(int fd)
{
	struct err err = ERR_INIT;
	if (file_write_fd(fd, LISTEN_HELLO, strlen(LISTEN_HELLO)))
		return 1;
	return engine_stdio(fd, fd, LISTEN_FIRST_NS, &err) ? 1 : 0;
}

static int session_tls(int fd, const struct listen_key *key)
{
	struct err err = ERR_INIT;
	int ends[2];
	struct listen_tls *t = listen_tls_open(fd, key, true, &err);
	if (!t || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return 1;
	pid_t parent = getpid(), worker = fork();
	if (worker < 0)
		return 1;
	if (!worker) {
		close(ends[0]);
		close(fd);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == parent ? session_work(ends[1]) : 1);
	}
	close(ends[1]);
	listen_tls_pump(t, ends[0]);
	close(ends[0]); /* ends the worker */
	listen_tls_close(t);
	int status = 1;
	while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
		;
	return status != 0;
}

static _Noreturn void session_be(int fd, const struct listen_key *key, pid_t listener)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != listener)
		_exit(1);
	proc_close_others(&fd, 1);
	listen_tune(fd);
	_exit(key->size ? session_tls(fd, key) : session_work(fd));
}

/* One connection; false: nothing more to be had now. */
static bool listen_accept(struct listener *l)
{
	autofd int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0) {
		l->full = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
		return errno == EINTR || errno == ECONNABORTED;
	}
	pid_t listener = getpid(), pid = fork();
	if (!pid)
		session_be(fd, &l->key, listener);
	int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (pid > 0 && pidfd < 0) { /* it could not be reaped in time: better none */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	l->full = pidfd < 0;
	if (pidfd >= 0)
		l->sessions[l->n++] = (struct listen_session){pid, pidfd};
	return true;
}

static void listen_end_session(struct listener *l, int i)
{
	while (waitpid(l->sessions[i].pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(l->sessions[i].pidfd);
	l->sessions[i] = l->sessions[--l->n];
}

static int listen_loop(struct listener *l, struct err *err)
{
	for (;;) {
		struct pollfd fds[2 + LISTEN_SESSIONS];
		bool room = l->n < LISTEN_SESSIONS && !l->full;
		fds[0] = (struct pollfd){.fd = l->o->stop_fd, .events = POLLIN};
		fds[1] = (struct pollfd){.fd = room ? l->fd : -1, .events = POLLIN};
		for (int i = 0; i < l->n; i++)
			fds[2 + i] = (struct pollfd){.fd = l->sessions[i].pidfd, .events = POLLIN};
		int n = poll(fds, (nfds_t)(2 + l->n), l->full ? LISTEN_RETRY_MS : -1);
		if (n < 0 && errno != EINTR)
			return err_sys(err, errno, "waiting for sessions");
		if (n > 0 && fds[0].revents)
			return 0;
		l->full = false;
		for (int i = n > 0 ? l->n - 1 : -1; i >= 0; i--)
			if (fds[2 + i].revents)
				listen_end_session(l, i);
		while (n > 0 && fds[1].revents && l->n < LISTEN_SESSIONS && !l->full &&
		       listen_accept(l))
			;
	}
}

int listen_serve(const struct listen_options *o, struct err *err)
{
	struct listener *l = mem_zalloc(sizeof(*l));
	struct ip ip;
	int port = 0, r = listen_parse(o->at, &ip, &port, err);
	l->o = o;
	l->fd = -1;
	if (!r && o->key_file)
		r = listen_key_read(o->key_file, &l->key, err);
	else if (!r && !listen_is_loopback(&ip))
		r = err_input(err,
			      "%s is not a loopback address: whoever reaches it could make this "
			      "machine send traffic. Give a key that both ends have (--key FILE)",
			      o->at);
	if (!r)
		r = listen_open(l, &ip, port, err);
	if (!r)
		r = listen_loop(l, err);
	if (l->fd >= 0)
		close(l->fd);
	while (l->n) {
		kill(l->sessions[l->n - 1].pid, SIGKILL);
		listen_end_session(l, l->n - 1);
	}
	explicit_bzero(&l->key, sizeof(l->key));
	free(l);
	return r;
}
