/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units_fuzz: any text as each of the quantities and addresses. What was taken must be in range,
 * and what is printed of an address must read back as the same.
 */

#include "core/base/addr.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "tests/fuzz/fuzz.h"

static void quantities(const char *s)
{
	static int (*const parsers[])(const char *, int64_t *, struct err *) = {
	    units_parse_rate, units_parse_pps,	   units_parse_time,
	    units_parse_size, units_parse_percent,
	};
	struct err err;
	char b[64];
	int64_t v;

	for (size_t i = 0; i < ARRAY_SIZE(parsers); i++) {
		v = -1;
		require(parsers[i](s, &v, &err) == 0 ? v >= 0 : v == -1 && err.kind == ERR_INPUT);
	}
	if (units_parse_int(s, -1000, 1000, &v, &err) == 0)
		require(v >= -1000 && v <= 1000);
	if (units_parse_size(s, &v, &err) == 0)
		require(strlen(units_format_size(b, sizeof(b), v)) < sizeof(b) - 1);
	if (units_parse_time(s, &v, &err) == 0)
		require(strlen(units_format_time(b, sizeof(b), v)) < sizeof(b) - 1);
}

static void addresses(const char *s)
{
	struct prefix prefix, prefix_back;
	struct mac mac, mac_back;
	struct ip ip, ip_back;
	char b[ADDR_TEXT];
	struct err err;

	if (ip_parse(s, &ip, &err) == 0)
		require(ip_parse(ip_format(b, &ip), &ip_back, &err) == 0 &&
			ip_equal(&ip, &ip_back));
	if (mac_parse(s, &mac, &err) == 0)
		require(mac_parse(mac_format(b, &mac), &mac_back, &err) == 0 &&
			mac_equal(&mac, &mac_back));
	if (prefix_parse(s, &prefix, &err) == 0) {
		require(prefix_parse(prefix_format(b, &prefix), &prefix_back, &err) == 0);
		require(prefix_back.len == prefix.len && ip_equal(&prefix.ip, &prefix_back.ip));
		require(prefix_contains(&prefix, &prefix.ip));
		require(prefix_nth(&prefix, 0, &ip) == 0 && prefix_contains(&prefix, &ip));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = mem_zalloc(size + 1); /* to the byte, so that reading over its end shows */

	memcpy(s, data, size);
	quantities(s);
	addresses(s);
	free(s);
	return 0;
}
