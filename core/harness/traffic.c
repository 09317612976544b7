// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * traffic: what a measurement sends, as the truth needs to know it, and what the model predicts for
 * it. Runs nothing. Called by attempt.c and run.c.
 */
#include "core/harness/traffic.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "core/engine/cpu.h"

enum { FCS = 4, ETHERNET_HEADER = 14, UDP_MAX = 65507 };

int64_t attempt_frame_payload(int64_t frame, int family)
{
	struct truth_traffic t = {.protocol = IPPROTO_UDP, .family = family};
	int64_t payload = frame - FCS - ETHERNET_HEADER - truth_headers(&t);

	return payload > 0 ? payload : 0;
}

void attempt_place(enum scenario_cpus cpus, struct engine_spec *spec)
{
	bool apart = traffic_is_udp(spec->test) && traffic_is_bulk(spec->test);

	spec->spread = cpus == CPUS_SPREAD;
	if (cpus == CPUS_FREE || cpus == CPUS_SPREAD)
		spec->client_cpu = spec->server_cpu = -1;
	else if (cpus == CPUS_SAME || (cpus == CPUS_DEFAULT && !apart))
		spec->client_cpu = spec->server_cpu;
}

/* One of our CPUs that is not `other`; that one where there is no second. */
static int another_cpu(int other)
{
	int cpu = cpu_allowed(cpu_allowed(0) == other);

	return cpu >= 0 ? cpu : other;
}

void attempt_place_given(enum scenario_cpus cpus, const struct attempt_pins *given,
			 struct engine_spec *spec)
{
	bool apart, one = (given->client >= 0) != (given->server >= 0);
	int cpu = given->client >= 0 ? given->client : given->server;

	attempt_place(cpus, spec);
	apart = spec->client_cpu != spec->server_cpu;
	if (one && cpus != CPUS_FREE) /* the other end stays with it, or away from it */
		spec->client_cpu = spec->server_cpu = apart ? another_cpu(cpu) : cpu;
	if (given->client >= 0)
		spec->client_cpu = given->client;
	if (given->server >= 0)
		spec->server_cpu = given->server;
}

bool traffic_is_udp(enum engine_test test)
{
	return engine_test_traits(test).datagram;
}

bool traffic_is_bulk(enum engine_test test)
{
	struct engine_traits t = engine_test_traits(test);

	/* A group's receivers each get what was sent once: no rate of one flow. */
	return (t.stream && !t.group) || t.files;
}

void traffic_size(const struct path *there, const struct path *back, int family,
		  struct engine_spec *e)
{
	struct truth_traffic t = {.protocol = IPPROTO_UDP, .family = family};
	enum engine_way way = engine_test_traits(e->test).way;
	int mtu = way == WAY_BACK ? back->mtu : there->mtu;

	if (!traffic_is_udp(e->test) || !traffic_is_bulk(e->test) || e->size)
		return;
	if (way == WAY_BOTH && back->mtu < mtu)
		mtu = back->mtu;
	e->size = mtu - truth_headers(&t);
	if (e->size > UDP_MAX)
		e->size = UDP_MAX;
}

static void traffic_describe(const struct attempt_spec *s, const struct engine_spec *e,
			     struct truth_traffic *t)
{
	*t = (struct truth_traffic){
	    .protocol = traffic_is_udp(e->test) ? IPPROTO_UDP : IPPROTO_TCP,
	    .family = s->family,
	    .timestamps = true,
	    .payload = e->size,
	    .opposite = s->opposite || engine_test_traits(e->test).way == WAY_BOTH,
	    .streams = e->streams,
	};
	if (!engine_test_traits(e->test).paced)
		return;
	if (e->rate_pps > 0)
		t->offered_pps = (double)e->rate_pps;
	else if (e->rate_bps > 0 && e->size > 0)
		t->offered_pps = (double)e->rate_bps / 8 / (double)e->size;
}

/*
 * Data both ways: each flow's answers take their share of the other's way, so each rate depends on
 * the other one. The share is small, and a few rounds settle it.
 */
static void predict_both(const struct wire *w, const struct path *there, const struct path *back,
			 const struct truth_traffic *t, struct truth_predicted out[2])
{
	struct truth_traffic ways[2] = {*t, *t};

	for (int round = 0; round < 4; round++) {
		truth_predict(w, there, back, &ways[0], &out[0]);
		truth_predict(w, back, there, &ways[1], &out[1]);
		ways[0].opposite_pps = out[1].known ? out[1].pps : 0;
		ways[1].opposite_pps = out[0].known ? out[0].pps : 0;
	}
	for (int i = 0; i < 2 && t->protocol == IPPROTO_TCP; i++) {
		if (!out[i].known || out[!i].known)
			continue;
		out[i].known = false;
		snprintf(out[i].unknown, sizeof(out[i].unknown),
			 "how much the other way carries is not known, and its acknowledgements "
			 "share this one");
	}
}

static int predict(const struct attempt_spec *s, bool from_server, struct truth_predicted *out,
		   struct err *err)
{
	enum engine_way way = engine_test_traits(s->engine.test).way;
	struct truth_predicted both[2];
	struct engine_spec e = s->engine;
	struct path there, back = {0};
	struct truth_traffic t;
	int r = path_find(s->wire, s->from, s->to, s->family, &there, err);

	if (!r)
		r = path_reverse(s->wire, &there, &back, err);
	if (!r) {
		traffic_size(&there, &back, s->family, &e);
		traffic_describe(s, &e, &t);
	}
	if (!r && way == WAY_BOTH) {
		predict_both(s->wire, &there, &back, &t, both);
		*out = both[from_server];
	} else if (!r) {
		truth_predict(s->wire, way == WAY_BACK ? &back : &there,
			      way == WAY_BACK ? &there : &back, &t, out);
	}
	path_done(&back);
	path_done(&there);
	if (s->schedule && s->schedule->changes.n) {
		out->known = false;
		snprintf(out->unknown, sizeof(out->unknown), "links change while it runs");
	}
	return r;
}

static void predict_nothing(const struct attempt_spec *s, struct truth_predicted *out)
{
	memset(out, 0, sizeof(*out));
	out->scale_num = s->wire->scale_num;
	out->scale_den = s->wire->scale_den;
}

int attempt_predict(const struct attempt_spec *s, struct truth_predicted *out, struct err *err)
{
	predict_nothing(s, out);
	if (!traffic_is_bulk(s->engine.test))
		return 0;
	return predict(s, false, out, err);
}

int attempt_predict_back(const struct attempt_spec *s, struct truth_predicted *out, struct err *err)
{
	predict_nothing(s, out);
	if (engine_test_traits(s->engine.test).way != WAY_BOTH)
		return 0;
	return predict(s, true, out, err);
}
