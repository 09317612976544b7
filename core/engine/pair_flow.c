/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_flow: arithmetic of arrivals. A number is lost when the window has moved past it, so rows of
 * losses are told in the order of sending, whatever the order of arrival. It reads no clock and no
 * socket. Used by pair_server.c, and for sums by pair_result.c.
 */
#include "core/engine/pair_flow.h"

#include <math.h>
#include <stdbool.h>

#include "core/base/mem.h"

static bool flow_has(const struct pair_flow *f, int64_t number)
{
	int64_t slot = number % PAIR_FLOW_WINDOW;
	return f->bits[slot / 64] >> (slot % 64) & 1;
}

/* The number leaves the window. */
static void flow_leave(struct pair_flow *f, int64_t number)
{
	if (flow_has(f, number)) {
		f->run = 0;
		return;
	}
	f->runs += !f->run++;
	if (f->run > f->longest)
		f->longest = f->run;
}

static void flow_advance(struct pair_flow *f, int64_t number)
{
	for (; f->next <= number; f->next++) {
		int64_t slot = f->next % PAIR_FLOW_WINDOW;
		if (f->next >= PAIR_FLOW_WINDOW)
			flow_leave(f, f->next - PAIR_FLOW_WINDOW);
		f->bits[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
	}
}

static void flow_delay(struct pair_flow *f, const struct pair_arrival *a)
{
	if (f->received == 1 || a->delay_ns < f->delay_min)
		f->delay_min = a->delay_ns;
	if (f->received == 1 || a->delay_ns > f->delay_max)
		f->delay_max = a->delay_ns;
	double delta = (double)a->delay_ns - f->delay_mean;
	f->delay_mean += delta / (double)f->received;
	f->delay_squares += delta * ((double)a->delay_ns - f->delay_mean);
	if (f->received > 1)
		f->jitter_ns += (fabs((double)(a->delay_ns - f->transit)) - f->jitter_ns) / 16;
	f->transit = a->delay_ns;
	if (a->jitter_buffer_ns && a->delay_ns - f->delay_min > a->jitter_buffer_ns)
		f->unplayed++;
}

void pair_flow_add(struct pair_flow *f, const struct pair_arrival *a)
{
	int64_t number = (int64_t)(a->number & INT64_MAX);
	if (number < f->next - PAIR_FLOW_WINDOW) {
		f->late++;
		return;
	}
	if (number < f->next && flow_has(f, number)) {
		f->duplicated++;
		return;
	}
	f->reordered += number < f->next;
	flow_advance(f, number);
	int64_t slot = number % PAIR_FLOW_WINDOW;
	f->bits[slot / 64] |= UINT64_C(1) << (slot % 64);
	f->received++;
	f->bytes += a->bytes;
	flow_delay(f, a);
}

void pair_flow_settle(struct pair_flow *f)
{
	int64_t from = f->next > PAIR_FLOW_WINDOW ? f->next - PAIR_FLOW_WINDOW : 0;
	for (int64_t n = from; n < f->next; n++)
		flow_leave(f, n);
}

void pair_flow_close(struct pair_flow *f, int64_t sent)
{
	if (sent <= f->next)
		return;
	f->runs += !f->run;
	f->run += sent - f->next;
	if (f->run > f->longest)
		f->longest = f->run;
	f->next = sent;
}

void pair_flow_merge(struct pair_flow *into, const struct pair_flow *from)
{
	double n = (double)into->received, more = (double)from->received;
	if (from->received) {
		double delta = from->delay_mean - into->delay_mean;
		if (!into->received || from->delay_min < into->delay_min)
			into->delay_min = from->delay_min;
		if (!into->received || from->delay_max > into->delay_max)
			into->delay_max = from->delay_max;
		into->delay_squares += from->delay_squares + delta * delta * n * more / (n + more);
		into->delay_mean += delta * more / (n + more);
	}
	into->received += from->received;
	into->bytes += from->bytes;
	into->duplicated += from->duplicated;
	into->reordered += from->reordered;
	into->late += from->late;
	into->runs += from->runs;
	into->unplayed += from->unplayed;
	into->longest = from->longest > into->longest ? from->longest : into->longest;
	into->jitter_ns = fmax(into->jitter_ns, from->jitter_ns);
}

/* In this order on the control channel. */
#define FLOW_WHOLE(f)                                                                              \
	{                                                                                          \
		&(f)->received, &(f)->bytes, &(f)->duplicated, &(f)->reordered, &(f)->late,        \
		    &(f)->next, &(f)->run, &(f)->longest, &(f)->runs, &(f)->unplayed,              \
		    &(f)->delay_min, &(f)->delay_max                                               \
	}

json_t *pair_flow_pack(const struct pair_flow *f)
{
	const int64_t *whole[] = FLOW_WHOLE(f);
	json_t *j = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		json_array_append_new(j, json_integer(*whole[i]));
	json_array_append_new(j, json_real(f->jitter_ns));
	json_array_append_new(j, json_real(f->delay_mean));
	json_array_append_new(j, json_real(f->delay_squares));
	return j;
}

void pair_flow_unpack(const json_t *j, struct pair_flow *out)
{
	*out = (struct pair_flow){0};
	int64_t *whole[] = FLOW_WHOLE(out);
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		*whole[i] = json_integer_value(json_array_get(j, i));
	out->jitter_ns = json_number_value(json_array_get(j, ARRAY_SIZE(whole)));
	out->delay_mean = json_number_value(json_array_get(j, ARRAY_SIZE(whole) + 1));
	out->delay_squares = json_number_value(json_array_get(j, ARRAY_SIZE(whole) + 2));
}
