/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rfc6349: TCP throughput against what the path allows (RFC 6349). First the path: its MTU
 * (by the packets that arrive: test path_check; and what TCP makes of it: its segments), the round
 * trip of an idle path (baseline RTT), what its bottleneck carries; from them the bandwidth delay
 * product and the least window that fills the path. Then TCP with windows below and above that,
 * each with the three metrics of section 4: Transfer TimeRatio, TCP Efficiency, Buffer Delay.
 *
 * Windows are set by the socket buffers of both ends; the kernel gives about that much window, not
 * exactly, and it may refuse more than its limits (net.core.rmem_max): the RTT and the rate that
 * TCP reports show what really was.
 */
#ifndef VPCLAB_HARNESS_RFC6349_H
#define VPCLAB_HARNESS_RFC6349_H

#include "core/harness/procedure.h"

#define RFC6349_WINDOWS 5

struct rfc6349_row {
	double share;	   /* of the BDP that the window is; 0: the kernel's own choice */
	int64_t window;	   /* bytes; 0: the kernel's own choice */
	double actual_bps; /* payload received */
	double ideal_bps;  /* what the path allows with that window: min(bottleneck, window/RTT) */
	double time_ratio; /* TCP Transfer Time Ratio: actual time / ideal time, ideal_bps of the
			      path, not of the window (RFC 6349, 4.1) */
	double efficiency; /* TCP Efficiency, share 0…1: sent bytes that were no retransmissions */
	double buffer_delay; /* Buffer Delay, share: (RTT during − baseline) / baseline */
	double rtt_ns;	     /* TCP's own, during */
	int64_t retransmits; /* segments */
	const char *machine; /* what this machine was short of, or NULL */
	const char *error;   /* why it was not measured, or NULL */
};

struct rfc6349 {      /* zeroed is empty; in the procedure's arena */
	int mss;      /* bytes of payload of a full segment */
	int mtu;      /* bytes of a full segment's packet; 0: not known */
	int path_mtu; /* of the way forward, bytes, by packets that arrived; 0: not known */
	const char *path_mtu_why; /* not known: why; else where it differs from mtu, and what that
				     means; or NULL */
	double rtt_ns;		  /* baseline */
	double bottleneck_bps; /* TCP payload that full segments at the bottleneck's rate carry */
	double bottleneck_pps; /* full packets a second */
	bool bottleneck_valid; /* the machine did not spoil that trial */
	const char
	    *bottleneck_why; /* a remark: what may have bounded it beside the path; or NULL */
	double bdp_bytes;    /* bandwidth delay product */
	VEC(struct rfc6349_row) rows;
};

/* `base`: tcp_stream; its times, streams and congestion control are those of the TCP tests.
 * family: AF_INET or AF_INET6. -EINTR with what is known. */
int rfc6349_run(struct procedure *p, const struct engine_spec *base, int family,
		struct rfc6349 *out, struct err *err);

#endif
