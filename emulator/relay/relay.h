/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * relay: a process that carries the packets of one impaired link between devices of its network
 * namespace, and decides the fate of each: the impairments of struct wire_impair, in the order
 * that is said there. It works without root and on kernels without netem, knows what netem does
 * not (every Nth, after N, flaps, black holes, delivery traces, reordering by ratio), and tells
 * what it really did.
 *
 * Theory of operation. Per direction there is one packet socket that takes what arrives at a
 * device (with the kernel's own time of arrival) and one that puts packets out at another device.
 * fate.c decides what happens to a packet: a pure function of configuration, seed and number of the
 * packet, so the same seed gives the same fates. queue.c holds packets until they are due, in a
 * heap by absolute time, in memory that is bounded (pool.c). loop.c waits for arrivals and due
 * times. control.c, a thread of its own, answers commands; what it wants of the loop is done
 * between two packets. Packets must come one frame each: the devices that it reads from have
 * segmentation off. Checksums may be left to do, as offloads leave them: they are passed on so.
 */
#ifndef VPCLAB_RELAY_RELAY_H
#define VPCLAB_RELAY_RELAY_H

#include <jansson.h>

#include "core/base/err.h"
#include "emulator/model/wire.h"

enum { RELAY_AB, RELAY_BA, RELAY_DIRECTIONS };

#define RELAY_MEMORY_BYTES (INT64_C(64) << 20)
#define RELAY_FATES_MAX	   INT64_C(200000) /* what a lab's relays keep, a direction */
#define RELAY_LATE_NS	   INT64_C(500000)

struct relay_direction {
	const char *in, *out; /* devices: packets that arrive at `in` leave by `out` */
	struct wire_impair impair;
};

struct relay_spec {
	const char *name; /* of the link */
	struct relay_direction dir[RELAY_DIRECTIONS];
	int64_t memory_bytes; /* of frames that wait, a direction, and up to 9/4 of it is taken;
			       * 0: RELAY_MEMORY_BYTES */
	int64_t fates_max;    /* records of the fate log, a direction; 0: none */
};

/* The relay of a link whose engine is IMPAIR_RELAY: its devices and impairments, a fate log of
 * RELAY_FATES_MAX. Borrows from `w`. Pure. */
void relay_spec_of_link(const struct wire *w, const struct wire_link *l, struct relay_spec *out);

/*
 * JSON of a specification, and back: what `vpclab relay` takes. Units are in the names:
 * {"name", "memory_bytes", "fates_max", "ab": {"in", "out", "impair": {"delay_ns", "jitter_ns",
 * "jitter": "normal"|"uniform"|"pareto", "loss": "random"|…}}, "ba"}; what is 0 is left out.
 * Unknown keys are errors. Parsing copies into `arena`. Deterministic: same specification, same
 * JSON.
 */
json_t *relay_spec_json(const struct relay_spec *s); /* gives a reference */
int relay_spec_parse(const json_t *j, struct arena *arena, struct relay_spec *out, struct err *err);
json_t *relay_impair_json(const struct wire_impair *i); /* gives a reference */
int relay_impair_parse(const json_t *j, struct arena *arena, struct wire_impair *out,
		       struct err *err);

bool relay_impair_equal(const struct wire_impair *a, const struct wire_impair *b);

/*
 * Runs in the network namespace of the calling thread until told to end or killed. `control_path`:
 * a Unix socket that it makes, or NULL; `ready_fd`: gets one byte when packets pass, then is
 * closed; or -1. Returns 0 when told to end, -ENODEV when a device of it has gone.
 */
int relay_run(const struct relay_spec *s, const char *control_path, int ready_fd, struct err *err);

/*
 * Talks to a running relay by its socket. Commands:
 *   {"get": "stats"}           → {"name", "pid", "at_ns", "ab": {…}, "ba": {…}}, see below
 *   {"get": "spec"}            → what it does now, as relay_spec_json()
 *   {"set": {"ab": {…}, "ba": {…}}}   impairments (relay_impair_json()), whole; one direction may
 *                              be left out; both take effect between the same two packets; packets
 *                              that wait keep the time they have → {}
 *   {"end": true}              → {}, then it ends; packets that wait are gone
 * The fate log is got by relay_fates() of fatelog.h. Gives a reference; -ECONNREFUSED or -ENOENT
 * when there is none; what the relay says is wrong with the command is ERR_INPUT.
 *
 * Stats of a direction: "in_packets", "in_bytes", "out_packets", "out_bytes", "waiting_packets",
 * "waiting_bytes", "lost": {"black_hole", "flap", "loss", "queue" (trace or memory full),
 * "oversize" (larger than the device's MTU: segmentation was on), "overrun" (it could not take them
 * in time: counted by the kernel at its socket), "send" (the device did not take them)},
 * "duplicated", "corrupted", "reordered", "late" (put out more than 0.5 ms after they were due),
 * and three histograms of nanoseconds: "asked" delays, "given" delays (from the kernel's time of
 * arrival to when they were put out) and "slip" (from when they were due to when they were put out:
 * sharper than given less asked, since a histogram's error grows with its values), each {"count",
 * "min", "p50", "p90", "p99", "p999", "max", "mean"}; null where there are too few packets to say.
 * Sums: in = out - duplicated + waiting + all lost but overrun; overruns were never in.
 */
int relay_ask(const char *control_path, const json_t *command, json_t **answer, struct err *err);

#endif
