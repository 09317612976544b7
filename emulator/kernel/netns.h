/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netns: named network namespaces, as files below /run/netns of the caller's mount namespace (where
 * `ip netns` looks too).
 *
 * A namespace is entered by a thread, for as long as the thread likes. Whoever must stay where he
 * is works through the sockets, which remain bound to the namespace they were opened in.
 */
#ifndef VPCLAB_KERNEL_NETNS_H
#define VPCLAB_KERNEL_NETNS_H

#include "core/base/err.h"

#define NETNS_DIR "/run/netns"

struct netns {	/* {.fd = -1, .rt = -1} is closed */
	int fd; /* the namespace itself */
	int rt; /* NETLINK_ROUTE socket inside it */
};
#define NETNS_INIT ((struct netns){.fd = -1, .rt = -1})

/* Creates NETNS_DIR where it is missing. */
int netns_prepare(struct err *err);

/*
 * Makes a new, empty namespace and its file. The calling THREAD is moved into it and stays there.
 * The caller must own the mount namespace. -EEXIST when there is a file of that name.
 */
int netns_create(const char *name, struct netns *out, struct err *err);

/* Opens a namespace that exists. The calling thread is moved into it, since the socket must be. */
int netns_open(const char *name, struct netns *out, struct err *err);

int netns_enter(const struct netns *ns, struct err *err); /* the calling thread */
void netns_close(struct netns *ns);			  /* the file stays */

/* The calling thread's own namespace, to come back to with netns_enter(). Has no socket. */
int netns_self(struct netns *out, struct err *err);

#endif
