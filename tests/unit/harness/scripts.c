/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts from files: groups that name another script, variables changed from outside, and where in
 * which file a mistake is. The shipped ones are read as they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/share.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/script.h"
#include "core/harness/scripts.h"

static char dir[] = "/tmp/scripts-XXXXXX";
static char *main_file, *other_file;

static int own_files(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(dir));
	main_file = mem_printf("%s/main.yaml", dir);
	other_file = mem_printf("%s/other.yaml", dir);
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(main_file);
	unlink(other_file);
	rmdir(dir);
	free(main_file);
	free(other_file);
	return 0;
}

static void write_file(const char *path, const char *text)
{
	struct err err = ERR_INIT;

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
}

static int load(const char *const *set, size_t n, struct scripts *out, struct err *err)
{
	*err = ERR_INIT;
	return scripts_load(&(struct scripts_source){.name = main_file, .set = set, .n_set = n},
			    out, err);
}

#define SIZED                                                                                      \
	"version: 1\n"                                                                             \
	"variables: {size: 10kB, pause: 0}\n"                                                      \
	"groups:\n"                                                                                \
	"- name: sized\n"                                                                          \
	"  pairs: 2\n"                                                                             \
	"  commands: [connect, start_timer, {send: size}, end_timer, {sleep: pause}]\n"

static void groups_take_from_other_scripts(void **state)
{
	struct scripts s;
	struct script script;
	struct err err;

	(void)state;
	write_file(other_file, SIZED);
	write_file(main_file, "version: 1\n"
			      "duration: 7s\n"
			      "title: two kinds\n"
			      "groups:\n"
			      "- {script: other.yaml, pairs: 5, variables: {size: 1MB}}\n"
			      "- {script: other.yaml, name: small, initial_delay: 2s}\n");
	if (load(NULL, 0, &s, &err))
		fail_msg("%s", err.text);
	assert_int_equal(s.pairs, 7);
	assert_int_equal(s.duration_ns, 7 * NSEC_PER_SEC);
	assert_string_equal(s.title, "two kinds");
	assert_int_equal(script_parse_text(s.json, &script, &err), 0);
	assert_int_equal(script.groups.n, 2);
	assert_string_equal(script.groups.v[0].name, "sized");
	assert_string_equal(script.groups.v[1].name, "small");
	assert_int_equal(script_draw(&script.groups.v[0].ops.v[2].amount, 1, 0, 0), 1000000);
	assert_int_equal(script_draw(&script.groups.v[1].ops.v[2].amount, 1, 0, 0), 10000);
	assert_int_equal(script_draw(&script.groups.v[1].initial_delay, 1, 0, 0), 2 * NSEC_PER_SEC);
	script_done(&script);
	scripts_done(&s);
}

static void variables_are_changed_from_outside(void **state)
{
	static const char *const set[] = {"size={uniform: [3MB, 3MB]}", "pause=1ms"};
	static const char *const none[] = {"sise=3"}, *const bad[] = {"size"},
				 *const wrong[] = {"size=3 elephants"};
	struct scripts s;
	struct script script;
	struct err err;

	(void)state;
	write_file(main_file, SIZED);
	if (load(set, 2, &s, &err))
		fail_msg("%s", err.text);
	assert_int_equal(script_parse_text(s.json, &script, &err), 0);
	assert_int_equal(script_draw(&script.groups.v[0].ops.v[2].amount, 1, 0, 0), 3000000);
	assert_int_equal(script_draw(&script.groups.v[0].ops.v[4].amount, 1, 0, 0), NSEC_PER_MSEC);
	script_done(&script);
	scripts_done(&s);
	assert_int_equal(load(none, 1, &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "'sise'; did you mean 'size'?"));
	assert_int_equal(load(bad, 1, &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "NAME=VALUE"));
	assert_int_equal(load(wrong, 1, &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "main.yaml:6:"));
}

static void mistakes_have_their_place(void **state)
{
	static const struct {
		const char *text, *said;
	} broken[] = {
	    {"version: 1\ngroups:\n- pears: 3\n", "main.yaml:3:3: unknown key 'pears'"},
	    {"version: 2\ngroups: []\n", "main.yaml:1:10: version"},
	    {"version: 1\ngroups:\n- commands:\n  - conect\n", "main.yaml:4:5: unknown command"},
	    {"version: 1\ngroups:\n- commands:\n  - connect\n  - sned: 3kB\n",
	     "main.yaml:5:5: unknown command"},
	    {"version: 1\ngroups:\n- commands:\n  - connect\n  - start_timer\n  - send: 3kilo\n",
	     "main.yaml:6:11: "},
	    {"version: 1\nversion: 1\ngroups: []\n", "main.yaml:2:1: "},
	    {"a: [\n", "main.yaml:"},
	    {"version: 1\ngroups:\n- script: othr.yaml\n", "main.yaml:3:11: no script 'othr.yaml'"},
	    {"version: 1\ngroups:\n- script: other.yaml\n  variables: {sise: 3}\n",
	     "main.yaml:4:15: the script has no variable 'sise'; did you mean 'size'?"},
	    {"version: 1\ngroups:\n- script: other.yaml\n  commands: [connect]\n",
	     "main.yaml:3:11: give 'script' or 'commands'"},
	    {"version: 1\ngroups:\n- script: main.yaml\n", "name each other"},
	};
	struct scripts s;
	struct err err;

	(void)state;
	write_file(other_file, SIZED);
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		write_file(main_file, broken[i].text);
		if (!load(NULL, 0, &s, &err))
			fail_msg("no error: %s", broken[i].text);
		if (!strstr(err.text, broken[i].said))
			fail_msg("'%s' instead of '%s'", err.text, broken[i].said);
	}
}

static void the_shipped_ones_are_good(void **state)
{
	struct share_names names;
	struct arena a;
	struct err err = ERR_INIT;

	(void)state;
	arena_init(&a);
	share_names(SCRIPTS_KIND, &a, &names);
	assert_true(names.list.n >= 10);
	for (size_t i = 0; i < names.list.n; i++) {
		struct scripts s;

		if (scripts_load(&(struct scripts_source){.name = names.list.v[i]}, &s, &err))
			fail_msg("%s", err.text);
		assert_non_null(s.title);
		assert_int_equal(s.pairs, 1);
		scripts_done(&s);
	}
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(groups_take_from_other_scripts),
	    cmocka_unit_test(variables_are_changed_from_outside),
	    cmocka_unit_test(mistakes_have_their_place),
	    cmocka_unit_test(the_shipped_ones_are_good),
	};

	return cmocka_run_group_tests(tests, own_files, remove_files);
}
