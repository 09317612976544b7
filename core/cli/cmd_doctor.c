// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor: what this kernel and this user can do, and what replaces what is missing.
 */
#include <string.h>

#include "core/cli/command.h"
#include "core/cli/columns.h"
#include "core/cli/print.h"
#include "emulator/lab/lab.h"

struct doctor_options {
	bool json;
};

static const char *text_of(const json_t *feature, const char *key)
{
	const char *s = json_string_value(json_object_get(feature, key));

	return s ? s : "";
}

/* Missing, and nothing takes its place. */
static bool is_fatal(const json_t *feature)
{
	return !json_is_true(json_object_get(feature, "available")) &&
	       !*text_of(feature, "fallback");
}

static void add_feature(struct columns *c, const json_t *feature)
{
	bool available = json_is_true(json_object_get(feature, "available"));
	const char *fallback = text_of(feature, "fallback"), *package = text_of(feature, "package");
	const json_t *pps = json_object_get(feature, "capacity_pps");

	columns_add(c, text_of(feature, "feature"));
	columns_add(c, available ? "yes" : "no");
	columns_add(c, text_of(feature, "needed_for"));
	if (available && pps)
		columns_addf(c, "%lld packets/s", (long long)json_integer_value(pps));
	else if (available)
		columns_add(c, "");
	else
		columns_addf(c, "%s%s%s%s", *fallback ? fallback : "no fallback",
			     *package ? "; package " : "", package, "");
}

static int doctor_run(const struct call *call, struct err *err)
{
	const struct doctor_options *o = call->options;
	autostr struct strbuf text = {0};
	json_t *features = lab_doctor(), *feature;
	int status = EXIT_PASS;
	struct columns c;
	size_t i;

	(void)err;
	columns_init(&c, 4);
	json_array_foreach(features, i, feature)
	{
		add_feature(&c, feature);
		if (is_fatal(feature))
			status = EXIT_UNSUPPORTED;
	}
	columns_print(&c, "", &text);
	columns_done(&c);
	if (o->json)
		print_json(json_pack("{s:b,s:o}", "can_run_labs", !status, "features", features));
	else
		print_text(&text), json_decref(features);
	return status;
}

static const struct option_def option_defs[] = {
    OPT_JSON(struct doctor_options, json),
};

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "say what this kernel and user can do",
    .description =
	"Tries each feature in namespaces of its own and prints what it is needed for and\n"
	"what is used instead when it is missing. The status is 4 when labs cannot run.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct doctor_options),
    .run = doctor_run,
};
