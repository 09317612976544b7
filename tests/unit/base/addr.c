/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses, prefixes and MACs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/addr.h"
#include "core/base/mem.h"
#include "core/base/str.h"

static struct ip ip(const char *s)
{
	struct ip a = {0};
	struct err err;

	assert_int_equal(ip_parse(s, &a, &err), 0);
	return a;
}

static struct prefix prefix(const char *s)
{
	struct prefix p = {0};
	struct err err = ERR_INIT;

	if (prefix_parse(s, &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static void addresses_read_and_print(void **state)
{
	static const char *const cases[][2] = {
	    {"192.0.2.1", "192.0.2.1"},
	    {"0.0.0.0", "0.0.0.0"},
	    {"255.255.255.255", "255.255.255.255"},
	    {"2001:DB8:0::1", "2001:db8::1"},
	    {"::", "::"},
	    {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
	};
	char b[ADDR_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ip a = ip(cases[i][0]);

		assert_string_equal(ip_format(b, &a), cases[i][1]);
	}
	assert_string_equal(ip_format(b, &(struct ip){0}), "none");
	assert_int_equal(ip("1.2.3.4").family, AF_INET);
	assert_int_equal(ip("::1").family, AF_INET6);
}

static void wrong_addresses_are_refused(void **state)
{
	static const char *const bad[] = {
	    "",		 "192.0.2.300", "192.0.2",    "192.0.2.1.5",  "010.0.0.1", "1.2.3.04",
	    "0x1.2.3.4", "192.0.2.1 ",	" 192.0.2.1", "192.0.2.1/24", "2001:db8",  "fe80::1%eth0",
	    "1::2::3",	 ":",		"::12345",    "localhost",    "-1.2.3.4",  "1.2.3.",
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct ip a = {.family = 99};

		if (ip_parse(bad[i], &a, &err) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(a.family, 99);
	}
	ip_parse("192.0.2.300", &(struct ip){0}, &err);
	assert_string_equal(err.text, "'192.0.2.300' is not an IPv4 or IPv6 address");
}

static void prefixes_need_a_length_in_range(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"10.0.0.1", "'10.0.0.1' has no prefix length; write it like 10.0.0.1/24"},
	    {"2001:db8::1", "'2001:db8::1' has no prefix length; write it like 2001:db8::1/64"},
	    {"10.0.0.1/33", "'10.0.0.1/33': the prefix length must be 0 to 32"},
	    {"::1/129", "'::1/129': the prefix length must be 0 to 128"},
	    {"10.0.0.1/", "'10.0.0.1/': the prefix length must be 0 to 32"},
	    {"10.0.0.1/08", "'10.0.0.1/08': the prefix length must be 0 to 32"},
	    {"10.0.0.1/-1", "'10.0.0.1/-1': the prefix length must be 0 to 32"},
	    {"10.0.0.1/24 ", "'10.0.0.1/24 ': the prefix length must be 0 to 32"},
	    {"10.0.0.1/255.0.0.0", "'10.0.0.1/255.0.0.0': the prefix length must be 0 to 32"},
	    {"10.0.0.1/4294967320", "'10.0.0.1/4294967320': the prefix length must be 0 to 32"},
	    {"10.0.0.256/24", "'10.0.0.256' is not an IPv4 or IPv6 address"},
	    {"net", "'net' is not an address with a prefix length"},
	    {"/24", "'' is not an IPv4 or IPv6 address"},
	    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/1",
	     "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/1' "
	     "is not an address with a prefix length"},
	};
	struct prefix p = prefix("10.1.2.3/24");
	char b[ADDR_TEXT];
	struct err err;

	(void)state;
	assert_string_equal(prefix_format(b, &p), "10.1.2.3/24");
	assert_int_equal(prefix("::/0").len, 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(prefix_parse(bad[i].text, &p, &err), -EINVAL);
		assert_string_equal(err.text, bad[i].says);
	}
	assert_string_equal(prefix_format(b, &p), "10.1.2.3/24");
}

static void networks_and_membership(void **state)
{
	static const struct {
		const char *prefix, *network, *in, *out;
	} cases[] = {
	    {"10.1.2.3/24", "10.1.2.0/24", "10.1.2.255", "10.1.3.0"},
	    {"10.1.2.3/32", "10.1.2.3/32", "10.1.2.3", "10.1.2.2"},
	    {"10.1.2.3/0", "0.0.0.0/0", "255.1.1.1", "::1"},
	    {"10.255.2.3/9", "10.128.0.0/9", "10.128.0.0", "10.127.255.255"},
	    {"2001:db8:1::5/64", "2001:db8:1::/64", "2001:db8:1::ffff", "2001:db8:1:1::"},
	    {"2001:db8::ff/121", "2001:db8::80/121", "2001:db8::81", "2001:db8::7f"},
	};
	char b[ADDR_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct prefix p = prefix(cases[i].prefix), net = prefix_network(&p);
		struct ip in = ip(cases[i].in), out = ip(cases[i].out);

		assert_string_equal(prefix_format(b, &net), cases[i].network);
		assert_true(prefix_contains(&p, &in));
		assert_false(prefix_contains(&p, &out));
	}
}

static void overlap(void **state)
{
	struct prefix a = prefix("10.0.0.0/8"), b = prefix("10.9.0.0/16"), c = prefix("11.0.0.0/8");
	struct prefix six = prefix("::/0");

	(void)state;
	assert_true(prefix_overlaps(&a, &b));
	assert_true(prefix_overlaps(&b, &a));
	assert_true(prefix_overlaps(&a, &a));
	assert_false(prefix_overlaps(&a, &c));
	assert_false(prefix_overlaps(&a, &six));
	assert_false(prefix_overlaps(&six, &a));
	assert_true(prefix_same_network(&a, &a));
	assert_false(prefix_same_network(&a, &b));
	b = prefix("192.0.2.1/24");
	c = prefix("192.0.2.200/24");
	assert_true(prefix_same_network(&b, &c));
	c = prefix("0.0.0.0/0");
	six = prefix("::/0");
	assert_false(prefix_same_network(&c, &six));
}

static void counting_on(void **state)
{
	static const struct {
		const char *prefix;
		uint64_t n;
		const char *ip; /* NULL: not inside */
	} cases[] = {
	    {"10.0.0.77/24", 0, "10.0.0.0"},
	    {"10.0.0.77/24", 10, "10.0.0.10"},
	    {"10.0.0.0/24", 255, "10.0.0.255"},
	    {"10.0.0.0/24", 256, NULL},
	    {"10.0.0.0/16", 258, "10.0.1.2"},
	    {"10.0.0.1/32", 0, "10.0.0.1"},
	    {"10.0.0.1/32", 1, NULL},
	    {"0.0.0.0/0", UINT32_MAX, "255.255.255.255"},
	    {"0.0.0.0/0", UINT64_C(1) << 32, NULL},
	    {"2001:db8::/64", UINT64_MAX, "2001:db8::ffff:ffff:ffff:ffff"},
	    {"2001:db8::/48", 65536, "2001:db8::1:0"},
	    {"2001:db8::/120", 256, NULL},
	};
	char b[ADDR_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct prefix p = prefix(cases[i].prefix);
		struct ip a = {0};
		int rc = prefix_nth(&p, cases[i].n, &a);

		assert_int_equal(rc, cases[i].ip ? 0 : -ERANGE);
		if (cases[i].ip)
			assert_string_equal(ip_format(b, &a), cases[i].ip);
	}
	assert_int_equal(prefix_nth(&(struct prefix){0}, 0, &(struct ip){0}), -ERANGE);
}

static void equality(void **state)
{
	struct ip a = ip("1.2.3.4"), b = ip("1.2.3.4"), c = ip("1.2.3.5"), none = {0};

	(void)state;
	b.bytes[10] = 7; /* beyond an IPv4 address: of no weight */
	assert_true(ip_equal(&a, &b));
	assert_false(ip_equal(&a, &c));
	assert_false(ip_equal(&a, &none));
	assert_true(ip_equal(&none, &none));
}

static void macs(void **state)
{
	static const char *const bad[] = {"",
					  "02:00:00:00:00",
					  "02:00:00:00:00:0g",
					  "02-00-00-00-00-01",
					  "2:0:0:0:0:1",
					  "02:00:00:00:00:01:",
					  "02:00:00:00:00:011",
					  "0200.0000.0001.."};
	struct mac m, same;
	char b[ADDR_TEXT];
	struct err err;

	(void)state;
	assert_int_equal(mac_parse("02:aB:cd:00:FF:01", &m, &err), 0);
	assert_string_equal(mac_format(b, &m), "02:ab:cd:00:ff:01");
	same = m;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(mac_parse(bad[i], &m, &err), -EINVAL);
	assert_true(mac_equal(&m, &same));
}

static void macs_from_texts_are_stable_and_apart(void **state)
{
	static struct mac seen[4000];
	char text[32], b[ADDR_TEXT];
	struct mac m = mac_from_text("h1:eth0");

	(void)state;
	assert_string_equal(mac_format(b, &m), "02:87:d8:29:8f:fa"); /* plans depend on it */
	for (int i = 0; i < 4000; i++) {
		snprintf(text, sizeof(text), "vm%d:eth0", i);
		seen[i] = mac_from_text(text);
		assert_int_equal(seen[i].bytes[0], 2);
		for (int k = 0; k < i; k++)
			assert_false(mac_equal(&seen[i], &seen[k]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(addresses_read_and_print),
	    cmocka_unit_test(wrong_addresses_are_refused),
	    cmocka_unit_test(prefixes_need_a_length_in_range),
	    cmocka_unit_test(networks_and_membership),
	    cmocka_unit_test(overlap),
	    cmocka_unit_test(counting_on),
	    cmocka_unit_test(equality),
	    cmocka_unit_test(macs),
	    cmocka_unit_test(macs_from_texts_are_stable_and_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
