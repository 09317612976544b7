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
#include "emulator/model/path.h"
#include "emulator/model/wire_text.h"

struct path_options {
	bool ipv6, back, json;
};

static const char *device_name(const struct wire *w, int dev)
{
	return dev >= 0 ? w->devs.v[dev].name : NULL;
}

static const struct wire_shape *hop_shape(const struct wire *w, const struct path_hop *h)
{
	return h->shaper >= 0 ? &w->devs.v[h->shaper].egress : NULL;
}

static bool is_sum(const struct wire *w, const struct path_hop *h)
{
	int link = w->devs.v[h->shaper].egress_link;

	return link >= 0 && w->links.v[link].sum;
}

/* NULL, or what is done to packets that leave here; *link is whose it is. */
static const struct wire_impair *hop_impair(const struct wire *w, const struct path_hop *h,
					    const struct wire_link **link)
{
	const struct wire_link *l = h->impair_link < 0 ? NULL : &w->links.v[h->impair_link];
	const struct wire_impair *i = !l ? NULL : h->impair_ba ? &l->impair_ba : &l->impair_ab;

	*link = l;
	return i && i->given ? i : NULL;
}

static void set_figure(json_t *j, const char *key, int64_t v)
{
	if (v)
		json_object_set_new(j, key, json_integer((json_int_t)v));
}

static json_t *shape_json(const struct wire_shape *s, bool sum)
{
	autostr struct strbuf text = {0};
	json_t *j = json_object();

	wire_text_shape(&text, s);
	set_figure(j, "rate_bps", s->rate.bps);
	json_object_set_new(j, "both_directions_together", json_boolean(sum));
	json_object_set_new(j, "basis", json_string(wire_basis_name(s->rate.basis)));
	set_figure(j, "burst_rate_bps", s->rate.burst_bps);
	set_figure(j, "credit_ns", s->rate.credit_ns);
	set_figure(j, "packets_per_s", s->pps.pps);
	set_figure(j, "queues", s->queues.count);
	set_figure(j, "queue_rate_bps", s->queues.bps_each);
	set_figure(j, "queue_packets_per_s", s->queues.pps_each);
	set_figure(j, "flow_rate_bps", s->flow_bps);
	json_object_set_new(j, "text", json_string(strbuf_text(&text)));
	return j;
}

static json_t *impair_json(const struct wire_link *l, const struct wire_impair *i)
{
	autostr struct strbuf text = {0};

	wire_text_impair(&text, i);
	return json_pack("{s:s,s:s,s:I,s:I,s:s}", "link", l->name, "by",
			 wire_text_engine(l->engine), "delay_ns", (json_int_t)i->delay_ns,
			 "jitter_ns", (json_int_t)i->jitter_ns, "text", strbuf_text(&text));
}

static json_t *hops_json(const struct wire *w, const struct path *p)
{
	json_t *list = json_array();

	VEC_FOREACH (h, &p->hops) {
		const struct wire_shape *shape = hop_shape(w, h);
		const struct wire_link *l;
		const struct wire_impair *impair = hop_impair(w, h, &l);
		json_t *j = json_pack("{s:s,s:s?,s:s?,s:s?,s:i}", "node", w->nodes.v[h->node].name,
				      "device_in", device_name(w, h->dev_in), "device_out",
				      device_name(w, h->dev_out), "text", h->text, "encap_bytes",
				      h->encap_bytes);

		if (shape)
			json_object_set_new(j, "limit", shape_json(shape, is_sum(w, h)));
		if (impair)
			json_object_set_new(j, "impairment", impair_json(l, impair));
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

/* "1 Gbit/s l1", "delay 10 ms, loss 1 % (relay)", both, or what a tunnel adds. */
static void add_effects(struct columns *c, const struct wire *w, const struct path_hop *h)
{
	const struct wire_shape *shape = hop_shape(w, h);
	const struct wire_link *l;
	const struct wire_impair *impair = hop_impair(w, h, &l);
	autostr struct strbuf text = {0};

	if (shape) {
		wire_text_shape(&text, shape);
		strbuf_add(&text, is_sum(w, h) ? " (both directions together)" : "");
	}
	if (impair) {
		size_t begin = text.len;

		strbuf_add(&text, begin ? "; " : "");
		wire_text_impair(&text, impair);
		strbuf_addf(&text, "%s(%s)", text.len > begin ? " " : "",
			    wire_text_engine(l->engine));
	}
	if (!text.len && h->encap_bytes)
		strbuf_addf(&text, "+%d bytes", h->encap_bytes);
	columns_add(c, strbuf_text(&text));
}

static void add_hop(struct columns *c, const struct wire *w, const struct path_hop *h)
{
	const char *in = device_name(w, h->dev_in), *out = device_name(w, h->dev_out);

	columns_add(c, w->nodes.v[h->node].name);
	columns_addf(c, "%s%s%s", in ? in : "", in && out ? " → " : "", out ? out : "");
	columns_add(c, h->text);
	add_effects(c, w, h);
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
	if (w->scale_num != w->scale_den)
		strbuf_addf(&text, "  rates are %lld/%lld of what is declared\n",
			    (long long)w->scale_num, (long long)w->scale_den);
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
	"computed from the model of a running lab or of a topology file. Beside a hop stands what\n"
	"limits packets that leave there, and what a link does to them: delay, loss, …\n"
	"\n"
	"    vpclab path zstack:client 'eip(vpc-eip)'",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct path_options),
    .run = path_run,
};
