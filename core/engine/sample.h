/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample: what a worker looks at when an edge of the window passes: its CPU time and that of its
 * threads, its sockets' TCP figures, writes, and what its network namespace has sent.
 *
 * All of it at the window's two ends; at the edges between only TCP, and of many connections only
 * some (SAMPLE_SOCKETS), so that 10,000 of them cost no more than 64. Private to this folder.
 */
#ifndef VPCLAB_ENGINE_SAMPLE_H
#define VPCLAB_ENGINE_SAMPLE_H

#include <jansson.h>
#include <stdint.h>

#include "core/engine/cpu.h"
#include "core/engine/socket.h"

struct worker;
struct crew;

#define SAMPLE_SOCKETS 64 /* looked at in an interval */
#define SAMPLE_THREADS 64 /* whose time is split into user and system */

struct sample_host {	/* of the network namespace, since it was made: proc_net_snmp */
	int64_t ip_out; /* packets given to devices; a segmented one counts once */
	int64_t tcp_out, tcp_retransmit;		       /* segments */
	int64_t udp_out, udp_rcvbuf_errors, udp_sndbuf_errors; /* datagrams */
	int64_t icmp_unreachable; /* messages that came: RFC 792, RFC 4443 */
	int64_t backlog_drops;	  /* packets, of the whole machine: steer.h */
};

struct worker_sample { /* at an end of the window */
	struct cpu_sample cpu;
	struct socket_tcp tcp; /* of the sockets that send; all of them */
	int64_t messages;      /* writes on those */
	struct sample_host host;
};

/* Also keeps each thread's CPU time: at[0] at the window's begin, at[1] at its end. */
void sample_worker(struct worker *w, int end, struct worker_sample *out);
/* Of at most `most` of the sockets that send, always the same ones; 0: of all. */
void sample_tcp(const struct worker *w, int most, struct socket_tcp *out);
/* The calling thread is about to end. */
void sample_thread_ends(struct crew *c);

/* The texts of /proc/net/snmp and snmp6, "" where there is none. */
void sample_parse_host(const char *snmp, const char *snmp6, struct sample_host *out);

/* Adds "tcp", "tcp_sampled", "messages", "threads", "host", "cpus" to a worker's result. */
void sample_report(const struct worker *w, json_t *result);
/* What a TCP socket's figures did between two moments; gives a reference. */
json_t *sample_tcp_json(const struct socket_tcp *a, const struct socket_tcp *b);

#endif
