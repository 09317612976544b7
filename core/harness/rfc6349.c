// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rfc6349: the path first, then TCP on it. Called by `vpclab search rfc6349`.
 */
#include "core/harness/rfc6349.h"

#include <errno.h>
#include <math.h>
#include <sys/socket.h>

#include "core/base/units.h"

enum { TCP_HEADER = 20, TIMESTAMPS = 12, UDP_HEADER = 8, LEAST_WINDOW = 4096 };

#define BRIEF_NS (500 * NSEC_PER_MSEC)

static int ip_header(int family)
{
	return family == AF_INET6 ? 40 : 20;
}

static void copy_common(const struct engine_spec *from, struct engine_spec *to)
{
	to->client_cpu = from->client_cpu;
	to->server_cpu = from->server_cpu;
	to->dscp = from->dscp;
}

/* The least round trip of transactions of one byte on the idle path. */
static int baseline(struct procedure *p, const struct engine_spec *base, struct rfc6349 *out,
		    struct err *err)
{
	struct run_sample s = {.index = 1};
	struct engine_spec spec;

	engine_spec_default(&spec, TEST_TCP_RR);
	copy_common(base, &spec);
	spec.duration_ns = 2 * BRIEF_NS;
	spec.warmup_ns = BRIEF_NS;
	int r = procedure_measure(p, &spec, &s, err);
	if (r)
		return err_wrap(err, "baseline RTT");
	out->rtt_ns = s.engine.latency.min;
	out->mss = s.engine.mss;
	engine_result_done(&s.engine);
	procedure_tell(p, "baseline RTT %.1f us", out->rtt_ns / 1e3);
	return 0;
}

static const char *differs(const struct rfc6349 *r, bool black_hole, struct arena *arena)
{
	if (!r->mtu || r->mtu == r->path_mtu)
		return NULL;
	if (r->mtu < r->path_mtu)
		return arena_printf(
		    arena,
		    "the path carries packets of %d bytes, and TCP fills %d: an end "
		    "or a hop has told it a smaller segment",
		    r->path_mtu, r->mtu);
	return arena_printf(arena, "TCP fills packets of %d bytes, and the path carries %d: %s",
			    r->mtu, r->path_mtu,
			    black_hole ? "larger ones vanish, and nobody says why"
				       : "what it learns of that comes by ICMP");
}

/* What arrives, not what TCP thinks of it. A path that cannot be checked is no reason to stop. */
static int path_mtu(struct procedure *p, const struct engine_spec *base, struct rfc6349 *out,
		    struct err *err)
{
	struct run_sample s = {.index = 1};
	struct err failed = ERR_INIT;
	struct engine_spec spec;

	engine_spec_default(&spec, TEST_PATH_CHECK);
	copy_common(base, &spec);
	spec.script = "mtu";
	int r = procedure_measure(p, &spec, &s, &failed);
	if (r == -EINTR) {
		*err = failed;
		return r;
	}
	const json_t *forward =
	    r ? NULL : json_object_get(json_object_get(s.engine.detail, "mtu"), "forward");
	out->path_mtu = (int)json_integer_value(json_object_get(forward, "mtu"));
	if (out->path_mtu)
		out->path_mtu_why =
		    differs(out, json_is_true(json_object_get(forward, "black_hole")), p->arena);
	else
		out->path_mtu_why =
		    r ? arena_strdup(p->arena, failed.text) : "no packet of the check was answered";
	engine_result_done(&s.engine);
	procedure_tell(p, "path MTU %d, by segments %d", out->path_mtu, out->mtu);
	return 0;
}

/* Full-size datagrams as fast as it goes: each takes as much of the bottleneck as a full segment.
 */
static int bottleneck(struct procedure *p, const struct engine_spec *base, int family,
		      struct rfc6349 *out, struct err *err)
{
	struct engine_spec spec;
	struct trial t;

	engine_spec_default(&spec, TEST_UDP_STREAM);
	copy_common(base, &spec);
	spec.duration_ns =
	    base->duration_ns < 2 * NSEC_PER_SEC ? base->duration_ns : 2 * NSEC_PER_SEC;
	spec.warmup_ns = BRIEF_NS;
	spec.size = 0;
	if (out->mss > 0)
		spec.size = out->mtu - ip_header(family) - UDP_HEADER;
	int r = procedure_trial(p, &spec, &t, err);
	if (r)
		return err_wrap(err, "bottleneck bandwidth");
	out->bottleneck_pps = t.pps;
	out->bottleneck_bps = t.pps * out->mss * 8;
	out->bottleneck_valid = t.valid;
	if (!t.valid)
		out->bottleneck_why = t.why;
	else if (!t.lost)
		out->bottleneck_why =
		    "nothing was lost: the link made the sender wait, or the sender was the "
		    "limit";
	procedure_tell(p, "bottleneck: %.0f full packets/s", t.pps);
	return 0;
}

static void set_metrics(const struct run_sample *s, const struct rfc6349 *path, struct procedure *p,
			struct rfc6349_row *row)
{
	const struct engine_result *e = &s->engine;
	double sent = e->sent_bps / 8 * (double)e->client.window_ns / 1e9;

	row->actual_bps = e->goodput_bps;
	row->time_ratio = path->bottleneck_bps / e->goodput_bps;
	row->retransmits = e->retransmits;
	row->efficiency = sent > 0 ? sent / (sent + (double)e->retransmits * e->mss) : NAN;
	row->rtt_ns = e->rtt_us * 1e3;
	row->buffer_delay = (row->rtt_ns - path->rtt_ns) / path->rtt_ns;
	if (s->fidelity.limit != FIDELITY_ENOUGH)
		row->machine = arena_strdup(p->arena, s->fidelity.why);
}

static int tcp(struct procedure *p, const struct engine_spec *base, double share,
	       struct rfc6349 *out, struct err *err)
{
	struct rfc6349_row row = {.share = share, .ideal_bps = out->bottleneck_bps};
	struct run_sample s = {.index = 1};
	struct engine_spec spec = *base;
	struct err failed = ERR_INIT;

	if (share > 0) {
		row.window = (int64_t)fmax(share * out->bdp_bytes, LEAST_WINDOW);
		row.ideal_bps =
		    fmin(out->bottleneck_bps, (double)row.window * 8 / (out->rtt_ns / 1e9));
		spec.rcvbuf = row.window;
		spec.sndbuf = row.window * 2; /* the sender keeps what is not acknowledged yet */
	}
	int r = procedure_measure(p, &spec, &s, &failed);
	if (r == -EINTR) {
		*err = failed;
		return r;
	}
	if (r)
		row.error = arena_strdup(p->arena, failed.text);
	else
		set_metrics(&s, out, p, &row);
	engine_result_done(&s.engine);
	*VEC_ADD(p->arena, &out->rows) = row;
	procedure_tell(p, "TCP with %s: %.3g Mbit/s",
		       share > 0 ? "a window" : "the kernel's own windows", row.actual_bps / 1e6);
	return 0;
}

int rfc6349_run(struct procedure *p, const struct engine_spec *base, int family,
		struct rfc6349 *out, struct err *err)
{
	static const double shares[RFC6349_WINDOWS] = {0.25, 0.5, 1, 2, 0};
	int r = baseline(p, base, out, err);

	if (!r && out->mss > 0)
		out->mtu = out->mss + ip_header(family) + TCP_HEADER + TIMESTAMPS;
	if (!r)
		r = path_mtu(p, base, out, err);
	if (!r)
		r = bottleneck(p, base, family, out, err);
	out->bdp_bytes = out->bottleneck_bps / 8 * out->rtt_ns / 1e9;
	for (size_t i = 0; i < RFC6349_WINDOWS && !r; i++)
		r = tcp(p, base, shares[i], out, err);
	return r;
}
