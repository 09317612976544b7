/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EIPs and routers: what they compile to, rule by rule. */
#include "tests/unit/model/lab.h"

/* ---- flat EIP ---- */

#define EIP_NS "br-public_192_0_2_50"

static void test_eip_devices(void **state)
{
	const struct wire_dev *d;
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/zstack.yaml");
	assert_int_equal(l.w.nodes.v[lab_node(&l, EIP_NS)].kind, NODE_EIP);
	assert_int_equal(l.w.nodes.v[lab_node(&l, EIP_NS)].host, lab_node(&l, "h2"));
	lab_expect_addrs(&l, EIP_NS, "flat-eip_ei", "192.0.2.50/24");
	lab_expect_addrs(&l, EIP_NS, "flat-eip_i", "10.10.0.1/24"); /* the gateway's address */
	lab_expect_addrs(&l, "flat-eip", "eth0", "10.10.0.10/24");
	lab_expect_routes(&l, "flat-eip",
			  "10.10.0.0/24 dev eth0 src 10.10.0.10 cubic\n"
			  "default via 10.10.0.1 dev eth0 cubic\n");
	lab_expect_routes(&l, EIP_NS,
			  "192.0.2.0/24 dev flat-eip_ei src 192.0.2.50\n"
			  "10.10.0.0/24 dev flat-eip_i src 10.10.0.1\n");
	d = lab_dev_at(&l, "h2", "flat-eip_eo");
	assert_int_equal(d->peer, lab_dev(&l, EIP_NS, "flat-eip_ei"));
	assert_int_equal(d->master, lab_dev(&l, "h2", "br-public"));
	assert_string_equal(d->altname, "eip-192.0.2.50-eo");
	assert_string_equal(d->alias, "eip:flat-eip,eip_addr:192.0.2.50,vnic:flat-eip,"
				      "vnic_ip:10.10.0.10,vm:flat-eip,vip:192.0.2.50");
	assert_int_equal(d->mtu, 65500);
	/* Both flat networks share one bridge: that is what the fence is for. */
	assert_int_equal(lab_dev_at(&l, "h2", "flat-eip_o")->master,
			 lab_dev(&l, "h2", "br-public"));
	assert_string_equal(lab_sysctl(&l, EIP_NS, "net/ipv4/ip_forward"), "1");
	/* Not what the machine happens to have. */
	assert_string_equal(lab_sysctl(&l, EIP_NS, "net/ipv4/conf/all/send_redirects"), "1");
	assert_string_equal(lab_sysctl(&l, EIP_NS, "net/ipv4/conf/default/send_redirects"), "1");
	lab_done(&l);
}

static void test_eip_rules(void **state)
{
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/zstack.yaml");
	lab_expect_chain(&l, EIP_NS, "ip nat", "PREROUTING",
			 "ip daddr 192.0.2.50 counter jump DNAT-192.0.2.50\n");
	lab_expect_chain(&l, EIP_NS, "ip nat", "POSTROUTING",
			 "ip saddr 10.10.0.10 counter jump SNAT-192.0.2.50\n");
	lab_expect_chain(&l, EIP_NS, "ip nat", "DNAT-192.0.2.50", "counter dnat to 10.10.0.10\n");
	lab_expect_chain(&l, EIP_NS, "ip nat", "SNAT-192.0.2.50", "counter snat to 192.0.2.50\n");
	lab_expect_chain(
	    &l, EIP_NS, "ip filter", "FORWARD",
	    "ip saddr 10.10.0.10 ip daddr != 10.10.0.0/24 counter jump vip-perf\n"
	    "ip saddr != 10.10.0.0/24 ip daddr 10.10.0.10 counter jump vip-perf\n"
	    "iifname \"flat-eip_ei\" ip daddr != 10.10.0.10 counter reject with icmp "
	    "port-unreachable\n"
	    "iifname \"flat-eip_i\" oifname \"flat-eip_ei\" counter jump FWD-192.0.2.50\n"
	    "iifname \"flat-eip_ei\" oifname \"flat-eip_i\" counter jump FWD-192.0.2.50\n");
	lab_expect_chain(
	    &l, EIP_NS, "ip filter", "vip-perf",
	    "ip saddr 10.10.0.10 counter return\nip daddr 10.10.0.10 counter return\n");
	lab_expect_chain(&l, EIP_NS, "ip filter", "FWD-192.0.2.50", "counter accept\n");
	lab_done(&l);
}

/* One EIP with given MACs, so that the rules can be written down. */
static void init_fence(struct lab *l, const char *bridge, const char *form)
{
	autofree char *text =
	    mem_printf("version: 1\nhosts: {h: {bridge: %s}}\n"
		       "networks: {pub: {cidr: 192.0.2.0/24}, in: {cidr: 10.0.0.0/24}}\n"
		       "vms:\n"
		       "  a: {network: in, vnic: {mac: 02:00:00:00:00:0a}, "
		       "eip: {address: 192.0.2.9, form: %s}}\n"
		       "  b: {network: in}\n",
		       bridge, form);

	lab_init(l, text);
}

static void test_fence_2018(void **state)
{
	const struct wire_arpreply *a;
	struct lab l;

	(void)state;
	init_fence(&l, "linux", "2018");
	assert_int_equal(l.w.arpreplies.n, 1);
	a = &l.w.arpreplies.v[0];
	assert_int_equal(a->dev, lab_dev(&l, "h", "a"));
	assert_true(mac_equal(&a->mac, &lab_dev_at(&l, "br-pub_192_0_2_9", "a_i")->mac));
	lab_expect_chain(&l, "h", "bridge fence", "prerouting", "");
	lab_expect_chain(&l, "h", "bridge fence", "postrouting",
			 "arp operation request arp daddr ip 10.0.0.1 "
			 "arp saddr ether != 02:00:00:00:00:0a oifname \"a_o\" counter drop\n"
			 "arp operation request arp daddr ip 10.0.0.1 "
			 "arp saddr ether != 02:00:00:00:00:0a oifname \"a_eo\" counter drop\n");
	assert_int_equal(l.w.neighs.n, 0);
	assert_int_equal(lab_dev_at(&l, "h", "a_o")->mtu, 1500);
	lab_done(&l);
}

static void test_fence_2019(void **state)
{
	autofree char *third = NULL;
	char inner[ADDR_TEXT];
	struct lab l;

	(void)state;
	init_fence(&l, "linux", "2019");
	mac_format(inner, &lab_dev_at(&l, "br-pub_192_0_2_9", "a_i")->mac);
	third = mem_printf("arp operation request arp daddr ip 10.0.0.1 "
			   "arp saddr ether != 02:00:00:00:00:0a oifname \"a_o\" counter drop\n"
			   "arp operation request arp daddr ip 10.0.0.1 "
			   "arp saddr ether != 02:00:00:00:00:0a oifname \"a_eo\" counter drop\n"
			   "arp operation request arp saddr ip 10.0.0.1 "
			   "ether saddr != %s oifname \"a\" counter drop\n",
			   inner);
	lab_expect_chain(&l, "h", "bridge fence", "postrouting", third);
	lab_expect_chain(&l, "h", "bridge fence", "prerouting",
			 "arp operation request iifname \"a_o\" counter drop\n");
	assert_int_equal(l.w.arpreplies.n, 2);
	assert_int_equal(l.w.arpreplies.v[1].dev, lab_dev(&l, "h", "a_o"));
	assert_true(mac_equal(&l.w.arpreplies.v[1].mac, &lab_dev_at(&l, "a", "eth0")->mac));
	assert_int_equal(l.w.neighs.n, 1);
	assert_int_equal(l.w.neighs.v[0].dev, lab_dev(&l, "br-pub_192_0_2_9", "a_i"));
	assert_int_equal(lab_dev_at(&l, "h", "a_o")->mtu, 65500);
	lab_done(&l);
}

static bool has_flow(const struct lab *l, const char *start)
{
	VEC_FOREACH (f, &l->w.flows) {
		if (str_starts(f->text, start))
			return true;
	}
	return false;
}

static void test_fence_ovs(void **state)
{
	struct lab l;

	(void)state;
	init_fence(&l, "ovs", "2018");
	assert_int_equal(l.w.flows.n, 1);
	assert_int_equal(l.w.arpreplies.n, 1);
	assert_int_equal(l.w.arpreplies.v[0].dev, lab_dev(&l, "h", "a"));
	assert_true(has_flow(&l, "priority=110,arp,arp_op=1,arp_tpa=10.0.0.1 "
				 "actions=output:\"a\",output:\"b\""));
	lab_done(&l);
	init_fence(&l, "ovs", "2019");
	assert_int_equal(l.w.arpreplies.n, 2);
	assert_int_equal(l.w.arpreplies.v[1].dev, lab_dev(&l, "h", "a_o"));
	assert_true(mac_equal(&l.w.arpreplies.v[1].mac, &lab_dev_at(&l, "a", "eth0")->mac));
	assert_true(has_flow(&l, "priority=115,arp,in_port=\"a_o\",arp_op=1 actions=drop"));
	assert_true(has_flow(&l, "priority=105,arp,arp_op=1,arp_spa=10.0.0.1 "
				 "actions=output:\"b\",output:\"a_eo\",output:\"a_o\""));
	assert_true(has_flow(&l, "priority=112,arp,arp_op=1,arp_spa=10.0.0.1,arp_tpa=10.0.0.1 "
				 "actions=output:\"b\""));
	lab_done(&l);
}

static void test_public_gateway(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nhosts: {h: {}}\n"
		     "networks:\n"
		     "  pub: {cidr: 192.0.2.0/24, gateway: 192.0.2.254}\n"
		     "  in: {cidr: 10.0.0.0/24, gateway: 10.0.0.9}\n"
		     "  vpc: {type: vpc, cidr: 10.1.0.0/24, router: r}\n"
		     "routers: {r: {networks: [pub]}}\n"
		     "vms:\n"
		     "  a: {network: in, eip: 192.0.2.9}\n"
		     "  gw: {network: pub, vnic: {address: 192.0.2.254}}\n");
	lab_expect_routes(&l, "br-pub_192_0_2_9",
			  "192.0.2.0/24 dev a_ei src 192.0.2.9\n"
			  "10.0.0.0/24 dev a_i src 10.0.0.9\n"
			  "default via 192.0.2.254 dev a_ei\n");
	lab_expect_routes(&l, "r",
			  "192.0.2.0/24 dev pub src 192.0.2.2\n"
			  "default via 192.0.2.254 dev pub\n"
			  "10.1.0.0/24 dev pri src 10.1.0.1\n");
	lab_expect_routes(&l, "a",
			  "10.0.0.0/24 dev eth0 src 10.0.0.10 cubic\n"
			  "default via 10.0.0.9 dev eth0 cubic\n");
	/* The gateway itself has no way out by itself. */
	lab_expect_routes(&l, "gw", "192.0.2.0/24 dev eth0 src 192.0.2.254 cubic\n");
	lab_done(&l);
}

/* ---- VPC ---- */

static void test_router(void **state)
{
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/vpc.yaml");
	lab_expect_addrs(&l, "vr1", "pub", "192.0.2.2/24 192.0.2.60/24");
	lab_expect_addrs(&l, "vr1", "pri", "10.20.0.1/24");
	lab_expect_chain(&l, "vr1", "ip nat", "PREROUTING",
			 "ip daddr 192.0.2.60 counter dnat to 10.20.0.10\n");
	lab_expect_chain(&l, "vr1", "ip nat", "POSTROUTING",
			 "oifname \"pub\" ip saddr 10.20.0.10 counter snat to 192.0.2.60\n"
			 "oifname \"pub\" ip saddr 10.20.0.0/24 ip daddr != 224.0.0.0/8 "
			 "counter snat to 192.0.2.2\n"
			 "oifname \"pri\" ip saddr 10.20.0.0/24 ip daddr != 224.0.0.0/8 "
			 "counter snat to 192.0.2.2\n");
	lab_expect_chain(&l, "vr1", "ip filter", "pub.in",
			 "ct state established,related counter return\n"
			 "ip daddr 10.20.0.10 ct state new,established,related counter accept\n"
			 "counter reject with icmp port-unreachable\n");
	lab_expect_chain(&l, "vr1", "ip filter", "pri.in",
			 "ct state established,related counter return\n"
			 "ip saddr 10.20.0.10 ct state new,established,related counter accept\n"
			 "ct state new counter accept\n"
			 "counter reject with icmp port-unreachable\n");
	lab_expect_chain(&l, "vr1", "ip filter", "pub.local",
			 "ip daddr 192.0.2.2 ct state established,related counter return\n"
			 "meta l4proto icmp counter return\n"
			 "tcp dport 22 counter reject with icmp port-unreachable\n"
			 "counter reject with icmp port-unreachable\n");
	lab_expect_chain(&l, "vr1", "ip filter", "FORWARD", "counter jump IN\ncounter jump OUT\n");
	lab_expect_chain(
	    &l, "vr1", "ip filter", "IN",
	    "iifname \"pub\" counter jump pub.in\niifname \"pri\" counter jump pri.in\n");
	assert_string_equal(lab_sysctl(&l, "vr1", "net/ipv4/conf/all/arp_ignore"), "1");
	assert_string_equal(lab_sysctl(&l, "vr1", "net/ipv4/conf/all/send_redirects"), "0");
	lab_done(&l);
}

static void test_vxlan(void **state)
{
	const struct wire_dev *d;
	char text[ADDR_TEXT];
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/vpc.yaml");
	d = lab_dev_at(&l, "h2", "vxlan100");
	assert_int_equal(d->kind, DEV_VXLAN);
	assert_int_equal(d->master, lab_dev(&l, "h2", "br-tenant"));
	assert_int_equal(d->vni, 100);
	assert_int_equal(d->vxlan_port, 4789);
	assert_string_equal(ip_format(text, &d->vxlan_local), "172.31.255.2");
	assert_int_equal(d->vxlan_remotes.n, 2);
	assert_string_equal(ip_format(text, &d->vxlan_remotes.v[0]), "172.31.255.1");
	assert_string_equal(ip_format(text, &d->vxlan_remotes.v[1]), "172.31.255.3");
	assert_int_equal(lab_dev_at(&l, "web", "eth0")->mtu, 1450);
	assert_int_equal(lab_dev_at(&l, "vr1", "pri")->mtu, 1450);
	assert_int_equal(lab_dev_at(&l, "vr1", "pub")->mtu, 1500);
	lab_done(&l);
}

static void test_two_vpcs(void **state)
{
	struct lab l;

	(void)state;
	lab_init_file(&l, "topologies/two-vpc.yaml");
	lab_expect_addrs(&l, "red-1", "eth0", "10.20.0.10/24");
	lab_expect_addrs(&l, "blue-1", "eth0", "10.20.0.10/24");
	assert_int_not_equal(lab_dev_at(&l, "h1", "red-1")->master,
			     lab_dev_at(&l, "h1", "blue-1")->master);
	lab_expect_chain(&l, "vr-blue", "ip nat", "PREROUTING",
			 "ip daddr 192.0.2.70 counter dnat to 10.20.0.10\n");
	assert_int_equal(l.w.nats.n, 2);
	lab_done(&l);
}

static void test_router_with_two_networks(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nhosts: {h: {}}\n"
		     "networks:\n"
		     "  pub: {cidr: [192.0.2.0/24, \"2001:db8::/64\"]}\n"
		     "  v1: {type: vpc, cidr: [10.1.0.0/24, \"fd01::/64\"], router: r}\n"
		     "  v2: {type: vpc, cidr: 10.2.0.0/24, router: r}\n"
		     "routers: {r: {networks: [v1, pub]}}\n"
		     "vms: {a: {networks: [v2, v1]}}\n");
	lab_expect_addrs(&l, "r", "pub", "192.0.2.2/24 2001:db8::2/64");
	lab_expect_addrs(&l, "r", "pri", "10.1.0.1/24 fd01::1/64");
	lab_expect_addrs(&l, "r", "pri2", "10.2.0.1/24");
	lab_expect_chain(&l, "r", "ip nat", "POSTROUTING", ""); /* no snat was asked for */
	lab_expect_chain(&l, "r", "ip6 filter", "pub.in",
			 "ct state established,related counter return\n"
			 "counter reject with icmpv6 port-unreachable\n");
	/* One default route per family, by the first vNIC that has a gateway there. */
	lab_expect_routes(&l, "a",
			  "10.2.0.0/24 dev eth0 src 10.2.0.10 cubic\n"
			  "default via 10.2.0.1 dev eth0 cubic\n"
			  "10.1.0.0/24 dev eth1 src 10.1.0.10 cubic\n"
			  "fd01::/64 dev eth1 src fd01::a cubic\n"
			  "default via fd01::1 dev eth1 cubic\n");
	assert_string_equal(lab_sysctl(&l, "r", "net/ipv6/conf/all/forwarding"), "1");
	/* Two overlays without a VNI get one each; on one host there is no VXLAN. */
	VEC_FOREACH (d, &l.w.devs)
		assert_int_not_equal(d->kind, DEV_VXLAN);
	lab_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_eip_devices), cmocka_unit_test(test_eip_rules),
	    cmocka_unit_test(test_fence_2018),	cmocka_unit_test(test_fence_2019),
	    cmocka_unit_test(test_fence_ovs),	cmocka_unit_test(test_public_gateway),
	    cmocka_unit_test(test_router),	cmocka_unit_test(test_vxlan),
	    cmocka_unit_test(test_two_vpcs),	cmocka_unit_test(test_router_with_two_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
