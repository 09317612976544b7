/* SPDX-License-Identifier: GPL-2.0-or-later */
/* language: the keys of topology and scenario files, as text and as a part of the manual. */
#ifndef VPCLAB_CLI_LANGUAGE_H
#define VPCLAB_CLI_LANGUAGE_H

#include "core/base/err.h"
#include "core/base/str.h"

enum language_face { LANGUAGE_TEXT, LANGUAGE_MAN };

/*
 * Adds the description of all keys of a KIND (DATA_TOPOLOGIES, DATA_SCENARIOS) from its shipped
 * schema.json: what each takes, its range and its default. -ENOENT where that is not installed.
 */
int language_print(const char *kind, enum language_face face, struct strbuf *out, struct err *err);

#endif
