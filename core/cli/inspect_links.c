// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inspect_links: what links are and what happened on them, as rows. It reads nothing from the lab.
 * Called by cmd_inspect.c.
 */
#include "core/cli/inspect_links.h"

#include <inttypes.h>

#include "core/base/units.h"
#include "core/cli/columns.h"
#include "emulator/model/wire_text.h"
#include "emulator/shaper/shaper.h"

/* The shaper of one direction of a link, as it was built. */
static struct shaper_figures shaper_of(const struct source *s, const struct wire_shape *shape,
				       int dev)
{
	struct shaper_figures f = {0};

	if (dev >= 0)
		shaper_figures(shape, s->wire.devs.v[dev].mtu, &s->compile.machine, &f);
	return f;
}

static void add_part(struct strbuf *out, const char *between, const struct strbuf *part)
{
	if (part->len)
		strbuf_addf(out, "%s%s", out->len ? between : "", strbuf_text(part));
}

/* "100 Mbit/s l1, exact, burst 12 kB, queue 250 kB; delay 10 ms by relay" */
static void describe(const struct source *s, const struct wire_link *l, bool ba, struct strbuf *out)
{
	const struct wire_shape *shape = ba ? &l->ba : &l->ab;
	struct shaper_figures f = shaper_of(s, shape, ba ? l->shaper_ba : l->shaper_ab);
	autostr struct strbuf limits = {0}, impairments = {0};
	char text[64];

	wire_text_shape(&limits, shape);
	if (limits.len && l->sum)
		strbuf_add(&limits, " for both directions together");
	if (limits.len)
		strbuf_addf(&limits, ", %s", wire_mode_name(shape->rate.mode));
	if (f.burst_bytes)
		strbuf_addf(&limits, ", burst %s",
			    units_format_size(text, sizeof(text), (int64_t)f.burst_bytes));
	if (f.credit_ns && f.credit_ns < shape->rate.credit_ns)
		strbuf_addf(&limits, ", credit built %s",
			    units_format_time(text, sizeof(text), f.credit_ns));
	if (f.queue_bytes)
		strbuf_addf(&limits, ", queue %s",
			    units_format_size(text, sizeof(text), f.queue_bytes));
	if (f.queue_packets)
		strbuf_addf(&limits, ", queue %" PRIu32 " packets", f.queue_packets);
	wire_text_impair(&impairments, ba ? &l->impair_ba : &l->impair_ab);
	if (impairments.len)
		strbuf_addf(&impairments, " by %s", wire_text_engine(l->engine));
	add_part(out, "; ", &limits);
	add_part(out, "; ", &impairments);
	if (l->connections && !ba)
		strbuf_addf(out, "%sat most %" PRId64 " connections", out->len ? "; " : "",
			    l->connections);
	if (!out->len)
		strbuf_add(out, "unshaped");
}

static void describe_losses(const struct account_direction *d, struct strbuf *out)
{
	char text[32];

	for (size_t i = 0; i < d->n_lost; i++)
		account_describe(&d->lost[i], out);
	if (d->waiting)
		strbuf_addf(out, "%s%s wait", out->len ? ", " : "",
			    account_number(text, d->waiting));
	if (d->duplicated)
		strbuf_addf(out, "%s%s twice", out->len ? ", " : "",
			    account_number(text, d->duplicated));
	/* What is between two counters while traffic runs is no loss, but not told yet. */
	if (d->hole)
		strbuf_addf(out, "%s%s unexplained", out->len ? ", " : "",
			    account_number(text, d->hole));
}

static void add_direction(struct columns *c, const struct source *s, int link, bool ba,
			  const struct account_direction *d)
{
	const struct wire *w = &s->wire;
	const struct wire_link *l = &w->links.v[link];
	const char *a = w->nodes.v[w->devs.v[l->dev_a].node].name;
	const char *b = w->nodes.v[w->devs.v[l->dev_b].node].name;
	autostr struct strbuf what = {0}, lost = {0};
	char number[32];

	describe(s, l, ba, &what);
	columns_add(c, ba ? "" : l->name);
	columns_addf(c, "%s → %s", ba ? b : a, ba ? a : b);
	columns_add(c, strbuf_text(&what));
	columns_add(c, d ? account_number(number, d->entered) : "");
	columns_add(c, d ? account_number(number, d->left) : "");
	if (d)
		describe_losses(d, &lost);
	columns_add(c, strbuf_text(&lost));
}

void inspect_links_print(const struct source *s, const struct account *a, struct strbuf *out)
{
	static const char *const head[] = {"link",    "way",  "limits, impairments",
					   "entered", "left", "lost, packets"};
	struct columns c;

	columns_init(&c, ARRAY_SIZE(head));
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		columns_add(&c, head[i]);
	for (size_t i = 0; i < s->wire.links.n; i++)
		for (int ba = 0; ba < 2; ba++)
			add_direction(&c, s, (int)i, ba, account_find(a, (int)i, ba));
	columns_print(&c, "", out);
	columns_done(&c);
}

void inspect_nodes_lost(const struct account *a, struct strbuf *out)
{
	autostr struct strbuf text = {0};

	VEC_FOREACH (l, &a->elsewhere)
		account_describe(l, &text);
	if (text.len)
		strbuf_addf(out, "\nin nodes: %s\n", strbuf_text(&text));
}
