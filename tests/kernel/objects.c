/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each kind of kernel object: made by us, read back by us, compared with what ip, bridge, tc,
 * ethtool and sysctl say, taken away, and the namespace compared with before.
 */
#include "tests/kernel/sandbox.h"

#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/stat.h>

#include "emulator/kernel/addr.h"
#include "emulator/kernel/dump.h"
#include "emulator/kernel/ethtool.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/neigh.h"
#include "emulator/kernel/qdisc.h"
#include "emulator/kernel/route.h"
#include "emulator/kernel/sysctl.h"

/* operstate follows the carrier a moment later (linkwatch). */
static const char *const volatile_names[] = {
    "handle", "bytes", "packets", "valid_life_time", "preferred_life_time", "operstate", NULL};

struct fixture {
	struct netns a, b;
	struct nl_batch batch;
	struct dump dump;
	json_t *before;
};

static json_t *all_of(const struct netns *ns)
{
	json_t *out = json_array();

	json_array_append_new(out, SANDBOX_JSON(ns, "ip", "-j", "-d", "link"));
	json_array_append_new(out, SANDBOX_JSON(ns, "ip", "-j", "addr"));
	json_array_append_new(out, SANDBOX_JSON(ns, "ip", "-j", "-4", "route"));
	json_array_append_new(out, SANDBOX_JSON(ns, "ip", "-j", "-6", "route"));
	json_array_append_new(out,
			      SANDBOX_JSON(ns, "ip", "-j", "neigh", "show", "nud", "permanent"));
	json_array_append_new(out, SANDBOX_JSON(ns, "bridge", "-j", "fdb"));
	json_array_append_new(out, SANDBOX_JSON(ns, "tc", "-j", "qdisc"));
	sandbox_strip(out, volatile_names);
	return out;
}

static struct mac mac_of(const char *text)
{
	struct err err = ERR_INIT;
	struct mac mac;

	sandbox_ok(&err, mac_parse(text, &mac, &err));
	return mac;
}

static struct ip ip_of(const char *text)
{
	struct err err = ERR_INIT;
	struct ip ip;

	sandbox_ok(&err, ip_parse(text, &ip, &err));
	return ip;
}

static struct prefix prefix_of(const char *text)
{
	struct err err = ERR_INIT;
	struct prefix p;

	sandbox_ok(&err, prefix_parse(text, &p, &err));
	return p;
}

static void send_all(struct fixture *f, const struct netns *ns)
{
	struct err err = ERR_INIT;

	sandbox_ok(&err, nl_send(ns->rt, &f->batch, &err));
}

/* Devices get no IPv6 address by themselves, so nothing comes and goes. */
static struct netns quiet_netns(const char *name)
{
	struct netns ns = sandbox_netns(name), self;
	struct err err = ERR_INIT;

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_enter(&ns, &err));
	sandbox_ok(&err, sysctl_set("net/ipv6/conf/default/addr_gen_mode", "1", &err));
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	return ns;
}

/* Two namespaces with a veth pair between them, both ends up: a:v0 (index 100) and b:eth0 (200). */
static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));
	const struct link_spec v0 = {"v0", 100, 1500, mac_of("02:00:00:00:00:01"), 0, 0, 0};
	const struct link_spec eth0 = {"eth0", 200, 1400, mac_of("02:00:00:00:00:02"), 0, 0, 0};

	f->a = quiet_netns("a");
	f->b = quiet_netns("b");
	link_veth(&f->batch, &v0, &eth0, f->b.fd);
	link_up(&f->batch, "v0", 100);
	send_all(f, &f->a);
	link_up(&f->batch, "eth0", 200);
	send_all(f, &f->b);
	f->before = all_of(&f->a);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct err err = ERR_INIT;
	struct fixture *f = *state;
	struct netns self;

	sandbox_ok(&err, netns_self(&self, &err));
	json_decref(f->before);
	nl_batch_done(&f->batch);
	dump_done(&f->dump);
	netns_close(&f->a);
	netns_close(&f->b);
	free(sandbox_run(&self, (const char *const[]){"ip", "netns", "del", "a", NULL}));
	free(sandbox_run(&self, (const char *const[]){"ip", "netns", "del", "b", NULL}));
	netns_close(&self);
	free(f);
	return 0;
}

/* What we made goes by other people's command, and nothing of it stays. */
static void as_before(struct fixture *f, const char *command)
{
	free(SANDBOX_RUN(&f->a, "sh", "-ec", command));
	sandbox_equal("namespace after removal", json_incref(f->before), all_of(&f->a));
}

static const char *text_of(json_t *j, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(j, i), key));
}

static void veth(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;

	sandbox_ok(&err, dump_links(f->a.rt, &f->dump, &err));
	const struct dump_link *l = dump_find_name(&f->dump, "v0");
	assert_non_null(l);
	assert_int_equal(l->ifindex, 100);
	assert_int_equal(l->peer, 200);
	assert_int_equal(l->mtu, 1500);
	assert_string_equal(l->kind, "veth");
	assert_true(l->up);
	json_t *j = SANDBOX_JSON(&f->b, "ip", "-j", "-d", "link", "show", "eth0");
	assert_string_equal(text_of(j, 0, "address"), "02:00:00:00:00:02");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(j, 0), "mtu")), 1400);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(j, 0), "ifindex")), 200);
	json_decref(j);
}

static void bridge(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const struct link_spec br = {"br0", 110, 1500, mac_of("02:00:00:00:00:03"), 0, 0, 0};

	link_bridge(&f->batch, &br);
	link_altname(&f->batch, "br0", 110, "a-name-of-more-than-fifteen-bytes");
	link_alias(&f->batch, "br0", 110, "the alias");
	link_master(&f->batch, "v0", 100, 110);
	link_up(&f->batch, "br0", 110);
	send_all(f, &f->a);
	sandbox_ok(&err, dump_links(f->a.rt, &f->dump, &err));
	const struct dump_link *l = dump_find_name(&f->dump, "br0");
	assert_string_equal(l->altname, "a-name-of-more-than-fifteen-bytes");
	assert_string_equal(l->alias, "the alias");
	assert_false(l->stp || l->snooping || l->forward_delay);
	assert_int_equal(dump_find_name(&f->dump, "v0")->master, 110);
	json_t *j = SANDBOX_JSON(&f->a, "ip", "-j", "-d", "link", "show", "master", "br0");
	assert_string_equal(text_of(j, 0, "ifname"), "v0");
	json_decref(j);
	j = SANDBOX_JSON(&f->a, "ip", "-j", "-d", "link", "show", "br0");
	json_t *data =
	    json_object_get(json_object_get(json_array_get(j, 0), "linkinfo"), "info_data");
	assert_int_equal(json_integer_value(json_object_get(data, "stp_state")), 0);
	assert_int_equal(json_integer_value(json_object_get(data, "forward_delay")), 0);
	assert_int_equal(json_integer_value(json_object_get(data, "mcast_snooping")), 0);
	json_decref(j);
	as_before(f, "ip link del br0");
}

static void vxlan(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const struct link_spec spec = {"vx0", 120, 1450, mac_of("02:00:00:00:00:04"), 0, 0, 0};
	const struct link_vxlan v = {100, 4789, ip_of("10.0.0.1")};
	const struct ip one = ip_of("10.0.0.2"), two = ip_of("10.0.0.3");
	size_t n = 0;

	link_vxlan(&f->batch, &spec, &v);
	neigh_fdb_add(&f->batch, "vx0", 120, &one);
	neigh_fdb_add(&f->batch, "vx0", 120, &two);
	send_all(f, &f->a);
	sandbox_ok(&err, dump_links(f->a.rt, &f->dump, &err));
	const struct dump_link *l = dump_find_name(&f->dump, "vx0");
	assert_int_equal(l->vni, 100);
	assert_int_equal(l->port, 4789);
	assert_true(ip_equal(&l->local, &v.local));
	sandbox_ok(&err, dump_neighs(f->a.rt, &f->dump, &err));
	VEC_FOREACH (e, &f->dump.neighs)
		n += e->fdb && (ip_equal(&e->ip, &one) || ip_equal(&e->ip, &two));
	assert_int_equal(n, 2);
	autofree char *text = SANDBOX_RUN(&f->a, "bridge", "fdb", "show", "dev", "vx0");
	assert_non_null(strstr(text, "00:00:00:00:00:00 dst 10.0.0.2 self permanent"));
	assert_non_null(strstr(text, "00:00:00:00:00:00 dst 10.0.0.3 self permanent"));
	as_before(f, "ip link del vx0");
}

static void address(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const struct prefix v4 = prefix_of("10.0.0.1/24"), v6 = prefix_of("2001:db8::1/64");

	addr_add(&f->batch, "v0", 100, &v4);
	addr_add(&f->batch, "v0", 100, &v6);
	send_all(f, &f->a);
	sandbox_ok(&err, dump_addrs(f->a.rt, &f->dump, &err));
	size_t found = 0;
	VEC_FOREACH (a, &f->dump.addrs) {
		if (!ip_equal(&a->prefix.ip, &v4.ip) && !ip_equal(&a->prefix.ip, &v6.ip))
			continue;
		assert_true(a->flags & IFA_F_NOPREFIXROUTE);
		assert_false(a->flags & IFA_F_TENTATIVE);
		found++;
	}
	assert_int_equal(found, 2);
	autofree char *text = SANDBOX_RUN(&f->a, "ip", "addr", "show", "dev", "v0");
	assert_non_null(strstr(text, "inet 10.0.0.1/24 scope global noprefixroute v0"));
	assert_non_null(strstr(text, "inet6 2001:db8::1/64 scope global nodad noprefixroute"));
	json_t *j = SANDBOX_JSON(&f->a, "ip", "-j", "route");
	assert_int_equal(json_array_size(j), 0);
	json_decref(j);
	as_before(f, "ip addr del 10.0.0.1/24 dev v0; ip addr del 2001:db8::1/64 dev v0");
}

static void route(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const struct prefix addr = prefix_of("10.0.0.1/24"), addr6 = prefix_of("2001:db8::1/64");
	const struct route_spec routes[] = {
	    {.dst = prefix_of("10.0.0.0/24"), .src = addr.ip, .congctl = "cubic"},
	    {.dst = {{.family = AF_INET}, 0}, .via = ip_of("10.0.0.254"), .congctl = "cubic"},
	    {.dst = prefix_of("2001:db8::/64"), .src = addr6.ip, .congctl = "cubic"},
	    {.dst = {{.family = AF_INET6}, 0}, .via = ip_of("2001:db8::ff"), .congctl = "cubic"},
	};

	addr_add(&f->batch, "v0", 100, &addr);
	addr_add(&f->batch, "v0", 100, &addr6);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		struct route_spec r = routes[i];
		r.dev = "v0";
		r.ifindex = 100;
		route_add(&f->batch, &r);
	}
	send_all(f, &f->a);
	sandbox_ok(&err, dump_routes(f->a.rt, &f->dump, &err));
	size_t cubic = 0;
	VEC_FOREACH (r, &f->dump.routes)
		cubic += r->congctl && !strcmp(r->congctl, "cubic");
	assert_int_equal(cubic, 4);
	autofree char *v4 = SANDBOX_RUN(&f->a, "ip", "-4", "route");
	assert_non_null(strstr(v4, "default via 10.0.0.254 dev v0 congctl cubic"));
	assert_non_null(strstr(v4, "10.0.0.0/24 dev v0 scope link src 10.0.0.1 congctl cubic"));
	autofree char *v6 = SANDBOX_RUN(&f->a, "ip", "-6", "route");
	assert_non_null(strstr(v6, "default via 2001:db8::ff dev v0 metric 1024 congctl cubic"));
	as_before(f, "ip -4 route flush dev v0; ip -6 route del default; "
		     "ip -6 route del 2001:db8::/64; "
		     "ip addr del 10.0.0.1/24 dev v0; ip addr del 2001:db8::1/64 dev v0");
}

static void neighbour(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const struct ip ip = ip_of("10.0.0.9");
	const struct mac mac = mac_of("02:00:00:00:00:09");

	neigh_add(&f->batch, "v0", 100, &ip, &mac);
	send_all(f, &f->a);
	sandbox_ok(&err, dump_neighs(f->a.rt, &f->dump, &err));
	bool found = false;
	VEC_FOREACH (n, &f->dump.neighs)
		found = found || (!n->fdb && ip_equal(&n->ip, &ip) && mac_equal(&n->mac, &mac) &&
				  n->state == NUD_PERMANENT);
	assert_true(found);
	autofree char *text = SANDBOX_RUN(&f->a, "ip", "neigh", "show", "nud", "permanent");
	assert_non_null(strstr(text, "10.0.0.9 dev v0 lladdr 02:00:00:00:00:09 PERMANENT"));
	as_before(f, "ip neigh del 10.0.0.9 dev v0");
}

#define TBF(stab, limit, rate_bytes, burst_bytes, overhead, mpu)                                   \
	{                                                                                          \
		.kind = TC_TBF, .parent = TC_AT_ROOT, .handle = TC_ID(1, 0),                       \
		.stab_overhead = (stab),                                                           \
		.tbf = {.rate = {(rate_bytes), (burst_bytes), (overhead), (mpu)},                  \
			.limit_bytes = (limit) }                                                   \
	}

/* The same TBF by tc and by us: tc's own listing must be equal. */
static void tbf_as_tc(struct fixture *f, const struct tc_step *t, const char *command)
{
	autofree char *by_tc = NULL, *by_us = NULL;

	free(SANDBOX_RUN(&f->a, "sh", "-c", command));
	by_tc = SANDBOX_RUN(&f->a, "tc", "-d", "qdisc", "show", "dev", "v0");
	free(SANDBOX_RUN(&f->a, "tc", "qdisc", "del", "dev", "v0", "root"));
	qdisc_step(&f->batch, "v0", 100, t, QDISC_ADD);
	send_all(f, &f->a);
	by_us = SANDBOX_RUN(&f->a, "tc", "-d", "qdisc", "show", "dev", "v0");
	assert_string_equal(by_us, by_tc);
	assert_non_null(strstr(by_us, "qdisc tbf 1: root"));
	as_before(f, "tc qdisc del dev v0 root");
}

static void tbf(void **state)
{
	const struct tc_step l1 = TBF(0, 1538000, 125000000, 125000, 24, 84);
	const struct tc_step l3 = TBF(-14, 151400, 12500000, 12500, 0, 0);
	const struct tc_step fast = TBF(0, 20000000, 12500000000ULL, 12500000, 24, 84);

	tbf_as_tc(*state, &l1,
		  "tc qdisc add dev v0 root handle 1: tbf rate 1gbit burst 125000 limit 1538000 "
		  "overhead 24 mpu 84");
	tbf_as_tc(*state, &l3,
		  "tc qdisc add dev v0 root handle 1: stab overhead -14 tbf rate 100mbit burst "
		  "12500 limit 151400");
	tbf_as_tc(*state, &fast,
		  "tc qdisc add dev v0 root handle 1: tbf rate 100gbit burst 12500000 limit "
		  "20000000 overhead 24 mpu 84");
}

static void tbf_dumped(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const struct tc_step t = TBF(-14, 2000000, 125000000, 125000, 24, 84);
	const struct dump_qdisc *q = NULL;

	qdisc_step(&f->batch, "v0", 100, &t, QDISC_ADD);
	send_all(f, &f->a);
	sandbox_ok(&err, dump_qdiscs(f->a.rt, &f->dump, &err));
	VEC_FOREACH (i, &f->dump.qdiscs)
		if (i->ifindex == 100)
			q = i;
	assert_non_null(q);
	assert_string_equal(q->kind, "tbf");
	assert_int_equal(q->handle, TC_ID(1, 0));
	assert_int_equal(q->step.tbf.rate.rate_bytes, 125000000);
	assert_int_equal(q->step.tbf.limit_bytes, 2000000);
	assert_int_equal(q->step.tbf.rate.overhead, 24);
	assert_int_equal(q->step.tbf.rate.mpu, 84);
	assert_int_equal(q->step.stab_overhead, -14);
	/* (125000 + 24) bytes at 125 MB/s, in ticks of 64 ns */
	assert_in_range(q->burst_ns, 1000192 - 128, 1000192 + 128);
	as_before(f, "tc qdisc del dev v0 root");
}

static void features(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	unsigned all = ETHTOOL_TSO | ETHTOOL_GSO | ETHTOOL_TX | ETHTOOL_UDP_SEG, on;

	free(SANDBOX_RUN(&f->b, "sh", "-c",
			 "ethtool -K eth0 tso off gso off gro off tx off tx-udp-segmentation off "
			 ">/dev/null"));
	sandbox_ok(&err, ethtool_get(f->a.rt, "v0", &on, &err));
	assert_int_equal(on & all, all);
	sandbox_ok(&err, ethtool_off(f->a.rt, "v0", ETHTOOL_ALL, &err));
	sandbox_ok(&err, ethtool_get(f->a.rt, "v0", &on, &err));
	assert_int_equal(on, 0);
	autofree char *a = SANDBOX_RUN(&f->a, "ethtool", "-k", "v0");
	autofree char *b = SANDBOX_RUN(&f->b, "ethtool", "-k", "eth0");
	assert_string_equal(strchr(a, '\n'), strchr(b, '\n'));
	assert_int_equal(ethtool_off(f->a.rt, "nosuch", all, &err), -ENODEV);
}

static void sysctls(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	struct netns self;
	char value[64];

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_enter(&f->a, &err));
	sandbox_ok(&err, sysctl_set("net/ipv4/ip_forward", "1", &err));
	sandbox_ok(&err, sysctl_get("net/ipv4/ip_forward", value, sizeof(value), &err));
	assert_string_equal(value, "1");
	sandbox_ok(&err, sysctl_set("net/ipv4/tcp_rmem", "4096 100000 200000", &err));
	sandbox_ok(&err, sysctl_get("net/ipv4/tcp_rmem", value, sizeof(value), &err));
	assert_string_equal(value, "4096 100000 200000");
	assert_int_equal(sysctl_set("net/ipv4/no_such_thing", "1", &err), -ENOENT);
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	autofree char *a = SANDBOX_RUN(&f->a, "sysctl", "-n", "net.ipv4.ip_forward");
	autofree char *b = SANDBOX_RUN(&f->b, "sysctl", "-n", "net.ipv4.ip_forward");
	assert_string_equal(a, "1\n");
	assert_string_equal(b, "0\n");
}

/* In a batch with one bad message the others happen, and the error names the bad one. */
static void error_names_message(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const struct prefix one = prefix_of("10.0.0.1/24"), two = prefix_of("10.0.0.2/24");

	addr_add(&f->batch, "v0", 100, &one);
	addr_add(&f->batch, "v0", 100, &one);
	addr_add(&f->batch, "v0", 100, &two);
	assert_int_equal(nl_send(f->a.rt, &f->batch, &err), -EEXIST);
	assert_non_null(strstr(err.text, "add address 10.0.0.1/24 to v0"));
	link_master(&f->batch, "v0", 100, 999);
	assert_true(nl_send(f->a.rt, &f->batch, &err) < 0);
	assert_non_null(strstr(err.text, "put v0 into its bridge"));
	as_before(f, "ip addr flush dev v0");
}

/* More messages than one datagram carries. */
static void many_messages(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const struct mac mac = mac_of("02:00:00:00:00:09");
	const struct prefix net = prefix_of("10.8.0.0/16");
	struct ip ip;

	for (uint64_t i = 1; i <= 3000; i++) {
		sandbox_ok(&err, prefix_nth(&net, i, &ip) < 0 ? -1 : 0);
		neigh_add(&f->batch, "v0", 100, &ip, &mac);
	}
	/* The kernel keeps at most so many (net.ipv4.neigh.default.gc_thresh3), not counting
	 * permanent ones. */
	send_all(f, &f->a);
	sandbox_ok(&err, dump_neighs(f->a.rt, &f->dump, &err));
	size_t n = 0;
	VEC_FOREACH (e, &f->dump.neighs)
		n += !e->fdb && e->ip.family == AF_INET;
	assert_int_equal(n, 3000);
}

static void namespace_names(void **state)
{
	struct err err = ERR_INIT;
	struct netns ns;
	struct stat st;

	(void)state;
	assert_int_equal(netns_create("a/b", &ns, &err), -EINVAL);
	assert_int_equal(netns_create("", &ns, &err), -EINVAL);
	assert_int_equal(netns_create("a", &ns, &err), -EEXIST);
	assert_int_equal(netns_open("nosuch", &ns, &err), -ENOENT);
	assert_int_equal(stat(NETNS_DIR "/a", &st), 0);
}

#define OBJECT_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Families are looked for, not asked for: that would load modules. */
static void families(void **state)
{
	bool loaded = access("/sys/module/openvswitch", F_OK) == 0;

	(void)state;
	assert_true(nl_has_family("nlctrl"));
	assert_false(nl_has_family("nlctr"));
	assert_false(nl_has_family("vpclab"));
	assert_true(nl_has_family("ovs_datapath") || !loaded);
	assert_int_equal(access("/sys/module/openvswitch", F_OK) == 0, loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    OBJECT_TEST(veth),
	    OBJECT_TEST(bridge),
	    OBJECT_TEST(vxlan),
	    OBJECT_TEST(address),
	    OBJECT_TEST(route),
	    OBJECT_TEST(neighbour),
	    OBJECT_TEST(tbf),
	    OBJECT_TEST(tbf_dumped),
	    OBJECT_TEST(features),
	    OBJECT_TEST(sysctls),
	    OBJECT_TEST(error_names_message),
	    OBJECT_TEST(many_messages),
	    OBJECT_TEST(namespace_names),
	    cmocka_unit_test(families),
	};

	sandbox_enter();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
