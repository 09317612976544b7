/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engines: the one place where an engine is added, and test names. Used by spec.c, worker.c,
 * pair.c. */
#include "core/engine/engines.h"

#include <strings.h>

#include "core/base/mem.h"
#include "core/base/str.h"

static const struct engine_def *const engines[] = {
    [TEST_TCP_STREAM] = &tcp_stream_engine,
    [TEST_UDP_STREAM] = &udp_stream_engine,
    [TEST_TCP_RR] = &tcp_rr_engine,
    [TEST_UDP_RR] = &udp_rr_engine,
    [TEST_THROUGHPUT] = &throughput_engine,
    [TEST_TCP_MAERTS] = &tcp_maerts_engine,
    [TEST_TCP_BIDIR] = &tcp_bidir_engine,
    [TEST_TCP_SENDFILE] = &tcp_sendfile_engine,
    [TEST_UDP_MAERTS] = &udp_maerts_engine,
    [TEST_UDP_BIDIR] = &udp_bidir_engine,
    [TEST_UDP_MULTICAST] = &udp_multicast_engine,
    [TEST_TCP_CRR] = &tcp_crr_engine,
    [TEST_TCP_CC] = &tcp_cc_engine,
    [TEST_UDP_LATENCY] = &udp_latency_engine,
    [TEST_PAIRS] = &pairs_engine,
    [TEST_PATH_CHECK] = &path_check_engine,
};

const struct engine_def *engines_get(enum engine_test test)
{
	return engines[test];
}

const struct engine_def *engines_at(size_t i)
{
	return i < ARRAY_SIZE(engines) ? engines[i] : NULL;
}

const char *engine_test_name(enum engine_test test)
{
	return engines[test]->name;
}

const char *engine_test_summary(enum engine_test test)
{
	static const char *const lines[ENGINE_TESTS] = {
	    [TEST_TCP_STREAM] = "bulk data over TCP, from SRC to DST",
	    [TEST_UDP_STREAM] = "datagrams at a rate, or as fast as they go; each is accounted for",
	    [TEST_TCP_RR] = "request and response over TCP, the next when the answer has come",
	    [TEST_UDP_RR] = "request and response over UDP; what is lost costs its timeout",
	    [TEST_THROUGHPUT] = "files, each confirmed before the next; rate and response time",
	    [TEST_TCP_MAERTS] = "bulk data over TCP, from DST to SRC",
	    [TEST_TCP_BIDIR] = "bulk data over TCP both ways, on connections of their own",
	    [TEST_TCP_SENDFILE] =
		"bulk data over TCP from a file's pages, not copied by the sender",
	    [TEST_UDP_MAERTS] = "datagrams, from DST to SRC",
	    [TEST_UDP_BIDIR] = "datagrams both ways",
	    [TEST_UDP_MULTICAST] =
		"datagrams to a group; --streams receivers at DST, each accounted "
		"for",
	    [TEST_TCP_CRR] = "connect, request, response, close: a new connection each time",
	    [TEST_TCP_CC] = "connect, close: how many connections a second",
	    [TEST_UDP_LATENCY] =
		"probes by a schedule, whatever comes back: round trip and each way",
	    [TEST_PAIRS] = "scripts on up to 10,000 connections; see vpclab help scripts",
	    [TEST_PATH_CHECK] = "path MTU, hops, translations, DSCP, idle timeout",
	};
	return lines[test];
}

const char *const *engine_test_aliases(enum engine_test test)
{
	return engines[test]->aliases;
}

struct engine_traits engine_test_traits(enum engine_test test)
{
	const struct engine_def *d = engines[test];
	return (struct engine_traits){
	    .datagram = d->datagram,
	    .transactions = d->unit == UNIT_TRANSACTIONS,
	    .open_end = d->open_end,
	    .paced = d->paced,
	    .stream = d->stream,
	    .files = d->files,
	    .group = d->group,
	    .scripted = d->scripted,
	    .way = d->way,
	};
}

static bool engines_named(const struct engine_def *def, const char *name)
{
	if (!strcasecmp(name, def->name))
		return true;
	for (const char *const *alias = def->aliases; *alias; alias++)
		if (!strcasecmp(name, *alias))
			return true;
	return false;
}

/* All names and aliases, for "did you mean". */
static const char *engines_suggest(const char *name)
{
	const char *names[128];
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (n < ARRAY_SIZE(names))
			names[n++] = engines[i]->name;
		for (const char *const *a = engines[i]->aliases; *a && n < ARRAY_SIZE(names); a++)
			names[n++] = *a;
	}
	return str_suggest(name, names, n);
}

int engine_test_parse(const char *name, enum engine_test *test, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (engines_named(engines[i], name)) {
			*test = engines[i]->test;
			return 0;
		}
	const char *near = engines_suggest(name);
	if (near)
		return err_input(err, "unknown test '%s'; did you mean '%s'?", name, near);
	autostr struct strbuf all = {0};
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", engines[i]->name);
	return err_input(err, "unknown test '%s'; there are %s", name, strbuf_text(&all));
}
