/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What doctor says is true of this version: each row is tried, nothing that is not there is told.
 */
#include "tests/kernel/sandbox.h"

#include "emulator/lab/lab.h"

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

/* No adapters of other people's tools, and nothing that labs are not built of. */
static void claims(void **state)
{
	static const char *const words[] = {"clsact", "egress", "perf", "form:"};
	json_t *list = lab_doctor(), *row;
	size_t i;

	(void)state;
	assert_true(json_array_size(list) > 20);
	json_array_foreach(list, i, row)
	{
		for (size_t k = 0; k < ARRAY_SIZE(words); k++) {
			if (strstr(text_of(row, "feature"), words[k]) ||
			    strstr(text_of(row, "needed_for"), words[k]) ||
			    strstr(text_of(row, "fallback"), words[k]))
				fail_msg("%s: %s; %s", text_of(row, "feature"),
					 text_of(row, "needed_for"), text_of(row, "fallback"));
		}
	}
	json_decref(list);
}

/* A probe that is wrong itself says no: what built this lab is here. */
static void probes_succeed(void **state)
{
	static const char *const here[] = {"namespaces",
					   "veth",
					   "bridge",
					   "tbf",
					   "nft netdev dup, fwd",
					   "nft netdev counter",
					   "nft nat, conntrack",
					   "packet sockets"};
	json_t *list = lab_doctor(), *row;
	size_t i, found = 0;

	(void)state;
	json_array_foreach(list, i, row)
	{
		for (size_t k = 0; k < ARRAY_SIZE(here); k++) {
			if (!str_eq(text_of(row, "feature"), here[k]))
				continue;
			found++;
			if (!json_is_true(json_object_get(row, "available")))
				fail_msg("%s: %s", here[k], text_of(row, "detail"));
		}
	}
	assert_int_equal(found, ARRAY_SIZE(here));
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(claims),
	    cmocka_unit_test(probes_succeed),
	};

	sandbox_enter();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
