/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partial: sums a dead worker's intervals. It guesses nothing. Called by pair.c. */
#include "core/engine/partial.h"

#include <math.h>

#include "core/base/mem.h"
#include "core/base/units.h"

static const char *const partial_sums[] = {"bytes", "packets", "transactions", "retransmits"};

static void partial_add(json_t *result, const json_t *interval)
{
	for (size_t i = 0; i < ARRAY_SIZE(partial_sums); i++) {
		const json_t *v = json_object_get(interval, partial_sums[i]);
		if (!v)
			continue;
		double sum = json_number_value(json_object_get(result, partial_sums[i]));
		json_object_set_new(result, partial_sums[i],
				    json_integer(llround(sum + json_number_value(v))));
	}
}

/* What engines read: "units" is what they count, a transaction is a packet there. */
static void partial_finish(json_t *result, double end_s, json_int_t size)
{
	json_t *transactions = json_object_get(result, "transactions");
	if (transactions)
		json_object_set(result, "packets", transactions);
	json_t *packets = json_object_get(result, "packets");
	json_t *units = packets ? packets : json_object_get(result, "bytes");
	if (!json_object_get(result, "bytes"))
		json_object_set_new(
		    result, "bytes",
		    json_integer(size * json_integer_value(json_object_get(result, "packets"))));
	json_object_set_new(result, "units", json_real(json_number_value(units)));
	json_object_set_new(result, "window_ns", json_integer(llround(end_s * NSEC_PER_SEC)));
}

static json_t *partial_way(const json_t *intervals, const char *way, json_int_t size)
{
	json_t *result = json_pack("{s:o}", "intervals", json_array());
	double end = 0;
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)intervals, i, one)
	{
		json_t *interval = way ? json_object_get(one, way) : one;
		if (!interval)
			continue;
		interval = json_copy(interval);
		json_object_del(interval, "type");
		json_object_del(interval, "back");
		end = json_number_value(json_object_get(interval, "t_s"));
		partial_add(result, interval);
		json_array_append_new(json_object_get(result, "intervals"), interval);
	}
	partial_finish(result, end, size);
	return result;
}

json_t *partial_result(const char *role, const json_t *intervals, json_int_t size)
{
	static const char *const unknown[] = {
	    "cpu_user_s", "cpu_system_s", "cpu_busy", "cpu_steal", "cpu_softirq", "rtt_us", "cwnd"};
	json_t *result = partial_way(intervals, NULL, size);
	json_object_set_new(result, "type", json_string("result"));
	json_object_set_new(result, "role", json_string(role));
	json_object_set_new(result, "partial", json_true());
	json_object_set_new(result, "size", json_integer(size));
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		json_object_set_new(result, unknown[i], json_null());
	if (json_object_get(json_array_get(intervals, 0), "back"))
		json_object_set_new(result, "back", partial_way(intervals, "back", size));
	return result;
}
