/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample: reads kernel figures at the edges of the window and writes what happened between. It
 * judges nothing and touches no data. Called by run.c (when) and result.c (what it came to).
 */
#include "core/engine/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/engine/result.h"
#include "core/engine/steer.h"
#include "core/engine/worker.h"

void sample_tcp(const struct worker *w, int most, struct socket_tcp *out)
{
	*out = (struct socket_tcp){0};
	if (w->def->datagram || w->def->own_connections)
		return;
	int n = w->spec.streams, step = most > 0 && n > most ? (n + most - 1) / most : 1;
	for (int i = 0; i < w->n_streams; i++) {
		struct socket_tcp one;
		bool wanted = w->streams[i].index % step == 0 && stream_sends(&w->streams[i]);
		if (wanted && !socket_tcp_info(w->streams[i].fd, &one))
			socket_tcp_add(out, &one);
	}
	struct socket_tcp any; /* a side that sends nothing still knows its segments' size */
	if (!out->sockets && w->n_streams && !socket_tcp_info(w->streams[0].fd, &any))
		out->mss = any.mss;
}

static int64_t sample_messages(const struct worker *w)
{
	int64_t sum = 0;
	for (int i = 0; i < w->n_streams; i++)
		if (stream_sends(&w->streams[i]))
			sum += __atomic_load_n(&w->streams[i].messages, __ATOMIC_RELAXED);
	return sum;
}

/* The number under a name in a pair of lines, "Tcp: A B C" and "Tcp: 1 2 3". */
static int64_t sample_field(const char *text, const char *group, const char *name)
{
	char head[16];
	snprintf(head, sizeof(head), "%s:", group);
	const char *names = strstr(text, head);
	const char *values = names ? strstr(names + 1, head) : NULL;
	if (!values)
		return 0;
	char *v = NULL;
	const char *at = names + strlen(head);
	for (const char *number = values + strlen(head); *at && *at != '\n'; number = v) {
		at += strspn(at, " ");
		size_t n = strcspn(at, " \n");
		long long value = strtoll(number, &v, 10);
		if (n == strlen(name) && !memcmp(at, name, n))
			return value;
		at += n;
	}
	return 0;
}

/* "Udp6OutDatagrams   12", one a line. */
static int64_t sample_line(const char *text, const char *name)
{
	for (const char *at = text; (at = strstr(at, name)); at++)
		if ((at == text || at[-1] == '\n') && strchr(" \t", at[strlen(name)]))
			return strtoll(at + strlen(name), NULL, 10);
	return 0;
}

void sample_parse_host(const char *snmp, const char *snmp6, struct sample_host *out)
{
	*out = (struct sample_host){
	    .ip_out =
		sample_field(snmp, "Ip", "OutRequests") + sample_line(snmp6, "Ip6OutRequests"),
	    .tcp_out = sample_field(snmp, "Tcp", "OutSegs"),
	    .tcp_retransmit = sample_field(snmp, "Tcp", "RetransSegs"),
	    .udp_out =
		sample_field(snmp, "Udp", "OutDatagrams") + sample_line(snmp6, "Udp6OutDatagrams"),
	    .udp_rcvbuf_errors =
		sample_field(snmp, "Udp", "RcvbufErrors") + sample_line(snmp6, "Udp6RcvbufErrors"),
	    .icmp_unreachable = sample_field(snmp, "Icmp", "InDestUnreachs") +
				sample_line(snmp6, "Icmp6InDestUnreachs"),
	    .udp_sndbuf_errors =
		sample_field(snmp, "Udp", "SndbufErrors") + sample_line(snmp6, "Udp6SndbufErrors"),
	};
}

static void sample_host(struct sample_host *out)
{
	autofree char *snmp = NULL, *snmp6 = NULL;
	struct err ignored = ERR_INIT;
	size_t n;
	file_read("/proc/self/net/snmp", &snmp, &n, &ignored);
	file_read("/proc/self/net/snmp6", &snmp6, &n, &ignored);
	sample_parse_host(snmp ? snmp : "", snmp6 ? snmp6 : "", out);
	out->backlog_drops = steer_backlog_drops();
}

void sample_thread_ends(struct crew *c)
{
	cpu_thread_self(&c->cpu_own);
	atomic_store(&c->over, true);
}

static void sample_threads(struct worker *w, int end)
{
	for (int i = 0; i < w->n_crews; i++) {
		struct crew *c = &w->crews[i];
		bool split = i < SAMPLE_THREADS;
		if (!c->running || atomic_load(&c->over) ||
		    cpu_thread_of(c->thread, c->tid, split, &c->cpu_at[end]))
			c->cpu_at[end] = c->cpu_own;
	}
}

void sample_worker(struct worker *w, int end, struct worker_sample *out)
{
	cpu_sample(&out->cpu);
	sample_tcp(w, 0, &out->tcp);
	sample_threads(w, end);
	out->messages = sample_messages(w);
	sample_host(&out->host);
}

static double sample_share(int64_t us, int64_t of_us)
{
	return of_us > 0 ? (double)us / (double)of_us : 0;
}

json_t *sample_tcp_json(const struct socket_tcp *a, const struct socket_tcp *b)
{
	json_t *j = json_object();
	int64_t busy = b->busy_us - a->busy_us;
	json_object_set_new(j, "retransmits", json_integer(b->retransmits - a->retransmits));
	json_object_set_new(j, "rtt_us", json_real(b->rtt_us));
	json_object_set_new(j, "rttvar_us", json_real(b->rttvar_us));
	json_object_set_new(j, "min_rtt_us",
			    b->min_rtt_us > 0 ? json_real(b->min_rtt_us) : json_null());
	json_object_set_new(j, "cwnd", json_real(b->cwnd));
	json_object_set_new(j, "bytes_acked", json_integer(b->bytes_acked - a->bytes_acked));
	json_object_set_new(j, "segs_out", json_integer(b->segs_out - a->segs_out));
	json_object_set_new(j, "data_segs_out", json_integer(b->data_segs_out - a->data_segs_out));
	json_object_set_new(j, "delivery_bps", json_real(b->delivery_bps));
	json_object_set_new(j, "app_limited", json_integer(b->app_limited));
	json_object_set_new(j, "busy_us", json_integer(busy));
	json_object_set_new(j, "rwnd_limited",
			    json_real(sample_share(b->rwnd_limited_us - a->rwnd_limited_us, busy)));
	json_object_set_new(
	    j, "sndbuf_limited",
	    json_real(sample_share(b->sndbuf_limited_us - a->sndbuf_limited_us, busy)));
	json_object_set_new(j, "reord_seen", json_integer(b->reord_seen - a->reord_seen));
	json_object_set_new(j, "dsack_dups", json_integer(b->dsack_dups - a->dsack_dups));
	return j;
}

static void sample_report_threads(const struct worker *w, json_t *result)
{
	json_t *list = json_array();
	double most = 0, wait_of_most = NAN;
	for (int i = 0; i < w->n_crews; i++) {
		const struct crew *c = &w->crews[i];
		const struct cpu_thread *a = &c->cpu_at[0], *b = &c->cpu_at[1];
		double total = b->total_s - a->total_s, wait = b->wait_s - a->wait_s;
		if (total >= most) {
			most = total;
			wait_of_most = wait;
		}
		if (i < SAMPLE_THREADS)
			json_array_append_new(
			    list, json_pack("{s:i,s:f,s:o,s:o,s:o}", "streams", c->n, "cpu_s",
					    total, "wait_s", result_real(wait), "cpu_user_s",
					    result_real(b->user_s - a->user_s), "cpu_system_s",
					    result_real(b->system_s - a->system_s)));
	}
	json_object_set_new(result, "n_threads", json_integer(w->n_crews));
	json_object_set_new(result, "thread_cpu_s", json_real(most));
	json_object_set_new(result, "thread_wait_s", result_real(wait_of_most));
	json_object_set_new(result, "threads", list);
}

void sample_report(const struct worker *w, json_t *result)
{
	const struct sample_host *a = &w->begin.host, *b = &w->end.host;
	int n = w->spec.streams;
	json_object_set_new(result, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	json_object_set_new(result, "messages", json_integer(w->end.messages - w->begin.messages));
	if (w->end.tcp.sockets) {
		json_object_set_new(result, "tcp", sample_tcp_json(&w->begin.tcp, &w->end.tcp));
		int step = n > SAMPLE_SOCKETS ? (n + SAMPLE_SOCKETS - 1) / SAMPLE_SOCKETS : 1;
		json_object_set_new(result, "tcp_sampled", json_integer((n + step - 1) / step));
	}
	sample_report_threads(w, result);
	json_object_set_new(
	    result, "host",
	    json_pack(
		"{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "ip_out", (json_int_t)(b->ip_out - a->ip_out),
		"tcp_out", (json_int_t)(b->tcp_out - a->tcp_out), "tcp_retransmit",
		(json_int_t)(b->tcp_retransmit - a->tcp_retransmit), "udp_out",
		(json_int_t)(b->udp_out - a->udp_out), "udp_rcvbuf_errors",
		(json_int_t)(b->udp_rcvbuf_errors - a->udp_rcvbuf_errors), "udp_sndbuf_errors",
		(json_int_t)(b->udp_sndbuf_errors - a->udp_sndbuf_errors), "backlog_drops",
		(json_int_t)(b->backlog_drops - a->backlog_drops), "icmp_unreachable",
		(json_int_t)(b->icmp_unreachable - a->icmp_unreachable)));
}
