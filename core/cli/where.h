/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * where: the options that say where a measurement's ends run and how they find each other, one set
 * of names for every command that measures between two ends. Opens nothing.
 *
 * A command has a `struct where_options` named `where` in its options struct, and WHERE_OPTION_DEFS
 * in its table. Texts are those of the command line, borrowed.
 */
#ifndef VPCLAB_CLI_WHERE_H
#define VPCLAB_CLI_WHERE_H

#include "core/cli/command.h"
#include "core/cli/measure_ends.h"
#include "core/cli/test_options.h"
#include "core/harness/attempt.h"
#include "core/harness/remote.h"
#include "emulator/model/wire.h"

struct where_options { /* NULL or false: not given */
	const char *cpus, *address, *key, *remote_program, *ssh_config;
	bool ipv6;
};

extern const char *const where_cpus_words[]; /* as enum scenario_cpus; NULL-terminated */

#define WHERE_OPTION(name, letter, kind, arg, help, type, field, words)                            \
	{                                                                                          \
		name, letter, kind, arg, help, OPT_AT(type, where.field), words, 0, 0              \
	}
#define WHERE_OPTION_DEFS(type)                                                                    \
	WHERE_OPTION("cpus", 0, OPT_STRING, "WHICH",                                               \
		     "both ends on the same CPU, apart, free, or spread: a thread of each a CPU",  \
		     type, cpus, where_cpus_words),                                                \
	    WHERE_OPTION("ipv6", '6', OPT_FLAG, NULL, "over IPv6", type, ipv6, NULL),              \
	    WHERE_OPTION("address", 'a', OPT_STRING, "ADDRESS",                                    \
			 "real machines: where the client finds the server", type, address, NULL), \
	    WHERE_OPTION("key", 0, OPT_STRING, "FILE", "tls:// ends: the key of their listener",   \
			 type, key, NULL),                                                         \
	    WHERE_OPTION("remote-program", 0, OPT_STRING, "PATH",                                  \
			 "ssh:// ends: where vpclab is there (vpclab)", type, remote_program,      \
			 NULL),                                                                    \
	    WHERE_OPTION("ssh-config", 0, OPT_STRING, "FILE", "ssh:// ends: ssh's own -F", type,   \
			 ssh_config, NULL)

/* What only real machines take is an error (-EINVAL) with ends in a lab. */
int where_check(const struct where_options *o, const struct measure_ends *ends, struct err *err);

/* In a lab: AF_INET or AF_INET6; whose destination has a zone is reached over IPv6. */
int where_family(const struct where_options *o, const struct measure_ends *ends);
/* In a lab: makes destinations with a zone endpoints of its model, see emulator/model/zone.h. */
int where_zones(const struct measure_ends *ends, struct wire *w, struct err *err);
enum scenario_cpus where_cpus(const struct where_options *o);
struct attempt_pins where_pins(const struct test_options *o);

/* Between real machines: how they are reached; and which CPUs the ends are kept on there: of
 * machines that are not this one nobody knows which are good, so those that were named, or none. */
struct remote_options where_remote(const struct where_options *o);
void where_place_remote(const struct where_options *o, const struct test_options *test,
			struct engine_spec *spec);

#endif
