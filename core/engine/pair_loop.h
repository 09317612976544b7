/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_loop: many pairs in one thread: epoll, times to wait for, and the interpreter of scripts.
 * Private to this folder.
 *
 * The two ends of a pair run the same commands, each its half (script.h). What differs, connections
 * and timing records, is the role's: pair_client.c and pair_server.c. Sockets are watched edge by
 * edge: an end is run until it would block, so what is left in a socket is never forgotten.
 *
 * A TCP connection begins with a greeting of 64 bytes (struct pair_greeting), which says where in
 * the script the client is, so the server keeps nothing of a pair between its connections. Each
 * datagram has 32 bytes of ours: an RTP header (RFC 3550; the SSRC is the pair) and packet.h's.
 */
#ifndef VPCLAB_ENGINE_PAIR_LOOP_H
#define VPCLAB_ENGINE_PAIR_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine/script.h"
#include "core/engine/worker.h"

#define PAIR_PATTERN 251	/* bytes after which what is sent repeats */
#define PAIR_KEEPER  UINT32_MAX /* the greeting of the connection that lasts as long as the run */

struct pair_loop;
struct pair_source { /* what a descriptor in epoll belongs to */
	void (*ready)(struct pair_loop *l, struct pair_source *s, uint32_t events);
};

struct pair_end { /* one end of one pair, or of one of its connections at the server */
	struct pair_source source;
	const struct script_group *group; /* NULL: has not greeted yet */
	uint32_t pair;
	int fd;
	int pc;	     /* the command that is next */
	int heap_at; /* place among those that wait for a time; -1: none */
	bool queued, over;
	bool alert;	 /* while it waits for a time, a socket that is ready ends the wait */
	bool unheard;	 /* sent something that the other end has not confirmed */
	int64_t due_ns;	 /* the time that it waits for */
	int64_t next_ns; /* when the next paced write is due; 0: none yet */
	int64_t left;	 /* bytes of the transfer under way, or 0/1: asleep; -1: none begun */
	int64_t size;
	int64_t turns_left[SCRIPT_DEPTH];
	int64_t turns; /* that were transactions, since the timer started */
	uint64_t draws;
	struct pair_end *next; /* in the queue */
};

struct pair_greeting { /* in network order */
	uint32_t session, pair, pc, reserved;
	uint64_t draws, turns_left[SCRIPT_DEPTH], seed;
} __attribute__((packed));

enum pair_step {
	PAIR_ON,    /* goes on with what is at e->pc */
	PAIR_WAIT,  /* for its socket or its time */
	PAIR_YIELD, /* has had its share: others first */
	PAIR_OVER,  /* e may be gone */
};

struct pair_role {
	bool server;
	enum pair_step (*command)(struct pair_loop *l, struct pair_end *e,
				  const struct script_op *op); /* those not common to both */
	void (*moved)(struct pair_loop *l, struct pair_end *e, int64_t bytes);
	/* It cannot go on; code 0: the other end closed. Always gives PAIR_OVER. */
	enum pair_step (*failed)(struct pair_loop *l, struct pair_end *e, int code,
				 const char *what);
};

struct pair_loop {
	struct worker *w;
	struct stream *s; /* whose track counts what was received */
	const struct script *script;
	const struct pair_role *role;
	int64_t seed;
	int epoll_fd;
	struct pair_end **heap; /* heap memory; by due_ns */
	int heap_n, heap_cap;
	struct pair_end *first, *last; /* the queue of those that can run */
	char *pattern, *in;
	size_t in_size;
	void *own;
};

int pair_loop_init(struct pair_loop *l, struct crew *c, const struct script *script,
		   const struct pair_role *role);
void pair_loop_done(struct pair_loop *l);

int pair_loop_watch(struct pair_loop *l, int fd, uint32_t events, struct pair_source *s);
void pair_loop_queue(struct pair_loop *l, struct pair_end *e);
void pair_loop_at(struct pair_loop *l, struct pair_end *e, int64_t due_ns);
void pair_loop_forget(struct pair_loop *l, struct pair_end *e); /* its time; not the queue */
/* Waits for events, not beyond `until_ns`, and runs all that can go on. */
void pair_loop_turn(struct pair_loop *l, int64_t until_ns);
/* An end's source.ready. */
void pair_end_ready(struct pair_loop *l, struct pair_source *s, uint32_t events);

int64_t pair_draw(struct pair_loop *l, struct pair_end *e, const struct script_amount *a);

#endif
