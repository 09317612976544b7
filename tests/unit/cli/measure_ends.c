// SPDX-License-Identifier: GPL-2.0-or-later
/* measure_ends: lists of ends become pairs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/str.h"
#include "core/cli/measure_ends.h"

/* "a>b c>d" */
static void check(const char *from, const char *to, const char *lab, bool remote, const char *pairs)
{
	autostr struct strbuf got = {0};
	struct measure_ends e;
	struct err err = ERR_INIT;

	assert_int_equal(measure_ends_parse(from, to, &e, &err), 0);
	VEC_FOREACH (p, &e.pairs)
		strbuf_addf(&got, "%s%s>%s", got.len ? " " : "", p->from, p->to);
	assert_string_equal(strbuf_text(&got), pairs);
	assert_true(str_eq(e.lab, lab) || (!e.lab && !lab));
	assert_int_equal(e.remote, remote);
	measure_ends_done(&e);
}

static void test_pairs(void **state)
{
	(void)state;
	check("a", "b", NULL, false, "a>b");
	check("lab:client", "eip(web)", "lab", false, "client>eip(web)");
	check("lab:a,b", "c", "lab", false, "a>c b>c");
	check("lab:a", "b,c,d", "lab", false, "a>b a>c a>d");
	check("a,b", "c,d", NULL, false, "a>c b>d");
	check("lab:local", "b", "lab", false, "local>b"); /* a node may have that name */
}

static void test_machines(void **state)
{
	(void)state;
	check("ssh://a", "ssh://b:22", NULL, true, "ssh://a>ssh://b:22");
	check("ssh://a,tls://b:7,local", "ssh://c", NULL, true,
	      "ssh://a>ssh://c tls://b:7>ssh://c local>ssh://c");
	check("local", "ssh://[fd00::1]:22", NULL, true, "local>ssh://[fd00::1]:22");
	check("local,ssh://a", "local", NULL, true, "local>local ssh://a>local");
}

static void bad(const char *from, const char *to, const char *words)
{
	struct measure_ends e;
	struct err err = ERR_INIT;

	assert_int_equal(measure_ends_parse(from, to, &e, &err), -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("'%s' has no '%s'", err.text, words);
	measure_ends_done(&e);
}

static void test_bad(void **state)
{
	(void)state;
	bad("a,b,c", "d,e", "3 sources and 2 destinations");
	bad("a,,b", "c", "SRC: 'a,,b'");
	bad("a", "b,", "DST: 'b,'");
	bad("lab:", "b", "is empty");
	bad("ssh://a", "b", "'b' is not");
	bad("a,ssh://x", "b", "is a real machine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pairs),
	    cmocka_unit_test(test_machines),
	    cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
