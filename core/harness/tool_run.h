/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool_run: somebody else's tool between two endpoints of a running lab: its server started and
 * waited for until it listens (never slept for), its client run with a hard deadline, both outputs
 * kept, everything ended.
 */
#ifndef VPCLAB_HARNESS_TOOL_RUN_H
#define VPCLAB_HARNESS_TOOL_RUN_H

#include "core/engine/engine.h"
#include "core/tools/reading.h"
#include "emulator/lab/lab.h"
#include "emulator/model/wire.h"

#define TOOL_RUN_PORT 5201 /* in a namespace of its own any will do */

struct tool_run_spec {
	const struct lab *lab;
	const struct wire *wire;
	const struct adapter *adapter;
	const struct tool_test *test;
	const char *from, *to; /* endpoints */
	int family;
	struct engine_spec spec; /* what is asked for */
	int64_t grace_ns;	 /* after the duration, before the client is killed; default 15 s */
	bool warmup;		 /* the spec's was asked for, and is not its default */
	bool no_server;		 /* trial: nobody answers */
	int port;		 /* 0: TOOL_RUN_PORT */
	int client_cpu, server_cpu; /* -1: free */
	/* Called as soon as the client has been started and then every 20 ms while it runs, with
	 * the time. True: kill the server now. NULL: nobody. */
	bool (*tick)(void *arg, int64_t now_ns);
	void *arg;
	bool (*stop)(void); /* true: end now, -EINTR; NULL: never */
	/* Clients besides the first, started with it at the same server; what each said, without
	 * the server's part. n_more of them, tool_run_done() each. */
	struct tool_output *more;
	int n_more;
};

/* Where a program is, by a path or in PATH: absolute, heap; NULL: nowhere. */
char *tool_run_program(const char *program);

/* Where it is and its version by the adapter's own way, "" where that cannot be told; heap.
 * -ENOENT: it is not here; err names the packages that the adapter does. */
int tool_run_find(const struct adapter *a, char **path, char **version, struct err *err);

/* -ENOENT: the tool is not here (err names the package). tool_run_done() in either case. */
int tool_run(const struct tool_run_spec *s, struct tool_output *out, struct err *err);
void tool_run_done(struct tool_output *o);

#endif
