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
 * heap by absolute time, in memory that is bounded. loop.c waits for arrivals, for due times and
 * for commands. Packets must come one frame each with their checksums done: the devices it reads
 * from have their offloads off.
 */
#ifndef VPCLAB_RELAY_RELAY_H
#define VPCLAB_RELAY_RELAY_H

#include <jansson.h>

#include "core/base/err.h"
#include "emulator/model/wire.h"

enum { RELAY_AB, RELAY_BA, RELAY_DIRECTIONS };

struct relay_direction {
	const char *in, *out; /* devices: packets that arrive at `in` leave by `out` */
	struct wire_impair impair;
};

struct relay_spec {
	const char *name; /* of the link */
	struct relay_direction dir[RELAY_DIRECTIONS];
	int64_t memory_bytes; /* of packets that wait, a direction; 0: 64 MiB */
	int64_t fates_max;    /* packets whose fate is kept for relay's fate log; 0: none */
};

/*
 * JSON of a specification, and back: what `vpclab relay` takes, and what a change sends. Keys are
 * those of the topology. Parsing copies into `arena`.
 */
json_t *relay_spec_json(const struct relay_spec *s); /* gives a reference */
int relay_spec_parse(const json_t *j, struct arena *arena, struct relay_spec *out, struct err *err);

/*
 * Runs in the network namespace of the calling thread until told to end or killed. `control_path`:
 * a Unix socket that it makes; `ready_fd`: gets one byte when packets pass, then is closed.
 */
int relay_run(const struct relay_spec *s, const char *control_path, int ready_fd, struct err *err);

/*
 * Talks to a running relay by its socket. Commands:
 *   {"get": "stats"}           → {"name", "at_ns", "ab": {…}, "ba": {…}}, see relay_stats below
 *   {"set": {"ab": {…}, "ba": {…}}}   impairments, whole; both take effect between two packets;
 *                              packets that wait keep the time they have → {}
 *   {"get": "fates"}           → fates so far, see fate log
 * Gives a reference; -ECONNREFUSED or -ENOENT when there is none.
 *
 * Stats of a direction: "in_packets", "in_bytes", "out_packets", "out_bytes", "waiting_packets",
 * "waiting_bytes", "lost": {"black_hole", "flap", "loss", "queue" (trace or memory full), "overrun"
 * (it could not take them in time: counted by the kernel at its socket), "send" (the device did not
 * take them)}, "duplicated", "corrupted", "reordered", "late" (sent more than 0.5 ms after they
 * were due), and two histograms of nanoseconds: "asked" delays and "given" delays (from the
 * kernel's time of arrival to when they were put out), each {"count", "min", "p50", "p90", "p99",
 * "p999", "max", "mean"}.
 * Sums: in = out - duplicated + waiting + all lost but overrun; overruns were never in.
 */
int relay_ask(const char *control_path, const json_t *command, json_t **answer, struct err *err);

#endif
