/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_fence: the ARP rules around flat EIPs. Every EIP namespace owns the same gateway address
 * with a MAC of its own, on one wire, perhaps beside a real gateway. The rules see to it that a VM
 * with an EIP finds its own namespace there, and nobody else does. Called by compile.c last, when
 * all ports of all bridges are known.
 *
 * Form 2018 has the first two rules, form 2019 all of them:
 *   1. the VM asks for the gateway: the host answers with the MAC of the VM's namespace;
 *   2. anybody else's question for the gateway does not reach the namespace, on neither side;
 *   3. a question that calls its asker the gateway reaches the VM only from its namespace;
 *   4. the namespace's question for the VM is answered by the host; its other questions on the VM's
 *      side are dropped.
 *
 * What the host answers (1, and the first half of 4) is a wire_arpreply on either kind of bridge,
 * which emulator/plan puts into ebtables' or OpenFlow's words. The rest are nft rules of the bridge
 * family on Linux bridges, OpenFlow rules on OVS. OpenFlow's NORMAL cannot be filtered by output
 * port, so "does not reach" becomes a list of the ports that it does reach.
 */
#include <stdio.h>

#include "emulator/model/compile.h"

static bool is_new_form(const struct compile_fence *f)
{
	return f->eip->form != 2018;
}

static const char *port_name(const struct compile *c, int dev)
{
	return c->w->devs.v[dev].name;
}

/* ---- answers, for both kinds of bridges ---- */

static void answer(struct compile *c, int dev, const struct ip *ip, const struct mac *mac)
{
	*VEC_ADD(&c->w->arena, &c->w->arpreplies) = (struct wire_arpreply){
	    .node = c->w->devs.v[dev].node, .dev = dev, .ip = *ip, .mac = *mac};
}

static void add_answers(struct compile *c, const struct compile_fence *f)
{
	answer(c, f->vm_port, &f->gateway, &f->inner_mac);
	if (is_new_form(f))
		answer(c, f->inner_port, &f->vm_ip, &f->vm_mac);
}

/* ---- Linux bridges ---- */

/*
 * Every frame of the bridge meets these rules, and nearly none is ARP: the comparison of two bytes
 * comes first, that of a device's name last.
 */
static void add_linux_rules(struct compile *c, const struct compile_fence *f, int in, int out)
{
	char gw[ADDR_TEXT], vm[ADDR_TEXT], inner[ADDR_TEXT];
	const int sides[2] = {f->inner_port, f->outer_port};

	ip_format(gw, &f->gateway);
	mac_format(vm, &f->vm_mac);
	mac_format(inner, &f->inner_mac);
	for (int i = 0; i < 2; i++)
		compile_dev_rule(c, out, NULL,
				 "arp operation request arp daddr ip %s arp saddr ether != %s "
				 "oifname \"%s\" counter drop",
				 gw, vm, port_name(c, sides[i]));
	if (!is_new_form(f))
		return;
	compile_dev_rule(c, out, NULL,
			 "arp operation request arp saddr ip %s ether saddr != %s "
			 "oifname \"%s\" counter drop",
			 gw, inner, port_name(c, f->vm_port));
	compile_dev_rule(c, in, NULL, "arp operation request iifname \"%s\" counter drop",
			 port_name(c, f->inner_port));
}

static void add_linux_host(struct compile *c, int host)
{
	struct compile_chain table = {c->hosts[host].node, "bridge", "fence"};
	int in = -1, out = -1;

	VEC_FOREACH (f, &c->fences) {
		if (f->host != host)
			continue;
		if (in < 0) {
			/* After ebtables' nat PREROUTING (-300), which answers what it can. */
			in = compile_dev_chain(
			    c, &table, "prerouting",
			    "type filter hook prerouting priority -200; policy accept;");
			out = compile_dev_chain(
			    c, &table, "postrouting",
			    "type filter hook postrouting priority 300; policy accept;");
		}
		add_linux_rules(c, f, in, out);
	}
}

/* ---- OVS bridges ---- */

static void add_flow(struct compile *c, int bridge, const char *text)
{
	*VEC_ADD(&c->w->arena, &c->w->flows) =
	    (struct wire_flow){.bridge = bridge, .text = arena_strdup(&c->w->arena, text)};
}

enum hidden { HIDE_NAMESPACES = 1, HIDE_VMS = 2 };

/* Is the port one of those that a rule about this gateway keeps from being reached? */
static bool is_hidden(const struct compile *c, int port, const struct ip *gateway, unsigned what)
{
	VEC_FOREACH (f, &c->fences) {
		if (!ip_equal(&f->gateway, gateway))
			continue;
		if ((what & HIDE_NAMESPACES) && (port == f->inner_port || port == f->outer_port))
			return true;
		if ((what & HIDE_VMS) && port == f->vm_port && is_new_form(f))
			return true;
	}
	return false;
}

/* Floods what matches to all ports but the hidden ones (and, as OpenFlow has it, where it came). */
static void add_flood(struct compile *c, int bridge, const struct ip *gateway, const char *match,
		      unsigned hidden)
{
	autostr struct strbuf flow = {0};
	bool any = false;

	strbuf_addf(&flow, "%s actions=", match);
	for (size_t i = 0; i < c->w->devs.n; i++) {
		if (c->w->devs.v[i].master != bridge || is_hidden(c, (int)i, gateway, hidden))
			continue;
		strbuf_addf(&flow, "%soutput:\"%s\"", any ? "," : "", port_name(c, (int)i));
		any = true;
	}
	if (!any)
		strbuf_add(&flow, "drop");
	add_flow(c, bridge, strbuf_text(&flow));
}

static bool has_hidden_vm(const struct compile *c, int bridge, const struct ip *gateway)
{
	VEC_FOREACH (f, &c->fences) {
		if (is_new_form(f) && ip_equal(&f->gateway, gateway) &&
		    c->w->devs.v[f->vm_port].master == bridge)
			return true;
	}
	return false;
}

/* The rules about one gateway on one bridge, whichever side of a namespace is there. */
static void add_gateway_flows(struct compile *c, int bridge, const struct ip *gateway)
{
	char gw[ADDR_TEXT], match[256];

	ip_format(gw, gateway);
	snprintf(match, sizeof(match), "priority=110,arp,arp_op=1,arp_tpa=%s", gw);
	add_flood(c, bridge, gateway, match, HIDE_NAMESPACES);
	if (!has_hidden_vm(c, bridge, gateway))
		return;
	/* A VM's own namespace never asks (rule 4), so nobody's question reaches it. */
	snprintf(match, sizeof(match), "priority=105,arp,arp_op=1,arp_spa=%s", gw);
	add_flood(c, bridge, gateway, match, HIDE_VMS);
	snprintf(match, sizeof(match), "priority=112,arp,arp_op=1,arp_spa=%s,arp_tpa=%s", gw, gw);
	add_flood(c, bridge, gateway, match, HIDE_NAMESPACES | HIDE_VMS);
}

static void add_ovs_fence(struct compile *c, const struct compile_fence *f)
{
	int bridges[2] = {c->w->devs.v[f->inner_port].master, c->w->devs.v[f->outer_port].master};
	autostr struct strbuf drop = {0};

	if (is_new_form(f)) {
		strbuf_addf(&drop, "priority=115,arp,in_port=\"%s\",arp_op=1 actions=drop",
			    port_name(c, f->inner_port));
		add_flow(c, bridges[0], strbuf_text(&drop));
	}
	for (int i = 0; i < 2; i++) {
		/* Scope: bridge; these rules cover all namespaces there with that gateway. */
		if (keyset_add(&c->taken, -1 - bridges[i], &f->gateway, sizeof(f->gateway), 0))
			add_gateway_flows(c, bridges[i], &f->gateway);
	}
}

void compile_fence_all(struct compile *c)
{
	VEC_FOREACH (f, &c->fences)
		add_answers(c, f);
	for (size_t h = 0; h < c->t->hosts.n; h++) {
		if (c->t->hosts.v[h].engine == ENGINE_LINUX) {
			add_linux_host(c, (int)h);
			continue;
		}
		VEC_FOREACH (f, &c->fences) {
			if (f->host == (int)h)
				add_ovs_fence(c, f);
		}
	}
}
