/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault: the kinds of faults of measuring tools in words: name, sentence, and how each arises and
 * is avoided. judge.c decides which one it is.
 */
#include "core/harness/judge.h"

#include "core/base/mem.h"
#include "core/base/str.h"

struct fault_row {
	const char *name, *sentence, *explain;
};

static const struct fault_row faults[FAULT_KINDS] = {
    [FAULT_NONE] = {"none", "", ""},
    [FAULT_WRONG_SIDE] =
	{"wrong-side", "the figure is the sender's bytes over the sender's time",
	 "What an application hands to its socket is not what arrives: UDP beyond the link's rate "
	 "is\n"
	 "dropped on the way, and TCP first fills buffers and queues of megabytes. A tool that "
	 "sums\n"
	 "up its writes measures the sending machine. Ask for the receiver's figure (iperf3:\n"
	 "end.sum_received, not end.sum; netperf: REMOTE_RECV_THROUGHPUT), or send long enough "
	 "that\n"
	 "what lies in buffers does not matter, at a rate that the link carries."},
    [FAULT_WRONG_WINDOW] =
	{"wrong-window", "bytes of one span of time are divided by another",
	 "Bytes that were sent in the measuring time may arrive after it, and those of a warm-up\n"
	 "before it. A tool that counts all bytes and divides by the time that it was asked for "
	 "is\n"
	 "wrong by what a queue held: seconds, on a slow link with a deep queue. A right tool "
	 "knows\n"
	 "of each packet to which span it belongs, or counts arrivals inside the span only. "
	 "Longer\n"
	 "runs make the fault smaller; they do not mend it."},
    [FAULT_WRONG_DENOMINATOR] =
	{"wrong-denominator", "a share is taken of the wrong total",
	 "Losses of the whole run over the packets of the measured part give more than 100 %. It\n"
	 "happens where a warm-up is left out of one count and not of the other. Do not use an "
	 "omit\n"
	 "option with UDP (iperf3 before 3.14), or compute the share from the two counts "
	 "yourself."},
    [FAULT_WRONG_UNIT] =
	{"wrong-unit", "the figure is off by the factor of a unit",
	 "Kilo is 1000 for bits and 1024 for bytes in some tools, in others by the case of a "
	 "letter:\n"
	 "iperf 2 reads -b 100M as 104.86 Mbit/s and -b 100m as 100. Write rates out in bits per\n"
	 "second, and read machine output whose names hold the unit."},
    [FAULT_HALF_ROUND_TRIP] = {"half-round-trip", "half of a round trip is called latency",
			       "Two clocks that do not agree cannot tell one way from the other, "
			       "so some tools halve the\n"
			       "round trip (qperf, sockperf without --full-rtt). With a path whose "
			       "two ways differ, that is\n"
			       "the delay of neither. Report round trips as such; measure one way "
			       "only where the clocks are\n"
			       "one, or their error is known and printed."},
    [FAULT_WRONG_PACKET_UNIT] = {"wrong-packet-unit",
				 "messages or super-packets are called packets",
				 "With segmentation offload one packet of the kernel is up to 64 "
				 "on the wire, and a datagram\n"
				 "larger than the MTU is several packets. Rates and caps in "
				 "packets concern the wire. Choose\n"
				 "datagrams that fit the MTU, turn offloads off where packets are "
				 "counted, and look at the\n"
				 "mean packet size of the counters."},
    [FAULT_HIDDEN_LOSS] =
	{"hidden-loss", "packets were lost and the tool does not say so",
	 "A receiver that only looks at gaps in sequence numbers does not see that the last "
	 "packets,\n"
	 "or all of them, never came. The sender has to tell it afterwards how many there were. "
	 "Check\n"
	 "the receiver's packet count against the sender's, or the link's counters."},
    [FAULT_HOST_LOSS] = {"host-loss", "the receiver's own drops are called the path's",
			 "When the program does not read fast enough, its socket buffer overflows: "
			 "the packets did\n"
			 "arrive. They show as RcvbufErrors in /proc/net/snmp and as drops in `ss "
			 "-m`. Small datagrams\n"
			 "at full speed do this on any machine. Give the socket a larger buffer, "
			 "lower the rate, and\n"
			 "take these drops off before blaming the path."},
    [FAULT_FRAGMENT_LOSS] =
	{"fragment-loss", "a datagram of many fragments is lost with any one of them",
	 "A datagram of 65,507 bytes is 45 packets of a 1500-byte MTU; at 1 % packet loss 36 % of "
	 "such\n"
	 "datagrams are lost, and on a full link almost all of them. netperf's and qperf's UDP "
	 "tests\n"
	 "send such sizes unless told otherwise. Set a size that fits the MTU (1472 with IPv4)."},
    [FAULT_HIDDEN_DUPLICATES] = {"hidden-duplicates",
				 "packets came twice and the tool does not say so",
				 "A receiver that counts arrivals instead of sequence numbers "
				 "takes a copy for a packet: loss\n"
				 "and duplication cancel out. Each number has to be remembered for "
				 "as long as copies may come."},
    [FAULT_HIDDEN_REORDERING] = {"hidden-reordering",
				 "packets came out of order and the tool does not say so",
				 "Where only the receiver sees the order, its count has to travel "
				 "back to whoever prints the\n"
				 "result. RFC 4737 defines what counts: a packet with a smaller "
				 "number than one before it."},
    [FAULT_HIDDEN_COALESCING] =
	{"hidden-coalescing", "many small writes went as few large segments",
	 "TCP carries bytes, not messages: while an answer is awaited, small writes gather in one\n"
	 "segment. A test with 64-byte writes that reads 1 Gbit/s says nothing of small packets.\n"
	 "Compare messages with segments (TCP_INFO's segs_out) and wire packets; use UDP for "
	 "packet\n"
	 "rates, or TCP_NODELAY and one message outstanding for transactions."},
    [FAULT_COORDINATED_OMISSION] = {"coordinated-omission",
				    "it asks again only after the answer, so a stall is one sample",
				    "A closed loop stops with the system under test: a stall of "
				    "half a second in which a thousand\n"
				    "requests would have waited is seen as one slow answer, and no "
				    "percentile shows it. Send by a\n"
				    "schedule that does not wait (an open loop), and count latency "
				    "from the time at which the\n"
				    "request was due."},
    [FAULT_STOPPED_AT_LOSS] =
	{"stopped-at-loss", "one lost packet stops or stalls the exchange",
	 "Request and response over UDP without a timeout waits for ever for an answer that was "
	 "lost,\n"
	 "and the time until the end is divided among the few that came. Each request needs a "
	 "timeout\n"
	 "and a number, so that losses are counted and the others keep their true times."},
    [FAULT_BURSTS] =
	{"bursts", "its own bursts overflow a policer that its mean rate would pass",
	 "Pacing by a timer of a millisecond sends a millisecond's packets at once. Where a "
	 "policer or\n"
	 "a shallow queue allows few, they are dropped although the mean rate is far below. Use a\n"
	 "finer timer (iperf3: --pacing-timer) or a paced socket with the fq qdisc, and look at "
	 "the\n"
	 "gaps that were really sent."},
    [FAULT_SILENT_FALLBACK] =
	{"silent-fallback", "it did something else than was asked, without a word",
	 "An option that the system does not support, a rate that the local queue holds back, a\n"
	 "congestion control that is not there: a tool that goes on in another way measures "
	 "another\n"
	 "thing. Compare what was offered with what was asked for before using the result."},
    [FAULT_UNSUPPORTED_DIGITS] =
	{"unsupported-digits", "a quantile is told that the samples do not support",
	 "The 99.999th percentile of 150 observations is their maximum by another name. A quantile "
	 "q\n"
	 "needs at least 10 / (1 − q) samples to mean anything; more for a confidence interval."},
    [FAULT_DISAGREES] =
	{"disagrees", "two of its own figures contradict each other",
	 "Sender and receiver, intervals and total, JSON and text are filled from different "
	 "counters at\n"
	 "different times. Where they do not agree none can be trusted until it is known why."},
    [FAULT_BROKEN_OUTPUT] = {"broken-output", "the output is not what it should be",
			     "Scripts read what tools print: JSON that ends in the middle, "
			     "duplicate keys or a text in place\n"
			     "of a number turn into wrong figures elsewhere. Output should be "
			     "written whole or not at all."},
    [FAULT_HANG] =
	{"hang", "it does not end",
	 "Without a deadline a tool waits for a peer that is gone: for minutes by TCP's own\n"
	 "timers, for ever without them. A run must end within its duration and a stated\n"
	 "grace, with what it has, marked as incomplete. In CI, wrap it with timeout(1)."},
    [FAULT_CRASH] =
	{"crash", "it was ended by a signal",
	 "A segmentation fault is a bug of the tool whatever the network did. Keep the core\n"
	 "and report it with the trial's topology, which reproduces the path."},
    [FAULT_WRONG_EXIT] =
	{"wrong-exit", "its status does not tell whether there is a result",
	 "A script sees the status first. Status 0 without an answer from the other side makes an\n"
	 "outage look like a success. Judge by the receiver's figures as well."},
    [FAULT_LATE_END] =
	{"late-end", "it ends much later than it was asked to",
	 "A control connection over the measured path waits in the same full queue, and\n"
	 "retries take their time. Ask for less data on slow paths, and give a hard limit."},
    [FAULT_NO_RESULT] =
	{"no-result", "it claims success and tells no figure",
	 "The figure was lost between the two ends, or is printed only on one of them. Look\n"
	 "at the other end's output, or ask for it (iperf3: --get-server-output)."},
    [FAULT_OTHER] =
	{"other", "the figure is not true, and why cannot be told from the evidence",
	 "None of the known ways of going wrong gives this figure. The raw outputs and the\n"
	 "counters are kept beside the report."},
};

const char *fault_name(enum fault_kind k)
{
	return faults[k].name;
}

const char *fault_sentence(enum fault_kind k)
{
	return faults[k].sentence;
}

const char *fault_explain(enum fault_kind k)
{
	return faults[k].explain;
}

int fault_parse(const char *name, enum fault_kind *k, struct err *err)
{
	const char *names[FAULT_KINDS];

	for (int i = FAULT_NONE; i < FAULT_KINDS; i++) {
		names[i] = faults[i].name;
		if (i == FAULT_NONE || !str_eq(name, names[i]))
			continue;
		*k = (enum fault_kind)i;
		return 0;
	}
	const char *near = str_suggest(name, names + 1, FAULT_KINDS - 1);
	return near ? err_input(err, "there is no kind '%s' of fault; did you mean '%s'?", name,
				near)
		    : err_input(err,
				"there is no kind '%s' of fault; vpclab verify --explain all "
				"lists them",
				name);
}
