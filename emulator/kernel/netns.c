/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netns: makes, opens and enters network namespaces. Does not fill them. Called by
 * emulator/lab/apply.c and check.c, and by the tests.
 */
#include "emulator/kernel/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "emulator/kernel/nl.h"

#define NETNS_PATH 300
#define NETNS_SELF "/proc/thread-self/ns/net"

static int netns_path(char path[static NETNS_PATH], const char *name, struct err *err)
{
	int n = snprintf(path, NETNS_PATH, NETNS_DIR "/%s", name);

	if (!*name || strchr(name, '/') || n >= NETNS_PATH)
		return err_input(err, "'%s' cannot be the name of a namespace", name);
	return 0;
}

int netns_prepare(struct err *err)
{
	return file_mkdirs(NETNS_DIR, err);
}

static int netns_sockets(struct netns *out, struct err *err)
{
	struct netns ns = NETNS_INIT;

	ns.fd = open(NETNS_SELF, O_RDONLY | O_CLOEXEC);
	if (ns.fd < 0)
		return err_sys(err, errno, NETNS_SELF);
	int rc = nl_open(NETLINK_ROUTE, &ns.rt, err);
	if (rc < 0)
		netns_close(&ns);
	else
		*out = ns;
	return rc;
}

int netns_create(const char *name, struct netns *out, struct err *err)
{
	char path[NETNS_PATH];
	int rc = netns_path(path, name, err);

	if (rc < 0)
		return rc;
	autofd int file = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (file < 0)
		return err_sys(err, errno, "%s", path);
	if (unshare(CLONE_NEWNET) < 0) {
		rc = errno == ENOSPC
			 ? err_unsupported(err, "no more network namespaces are allowed: raise the "
						"sysctl user.max_net_namespaces")
			 : err_sys(err, errno, "unshare");
		goto fail;
	}
	if (mount(NETNS_SELF, path, NULL, MS_BIND, NULL) < 0) {
		rc = err_sys(err, errno, "bind mount on %s", path);
		goto fail;
	}
	return netns_sockets(out, err);
fail:
	unlink(path);
	return rc;
}

int netns_open(const char *name, struct netns *out, struct err *err)
{
	char path[NETNS_PATH];
	int rc = netns_path(path, name, err);

	if (rc < 0)
		return rc;
	autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "namespace %s: %s", name, path);
	if (setns(fd, CLONE_NEWNET) < 0)
		return err_sys(err, errno, "namespace %s: setns", name);
	rc = netns_sockets(out, err);
	return rc < 0 ? err_wrap(err, "namespace %s", name) : 0;
}

int netns_enter(const struct netns *ns, struct err *err)
{
	if (setns(ns->fd, CLONE_NEWNET) < 0)
		return err_sys(err, errno, "setns into a network namespace");
	return 0;
}

void netns_close(struct netns *ns)
{
	if (ns->rt >= 0)
		close(ns->rt);
	if (ns->fd >= 0)
		close(ns->fd);
	*ns = NETNS_INIT;
}

int netns_self(struct netns *out, struct err *err)
{
	struct netns ns = NETNS_INIT;

	ns.fd = open(NETNS_SELF, O_RDONLY | O_CLOEXEC);
	if (ns.fd < 0)
		return err_sys(err, errno, NETNS_SELF);
	*out = ns;
	return 0;
}
