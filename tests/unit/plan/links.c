// SPDX-License-Identifier: GPL-2.0-or-later
/* What limits and impairs links, as results and inspect tell it: by whom, and how much was built.
 */
#include "tests/unit/model/lab.h"

#include "emulator/plan/plan_links.h"

static const char topology[] =
    "version: 1\n"
    "nodes:\n"
    "  a: {kind: router, addresses: {e: 10.0.0.1/24}}\n"
    "  b: {kind: router, addresses: {e: 10.0.0.2/24, f: 10.0.1.1/24, g: 10.0.2.1/24}}\n"
    "  c: {kind: router, addresses: {f: 10.0.1.2/24}}\n"
    "  d: {kind: router, addresses: {g: 10.0.2.2/24}}\n"
    "links:\n"
    "  - {endpoints: [\"a:e\", \"b:e\"], police: 10mbit, delay: 1ms}\n"
    "  - {endpoints: [\"b:f\", \"c:f\"], pps: 1kpps}\n"
    "  - {endpoints: [\"b:g\", \"d:g\"], rate: {base: 8mbit, burst: 800mbit, credit: 600s}}\n";

static const char *text_at(const json_t *links, size_t i, const char *key)
{
	const json_t *link = json_array_get(links, i);
	const json_t *way = json_object_get(link, "ab");
	const json_t *v = json_object_get(link, key);

	return json_string_value(v ? v : json_object_get(way, key));
}

static json_t *links_of(bool all)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	struct lab l;
	json_t *links;

	o.machine.netem = o.machine.police = all;
	lab_init_with(&l, topology, &o, NULL);
	links = plan_links_json(&l.w, &o.machine);
	lab_done(&l);
	assert_int_equal(json_array_size(links), 3);
	return links;
}

static void test_by_whom(void **state)
{
	json_t *links = links_of(true);

	(void)state;
	assert_string_equal(text_at(links, 0, "impaired_by"), "netem");
	assert_string_equal(text_at(links, 0, "policed_by"), "act_police");
	assert_string_equal(text_at(links, 1, "impaired_by"), "none");
	json_decref(links);
	links = links_of(false);
	assert_string_equal(text_at(links, 0, "impaired_by"), "relay");
	assert_string_equal(text_at(links, 0, "policed_by"), "a queue of two frames");
	assert_null(text_at(links, 2, "policed_by"));
	json_decref(links);
}

/* A bucket of TBF ends at 4 GiB: 43 s of the 600 that were declared. */
static void test_figures(void **state)
{
	json_t *links = links_of(true);
	const json_t *packets = json_object_get(json_array_get(links, 1), "ab");
	const json_t *credit = json_object_get(json_array_get(links, 2), "ba");
	double built = json_number_value(json_object_get(credit, "credit_s"));

	(void)state;
	assert_true(json_is_null(json_object_get(packets, "rate_bps")));
	assert_int_equal(json_integer_value(json_object_get(packets, "packets_pps")), 1000);
	assert_true(json_integer_value(json_object_get(packets, "packets_burst")) >= 32);
	assert_int_equal(json_integer_value(json_object_get(credit, "burst_rate_bps")), 800000000);
	assert_float_equal(json_number_value(json_object_get(credit, "declared_credit_s")), 600, 0);
	assert_float_equal(built, 4294967296.0 / 99e6, 0.01);
	json_decref(links);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_whom),
	    cmocka_unit_test(test_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
