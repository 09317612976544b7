/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine: the measuring programs. They know nothing of labs: they run between any two places.
 *
 * A measurement has two workers, server and client, each one process running engine_stdio(): it
 * reads JSON messages, one a line, from a control descriptor and writes JSON messages to it. The
 * control channel is a socketpair or a pipe pair (inside a lab), a terminal or ssh (by hand); it is
 * never the measured network.
 *
 *   → {"type":"spec", "version":1, "role":"server"|"client", "session":N,
 *      "family":"ipv4"|"ipv6", "clock":"shared"|"own", "test":"tcp_stream", …}
 *      (struct engine_spec) "shared": both workers read the same CLOCK_MONOTONIC
 *   ← {"type":"ready", "port":N, "ports":[N,…], "clock_id":"…", "program":"…"}
 *      server: bound (UDP: a port a stream); clock_id: whoever gives the same has the same clock
 *   → {"type":"connect", "address":"…", "port":N, "ports":[N,…]}   client only; fe80::1%eth0
 *   ← {"type":"connected", "size":N, "answered":true,
 *      "flow": [{"local":"…","local_port":N,"remote":"…","remote_port":N,"protocol":"tcp"}]}
 *   ⇄ {"type":"clock", "at_ns":N, "now_ns":N}     asked with at_ns before the start, after the
 *      result, and while the streams run; the answer repeats it beside the worker's own
 *      CLOCK_MONOTONIC
 *   → {"type":"start", "at_ns":T, "size":N, "peer_ahead_ns":N}   both: when, by its own clock
 *   ← {"type":"interval", …}                      every interval_ns, not part of the result's truth
 *   ⇄ {"type":"sent", "packets":[N,…]}            datagrams: from who sends, passed on to who
 *      receives: its totals; also "sent" in the result
 *   ← {"type":"result", …}                        or {"type":"error","text":"…","code":N,"kind":N}
 *   → {"type":"stop"}                             early end; the result is then marked partial
 *   ⇄ {"type":"alive"}                            heartbeat, each second; see control.h
 *   → {"type":"end"}                              "own" clocks: no more questions after the result
 * End of file on control ends the worker at once; so does silence while streams run (see
 * control_patience_ns()), where the driver had sent heartbeats.
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

/* How long udp_stream sends on after the window (more for a gap that is longer), so that the link
 * is as full at its end as before. Nobody waits for these datagrams once all of the window are
 * there. */
#define ENGINE_UDP_TAIL_NS INT64_C(10000000)

enum engine_test {
	TEST_TCP_STREAM,
	TEST_UDP_STREAM,
	TEST_TCP_RR,
	TEST_UDP_RR,
	TEST_THROUGHPUT,
	TEST_TCP_MAERTS,    /* data from server to client */
	TEST_TCP_BIDIR,	    /* both ways, on connections of their own */
	TEST_TCP_SENDFILE,  /* tcp_stream from a file's pages, without copying at the sender */
	TEST_UDP_MAERTS,    /* data from server to client */
	TEST_UDP_BIDIR,	    /* both ways */
	TEST_UDP_MULTICAST, /* one sender, spec.streams receivers in the server's worker */
	TEST_TCP_CRR,	    /* connect, request, response, close */
	TEST_TCP_CC,	    /* connect, close */
	TEST_UDP_LATENCY,   /* open loop: probes by a schedule, answered at once */
	TEST_PAIRS,	    /* scripts as IxChariot's, on up to 10,000 connections */
	TEST_PATH_CHECK,    /* path MTU, hops, translations, DSCP, idle timeout */
};

/* Which way the data of a test goes. */
enum engine_way { WAY_FORWARD, WAY_BACK, WAY_BOTH };

/* What is common to a kind of tests; for whoever must treat kinds differently, never by name. */
struct engine_traits {
	bool datagram;	   /* UDP */
	bool transactions; /* request and response: no data rate is predicted */
	bool open_end;	   /* ends with its work, not by the clock */
	bool paced;	   /* takes rate_bps or rate_pps */
	bool stream;	   /* bulk data whose rate a counter on the way can confirm */
	bool files;	   /* transactions of file_size bytes each: bulk data too */
	bool group;	   /* one sends, spec.streams receive each the same */
	bool scripted;	   /* takes spec.script */
	enum engine_way way;
};
struct engine_traits engine_test_traits(enum engine_test test);

/* Gaps of what is sent by a schedule. Their mean is 1 / rate. */
enum engine_schedule { SCHEDULE_PERIODIC, SCHEDULE_POISSON, SCHEDULE_UNIFORM, SCHEDULE_NORMAL };

#define ENGINE_BURST 10000000 /* datagrams at a place: seconds of them */

struct engine_spec {
	enum engine_test test;
	int64_t duration_ns; /* measuring window; default 5 s */
	int64_t warmup_ns;   /* left out before it; default 1 s (throughput: 0) */
	int64_t interval_ns; /* default 500 ms */
	int streams;	     /* sockets, each way; default 1; at most ENGINE_STREAMS */
	/* Of each worker, over which its streams are spread; 0 = the engine's own choice (one for
	 * each stream, or for event-driven engines as many as it has CPUs, at most 2). */
	int threads;
	/* Bytes a write (128 KiB), of a request (1), of a UDP payload (0: as the MTU has room). */
	int64_t size;
	int64_t response_size; /* RR: bytes of the answer; default 1 */
	int64_t rate_bps;  /* udp_stream: payload bit/s of all streams; 0 = as fast as it goes */
	int64_t rate_pps;  /* udp_stream: packets per second instead */
	int64_t file_size; /* throughput: bytes a transaction; default 999,999,999 */
	int64_t count;	   /* throughput: transactions; 0 = until duration is over, at least 1 */
	/* throughput: the duration ends it, also within a transaction, which then is partial.
	 * Default false: what is on its way is waited for. A key "duration" sets it. */
	bool bounded;
	bool no_delay;	     /* TCP_NODELAY; default false for streams, true for RR */
	char congestion[16]; /* default "cubic"; "" = the kernel's own choice */
	/* It was asked for: an error where this user may not choose it. Default false: then the
	 * kernel's own choice stands, and the result says so. A key "congestion" sets it. */
	bool congestion_required;
	/* -1 = free. Default: the first two that are allowed, where there are two; for RR both the
	 * first, since a round trip across CPUs is mostly the scheduler's. */
	int client_cpu, server_cpu;
	/* Thread k of either end keeps to the k-th CPU that is allowed, counted round, so that both
	 * ends of a connection share one and no CPU waits for another's cache. Takes the place of
	 * client_cpu and server_cpu, which are then -1; default threads: one a CPU. */
	bool spread;
	int dscp; /* default 0 */
	int mss;  /* TCP_MAXSEG; 0 = the path's */
	/* Both ends poll their sockets without sleeping; costs a CPU each. */
	bool spin;
	/* tcp receivers: take the bytes without copying them out (MSG_TRUNC); the result says so.
	 */
	bool discard;
	/* How data is handed over: "" or "plain": sockets, every datagram a packet. udp: "gso"
	 * (UDP_SEGMENT and UDP_GRO: datagrams, not wire packets), "steer" (plain, and receiving
	 * work is moved to the receiver's CPU), "afxdp". tcp: "zerocopy" (MSG_ZEROCOPY). */
	char io[12];
	int outstanding; /* rr: requests on the way on each connection; default 1 */
	int64_t burst;	 /* paced udp: datagrams sent together at each place; default 1; of
			    udp_latency 1024 at most */
	enum engine_schedule schedule; /* paced: default periodic */
	int64_t seed;	    /* of all that is random; 0 = chosen, and named in the result */
	int64_t timeout_ns; /* rr and latency: an answer after it is late; 0 = the engine's own */
	/* tcp_crr, tcp_cc: "rst" (default: the client resets, no TIME_WAIT) or "fin". */
	char close[8];
	int ports; /* tcp_crr, tcp_cc: listening ports at the server; default 1 */
	/* Intervals at the window's begin that are before the rate was steady are left out of it,
	 * afterwards: nothing runs longer. See engine_result.cut_s. */
	bool steady;
	/* Streams of datagrams: that not one arrives, or none for long, is a result (the question
	 * is the loss), and not a measurement that failed. */
	bool total_loss;
	char group[48]; /* udp_multicast: the group's address; "" = 239.1.1.1 or ff15::1 */
	/* The client binds to this address; "" = the kernel chooses. A link-local one may name its
	 * zone (fe80::1%eth0), else it is bind_device or `zone`. */
	char client_address[64];
	const char *script; /* pairs: JSON text, see script.h; path_check: what to look at. Lives as
			       long as the process. NULL = the engine's own */
	/* Bytes, 0 = the kernel's own choice (receiving UDP: 8 MiB, or as much as is allowed). */
	int64_t rcvbuf, sndbuf;
	char bind_device[16]; /* "" = none */
	/* The client's device that leads to the server, where the server's address is link-local;
	 * "": bind_device. It is the zone of the address (RFC 4007). */
	char zone[ADDR_ZONE];
};

void engine_spec_default(struct engine_spec *s, enum engine_test test);

/* netperf's, qperf's and IxChariot's names, case-insensitive. -EINVAL with a suggestion. */
int engine_test_parse(const char *name, enum engine_test *test, struct err *err);
const char *engine_test_name(enum engine_test test);
#define ENGINE_TESTS (TEST_PATH_CHECK + 1)
const char *engine_test_summary(enum engine_test test);	       /* a line, for help */
const char *const *engine_test_aliases(enum engine_test test); /* NULL-terminated */

#define ENGINE_STREAMS 10000

/* JSON with the names above. Parsing also takes texts with units, then without the unit in the name
 * ("duration": "2s", "rate": "10mbit"); unknown keys are errors, those of the protocol are not. */
json_t *engine_spec_json(const struct engine_spec *s); /* gives a reference */
int engine_spec_parse(const json_t *j, struct engine_spec *s, struct err *err);

/* One more key, checked with all the others. *s changes on success only. */
int engine_spec_change(struct engine_spec *s, const char *key, const json_t *value,
		       struct err *err);

/*
 * The worker: JSON lines on the two descriptors (borrowed) until the result or an error is sent, or
 * the channel ends (-ECANCELED). Call it in a process of its own: it changes the process's CPU
 * affinity and file limit. The specification has to be there within first_ns (0: 10 minutes).
 */
int engine_stdio(int in_fd, int out_fd, int64_t first_ns, struct err *err);

/*
 * What a measurement found. Numbers are 0 where the test has no such thing; NAN where it could not
 * be measured. JSON names are these names (engine_result_json()),
 * with the unit of a distribution: latency_ns, delay_ns, rate_bps.
 */
struct engine_dist { /* of nanoseconds, or of bits per second for per-transaction throughput */
	int64_t count;
	double mean, stddev, min, max, p50, p90, p99, p999; /* NAN: samples do not support it */
};

struct engine_side {			 /* one worker */
	double cpu_user_s, cpu_system_s; /* of the worker itself, in the window */
	double cpu_busy;		 /* whole machine, share 0…1 of all CPUs in the window */
	double cpu_steal;		 /* share 0…1 */
	double cpu_softirq;		 /* share 0…1 */
	int64_t bytes, packets; /* payload bytes, and datagrams / transactions, in the window */
	int64_t window_ns;	/* the window it counted over */
	/* Payload bytes of the whole flow, hello, warm-up and tail too: what kernel counters see.
	 */
	int64_t bytes_all;
	int64_t packets_all; /* likewise, datagrams or transactions; without hello */
	int cpu;	     /* that it was kept on; -1 = free */
	int n_threads;
	double thread_cpu_s;  /* of the busiest of its threads, in the window */
	double thread_wait_s; /* … and how long that one waited for a CPU; NAN: not known */
	int cpus;	      /* of its machine */
	int64_t memory_bytes; /* the most that it ever took; 0: not known */
	/* CPU time in the window for each TCP segment sent, datagram or transaction: of the worker,
	 * and of all CPUs of its machine; and of those for 1024 bytes of payload (what netperf
	 * calls service demand). NAN: not known. */
	double us_per_packet, machine_us_per_packet, us_per_kib;
	json_t *threads; /* [{"streams", "cpu_s", "cpu_user_s", "cpu_system_s", "wait_s"}]; owned */
	json_t *host;	 /* what its network namespace sent in the window, see sample.h; owned */
};

struct engine_result {
	enum engine_test test;
	bool partial;	    /* ended early */
	double goodput_bps; /* receiver's payload bits per second over the common window */
	double sent_bps;    /* sender's */
	double pps;	    /* datagrams per second received; RR: transactions per second */
	double sent_pps;
	int64_t lost, reordered, duplicated; /* udp_stream: by sequence, in the window; RR: lost */
	double loss;			     /* share of sent, 0…1 */
	int64_t retransmits;		     /* TCP segments, of all streams, in the window */
	double rtt_us, cwnd;		     /* TCP_INFO at the end, mean of streams */
	int mss;
	char congestion[16];	    /* what the socket really used */
	char congestion_asked[16];  /* what the specification named; "" = the kernel's choice */
	struct engine_dist latency; /* RR: round trip ns; throughput: response time ns */
	struct engine_dist rate;    /* throughput: bits/s per transaction; mean: bytes / time */
	struct engine_side client, server;
	json_t *intervals;	  /* [{t_s, bps | tps, …}] receiver's; t_s: its end; owned */
	json_t *flows;		  /* from "connected"; owned */
	json_t *pairs;		  /* throughput: one object a stream; NULL elsewhere; owned */
	struct engine_dist delay; /* udp_stream: one way, ns, by the shared clock (size ≥ 20) */
	double offered_bps;	  /* udp_stream: what was asked for; 0 = as fast as it goes */
	double offered_pps;
	int64_t missed;	   /* udp_stream: places on the schedule given up, sender too late */
	int64_t refused;   /* udp_stream: sends that the local system refused */
	int64_t lost_host; /* udp_stream: of lost, dropped at the receiver's own socket */
	int64_t drops_all; /* udp_stream: drops at that socket from start to end, of all phases */
	int64_t late;	   /* udp_rr: answered after the timeout; udp_stream: too late to tell */
	int64_t size;	   /* bytes a write, a datagram or a request, as used */
	int64_t rcvbuf;	   /* SO_RCVBUF of the receiver, as the kernel counts it */
	/*
	 * WAY_BOTH: the fields above are those of client to server, `back` is the other way.
	 * (WAY_BACK: the fields above are those of server to client: the only way that there is.)
	 */
	struct engine_back {
		double goodput_bps, sent_bps, pps, sent_pps, loss;
		int64_t lost, lost_host, duplicated, reordered, retransmits;
		/* As those of engine_side and drops_all above: by the sender, and the receiver. */
		int64_t sent_bytes_all, sent_packets_all, bytes_all, packets_all, drops_all;
		json_t *intervals; /* as above; owned; NULL: no such way */
	} back;
	/*
	 * What an application handed over, what TCP made of it and what it is on the wire, at the
	 * sender, a second, in the window; NAN where not known. coalescing: messages / segments.
	 */
	double messages_pps, segments_pps, coalescing;
	/* What held the rate: "link", "sender", "receiver", "schedule", "window" (TCP), "" not
	 * known; and the evidence. */
	char limit[12];
	char limit_why[200];
	double steady_s; /* when the rate became steady, since the window began; NAN: it did not */
	/* spec.steady: what was left out of goodput, sent, pps (and of nothing else) at the begin
	 * of the window, and why; 0: nothing. */
	double cut_s;
	char steady_why[160];
	/* Of the sockets that send, over the window, as in the intervals; owned; NULL: none. */
	json_t *tcp;
	int tcp_sampled; /* sockets whose figures are in the intervals; fewer than all: a sample */
	double began_s;	 /* when the window began, CLOCK_REALTIME of the client; NAN: not known */
	bool same_machine;     /* both ends share its CPUs */
	double clock_error_ns; /* bound on the offset of the two clocks; 0: they are one */
	int64_t seed;
	char io[12]; /* how data was handed over, really */
	/* Why this is no valid result (a peer died, nothing arrived, …); "" = it is. Partial too
	 * where an end did not report the whole window. */
	char invalid[200];
	/* What only this engine finds, as its own file describes it; owned; NULL: nothing. */
	json_t *detail;
	/* {"client": {…}, "server": {…}}: kernel, version, offloads of the device, sysctls; owned.
	 */
	json_t *machines;
};

/*
 * udp_stream has two counts. server.packets and .bytes are the window's packets by what is written
 * in them, so client.packets = server.packets + lost exactly. goodput_bps and pps are by arrival
 * inside the window, so that a queue that fills up or drains is not mistaken for rate.
 * throughput: client.window_ns is from the first send to the last confirmation.
 * Intervals have bytes, packets or transactions, whose sum is that of the window, and what only the
 * sender knows: sent_bps, sent_pps, and of TCP (tcp_info, tcp(7)) retransmits, bytes_acked,
 * segs_out, data_segs_out, reord_seen, dsack_dups, busy_us in the interval, rwnd_limited and
 * sndbuf_limited as shares of busy_us, rtt_us, rttvar_us, min_rtt_us, cwnd, delivery_bps,
 * app_limited at its end.
 */

struct engine_ends {
	int client_in, client_out; /* we write to client_in and read from client_out */
	int server_in, server_out;
};

/*
 * Drives one measurement: sends specs, connects the client to `server`, starts both, collects. Hard
 * deadline: duration + warm-up + 5 s (throughput, unless bounded: also the time that file_size
 * needs at 1 Mbit/s; more for more than 100 streams). The callbacks may be NULL; on_connected is
 * called between "connected" and "start" (counters are installed there), on_start right after
 * "start", on_interval with each interval of the headline's side. When a worker fails, dies or is
 * silent for too long (see control_patience_ns()), the other one is told to stop and given 1 s for
 * it. Then what is known is the result, partial and with `invalid` set; where nothing is known,
 * that is an error that names who it was. So is a stop before the start; later it is a partial
 * result. *out is written on success only. The descriptors stay the caller's. May be called by
 * several threads at once.
 */
struct engine_hooks {
	int (*on_connected)(void *arg, const json_t *flows, struct err *err);
	void (*on_interval)(void *arg, const json_t *interval);
	/* The same of both sides, for whoever shows them: headline: the result's own, else the
	 * other one's, which may come sooner or later. */
	void (*on_each)(void *arg, bool headline, const json_t *interval);
	void (*on_start)(void *arg, int64_t window_ns); /* when the window will begin, or NULL */
	void *arg;
	int stop_fd; /* readable: end early, partial result; 0 or -1 = none; borrowed */
	/* The workers may run on different machines: their clocks are compared (clock_offset.h),
	 * and nothing is taken for simultaneous beyond clock_error_ns. */
	bool own_clocks;
	/* When may it start? Called once both are connected, with the earliest time that they can
	 * keep; gives that or a later one (CLOCK_MONOTONIC here), negative errno when it must not
	 * start. It may wait for others, at most some 10 s: several measurements in threads of one
	 * process agree on one start. NULL: at the earliest. */
	int64_t (*start)(void *arg, int64_t earliest_ns);
};
int engine_pair(const struct engine_spec *s, const struct ip *server,
		const struct engine_ends *ends, const struct engine_hooks *hooks,
		struct engine_result *out, struct err *err);
void engine_result_done(struct engine_result *r);
json_t *engine_result_json(const struct engine_result *r); /* gives a reference */

#endif
