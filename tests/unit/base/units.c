/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers with units, in and out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"

typedef int parser(const char *s, int64_t *v, struct err *err); /* the type of all of them */

struct good {
	const char *text;
	int64_t value;
};

struct bad {
	const char *text, *says;
};

static void check_good(parser *parse, const struct good *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct err err = ERR_INIT;
		int64_t v = -1;

		if (parse(cases[i].text, &v, &err) || v != cases[i].value)
			fail_msg("'%s' gives %" PRId64 " %s", cases[i].text, v, err.text);
	}
}

static void check_bad(parser *parse, const struct bad *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct err err = ERR_INIT;
		int64_t v = 77;

		assert_int_equal(parse(cases[i].text, &v, &err), -EINVAL);
		assert_int_equal(v, 77); /* written only on success */
		assert_int_equal(err.kind, ERR_INPUT);
		if (strcmp(err.text, cases[i].says) != 0)
			fail_msg("'%s': got \"%s\"", cases[i].text, err.text);
	}
}

#define RATE_HINT "; write it like 100mbit (bits per second: kbit, mbit, gbit)"

static void rates(void **state)
{
	static const struct good good[] = {
	    {"1gbit", 1000000000},
	    {"927.122mbit", 927122000},
	    {"64kbit", 64000},
	    {"64Kbit", 64000},
	    {"1GBIT", 1000000000},
	    {"1 Gbit/s", 1000000000},
	    {"941.5 Mbit/s", 941500000},
	    {"0bit", 0},
	    {"0.001kbit", 1},
	    {"1.000000000000000000000000kbit", 1000},
	    {"9223372036854775807bit", INT64_MAX},
	    {"0000001mbit", 1000000},
	    {"100tbit", INT64_C(100000000000000)},
	};
	static const struct bad bad[] = {
	    {"100mbs", "'100mbs' is not a rate" RATE_HINT},
	    {"100", "'100' is not a rate" RATE_HINT},
	    {"0", "'0' is not a rate" RATE_HINT},
	    {"", "'' is not a rate" RATE_HINT},
	    {"mbit", "'mbit' is not a rate" RATE_HINT},
	    {".5mbit", "'.5mbit' is not a rate" RATE_HINT},
	    {"5.mbit", "'5.mbit' is not a rate" RATE_HINT},
	    {"1e3mbit", "'1e3mbit' is not a rate" RATE_HINT},
	    {"0x10mbit", "'0x10mbit' is not a rate" RATE_HINT},
	    {"+1mbit", "'+1mbit' is not a rate" RATE_HINT},
	    {" 1mbit", "' 1mbit' is not a rate" RATE_HINT},
	    {"1mbit ", "'1mbit ' is not a rate" RATE_HINT},
	    {"1  mbit", "'1  mbit' is not a rate" RATE_HINT},
	    {"1,5mbit", "'1,5mbit' is not a rate" RATE_HINT},
	    {"1mbps", "'1mbps' is not a rate" RATE_HINT}, /* tc means bytes by it */
	    {"1MB", "'1MB' is not a rate" RATE_HINT},
	    {"nan", "'nan' is not a rate" RATE_HINT},
	    {"-5mbit", "'-5mbit' is negative; a rate must be 0 or more"},
	    {"-5", "'-5' is not a rate" RATE_HINT},
	    {"0.5bit", "'0.5bit' is not a whole number of bits per second"},
	    {"0.0000000000000000000001gbit",
	     "'0.0000000000000000000001gbit' is not a whole number of bits per second"},
	    {"9223372036854775808bit", "'9223372036854775808bit' is too large for a rate"},
	    {"9223372036854776kbit", "'9223372036854776kbit' is too large for a rate"},
	    {"99999999999999999999999999999999999999999999gbit",
	     "'99999999999999999999999999999999999999999999gbit' is too large for a rate"},
	};

	(void)state;
	check_good(units_parse_rate, good, ARRAY_SIZE(good));
	check_bad(units_parse_rate, bad, ARRAY_SIZE(bad));
}

static void packet_rates(void **state)
{
	static const struct good good[] = {
	    {"300kpps", 300000}, {"2.5Mpps", 2500000}, {"50 kpps", 50000}, {"1pps", 1}};
	static const struct bad bad[] = {
	    {"300k", "'300k' is not a packet rate; write it like 300kpps (packets per second: "
		     "pps, kpps, mpps)"},
	};

	(void)state;
	check_good(units_parse_pps, good, ARRAY_SIZE(good));
	check_bad(units_parse_pps, bad, ARRAY_SIZE(bad));
}

static void times(void **state)
{
	static const struct good good[] = {
	    {"20ms", 20000000},
	    {"2s", 2000000000},
	    {"500us", 500000},
	    {"7.3 \u00b5s", 7300},
	    {"7.3\u03bcs", 7300},
	    {"0", 0},
	    {"0.0", 0},
	    {"1.5min", INT64_C(90000000000)},
	    {"1h", INT64_C(3600000000000)},
	    {"1ns", 1},
	    {"0.000000001s", 1},
	};
	static const struct bad bad[] = {
	    {"2", "'2' is not a time; write it like 20ms (ns, us, ms, s, min, h)"},
	    {"5m", "'5m' is not a time; write it like 20ms (ns, us, ms, s, min, h)"},
	    {"-1ms", "'-1ms' is negative; a time must be 0 or more"},
	    {"0.5ns", "'0.5ns' is not a whole number of nanoseconds"},
	    {"3000000000000h", "'3000000000000h' is too large for a time"},
	};

	(void)state;
	check_good(units_parse_time, good, ARRAY_SIZE(good));
	check_bad(units_parse_time, bad, ARRAY_SIZE(bad));
}

static void sizes(void **state)
{
#define SIZE_HINT "; write it like 64KiB (bytes: B, kB = 1000, KiB = 1024, MB, MiB, GB, GiB)"
	static const struct good good[] = {
	    {"64KiB", 65536},		{"1500", 1500}, {"1MB", 1000000},
	    {"1.5KiB", 1536},		{"1 kB", 1000}, {"1GiB", 1 << 30},
	    {"2TiB", INT64_C(2) << 40}, {"10B", 10},	{"0", 0},
	    {"999999999", 999999999},
	};
	static const struct bad bad[] = {
	    {"64kb", "'64kb' is not a size" SIZE_HINT}, /* bits? */
	    {"64KB", "'64KB' is not a size" SIZE_HINT}, /* 1000 or 1024? */
	    {"64k", "'64k' is not a size" SIZE_HINT},
	    {"1.5", "'1.5' is not a whole number of bytes"},
	    {"0.1KiB", "'0.1KiB' is not a whole number of bytes"},
	};

	(void)state;
	check_good(units_parse_size, good, ARRAY_SIZE(good));
	check_bad(units_parse_size, bad, ARRAY_SIZE(bad));
}

static void percentages(void **state)
{
	static const struct good good[] = {
	    {"0.1%", 1000}, {"100%", 1000000}, {"0", 0}, {"0.0001%", 1}, {"150 %", 1500000}};
	static const struct bad bad[] = {
	    {"5", "'5' is not a percentage; write it like 0.1%"},
	    {"0.00001%", "'0.00001%' is not a whole number of millionths"},
	    {"-1%", "'-1%' is negative; a percentage must be 0 or more"},
	};

	(void)state;
	check_good(units_parse_percent, good, ARRAY_SIZE(good));
	check_bad(units_parse_percent, bad, ARRAY_SIZE(bad));
}

static int parse_port(const char *s, int64_t *v, struct err *err)
{
	return units_parse_int(s, 1, 65535, v, err);
}

static int parse_any(const char *s, int64_t *v, struct err *err)
{
	return units_parse_int(s, INT64_MIN, INT64_MAX, v, err);
}

static void whole_numbers(void **state)
{
	static const struct good good[] = {{"1", 1}, {"65535", 65535}};
	static const struct good any[] = {{"0", 0},
					  {"-1", -1},
					  {"9223372036854775807", INT64_MAX},
					  {"-9223372036854775808", INT64_MIN}};
	static const struct bad bad[] = {
	    {"0", "'0' is not between 1 and 65535"},
	    {"65536", "'65536' is not between 1 and 65535"},
	    {"-3", "'-3' is not between 1 and 65535"},
	    {"99999999999999999999999999999999999999999999999",
	     "'99999999999999999999999999999999999999999999999' is not between 1 and 65535"},
	    {"", "'' is not a whole number"},
	    {"-", "'-' is not a whole number"},
	    {"010", "'010' is not a whole number"},
	    {"-0", "'-0' is not a whole number"},
	    {"1.5", "'1.5' is not a whole number"},
	    {"0x10", "'0x10' is not a whole number"},
	    {"1 ", "'1 ' is not a whole number"},
	};
	struct err err;
	int64_t v;

	(void)state;
	check_good(parse_port, good, ARRAY_SIZE(good));
	check_good(parse_any, any, ARRAY_SIZE(any));
	check_bad(parse_port, bad, ARRAY_SIZE(bad));
	assert_int_equal(parse_any("9223372036854775808", &v, &err), -EINVAL);
	assert_int_equal(parse_any("-9223372036854775809", &v, &err), -EINVAL);
}

static void printing(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rate[] = {
	    {1e9, "1 Gbit/s"},
	    {941.5e6, "941.5 Mbit/s"},
	    {927122000, "927.1 Mbit/s"},
	    {64000, "64 kbit/s"},
	    {0, "0 bit/s"},
	    {999999, "1 Mbit/s"},
	    {999940, "999.9 kbit/s"},
	    {12345e12, "12345 Tbit/s"},
	    {0.25, "0.25 bit/s"},
	    {-2e6, "-2 Mbit/s"},
	    {1000.0001, "1 kbit/s"},
	    {1e10, "10 Gbit/s"},
	};
	static const struct good time[] =
	    {
		{"20 ms", 20000000},
		{"1.5 s", 1500000000},
		{"7.3 \u00b5s", 7300},
		{"999 ns", 999},
		{"3600 s", INT64_C(3600000000000)},
		{"0 ns", 0},
		{"-5 ms", -5000000},
	    },
				 size[] = {
				     {"64 KiB", 65536},	 {"1500 B", 1500},
				     {"1 MB", 1000000},	 {"1 GB", 999999999},
				     {"2 MiB", 2 << 20}, {"1025 KiB", 1025 * 1024},
				     {"0 B", 0},	 {"12.35 kB", 12345},
				 };
	char b[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rate); i++)
		assert_string_equal(units_format_rate(b, sizeof(b), rate[i].value), rate[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(time); i++)
		assert_string_equal(units_format_time(b, sizeof(b), time[i].value), time[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(size); i++)
		assert_string_equal(units_format_size(b, sizeof(b), size[i].value), size[i].text);
	assert_string_equal(units_format_rate(b, 5, 1e9), "1 Gb"); /* cut, not overrun */
}

/* What is printed exactly reads back as the same. */
static void printed_round_values_read_back(void **state)
{
	struct err err;
	char b[64];

	(void)state;
	for (int64_t v = 1; v < INT64_C(1000000000000000); v *= 10) {
		for (int64_t k = 1; k < 10; k++) {
			int64_t back = -1;

			assert_int_equal(units_parse_rate(units_format_rate(b, 64, (double)(k * v)),
							  &back, &err),
					 0);
			assert_int_equal(back, k * v);
			units_parse_time(units_format_time(b, 64, k * v), &back, &err);
			assert_int_equal(back, k * v);
			units_parse_size(units_format_size(b, 64, k * v), &back, &err);
			assert_int_equal(back, k * v);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rates),	   cmocka_unit_test(packet_rates),
	    cmocka_unit_test(times),	   cmocka_unit_test(sizes),
	    cmocka_unit_test(percentages), cmocka_unit_test(whole_numbers),
	    cmocka_unit_test(printing),	   cmocka_unit_test(printed_round_values_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
