/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seq: a bitmap over the last SEQ_WINDOW numbers, used as a ring. It knows nothing of packets; the
 * number of those lost is for who knows how many were sent. Used by udp_stream.c.
 */
#include "core/engine/seq.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

void seq_init(struct seq *s)
{
	*s = (struct seq){.bits = mem_zalloc(SEQ_WINDOW / 8)};
}

void seq_done(struct seq *s)
{
	free(s->bits);
	s->bits = NULL;
}

static uint64_t *seq_word(struct seq *s, uint64_t number)
{
	return &s->bits[number % SEQ_WINDOW / 64];
}

static uint64_t seq_bit(uint64_t number)
{
	return UINT64_C(1) << (number % 64);
}

/* Forgets what the ring holds in the places of [from, to]. */
static void seq_clear(struct seq *s, uint64_t from, uint64_t to)
{
	if (to - from >= SEQ_WINDOW) {
		memset(s->bits, 0, SEQ_WINDOW / 8);
		return;
	}
	for (uint64_t n = from; n <= to;) {
		if (n % 64 == 0 && to - n >= 63) {
			*seq_word(s, n) = 0;
			n += 64;
		} else {
			*seq_word(s, n) &= ~seq_bit(n);
			n++;
		}
	}
}

bool seq_add(struct seq *s, uint64_t number)
{
	if (number >= s->next) {
		seq_clear(s, s->next, number);
		s->next = number + 1;
	} else if (s->next - number > SEQ_WINDOW) {
		s->late++;
		return false;
	} else if (*seq_word(s, number) & seq_bit(number)) {
		s->duplicated++;
		return false;
	} else {
		s->reordered++;
	}
	*seq_word(s, number) |= seq_bit(number);
	s->unique++;
	return true;
}
