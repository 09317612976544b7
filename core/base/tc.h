/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tc: traffic control as plain values, one struct for what one `tc` command tells the kernel.
 * emulator/shaper decides the figures, emulator/plan prints them, emulator/kernel sends them and
 * reads them back into the same struct, emulator/lab compares the two. No code.
 */
#ifndef VPCLAB_BASE_TC_H
#define VPCLAB_BASE_TC_H

#include <stdbool.h>
#include <stdint.h>

/* Parents and classids: major in the upper 16 bits, minor in the lower. */
#define TC_AT_ROOT	    0xffffffffu
#define TC_AT_CLSACT	    0xfffffff1u /* where the clsact qdisc itself is */
#define TC_CLSACT_HANDLE    0xffff0000u
#define TC_AT_INGRESS	    0xfffffff2u /* ingress side of a clsact qdisc */
#define TC_ID(major, minor) ((uint32_t)(major) << 16 | (uint32_t)(minor))

enum tc_kind {
	TC_TBF,	    /* qdisc: token bucket, its child is 1 below its handle (1:1) */
	TC_HTB,	    /* qdisc: tree of classes */
	TC_CLASS,   /* class of an HTB */
	TC_FIFO,    /* qdisc: drop-tail queue limited in bytes (bfifo) */
	TC_PFIFO,   /* qdisc: drop-tail queue limited in packets (pfifo) */
	TC_NETEM,   /* qdisc */
	TC_CLSACT,  /* qdisc: where filters hang that see what arrives */
	TC_POLICE,  /* filter: all packets through a policer (matchall, act_police) */
	TC_UNKNOWN, /* read back: another kind */
};

/*
 * The deepest bucket that a TBF takes in bytes: it adds the overhead in 32 bits, and what passes
 * them is no bucket at all (psched_l2t_ns() of include/net/sch_generic.h). Deeper ones are told as
 * time.
 */
#define TC_TBF_BYTES_MOST (UINT32_MAX - UINT16_MAX)

/* What a bucket is filled with and what a packet costs in it. */
struct tc_bucket {
	uint64_t rate_bytes;  /* a second; 0: there is no such bucket */
	uint64_t burst_bytes; /* its depth */
	uint16_t overhead;    /* bytes added to each packet */
	uint16_t mpu;	      /* least bytes that a packet costs, overhead included */
};

struct tc_tbf {
	struct tc_bucket rate;
	struct tc_bucket peak; /* overhead and mpu are those of `rate` */
	uint32_t limit_bytes;  /* what may wait; where its child is a TC_PFIFO: that one's packets,
				* since the kernel gives a changed limit on to any fifo */
};

struct tc_htb {
	uint32_t default_minor; /* class of packets that nobody classified */
};

struct tc_class {
	struct tc_bucket rate; /* assured */
	struct tc_bucket ceil; /* at most; overhead and mpu are those of `rate` */
	uint32_t quantum;      /* bytes a turn among its siblings */
};

enum tc_distribution { TC_DIST_UNIFORM, TC_DIST_NORMAL, TC_DIST_PARETO };

/* Probabilities as the kernel has them: parts of 2^32 - 1. */
struct tc_netem {
	uint32_t limit_packets;
	int64_t delay_ns, jitter_ns;
	enum tc_distribution distribution;
	uint32_t delay_correlation;
	uint32_t loss, loss_correlation;
	bool bursts; /* Gilbert-Elliott instead of `loss` */
	uint32_t to_bad, to_good, bad_loss, good_loss;
	uint32_t duplicate, corrupt;
	uint64_t seed; /* Linux 6.6 and later heed it */
};

struct tc_policer {
	struct tc_bucket rate;
	uint32_t mtu_bytes; /* larger packets are dropped whatever the rate */
};

struct tc_step {
	enum tc_kind kind;
	uint32_t parent;   /* TC_AT_… or a class */
	uint32_t handle;   /* of the qdisc (1:0), or classid (1:1); TC_POLICE: 0 */
	int stab_overhead; /* qdisc: 0, or bytes (also negative) added by a size table */
	union {
		struct tc_tbf tbf;
		struct tc_htb htb;
		struct tc_class cls;
		uint32_t fifo_limit_bytes;
		uint32_t pfifo_limit_packets;
		struct tc_netem netem;
		struct tc_policer police;
	};
};

#endif
