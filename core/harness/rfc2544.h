/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rfc2544: the benchmarks of RFC 2544, section 26, for one path: throughput (26.1), latency (26.2),
 * frame loss rate (26.3), back-to-back frames (26.4, by RFC 9004). System recovery (26.5) and reset
 * (26.6) are not here. Frame sizes count the FCS, as the RFC does.
 *
 * A burst has up to 2 s of frames, the least length of the RFC's trials, each a datagram of its own
 * (no segmentation offload): looked for upwards, to the resolution of the throughput.
 *
 * Differences that the RFC wants reported: a trial takes 2 s unless asked otherwise (the RFC: at
 * least 60 s); latency is one way, of every datagram of the trials at the throughput rate, where
 * both ends share a clock.
 */
#ifndef VPCLAB_HARNESS_RFC2544_H
#define VPCLAB_HARNESS_RFC2544_H

#include "core/harness/search.h"

#define RFC2544_TRIAL_NS (60 * NSEC_PER_SEC) /* what the RFC asks for */
#define RFC2544_FRAMES	 32		     /* sizes at most */

struct rfc2544_options {
	int64_t frames[RFC2544_FRAMES]; /* bytes; none: 64, 128, 256, 512, 1024, 1280, 1518 */
	size_t n_frames;
	int64_t mtu;		 /* of the path, bytes; longer frames are skipped; 0: not known */
	int family;		 /* AF_INET or AF_INET6: how long the headers are */
	struct search_goal goal; /* of throughput: times and width */
	int64_t most_pps;	 /* "100 %"; 0: found for each size */
	bool throughput, loss, burst; /* which; latency comes with throughput */
	int repeats;		      /* of a burst; 0: 3 (the RFC: at least 50) */
};

struct rfc2544_burst {
	bool known;
	bool open_end;	   /* nothing is known of longer ones: of 2 s, or see why */
	int64_t frames;	   /* longest burst without any loss */
	int64_t lost_from; /* shortest that lost some; 0: none */
	double burst_pps;  /* how fast the sender gave it: as fast as it goes */
	/* RFC 9004, 5.4: frames / burst_pps, and less what was forwarded meanwhile; seconds; NAN
	 * without a throughput. */
	double buffer_s, corrected_s;
	const char *why;  /* of a burst that was no valid trial */
	const char *wire; /* the sender did not keep the wire full: what that means; or NULL */
};

struct rfc2544_row {		/* one frame size */
	int64_t frame, payload; /* bytes */
	const char *skipped;	/* why nothing was measured, or NULL */
	struct search search;
	double throughput_bps;	  /* l2 bits/s at the throughput; NAN: none */
	struct engine_dist delay; /* at the throughput rate, ns; NAN: not known */
	const char *delay_why;	  /* why it is not */
	VEC(struct trial) losses; /* by falling rate */
	struct rfc2544_burst burst;
};

struct rfc2544 { /* zeroed is empty; in the procedure's arena */
	VEC(struct rfc2544_row) rows;
	bool interrupted;
};

/* `base`: udp_stream. What was found before an error stays in *out. */
int rfc2544_run(struct procedure *p, const struct engine_spec *base,
		const struct rfc2544_options *o, struct rfc2544 *out, struct err *err);

/* Did each benchmark asked for come to a result that the machine did not bound? */
bool rfc2544_complete(const struct rfc2544 *r, const struct rfc2544_options *o);

#endif
