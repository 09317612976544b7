/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths through a lab written down by hand (tests/unit/sample.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "emulator/model/path.h"
#include "tests/unit/model/lab.h"
#include "tests/unit/sample.h"

/* "node: text (shaper)" of each hop, a line each. */
static char *story(const struct wire *w, const struct path *p)
{
	struct strbuf out = {0};

	VEC_FOREACH (hop, &p->hops) {
		strbuf_addf(&out, "%s: %s", w->nodes.v[hop->node].name, hop->text);
		if (hop->encap_bytes)
			strbuf_addf(&out, " +%d", hop->encap_bytes);
		if (hop->shaper >= 0)
			strbuf_addf(&out, " [%s]", w->devs.v[hop->shaper].name);
		strbuf_addc(&out, '\n');
	}
	return strbuf_take(&out);
}

static void check_story(const struct wire *w, const struct path *p, const char *want)
{
	char *got = story(w, p);

	assert_string_equal(got, want);
	free(got);
}

static void check_ip(const struct ip *ip, const char *want)
{
	char text[ADDR_TEXT];

	assert_string_equal(ip_format(text, ip), want);
}

static void test_bridged(void **state)
{
	struct err err = ERR_INIT;
	struct path there, back;
	struct sample s;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	assert_int_equal(path_find(&s.w, "vm1", "vm2", AF_INET, &there, &err), 0);
	check_story(&s.w, &there,
		    "vm1: 10.0.0.1 → 10.0.0.2\n"
		    "h1: forward to vnic1out\n"
		    "h1: forward to uplink [uplink]\n"
		    "fabric: forward to h2 [h2]\n"
		    "h2: forward to vm 2's\n"
		    "vm 2's: 10.0.0.1 → 10.0.0.2\n");
	assert_int_equal(there.mtu, 1500);
	assert_int_equal(there.dst_node, s.vm2);
	assert_int_equal(path_reverse(&s.w, &there, &back, &err), 0);
	check_story(&s.w, &back,
		    "vm 2's: 10.0.0.2 → 10.0.0.1\n"
		    "h2: forward to uplink [uplink]\n"
		    "fabric: forward to h1 [h1]\n"
		    "h1: forward to vm1\n"
		    "h1: forward to vm1\n"
		    "vm1: 10.0.0.2 → 10.0.0.1\n");
	path_done(&there);
	path_done(&back);
	wire_done(&s.w);
}

static void test_ipv6(void **state)
{
	struct err err = ERR_INIT;
	struct path p;
	struct sample s;

	(void)state;
	sample_init(&s, ENGINE_OVS);
	assert_int_equal(path_find(&s.w, "vm1", "vm2", AF_INET6, &p, &err), 0);
	check_ip(&p.src_seen, "fd00::1");
	check_ip(&p.dst_final, "fd00::2");
	path_done(&p);
	wire_done(&s.w);
}

static void test_tunnel(void **state)
{
	struct err err = ERR_INIT;
	struct path p;
	struct sample s;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	assert_int_equal(path_find(&s.w, "vm1", "vm2-overlay", AF_INET, &p, &err), 0);
	check_story(&s.w, &p,
		    "vm1: 10.9.0.1 → 10.9.0.2\n"
		    "h1: encapsulate VNI 9, h1 → h2, MTU 1450 inside\n"
		    "h1: forward to vtep +50\n"
		    "h1: forward to uplink +50 [uplink]\n"
		    "fabric: forward to h2 +50 [h2]\n"
		    "h2: forward to vtep-port +50\n"
		    "h2: decapsulate VNI 9\n"
		    "h2: forward to vm 2's\n"
		    "vm 2's: 10.9.0.1 → 10.9.0.2\n");
	assert_int_equal(p.mtu, 1450);
	path_done(&p);
	/* The underlay decides when it is the narrower one. */
	s.w.devs.v[wire_find_dev(&s.w, s.fabric, "h2")].mtu = 1400;
	assert_int_equal(path_find(&s.w, "vm1", "vm2-overlay", AF_INET, &p, &err), 0);
	assert_int_equal(p.mtu, 1350);
	path_done(&p);
	wire_done(&s.w);
}

static void test_own_address(void **state)
{
	struct err err = ERR_INIT;
	struct path p;
	struct sample s;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	assert_int_equal(path_find(&s.w, "vm1", "vm1", AF_INET, &p, &err), 0);
	assert_int_equal(p.hops.n, 1);
	assert_int_equal(p.dst_node, s.vm1);
	check_ip(&p.src_seen, "10.0.0.1");
	path_done(&p);
	wire_done(&s.w);
}

static void check_error(const struct wire *w, const char *src, const char *dst, int family,
			const char *want)
{
	struct err err = ERR_INIT;
	struct path p;

	assert_true(path_find(w, src, dst, family, &p, &err) < 0);
	assert_string_equal(err.text, want);
	assert_int_equal(err_exit_status(&err), 2);
	path_done(&p);
}

static void test_errors(void **state)
{
	struct sample s;
	int uplink;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	check_error(&s.w, "vm1", "lost", AF_INET,
		    "path from vm1 to lost: no route to 192.0.2.1 at vm1");
	check_error(&s.w, "vm1", "vm2-overlay", AF_INET6, "vm2-overlay has no IPv6 address");
	check_error(&s.w, "vm3", "vm2", AF_INET,
		    "'vm3' is no endpoint of this lab; did you mean 'vm1'?");
	check_error(&s.w, "vm1", "nowhere", AF_INET, "'nowhere' is no endpoint of this lab");
	/* Out of the bridge with h2's uplink: the segment ends at h1. */
	uplink = wire_find_dev(&s.w, s.h1, "uplink");
	s.w.devs.v[uplink].master = -1;
	check_error(&s.w, "vm1", "vm2", AF_INET,
		    "path from vm1 to vm2: nobody answers for 10.0.0.2 behind vm1:eth0");
	wire_done(&s.w);
}

/* Two networks that know nothing of each other may use the same addresses. */
static void test_same_address_elsewhere(void **state)
{
	struct sample s;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	*VEC_ADD(&s.w.arena, &s.w.endpoints) =
	    (struct wire_endpoint){.name = "twin", .node = s.fabric, .ip4 = sample_ip("10.0.0.2")};
	check_error(&s.w, "vm1", "twin", AF_INET,
		    "path from vm1 to twin: it ends at vm 2's, who has that address where vm1 is");
	wire_done(&s.w);
}

/* An address on a bridge: its frames leave by the bridge's ports, and are shaped there. */
static void test_from_a_bridge(void **state)
{
	struct err err = ERR_INIT;
	struct path p;
	struct sample s;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	sample_addr(&s.w, wire_find_dev(&s.w, s.h1, "br0"), "10.0.0.8/24");
	*VEC_ADD(&s.w.arena, &s.w.endpoints) = (struct wire_endpoint){.name = "h1", .node = s.h1};
	assert_int_equal(path_find(&s.w, "h1", "vm2", AF_INET, &p, &err), 0);
	check_story(&s.w, &p,
		    "h1: 10.0.0.8 → 10.0.0.2\n"
		    "h1: forward to uplink [uplink]\n"
		    "fabric: forward to h2 [h2]\n"
		    "h2: forward to vm 2's\n"
		    "vm 2's: 10.0.0.8 → 10.0.0.2\n");
	path_done(&p);
	wire_done(&s.w);
}

/* Two routers that send everything to each other. */
static void test_loop(void **state)
{
	struct wire w;
	int a, b, dev;

	(void)state;
	wire_init(&w);
	a = sample_node(&w, "a", NODE_ROUTER, -1);
	b = sample_node(&w, "b", NODE_ROUTER, -1);
	dev = sample_veth(&w, a, "eth0", ROLE_OTHER, b, "eth0", ROLE_OTHER);
	sample_addr(&w, dev, "10.0.0.1/24");
	sample_addr(&w, dev + 1, "10.0.0.2/24");
	sample_route(&w, dev, "0.0.0.0/0", "10.0.0.2");
	sample_route(&w, dev + 1, "0.0.0.0/0", "10.0.0.1");
	*VEC_ADD(&w.arena, &w.endpoints) = (struct wire_endpoint){.name = "a", .node = a};
	*VEC_ADD(&w.arena, &w.endpoints) =
	    (struct wire_endpoint){"x", b, sample_ip("192.0.2.1"), {0}};
	check_error(&w, "a", "x", AF_INET, "path from a to x: the packet goes in circles at a");
	wire_done(&w);
}

/*
 * Two VMs of one flat network, each behind its EIP: two namespaces have the same gateway address,
 * and each may only answer its own VM.
 */
struct eips {
	struct wire w;
	int out, ns[2], vm[2];
};

static void eip_rules(struct wire *w, int ns, const char *vip, const char *nic)
{
	struct arena *a = &w->arena;
	const char *dnat[] = {arena_printf(a, "counter dnat to %s", nic), NULL};
	const char *snat[] = {arena_printf(a, "counter snat to %s", vip), NULL};
	const char *pre[] = {"tcp dport 22 drop", "ip daddr 203.0.113.0/24 accept",
			     arena_printf(a, "ip daddr %s counter jump dnat-vip", vip), NULL};
	const char *post[] = {arena_printf(a, "ip saddr != %s return", nic),
			      arena_printf(a, "ip saddr %s counter jump snat-vip", nic), NULL};
	const char *fwd[] = {arena_printf(a,
					  "iifname \"ei\" ip daddr != %s counter reject with icmp "
					  "port-unreachable",
					  nic),
			     "ct state new,established,related counter accept", "drop", NULL};

	sample_chain(w, ns, "ip", "nat", "dnat-vip", NULL, dnat);
	sample_chain(w, ns, "ip", "nat", "snat-vip", NULL, snat);
	sample_chain(w, ns, "ip", "nat", "pre",
		     "type nat hook prerouting priority -100; policy accept;", pre);
	sample_chain(w, ns, "ip", "nat", "post",
		     "type nat hook postrouting priority 100; policy accept;", post);
	sample_chain(w, ns, "ip", "filter", "forward",
		     "type filter hook forward priority 0; policy accept;", fwd);
}

static void eips_init(struct eips *e)
{
	static const char *const names[2][5] = {{"ns1", "vm1", "192.0.2.51", "10.1.0.11", "eip1"},
						{"ns2", "vm2", "192.0.2.52", "10.1.0.12", "eip2"}};
	struct wire *w = &e->w;
	int host, pub, pri, out;

	wire_init(w);
	host = sample_node(w, "h", NODE_HOST, -1);
	pub = sample_dev(w, host, "pub", DEV_BRIDGE, ROLE_BRIDGE);
	pri = sample_dev(w, host, "pri", DEV_BRIDGE, ROLE_BRIDGE);
	e->out = sample_node(w, "outside", NODE_VM, host);
	out = sample_vnic(w, e->out, "eth0", host, "p0", pub, "192.0.2.1/24");
	(void)out;
	*VEC_ADD(&w->arena, &w->endpoints) =
	    (struct wire_endpoint){"outside", e->out, sample_ip("192.0.2.1"), {0}};
	for (int i = 0; i < 2; i++) {
		const char *const *n = names[i];
		int dev;

		e->ns[i] = sample_node(w, n[0], NODE_EIP, host);
		sample_vnic(w, e->ns[i], "ei", host, i ? "eo2" : "eo1", pub,
			    arena_printf(&w->arena, "%s/24", n[2]));
		dev = sample_vnic(w, e->ns[i], "i", host, i ? "o2" : "o1", pri, "10.1.0.1/24");
		e->vm[i] = sample_node(w, n[1], NODE_VM, host);
		*VEC_ADD(&w->arena, &w->arpreplies) = (struct wire_arpreply){
		    .node = host,
		    .dev = (int)w->devs.n + 1, /* the port that comes next */
		    .ip = sample_ip("10.1.0.1"),
		    .mac = w->devs.v[dev].mac,
		};
		dev = sample_vnic(w, e->vm[i], "eth0", host, i ? "v2" : "v1", pri,
				  arena_printf(&w->arena, "%s/24", n[3]));
		sample_route(w, dev, "0.0.0.0/0", "10.1.0.1");
		*VEC_ADD(&w->arena, &w->nats) =
		    (struct wire_nat){e->ns[i], sample_ip(n[2]), sample_ip(n[3])};
		eip_rules(w, e->ns[i], n[2], n[3]);
		*VEC_ADD(&w->arena, &w->endpoints) =
		    (struct wire_endpoint){n[4], e->vm[i], sample_ip(n[2]), {0}};
		*VEC_ADD(&w->arena, &w->endpoints) =
		    (struct wire_endpoint){n[1], e->vm[i], sample_ip(n[3]), {0}};
	}
}

static void check_both_ways(const struct wire *w, const char *src, const char *dst,
			    const char *there, const char *back)
{
	struct err err = ERR_INIT;
	struct path p, r;

	if (path_find(w, src, dst, AF_INET, &p, &err) || path_reverse(w, &p, &r, &err))
		fail_msg("%s", err.text);
	check_story(w, &p, there);
	check_story(w, &r, back);
	path_done(&p);
	path_done(&r);
}

static void test_eip_from_outside(void **state)
{
	struct eips e;

	(void)state;
	eips_init(&e);
	check_both_ways(&e.w, "outside", "eip2",
			"outside: 192.0.2.1 → 192.0.2.52\n"
			"h: forward to ns2\n"
			"ns2: DNAT 192.0.2.52 → 10.1.0.12, forward, ttl 63\n"
			"h: forward to vm2\n"
			"vm2: 192.0.2.1 → 10.1.0.12\n",
			"vm2: 10.1.0.12 → 192.0.2.1\n"
			"h: forward to ns2\n"
			"ns2: forward, ttl 63, SNAT 10.1.0.12 → 192.0.2.52 (conntrack)\n"
			"h: forward to outside\n"
			"outside: 192.0.2.52 → 192.0.2.1\n");
	wire_done(&e.w);
}

/* Each VM's gateway is its own namespace. */
static void test_eip_to_eip(void **state)
{
	struct eips e;

	(void)state;
	eips_init(&e);
	check_both_ways(&e.w, "vm2", "eip1",
			"vm2: 10.1.0.12 → 192.0.2.51\n"
			"h: forward to ns2\n"
			"ns2: forward, ttl 63, SNAT 10.1.0.12 → 192.0.2.52\n"
			"h: forward to ns1\n"
			"ns1: DNAT 192.0.2.51 → 10.1.0.11, forward, ttl 62\n"
			"h: forward to vm1\n"
			"vm1: 192.0.2.52 → 10.1.0.11\n",
			"vm1: 10.1.0.11 → 192.0.2.52\n"
			"h: forward to ns1\n"
			"ns1: forward, ttl 63, SNAT 10.1.0.11 → 192.0.2.51 (conntrack)\n"
			"h: forward to ns2\n"
			"ns2: DNAT 192.0.2.52 → 10.1.0.12 (conntrack), forward, ttl 62\n"
			"h: forward to vm2\n"
			"vm2: 192.0.2.51 → 10.1.0.12\n");
	wire_done(&e.w);
}

/* A real gateway on the same wire changes nothing for a VM with an EIP, on either bridge. */
static void test_real_gateway(void **state)
{
	static const char *const bridges[] = {"linux", "ovs"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bridges); i++) {
		autofree char *text =
		    mem_printf("version: 1\nhosts: {h: {bridge: %s}}\n"
			       "networks: {pub: {cidr: 192.0.2.0/24}, "
			       "in: {cidr: 10.0.0.0/24, gateway: 10.0.0.254}}\n"
			       "vms:\n"
			       "  gw: {network: in, vnic: {address: 10.0.0.254}}\n"
			       "  a: {network: in, eip: 192.0.2.9}\n"
			       "  client: {network: pub, vnic: {address: 192.0.2.1}}\n",
			       bridges[i]);
		struct lab l;

		lab_init(&l, text);
		check_both_ways(&l.w, "a", "client",
				"a: 10.0.0.10 → 192.0.2.1\n"
				"h: forward to br-pub_192_0_2_9\n"
				"br-pub_192_0_2_9: forward, ttl 63, SNAT 10.0.0.10 → 192.0.2.9\n"
				"h: forward to client\n"
				"client: 192.0.2.9 → 192.0.2.1\n",
				"client: 192.0.2.1 → 192.0.2.9\n"
				"h: forward to br-pub_192_0_2_9\n"
				"br-pub_192_0_2_9: DNAT 192.0.2.9 → 10.0.0.10 (conntrack), "
				"forward, ttl 63\n"
				"h: forward to a\n"
				"a: 192.0.2.1 → 10.0.0.10\n");
		lab_done(&l);
	}
}

static void test_hairpin(void **state)
{
	struct eips e;

	(void)state;
	eips_init(&e);
	check_both_ways(&e.w, "vm1", "eip1",
			"vm1: 10.1.0.11 → 192.0.2.51\n"
			"h: forward to ns1\n"
			"ns1: DNAT 192.0.2.51 → 10.1.0.11, forward, ttl 63, "
			"SNAT 10.1.0.11 → 192.0.2.51\n"
			"h: forward to vm1\n"
			"vm1: 192.0.2.51 → 10.1.0.11\n",
			"vm1: 10.1.0.11 → 192.0.2.51\n"
			"h: forward to ns1\n"
			"ns1: DNAT 192.0.2.51 → 10.1.0.11 (conntrack), forward, ttl 63, "
			"SNAT 10.1.0.11 → 192.0.2.51 (conntrack)\n"
			"h: forward to vm1\n"
			"vm1: 192.0.2.51 → 10.1.0.11\n");
	wire_done(&e.w);
}

/* Without an EIP of its own a VM has no gateway there: other namespaces are fenced off. */
static void test_fence(void **state)
{
	struct eips e;
	int vm, host, dev;

	(void)state;
	eips_init(&e);
	host = wire_find_node(&e.w, "h");
	vm = sample_node(&e.w, "vm3", NODE_VM, host);
	dev = sample_vnic(&e.w, vm, "eth0", host, "v3", wire_find_dev(&e.w, host, "pri"),
			  "10.1.0.13/24");
	sample_route(&e.w, dev, "0.0.0.0/0", "10.1.0.1");
	*VEC_ADD(&e.w.arena, &e.w.endpoints) =
	    (struct wire_endpoint){"vm3", vm, sample_ip("10.1.0.13"), {0}};
	check_error(&e.w, "vm3", "eip1", AF_INET,
		    "path from vm3 to eip1: nobody answers for 10.1.0.1 behind vm3:eth0");
	wire_done(&e.w);
}

/* The namespace passes on what is for its VM, and rejects the rest. */
static void test_wrong_destination(void **state)
{
	struct eips e;

	(void)state;
	eips_init(&e);
	sample_route(&e.w, wire_find_dev(&e.w, e.out, "eth0"), "10.1.0.0/24", "192.0.2.51");
	check_error(
	    &e.w, "outside", "vm2", AF_INET,
	    "path from outside to vm2: 192.0.2.1 → 10.1.0.12 is rejected at ns1 by rule 1 of "
	    "forward");
	wire_done(&e.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bridged),
	    cmocka_unit_test(test_ipv6),
	    cmocka_unit_test(test_tunnel),
	    cmocka_unit_test(test_own_address),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_loop),
	    cmocka_unit_test(test_eip_from_outside),
	    cmocka_unit_test(test_eip_to_eip),
	    cmocka_unit_test(test_real_gateway),
	    cmocka_unit_test(test_hairpin),
	    cmocka_unit_test(test_same_address_elsewhere),
	    cmocka_unit_test(test_from_a_bridge),
	    cmocka_unit_test(test_fence),
	    cmocka_unit_test(test_wrong_destination),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
