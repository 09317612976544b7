/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth: what an ideal meter would read. Predicted from the model by header arithmetic, counted
 * from two kernel counters that must agree. Pure: counters come in as numbers.
 *
 * Bytes of one frame on a link, for an IP packet of n bytes with e bytes of encapsulation around
 * it: l3: n + e          l2: n + e + 14          l1: max(n + e + 38, 84) (14 Ethernet header; l1
 * adds FCS 4, preamble 8, gap 12, and the least frame of 64 bytes.)
 */
#ifndef VPCLAB_HARNESS_TRUTH_H
#define VPCLAB_HARNESS_TRUTH_H

#include "core/base/str.h"
#include "emulator/model/path.h"

struct truth_traffic {
	int protocol;	 /* IPPROTO_TCP or IPPROTO_UDP */
	int family;	 /* AF_INET or AF_INET6 */
	bool timestamps; /* TCP: 12 bytes of options in each segment (RFC 7323) */
	int64_t payload; /* UDP: bytes of a datagram; TCP: 0, segments are full */
	bool opposite;	 /* an equal flow runs the other way at the same time */
	/* With `opposite`: that flow has a rate of its own, in packets per second; 0: it is equal.
	 * It is only looked at where the two share no shaper, so that just its answers are met. */
	double opposite_pps;
	int streams;	    /* 5-tuples that share it; 0 counts as 1 */
	double offered_pps; /* UDP: what the sender offers; 0 = more than the path carries */
};

enum truth_limit {
	LIMIT_RATE,    /* bits per second */
	LIMIT_PACKETS, /* packets per second */
	LIMIT_QUEUE,   /* what one of several queues may carry */
	LIMIT_FLOW,    /* what one flow may carry */
	LIMIT_TRACE,   /* a delivery trace */
	LIMIT_SENDER,  /* what the sender offers */
};

/* What limits the flow, and what it carries then. Rates are those of payload. */
struct truth_predicted {
	bool known; /* false: see `unknown` */
	/* Why nothing is predicted: what is on the way has no simple answer. Empty: no shaper is on
	 * the way, so only the machine limits it. */
	char unknown[160];
	enum truth_limit limit;
	double goodput_bps;	  /* the point prediction */
	double low_bps, high_bps; /* with the stated assumption, and without it */
	double pps;		  /* datagrams or full segments a second, for goodput_bps */
	double low_pps, high_pps;
	int64_t payload_bytes; /* of a full packet */
	int64_t charged_bytes; /* what the limiting shaper counts for it */
	int64_t
	    ack_bytes; /* what it counts for an acknowledgement of the same flow; 0: not there */
	int mtu;
	char link[64]; /* the limiting link's name */
	int shaper;    /* the device that sends there, in the wire model; -1: none */
	int64_t rate_bps;
	enum rate_basis basis;
	const char *assumption; /* NULL, or in words, why low and high differ */
	double delivered_share; /* UDP: of what the limit lets pass; less than 1 where links lose */
	double limit_value;	/* of `limit`, in bit/s … */
	bool limit_packets;	/* … or in packets/s */
	int64_t scale_num, scale_den; /* all figures are those of the model, num/den of full size */
};

/* A rate of the model at the full size of what it models: undoes `scale`. */
double truth_full_size(const struct truth_predicted *p, double rate);
bool truth_scaled(const struct truth_predicted *p);

/* Adds "client vNIC, 50 Mbit/s a queue": which link limits a known prediction, and what of it. */
void truth_limit_text(const struct truth_predicted *p, struct strbuf *out);

/* Of the IP header alone, and from the IP header to the payload; in bytes. */
int truth_ip_header(const struct truth_traffic *t);
int truth_headers(const struct truth_traffic *t);

/* Payload of a full TCP segment where the way has that MTU: what it has no room for Linux sends in
 * fragments (tcp_mtu_to_mss() in net/ipv4/tcp_output.c). */
int64_t truth_segment(const struct truth_traffic *t, int mtu);
/* Bytes behind the IP header in a full fragment (RFC 791, RFC 8200: multiples of 8), and how many
 * packets a packet of that payload is. */
int64_t truth_fragment(const struct truth_traffic *t, int mtu);
int truth_fragments(const struct truth_traffic *t, int64_t payload, int mtu);

/* What a shaper of that basis charges for an IP packet of ip_bytes with encap_bytes around it. */
int64_t truth_charged(enum rate_basis basis, int64_t ip_bytes, int encap_bytes);

/*
 * `back` is the way of the answers (path_reverse()), or NULL where there are none. ACKs that meet
 * the same limit as the data (a vRouter on one host NIC, a cap on the sum of both directions) take
 * their share: one for every two full segments (RFC 1122, 4.2.3.2).
 *
 * UDP loses its share on each impaired link after that link's limit. TCP answers loss, reordering,
 * corruption and policers in ways of its own: where the path has any, nothing is predicted.
 */
void truth_predict(const struct wire *w, const struct path *forward, const struct path *back,
		   const struct truth_traffic *t, struct truth_predicted *out);

struct truth_counter {
	int64_t packets, bytes;
};

/* What the two counters at the receiving device saw between two moments. */
struct truth_counts {
	bool known;
	const char *missing;	     /* !known: why */
	struct truth_counter flow;   /* nft, this flow only, bytes from the IP header on */
	struct truth_counter device; /* all that the device received, with the Ethernet header */
	int64_t elapsed_ns;	     /* between the moments; 0: not taken */
};

enum truth_agreement { TRUTH_AGREE, TRUTH_DISAGREE, TRUTH_UNKNOWN };

struct truth_counted {
	enum truth_agreement agreement;
	char why[200];		 /* in words when it is not TRUTH_AGREE */
	int64_t packets;	 /* of the flow */
	int64_t payload_bytes;	 /* of the flow: bytes less the headers of each packet */
	int64_t foreign_packets; /* others on the device (ARP, neighbour discovery, control) */
	double goodput_bps; /* payload over the window in which it was sampled; NAN: not sampled */
	double pps;
};

/* The share by which two truths may differ, and the least packets and bytes (stated in reports). */
#define TRUTH_TOLERANCE_SHARE	0.001
#define TRUTH_TOLERANCE_PACKETS 64

/*
 * `whole` covers the flow from its first packet to its last, `window` (or NULL) only the measuring
 * window. `claimed_bytes` is the engine's payload over the whole flow, `slack_bytes` what it may
 * rightly not have: retransmitted, or dropped by the receiver's socket. -1: it makes no claim.
 */
struct truth_claim {
	int64_t bytes, slack_bytes;
};
void truth_count(const struct truth_traffic *t, const struct truth_counts *whole,
		 const struct truth_counts *window, const struct truth_claim *claim,
		 struct truth_counted *out);

#endif
