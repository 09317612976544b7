/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths through impaired links, relays and caps of both directions; their words and pictures. */
#include <sys/socket.h>

#include "emulator/model/path.h"
#include "emulator/model/wire_text.h"
#include "tests/unit/model/lab.h"

/* "node: in → out [shaper] {link ab: words}" of each hop, a line each. */
static char *story(const struct wire *w, const struct path *p)
{
	struct strbuf out = {0};

	VEC_FOREACH (h, &p->hops) {
		strbuf_addf(&out, "%s: %s → %s", w->nodes.v[h->node].name,
			    h->dev_in < 0 ? "-" : w->devs.v[h->dev_in].name,
			    h->dev_out < 0 ? "-" : w->devs.v[h->dev_out].name);
		if (h->shaper >= 0)
			strbuf_addf(&out, " [%s]", w->devs.v[h->shaper].name);
		if (h->impair_link >= 0) {
			const struct wire_link *l = &w->links.v[h->impair_link];

			strbuf_addf(&out, " {%s %s: ", l->name, h->impair_ba ? "ba" : "ab");
			wire_text_impair(&out, h->impair_ba ? &l->impair_ba : &l->impair_ab);
			strbuf_addc(&out, '}');
		}
		strbuf_addc(&out, '\n');
	}
	return strbuf_take(&out);
}

static void check_both_ways(const struct lab *l, const char *src, const char *dst,
			    const char *const want[2])
{
	struct err err = ERR_INIT;
	struct path there, back;
	char *got;

	if (path_find(&l->w, src, dst, AF_INET, &there, &err))
		fail_msg("%s", err.text);
	got = story(&l->w, &there);
	assert_string_equal(got, want[0]);
	free(got);
	if (path_reverse(&l->w, &there, &back, &err))
		fail_msg("%s", err.text);
	got = story(&l->w, &back);
	assert_string_equal(got, want[1]);
	free(got);
	path_done(&there);
	path_done(&back);
}

#define MACHINES                                                                                   \
	"version: 1\nnodes: {a: {addresses: [10.0.0.1/24]}, b: {addresses: [10.0.0.2/24]}}\n"      \
	"links:\n  - {endpoints: [\"a:e\", \"b:e\"], rate: 10mbit, delay: 10ms, ba: {loss: 1%}, "

static const char *const both_spans[2] = {
    "a: - → e\n"
    "wires: a-e → a-e-span [a-e-span]\n"
    "wires: b-e-span → b-e {a-b ab: delay 10 ms}\n"
    "b: e → -\n",
    "b: - → e\n"
    "wires: b-e → b-e-span [b-e-span]\n"
    "wires: a-e-span → a-e {a-b ba: delay 10 ms, loss 1 %}\n"
    "a: e → -\n",
};

static void test_netem(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, MACHINES "via: netem}\n");
	check_both_ways(&l, "a", "b", both_spans);
	lab_done(&l);
}

/* No rule tells the way; the link does. */
static void test_relay(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, MACHINES "via: relay}\n");
	check_both_ways(&l, "a", "b", both_spans);
	lab_done(&l);
}

static void test_sum(void **state)
{
	static const char *const want[2] = {
	    "x: - → eth0\n"
	    "h: x-tap → x-cap [x-cap]\n"
	    "h: x-cpo → x-out\n"
	    "h: x → y\n"
	    "h: y-out → y-cap [y-cap]\n"
	    "h: y-cpo → y-tap\n"
	    "y: eth0 → -\n",
	    "y: - → eth0\n"
	    "h: y-tap → y-cap [y-cap]\n"
	    "h: y-cpo → y-out\n"
	    "h: y → x\n"
	    "h: x-out → x-cap [x-cap]\n"
	    "h: x-cpo → x-tap\n"
	    "x: eth0 → -\n",
	};
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nhosts: {h: {}}\nnetworks: {n: {cidr: 10.0.0.0/24}}\n"
		     "vms:\n  x: {network: n, vnic: {rate: 10mbit, direction: sum}}\n"
		     "  y: {network: n, vnic: {pps: 1kpps, direction: sum, queues: 4}}\n");
	check_both_ways(&l, "x", "y", want);
	lab_done(&l);
}

/* Devices that shape packets but no bytes count too; a policed direction has no other shaper. */
static void test_each_and_fabric(void **state)
{
	static const char *const want[2] = {
	    "x: - → eth0\n"
	    "h1: x-tap → x-out [x-out]\n"
	    "h1: x → nic\n"
	    "wires: h1-nic → h1-nic-span [h1-nic-span]\n"
	    "wires: fabric-h1-span → fabric-h1 {h1 uplink ab: loss of one packet in 7}\n"
	    "fabric: h1 → h2\n"
	    "wires: fabric-h2 → fabric-h2-span [fabric-h2-span]\n"
	    "wires: h2-nic-span → h2-nic {h2 uplink ba: }\n"
	    "h2: nic → y\n"
	    "h2: y-out → y-tap\n"
	    "y: eth0 → -\n",
	    "y: - → eth0\n"
	    "h2: y-tap → y-out\n"
	    "h2: y → nic\n"
	    "wires: h2-nic → h2-nic-span [h2-nic-span]\n"
	    "wires: fabric-h2-span → fabric-h2 {h2 uplink ab: loss of one packet in 7}\n"
	    "fabric: h2 → h1\n"
	    "wires: fabric-h1 → fabric-h1-span [fabric-h1-span]\n"
	    "wires: h1-nic-span → h1-nic {h1 uplink ba: }\n"
	    "h1: nic → x\n"
	    "h1: x-out → x-tap [x-tap]\n"
	    "x: eth0 → -\n",
	};
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nhosts: {h1: {}, h2: {}}\nnetworks: {n: {cidr: 10.0.0.0/24}}\n"
		     "fabric: {nic: {rate: 1gbit}, loss: {every: 7}}\n"
		     "vms: {x: {host: h1, network: n, vnic: {pps: 1kpps}}, y: {host: h2, network: "
		     "n}}\n");
	check_both_ways(&l, "x", "y", want);
	lab_done(&l);
}

/* ---- words ---- */

static void check_words(const struct wire_shape *s, const struct wire_impair *i, const char *want)
{
	struct strbuf out = {0};

	if (s)
		wire_text_shape(&out, s);
	else
		wire_text_impair(&out, i);
	assert_string_equal(strbuf_text(&out), want);
	strbuf_done(&out);
}

static void test_shape_words(void **state)
{
	static const struct wire_rate rate = {.bps = 1000000000, .basis = BASIS_L3};

	(void)state;
	check_words(&(struct wire_shape){0}, NULL, "");
	check_words(&(struct wire_shape){.rate = rate}, NULL, "1 Gbit/s l3");
	check_words(&(struct wire_shape){.pps = {.pps = 2500000}}, NULL, "2.5 Mpps");
	check_words(&(struct wire_shape){.rate = {.bps = 8000, .police = true},
					 .pps = {.pps = 10, .police = true}},
		    NULL, "8 kbit/s l1 policed, 10 pps policed");
	check_words(
	    &(struct wire_shape){
		.rate = {.bps = 1000000, .burst_bps = 5000000, .credit_ns = 60000000000},
		.queues = {.count = 4, .bps_each = 250000, .pps_each = 1000},
		.flow_bps = 100000},
	    NULL,
	    "1 Mbit/s l1, 5 Mbit/s for 60 s of credit, 4 queues of 250 kbit/s and 1 kpps, 100 "
	    "kbit/s a flow");
}

static void test_impair_words(void **state)
{
	(void)state;
	check_words(NULL, &(struct wire_impair){.given = true}, "");
	check_words(NULL,
		    &(struct wire_impair){.delay_ns = 10000000,
					  .jitter_ns = 1000000,
					  .jitter = JITTER_PARETO,
					  .loss = LOSS_RANDOM,
					  .loss_ppm = 1000,
					  .duplication_ppm = 10000},
		    "delay 10 ms ± 1 ms Pareto, loss 0.1 %, duplication 1 %");
	check_words(NULL,
		    &(struct wire_impair){.loss = LOSS_BURSTS,
					  .to_bad_ppm = 10000,
					  .to_good_ppm = 90000,
					  .bad_loss_ppm = 1000000,
					  .reordering_ppm = 50000},
		    "loss in bursts, 10 % in all, reordering 5 %");
	check_words(NULL,
		    &(struct wire_impair){.loss = LOSS_AFTER,
					  .loss_after = 5,
					  .corruption_ppm = 100,
					  .flap_up_ns = 1000000000,
					  .flap_down_ns = 100000000,
					  .black_hole = 1400},
		    "loss of all after 5 packets, corruption 0.01 %, up 1 s and down 100 ms, black "
		    "hole above 1400 bytes");
}

/* ---- pictures ---- */

static void test_pictures(void **state)
{
	struct err err = ERR_INIT;
	struct strbuf out = {0};
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nscale: 1/2\nhosts: {h1: {}, h2: {}}\nnetworks: {n: {cidr: "
		     "10.0.0.0/24}}\nfabric: {nic: {rate: 1gbit}, loss: {every: 7}}\n"
		     "vms: {x: {host: h1, network: n, vnic: {rate: 1gbit, direction: sum}}}\n"
		     "nodes: {a: {}, b: {}}\nlinks: [{endpoints: [\"a:e\", \"b:e\"], ab: {delay: "
		     "10ms, loss: 1%}}]\n");
	assert_int_equal(graph_print(&l.w, "text", &out, &err), 0);
	assert_non_null(strstr(strbuf_text(&out), "scale 1/2"));
	/* Each end sees its own arrows; what is between, spans and caps, is left out. */
	assert_non_null(strstr(strbuf_text(&out),
			       "├─ nic ═ fabric br0                     → 500 Mbit/s l1, loss of "
			       "one packet in 7,\n"
			       "    │                                       ← 500 Mbit/s l1\n"));
	assert_non_null(strstr(strbuf_text(&out),
			       "─ h1 ═ h1 br-n                         → 500 Mbit/s l1, ← 500 "
			       "Mbit/s l1,"));
	assert_non_null(strstr(strbuf_text(&out), "500 Mbit/s l3 (both directions together)"));
	assert_non_null(strstr(strbuf_text(&out), "→ unshaped, delay 10 ms, loss 1 %, ← unshaped"));
	assert_null(strstr(strbuf_text(&out), "-span"));
	assert_null(strstr(strbuf_text(&out), "-cap"));
	assert_null(strstr(strbuf_text(&out), "wires"));
	strbuf_done(&out);
	assert_int_equal(graph_print(&l.w, "mermaid", &out, &err), 0);
	assert_non_null(
	    strstr(strbuf_text(&out), "|\"→ unshaped, delay 10 ms, loss 1 %, ← unshaped\"|"));
	strbuf_done(&out);
	lab_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_netem),	cmocka_unit_test(test_relay),
	    cmocka_unit_test(test_sum),		cmocka_unit_test(test_each_and_fabric),
	    cmocka_unit_test(test_shape_words), cmocka_unit_test(test_impair_words),
	    cmocka_unit_test(test_pictures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
