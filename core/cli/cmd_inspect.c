// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inspect: what a running lab consists of: nodes, devices, addresses, links with their limits and
 * what became of their packets.
 *
 * It shows what the lab should be (compiled from its own topology), and what the kernel counted;
 * `vpclab check` compares the two.
 */
#include "core/base/addr.h"
#include "core/cli/command.h"
#include "core/cli/columns.h"
#include "core/cli/inspect_links.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "emulator/lab/account.h"
#include "emulator/lab/count.h"
#include "emulator/plan/plan_links.h"

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

static void inspect_text(const struct source *s, const struct account *a)
{
	autostr struct strbuf text = {0};

	strbuf_addf(&text, "%s", lab_name(s->lab));
	if (s->wire.description)
		strbuf_addf(&text, ": %s", s->wire.description);
	strbuf_add(&text, "\n\n");
	print_nodes(&s->wire, &text);
	strbuf_addc(&text, '\n');
	inspect_links_print(s, a, &text);
	inspect_nodes_lost(a, &text);
	print_text(&text);
}

static int inspect_json(const struct source *s, const struct account *a, json_t *counters)
{
	return print_json(json_pack("{s:s,s:o,s:o,s:o,s:O?,s:o,s:O}", "name", lab_name(s->lab),
				    "nodes", nodes_json(&s->wire), "links",
				    plan_links_json(&s->wire, &s->compile.machine), "endpoints",
				    endpoints_json(&s->wire), "choices",
				    json_object_get(lab_state(s->lab), "plan_choices"), "account",
				    account_json(a, &s->wire), "counters", counters));
}

static int inspect_run(const struct call *call, struct err *err)
{
	const struct inspect_options *o = call->options;
	json_t *counters = NULL;
	struct account a = {0};
	struct source s;
	int ret = source_open_lab(call->argv[0], &s, err);

	if (!ret)
		ret = count_snapshot_relays(s.lab, &s.wire, NULL, 0, &counters, err);
	if (!ret)
		account_of(&s.wire, counters, &a);
	if (!ret && o->json)
		ret = inspect_json(&s, &a, counters);
	else if (!ret)
		inspect_text(&s, &a);
	json_decref(counters);
	account_done(&a);
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
    .description =
	"LAB may be left out when only one is up. Of each direction of a link it shows "
	"the\n"
	"limits, the shaper's burst and queue as `vpclab up` chose them for this "
	"machine, the\n"
	"impairments, and the account since the lab is up: packets that entered and left "
	"it,\n"
	"and those lost, by cause and place. While packets are under way some may stand "
	"as\n"
	"unexplained. --json has the whole account, and under counters what each device,\n"
	"queue, class, rule and relay has counted.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct inspect_options),
    .run = inspect_run,
};
