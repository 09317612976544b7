/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcp_crr: connect, request, response, close, again and again; tcp_cc: without request and
 * response. spec.streams of them at the same time, spread over the server's ports.
 *
 * Who closes first keeps the pair of addresses and ports for a minute (TIME_WAIT), unless it
 * resets. With "rst" the client resets, so the rate does not depend on how many ports there are;
 * with "fin" it closes as most applications do, and runs out of ports: tries that found none are
 * counted, and the result says that this was the limit.
 *
 * A connection that fails is counted and the next one is tried; only when none at all succeeds has
 * the test failed. Here is the engine's frame; the loops are in tcp_crr_client.c and
 * tcp_crr_server.c.
 */
#include "core/engine/tcp_crr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/engine/result.h"

/* As the result names them. */
static const char *const tcp_crr_failures[TCP_CRR_FAILURES] = {"refused", "reset", "timed_out",
							       "address_not_available", "other"};

static void tcp_crr_defaults(struct engine_spec *s)
{
	s->size = 1;
	s->response_size = 1;
	s->no_delay = true;
	s->server_cpu = s->client_cpu;
}

static int tcp_crr_check(const struct engine_spec *s, struct err *err)
{
	if (!s->size)
		return err_input(err, "size: a request has at least 1 byte");
	if (s->outstanding > 1)
		return err_input(err,
				 "outstanding: %s has one request a connection; more at the "
				 "same time are more 'streams'",
				 engine_test_name(s->test));
	if (str_eq(s->close, "rst") || str_eq(s->close, "fin"))
		return 0;
	return err_input(err,
			 "close: '%s' is neither 'rst' (the client resets) nor 'fin' (it "
			 "closes, and its port is in TIME_WAIT for a minute)",
			 s->close);
}

static int tcp_crr_ports_used(const struct worker *w)
{
	int used = 0;
	for (size_t at = 0; at < 65536 / 64; at++) {
		uint64_t bits = 0;
		for (int i = 0; i < w->n_crews; i++)
			if (w->crews[i].own)
				bits |= ((const struct tcp_crr *)w->crews[i].own)->ports[at];
		used += __builtin_popcountll(bits);
	}
	return used;
}

static json_t *tcp_crr_port_range(void)
{
	int low = 0, high = 0;
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
	bool known = f && fscanf(f, "%d %d", &low, &high) == 2;
	if (f)
		fclose(f);
	return known ? json_pack("[i,i]", low, high) : json_null();
}

static void tcp_crr_report_client(struct worker *w, json_t *result)
{
	struct hist *whole = hist_new(), *connect = hist_new();
	int64_t time_wait = -1;
	json_t *failures = json_object();
	for (int k = 0; k < TCP_CRR_FAILURES; k++) {
		int64_t n = 0;
		for (int i = 0; i < w->n_crews; i++) {
			const struct tcp_crr *t = w->crews[i].own;
			n += t ? t->failed[k] : 0;
		}
		json_object_set_new(failures, tcp_crr_failures[k], json_integer(n));
	}
	for (int i = 0; i < w->n_crews; i++) {
		const struct tcp_crr *t = w->crews[i].own;
		if (!t)
			continue;
		hist_merge(whole, &t->whole);
		hist_merge(connect, &t->connect);
		time_wait = t->time_wait > time_wait ? t->time_wait : time_wait;
	}
	json_object_set_new(result, "latency", hist_json(whole));
	json_object_set_new(result, "connect", hist_json(connect));
	json_object_set_new(result, "failures", failures);
	json_object_set_new(result, "time_wait",
			    time_wait < 0 ? json_null() : json_integer(time_wait));
	json_object_set_new(result, "ports_used", json_integer(tcp_crr_ports_used(w)));
	json_object_set_new(result, "port_range", tcp_crr_port_range());
	hist_free(whole);
	hist_free(connect);
}

static void tcp_crr_report(struct worker *w, json_t *result)
{
	int64_t all = 0, each = w->server ? w->spec.response_size : w->spec.size;
	for (int i = 0; i < w->n_crews; i++) {
		const struct tcp_crr *t = w->crews[i].own;
		all += w->crews[i].streams[0].packets_all;
		if (t && *t->congestion)
			json_object_set_new(result, "congestion", json_string(t->congestion));
	}
	if (tcp_crr_is_bare(w)) {
		json_object_set_new(result, "bytes", json_integer(0));
		each = 0;
	}
	/* What this side has sent, by its own count: the connections are gone. */
	json_object_set_new(result, "bytes_all", json_integer(all * each));
	json_object_set_new(result, "n_threads", json_integer(w->n_crews));
	if (!w->server)
		tcp_crr_report_client(w, result);
}

/* Were the local ports what held the rate? */
static void tcp_crr_limit(const struct engine_spec *s, const json_t *client,
			  struct engine_result *out)
{
	int64_t none = result_integer(json_object_get(client, "failures"),
				      tcp_crr_failures[TCP_CRR_NO_ADDRESS]);
	int64_t waiting = result_integer(client, "time_wait");
	if (!none)
		return;
	snprintf(out->limit, sizeof(out->limit), "sender");
	snprintf(out->limit_why, sizeof(out->limit_why),
		 "local ports: %lld tries found none free (%lld sockets in TIME_WAIT)%s",
		 (long long)none, (long long)waiting,
		 str_eq(s->close, "fin") ? "; close rst or more ports avoid it" : "");
}

static void tcp_crr_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
			  struct engine_result *out)
{
	static const char *const kept[] = {"ports_used", "port_range", "time_wait"};
	const json_t *failures = json_object_get(client, "failures");
	double seconds = (double)out->client.window_ns / 1e9;
	result_dist_get(json_object_get(client, "latency"), &out->latency);
	out->detail = json_pack("{s:i,s:I,s:I,s:b,s:s,s:i,s:o}", "connections", s->streams,
				"threads", (json_int_t)result_integer(client, "n_threads"),
				"server_threads", (json_int_t)result_integer(server, "n_threads"),
				"spin", s->spin, "close", s->close, "server_ports", s->ports,
				"connect_ns", result_dist_of(json_object_get(client, "connect")));
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		json_object_set(out->detail, kept[i], json_object_get(client, kept[i]));
	for (int k = 0; k < TCP_CRR_FAILURES; k++) {
		json_t *n = json_object_get(failures, tcp_crr_failures[k]);
		json_object_set(out->detail, tcp_crr_failures[k], n);
		out->lost += json_integer_value(n);
	}
	double asked = (double)(out->client.packets + out->lost);
	out->loss = asked > 0 ? (double)out->lost / asked : 0;
	out->pps = seconds > 0 ? (double)out->client.packets / seconds : 0;
	out->sent_pps = seconds > 0 ? asked / seconds : 0;
	tcp_crr_limit(s, client, out);
}

static const char *const tcp_crr_aliases[] = {NULL};
static const char *const tcp_cc_aliases[] = {NULL};

#define TCP_CRR_PARTS                                                                              \
	.headline_client = true, .unit = UNIT_TRANSACTIONS, .defaults = tcp_crr_defaults,          \
	.check = tcp_crr_check, .crew = {tcp_crr_server, tcp_crr_client}, .own_connections = true, \
	.report = tcp_crr_report, .merge = tcp_crr_merge

const struct engine_def tcp_crr_engine = {
    .test = TEST_TCP_CRR,
    .name = "tcp_crr",
    .aliases = tcp_crr_aliases,
    TCP_CRR_PARTS,
};

const struct engine_def tcp_cc_engine = {
    .test = TEST_TCP_CC,
    .name = "tcp_cc",
    .aliases = tcp_cc_aliases,
    TCP_CRR_PARTS,
};
