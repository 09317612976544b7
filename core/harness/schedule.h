/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedule: a scenario's `schedule:`, changes of links while a measurement runs: read, and checked
 * against the topology. Pure; schedule_run.h makes them happen.
 */
#ifndef VPCLAB_HARNESS_SCHEDULE_H
#define VPCLAB_HARNESS_SCHEDULE_H

#include "core/base/yaml.h"
#include "core/harness/scenario.h"
#include "emulator/model/link_set.h"

/* Reads the list into `out`, by time; NULL leaves it alone. Adds a problem for each mistake. */
void schedule_parse(const struct yaml_node *node, const char *file, struct arena *a,
		    struct scenario_schedule *out, struct problems *p);

/* Adds what the keys of a change say, all but those in `but` (n_but of them), to c->changes. */
void schedule_changes(const struct yaml_node *map, const char *const *but, size_t n_but,
		      struct arena *a, struct scenario_change *c);

/* Adds a problem where one change by itself is not possible, as schedule_check() does. */
void schedule_check_change(const struct scenario_change *c, const struct topology_source *src,
			   const struct compile_options *o, const struct wire *w,
			   struct problems *p);

/*
 * Adds a problem for each change of a link that the topology does not have, that comes after the
 * end of all its measurements, whose keys or values the topology does not take, or that would need
 * other devices than the lab has. `src` has the scenario's own overrides, `w` is its wire model.
 */
void schedule_check(const struct scenario *s, const struct topology_source *src,
		    const struct compile_options *o, const struct wire *w, struct problems *p);

/* Adds to `out` the overrides that a change stands for, see link_sets_change(). */
int schedule_sets(const struct scenario_change *c, const struct topology_source *src,
		  const struct wire *w, struct link_sets *out, struct err *err);

/* "rate=5mbit ab.loss={every: 100}": the change as one types it for `vpclab set`. */
void schedule_text(const struct scenario_change *c, struct strbuf *out);

#endif
