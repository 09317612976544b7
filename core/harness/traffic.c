// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * traffic: what a measurement sends, as the truth needs to know it, and what the model predicts for
 * it. Runs nothing. Called by attempt.c and run.c.
 */
#include "core/harness/traffic.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { FCS = 4, ETHERNET_HEADER = 14, UDP_MAX = 65507 };

int64_t attempt_frame_payload(int64_t frame, int family)
{
	struct truth_traffic t = {.protocol = IPPROTO_UDP, .family = family};
	int64_t payload = frame - FCS - ETHERNET_HEADER - truth_headers(&t);

	return payload > 0 ? payload : 0;
}

void attempt_place(enum scenario_cpus cpus, struct engine_spec *spec)
{
	if (cpus == CPUS_FREE)
		spec->client_cpu = spec->server_cpu = -1;
	else if (cpus == CPUS_SAME || (cpus == CPUS_DEFAULT && spec->test != TEST_UDP_STREAM))
		spec->client_cpu = spec->server_cpu;
}

bool traffic_is_udp(enum engine_test test)
{
	return test == TEST_UDP_STREAM || test == TEST_UDP_RR;
}

void traffic_size(const struct path *p, int family, struct engine_spec *e)
{
	struct truth_traffic t = {.protocol = IPPROTO_UDP, .family = family};

	if (e->test != TEST_UDP_STREAM || e->size)
		return;
	e->size = p->mtu - truth_headers(&t);
	if (e->size > UDP_MAX)
		e->size = UDP_MAX;
}

void traffic_describe(const struct attempt_spec *s, const struct engine_spec *e,
		      struct truth_traffic *t)
{
	*t = (struct truth_traffic){
	    .protocol = traffic_is_udp(e->test) ? IPPROTO_UDP : IPPROTO_TCP,
	    .family = s->family,
	    .timestamps = true,
	    .payload = e->size,
	    .opposite = s->opposite,
	    .streams = e->streams,
	};
	if (e->test != TEST_UDP_STREAM)
		return;
	if (e->rate_pps > 0)
		t->offered_pps = (double)e->rate_pps;
	else if (e->rate_bps > 0 && e->size > 0)
		t->offered_pps = (double)e->rate_bps / 8 / (double)e->size;
}

int attempt_predict(const struct attempt_spec *s, struct truth_predicted *out, struct err *err)
{
	struct truth_traffic t;
	struct path forward, back;

	struct engine_spec e = s->engine;

	memset(out, 0, sizeof(*out));
	out->scale_num = s->wire->scale_num;
	out->scale_den = s->wire->scale_den;
	if (s->engine.test == TEST_TCP_RR || s->engine.test == TEST_UDP_RR)
		return 0;
	int r = path_find(s->wire, s->from, s->to, s->family, &forward, err);
	if (!r) {
		traffic_size(&forward, s->family, &e);
		traffic_describe(s, &e, &t);
		r = path_reverse(s->wire, &forward, &back, err);
		if (!r)
			truth_predict(s->wire, &forward, &back, &t, out);
		path_done(&back);
	}
	path_done(&forward);
	if (s->schedule && s->schedule->changes.n) {
		out->known = false;
		snprintf(out->unknown, sizeof(out->unknown), "links change while it runs");
	}
	return r;
}
