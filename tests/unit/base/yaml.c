/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML: the tree, its places, and what is said about files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/base/yaml.h"

/* The tree in one line: {key@1:1: value@1:4, …}, texts as they are, quoted ones in quotes. */
static void show(struct strbuf *b, const struct yaml_node *n)
{
	const char *comma = "";

	switch (n->kind) {
	case YAML_NULL:
		strbuf_add(b, "null");
		break;
	case YAML_SCALAR:
		strbuf_addf(b, n->quoted ? "\"%s\"" : "%s", n->text);
		break;
	case YAML_SEQ:
		strbuf_addc(b, '[');
		VEC_FOREACH (item, &n->items) {
			strbuf_add(b, comma);
			show(b, *item);
			comma = ", ";
		}
		strbuf_addc(b, ']');
		break;
	case YAML_MAP:
		strbuf_addc(b, '{');
		VEC_FOREACH (pair, &n->pairs) {
			strbuf_addf(b, "%s%s@%d:%d: ", comma, pair->key, pair->key_at.line,
				    pair->key_at.column);
			show(b, pair->value);
			comma = ", ";
		}
		strbuf_addc(b, '}');
		break;
	}
	strbuf_addf(b, "@%d:%d", n->at.line, n->at.column);
}

/* Tree, then the problems; "not YAML" in front where yaml_parse() says so. */
static char *parsed_n(const char *text, size_t len)
{
	struct strbuf out = {0};
	struct problems p;
	struct yaml y;

	problems_init(&p);
	if (yaml_parse(&y, "f", text, len, &p) == -EINVAL)
		strbuf_add(&out, "not YAML: ");
	show(&out, y.root);
	strbuf_addc(&out, '\n');
	problems_print(&p, &out);
	yaml_done(&y);
	problems_done(&p);
	return strbuf_take(&out);
}

static char *parsed(const char *text)
{
	return parsed_n(text, strlen(text));
}

struct example {
	const char *text, *gives;
};

static void check(const struct example *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		autofree char *got = parsed(cases[i].text);

		if (strcmp(got, cases[i].gives) != 0)
			fail_msg("%s\ngives:\n%s\nnot:\n%s", cases[i].text, got, cases[i].gives);
	}
}

static void trees_with_places(void **state)
{
	static const struct example cases[] = {
	    {"a: 1\nb: [x, 'y', \"z\"]\n",
	     "{a@1:1: 1@1:4, b@2:1: [x@2:5, \"y\"@2:8, \"z\"@2:13]@2:4}@1:1\n"},
	    {"a:\n  b:\n    - c: 1\n      d: 2\n    - e\n",
	     "{a@1:1: {b@2:3: [{c@3:7: 1@3:10, d@4:7: 2@4:10}@3:7, e@5:7]@3:5}@2:3}@1:1\n"},
	    {"- a\n- - b\n  - c\n", "[a@1:3, [b@2:5, c@3:5]@2:3]@1:1\n"},
	    {"\u00fc: \u00e9 # comment\nb: c\n", "{\u00fc@1:1: \u00e9@1:4, b@2:1: c@2:4}@1:1\n"},
	    {"'a b': \"c\\u00e9\\n\"\n", "{a b@1:1: \"c\u00e9\n\"@1:8}@1:1\n"},
	    {"t: |\n  one\n  two\nu: >-\n  one\n  two\n",
	     "{t@1:1: \"one\ntwo\n\"@1:1, u@4:1: \"one two\"@4:1}@1:1\n"},
	    {"a: one\n  two\n", "{a@1:1: one two@1:4}@1:1\n"},
	    {"%YAML 1.2\n---\na: 1\n...\n", "{a@3:1: 1@3:4}@3:1\n"},
	    {"\xef\xbb\xbf"
	     "a: 1\n",
	     "{a@1:1: 1@1:4}@1:1\n"},
	    {"a: 1\r\nb: 2\r\n", "{a@1:1: 1@1:4, b@2:1: 2@2:4}@1:1\n"},
	    {"scalar", "scalar@1:1\n"},
	    {"{a: {b: c}, d: }", "{a@1:2: {b@1:6: c@1:9}@1:5, d@1:13: null@1:13}@1:1\n"},
	    {"[a: 1]", "[{a@1:2: 1@1:5}@1:2]@1:1\n"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void nothing(void **state)
{
	static const struct example cases[] = {
	    {"", "null@1:1\n"},
	    {"# comment\n", "null@1:1\n"},
	    {"~", "null@1:1\n"},
	    {"---\n", "null@1:1\n"},
	    {"a:\nb: ~\nc: null\nd: NULL\ne: ''\nf: 'null'\ng: !!str null\nh: nUll\n",
	     "{a@1:1: null@1:1, b@2:1: null@2:4, c@3:1: null@3:4, d@4:1: null@4:4, "
	     "e@5:1: \"\"@5:4, f@6:1: \"null\"@6:4, g@7:1: \"null\"@7:10, h@8:1: nUll@8:4}@1:1\n"},
	    {"null: 1\n'': 2\n", "{null@1:1: 1@1:7, @2:1: 2@2:5}@1:1\n"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void aliases_and_merges(void **state)
{
	static const struct example cases[] = {
	    {"a: &x 1\nb: *x\n*x : c\n", "{a@1:1: 1@1:7, b@2:1: 1@1:7, 1@3:1: c@3:6}@1:1\n"},
	    {"a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n",
	     "{a@1:1: {p@1:8: 1@1:11, q@1:14: 2@1:17}@1:7, b@2:1: {q@4:3: 3@4:6, "
	     "p@1:8: 1@1:11}@3:3}@1:1\n"},
	    {"- &x {p: 1}\n- &y {p: 2, r: 3}\n- <<: [*x, *y]\n",
	     "[{p@1:7: 1@1:10}@1:6, {p@2:7: 2@2:10, r@2:13: 3@2:16}@2:6, "
	     "{p@1:7: 1@1:10, r@2:13: 3@2:16}@3:3]@1:1\n"},
	    {"a: &x 1\nb: &x 2\nc: *x\n", "{a@1:1: 1@1:7, b@2:1: 2@2:7, c@3:1: 2@2:7}@1:1\n"},
	    {"'<<': {a: 1}\n", "{<<@1:1: {a@1:8: 1@1:11}@1:7}@1:1\n"},
	    {"<<: {a: 1}\nb: &k {}\nc: *k\n", "{b@2:1: {}@2:7, c@3:1: {}@2:7, a@1:6: 1@1:9}@1:1\n"},
	    {"a: *no\n", "{a@1:1: null@1:4}@1:1\n"
			 "f:1:4: the alias '*no' has no anchor '&no' before it\n1 problem\n"},
	    {"*no : 1\nb: 2\n",
	     "{b@2:1: 2@2:4}@1:1\n"
	     "f:1:1: the alias '*no' has no anchor '&no' before it\n1 problem\n"},
	    {"a: &x [1, *x]\n", "{a@1:1: [1@1:8, null@1:11]@1:7}@1:1\n"
				"f:1:11: the alias '*x' stands inside what it names\n1 problem\n"},
	    {"&r\na: {<<: *r}\n", "{a@2:1: {}@2:4}@2:1\n"
				  "f:2:9: the alias '*r' stands inside what it names\n1 problem\n"},
	    {"<<: [1, [2]]\n", "{}@1:1\n"
			       "f:1:6: '<<' must be a map or a list of maps, this is a text\n"
			       "f:1:9: '<<' must be a map or a list of maps, this is a list\n"
			       "2 problems\n"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void keys_are_texts_and_unique(void **state)
{
	static const struct example cases[] = {
	    {"x: 0\ny:\n  a: 1\n  b: 2\n  a: 3\n  'a': 4\n",
	     "{x@1:1: 0@1:4, y@2:1: {a@3:3: 1@3:6, b@4:3: 2@4:6}@3:3}@1:1\n"
	     "f:5:3: key 'a' twice, first at 3:3\n"
	     "f:6:3: key 'a' twice, first at 3:3\n2 problems\n"},
	    {"{a: 1, a: {b: 1, b: 2}, c: 3}", "{a@1:2: 1@1:5, c@1:25: 3@1:28}@1:1\n"
					      "f:1:8: key 'a' twice, first at 1:2\n"
					      "f:1:18: key 'b' twice, first at 1:12\n2 problems\n"},
	    {"? [a, b]\n: 1\nc: 2\n", "{c@3:1: 2@3:4}@1:1\n"
				      "f:1:3: a key must be a text, this is a list\n1 problem\n"},
	    {"? {a: {b: c}}\n: {d: e}\nf: 2\n",
	     "{f@3:1: 2@3:4}@1:1\n"
	     "f:1:3: a key must be a text, this is a map\n1 problem\n"},
	    {": 1\nc: 2\n", "{c@2:1: 2@2:4}@1:1\n"
			    "f:1:1: a key must be a text, this is nothing\n1 problem\n"},
	    {"<<: {}\n<<: {}\n", "{}@1:1\nf:2:1: key '<<' twice, first at 1:1\n1 problem\n"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void what_is_not_yaml(void **state)
{
	static const struct example cases[] = {
	    {"a: \"b\nc: 1\n",
	     "not YAML: null@1:1\nf:1:4: the quote (\") is not closed\n1 problem\n"},
	    {"a:\n\tb: 1\n", "not YAML: null@1:1\nf:2:1: tab character may not be used as "
			     "indentation\n1 problem\n"},
	    {"%YAML 3.0\n---\na: 1\n", "not YAML: null@1:1\nf:1:1: this is not YAML\n1 problem\n"},
	    {"a: [1, 2\n", "not YAML: null@1:1\n"
			   "f:2:1: ']' is missing at the end of a list\n1 problem\n"},
	    {"a: b: c\n", "not YAML: null@1:1\n"
			  "f:1:5: a second ': ' on one line; put the text in quotes\n1 problem\n"},
	    {"a: 1\n\tb: 2\n",
	     "not YAML: null@1:1\nf:1:4: this line is not 'key: value' like its neighbours; "
	     "look at its indentation and at the space after ':'\n1 problem\n"},
	    {"a: 1\n---\nb: 2\n", "{a@1:1: 1@1:4}@1:1\n"
				  "f:2:1: a second document starts here; a file holds one\n"
				  "1 problem\n"},
	    {"a: 1\n...\nb: 2\n", "{a@1:1: 1@1:4}@1:1\n"
				  "f:3:1: a second document starts here; a file holds one\n"
				  "1 problem\n"},
	    {"a: \"x\\0y\"\n", "{a@1:1: \"\"@1:4}@1:1\n"
			       "f:1:4: the text contains a NUL byte\n1 problem\n"},
	    {"a: 1\nb: x\xffy\n", "not YAML: null@1:1\nf:2:5: the file is not valid UTF-8 here\n"
				  "1 problem\n"},
	    {"a: !point 1\nb: !!int 2\nc: ! 3\n",
	     "{a@1:1: 1@1:11, b@2:1: 2@2:10, c@3:1: \"3\"@3:6}@1:1\n"
	     "f:1:11: the tag '!point' has no meaning here\n1 problem\n"},
	};
	autofree char *nul = parsed_n("a: 1\nb\0c", 8);

	(void)state;
	check(cases, ARRAY_SIZE(cases));
	assert_string_equal(nul, "not YAML: null@1:1\nf:2:2: a NUL byte in the file\n1 problem\n");
}

/* n times "open", then "middle", then n times "close". */
static char *nested(const char *open, const char *middle, const char *close, int n)
{
	struct strbuf b = {0};

	for (int i = 0; i < n; i++)
		strbuf_add(&b, open);
	strbuf_add(&b, middle);
	for (int i = 0; i < n; i++)
		strbuf_add(&b, close);
	return strbuf_take(&b);
}

static bool is_refused(const char *text, const char *says)
{
	autofree char *got = parsed(text);

	if (str_starts(got, "not YAML: null") && strstr(got, says))
		return true;
	print_message("%.300s\n", got);
	return false;
}

static void depth_has_a_limit(void **state)
{
	static const struct {
		const char *open, *middle, *close;
	} forms[] = {{"[", "x", "]"},
		     {"{a: ", "x", "}"},
		     {"- ", "x\n", ""},
		     {"? ", "x\n", ""},
		     {"[{a: ", "x", "}]"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		int fits = i == 4 ? 31 : i == 3 ? 1 : 62;
		autofree char *good = nested(forms[i].open, forms[i].middle, forms[i].close, fits);
		autofree char *over = nested(forms[i].open, forms[i].middle, forms[i].close, 65);
		autofree char *huge =
		    nested(forms[i].open, forms[i].middle, forms[i].close, 100000);
		autofree char *got = parsed(good);

		assert_false(str_starts(got, "not YAML"));
		assert_true(is_refused(over, "nested too deeply: over 64 levels"));
		assert_true(is_refused(huge, "nested too deeply: over 64 levels"));
	}
}

static void depth_counts_what_aliases_bring(void **state)
{
	autostr struct strbuf b = {0};

	(void)state;
	strbuf_add(&b, "a0: &a0 [x]\n");
	for (int i = 1; i < 100; i++)
		strbuf_addf(&b, "a%d: &a%d [*a%d]\n", i, i, i - 1);
	assert_true(is_refused(strbuf_text(&b), "nested too deeply: over 64 levels"));
}

static void alias_bombs_are_defused(void **state)
{
	autostr struct strbuf b = {0};
	int64_t start = clock_now_ns();

	(void)state;
	strbuf_add(&b, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 40; i++) {
		strbuf_addf(&b, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			strbuf_addf(&b, "*a%d%s", i - 1, k < 9 ? ", " : "]\n");
	}
	assert_true(is_refused(strbuf_text(&b), "too large: over 1000000 values"));
	assert_true(clock_now_ns() - start < 20 * NSEC_PER_SEC);
}

/* Time linear in the size: with quadratic work these would take minutes. */
static void large_maps_and_many_anchors_are_quick(void **state)
{
	autostr struct strbuf b = {0};
	int64_t start = clock_now_ns();
	struct problems p;
	struct yaml y;

	(void)state;
	for (int i = 0; i < 60000; i++)
		strbuf_addf(&b, "key%d: &anchor%d v\n", i, i);
	for (int i = 0; i < 60000; i++)
		strbuf_addf(&b, "alias%d: *anchor%d\n", i, i);
	problems_init(&p);
	assert_int_equal(yaml_parse(&y, "f", b.s, b.len, &p), 0);
	assert_int_equal(y.root->pairs.n, 120000);
	assert_int_equal(problems_count(&p), 0);
	yaml_done(&y);
	problems_done(&p);
	assert_true(clock_now_ns() - start < 20 * NSEC_PER_SEC);
}

static void nothing_is_printed(void **state)
{
	static const char *const bad[] = {
	    "a: [",    "a: b: c", "%YAML 9.9\n---\n", "%TAG x\n",      "\t- a", "&a &b c", "!<x> ",
	    "\"\\q\"", "a: *",	  "- a\n b",	      "%FOO 1\n---\na"};
	char got[100] = "";
	int fds[2], out = dup(1), errfd = dup(2);

	(void)state;
	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], 1);
	dup2(fds[1], 2);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		free(parsed(bad[i]));
	fflush(NULL);
	assert_int_equal(write(fds[1], "end", 3), 3);
	dup2(out, 1);
	dup2(errfd, 2);
	assert_true(read(fds[0], got, sizeof(got) - 1) > 0);
	assert_string_equal(got, "end");
	close(fds[0]);
	close(fds[1]);
	close(out);
	close(errfd);
}

static void wanted_kinds(void **state)
{
	static const char text[] =
	    "t: x\nl: [1]\nm: {a: b}\nn:\nyes: true\nno: false\nodd: maybe\n";
	autostr struct strbuf out = {0};
	bool yes = false, no = true, odd = true;
	struct problems p;
	struct yaml y;

	(void)state;
	problems_init(&p);
	assert_int_equal(yaml_parse(&y, "f", text, sizeof(text) - 1, &p), 0);
	assert_string_equal(yaml_want_text(yaml_get(y.root, "t"), "t", &p), "x");
	assert_ptr_equal(yaml_want_map(yaml_get(y.root, "m"), "m", &p), yaml_get(y.root, "m"));
	assert_ptr_equal(yaml_want_seq(yaml_get(y.root, "l"), "l", &p), yaml_get(y.root, "l"));
	assert_null(yaml_want_text(yaml_get(y.root, "absent"), "absent", &p));
	assert_null(yaml_get(yaml_get(y.root, "l"), "x"));
	assert_null(yaml_get(NULL, "x"));
	yaml_want_bool(yaml_get(y.root, "yes"), "yes", &yes, &p);
	yaml_want_bool(yaml_get(y.root, "no"), "no", &no, &p);
	yaml_want_bool(NULL, "absent", &odd, &p);
	assert_int_equal(problems_count(&p), 0);
	assert_true(yes);
	assert_false(no);
	assert_null(yaml_want_map(yaml_get(y.root, "l"), "hosts", &p));
	assert_null(yaml_want_seq(yaml_get(y.root, "t"), "links", &p));
	assert_null(yaml_want_text(yaml_get(y.root, "n"), "host", &p));
	assert_null(yaml_want_text(yaml_get(y.root, "m"), "name", &p));
	yaml_want_bool(yaml_get(y.root, "odd"), "snat", &odd, &p);
	yaml_want_bool(yaml_get(y.root, "l"), "snat", &odd, &p);
	assert_true(odd);
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out),
			    "f:1:4: 'links' must be a list, this is a text\n"
			    "f:2:4: 'hosts' must be a map, this is a list\n"
			    "f:2:4: 'snat' must be true or false, this is a list\n"
			    "f:3:4: 'name' must be a text, this is a map\n"
			    "f:4:1: 'host' must be a text, this is nothing\n"
			    "f:7:6: 'snat' must be true or false, this is 'maybe'\n"
			    "6 problems\n");
	yaml_done(&y);
	problems_done(&p);
}

static void unknown_keys_get_a_suggestion(void **state)
{
	static const char *const known[] = {"rate", "basis", "delay"};
	static const char text[] = "rat: 1\nbasis: l1\nfoo: 2\n";
	autostr struct strbuf out = {0};
	struct problems p;
	struct yaml y;

	(void)state;
	problems_init(&p);
	assert_int_equal(yaml_parse(&y, "f", text, sizeof(text) - 1, &p), 0);
	yaml_check_keys(y.root, "link", known, ARRAY_SIZE(known), &p);
	yaml_check_keys(NULL, "link", known, ARRAY_SIZE(known), &p);
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out),
			    "f:1:1: unknown key 'rat' in link; did you mean 'rate'?\n"
			    "f:3:1: unknown key 'foo' in link\n2 problems\n");
	yaml_done(&y);
	problems_done(&p);
}

/* Names go into file names, tables, TAP and JUnit. */
static void names_are_plain(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
	    {"a", true},
	    {"iperf3.16-x_1", true},
	    {"3proxy", true},
	    {"''", false},
	    {"\"a\\nb\"", false},
	    {"a b", false},
	    {"../a", false},
	    {"-a", false},
	    {".", false},
	    {"a/b", false},
	    {"µ", false},
	    {"a#b", false},
	    {"[a]", false},
	    {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff12345", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *text = mem_printf("name: %s\n", cases[i].text);
		struct problems p;
		struct yaml y;

		problems_init(&p);
		assert_int_equal(yaml_parse(&y, "f", text, strlen(text), &p), 0);
		const char *name = yaml_want_name(yaml_get(y.root, "name"), "name", &p);
		if (problems_count(&p) != !cases[i].good || !*name == cases[i].good)
			fail_msg("%s: '%s'", cases[i].text, name);
		yaml_done(&y);
		problems_done(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(trees_with_places),
	    cmocka_unit_test(nothing),
	    cmocka_unit_test(aliases_and_merges),
	    cmocka_unit_test(keys_are_texts_and_unique),
	    cmocka_unit_test(what_is_not_yaml),
	    cmocka_unit_test(depth_has_a_limit),
	    cmocka_unit_test(depth_counts_what_aliases_bring),
	    cmocka_unit_test(alias_bombs_are_defused),
	    cmocka_unit_test(large_maps_and_many_anchors_are_quick),
	    cmocka_unit_test(nothing_is_printed),
	    cmocka_unit_test(wanted_kinds),
	    cmocka_unit_test(names_are_plain),
	    cmocka_unit_test(unknown_keys_get_a_suggestion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
