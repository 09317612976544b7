/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judge: what a tool said against what is true, and what kind of fault it is. Pure: evidence in,
 * verdicts out. Never looks up a tool's name.
 */
#ifndef VPCLAB_HARNESS_JUDGE_H
#define VPCLAB_HARNESS_JUDGE_H

#include "core/harness/trial.h"
#include "core/tools/reading.h"

/* What the lab itself knows of the run. NAN or -1: not known. */
struct evidence {
	double predicted_bps, predicted_pps; /* what the link carries of this traffic, payload */
	double counted_bps, counted_pps; /* what arrived at the receiver's card, over its time */
	/* The same over any time that leaves out up to a second of it at either end. */
	double least_bps, most_bps;
	double sent_bps, sent_pps; /* what left the sender's card, over its time */
	double sent_packets, arrived_packets, lost_host, duplicated, reordered;
	double lost_relay; /* packets of both ways: questions and answers */
	double wire_packets_pps,
	    messages_pps; /* what was on the wire; what was asked for a second */
	double active_s;  /* from the first packet of the flow to the last */
	double run_s;	  /* the client process */
	double asked_s, asked_bps, asked_size;
	int asked_dscp;		      /* 0: none */
	double marked_packets;	      /* of those that arrived, with that DSCP */
	double delay_s, delay_back_s; /* of the link, one way each, without queues */
	double frozen_s;	      /* how long nothing moved */
	double cut_at_s;	      /* -1: it was not */
	double payload_bytes;	      /* of one packet, as counted */
	double fragments;	      /* packets a datagram, as counted */
	/* For a CPU, by the thread of the lab that had to most: in all, and in one go. */
	double waited_s, waited_longest_s;
	const char *machine; /* why the machine was the limit, or NULL */
	const char *spoilt;  /* why the link or an event was not what the trial says, or NULL */
};

enum judgement {
	JUDGED_TRUE,
	JUDGED_OFF,    /* outside tolerance, and the tool warned of it */
	JUDGED_LIE,    /* outside tolerance, without a word */
	JUDGED_SILENT, /* the tool does not tell this figure */
	JUDGED_HANG,
	JUDGED_CRASH,
	JUDGED_WRONG_EXIT,
	JUDGED_INCONCLUSIVE, /* the machine was the limit, or the truths disagree */
	JUDGED_SKIP,
};
const char *judgement_name(enum judgement j);
bool judgement_is_fault(enum judgement j); /* a lie, off, a hang, a crash, a wrong exit */

/* Kinds of faults. Each has a name, a sentence, and a paragraph for `verify --explain`. */
enum fault_kind {
	FAULT_NONE,
	FAULT_WRONG_SIDE,	 /* the sender's bytes over the sender's time */
	FAULT_WRONG_WINDOW,	 /* bytes of one time over another: warm-up, drain, tail */
	FAULT_WRONG_DENOMINATOR, /* a share of something else; above 100 % */
	FAULT_WRONG_UNIT,	 /* a power of 1000/1024, 8, or 2 off */
	FAULT_HALF_ROUND_TRIP,	 /* RTT/2 called latency */
	FAULT_WRONG_PACKET_UNIT, /* messages or super-packets called packets */
	FAULT_HIDDEN_LOSS,	 /* packets lost and not told */
	FAULT_HOST_LOSS,	 /* the receiver's own drops called the path's */
	FAULT_FRAGMENT_LOSS,	 /* datagram loss of fragments called packet loss */
	FAULT_HIDDEN_DUPLICATES,
	FAULT_HIDDEN_REORDERING,
	FAULT_HIDDEN_COALESCING,
	FAULT_COORDINATED_OMISSION,
	FAULT_STOPPED_AT_LOSS,	  /* a closed loop that one loss ends or stalls */
	FAULT_BURSTS,		  /* loss by its own bursts where its mean rate fits */
	FAULT_SILENT_FALLBACK,	  /* did something else than asked, without a word */
	FAULT_UNSUPPORTED_DIGITS, /* a quantile without samples for it */
	FAULT_DISAGREES,	  /* two of its own figures contradict each other */
	FAULT_BROKEN_OUTPUT,	  /* not JSON, no figure where there must be one */
	FAULT_HANG,
	FAULT_CRASH,
	FAULT_WRONG_EXIT,
	FAULT_LATE_END,
	FAULT_NO_RESULT, /* nothing although the link carried everything */
	FAULT_OTHER,
	FAULT_KINDS
};
const char *fault_name(enum fault_kind k);     /* "wrong-side" */
const char *fault_sentence(enum fault_kind k); /* "the figure is the sender's bytes over the …" */
const char *fault_explain(enum fault_kind k);  /* paragraph: how it arises, how to ask rightly */
int fault_parse(const char *name, enum fault_kind *k, struct err *err);

struct answer { /* one question, or one about the run itself */
	const struct trial_question
	    *question;	   /* NULL: exit status, end, crash, output, invariants */
	const char *about; /* "goodput", "exit", "end", "output", … */
	enum judgement judgement;
	enum fault_kind kind;
	double said, truth, tolerance; /* in the figure's unit; NAN: none */
	const char *text;	       /* one sentence: what it said, what is true */
};

struct judged {
	struct arena arena;
	VEC(struct answer) answers;
};

void judge(const struct trial *t, const struct tool_test *test, const struct tool_output *o,
	   const struct readings *r, const struct evidence *e, struct judged *out);
void judged_done(struct judged *j);

#endif
