/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison of rulesets that are written down: no kernel is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <time.h>

#include "emulator/kernel/nft_dump.h"

#define MANY	    60000
#define MANY_TIME_S 5 /* of this CPU; comparing each line with each takes a multiple */

static void add(struct nft_ruleset *r, const char *chain, const char *text, bool rule)
{
	*VEC_ADD(&r->arena, &r->lines) = (struct nft_line){chain, text, rule};
}

static void expect(const struct nft_ruleset *planned, const struct nft_ruleset *is, size_t wanted,
		   const char *text)
{
	autostr struct strbuf out = {0};
	size_t n = 0;

	nft_ruleset_compare(planned, is, "h: ", &out, &n);
	assert_string_equal(strbuf_text(&out), text);
	assert_int_equal(n, wanted);
}

static void differences(void **state)
{
	struct nft_ruleset planned = {0}, is = {0};

	(void)state;
	add(&planned, "ip a x", "hook 1", false);
	add(&planned, "ip a y", "", false);
	add(&planned, "ip a x", "one", true);
	add(&planned, "ip a y", "other", true);
	add(&planned, "ip a x", "two", true);
	add(&planned, "ip a x", "three", true);
	/* Chains in another order, which is none. */
	add(&is, "ip a x", "hook 2", false);
	add(&is, "ip b z", "", false);
	add(&is, "ip a y", "other", true);
	add(&is, "ip a y", "more", true);
	add(&is, "ip a x", "one", true);
	add(&is, "ip a x", "TWO", true);
	expect(&planned, &is, 6,
	       "h: nft ip a x: planned \"hook 1\", is \"hook 2\"\n"
	       "h: nft ip a y: missing: \n"
	       "h: nft ip a x rule 2: planned \"two\", is \"TWO\"\n"
	       "h: nft ip a x rule 3: missing: three\n"
	       "h: nft ip b z: not planned: \n"
	       "h: nft ip a y rule 2: not planned: more\n");
	expect(&is, &is, 0, "");
	nft_ruleset_done(&planned);
	nft_ruleset_done(&is);
}

static void many_rules(void **state)
{
	struct nft_ruleset planned = {0}, is = {0};
	clock_t began = clock();

	(void)state;
	for (int i = 0; i < MANY; i++) {
		add(&planned, "inet a chain", "rule", true);
		add(&is, "inet a chain", i == MANY / 2 ? "changed" : "rule", true);
	}
	expect(&planned, &is, 1,
	       "h: nft inet a chain rule 30001: planned \"rule\", is \"changed\"\n");
	assert_true((clock() - began) / CLOCKS_PER_SEC < MANY_TIME_S);
	nft_ruleset_done(&planned);
	nft_ruleset_done(&is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(differences),
	    cmocka_unit_test(many_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
