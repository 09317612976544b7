/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shipped profiles: each is sound, those of published figures are what ci/profiles writes from
 * published.csv, and each row of that is one profile with the row's figures.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/file.h"
#include "core/base/proc.h"
#include "core/base/units.h"
#include "emulator/model/profile.h"

#define DIR_PROFILES "topologies/profiles"
#define TABLE	     DIR_PROFILES "/published.csv"

static char *slurp(const char *path, size_t *len)
{
	struct err err = ERR_INIT;
	char *text = NULL;

	if (file_read(path, &text, len, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

static void read_profiles(const char *provider, struct profiles *out)
{
	autofree char *path = mem_printf(DIR_PROFILES "/%s.yaml", provider);
	autofree char *name = mem_printf("profiles/%s.yaml", provider);
	struct topology_file file = {.name = name};
	autostr struct strbuf found = {0};
	autofree char *text = slurp(path, &file.len);
	struct problems p;

	file.text = text;
	problems_init(&p);
	profiles_read(&file, out, &p);
	problems_print(&p, &found);
	assert_string_equal(strbuf_text(&found), "");
	problems_done(&p);
}

/* Nothing without a source, and nothing that limits nothing. */
static void check_provider(const char *provider)
{
	struct profiles all;

	read_profiles(provider, &all);
	assert_true(all.list.n > 0);
	assert_non_null(all.description);
	VEC_FOREACH (p, &all.list) {
		if (!p->source || !p->note || !wire_shape_any(&p->shape))
			fail_msg("%s has no source, no note or no cap", p->name);
	}
	profiles_done(&all);
}

static int is_yaml(const struct dirent *e)
{
	return str_ends(e->d_name, ".yaml");
}

static void test_sound(void **state)
{
	struct dirent **list;
	int n = scandir(DIR_PROFILES, &list, is_yaml, alphasort);

	(void)state;
	assert_in_range(n, 6, 1000);
	for (int i = 0; i < n; i++) {
		autofree char *provider = mem_printf(
		    "%.*s", (int)(strlen(list[i]->d_name) - strlen(".yaml")), list[i]->d_name);

		check_provider(provider);
		free(list[i]);
	}
	free(list);
}

/* ---- the table ---- */

enum { PROVIDER, TYPE, VCPU, GIB, BASE, BURST, PPS, CONNECTIONS, QUEUES, COLUMNS = 12 };

static void split(char *line, char *cells[COLUMNS])
{
	for (int i = 0; i < COLUMNS; i++)
		cells[i] = strsep(&line, ",\n");
}

static int64_t bps_of(const char *gbps)
{
	return (int64_t)(strtod(gbps, NULL) * 1e9 + 0.5);
}

static void check_row(char *cells[COLUMNS], const struct profiles *all)
{
	const char *provider = str_starts(cells[PROVIDER], "otc") ? "otc" : cells[PROVIDER];
	autofree char *name = mem_printf("%s/%s", provider, cells[TYPE]);
	int64_t burst = bps_of(cells[BURST]);

	VEC_FOREACH (p, &all->list) {
		if (!str_eq(p->name, name))
			continue;
		assert_int_equal(p->shape.rate.bps, bps_of(cells[BASE]));
		assert_int_equal(p->shape.rate.burst_bps, burst > p->shape.rate.bps ? burst : 0);
		assert_int_equal(p->shape.pps.pps, atoll(cells[PPS]));
		assert_int_equal(p->shape.queues.count, atoi(cells[QUEUES]));
		assert_int_equal(p->connections, atoll(cells[CONNECTIONS]));
		assert_int_equal(p->vcpu, atoi(cells[VCPU]));
		assert_true(p->memory_gib == strtod(cells[GIB], NULL));
		return;
	}
	fail_msg("row '%s' of " TABLE " has no profile", name);
}

static void test_table(void **state)
{
	static const char *const providers[] = {"aliyun", "tencent", "otc", "aws", "gcp"};
	struct profiles all[ARRAY_SIZE(providers)];
	size_t len, rows = 0, n = 0;
	autofree char *text = slurp(TABLE, &len);
	char *rest = strchr(text, '\n') + 1, *line;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(providers); i++) {
		read_profiles(providers[i], &all[i]);
		n += all[i].list.n;
	}
	while ((line = strsep(&rest, "\n")) && *line) {
		char *cells[COLUMNS];
		size_t i = 0;

		split(line, cells);
		while (i < ARRAY_SIZE(providers) && !str_starts(cells[PROVIDER], providers[i]))
			i++;
		assert_in_range(i, 0, ARRAY_SIZE(providers) - 1);
		check_row(cells, &all[i]);
		rows++;
	}
	assert_int_equal(rows, 787);
	assert_int_equal(n, rows);
	for (size_t i = 0; i < ARRAY_SIZE(providers); i++)
		profiles_done(&all[i]);
}

/* The generator's exit status. */
static int generate(const char *table, const char *dir)
{
	const char *const argv[] = {"ci/profiles", table, dir, NULL};
	struct err err = ERR_INIT;
	int status;

	if (proc_run(argv, 30 * NSEC_PER_SEC, NULL, NULL, &status, &err))
		fail_msg("%s", err.text);
	return status;
}

/* What is in the tree is what the generator writes. */
static void test_generated(void **state)
{
	static const char *const providers[] = {"aliyun", "tencent", "otc", "aws", "gcp"};
	char dir[] = "/tmp/vpclab-profiles-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	int status = generate(TABLE, dir);

	for (size_t i = 0; !status && i < ARRAY_SIZE(providers); i++) {
		autofree char *made = mem_printf("%s/%s.yaml", dir, providers[i]);
		autofree char *kept = mem_printf(DIR_PROFILES "/%s.yaml", providers[i]);
		size_t len;
		autofree char *a = slurp(made, &len), *b = slurp(kept, &len);

		unlink(made);
		if (!str_eq(a, b))
			fail_msg("%s is not what ci/profiles writes; run make profiles", kept);
	}
	assert_int_equal(status, 0);
	assert_int_equal(rmdir(dir), 0); /* it wrote nothing else */
}

/* A table that is not as expected is refused, not half written in silence. */
static void test_bad_table(void **state)
{
	static const char table[] = "provider,rate\naliyun,1\n";
	char dir[] = "/tmp/vpclab-profiles-XXXXXX";
	struct err err = ERR_INIT;

	(void)state;
	assert_non_null(mkdtemp(dir));
	autofree char *path = mem_printf("%s/bad.csv", dir);

	assert_int_equal(file_write(path, table, strlen(table), &err), 0);
	assert_int_not_equal(generate(path, dir), 0);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sound),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_generated),
	    cmocka_unit_test(test_bad_table),
	};

	return cmocka_run_group_tests_name("profiles", tests, NULL, NULL);
}
