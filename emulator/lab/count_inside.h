/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_inside: the part of count that runs inside a lab, in a process of its own. Values go out as
 * JSON. The network namespace of the calling thread is the node's (or changes, for snapshots).
 */
#ifndef VPCLAB_LAB_COUNT_INSIDE_H
#define VPCLAB_LAB_COUNT_INSIDE_H

#include "emulator/lab/count.h"

struct count_request {
	const char *dev;
	bool behind; /* struct count_at */
	const struct count_flow *flows;
	size_t n_flows;
	const char *const *nodes; /* snapshot */
	size_t n_nodes;
	const struct wire *wire; /* snapshot: whose relays are asked; NULL: none */
};

/* As lab_call() wants them; `arg` is a struct count_request. */
int count_inside_install(void *arg, int out_fd, struct err *err);
int count_inside_read(void *arg, int out_fd, struct err *err);
int count_inside_remove(void *arg, int out_fd, struct err *err);
int count_inside_snapshot(void *arg, int out_fd, struct err *err);

/* The device's own counters (gives a reference), and `j` (which it takes) as text to out_fd. */
struct dump_link;
json_t *count_link(const struct dump_link *l);
int count_write(json_t *j, int out_fd, struct err *err);

/* Of family netdev. Both begin alike, and nothing else does. */
#define COUNT_TABLE	   "vpclab_count"
#define COUNT_TABLE_BEHIND "vpclab_count_behind"

#endif
