/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine: the measuring programs. They know nothing of labs: they run between any two places.
 *
 * A measurement has two workers, server and client, each one process running engine_stdio(): it
 * reads JSON messages, one a line, from a control descriptor and writes JSON messages to it. The
 * control channel is a socketpair or a pipe pair (inside a lab), a terminal or ssh (by hand); it is
 * never the measured network.
 *
 *   → {"type":"spec", "version":1, "role":"server"|"client", "test":"tcp_stream", …}  (struct engine_spec)
 *   ← {"type":"ready", "port":N}             server: listening on N; client: allocated its memory
 *   → {"type":"connect", "address":"…", "port":N}    client only
 *   ← {"type":"connected", "flow": [{"local":"…","local_port":N,"remote":"…","remote_port":N}]}
 *   → {"type":"start", "at_ns":T}            both: CLOCK_MONOTONIC barrier
 *   ← {"type":"interval", …}                 every interval_ns, not part of the result's truth
 *   ← {"type":"result", …}                   or {"type":"error","text":"…","code":N}
 *   → {"type":"stop"}                        early end; the result is then marked partial
 * End of file on control ends the worker at once.
 *
 * engine_pair() drives both ends of such a pair for whoever started them (core/harness, `vpclab
 * engine`), and merges the two results: the receiver's count is the headline.
 */
#ifndef VPCLAB_ENGINE_ENGINE_H
#define VPCLAB_ENGINE_ENGINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/addr.h"
#include "core/base/err.h"

enum engine_test { TEST_TCP_STREAM, TEST_UDP_STREAM, TEST_TCP_RR, TEST_UDP_RR, TEST_THROUGHPUT };

struct engine_spec {
	enum engine_test test;
	int64_t duration_ns;	/* measuring window; default 5 s */
	int64_t warmup_ns;	/* left out before it; default 1 s (throughput: 0) */
	int64_t interval_ns;	/* default 500 ms */
	int streams;		/* sockets; default 1; one thread each */
	int64_t size;		/* bytes a write, or UDP payload; 0 = the test's default */
	int64_t response_size;	/* RR: bytes of the answer; size is the request's; default 1, 1 */
	int64_t rate_bps;	/* udp_stream: payload bits per second of all streams; 0 = as fast as possible */
	int64_t rate_pps;	/* udp_stream: packets per second instead */
	int64_t file_size;	/* throughput: bytes a transaction; default 999,999,999 */
	int64_t count;		/* throughput: transactions; 0 = until duration is over, at least 1 */
	bool no_delay;		/* TCP_NODELAY; default false for streams, true for RR */
	char congestion[16];	/* default "cubic" */
	int client_cpu, server_cpu; /* -1 = free; default client 0, server 1 where there are two */
	int dscp;		/* default 0 */
	int64_t rcvbuf, sndbuf; /* bytes, 0 = the kernel's own choice */
	char bind_device[16];	/* "" = none */
};

void engine_spec_default(struct engine_spec *s, enum engine_test test);

/* netperf's, qperf's and IxChariot's names, case-insensitive. -EINVAL with a suggestion. */
int engine_test_parse(const char *name, enum engine_test *test, struct err *err);
const char *engine_test_name(enum engine_test test);

json_t *engine_spec_json(const struct engine_spec *s); /* gives a reference */
int engine_spec_parse(const json_t *j, struct engine_spec *s, struct err *err);

/* The worker: JSON lines on the two descriptors until the result is sent. */
int engine_stdio(int in_fd, int out_fd, struct err *err);

/*
 * What a measurement found. Numbers are 0 where the test has no such thing; NAN where it could not
 * be measured. JSON names are these names (engine_result_json()).
 */
struct engine_dist { /* of nanoseconds, or of bits per second for per-transaction throughput */
	int64_t count;
	double mean, stddev, min, max, p50, p90, p99, p999; /* NAN where samples do not support it */
};

struct engine_side { /* one worker */
	double cpu_user_s, cpu_system_s;  /* of the worker itself, in the window */
	double cpu_busy;		  /* whole machine, share 0…1 of all CPUs in the window */
	double cpu_steal;		  /* share 0…1 */
	double cpu_softirq;		  /* share 0…1 */
	int64_t bytes, packets;		  /* payload bytes, and datagrams / transactions, in the window */
	int64_t window_ns;		  /* the window it counted over */
	/* Payload bytes of the whole flow, with hello, warm-up and tail: what kernel counters see. */
	int64_t total_bytes;
};

struct engine_result {
	enum engine_test test;
	bool partial;		    /* ended early */
	double goodput_bps;	    /* receiver's payload bits per second over the common window */
	double sent_bps;	    /* sender's */
	double pps;		    /* datagrams per second received; RR: transactions per second */
	double sent_pps;
	int64_t lost, reordered, duplicated; /* udp_stream: by sequence, in the window */
	double loss;		    /* share of sent, 0…1 */
	int64_t retransmits;	    /* TCP segments, of all streams, in the window */
	double rtt_us, cwnd;	    /* TCP_INFO at the end, mean of streams */
	int mss;
	char congestion[16];	    /* what the socket really used */
	struct engine_dist latency; /* RR: round trip ns; throughput: response time ns */
	struct engine_dist rate;    /* throughput: bits/s per transaction */
	struct engine_side client, server;
	json_t *intervals;	    /* [{t_s, bps | tps, …}] receiver's; owned */
	json_t *flows;		    /* from "connected"; owned */
};

struct engine_ends {
	int client_in, client_out; /* we write to client_in and read from client_out */
	int server_in, server_out;
};

/*
 * Drives one measurement: sends specs, connects the client to `server`, starts both, collects. Hard
 * deadline: duration + warm-up + 10 s (throughput: also the time file_size needs at 1 Mbit/s). The
 * two callbacks may be NULL; on_connected is called between "connected" and "start" (counters are
 * installed there), on_done after both results are in.
 */
struct engine_hooks {
	int (*on_connected)(void *arg, const json_t *flows, struct err *err);
	void (*on_interval)(void *arg, const json_t *interval);
	void *arg;
};
int engine_pair(const struct engine_spec *s, const struct ip *server, const struct engine_ends *ends,
		const struct engine_hooks *hooks, struct engine_result *out, struct err *err);
void engine_result_done(struct engine_result *r);
json_t *engine_result_json(const struct engine_result *r); /* gives a reference */

#endif
