// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inspect: what a running lab consists of: nodes, devices, addresses, links with their limits.
 *
 * It shows what the lab should be (compiled from its own topology); `vpclab check` compares that
 * with the kernel.
 */
#include "core/base/addr.h"
#include "core/base/units.h"
#include "core/cli/command.h"
#include "core/cli/columns.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "emulator/shaper/shaper.h"

struct inspect_options {
	bool json;
};

static json_t *addresses_json(const struct wire_dev *d)
{
	json_t *list = json_array();
	char text[ADDR_TEXT];

	VEC_FOREACH (a, &d->addrs)
		json_array_append_new(list, json_string(prefix_format(text, &a->prefix)));
	return list;
}

static json_t *device_json(const struct wire *w, const struct wire_dev *d)
{
	char mac[ADDR_TEXT];
	json_t *j =
	    json_pack("{s:s,s:s,s:i,s:i,s:o}", "name", d->name, "mac", mac_format(mac, &d->mac),
		      "ifindex", d->ifindex, "mtu_bytes", d->mtu, "addresses", addresses_json(d));

	if (d->altname)
		json_object_set_new(j, "altname", json_string(d->altname));
	if (d->master >= 0)
		json_object_set_new(j, "bridge", json_string(w->devs.v[d->master].name));
	if (d->kind == DEV_VXLAN)
		json_object_set_new(j, "vni", json_integer(d->vni));
	if (d->kind == DEV_VETH && d->peer >= 0) {
		const struct wire_dev *peer = &w->devs.v[d->peer];

		json_object_set_new(j, "peer",
				    json_pack("{s:s,s:s}", "node", w->nodes.v[peer->node].name,
					      "device", peer->name));
	}
	return j;
}

static json_t *nodes_json(const struct wire *w)
{
	json_t *list = json_array();

	for (size_t i = 0; i < w->nodes.n; i++) {
		const struct wire_node *n = &w->nodes.v[i];
		json_t *devices = json_array();

		VEC_FOREACH (d, &w->devs)
			if (d->node == (int)i)
				json_array_append_new(devices, device_json(w, d));
		json_t *j = json_pack("{s:s,s:s,s:o}", "name", n->name, "kind",
				      wire_node_kind_name(n->kind), "devices", devices);
		if (n->host >= 0)
			json_object_set_new(j, "host", json_string(w->nodes.v[n->host].name));
		json_array_append_new(list, j);
	}
	return list;
}

/* The qdisc of one direction of a link, as it was built. */
static struct shaper_figures shaper_of(const struct source *s, const struct wire_shape *shape,
				       int dev)
{
	struct shaper_figures f = {0};

	if (dev >= 0)
		shaper_figures(shape, s->wire.devs.v[dev].mtu, &s->compile.machine, &f);
	return f;
}

static json_t *rate_json(const struct source *s, const struct wire_shape *shape, int dev)
{
	struct shaper_figures f = shaper_of(s, shape, dev);
	const struct wire_rate *r = &shape->rate;

	if (!r->bps)
		return json_null();
	return json_pack("{s:I,s:s,s:s,s:I,s:I}", "rate_bps", (json_int_t)r->bps, "basis",
			 wire_basis_name(r->basis), "mode", wire_mode_name(r->mode), "burst_bytes",
			 (json_int_t)f.burst_bytes, "queue_bytes", (json_int_t)f.queue_bytes);
}

static json_t *links_json(const struct source *s)
{
	const struct wire *w = &s->wire;
	json_t *list = json_array();

	VEC_FOREACH (l, &w->links)
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:s,s:o,s:o}", "name", l->name, "a",
						w->nodes.v[w->devs.v[l->dev_a].node].name, "b",
						w->nodes.v[w->devs.v[l->dev_b].node].name, "ab",
						rate_json(s, &l->ab, l->shaper_ab), "ba",
						rate_json(s, &l->ba, l->shaper_ba)));
	return list;
}

static json_t *endpoints_json(const struct wire *w)
{
	json_t *list = json_array();
	char text[ADDR_TEXT];

	VEC_FOREACH (e, &w->endpoints) {
		json_t *j =
		    json_pack("{s:s,s:s}", "name", e->name, "node", w->nodes.v[e->node].name);

		if (e->ip4.family)
			json_object_set_new(j, "ipv4", json_string(ip_format(text, &e->ip4)));
		if (e->ip6.family)
			json_object_set_new(j, "ipv6", json_string(ip_format(text, &e->ip6)));
		json_array_append_new(list, j);
	}
	return list;
}

static void join_addresses(const struct wire_dev *d, struct strbuf *out)
{
	char text[ADDR_TEXT];

	VEC_FOREACH (a, &d->addrs)
		strbuf_addf(out, "%s%s", out->len ? " " : "", prefix_format(text, &a->prefix));
}

/* A row a device; the node's name stands on its first row. */
static void add_device(struct columns *c, const struct wire *w, const struct wire_dev *d,
		       const char *node, const char *kind)
{
	autostr struct strbuf addresses = {0};
	char mac[ADDR_TEXT];

	join_addresses(d, &addresses);
	columns_add(c, node);
	columns_add(c, kind);
	columns_add(c, d->name);
	columns_add(c, mac_format(mac, &d->mac));
	columns_addf(c, "%d", d->mtu);
	if (d->master >= 0)
		columns_addf(c, "port of %s", w->devs.v[d->master].name);
	else if (d->kind == DEV_BRIDGE)
		columns_add(c, "bridge");
	else if (d->kind == DEV_VETH && d->peer >= 0)
		columns_addf(c, "to %s %s", w->nodes.v[w->devs.v[d->peer].node].name,
			     w->devs.v[d->peer].name);
	else
		columns_add(c, "");
	columns_add(c, strbuf_text(&addresses));
}

static void print_nodes(const struct wire *w, struct strbuf *out)
{
	static const char *const head[] = {"node", "kind",     "device",   "mac",
					   "mtu",  "attached", "addresses"};
	struct columns c;

	columns_init(&c, ARRAY_SIZE(head));
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		columns_add(&c, head[i]);
	for (size_t i = 0; i < w->nodes.n; i++) {
		const char *name = w->nodes.v[i].name;
		const char *kind = wire_node_kind_name(w->nodes.v[i].kind);

		VEC_FOREACH (d, &w->devs) {
			if (d->node != (int)i)
				continue;
			add_device(&c, w, d, name, kind);
			name = kind = "";
		}
	}
	columns_print(&c, "", out);
	columns_done(&c);
}

static void add_rate(struct columns *c, const struct source *s, const struct wire_shape *shape,
		     int dev)
{
	struct shaper_figures f = shaper_of(s, shape, dev);
	const struct wire_rate *r = &shape->rate;
	char rate[64], burst[64], queue[64];

	if (!r->bps) {
		columns_add(c, "unshaped");
		return;
	}
	columns_addf(c, "%s %s %s, burst %s, queue %s",
		     units_format_rate(rate, sizeof(rate), (double)r->bps),
		     wire_basis_name(r->basis), wire_mode_name(r->mode),
		     units_format_size(burst, sizeof(burst), (int64_t)f.burst_bytes),
		     units_format_size(queue, sizeof(queue), f.queue_bytes));
}

static void print_links(const struct source *s, struct strbuf *out)
{
	static const char *const head[] = {"link", "a", "b", "a→b", "b→a"};
	const struct wire *w = &s->wire;
	struct columns c;

	columns_init(&c, ARRAY_SIZE(head));
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		columns_add(&c, head[i]);
	VEC_FOREACH (l, &w->links) {
		columns_add(&c, l->name);
		columns_add(&c, w->nodes.v[w->devs.v[l->dev_a].node].name);
		columns_add(&c, w->nodes.v[w->devs.v[l->dev_b].node].name);
		add_rate(&c, s, &l->ab, l->shaper_ab);
		add_rate(&c, s, &l->ba, l->shaper_ba);
	}
	columns_print(&c, "", out);
	columns_done(&c);
}

static void inspect_text(const struct source *s)
{
	autostr struct strbuf text = {0};

	strbuf_addf(&text, "%s", lab_name(s->lab));
	if (s->wire.description)
		strbuf_addf(&text, ": %s", s->wire.description);
	strbuf_add(&text, "\n\n");
	print_nodes(&s->wire, &text);
	strbuf_addc(&text, '\n');
	print_links(s, &text);
	print_text(&text);
}

static int inspect_run(const struct call *call, struct err *err)
{
	const struct inspect_options *o = call->options;
	struct source s;
	int ret = source_open_lab(call->argv[0], &s, err);

	if (!ret && o->json)
		ret = print_json(json_pack("{s:s,s:o,s:o,s:o,s:O?}", "name", lab_name(s.lab),
					   "nodes", nodes_json(&s.wire), "links", links_json(&s),
					   "endpoints", endpoints_json(&s.wire), "choices",
					   json_object_get(lab_state(s.lab), "plan_choices")));
	else if (!ret)
		inspect_text(&s);
	source_done(&s);
	return ret;
}

static const struct option_def option_defs[] = {
    OPT_JSON(struct inspect_options, json),
};

const struct command cmd_inspect = {
    .name = "inspect",
    .summary = "show nodes, devices, addresses and links of a lab",
    .operands = "[LAB]",
    .operand_kind = OPERAND_LAB,
    .max_operands = 1,
    .description = "LAB may be left out when only one is up. Of each direction of a link it shows "
		   "the rate and\n"
		   "the shaper's burst and queue, as `vpclab up` chose them for this machine.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct inspect_options),
    .run = inspect_run,
};
