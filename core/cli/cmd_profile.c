// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile: the shipped profiles of vNICs: lists them, shows one. Topologies use them by name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/share.h"
#include "core/base/units.h"
#include "core/cli/columns.h"
#include "core/cli/command.h"
#include "core/cli/data.h"
#include "core/cli/print.h"
#include "emulator/model/profile.h"

#define WIDTH 80 /* of what stands beside a word */

struct profile_options {
	bool json;
};

/* ---- reading ---- */

static int unknown_provider(const char *provider, const struct share_names *all, struct err *err)
{
	const char *near = str_suggest(provider, all->list.v, all->list.n);
	autostr struct strbuf names = {0};

	VEC_FOREACH (name, &all->list)
		strbuf_addf(&names, "%s%s", names.len ? ", " : "", *name);
	if (!all->list.n) {
		err_input(err, "there are no profiles beside this program, neither installed ones "
			       "(../share/vpclab) nor those of the sources (../topologies)");
		return -ENOENT;
	}
	err_input(err,
		  near ? "there are no profiles of '%s'; did you mean '%s'?"
		       : "there are no profiles of '%s'; there are those of %s",
		  provider, near ? near : strbuf_text(&names));
	return -ENOENT;
}

static bool is_in(const struct share_names *all, const char *name)
{
	VEC_FOREACH (n, &all->list) {
		if (str_eq(*n, name))
			return true;
	}
	return false;
}

/* All profiles of one of `names`. profiles_done() is needed after 0 only. */
static int read_provider(const char *provider, const struct share_names *names,
			 struct profiles *out, struct err *err)
{
	autofree char *path = NULL, *text = NULL;
	struct topology_file file = {0};
	struct problems p;
	int ret;

	if (!is_in(names, provider))
		return unknown_provider(provider, names, err);
	ret = data_find(DATA_PROFILES, provider, &path, err);
	if (!ret)
		ret = file_read(path, &text, &file.len, err);
	if (ret)
		return ret;
	autofree char *name = mem_printf("profiles/%s.yaml", provider);

	file.name = name;
	file.text = text;
	problems_init(&p);
	profiles_read(&file, out, &p);
	if (problems_count(&p)) {
		autostr struct strbuf all = {0};

		problems_print(&p, &all);
		ret = err_input(err, "%s has problems:\n%s", path, strbuf_text(&all));
		profiles_done(out);
	}
	problems_done(&p);
	return ret;
}

/* ---- figures ---- */

static void add_rate(const struct wire_rate *r, struct strbuf *out)
{
	char text[32], burst[32], credit[32];

	if (!r->bps)
		return;
	strbuf_add(out, units_format_rate(text, sizeof(text), (double)r->bps));
	if (r->burst_bps)
		strbuf_addf(out, ", %s for %s",
			    units_format_rate(burst, sizeof(burst), (double)r->burst_bps),
			    units_format_time(credit, sizeof(credit), r->credit_ns));
	if (r->police)
		strbuf_add(out, ", what is over it is dropped");
}

static const char *format_pps(char buf[static 32], int64_t pps)
{
	snprintf(buf, 32, pps >= 1000000 ? "%g Mpps" : "%g kpps",
		 (double)pps / (pps >= 1000000 ? 1e6 : 1e3));
	return buf;
}

static void add_queues(const struct wire_queues *q, struct strbuf *out)
{
	char text[32];

	if (!q->count)
		return;
	strbuf_addf(out, "%d", q->count);
	if (q->pps_each)
		strbuf_addf(out, ", %s each", format_pps(text, q->pps_each));
	if (q->bps_each)
		strbuf_addf(out, ", %s each",
			    units_format_rate(text, sizeof(text), (double)q->bps_each));
}

static void set_int(json_t *j, const char *key, int64_t v)
{
	json_object_set_new(j, key, v ? json_integer(v) : json_null());
}

static json_t *profile_json(const struct profile *p)
{
	const struct wire_shape *s = &p->shape;
	json_t *j = json_pack("{s:s,s:s?,s:s,s:s}", "name", p->name, "note", p->note, "direction",
			      p->direction, "basis", wire_basis_name(s->rate.basis));

	set_int(j, "rate_bps", s->rate.bps);
	set_int(j, "burst_bps", s->rate.burst_bps);
	json_object_set_new(j, "credit_s",
			    s->rate.burst_bps ? json_real((double)s->rate.credit_ns / 1e9)
					      : json_null());
	json_object_set_new(j, "rate_policed", json_boolean(s->rate.police));
	set_int(j, "packets_per_s", s->pps.pps);
	json_object_set_new(j, "packets_policed", json_boolean(s->pps.police));
	set_int(j, "queues", s->queues.count);
	set_int(j, "queue_bps", s->queues.bps_each);
	set_int(j, "queue_packets_per_s", s->queues.pps_each);
	set_int(j, "per_flow_bps", s->flow_bps);
	set_int(j, "connections", p->connections);
	set_int(j, "mtu_bytes", p->mtu);
	set_int(j, "vcpu", p->vcpu);
	json_object_set_new(j, "memory_gib",
			    p->memory_gib > 0 ? json_real(p->memory_gib) : json_null());
	json_object_set_new(j, "source", p->source ? json_string(p->source) : json_null());
	json_object_set_new(j, "date", p->date ? json_string(p->date) : json_null());
	return j;
}

/* ---- ls ---- */

static void add_cell(struct columns *c, void (*fn)(const struct wire_rate *, struct strbuf *),
		     const struct wire_rate *r)
{
	autostr struct strbuf text = {0};

	fn(r, &text);
	columns_add(c, strbuf_text(&text));
}

static void add_row(struct columns *c, const struct profile *p)
{
	autostr struct strbuf queues = {0};
	char pps[32];

	columns_add(c, p->name);
	add_cell(c, add_rate, &p->shape.rate);
	columns_add(c, p->shape.pps.pps ? format_pps(pps, p->shape.pps.pps) : "");
	add_queues(&p->shape.queues, &queues);
	columns_add(c, strbuf_text(&queues));
	if (p->connections)
		columns_addf(c, "%" PRId64, p->connections);
	else
		columns_add(c, "");
	columns_add(c, p->direction);
}

static void print_profiles(const struct profiles *all)
{
	static const char *const head[] = {"profile", "rate",	     "packets/s",
					   "queues",  "connections", "counts"};
	autostr struct strbuf text = {0};
	struct columns c;

	columns_init(&c, ARRAY_SIZE(head));
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		columns_add(&c, head[i]);
	VEC_FOREACH (p, &all->list)
		add_row(&c, p);
	columns_print(&c, "", &text);
	print_text(&text);
	columns_done(&c);
}

static int list_provider(const char *provider, const struct share_names *names, bool json,
			 struct err *err)
{
	struct profiles all;
	int ret = read_provider(provider, names, &all, err);

	if (ret)
		return ret;
	if (json) {
		json_t *list = json_array();

		VEC_FOREACH (p, &all.list)
			json_array_append_new(list, profile_json(p));
		print_json(json_pack("{s:s,s:o}", "provider", provider, "profiles", list));
	} else {
		print_profiles(&all);
	}
	profiles_done(&all);
	return EXIT_PASS;
}

/* Without a provider: who there is, and how many profiles each has. */
static int list_providers(const struct share_names *names, bool json, struct err *err)
{
	json_t *list = json_array();
	struct columns c;
	int ret = 0;

	columns_init(&c, 3);
	columns_add(&c, "provider");
	columns_add(&c, "profiles");
	columns_add(&c, "what");
	for (size_t i = 0; !ret && i < names->list.n; i++) {
		struct profiles all;

		ret = read_provider(names->list.v[i], names, &all, err);
		if (ret)
			break;
		columns_add(&c, names->list.v[i]);
		columns_addf(&c, "%zu", all.list.n);
		columns_add(&c, all.description);
		json_array_append_new(
		    list, json_pack("{s:s,s:I,s:s?}", "provider", names->list.v[i], "profiles",
				    (json_int_t)all.list.n, "description", all.description));
		profiles_done(&all);
	}
	if (!ret && json) {
		print_json(json_pack("{s:O}", "providers", list));
	} else if (!ret) {
		autostr struct strbuf text = {0};

		columns_print(&c, "", &text);
		strbuf_add(&text, "\nvpclab profile ls PROVIDER lists them.\n");
		print_text(&text);
	}
	json_decref(list);
	columns_done(&c);
	return ret;
}

/* ---- show ---- */

/* A line, or several of at most WIDTH bytes. */
static void add_line(struct columns *c, const char *what, const char *text)
{
	while (text && *text) {
		size_t len = strlen(text), n = len;

		if (len > WIDTH)
			for (n = WIDTH; n && text[n] != ' '; n--)
				;
		n = n ? n : len;
		columns_add(c, what);
		columns_addf(c, "%.*s", (int)n, text);
		text += n + (text[n] == ' ');
		what = "";
	}
}

static void add_instance(struct columns *c, const struct profile *p)
{
	autostr struct strbuf text = {0};

	if (p->vcpu)
		strbuf_addf(&text, "%d vCPU", p->vcpu);
	if (p->memory_gib > 0)
		strbuf_addf(&text, "%s%g GiB", text.len ? ", " : "", p->memory_gib);
	add_line(c, "instance", strbuf_text(&text));
}

static void add_caps(struct columns *c, const struct profile *p)
{
	static const char *const what[] = {"each",   "each direction by itself",
					   "sum",    "the sum of both directions, in one bucket",
					   "egress", "what the VM sends"};
	autostr struct strbuf rate = {0}, queues = {0}, pps = {0}, connections = {0};
	const struct wire_shape *s = &p->shape;
	char text[32];

	add_rate(&s->rate, &rate);
	add_line(c, "rate", strbuf_text(&rate));
	if (s->rate.bps)
		add_line(c, "basis", wire_basis_name(s->rate.basis));
	if (s->pps.pps)
		strbuf_addf(&pps, "%s%s", format_pps(text, s->pps.pps),
			    s->pps.police ? ", what is over it is dropped" : "");
	add_line(c, "packets/s", strbuf_text(&pps));
	for (size_t i = 0; i < ARRAY_SIZE(what); i += 2)
		if (str_eq(what[i], p->direction))
			add_line(c, "counts", what[i + 1]);
	add_queues(&s->queues, &queues);
	add_line(c, "queues", strbuf_text(&queues));
	if (s->flow_bps)
		add_line(c, "one flow", units_format_rate(text, sizeof(text), (double)s->flow_bps));
	if (p->connections)
		strbuf_addf(&connections, "%" PRId64, p->connections);
	add_line(c, "connections", strbuf_text(&connections));
}

static void print_profile(const struct profile *p)
{
	autostr struct strbuf text = {0};
	struct columns c;

	columns_init(&c, 2);
	add_instance(&c, p);
	add_caps(&c, p);
	add_line(&c, "source", p->source);
	add_line(&c, "date", p->date);
	add_line(&c, "note", p->note);
	strbuf_addf(&text, "%s\n", p->name);
	columns_print(&c, "  ", &text);
	print_text(&text);
	columns_done(&c);
}

static int unknown_profile(const char *name, const struct profiles *all, struct err *err)
{
	autofree const char **names = mem_zalloc((all->list.n + 1) * sizeof(*names));
	const char *near;

	for (size_t i = 0; i < all->list.n; i++)
		names[i] = all->list.v[i].name;
	near = str_suggest(name, names, all->list.n);
	if (near)
		err_input(err, "there is no profile '%s'; did you mean '%s'?", name, near);
	else
		err_input(err, "there is no profile '%s'; vpclab profile ls %.*s lists them", name,
			  (int)strcspn(name, "/"), name);
	return -ENOENT;
}

static int show(const char *name, const struct share_names *names, bool json, struct err *err)
{
	autofree char *provider = mem_printf("%.*s", (int)strcspn(name, "/"), name);
	const struct profile *found = NULL;
	struct profiles all;
	int ret = read_provider(provider, names, &all, err);

	if (ret)
		return ret;
	VEC_FOREACH (p, &all.list) {
		if (str_eq(p->name, name))
			found = p;
	}
	if (!found)
		ret = unknown_profile(name, &all, err);
	else if (json)
		print_json(profile_json(found));
	else
		print_profile(found);
	profiles_done(&all);
	return ret;
}

static int profile_run(const struct call *call, struct err *err)
{
	const struct profile_options *o = call->options;
	const char *verb = call->argv[0], *name = call->argc > 1 ? call->argv[1] : NULL;
	struct share_names names;
	struct arena a;
	int ret;

	arena_init(&a);
	share_names(DATA_PROFILES, &a, &names);
	if (str_eq(verb, "show"))
		ret = name ? show(name, &names, o->json, err)
			   : err_input(err, "show what? write it like vpclab profile show "
					    "aliyun/ecs.g7a.large");
	else if (!str_eq(verb, "ls"))
		ret = err_input(err, "'%s' is neither ls nor show", verb);
	else if (name)
		ret = list_provider(name, &names, o->json, err);
	else
		ret = list_providers(&names, o->json, err);
	arena_done(&a);
	return ret;
}

static const struct option_def option_defs[] = {
    OPT_JSON(struct profile_options, json),
};

const struct command cmd_profile = {
    .name = "profile",
    .summary = "list and show what clouds sell as a network card",
    .operands = "ls [PROVIDER] | show NAME",
    .min_operands = 1,
    .max_operands = 2,
    .description =
	"Profiles are the caps of instances' network cards as providers publish them or as others\n"
	"measured them, each with its source and date: rate, burst and credit, packets per "
	"second,\n"
	"whether directions count together, queues, connections. A topology says, for a VM or a\n"
	"vNIC, profile: NAME; what is written beside it overrides the profile's figures, and\n"
	"scale: 1/20 makes large ones fit a laptop.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct profile_options),
    .run = profile_run,
};
