/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_card: a vNIC: its devices, and its caps. Called by compile_vm.c.
 *
 * Without anything shaped in the lab a vNIC is one veth pair into the bridge. With it there is a
 * tap: the VM's packets keep their sending socket across veth pairs and bridges, and a shaper
 * behind them would push back on the application (no UDP datagram is ever lost). nftables' dup
 * hands on a clone, which has no socket; so what a VM sends is taken off its hands, then queued or
 * dropped:
 *
 *   VM:eth0 ── TAP  ⇉ dup, drop ⇉  TAPOUT ── PORT (bridge)
 *                   ⇇ fwd       ⇇
 *
 * TAPOUT's egress has the cap of what the VM sends, TAP's of what it gets. Where one cap counts
 * both, both go through the egress of one more pair, and marks tell them apart behind it:
 *
 *   TAP  ⇉ mark 1, dup, drop ⇉  CAP ── CAPOUT  ⇉ mark 1: fwd ⇉  TAPOUT
 *   TAPOUT  ⇉ mark 2, fwd    ⇉                 ⇉ mark 2: fwd ⇉  TAP
 *
 * Flows are put into the shaper's classes by priority before they are handed on. Packets over a
 * policed rate are dropped by a rule; so is what would be one connection too many, inside the VM,
 * as a cloud's own flow table does it for the VM's port.
 */
#include "emulator/model/compile.h"

#define TABLE "tap"

enum { MARK_SENT = 1, MARK_GOT = 2 }; /* of one vNIC, seen from its VM */

struct card { /* what is at hand while one is made */
	const struct compile_card *spec;
	const char *nth; /* "", "-2", …: what its devices' names on the host have more */
	struct wire_shape sent, got;
	bool sum;
	int eth, tap, out, port, cap, link; /* tap, out, cap: -1 without */
};

/* ---- devices ---- */

static struct compile_dev on_host(struct compile *c, const struct card *card, enum dev_role role,
				  const char *tail)
{
	return (struct compile_dev){
	    .node = card->spec->host,
	    .want = card->spec->name,
	    .tail = arena_printf(&c->scratch, "%s%s", card->nth, tail),
	    .role = role,
	    .mtu = card->spec->mtu,
	    .master = role == ROLE_PORT ? card->spec->bridge : -1,
	};
}

static void set_queues(struct compile *c, const struct card *card)
{
	struct wire_dev *eth = &c->w->devs.v[card->eth], *far = &c->w->devs.v[eth->peer];
	int n = card->sent.queues.count;

	if (n > 1)
		eth->tx_queues = eth->rx_queues = far->tx_queues = far->rx_queues = n;
}

static void add_devs(struct compile *c, struct card *card)
{
	struct compile_dev eth = {
	    .node = card->spec->vm,
	    .want = arena_printf(&c->scratch, "eth%d", card->spec->index),
	    .role = ROLE_VNIC,
	    .mtu = card->spec->mtu_inside,
	    .master = -1,
	};
	struct compile_dev port = on_host(c, card, ROLE_PORT, "");
	struct compile_dev tap = on_host(c, card, ROLE_TAP, "-tap");
	struct compile_dev out = on_host(c, card, ROLE_TAPOUT, "-out");
	struct compile_dev cap = on_host(c, card, ROLE_CAP, "-cap");
	struct compile_dev capout = on_host(c, card, ROLE_CAP, "-cpo");

	card->tap = card->out = card->cap = -1;
	card->eth = compile_dev_veth(c, &eth, c->shaped ? &tap : &port);
	card->port = card->eth + 1;
	if (c->shaped) {
		card->tap = card->eth + 1;
		card->out = compile_dev_veth(c, &out, &port);
		card->port = card->out + 1;
	}
	if (c->shaped && card->sum)
		card->cap = compile_dev_veth(c, &cap, &capout);
	set_queues(c, card);
}

/* ---- rules ---- */

/*
 * The slot of a flow: packets of the same addresses and ports always get the same. What has no
 * ports (a later fragment, a ping) goes by its addresses.
 */
static void add_slots(struct compile *c, int chain, const struct wire_shape *s)
{
	static const struct {
		const char *ip, *icmp;
	} families[] = {{"ip", "icmp"}, {"ip6", "ipv6-icmp"}};
	int slots = wire_shape_slots(s);

	for (size_t i = 0; slots && i < ARRAY_SIZE(families); i++) {
		const char *ip = families[i].ip;

		compile_dev_rule(c, chain, NULL,
				 "meta protocol %s meta priority set jhash %s saddr . %s daddr "
				 "mod %d seed 0x1 offset %d",
				 ip, ip, ip, slots, WIRE_SLOT_FIRST);
		compile_dev_rule(c, chain, NULL,
				 "meta protocol %s meta l4proto != %s meta priority set jhash %s "
				 "saddr . %s daddr . th sport . th dport mod %d seed 0x1 offset %d",
				 ip, families[i].icmp, ip, ip, slots, WIRE_SLOT_FIRST);
	}
}

/* From one of the tap's devices on: towards `to`, or to the cap that counts both directions. */
static int begin_way(struct compile *c, const struct card *card, int from, int mark)
{
	const struct wire_shape *s = mark == MARK_SENT ? &card->sent : &card->got;
	int chain = compile_dev_ingress(c, from, TABLE);

	if (card->cap < 0)
		compile_dev_police(c, chain, &s->pps);
	add_slots(c, chain, s);
	if (card->cap >= 0)
		compile_dev_rule(c, chain, NULL, "meta mark set %d", mark);
	return chain;
}

static void add_rules(struct compile *c, const struct card *card)
{
	const struct wire_dev *devs = c->w->devs.v;
	const char *tap = devs[card->tap].name, *out = devs[card->out].name;
	const char *cap = card->cap < 0 ? NULL : devs[card->cap].name;
	int chain = begin_way(c, card, card->tap, MARK_SENT);

	compile_dev_rule(c, chain, NULL, "dup to \"%s\"", cap ? cap : out);
	compile_dev_rule(c, chain, NULL, "drop");
	chain = begin_way(c, card, card->out, MARK_GOT);
	compile_dev_rule(c, chain, NULL, "fwd to \"%s\"", cap ? cap : tap);
	if (!cap)
		return;
	chain = compile_dev_ingress(c, card->cap + 1, TABLE);
	compile_dev_police(c, chain, &card->sent.pps);
	compile_dev_rule(c, chain, NULL, "meta mark %d fwd to \"%s\"", MARK_SENT, out);
	compile_dev_rule(c, chain, NULL, "meta mark %d fwd to \"%s\"", MARK_GOT, tap);
}

/* One rule counts what either end opens. */
static void add_connections(struct compile *c, const struct card *card, int64_t most)
{
	struct compile_chain table = {card->spec->vm, "inet", "vnic"};
	const char *eth = c->w->devs.v[card->eth].name;
	const char *name = arena_printf(&c->scratch, "connections%s", card->nth);
	int chain;

	chain = compile_dev_chain(c, &table, name, NULL);
	compile_dev_rule(c, chain, NULL, "ct state new ct count over %lld counter drop",
			 (long long)most);
	chain = compile_dev_chain(c, &table, arena_printf(&c->scratch, "input%s", card->nth),
				  "type filter hook input priority 0; policy accept;");
	compile_dev_rule(c, chain, NULL, "iifname \"%s\" jump %s", eth, name);
	chain = compile_dev_chain(c, &table, arena_printf(&c->scratch, "output%s", card->nth),
				  "type filter hook output priority 0; policy accept;");
	compile_dev_rule(c, chain, NULL, "oifname \"%s\" jump %s", eth, name);
}

/* ---- the link ---- */

static void add_link(struct compile *c, struct card *card)
{
	const struct compile_card *spec = card->spec;
	const char *name =
	    spec->index ? arena_printf(&c->w->arena, "%s vNIC %d", spec->name, spec->index + 1)
			: arena_printf(&c->w->arena, "%s vNIC", spec->name);
	int link = compile_dev_link(c, name, card->eth, c->w->devs.v[card->eth].peer);
	struct wire_link *l = &c->w->links.v[link];

	l->path = spec->path;
	l->profile = arena_strdup(&c->w->arena, spec->cloud->profile.name);
	l->connections = c->o->unshaped ? 0 : spec->cloud->caps.connections;
	l->ab = card->sent;
	l->ba = card->got;
	if (!c->shaped)
		return;
	if (card->cap >= 0) {
		l->sum = true;
		compile_dev_shape(c, card->cap, link, false);
		l->shaper_ba = l->shaper_ab;
		return;
	}
	compile_dev_shape(c, card->out, link, false); /* what the VM sends leaves by TAPOUT */
	compile_dev_shape(c, card->tap, link, true);
}

void compile_card(struct compile *c, const struct compile_card *spec, int *dev, int *port)
{
	const struct cloud_caps *caps = &spec->cloud->caps;
	struct card card = {
	    .spec = spec,
	    .nth = spec->index ? arena_printf(&c->scratch, "-%d", spec->index + 1) : "",
	    .sent = compile_shape_caps(c, caps),
	};

	card.got = card.sent;
	if (caps->direction == DIRECTION_EGRESS)
		card.got = compile_shape_caps(
		    c, &(struct cloud_caps){.rate.rate.basis = caps->rate.rate.basis,
					    .queues.count = caps->queues.count});
	card.sum = caps->direction == DIRECTION_SUM && wire_shape_any(&card.sent);
	add_devs(c, &card);
	if (c->shaped)
		add_rules(c, &card);
	if (caps->connections && !c->o->unshaped)
		add_connections(c, &card, caps->connections);
	add_link(c, &card);
	*dev = card.eth;
	*port = card.port;
}
