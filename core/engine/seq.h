/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seq: which of the numbers 0, 1, 2, … have come: unique, twice, out of order, too late to tell.
 */
#ifndef VPCLAB_ENGINE_SEQ_H
#define VPCLAB_ENGINE_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#define SEQ_WINDOW (UINT64_C(1) << 20) /* numbers back that are remembered */

struct seq {
	uint64_t next;	    /* highest number seen + 1 */
	int64_t unique;	    /* seen for the first time */
	int64_t duplicated; /* seen before (RFC 5560) */
	int64_t reordered;  /* unique, but a higher one came before (RFC 4737, 3.3) */
	int64_t late;	    /* older than the window: not told apart, not counted as unique */
	uint64_t *bits;	    /* heap */
};

void seq_init(struct seq *s);
void seq_done(struct seq *s);
bool seq_add(struct seq *s, uint64_t number); /* true: unique */

#endif
