/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker: one side of a measurement, while it runs. Private to this folder.
 *
 * worker.c speaks the protocol, setup.c makes the sockets, run.c runs the streams' threads and
 * watches the clock and the control channel beside them, the engine's file has the threads' bodies.
 */
#ifndef VPCLAB_ENGINE_WORKER_H
#define VPCLAB_ENGINE_WORKER_H

#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/engine/control.h"
#include "core/engine/cpu.h"
#include "core/engine/engine.h"
#include "core/engine/engines.h"
#include "core/engine/sample.h"
#include "core/engine/socket.h"
#include "core/engine/window.h"

struct stream {
	struct worker *w;
	int index;
	int fd;			   /* connected (server of udp_stream: bound) */
	int port;		   /* server, UDP: where it is bound */
	bool attached;		   /* server: its client has shown itself */
	bool back;		   /* WAY_BOTH: data goes from server to client */
	struct window_track track; /* headline count: bytes, datagrams or transactions */
	int64_t packets_all;	   /* datagrams or transactions of all phases, by the thread */
	int64_t hello_bytes;	   /* by UDP; both ways know it alike */
	int64_t messages;	   /* sender: writes by the application, of all phases */
	void *own;		   /* the engine's */
	struct err err;		   /* why it ended early; kind 0: it did not */
} __attribute__((aligned(128)));

/* A thread and the streams that it serves: one for body[], some for crew[]. */
struct crew {
	struct worker *w;
	int index;
	struct stream *streams;
	int n;
	pthread_t thread;
	bool running; /* the thread was made and not yet joined */
	void *own;    /* the engine's; freed by free() when the worker is done */
	/* sample.c: */
	int tid;
	atomic_bool over;	     /* it has ended, and cpu_own is written */
	struct cpu_thread cpu_own;   /* when it ended */
	struct cpu_thread cpu_at[2]; /* when the window began and ended */
};

struct worker {
	struct control ctl;
	struct engine_spec spec;
	const struct engine_def *def;
	bool server;
	int family;
	int64_t first_ns;      /* how long it waits for its specification */
	bool started;	       /* the start is known: from here on a silent driver is a dead one */
	bool own_clock;	       /* the other worker's clock is another one */
	bool clock_known;      /* … and how far it is ahead of ours */
	int64_t peer_ahead_ns; /* the other's CLOCK_MONOTONIC minus ours; 0: they are one */
	uint32_t session;
	int listen_fd; /* TCP server, until all streams are there */
	int knock_fd; /* server: epoll of the sockets where clients knock, until the start; or -1 */
	int missing;  /* server: streams whose client has not shown itself */
	struct stream *streams;
	int n_streams; /* spec.streams, twice that of WAY_BOTH */
	struct crew *crews;
	int n_crews;
	/* own_connections: spec.ports of them. Server: its listening sockets, not blocking; both:
	 * the server's ports. Heap. */
	int *listen_fds, *listen_ports;
	int n_listen;		      /* of listen_fds */
	struct sockaddr_storage peer; /* client: where the server is (its first port) */
	socklen_t peer_len;
	struct window win;
	int done_fd;	    /* eventfd: a thread has ended */
	int over_fd;	    /* eventfd: readable once worker_over(); for the epoll of a crew */
	int ended;	    /* crews that have */
	atomic_int sending; /* crews that send and have not ended */
	atomic_bool failed; /* a stream has an error */
	atomic_bool over;   /* threads: end now, errors are no errors any more */
	bool partial;	    /* told to stop before the end */
	char invalid[160];  /* why what was found is no valid result; "" = it is */
	double moved;	    /* open end: the count when it last grew */
	int64_t moved_ns;   /* … and when that was seen */
	int64_t
	    stopped_ns; /* when the count ended: window end, or earlier, or the end of the work */
	struct worker_sample begin, end;
	struct socket_tcp *tcp_at; /* [edges], at each edge passed; heap */
	int sampled;		   /* edges sampled */
	json_t *totals;		   /* the other worker's "sent" message; owned */
	int64_t totals_ns;	   /* when that came */
	bool told;		   /* our own "sent" has gone out */
	struct err err;
};

/* Does this end of the stream send the data? */
static inline bool stream_sends(const struct stream *s)
{
	enum engine_way way = s->w->def->way;
	return s->w->server == (way == WAY_BACK || (way == WAY_BOTH && s->back));
}

/* Does this worker receive on any of its streams? */
static inline bool worker_receives(const struct worker *w)
{
	return w->def->way == WAY_BOTH || w->server == (w->def->way == WAY_FORWARD);
}

static inline bool worker_sends(const struct worker *w)
{
	return w->def->way == WAY_BOTH || w->server == (w->def->way == WAY_BACK);
}

/* Can times that the other worker wrote be compared with ours? Then peer_ahead_ns is to be
 * subtracted from them first. */
static inline bool worker_comparable(const struct worker *w)
{
	return !w->own_clock || w->clock_known;
}

/* True when the stream's thread must end; cheap. */
static inline bool worker_over(const struct worker *w)
{
	return atomic_load_explicit(&w->over, memory_order_relaxed);
}

/* Heartbeat to the driver, and is it there? Call it at least each second while nothing else is
 * done; `heard`: poll() has just said that there is something to read. */
int worker_beat(struct worker *w, bool heard, struct err *err);
/* Answers the message "clock": what time it is here. */
int worker_tell_time(struct worker *w, const json_t *m, struct err *err);

/*
 * Waits for `events` on fd until the deadline, and for the control channel: its end, or a "stop",
 * gives -ECANCELED. -ETIMEDOUT sets no error text.
 */
int worker_wait(struct worker *w, int fd, short events, int64_t deadline_ns, struct err *err);

/* setup.c: sockets. */
int setup_server(struct worker *w, json_t *ready, struct err *err); /* adds "port", "ports" */
int setup_attach(struct worker *w, struct err *err); /* server: takes what knocks, never waits */
bool setup_complete(const struct worker *w);	     /* server: all streams have their client */
void setup_shut(struct worker *w);		     /* server: nobody may knock any more */
int setup_connect(struct worker *w, json_t *connect, struct err *err);
int setup_flows(struct worker *w, json_t *flows,
		struct err *err); /* client: those of "connected" */
void setup_close(struct worker *w);

/* run.c: from the start to the end. */
int run_streams(struct worker *w, struct err *err);

/* For the bodies. Records why a stream cannot go on, unless the end explains it. */
void run_fail(struct stream *s, int code, const char *what);
/* Sleeps until then in slices, so that the end is noticed; false: over. */
bool run_sleep(const struct worker *w, int64_t until_ns);

#endif
