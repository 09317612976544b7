/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Order and content of the operations, on a lab written down by hand (tests/unit/sample.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "emulator/plan/plan.h"
#include "tests/unit/sample.h"

static const struct machine kernel_ovs = MACHINE_DEFAULT;
static const struct machine tun_ovs = {.slip_ns = 1000000, .ovs_tun = true};
static const struct machine bare_ovs = {.slip_ns = 1000000};

static void build(struct sample *s, enum bridge_engine engine, const struct machine *m,
		  struct plan *plan)
{
	sample_init(s, engine);
	plan_build(&s->w, m, plan);
}

static void done(struct sample *s, struct plan *plan)
{
	plan_done(plan);
	wire_done(&s->w);
}

static const struct op *find(const struct plan *plan, enum op_kind kind, const char *ns,
			     const char *dev)
{
	VEC_FOREACH (op, &plan->ops) {
		if (op->kind == kind && str_eq(op->ns, ns) && (!dev || str_eq(op->dev, dev)))
			return op;
	}
	return NULL;
}

static size_t count(const struct plan *plan, enum op_kind kind)
{
	size_t n = 0;

	VEC_FOREACH (op, &plan->ops)
		n += op->kind == kind;
	return n;
}

static void test_phases_in_order(void **state)
{
	struct sample s;
	struct plan plan;

	(void)state;
	build(&s, ENGINE_LINUX, &kernel_ovs, &plan);
	for (size_t i = 1; i < plan.ops.n; i++)
		assert_true(plan.ops.v[i - 1].phase <= plan.ops.v[i].phase);
	assert_int_equal(count(&plan, OP_NETNS), s.w.nodes.n);
	assert_int_equal(count(&plan, OP_LO_UP), s.w.nodes.n);
	assert_int_equal(count(&plan, OP_OVS), 0);
	done(&s, &plan);
}

static void test_pairs_are_born_once(void **state)
{
	struct sample s;
	struct plan plan;
	size_t ends = 0;

	(void)state;
	build(&s, ENGINE_LINUX, &kernel_ovs, &plan);
	VEC_FOREACH (d, &s.w.devs)
		ends += d->kind == DEV_VETH;
	assert_int_equal(count(&plan, OP_VETH) * 2, ends);
	VEC_FOREACH (op, &plan.ops) {
		if (op->kind != OP_VETH)
			continue;
		assert_string_equal(op->ns, op->veth.a.ns);
		assert_true(op->veth.a.ifindex >= 100 && op->veth.b.ifindex >= 100);
	}
	done(&s, &plan);
}

/* Every interface comes up, a bridge only in the last phase, and each once. */
static void test_all_come_up(void **state)
{
	struct sample s;
	struct plan plan;

	(void)state;
	build(&s, ENGINE_LINUX, &kernel_ovs, &plan);
	VEC_FOREACH (d, &s.w.devs) {
		const struct op *up = find(&plan, OP_UP, s.w.nodes.v[d->node].name, d->name);

		assert_non_null(up);
		assert_int_equal(up->phase, d->kind == DEV_BRIDGE ? PHASE_BRIDGE : PHASE_CONFIG);
	}
	assert_int_equal(count(&plan, OP_UP), s.w.devs.n);
	assert_string_equal(find(&plan, OP_UP, "h1", "uplink")->up.altname, "uplink-of-host-h1");
	done(&s, &plan);
}

static void test_no_link_local_addresses(void **state)
{
	struct sample s;
	struct plan plan;
	size_t n = 0;

	(void)state;
	sample_init(&s, ENGINE_LINUX);
	*VEC_ADD(&s.w.arena, &s.w.nodes.v[s.vm1].sysctls) =
	    (struct wire_sysctl){"net/ipv6/conf/default/addr_gen_mode", "1", false};
	*VEC_ADD(&s.w.arena, &s.w.nodes.v[s.h2].sysctls) =
	    (struct wire_sysctl){"net/ipv6/conf/all/disable_ipv6", "1", true};
	plan_build(&s.w, &kernel_ovs, &plan);
	VEC_FOREACH (op, &plan.ops) {
		if (op->kind == OP_SYSCTL && strstr(op->sysctl.key, "addr_gen_mode")) {
			assert_string_equal(op->sysctl.value, "1");
			n++;
		}
	}
	/* Not twice where the model has it already, not where IPv6 is off. */
	assert_int_equal(n, s.w.nodes.n - 1);
	done(&s, &plan);
}

static void test_shaper(void **state)
{
	struct sample s;
	struct plan plan;
	const struct op *op;

	(void)state;
	build(&s, ENGINE_LINUX, &kernel_ovs, &plan);
	assert_int_equal(count(&plan, OP_TC), 4);
	op = find(&plan, OP_TC, "h1", "uplink");
	assert_int_equal(op->tc.tbf.rate.rate_bytes, 12500000);
	assert_int_equal(op->tc.tbf.rate.overhead, 24);
	assert_int_equal(op->shape->rate.bps, 100000000);
	done(&s, &plan);
}

static void test_nft_order(void **state)
{
	static const enum op_kind want[] = {OP_NFT_TABLE, OP_NFT_CHAIN, OP_NFT_CHAIN,
					    OP_NFT_RULE,  OP_NFT_RULE,	OP_NFT_RULE};
	struct sample s;
	struct plan plan;
	size_t n = 0;

	(void)state;
	build(&s, ENGINE_LINUX, &kernel_ovs, &plan);
	VEC_FOREACH (op, &plan.ops) {
		if (op->kind < OP_NFT_TABLE || op->kind > OP_NFT_RULE || !str_eq(op->ns, "h1"))
			continue;
		assert_true(n < ARRAY_SIZE(want));
		assert_int_equal(op->kind, want[n]);
		n++;
	}
	assert_int_equal(n, ARRAY_SIZE(want));
	done(&s, &plan);
}

static void test_bridge_is_ovs(void **state)
{
	struct sample s;
	struct plan plan;

	(void)state;
	build(&s, ENGINE_OVS, &kernel_ovs, &plan);
	assert_null(find(&plan, OP_BRIDGE, "h2", NULL));
	assert_null(find(&plan, OP_MASTER, "h2", NULL));
	assert_null(find(&plan, OP_UP, "h2", "br0"));
	assert_string_equal(find(&plan, OP_OVS, "h2", NULL)->ovs.datapath, "system");
	assert_int_equal(count(&plan, OP_OVS_BRIDGE), 2);
	assert_string_equal(find(&plan, OP_OVS_PORT, "h2", "vxlan9")->ovs.bridge, "br9");
	assert_non_null(find(&plan, OP_FDB, "h2", "vxlan9"));
	assert_non_null(find(&plan, OP_BRIDGE, "h1", "br0"));
	assert_null(find(&plan, OP_OFFLOAD, "fabric", "h2"));
	done(&s, &plan);
}

/* The bridge's answer to ARP is ebtables' on Linux, an OpenFlow rule on OVS, never both. */
static void test_arp_answers(void **state)
{
	static const enum bridge_engine engines[] = {ENGINE_LINUX, ENGINE_OVS};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		bool ovs = engines[i] == ENGINE_OVS;
		const struct op *op;
		struct sample s;
		struct plan plan;

		sample_init(&s, engines[i]);
		*VEC_ADD(&s.w.arena, &s.w.arpreplies) = (struct wire_arpreply){
		    .node = s.h2,
		    .dev = wire_find_dev(&s.w, s.h2, "uplink"),
		    .ip = sample_ip("10.0.0.254"),
		    .mac = {{2, 0, 0, 0, 0xab, 0xcd}},
		};
		plan_build(&s.w, &kernel_ovs, &plan);
		assert_int_equal(count(&plan, OP_ARPREPLY), !ovs);
		op = find(&plan, ovs ? OP_OVS_FLOW : OP_ARPREPLY, "h2", NULL);
		assert_non_null(op);
		if (ovs)
			assert_string_equal(
			    op->ovs.text,
			    "priority=120,arp,in_port=\"uplink\",arp_op=1,arp_tpa=10.0.0.254 "
			    "actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],"
			    "mod_dl_src:02:00:00:00:ab:cd,load:0x2->NXM_OF_ARP_OP[],"
			    "move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],"
			    "move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],"
			    "load:0x02000000abcd->NXM_NX_ARP_SHA[],"
			    "load:0x0a0000fe->NXM_OF_ARP_SPA[],IN_PORT");
		else
			assert_string_equal(op->dev, "uplink");
		done(&s, &plan);
	}
}

/* Whatever sends into a port of a userspace datapath finishes its frames; nobody else has to. */
static void test_userspace_ports(void **state)
{
	static const struct {
		const struct machine *m;
		const char *datapath;
	} rows[] = {{&tun_ovs, "netdev"}, {&bare_ovs, "dummy"}};
	static const unsigned all = OFFLOAD_TX | OFFLOAD_TSO | OFFLOAD_GSO | OFFLOAD_UDP_SEG;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample s;
		struct plan plan;

		build(&s, ENGINE_OVS, rows[i].m, &plan);
		assert_string_equal(find(&plan, OP_OVS, "h2", NULL)->ovs.datapath,
				    rows[i].datapath);
		assert_int_equal(find(&plan, OP_OFFLOAD, "fabric", "h2")->offloads_off, all);
		assert_int_equal(find(&plan, OP_OFFLOAD, "vm 2's", "eth0")->offloads_off, all);
		assert_int_equal(find(&plan, OP_OFFLOAD, "vm 2's", "eth1")->offloads_off, all);
		assert_int_equal(find(&plan, OP_OFFLOAD, "h2", "vtep")->offloads_off, all);
		assert_int_equal(find(&plan, OP_OFFLOAD, "h1", "vxlan9")->offloads_off, all);
		assert_null(find(&plan, OP_OFFLOAD, "vm1", "eth1"));
		assert_false(find(&plan, OP_OFFLOAD, "vm1", "eth0")->offloads_off & OFFLOAD_TX);
		done(&s, &plan);
	}
}

/* An address on a bridge waits for the bridge, its route for the bridge to be up. */
static void test_address_on_bridge(void **state)
{
	static const enum bridge_engine engines[] = {ENGINE_LINUX, ENGINE_OVS};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		enum plan_phase want = engines[i] == ENGINE_OVS ? PHASE_OVS : PHASE_BRIDGE;
		const struct op *addr, *up, *route;
		struct sample s;
		struct plan plan;

		sample_init(&s, engines[i]);
		sample_addr(&s.w, wire_find_dev(&s.w, s.h2, "br0"), "10.0.0.9/24");
		plan_build(&s.w, &kernel_ovs, &plan);
		addr = find(&plan, OP_ADDR, "h2", "br0");
		up = find(&plan, OP_UP, "h2", "br0");
		route = find(&plan, OP_ROUTE, "h2", "br0");
		assert_true(addr && up && route);
		assert_int_equal(up->phase, want);
		assert_int_equal(route->phase, want);
		assert_true(addr < up && up < route);
		assert_int_equal(addr->ifindex == 0, engines[i] == ENGINE_OVS);
		done(&s, &plan);
	}
}

static void test_json(void **state)
{
	struct sample s;
	struct plan plan;
	json_t *root, *list, *op;
	size_t i, shapers = 0;

	(void)state;
	build(&s, ENGINE_LINUX, &kernel_ovs, &plan);
	root = plan_json(&plan);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "vpclab-plan/1");
	list = json_object_get(root, "operations");
	assert_int_equal(json_array_size(list), plan.ops.n);
	json_array_foreach(list, i, op)
	{
		assert_non_null(json_object_get(op, "op"));
		assert_non_null(json_object_get(op, "namespace"));
		if (json_object_get(op, "rate_bytes_per_s"))
			shapers++;
	}
	assert_int_equal(shapers, 4);
	json_decref(root);
	done(&s, &plan);
}

static void test_text_explains_the_shaper(void **state)
{
	struct strbuf out = {0};
	struct sample s;
	struct plan plan;

	(void)state;
	build(&s, ENGINE_LINUX, &kernel_ovs, &plan);
	plan_print_text(&plan, &out);
	assert_non_null(
	    strstr(strbuf_text(&out),
		   "uplink: 100 Mbit/s l1, exact (a frame costs 24 bytes more, at least "
		   "84): burst 100 kB (8 ms), queue 1.514 MB (123 ms)"));
	assert_non_null(strstr(strbuf_text(&out), "vnic1 (index 106"));
	strbuf_done(&out);
	done(&s, &plan);
}

static void test_script_quotes(void **state)
{
	struct strbuf out = {0};
	struct sample s;
	struct plan plan;

	(void)state;
	build(&s, ENGINE_OVS, &tun_ovs, &plan);
	plan_print_sh(&plan, &out);
	assert_non_null(strstr(strbuf_text(&out), "\nip netns add 'vm 2'\\''s'\n"));
	assert_non_null(strstr(strbuf_text(&out), "-- add-port br0 'port$2'"));
	assert_non_null(strstr(strbuf_text(&out), "stab") ? NULL : "no size table for l1");
	assert_non_null(strstr(strbuf_text(&out), /* else vswitchd takes the shaper away */
			       "-- add-port br0 uplink -- set port uplink qos=@uplink "
			       "-- --id=@uplink create qos type=linux-noop"));
	strbuf_done(&out);
	done(&s, &plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_phases_in_order),
	    cmocka_unit_test(test_pairs_are_born_once),
	    cmocka_unit_test(test_all_come_up),
	    cmocka_unit_test(test_no_link_local_addresses),
	    cmocka_unit_test(test_shaper),
	    cmocka_unit_test(test_nft_order),
	    cmocka_unit_test(test_bridge_is_ovs),
	    cmocka_unit_test(test_arp_answers),
	    cmocka_unit_test(test_userspace_ports),
	    cmocka_unit_test(test_address_on_bridge),
	    cmocka_unit_test(test_json),
	    cmocka_unit_test(test_text_explains_the_shaper),
	    cmocka_unit_test(test_script_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
