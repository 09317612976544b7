/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scripts: what pairs do, from a user's YAML file to the JSON text that the engine takes
 * (engine_spec.script; core/engine/script.h has the language).
 *
 * A file has all keys of the language, and in a group `script: NAME` instead of `commands`: the
 * first group of that script, shipped or a file beside this one, with what the group changes in it.
 */
#ifndef VPCLAB_HARNESS_SCRIPTS_H
#define VPCLAB_HARNESS_SCRIPTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define SCRIPTS_KIND "scenarios/scripts" /* for share_names(): the shipped ones */

struct scripts {
	char *json;	     /* heap */
	char *title;	     /* heap; NULL: it has none */
	int64_t duration_ns; /* 0: the file does not say */
	int pairs;
};

struct scripts_source {		/* all borrowed */
	const char *name;	/* a file or a shipped script */
	const char *beside;	/* a file whose folder is searched first; NULL: none */
	const char *const *set; /* n_set of "VARIABLE=VALUE", of variables that the script has */
	size_t n_set;
};

/* -EINVAL or -ENOENT with file, line and column, and a suggestion. scripts_done() is needed on
 * success only. */
int scripts_load(const struct scripts_source *source, struct scripts *out, struct err *err);
void scripts_done(struct scripts *s);

#endif
