/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engines: the table of measuring engines. A new engine is one file, one line in enum engine_test
 * and one line in engines.c.
 *
 * An engine is two thread bodies, one for each role, over connected sockets that setup.c made, and
 * how their findings are written (report, in the worker) and read (merge, at the driver).
 */
#ifndef VPCLAB_ENGINE_ENGINES_H
#define VPCLAB_ENGINE_ENGINES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engine/engine.h"

struct worker;
struct stream;
struct crew;

enum engine_unit { UNIT_BYTES, UNIT_PACKETS, UNIT_TRANSACTIONS };

struct engine_def {
	enum engine_test test;
	const char *name;
	const char *const *aliases; /* NULL-terminated; as other tools call it */
	bool datagram;		    /* UDP, else TCP */
	bool open_end;		    /* ends with its work, not at the window's end */
	bool headline_client;	    /* whose intervals are the result's: else the server's */
	/* WAY_BACK: the server sends, and headline_client is true. WAY_BOTH: each worker has twice
	 * spec.streams, those with `back` set (the second half) carry data from server to client.
	 */
	enum engine_way way;
	bool stream; /* bulk data, see engine_traits */
	bool paced;
	bool files, group, scripted; /* see engine_traits */
	enum engine_unit unit;	     /* what a stream's track counts */
	int64_t linger_ns;	     /* after the end, before sockets are shut down */
	int64_t max_gap_ns[2];	     /* of window_track, [receiver, sender] */

	void (*defaults)(struct engine_spec *s);
	int (*check)(const struct engine_spec *s, struct err *err);

	/* In the worker. prepare allocates a stream's memory before the start, release frees it;
	 * the bodies run in a thread each, from the start until the stream is over. */
	void (*prepare)(struct stream *s);
	void (*body[2])(struct stream *s); /* [server, client]; one thread a stream */
	/* Event-driven engines instead: a thread serves several streams (crew->streams, crew->n).
	 */
	void (*crew[2])(struct crew *c);
	/* Those that connect again and again: the worker opens no streams itself (their fd is -1);
	 * the crew does, to worker.peer at worker.listen_ports. Server: the crew has
	 * worker.listen_fds. Both see the end by worker.over_fd or worker_over(). */
	bool own_connections;
	/* Of those: does it use UDP too, to the same ports? NULL: no. */
	bool (*also_udp)(const struct engine_spec *s);
	/* Instead of the usual sockets: [server: puts "port" into the message "ready"; client: has
	 * the message "connect", and worker.peer]. Sets the streams' fd where it opens any. */
	int (*open[2])(struct worker *w, json_t *message, struct err *err);
	void (*release)(struct stream *s);
	void (*report)(struct worker *w, json_t *result);

	/* In a worker that receives, after the end, when the other's "sent" (worker.totals) is what
	 * it waits for: has all come that will? NULL: nothing to wait for. */
	bool (*settled)(struct worker *w, int64_t now_ns);
	/* What this worker has sent in the window, an array: for the other one's worker.totals, as
	 * soon as the threads that send have ended. NULL: it is "sent" in the result, which is too
	 * late where both send. Gives a reference. */
	json_t *(*sent)(struct worker *w);

	/* At the driver: fills what is the engine's own in *out from the two results. */
	void (*merge)(const struct engine_spec *s, const json_t *client, const json_t *server,
		      struct engine_result *out);
};

const struct engine_def *engines_get(enum engine_test test);
const struct engine_def *engines_at(size_t i); /* NULL after the last */

extern const struct engine_def tcp_stream_engine, udp_stream_engine, tcp_rr_engine, udp_rr_engine,
    throughput_engine, tcp_maerts_engine, tcp_bidir_engine, tcp_sendfile_engine, udp_maerts_engine,
    udp_bidir_engine, udp_multicast_engine, tcp_crr_engine, tcp_cc_engine, udp_latency_engine,
    pairs_engine, path_check_engine;

#endif
