/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sentence: one line of `expect:` into a struct scenario_expect.
 *
 *   QUANTITY within TOLERANCE [or TOLERANCE] of TARGET
 *   QUANTITY above | below TARGET
 *   QUANTITY at least | at most TARGET
 *   QUANTITY = MEASURE[.METRIC] of PATH
 *   TARGET   = [NUMBER times] (predicted | counted | reference | QUANTITY) | VALUE
 */
#ifndef VPCLAB_HARNESS_SENTENCE_H
#define VPCLAB_HARNESS_SENTENCE_H

#include "core/harness/scenario.h"

/* Adds a problem with the position of the word that is wrong, and returns false then. */
bool sentence_parse(const struct scenario *s, const char *text, struct mark at,
		    struct scenario_expect *out, struct problems *p);

/* MEASURE[.METRIC] alone, as in `compare:`; q->path is -1. */
bool sentence_metric(const struct scenario *s, const char *word, struct mark at,
		     struct scenario_quantity *q, struct problems *p);

#endif
