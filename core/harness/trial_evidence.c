/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_evidence: counters on the way, the receiver's sockets, the relay, the machine, and the
 * model's arithmetic, before and after one run of a tool. Judges nothing. Called by trial_run.c.
 */
#include "core/harness/trial_evidence.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/attempt.h"
#include "core/harness/fidelity.h"
#include "core/harness/starved.h"
#include "core/harness/watch_flow.h"
#include "emulator/lab/count.h"
#include "emulator/lab/relays.h"
#include "emulator/model/path.h"

struct trial_evidence {
	struct trial_evidence_at at;
	struct engine_traits traits;
	struct path path, back;
	struct watch_flow *flow; /* NULL: it is neither UDP nor TCP (ping) */
	json_t *host, *relays;	 /* before */
	struct fidelity_snapshot before;
	struct starved *starved;
	double frozen_s;
	struct truth_traffic traffic; /* what its headers are */
	int fragments;		      /* packets that each of its own is on the way */
};

static bool is_ping(const struct trial_evidence *t)
{
	return str_eq(t->at.ask->test, "ping");
}

static const char *server_node(const struct trial_evidence *t)
{
	const struct wire *w = &t->at.rig->wire;

	return w->nodes.v[wire_find_endpoint(w, t->at.trial->to)->node].name;
}

static int snapshot(const struct trial_evidence *t, json_t **host, json_t **relays, struct err *err)
{
	const char *node = server_node(t);
	int r = count_snapshot(t->at.rig->lab, &node, 1, host, err);

	return r ? r : relays_read(t->at.rig->lab, &t->at.rig->wire, relays, err);
}

static pid_t supervisor(const struct lab *lab)
{
	return (pid_t)json_integer_value(
	    json_object_get(json_object_get(lab_state(lab), "supervisor"), "pid"));
}

/* Datagrams and segments that are longer than the way has room for come in pieces. */
static void look_at_packets(struct trial_evidence *t)
{
	const struct engine_spec *s = &t->at.ask->spec;

	t->traffic =
	    (struct truth_traffic){.protocol = t->traits.datagram ? IPPROTO_UDP : IPPROTO_TCP,
				   .family = t->at.trial->family,
				   .timestamps = true};
	int64_t payload = t->traits.datagram ? s->size : truth_segment(&t->traffic, t->path.mtu);
	t->fragments = truth_fragments(&t->traffic, payload, t->path.mtu);
}

int trial_evidence_open(const struct trial_evidence_at *at, struct trial_evidence **out,
			struct err *err)
{
	const struct wire *w = &at->rig->wire;
	struct trial_evidence *t = mem_zalloc(sizeof(*t));
	int r;

	t->at = *at;
	t->starved = starved_new(supervisor(at->rig->lab));
	t->traits = engine_test_traits(at->ask->spec.test);
	bool turned = t->traits.way == WAY_BACK;
	struct watch_flow_at flow = {.lab = at->rig->lab,
				     .wire = w,
				     .path = turned ? &t->back : &t->path,
				     .family = at->trial->family,
				     .dscp = at->ask->spec.dscp,
				     .protocol = t->traits.datagram ? IPPROTO_UDP : IPPROTO_TCP};
	if (!wire_find_endpoint(w, at->trial->from) || !wire_find_endpoint(w, at->trial->to))
		r = err_input(err, "the topology has no endpoint '%s' or no '%s'", at->trial->from,
			      at->trial->to);
	else
		r = path_find(w, at->trial->from, at->trial->to, at->trial->family, &t->path, err);
	if (!r)
		r = path_reverse(w, &t->path, &t->back, err);
	if (!r)
		look_at_packets(t);
	if (!r && !is_ping(t))
		r = watch_flow_open(&flow, &t->flow, err);
	if (!r)
		r = snapshot(t, &t->host, &t->relays, err);
	if (!r)
		r = fidelity_read(&t->before, err);
	if (r)
		trial_evidence_drop(t);
	else
		*out = t;
	return r;
}

int trial_evidence_read(struct trial_evidence *t, int64_t *began_ns, struct err *err)
{
	starved_look(t->starved);
	return t->flow ? watch_flow_read(t->flow, began_ns, err) : 0;
}

void trial_evidence_froze(struct trial_evidence *t, double seconds)
{
	t->frozen_s += seconds;
}

void trial_evidence_drop(struct trial_evidence *t)
{
	if (!t)
		return;
	watch_flow_close(t->flow);
	starved_free(t->starved);
	json_decref(t->host);
	json_decref(t->relays);
	path_done(&t->path);
	path_done(&t->back);
	free(t);
}

/* ---- the model's arithmetic ---- */

static double delay_of(const struct wire *w, const struct path *p)
{
	double ns = 0;

	VEC_FOREACH (hop, &p->hops) {
		const struct wire_link *l;

		if (hop->impair_link < 0)
			continue;
		l = &w->links.v[hop->impair_link];
		ns += (double)(hop->impair_ba ? l->impair_ba : l->impair_ab).delay_ns;
	}
	return ns / 1e9;
}

static void predict(const struct trial_evidence *t, struct evidence *out)
{
	const struct trial *trial = t->at.trial;
	struct attempt_spec s = {.lab = t->at.rig->lab,
				 .wire = &t->at.rig->wire,
				 .from = trial->from,
				 .to = trial->to,
				 .family = trial->family,
				 .engine = t->at.ask->spec};
	struct truth_predicted p;
	struct err ignored = ERR_INIT;

	out->predicted_bps = out->predicted_pps = NAN;
	if (attempt_predict(&s, &p, &ignored) || !p.known)
		return;
	out->predicted_bps = p.goodput_bps;
	out->predicted_pps = p.pps;
}

/* ---- the counters ---- */

/* Each piece has an IP header, the first one the other's too. */
static double payload(const struct trial_evidence *t, int64_t bytes, int64_t packets)
{
	int each = truth_ip_header(&t->traffic), once = truth_headers(&t->traffic) - each;

	return (double)(bytes - packets * each) - (double)packets * once / t->fragments;
}

static double payload_rate(const struct trial_evidence *t, const struct watch_flow_part *p)
{
	return p->ns > 0 ? payload(t, p->bytes, p->packets) * 8 / ((double)p->ns / 1e9) : NAN;
}

static void rates(const struct trial_evidence *t, const struct watch_flow_end *e, double *bps,
		  double *pps)
{
	double s = (double)e->active_ns / 1e9;

	*bps = s > 0.3 ? payload(t, e->active_bytes, e->active_packets) * 8 / s : NAN;
	*pps = s > 0.3 ? (double)e->active_packets / s : NAN;
}

static void count(const struct trial_evidence *t, struct evidence *out)
{
	struct watch_flow_end sent, arrived;
	double size = (double)t->at.ask->spec.size;

	out->fragments = t->traits.datagram ? t->fragments : 1;
	if (!t->flow)
		return;
	watch_flow_found(t->flow, &sent, &arrived);
	rates(t, &sent, &out->sent_bps, &out->sent_pps);
	rates(t, &arrived, &out->counted_bps, &out->counted_pps);
	out->least_bps = payload_rate(t, &arrived.least);
	out->most_bps = payload_rate(t, &arrived.most);
	out->wire_packets_pps = out->counted_pps;
	if (!t->traits.datagram && size > 0) /* as many writes as these bytes took */
		out->messages_pps = out->counted_bps / 8 / size;
	out->sent_packets = (double)sent.packets;
	out->arrived_packets = (double)arrived.packets;
	out->marked_packets = (double)arrived.marked;
	/* As long as all of it takes at that rate: its ends lie between two readings. */
	if (out->counted_bps > 0)
		out->active_s = payload(t, arrived.bytes, arrived.packets) * 8 / out->counted_bps;
	if (arrived.packets)
		out->payload_bytes =
		    payload(t, arrived.bytes, arrived.packets) / (double)arrived.packets;
	if (t->traits.datagram && size <= 0 && out->payload_bytes > 0.9 * t->path.mtu)
		out->fragments = 23; /* of tools' own 32 KiB; the exact number matters to nobody */
}

static double grown(const json_t *before, const json_t *after, const char *node, const char *key)
{
	const json_t *b = json_object_get(json_object_get(before, "nodes"), node);
	const json_t *a = json_object_get(json_object_get(after, "nodes"), node);

	return json_number_value(json_object_get(json_object_get(a, "udp"), key)) -
	       json_number_value(json_object_get(json_object_get(b, "udp"), key));
}

/* By chance or on purpose, both ways of a relay. */
static double lost(const json_t *relay)
{
	return json_number_value(
		   json_object_get(json_object_get(json_object_get(relay, "ab"), "lost"), "loss")) +
	       json_number_value(
		   json_object_get(json_object_get(json_object_get(relay, "ba"), "lost"), "loss"));
}

/* Of a relay on the way, both of its directions' counters where the data goes. */
static void relayed(const struct trial_evidence *t, const json_t *after, struct evidence *out)
{
	const char *link;
	const json_t *a;

	json_object_foreach((json_t *)after, link, a)
	{
		const json_t *b = json_object_get(t->relays, link);
		out->lost_relay += lost(a) - lost(b);
		const char *way = t->traits.way == WAY_BACK ? "ba" : "ab";
		const json_t *x = json_object_get(a, way), *y = json_object_get(b, way);

		out->duplicated += json_number_value(json_object_get(x, "duplicated")) -
				   json_number_value(json_object_get(y, "duplicated"));
		out->reordered += json_number_value(json_object_get(x, "reordered")) -
				  json_number_value(json_object_get(y, "reordered"));
	}
}

/* To bulk data it matters that the machine was busy only where less came than the link carries; to
 * times always. */
static const char *machine(const struct trial_evidence *t, const struct evidence *e,
			   const json_t *relays)
{
	static _Thread_local char why[160];
	struct fidelity_snapshot after;
	struct fidelity f;
	struct err ignored = ERR_INIT;

	if (relays_limited(t->relays, relays, why, sizeof(why)) && !t->frozen_s)
		return why;
	if (t->traits.stream && !(e->counted_bps < 0.97 * e->predicted_bps))
		return NULL;
	if (fidelity_read(&after, &ignored))
		return NULL;
	fidelity_between(&t->before, &after, &f);
	fidelity_judge(&f);
	if (f.limit == FIDELITY_ENOUGH)
		return NULL;
	snprintf(why, sizeof(why), "%s", f.why);
	return why;
}

static void had_to_wait(const struct trial_evidence *t, struct evidence *out)
{
	struct starved_found f;

	starved_found(t->starved, &f);
	out->waited_s = f.waited_s;
	out->waited_longest_s = f.longest_s;
}

int trial_evidence_close(struct trial_evidence *t, const struct tool_output *o,
			 struct evidence *out, struct err *err)
{
	const struct engine_spec *spec = &t->at.ask->spec;
	json_t *host = NULL, *relays = NULL;
	int r = t->flow ? watch_flow_settle(t->flow, err) : 0;

	*out = (struct evidence){.counted_bps = NAN,
				 .counted_pps = NAN,
				 .least_bps = NAN,
				 .most_bps = NAN,
				 .sent_bps = NAN,
				 .sent_pps = NAN,
				 .sent_packets = NAN,
				 .arrived_packets = NAN,
				 .messages_pps = NAN,
				 .wire_packets_pps = NAN,
				 .payload_bytes = NAN,
				 .fragments = 1,
				 .cut_at_s = -1};
	if (!r)
		r = snapshot(t, &host, &relays, err);
	if (!r) {
		predict(t, out);
		count(t, out);
		relayed(t, relays, out);
		out->lost_host = grown(t->host, host, server_node(t), "rcvbuf_errors");
		had_to_wait(t, out);
		out->run_s = o->took_s;
		out->asked_s = (double)spec->duration_ns / 1e9;
		out->asked_bps = (double)spec->rate_bps;
		out->asked_size = (double)spec->size;
		out->asked_dscp = spec->dscp;
		out->frozen_s = t->frozen_s;
		out->delay_s = delay_of(&t->at.rig->wire, &t->path);
		out->delay_back_s = delay_of(&t->at.rig->wire, &t->back);
		out->machine = machine(t, out, relays);
	}
	json_decref(host);
	json_decref(relays);
	trial_evidence_drop(t);
	return r;
}
