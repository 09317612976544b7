/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs: what the files of the engine `pairs` share. Private to this folder. */
#ifndef VPCLAB_ENGINE_PAIRS_H
#define VPCLAB_ENGINE_PAIRS_H

#include "core/engine/packet.h"
#include "core/engine/pair_flow.h"
#include "core/engine/pair_loop.h"
#include "core/engine/pair_stats.h"
#include "core/engine/script.h"
#include "core/engine/worker.h"
#include "core/stats/hist.h"

enum pair_state { PAIR_CUT, PAIR_COMPLETE, PAIR_FAILED }; /* cut: the run ended first */

struct pair { /* at the client */
	struct pair_end end;
	struct pair_stats stats;
	int64_t begun_ns, bytes; /* of the timing record under way */
	int64_t sent, missed;	 /* datagrams in the window; places given up */
	int64_t connections, asked_ns;
	enum pair_state state;
	int code;  /* why it failed; 0: the other end closed */
	int asked; /* datagrams that ask for an answer, of the present question */
	bool connecting;
};

struct pairs { /* a worker's memory of the run */
	struct script script;
	struct pair *pairs;  /* client */
	struct hist **times; /* a group, or NULL: client: ns a transaction; server: delays in ns */
	struct pair_flow **flows;   /* server: a pair that has sent datagrams, or NULL */
	int64_t begun_ns, ended_ns; /* client: the run */
	int complete, failed, connecting;
	const char *ended_by;			 /* "time", "all", "first", "stopped" */
	struct pair_end *waiting, *waiting_last; /* for their turn to connect */
	int invalid;				 /* server: transfers that came changed */
	int64_t delay_max;			 /* server */
	int keeper_fd, udp_fd;
};

void pairs_client(struct crew *c);
void pairs_server(struct crew *c);
void pairs_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
		 struct engine_result *out);

/* The script of a specification, or the engine's own. script_done() in either case. */
int pairs_script(const struct engine_spec *s, struct script *script, struct err *err);

/* Sees to a descriptor for each of so many pairs; false: there are not enough, and s->err says so.
 */
bool pairs_descriptors(struct stream *s, int pairs);

/* A datagram's 32 bytes. `kind` of those with PHASE_HELLO is in the upper half of the number. */
enum pair_question { PAIR_HELLO = 1, PAIR_HEARD };
void pairs_put(char *to, uint32_t session, uint32_t pair, const struct packet *p);

#endif
