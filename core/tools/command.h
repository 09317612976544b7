/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command: from an adapter's command line to the words of a process: placeholders filled in.
 *
 *   {server.address} {client.address} {port} {family} (4 or 6) {duration.s} {duration.ms}
 *   {rate.bps} {rate.kbps} {rate.mbps} {rate.pps} {gap.us} {size} {response_size} {streams}
 *   {interval.s} {warmup.s} {dscp} {tos} {no_delay} {ipv6} {count} {gap.s} {program}
 *   {file} (a path of its own for results)
 *
 * Those that were not asked for may only stand in groups (`{with: streams, args: […]}`, `{without:
 * rate.bps, args: […]}`), which are then left out. "{{" is a brace.
 */
#ifndef VPCLAB_TOOLS_COMMAND_H
#define VPCLAB_TOOLS_COMMAND_H

#include "core/base/addr.h"
#include "core/tools/adapter.h"

struct command_values { /* numbers: 0 is not asked for */
	struct ip server, client;
	const char *zone; /* the client's device behind which the server is, or NULL */
	int port, streams, dscp;
	bool no_delay;
	double duration_s, interval_s, warmup_s, rate_bps, rate_pps, size, response_size, count;
	const char *program, *file;
};

struct command_line {
	struct arena arena;
	VEC(const char *) argv; /* NULL-terminated */
};

/* -EINVAL names the placeholder that has no value. command_done() in either case. */
int command_expand(const struct tool_command *c, const struct command_values *v,
		   struct command_line *out, struct err *err);
void command_done(struct command_line *l);

/* Any text with placeholders, such as a port that the server listens on. */
int command_text(const char *text, const struct command_values *v, struct strbuf *out,
		 struct err *err);

/* Does the adapter know this placeholder? For its checks; gives a suggestion. */
bool command_knows(const char *placeholder, const char **near);

#endif
