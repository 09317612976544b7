/* SPDX-License-Identifier: GPL-2.0-or-later */
/* where: see where.h. Called by cmd_measure.c and cmd_search.c. */
#include "core/cli/where.h"

#include <string.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "emulator/model/zone.h"

const char *const where_cpus_words[] = {"default", "same", "apart", "free", "spread", NULL};

int where_check(const struct where_options *o, const struct measure_ends *ends, struct err *err)
{
	const char *given = o->address		? "--address"
			    : o->key		? "--key"
			    : o->remote_program ? "--remote-program"
			    : o->ssh_config	? "--ssh-config"
						: NULL;

	if (given && !ends->remote)
		return err_input(err, "%s: is for real machines (ssh://, tls://, local)", given);
	return 0;
}

int where_family(const struct where_options *o, const struct measure_ends *ends)
{
	return o->ipv6 || ends->zones ? AF_INET6 : AF_INET;
}

static int where_zone(const struct measure_pair *pair, struct wire *w, struct err *err)
{
	struct err none = ERR_INIT;
	struct ip ip;

	if (strchr(pair->to, '%'))
		return zone_add(w, pair->from, pair->to, err);
	if (!ip_parse(pair->to, &ip, &none) && ip_is_link_local(&ip))
		return err_input(err,
				 "%s is link-local: behind which device of %s is it? Write "
				 "%s%%DEVICE",
				 pair->to, pair->from, pair->to);
	return 0;
}

int where_zones(const struct measure_ends *ends, struct wire *w, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < ends->pairs.n && !r; i++)
		r = where_zone(&ends->pairs.v[i], w, err);
	return r;
}

enum scenario_cpus where_cpus(const struct where_options *o)
{
	for (int i = 0; o->cpus && where_cpus_words[i]; i++)
		if (str_eq(o->cpus, where_cpus_words[i]))
			return (enum scenario_cpus)i;
	return CPUS_DEFAULT;
}

struct attempt_pins where_pins(const struct test_options *o)
{
	return (struct attempt_pins){(int)o->client_cpu, (int)o->server_cpu};
}

struct remote_options where_remote(const struct where_options *o)
{
	bool six = o->ipv6 || (o->address && strchr(o->address, ':'));

	return (struct remote_options){
	    .program = o->remote_program,
	    .ssh_config = o->ssh_config,
	    .key_file = o->key,
	    .address = o->address,
	    .family = six ? AF_INET6 : AF_INET,
	};
}

void where_place_remote(const struct where_options *o, const struct test_options *test,
			struct engine_spec *spec)
{
	struct attempt_pins pins = where_pins(test);

	attempt_place_given(o->cpus ? where_cpus(o) : CPUS_FREE, &pins, spec);
}
