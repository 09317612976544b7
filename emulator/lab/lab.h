/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lab: a running lab, seen from outside: start, find, enter, look, take down.
 *
 * Theory of operation. A lab is one supervisor: PID 1 of its own PID namespace, in its own mount,
 * network, IPC, UTS and (when not root) user namespace. Everything else of the lab hangs on it:
 * network namespaces are bind mounts below /run/netns of its private mount namespace, daemons are
 * its descendants. When it dies, however it dies, the kernel takes all of it away. Outside there is
 * only a run directory (state.json, lock, log) below $XDG_RUNTIME_DIR/vpclab (root: /run/vpclab),
 * which supervisor and its watcher remove for each other; one that both could not remove is
 * recognised by its lock, pid and process start time and never blocks. It is the only way to a
 * lab: when somebody moves or removes it, or state.json in it, the watcher ends the lab, since
 * nobody could do so any more. What is in a directory of another user's, or open to one, is no lab.
 *
 * Commands enter a lab from outside by setns(); no service listens inside it.
 */
#ifndef VPCLAB_LAB_LAB_H
#define VPCLAB_LAB_LAB_H

#include <jansson.h>

#include "core/base/proc.h"
#include "emulator/model/topology.h"
#include "emulator/plan/plan.h"

struct lab; /* a handle on a running lab */

struct lab_up_options {
	const char *name;	 /* NULL: the topology's name */
	const char *source_name; /* file name of the topology, for state and messages */
	const char *source_text; /* the topology itself: the state keeps it */
	const char *const *sets;
	size_t n_sets;
	const struct topology_file *files; /* the others that it names (load.h): kept likewise */
	size_t n_files;
	struct compile_options compile;
	bool tied; /* the lab dies with the calling process (vpclab run) */
};

struct lab_timing { /* nanoseconds of each plan phase, and of all */
	int64_t phase_ns[PHASE_COUNT];
	int64_t total_ns; /* from lab_up() called to lab usable */
};

/*
 * Builds the lab that `plan` describes and returns a handle (lab_close() does not end the lab,
 * lab_down() does; a tied lab ends with the process). While another command starts or ends a lab of
 * that name, it waits, at most 30 s. -EALREADY when one runs already.
 */
int lab_up(const struct plan *plan, const struct lab_up_options *o, struct lab **out,
	   struct lab_timing *timing, struct err *err);

/* Finds a running lab of this user. name NULL: the only one there is. -ENOENT with a suggestion. */
int lab_open(const char *name, struct lab **out, struct err *err);
void lab_close(struct lab *lab);

/* Ends the lab and returns when its processes and namespaces are gone. Frees the handle. */
int lab_down(struct lab *lab, struct err *err);
/* The same by name, also for a lab that is being started or whose state cannot be read. -ENOENT
 * when this user has none of that name. */
int lab_end(const char *name, struct err *err);

struct lab_entry {
	char *name, *source; /* heap, freed by lab_list_free() */
	pid_t pid;
	int64_t started_s; /* CLOCK_REALTIME seconds */
	size_t nodes, links;
	char *problem; /* NULL; else it lives but cannot be used: all other fields but name are 0 */
};
int lab_list(struct lab_entry **list, size_t *n,
	     struct err *err); /* prunes stale run directories */
void lab_list_free(struct lab_entry *list, size_t n);

const char *lab_name(const struct lab *lab);
/* What the lab was made of: state.json (borrowed). Keys: name, source, topology, sets, machine,
 * files, unshaped, started, pid, plan_choices, … */
const json_t *lab_state(const struct lab *lab);
/* Compiles the lab's own topology again with its own options: the wire model that it should be. */
int lab_wire(const struct lab *lab, struct wire *w, struct err *err);
/* Those options: the machine as it was measured at lab_up(). With lab_wire(), its plan. */
int lab_options(const struct lab *lab, struct compile_options *o, struct err *err);

/* Starts a program inside a node; NULL node: the supervisor's own namespaces. */
int lab_spawn(const struct lab *lab, const char *node, const struct proc_spec *spec, struct proc *p,
	      struct err *err);

/*
 * Runs `fn` in a forked child inside a node and gives what it wrote to `out_fd` as heap text. `fn`
 * returns 0 or a negative errno with err set; the error travels back.
 */
int lab_call(const struct lab *lab, const char *node,
	     int (*fn)(void *arg, int out_fd, struct err *err), void *arg, char **out, size_t *len,
	     struct err *err);

/* Compares the kernel's state with the plan. One line of text per difference; *n 0 = as planned. */
int lab_check(const struct lab *lab, struct strbuf *differences, size_t *n, struct err *err);

/*
 * Changes a running lab to what its topology says with these overrides ("path=value", as for
 * `vpclab up --set`) after those it has: rates, caps, queues and impairments of links and vNICs
 * that are built so that they can change. Everything that changes is changed in one step per
 * namespace, without a gap in which a packet passes unshaped and without emptying queues where the
 * kernel allows; the state then has the overrides. All or nothing: on an error the lab is as it
 * was. `what` gets one line per change. ERR_INPUT: the overrides are wrong, or would need other
 * devices than the lab has (then the error says what to declare in the topology).
 */
int lab_change(struct lab *lab, const char *const *sets, size_t n, struct strbuf *what,
	       struct err *err);

/* The same, but the overrides become just these: what was changed since they were all is undone. */
int lab_reset(struct lab *lab, const char *const *sets, size_t n, struct strbuf *what,
	      struct err *err);
/* The lab's topology with the overrides that it has now, borrowed from the lab until it changes;
 * lab_source_done() is needed in either case. */
int lab_source(const struct lab *lab, struct topology_source *out, struct err *err);
void lab_source_done(struct topology_source *src);

/* What this kernel and user can do, measured: fills what compile needs. Takes about 50 ms. */
int lab_measure_machine(struct machine *m, struct err *err);

/* `vpclab doctor`: array of {feature, needed_for, available, fallback, package}. Gives a reference.
 */
json_t *lab_doctor(void);

#endif
