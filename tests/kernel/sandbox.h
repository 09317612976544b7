/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox: what the kernel tests share: user, mount, network and PID namespaces of their own with
 * an empty /run, named namespaces in it, and other people's programs run inside. The host is not
 * touched, and what a test has started (relays) ends with it.
 */
#ifndef VPCLAB_TESTS_KERNEL_SANDBOX_H
#define VPCLAB_TESTS_KERNEL_SANDBOX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "emulator/kernel/netns.h"
#include "emulator/kernel/nl.h"

static inline bool sandbox_write(const char *path, const char *text)
{
	autofd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static inline bool sandbox_user(void)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof(uids), "0 %u 1", (unsigned)geteuid());
	snprintf(gids, sizeof(gids), "0 %u 1", (unsigned)getegid());
	return unshare(CLONE_NEWUSER) == 0 && sandbox_write("/proc/self/setgroups", "deny") &&
	       sandbox_write("/proc/self/uid_map", uids) &&
	       sandbox_write("/proc/self/gid_map", gids);
}

/* Goes on in a child, the first process of its PID namespace: the kernel ends all others there when
 * it ends. */
static inline void sandbox_fork(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return;
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Skips the whole program where namespaces cannot be had. */
static inline void sandbox_enter(void)
{
	if ((geteuid() != 0 && !sandbox_user()) ||
	    unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, "mode=755") < 0) {
		printf("1..0 # SKIP no user, mount and network namespaces here: %s\n",
		       strerror(errno));
		exit(0);
	}
	sandbox_fork();
}

#define sandbox_ok(err, call)                                                                      \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s: %s", #call, (err)->text);                                    \
	} while (0)

/* A new named namespace; the caller's thread stays where it is. */
static inline struct netns sandbox_netns(const char *name)
{
	struct err err = ERR_INIT;
	struct netns self, ns;

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_prepare(&err));
	sandbox_ok(&err, netns_create(name, &ns, &err));
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	return ns;
}

static inline int sandbox_socket(const struct netns *ns, int protocol)
{
	struct err err = ERR_INIT;
	struct netns self;
	int fd = -1;

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_enter(ns, &err));
	sandbox_ok(&err, nl_open(protocol, &fd, &err));
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	return fd;
}

/* Runs a program inside; gives its standard output. A failure fails the test with what it said. */
static inline char *sandbox_run(const struct netns *ns, const char *const *argv)
{
	struct err err = ERR_INIT;
	struct strbuf out = {0};
	autostr struct strbuf errout = {0};
	struct netns self;
	int status = -1;

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_enter(ns, &err));
	sandbox_ok(&err, proc_run(argv, 60 * NSEC_PER_SEC, &out, &errout, &status, &err));
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	if (status != 0)
		fail_msg("%s %s: exit %d: %s", argv[0], argv[1], status, strbuf_text(&errout));
	return strbuf_take(&out);
}

#define SANDBOX_RUN(ns, ...) sandbox_run((ns), (const char *const[]){__VA_ARGS__, NULL})

/* The same for programs that print JSON; nothing printed is an empty array. Gives a reference. */
static inline json_t *sandbox_json(const struct netns *ns, const char *const *argv)
{
	autofree char *text = sandbox_run(ns, argv);
	json_error_t error;

	if (!text || !text[strspn(text, " \n")])
		return json_array();
	json_t *j = json_loads(text, 0, &error);
	if (!j)
		fail_msg("%s %s: line %d: %s", argv[0], argv[1], error.line, error.text);
	return j;
}

#define SANDBOX_JSON(ns, ...) sandbox_json((ns), (const char *const[]){__VA_ARGS__, NULL})

/* Takes the named members out of all objects, at any depth. */
static inline void sandbox_strip(json_t *j, const char *const *names)
{
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_object(j))
		for (const char *const *name = names; *name; name++)
			json_object_del(j, *name);
	json_object_foreach(j, key, value) sandbox_strip(value, names);
	json_array_foreach(j, i, value) sandbox_strip(value, names);
}

/* Both dumps must be equal as JSON; takes both references. */
static inline void sandbox_equal(const char *what, json_t *a, json_t *b)
{
	autofree char *ta = json_dumps(a, JSON_SORT_KEYS | JSON_INDENT(1) | JSON_ENCODE_ANY);
	autofree char *tb = json_dumps(b, JSON_SORT_KEYS | JSON_INDENT(1) | JSON_ENCODE_ANY);

	json_decref(a);
	json_decref(b);
	if (!strcmp(ta, tb))
		return;
	size_t i = 0;
	while (ta[i] && ta[i] == tb[i])
		i++;
	size_t from = i > 300 ? i - 300 : 0;
	fail_msg("%s differ at byte %zu:\n--- a\n%.600s\n--- b\n%.600s", what, i, ta + from,
		 tb + from);
}

#endif
