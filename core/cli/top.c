// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * top: arithmetic and words of live counters. Reads nothing, waits for nothing. Called by
 * cmd_top.c and tests.
 */
#include "core/cli/top.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emulator/lab/account_walk.h"

static const char *top_cause_name(enum top_cause cause)
{
	static const char *const names[] = {[TOP_QDISC] = "qdisc",
					    [TOP_NFT] = "nft",
					    [TOP_SOFTNET] = "softnet",
					    [TOP_NOT_TAKEN] = "not_taken",
					    [TOP_SOCKET] = "socket"};

	return names[cause];
}

static int64_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const json_t *node_in(const json_t *snapshot, const char *node)
{
	return json_object_get(json_object_get(snapshot, "nodes"), node);
}

static const json_t *device_in(const json_t *snapshot, const char *node, const char *dev)
{
	return json_object_get(json_object_get(node_in(snapshot, node), "devices"), dev);
}

/* ---- rows ---- */

struct reader {
	struct account_map map;
	const json_t *before, *after;
	double seconds;
};

static double rate(const struct reader *r, int64_t before, int64_t after)
{
	return after > before && r->seconds > 0 ? (double)(after - before) / r->seconds : 0;
}

static double rate_of(const struct reader *r, const struct top_row *row, const char *key)
{
	return rate(r, number(row->before, key), number(row->after, key));
}

static const json_t *root_of(const json_t *dev)
{
	const json_t *q;
	size_t i;

	json_array_foreach(
	    json_object_get(dev, "qdiscs"), i,
	    q) if (str_eq(json_string_value(json_object_get(q, "parent")), "root")) return q;
	return NULL;
}

/* What the device's peer could not be given is counted there too (see account_walk.c). */
static int64_t not_taken(const struct wire *w, const json_t *snapshot, int index, const json_t *dev)
{
	int peer = index < 0 ? -1 : w->devs.v[index].peer;
	int64_t n = number(dev, "rx_dropped");

	if (peer >= 0)
		n -= number(device_in(snapshot, w->nodes.v[w->devs.v[peer].node].name,
				      w->devs.v[peer].name),
			    "tx_dropped");
	return n > 0 ? n : 0;
}

static void drops_in(const struct reader *r, const json_t *snapshot, int index, const json_t *dev,
		     int64_t out[TOP_CAUSES])
{
	out[TOP_QDISC] = number(root_of(dev), "dropped");
	out[TOP_SOFTNET] = number(dev, "tx_dropped");
	out[TOP_NOT_TAKEN] = not_taken(r->map.w, snapshot, index, dev);
	out[TOP_NFT] = index < 0 ? 0 : account_ruled_out(&r->map, snapshot, index);
	out[TOP_SOCKET] = 0;
}

static void set_drops(const struct reader *r, int index, struct top_row *row)
{
	int64_t before[TOP_CAUSES];

	drops_in(r, r->before, index, row->before, before);
	drops_in(r, r->after, index, row->after, row->dropped);
	for (int i = 0; i < TOP_CAUSES; i++)
		row->drop_pps[i] = rate(r, before[i], row->dropped[i]);
}

static double activity(const struct top_row *row)
{
	double sum = row->rx_pps + row->tx_pps + (double)row->waiting_packets;

	for (int i = 0; i < TOP_CAUSES; i++)
		sum += row->drop_pps[i];
	return sum;
}

static void add_device(const struct reader *r, int node, const char *dev, struct top *out)
{
	const char *name = r->map.w->nodes.v[node].name;
	struct top_row row = {
	    .node = name,
	    .dev = dev,
	    .before = device_in(r->before, name, dev),
	    .after = device_in(r->after, name, dev),
	};
	const json_t *root = root_of(row.after);

	row.rx_pps = rate_of(r, &row, "rx_packets");
	row.tx_pps = rate_of(r, &row, "tx_packets");
	row.rx_Bps = rate_of(r, &row, "rx_bytes");
	row.tx_Bps = rate_of(r, &row, "tx_bytes");
	row.rx_mcast_pps = rate_of(r, &row, "rx_multicast");
	row.waiting_packets = number(root, "backlog_packets");
	row.waiting_bytes = number(root, "backlog_bytes");
	row.speed_mbps = number(row.after, "speed_mbps");
	set_drops(r, wire_find_dev(r->map.w, node, dev), &row);
	*VEC_ADD(&out->arena, &out->rows) = row;
}

static void add_node(const struct reader *r, int node, struct top *out)
{
	const char *name = r->map.w->nodes.v[node].name;
	struct top_row row = {.node = name};

	row.dropped[TOP_SOCKET] =
	    number(json_object_get(node_in(r->after, name), "udp"), "rcvbuf_errors");
	row.drop_pps[TOP_SOCKET] =
	    rate(r, number(json_object_get(node_in(r->before, name), "udp"), "rcvbuf_errors"),
		 row.dropped[TOP_SOCKET]);
	row.dropped[TOP_NFT] = account_refused(&r->map, r->after, node);
	row.drop_pps[TOP_NFT] =
	    rate(r, account_refused(&r->map, r->before, node), row.dropped[TOP_NFT]);
	if (activity(&row) > 0)
		*VEC_ADD(&out->arena, &out->rows) = row;
}

static int busiest_first(const void *a, const void *b)
{
	double x = activity(a), y = activity(b);

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Stable: what is equally busy stays in the order of the model. */
static void sort(struct top *t)
{
	for (size_t i = 1; i < t->rows.n; i++) {
		struct top_row row = t->rows.v[i];
		size_t k = i;

		for (; k > 0 && busiest_first(&t->rows.v[k - 1], &row) > 0; k--)
			t->rows.v[k] = t->rows.v[k - 1];
		t->rows.v[k] = row;
	}
}

static void drop_idle(struct top *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->rows.n; i++)
		if (activity(&t->rows.v[i]) > 0)
			t->rows.v[n++] = t->rows.v[i];
	t->rows.n = n;
}

void top_rows(const struct wire *w, const json_t *before, const json_t *after,
	      const struct top_filter *f, struct top *out)
{
	struct reader r = {.before = before, .after = after};

	account_map_init(&r.map, w);
	*out = (struct top){0};
	r.seconds = (double)(number(after, "at_ns") - number(before, "at_ns")) / 1e9;
	out->interval_s = r.seconds;
	for (size_t i = 0; i < w->nodes.n; i++) {
		const char *name = w->nodes.v[i].name;
		const json_t *j = node_in(after, name);
		const char *dev;
		json_t *value;

		if (f->node && !str_eq(f->node, name))
			continue;
		json_object_foreach(json_object_get(j, "devices"), dev, value)
		    add_device(&r, (int)i, dev, out);
		add_node(&r, (int)i, out);
	}
	account_map_done(&r.map);
	if (f->all)
		return;
	drop_idle(out);
	sort(out);
}

void top_done(struct top *t)
{
	arena_done(&t->arena);
	*t = (struct top){0};
}

/* ---- the table ---- */

struct widths {
	int node, dev;
};

static struct widths measure(const struct top *t)
{
	struct widths w = {(int)strlen("node"), (int)strlen("device")};

	VEC_FOREACH (row, &t->rows) {
		int n = (int)strlen(row->node), d = row->dev ? (int)strlen(row->dev) : 0;

		w.node = n > w.node ? n : w.node;
		w.dev = d > w.dev ? d : w.dev;
	}
	if (w.dev < (int)strlen("  class 1:1fff"))
		w.dev = (int)strlen("  class 1:1fff");
	return w;
}

static double all_drops(const struct top_row *row)
{
	double sum = 0;

	for (int i = 0; i < TOP_CAUSES; i++)
		sum += row->drop_pps[i];
	return sum;
}

static void add_causes(const struct top_row *row, struct strbuf *out)
{
	const char *between = "  ";

	for (int i = 0; i < TOP_CAUSES; i++) {
		if (row->drop_pps[i] <= 0)
			continue;
		strbuf_addf(out, "%s%s", between, top_cause_name((enum top_cause)i));
		between = ", ";
	}
}

static void add_row(const struct widths *w, const struct top_row *row, struct strbuf *out)
{
	strbuf_addf(out, "%-*s  %-*s %9.0f %9.0f %10.2f %10.2f %9.0f %8" PRId64, w->node, row->node,
		    w->dev, row->dev ? row->dev : "(sockets, rules)", row->rx_pps, row->tx_pps,
		    row->rx_Bps * 8 / 1e6, row->tx_Bps * 8 / 1e6, all_drops(row),
		    row->waiting_packets);
	add_causes(row, out);
	strbuf_addc(out, '\n');
}

/* The same qdisc or class in the reading before. */
static const json_t *earlier(const struct top_row *row, const char *list, const char *key,
			     const json_t *of)
{
	const json_t *q;
	size_t i;

	json_array_foreach(json_object_get(row->before, list), i,
			   q) if (str_eq(json_string_value(json_object_get(q, key)),
					 json_string_value(json_object_get(of, key)))) return q;
	return NULL;
}

static void add_queue(const struct top *t, const struct widths *w, const char *name,
		      const json_t *before, const json_t *after, struct strbuf *out)
{
	struct reader r = {.seconds = t->interval_s};

	strbuf_addf(out, "%-*s  %-*s %9s %9.0f %10s %10.2f %9.0f %8" PRId64 "\n", w->node, "",
		    w->dev, name, "",
		    rate(&r, number(before, "sent_packets"), number(after, "sent_packets")), "",
		    rate(&r, number(before, "sent_bytes"), number(after, "sent_bytes")) * 8 / 1e6,
		    rate(&r, number(before, "dropped"), number(after, "dropped")),
		    number(after, "backlog_packets"));
}

static void add_queues(const struct top *t, const struct widths *w, const struct top_row *row,
		       struct strbuf *out)
{
	const json_t *q;
	char name[48];
	size_t i;

	json_array_foreach(json_object_get(row->after, "qdiscs"), i, q)
	{
		const char *handle = json_string_value(json_object_get(q, "handle"));

		if (str_eq(handle, "0:")) /* what every device has */
			continue;
		snprintf(name, sizeof(name), "  %s %s",
			 json_string_value(json_object_get(q, "kind")), handle);
		add_queue(t, w, name, earlier(row, "qdiscs", "handle", q), q, out);
	}
	json_array_foreach(json_object_get(row->after, "classes"), i, q)
	{
		if (!number(q, "sent_packets") && !number(q, "dropped"))
			continue;
		snprintf(name, sizeof(name), "  class %s",
			 json_string_value(json_object_get(q, "id")));
		add_queue(t, w, name, earlier(row, "classes", "id", q), q, out);
	}
}

void top_table(const struct top *t, bool queues, struct strbuf *out)
{
	struct widths w = measure(t);

	strbuf_addf(out, "%-*s  %-*s %9s %9s %10s %10s %9s %8s  %s\n", w.node, "node", w.dev,
		    "device", "rx pkt/s", "tx pkt/s", "rx Mbit/s", "tx Mbit/s", "drops/s",
		    "waiting", "dropped by");
	VEC_FOREACH (row, &t->rows) {
		add_row(&w, row, out);
		if (queues && row->after)
			add_queues(t, &w, row, out);
	}
	if (!t->rows.n)
		strbuf_add(out, "nothing moves\n");
}

/* ---- JSON ---- */

static json_t *drops_json(const struct top_row *row)
{
	json_t *o = json_object();

	for (int i = 0; i < TOP_CAUSES; i++)
		json_object_set_new(o, top_cause_name((enum top_cause)i),
				    json_pack("{s:I, s:f}", "packets", (json_int_t)row->dropped[i],
					      "pps", row->drop_pps[i]));
	return o;
}

static json_t *row_json(const struct top_row *row)
{
	static const char *const totals[] = {"rx_packets", "rx_bytes", "tx_packets", "tx_bytes"};
	json_t *o = json_pack("{s:s, s:s?, s:o}", "node", row->node, "device", row->dev, "drops",
			      drops_json(row));

	if (!row->after)
		return o;
	json_object_set_new(o, "rx_pps", json_real(row->rx_pps));
	json_object_set_new(o, "tx_pps", json_real(row->tx_pps));
	json_object_set_new(o, "rx_bps", json_real(row->rx_Bps * 8));
	json_object_set_new(o, "tx_bps", json_real(row->tx_Bps * 8));
	json_object_set_new(o, "backlog_packets", json_integer(row->waiting_packets));
	json_object_set_new(o, "backlog_bytes", json_integer(row->waiting_bytes));
	for (size_t i = 0; i < ARRAY_SIZE(totals); i++)
		json_object_set(o, totals[i], json_object_get(row->after, totals[i]));
	json_object_set(o, "qdiscs", json_object_get(row->after, "qdiscs"));
	json_object_set(o, "classes", json_object_get(row->after, "classes"));
	return o;
}

json_t *top_json(const struct top *t, const json_t *after)
{
	json_t *list = json_array();

	VEC_FOREACH (row, &t->rows)
		json_array_append_new(list, row_json(row));
	return json_pack("{s:i, s:I, s:f, s:o}", "schema_version", 1, "at_ns",
			 (json_int_t)number(after, "at_ns"), "interval_s", t->interval_s,
			 "interfaces", list);
}

/* ---- sar ---- */

/* Full duplex: the busier direction's share of the speed (sysstat's compute_ifutil()). */
static double utilisation(const struct top_row *row)
{
	double most = row->rx_Bps > row->tx_Bps ? row->rx_Bps : row->tx_Bps;

	return row->speed_mbps > 0 ? most * 800 / ((double)row->speed_mbps * 1e6) : 0;
}

void top_sar(const struct top *t, const char *head, const char *when, bool one, struct strbuf *out)
{
	strbuf_addf(out, "\n%-11s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n", head, "IFACE", "rxpck/s",
		    "txpck/s", "rxkB/s", "txkB/s", "rxcmp/s", "txcmp/s", "rxmcst/s", "%ifutil");
	VEC_FOREACH (row, &t->rows) {
		autofree char *name =
		    one ? mem_strdup(row->dev) : mem_printf("%s:%s", row->node, row->dev);

		if (!row->dev)
			continue;
		strbuf_addf(out, "%-11s %9s %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n",
			    when, name, row->rx_pps, row->tx_pps, row->rx_Bps / 1024,
			    row->tx_Bps / 1024, 0.0, 0.0, row->rx_mcast_pps, utilisation(row));
	}
}
