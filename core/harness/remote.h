/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote: workers on real machines, and here: by ssh, as rsync and git start their other side; by a
 * listener (core/engine/listen.h); or as a child of this process. The measured traffic goes between
 * the machines themselves, never through ssh.
 *
 * What ssh can do (keys, jump hosts, names of ~/.ssh/config) works; it is asked for nothing by
 * hand (BatchMode), so it must work without a password.
 */
#ifndef VPCLAB_HARNESS_REMOTE_H
#define VPCLAB_HARNESS_REMOTE_H

#include "core/base/addr.h"
#include "core/base/mem.h"
#include "core/base/proc.h"

enum remote_kind { REMOTE_LOCAL, REMOTE_SSH, REMOTE_TLS };

struct remote_end {
	enum remote_kind kind;
	const char *text;		/* as it was given */
	const char *user, *host, *port; /* NULL: not given; host without brackets */
};

struct remote_options {
	const char *program;	/* of the other machine; only letters, digits and "_./~+-" */
	const char *ssh_config; /* ssh's -F, or NULL */
	const char *key_file;	/* of tls:// ends, or NULL */
	const char *address;	/* where the client finds the server, or NULL */
	int family;		/* AF_INET or AF_INET6 */
};

struct remote_worker {
	struct proc proc;
	bool started;	   /* proc is open */
	int in, out;	   /* we read from `in` and write to `out`; may be one; owned */
	int words;	   /* what ssh says on its standard error, a memfd; -1: none; owned */
	char machine[160]; /* the running kernel and its clock: boot id, time namespace; "" unknown
			    */
	char seen_as[64];  /* ssh: this machine's address as the other one sees it */
};

/* "ssh://[USER@]HOST[:PORT]", "tls://HOST:PORT", "local"; HOST may be "[IPv6]". */
bool remote_is(const char *text);
/* -EINVAL names what is wrong. Texts live in `arena`. */
int remote_parse(const char *text, struct arena *arena, struct remote_end *out, struct err *err);

/*
 * Starts or reaches the worker, and checks that it is of this version. An error keeps what ssh
 * said. remote_close() in either case; zeroed is closed.
 */
int remote_open(const struct remote_end *end, const struct remote_options *o,
		struct remote_worker *w, struct err *err);
void remote_close(struct remote_worker *w);

/* Is it on this machine, and by this process's clock? Only where that is certain. */
bool remote_here(const struct remote_worker *w);

/* Adds to `err` what ssh said meanwhile, if anything. */
void remote_explain(const struct remote_end *end, const struct remote_worker *w, struct err *err);

/*
 * Where the client finds the server: o->address; else the name of an ssh:// server as ssh resolves
 * it (ssh -G), the host of a tls:// one, and for "local" this machine's address as an ssh:// client
 * sees it. A zone is a device of the client. -EINVAL where none is known.
 */
int remote_address(const struct remote_end *server, const struct remote_worker *client,
		   const struct remote_options *o, struct ip_zone *out, struct err *err);

#endif
