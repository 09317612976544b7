// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * path: the way of a packet from one endpoint to another, hop by hop, with every translation, and
 * the way back. From the model; it sends nothing.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "core/cli/command.h"
#include "core/cli/columns.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "core/base/units.h"
#include "emulator/model/path.h"

struct path_options {
	bool ipv6, back, json;
};

static const char *device_name(const struct wire *w, int dev)
{
	return dev >= 0 ? w->devs.v[dev].name : NULL;
}

static const struct wire_rate *hop_rate(const struct wire *w, const struct path_hop *h)
{
	return h->shaper >= 0 && w->devs.v[h->shaper].egress.rate.bps
		   ? &w->devs.v[h->shaper].egress.rate
		   : NULL;
}

static json_t *hops_json(const struct wire *w, const struct path *p)
{
	json_t *list = json_array();

	VEC_FOREACH (h, &p->hops) {
		const struct wire_rate *rate = hop_rate(w, h);
		json_t *j = json_pack("{s:s,s:s?,s:s?,s:s?,s:i}", "node", w->nodes.v[h->node].name,
				      "device_in", device_name(w, h->dev_in), "device_out",
				      device_name(w, h->dev_out), "text", h->text, "encap_bytes",
				      h->encap_bytes);

		if (rate)
			json_object_set_new(j, "limit",
					    json_pack("{s:I,s:s}", "rate_bps",
						      (json_int_t)rate->bps, "basis",
						      wire_basis_name(rate->basis)));
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *path_json(const struct wire *w, const struct path *p, const struct path *back)
{
	char seen[ADDR_TEXT], final[ADDR_TEXT];

	return json_pack("{s:i,s:s,s:s,s:s,s:o,s:o}", "mtu_bytes", p->mtu, "destination_node",
			 w->nodes.v[p->dst_node].name, "source_seen", ip_format(seen, &p->src_seen),
			 "destination_final", ip_format(final, &p->dst_final), "hops",
			 hops_json(w, p), "hops_back", hops_json(w, back));
}

static void add_hop(struct columns *c, const struct wire *w, const struct path_hop *h)
{
	const struct wire_rate *rate = hop_rate(w, h);
	const char *in = device_name(w, h->dev_in), *out = device_name(w, h->dev_out);
	char text[64];

	columns_add(c, w->nodes.v[h->node].name);
	columns_addf(c, "%s%s%s", in ? in : "", in && out ? " → " : "", out ? out : "");
	columns_add(c, h->text);
	if (rate)
		columns_addf(c, "%s %s", units_format_rate(text, sizeof(text), (double)rate->bps),
			     wire_basis_name(rate->basis));
	else if (h->encap_bytes)
		columns_addf(c, "+%d bytes", h->encap_bytes);
	else
		columns_add(c, "");
}

static void print_hops(const struct wire *w, const struct path *p, struct strbuf *out)
{
	struct columns c;

	columns_init(&c, 4);
	VEC_FOREACH (h, &p->hops)
		add_hop(&c, w, h);
	columns_print(&c, "  ", out);
	columns_done(&c);
}

/* The way back in short: where it is translated. */
static void print_back(const struct wire *w, const struct path *back, struct strbuf *out)
{
	bool any = false;

	VEC_FOREACH (h, &back->hops) {
		const char *nat = h->text ? strstr(h->text, "NAT ") : NULL;

		if (!nat)
			continue;
		while (nat > h->text && nat[-1] != ' ')
			nat--;
		strbuf_addf(out, "  back: %s at %s\n", nat, w->nodes.v[h->node].name);
		any = true;
	}
	if (!any)
		strbuf_add(out, "  back: no translation\n");
}

static void path_text(const struct wire *w, const struct path *p, const struct path *back,
		      bool whole_back)
{
	autostr struct strbuf text = {0};
	char seen[ADDR_TEXT], final[ADDR_TEXT];

	print_hops(w, p, &text);
	strbuf_addf(&text, "  %s sees %s → %s, MTU %d on the way\n", w->nodes.v[p->dst_node].name,
		    ip_format(seen, &p->src_seen), ip_format(final, &p->dst_final), p->mtu);
	if (whole_back) {
		strbuf_add(&text, "back:\n");
		print_hops(w, back, &text);
	} else {
		print_back(w, back, &text);
	}
	print_text(&text);
}

/* "[LAB|FILE:]SRC": what is before the last colon, or NULL; *src is what follows it. */
static char *split_source(const char *text, const char **src)
{
	const char *colon = strrchr(text, ':');

	*src = colon ? colon + 1 : text;
	return colon ? mem_printf("%.*s", (int)(colon - text), text) : NULL;
}

static int find_both(const struct source *s, const char *src, const struct call *call,
		     struct err *err)
{
	const struct path_options *o = call->options;
	struct path there, back;
	int ret =
	    path_find(&s->wire, src, call->argv[1], o->ipv6 ? AF_INET6 : AF_INET, &there, err);

	if (!ret) {
		ret = path_reverse(&s->wire, &there, &back, err);
		if (!ret && o->json)
			print_json(path_json(&s->wire, &there, &back));
		else if (!ret)
			path_text(&s->wire, &there, &back, o->back);
		path_done(&back);
	}
	path_done(&there);
	return ret;
}

static int path_run(const struct call *call, struct err *err)
{
	const char *src;
	autofree char *where = split_source(call->argv[0], &src);
	struct source s;
	int ret = source_open(where, &s, err);

	if (!ret)
		ret = find_both(&s, src, call, err);
	source_done(&s);
	return ret;
}

static const struct option_def option_defs[] = {
    {"ipv6", '6', OPT_FLAG, NULL, "follow an IPv6 packet", OPT_AT(struct path_options, ipv6), NULL,
     0, 0},
    OPT_JSON(struct path_options, json),
};

const struct command cmd_path = {
    .name = "path",
    .summary = "follow a packet hop by hop, with every translation",
    .operands = "[LAB|FILE:]SRC DST",
    .operand_kind = OPERAND_NODE,
    .min_operands = 2,
    .max_operands = 2,
    .description =
	"SRC and DST are VMs, machines or addresses of services, such as eip(web). The way is\n"
	"computed from the model of a running lab or of a topology file:\n"
	"\n"
	"    vpclab path zstack:client 'eip(vpc-eip)'",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct path_options),
    .run = path_run,
};
