/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handle: what is behind `struct lab`, for the files that implement lab.h; and getting inside. */
#ifndef VPCLAB_LAB_HANDLE_H
#define VPCLAB_LAB_HANDLE_H

#include <limits.h>

#include "emulator/lab/lab.h"

struct lab {
	const char *name;    /* in `state` */
	char dir[PATH_MAX];  /* its run directory */
	char base[PATH_MAX]; /* where that is */
	json_t *state;
	int pidfd; /* its supervisor */
};

/* A handle on the lab of BASE/NAME, or -ENOENT when it does not run (any more). */
int lab_open_in(const char *base, const char *name, struct lab **out, struct err *err);

/* What is done inside, in a process of its own there; it must not return. */
typedef void enter_fn(void *arg);

/* In such a process: into the network namespace of a node. -ENOENT when there is none. */
int enter_node(const char *node, struct err *err);

#endif
