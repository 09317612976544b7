// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * down: ends one lab or all labs of this user, and returns when nothing of them is left.
 */
#include <errno.h>
#include <stdio.h>

#include "core/base/clock.h"
#include "core/cli/print.h"
#include "emulator/lab/lab.h"
#include "core/cli/command.h"

struct down_options {
	bool all, json;
};

/* Ends one lab; one that is not up is no error. */
static int down_one(const char *name, json_t *done, struct err *err)
{
	int64_t start = clock_now_ns();
	int ret = lab_end(name, err);

	if (ret == -ENOENT)
		return 0;
	if (!ret)
		json_array_append_new(done, json_pack("{s:s,s:f}", "name", name, "down_s",
						      (double)(clock_now_ns() - start) / 1e9));
	return ret;
}

/* One that failed does not keep the others up. */
static int down_listed(const struct lab_entry *labs, size_t n, json_t *done, struct err *err)
{
	int first = 0;

	for (size_t i = 0; i < n; i++) {
		struct err one = ERR_INIT;
		int ret = down_one(labs[i].name, done, &one);

		if (ret && !first) {
			first = ret;
			*err = one;
		}
	}
	return first;
}

static int too_many(const struct lab_entry *labs, size_t n, struct err *err)
{
	autostr struct strbuf names = {0};

	for (size_t i = 0; i < n; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", labs[i].name);
	return err_input(err, "%zu labs are up; name one (%s), or --all", n, strbuf_text(&names));
}

static int print_down(const struct down_options *o, const char *name, json_t *done)
{
	const json_t *lab;
	size_t i;

	if (o->json)
		return print_json(json_pack("{s:O}", "down", done));
	if (!json_array_size(done))
		printf(name ? "%s: not up\n" : "no lab is up\n", name);
	json_array_foreach(done, i, lab) printf("%s: down in %.2f s, nothing left\n",
						json_string_value(json_object_get(lab, "name")),
						json_real_value(json_object_get(lab, "down_s")));
	return EXIT_PASS;
}

static int down_some(const struct down_options *o, json_t *done, struct err *err)
{
	struct lab_entry *labs;
	size_t n;
	int ret = lab_list(&labs, &n, err);

	if (ret)
		return ret;
	ret = !o->all && n > 1 ? too_many(labs, n, err) : down_listed(labs, n, done, err);
	lab_list_free(labs, n);
	return ret;
}

static int down_run(const struct call *call, struct err *err)
{
	const struct down_options *o = call->options;
	const char *name = call->argv[0];
	json_t *done;
	int ret;

	if (o->all && name)
		return err_input(err, "a name or --all, not both");
	done = json_array();
	ret = name ? down_one(name, done, err) : down_some(o, done, err);
	if (!ret || json_array_size(done))
		print_down(o, name, done);
	json_decref(done);
	return ret;
}

static const struct option_def option_defs[] = {
    {"all", 'a', OPT_FLAG, NULL, "end all labs of this user", OPT_AT(struct down_options, all),
     NULL, 0, 0},
    OPT_JSON(struct down_options, json),
};

const struct command cmd_down = {
    .name = "down",
    .summary = "end a lab",
    .operands = "[LAB]",
    .operand_kind = OPERAND_LAB,
    .max_operands = 1,
    .description =
	"Ends the lab and returns when its processes and namespaces are gone. LAB may be\n"
	"left out when only one is up. A lab that is not up is no error.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct down_options),
    .run = down_run,
};
