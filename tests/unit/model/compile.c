/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What topologies compile to: flat networks, links, modes, addresses, the wire level, names. */
#include <sys/socket.h>

#include "tests/unit/model/lab.h"

/* ---- flat ---- */

static void test_flat(void **state)
{
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/flat.yaml");
	lab_expect_addrs(&l, "client", "eth0", "10.0.0.10/24 fd00:10::a/64");
	lab_expect_addrs(&l, "server", "eth0", "10.0.0.11/24 fd00:10::b/64");
	/* No gateway is declared and no EIP needs one: no default route. */
	lab_expect_routes(&l, "client",
			  "10.0.0.0/24 dev eth0 src 10.0.0.10 cubic\n"
			  "fd00:10::/64 dev eth0 src fd00:10::a cubic\n");
	lab_expect_addrs(&l, "h1", "br-net", "172.31.255.1/24");
	lab_expect_routes(&l, "h1", "172.31.255.0/24 dev br-net src 172.31.255.1\n");
	assert_int_equal(lab_dev_at(&l, "h1", "nic")->master, lab_dev(&l, "h1", "br-net"));
	assert_int_equal(lab_dev_at(&l, "fabric", "h1")->master, lab_dev(&l, "fabric", "br0"));
	/* The bridge takes the place of its uplink. */
	assert_true(
	    mac_equal(&lab_dev_at(&l, "h1", "nic")->mac, &lab_dev_at(&l, "h1", "br-net")->mac));
	assert_string_equal(lab_sysctl(&l, "h1", "net/ipv4/ip_forward"), "0");
	assert_string_equal(lab_sysctl(&l, "h1", "net/bridge/bridge-nf-call-iptables"), "0");
	assert_string_equal(lab_sysctl(&l, "client", "net/ipv6/conf/all/disable_ipv6"), "0");
	assert_string_equal(lab_sysctl(&l, "client", "net/ipv6/conf/default/accept_dad"), "0");
	lab_done(&l);
}

static void test_uplinks(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/flat.yaml");
	link = lab_link(&l, "h1 uplink");
	assert_int_equal(link->dev_a, lab_dev(&l, "h1", "nic"));
	assert_int_equal(link->dev_b, lab_dev(&l, "fabric", "h1"));
	assert_int_equal(link->ab.rate.bps, 1000000000);
	assert_int_equal(link->ab.rate.basis, BASIS_L1);
	assert_int_equal(link->ab.rate.mode, SHAPE_EXACT);
	assert_int_equal(link->shaper_ab, link->dev_a);
	assert_int_equal(link->shaper_ba, link->dev_b);
	assert_int_equal(l.w.devs.v[link->dev_b].egress.rate.bps, 1000000000);
	assert_true(l.w.devs.v[link->dev_b].egress_ba);
	assert_false(l.w.devs.v[link->dev_a].egress_ba);
	lab_done(&l);
}

static void test_tap(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/flat.yaml");
	assert_int_equal(lab_dev_at(&l, "client", "eth0")->peer, lab_dev(&l, "h1", "client-tap"));
	assert_int_equal(lab_dev_at(&l, "h1", "client-out")->peer, lab_dev(&l, "h1", "client"));
	assert_int_equal(lab_dev_at(&l, "h1", "client-tap")->master, -1);
	assert_int_equal(lab_dev_at(&l, "h1", "client-out")->master, -1);
	assert_int_equal(lab_dev_at(&l, "h1", "client")->master, lab_dev(&l, "h1", "br-net"));
	assert_int_equal(lab_dev_at(&l, "h1", "client-tap")->role, ROLE_TAP);
	assert_int_equal(lab_dev_at(&l, "h1", "client-out")->role, ROLE_TAPOUT);
	assert_int_equal(lab_dev_at(&l, "h1", "client")->role, ROLE_PORT);
	lab_expect_chain(&l, "h1", "netdev tap", "from-client-tap",
			 "dup to \"client-out\"\ndrop\n");
	lab_expect_chain(&l, "h1", "netdev tap", "from-client-out", "fwd to \"client-tap\"\n");
	link = lab_link(&l, "client vNIC");
	assert_int_equal(link->ab.rate.bps, 0);
	assert_int_equal(link->shaper_ab, -1);
	assert_int_equal(link->dev_b, lab_dev(&l, "h1", "client-tap"));
	assert_int_equal(lab_dev_at(&l, "client", "eth0")->offloads_off,
			 OFFLOAD_TSO | OFFLOAD_GSO | OFFLOAD_GRO | OFFLOAD_UDP_SEG);
	assert_int_equal(lab_dev_at(&l, "h1", "client-tap")->offloads_off, OFFLOAD_GRO);
	lab_done(&l);
}

static void test_vnic_rate(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nhosts: {h: {}}\nnetworks: {net: {cidr: 10.0.0.0/24}}\n"
		     "vms: {a: {network: net, vnic: {rate: 10mbit, queue: 20ms}}}\n");
	link = lab_link(&l, "a vNIC");
	assert_int_equal(link->ab.rate.bps, 10000000);
	assert_int_equal(link->ab.rate.basis, BASIS_L3); /* as clouds meter */
	assert_int_equal(link->ab.rate.queue_ns, 20000000);
	/* What the VM sends leaves by the tap's bridge side, what it gets by the tap. */
	assert_int_equal(link->shaper_ab, lab_dev(&l, "h", "a-out"));
	assert_int_equal(link->shaper_ba, lab_dev(&l, "h", "a-tap"));
	lab_done(&l);
}

static void test_unshaped(void **state)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT, .unshaped = true};
	static const char text[] = "version: 1\nhosts: {h1: {}, h2: {}}\nfabric: {nic: {rate: "
				   "1gbit}}\nnetworks: {net: {cidr: 10.0.0.0/24}}\n"
				   "vms: {a: {host: h1, network: net}}\n";
	struct lab l;

	(void)state;
	lab_init_with(&l, text, &o, NULL);
	VEC_FOREACH (d, &l.w.devs)
		assert_int_equal(d->egress.rate.bps, 0);
	VEC_FOREACH (link, &l.w.links) {
		assert_int_equal(link->ab.rate.bps, 0);
		assert_int_equal(link->ab.rate.mode, SHAPE_EXACT);
		assert_int_equal(link->shaper_ab, -1);
	}
	/* No tap, but single frames as in the shaped twin. */
	assert_int_equal(lab_dev_at(&l, "a", "eth0")->peer, lab_dev(&l, "h1", "a"));
	assert_true(lab_dev_at(&l, "a", "eth0")->offloads_off & OFFLOAD_TSO);
	lab_done(&l);
}

static void test_modes(void **state)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	static const char text[] = "version: 1\nhosts: {h1: {}, h2: {}}\nfabric: {nic: {rate: "
				   "25gbit}}\nnetworks: {net: {cidr: 10.0.0.0/24}}\n"
				   "vms: {a: {host: h1, network: net}}\n";
	struct lab l;

	(void)state;
	lab_init(&l, text);
	assert_int_equal(lab_link(&l, "h1 uplink")->ab.rate.mode, SHAPE_FAST);
	assert_int_equal(lab_dev_at(&l, "a", "eth0")->offloads_off, 0);
	lab_done(&l);
	lab_init_with(&l, text, &o, "fabric.nic.mode=exact");
	assert_int_equal(lab_link(&l, "h1 uplink")->ab.rate.mode, SHAPE_EXACT);
	assert_true(lab_dev_at(&l, "a", "eth0")->offloads_off & OFFLOAD_TSO);
	lab_done(&l);
	o.machine.exact_max_bps = INT64_C(100000000000);
	lab_init_with(&l, text, &o, NULL);
	assert_int_equal(lab_link(&l, "h1 uplink")->ab.rate.mode, SHAPE_EXACT);
	lab_done(&l);
}

static void test_no_rate_no_offload(void **state)
{
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/star.yaml");
	assert_int_equal(l.w.nodes.n, 101);
	VEC_FOREACH (d, &l.w.devs)
		assert_int_equal(d->offloads_off, 0);
	lab_expect_addrs(&l, "vm-1", "eth0", "10.0.0.10/16");
	lab_expect_addrs(&l, "vm-100", "eth0", "10.0.0.109/16");
	/* A plain VM costs one sysctl: a thousand must come up in seconds. */
	assert_int_equal(l.w.nodes.v[lab_node(&l, "vm-7")].sysctls.n, 1);
	assert_string_equal(lab_sysctl(&l, "vm-7", "net/ipv6/conf/all/disable_ipv6"), "1");
	lab_done(&l);
}

/* ---- addresses ---- */

static void test_addresses(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nhosts: {h: {}}\n"
		     "networks: {net: {cidr: [10.0.0.0/24, \"fd00::/64\"]}, pub: {cidr: "
		     "192.0.2.0/24}, tiny: {cidr: 10.9.0.0/29}}\n"
		     "vms:\n"
		     "  a: {network: net}\n"
		     "  b: {network: net, vnic: {address: 10.0.0.11}}\n"
		     "  c: {network: net}\n"
		     "  d: {network: net, vnic: {address: \"fd00::d\"}}\n"
		     "  e: {network: net, vnic: {address: \"fd00::a:b\"}, eip: 192.0.2.10}\n"
		     "  f: {network: pub}\n"
		     "  t: {network: tiny, count: 5}\n");
	lab_expect_addrs(&l, "a", "eth0", "10.0.0.10/24 fd00::a/64");
	lab_expect_addrs(&l, "b", "eth0", "10.0.0.11/24 fd00::b/64"); /* the same number */
	lab_expect_addrs(&l, "c", "eth0", "10.0.0.12/24 fd00::c/64");
	lab_expect_addrs(&l, "d", "eth0", "10.0.0.13/24 fd00::d/64");
	lab_expect_addrs(&l, "e", "eth0", "10.0.0.14/24 fd00::a:b/64"); /* has no such number */
	lab_expect_addrs(&l, "f", "eth0", "192.0.2.11/24");		/* .10 is the EIP */
	lab_expect_addrs(&l, "t-1", "eth0", "10.9.0.2/29");		/* .10 does not exist */
	lab_expect_addrs(&l, "t-5", "eth0", "10.9.0.6/29");
	lab_done(&l);
}

static void test_endpoints(void **state)
{
	static const struct {
		const char *name, *node, *ip4;
	} want[] = {
	    {"client", "client", "192.0.2.10"},		 {"direct", "direct", "192.0.2.11"},
	    {"flat-eip", "flat-eip", "10.10.0.10"},	 {"vpc-eip", "vpc-eip", "10.20.0.10"},
	    {"eip(flat-eip)", "flat-eip", "192.0.2.50"}, {"eip(vpc-eip)", "vpc-eip", "192.0.2.60"},
	};
	char text[ADDR_TEXT];
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/zstack.yaml");
	assert_int_equal(l.w.endpoints.n, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const struct wire_endpoint *e = wire_find_endpoint(&l.w, want[i].name);

		assert_non_null(e);
		assert_int_equal(e->node, lab_node(&l, want[i].node));
		assert_string_equal(ip_format(text, &e->ip4), want[i].ip4);
	}
	assert_int_equal(wire_find_endpoint(&l.w, "client")->ip6.family, AF_INET6);
	assert_int_equal(l.w.nats.n, 2);
	lab_done(&l);
}

static void test_underlay(void **state)
{
	struct strbuf text = {0};
	struct lab l;

	(void)state;
	/* The usual network is in use by a flat one, which is on the same wire. */
	lab_init(&l, "version: 1\nhosts: {a: {}, b: {bridge: ovs}}\n"
		     "networks: {net: {cidr: 172.31.0.0/16}}\n");
	lab_expect_addrs(&l, "a", "br-net", "192.168.255.1/24");
	lab_expect_addrs(&l, "b", "mgmt0", "192.168.255.2/24");
	assert_int_equal(lab_dev_at(&l, "b", "mgmt0-port")->master, lab_dev(&l, "b", "br-net"));
	lab_done(&l);
	strbuf_add(&text, "version: 1\nhosts:\n");
	for (int i = 0; i < 300; i++)
		strbuf_addf(&text, "  h%d: {}\n", i);
	lab_init(&l, text.s);
	lab_expect_addrs(&l, "h299", "br-fabric", "172.31.241.44/20");
	lab_done(&l);
	strbuf_done(&text);
}

static void test_other_l2(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nhosts: {h1: {}, h2: {}, h3: {}}\nfabric: {nic: {rate: 1gbit}}\n"
		     "networks:\n"
		     "  a: {cidr: 10.0.0.0/24}\n"
		     "  s: {cidr: 10.0.0.0/24, l2: storage}\n"
		     "vms: {x: {host: h1, networks: [s]}, y: {host: h2, network: s}, z: {host: h3, "
		     "network: a}}\n");
	assert_int_equal(lab_dev_at(&l, "h1", "nic2")->master, lab_dev(&l, "h1", "br-s"));
	assert_int_equal(lab_dev_at(&l, "h1", "nic2")->peer, lab_dev(&l, "fabric", "h1-2"));
	assert_int_equal(lab_dev_at(&l, "fabric", "h1-2")->master, lab_dev(&l, "fabric", "br1"));
	assert_int_equal(lab_link(&l, "h1 uplink 2")->ab.rate.bps, 1000000000);
	/* Who has no member has no uplink. */
	assert_int_equal(wire_find_dev(&l.w, lab_node(&l, "h3"), "nic2"), -1);
	lab_done(&l);
}

/* ---- wire level ---- */

static void test_link_names(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nnodes: {a: {}, b: {}, a-b: {}, b-a: {}}\nlinks:\n"
		     "  - {endpoints: [\"a:e0\", \"b-a:e0\"]}\n"
		     "  - {endpoints: [\"a-b:e1\", \"a:e1\"]}\n"
		     "  - {endpoints: [\"a:e2\", \"b:e2\"]}\n");
	assert_string_equal(l.w.links.v[0].name, "a-b-a");
	assert_string_equal(l.w.links.v[1].name, "a-b:e1-a:e1");
	assert_string_equal(l.w.links.v[2].name, "a-b");
	lab_done(&l);
}

static void test_dumbbell(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/dumbbell.yaml");
	lab_expect_routes(&l, "a",
			  "10.0.1.0/24 dev eth1 src 10.0.1.1 cubic\n"
			  "default via 10.0.1.254 dev eth1 cubic\n");
	lab_expect_routes(&l, "r",
			  "10.0.1.0/24 dev eth1 src 10.0.1.254\n"
			  "10.0.2.0/24 dev eth2 src 10.0.2.254\n");
	assert_string_equal(lab_sysctl(&l, "r", "net/ipv4/ip_forward"), "1");
	link = lab_link(&l, "a-r");
	assert_int_equal(link->ab.rate.bps, 0);
	assert_int_equal(l.w.devs.v[link->dev_a].peer, link->dev_b);
	link = lab_link(&l, "r-b");
	assert_int_equal(link->ab.rate.basis, BASIS_L2);
	assert_int_equal(link->ab.rate.queue_ns, 20000000);
	/* The way has an impairment: both directions meet the rate between the middles, then it. */
	assert_int_equal(link->shaper_ab, lab_dev(&l, "wires", "r-eth2-span"));
	assert_int_equal(link->shaper_ba, lab_dev(&l, "wires", "b-eth1-span"));
	assert_int_equal(lab_dev_at(&l, "b", "eth1")->peer, lab_dev(&l, "wires", "b-eth1"));
	assert_int_equal(lab_dev_at(&l, "b", "eth1")->egress.rate.bps, 0);
	assert_int_equal(link->engine, IMPAIR_NETEM);
	assert_int_equal(link->impair_ab.delay_ns, 10000000);
	assert_int_equal(link->impair_ba.delay_ns, 10000000);
	assert_int_equal(link->impair_ab.jitter_ns, 1000000);
	assert_int_equal(link->impair_ba.jitter_ns, 0);
	assert_int_equal(link->impair_ab.loss_ppm, 10000);
	assert_int_equal(link->impair_ba.loss, LOSS_NONE);
	assert_int_equal(link->impair_ab.seed, 42);
	lab_expect_chain(&l, "wires", "netdev wires", "from-b-eth1", "fwd to \"b-eth1-span\"\n");
	lab_expect_chain(&l, "wires", "netdev wires", "from-r-eth2-span", "fwd to \"r-eth2\"\n");
	assert_int_equal(wire_find_endpoint(&l.w, "b")->node, lab_node(&l, "b"));
	assert_null(wire_find_endpoint(&l.w, "r"));
	lab_done(&l);
}

static void test_directions(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nnodes: {a: {}, b: {}, s: {kind: switch}}\nlinks:\n"
		     "  - {endpoints: [\"a:e0\", \"b:e0\"], rate: 10mbit, ba: {rate: 1mbit, basis: "
		     "l3}}\n"
		     "  - {endpoints: [\"b:e1\", \"a:e1\"], ab: {rate: 5mbit}}\n"
		     "  - {endpoints: [\"a:e2\", \"s:p1\"], mtu: 9000, ba: {rate: 5mbit}}\n");
	assert_int_equal(lab_link(&l, "a:e0-b:e0")->ab.rate.bps, 10000000);
	assert_int_equal(lab_link(&l, "a:e0-b:e0")->ba.rate.bps, 1000000);
	assert_int_equal(lab_link(&l, "a:e0-b:e0")->ba.rate.basis, BASIS_L3);
	assert_int_equal(lab_link(&l, "a:e0-b:e0")->shaper_ab, lab_dev(&l, "wires", "b-e0"));
	assert_int_equal(lab_link(&l, "a:e0-b:e0")->shaper_ba, lab_dev(&l, "wires", "a-e0"));
	assert_int_equal(lab_link(&l, "b:e1-a:e1")->shaper_ba, -1);
	/* Only the switch's direction is shaped, by the switch: no middle. */
	assert_int_equal(lab_link(&l, "a-s")->shaper_ba, lab_dev(&l, "s", "p1"));
	assert_int_equal(lab_dev_at(&l, "a", "e2")->peer, lab_dev(&l, "s", "p1"));
	assert_int_equal(lab_dev_at(&l, "s", "br0")->mtu, 9000);
	assert_int_equal(lab_dev_at(&l, "s", "p1")->master, lab_dev(&l, "s", "br0"));
	lab_done(&l);
}

static void test_sysctls(void **state)
{
	struct lab l;
	size_t n = 0;

	(void)state;
	lab_init(&l, "version: 1\nnodes:\n  a:\n    sysctls: {net.ipv4.ip_forward: 1, "
		     "net/ipv4/conf/eth0.5/rp_filter: 2}\n");
	/* Theirs instead of ours, not after it: the lab is to be what each line of its plan says.
	 */
	assert_string_equal(lab_sysctl(&l, "a", "net/ipv4/ip_forward"), "1");
	VEC_FOREACH (s, &l.w.nodes.v[lab_node(&l, "a")].sysctls)
		n += str_eq(s->key, "net/ipv4/ip_forward");
	assert_int_equal(n, 1);
	assert_string_equal(lab_sysctl(&l, "a", "net/ipv4/conf/eth0.5/rp_filter"), "2");
	lab_done(&l);
}

/* ---- names ---- */

static void test_long_names(void **state)
{
	static const char vm[] = "a-virtual-machine-with-a-name-that-no-interface-can-have";
	struct strbuf text = {0}, vip = {0};
	struct lab l;

	(void)state;
	strbuf_addf(&text,
		    "version: 1\nhosts: {nic: {}, mgmt0: {}}\n"
		    "networks: {a-network-with-a-long-name: {cidr: 192.0.2.0/24}, in: "
		    "{cidr: 10.0.0.0/24}}\nfabric: {nic: {rate: 1mbit}}\n"
		    "vms: {%s: {host: nic, network: in, eip: 192.0.2.9}, nic-x: {host: nic, "
		    "network: in}}\n",
		    vm);
	lab_init(&l, text.s);
	VEC_FOREACH (d, &l.w.devs) {
		assert_true(strlen(d->name) <= 15);
		assert_true(!d->altname || strlen(d->altname) < 128);
		assert_true(!d->alias || strlen(d->alias) < 256);
		VEC_FOREACH (other, &l.w.devs) {
			if (other == d || other->node != d->node)
				continue;
			assert_string_not_equal(other->name, d->name);
			assert_int_not_equal(other->ifindex, d->ifindex);
		}
	}
	/* Found by the name in full. */
	lab_dev(&l, "nic", "br-a-network-with-a-long-name");
	lab_dev(&l, "nic", vm);
	lab_done(&l);
	strbuf_done(&text);
	strbuf_done(&vip);
}

/* A node that the user called like an EIP's namespace keeps its name. */
static void test_eip_node_name(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nhosts: {h: {}}\n"
		     "networks: {pub: {cidr: 192.0.2.0/24}, in: {cidr: 10.0.0.0/24}}\n"
		     "vms: {a: {network: in, eip: 192.0.2.9}, br-pub_192_0_2_9: {network: in}}\n");
	assert_int_equal(l.w.nodes.v[lab_node(&l, "br-pub_192_0_2_9")].kind, NODE_VM);
	assert_int_equal(l.w.nodes.v[lab_node(&l, "br-pub_192_0_2_9-2")].kind, NODE_EIP);
	lab_done(&l);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(wire_node_kind_name(NODE_EIP), "eip");
	assert_string_equal(wire_basis_name(BASIS_L3), "l3");
	assert_string_equal(wire_mode_name(SHAPE_FAST), "fast");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_flat),
	    cmocka_unit_test(test_uplinks),
	    cmocka_unit_test(test_tap),
	    cmocka_unit_test(test_vnic_rate),
	    cmocka_unit_test(test_unshaped),
	    cmocka_unit_test(test_modes),
	    cmocka_unit_test(test_no_rate_no_offload),
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_endpoints),
	    cmocka_unit_test(test_underlay),
	    cmocka_unit_test(test_other_l2),
	    cmocka_unit_test(test_link_names),
	    cmocka_unit_test(test_dumbbell),
	    cmocka_unit_test(test_directions),
	    cmocka_unit_test(test_sysctls),
	    cmocka_unit_test(test_long_names),
	    cmocka_unit_test(test_eip_node_name),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
