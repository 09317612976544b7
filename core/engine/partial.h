/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partial: what is known of a worker that died before its result. Private to this folder. */
#ifndef VPCLAB_ENGINE_PARTIAL_H
#define VPCLAB_ENGINE_PARTIAL_H

#include <jansson.h>

/*
 * A "result" message from the intervals that had come (an array; borrowed; may be NULL or empty)
 * and the bytes of a datagram: its counts are those up to the last one, which ends its window. What
 * only the worker itself could know, such as its CPU time, is null. Gives a reference.
 */
json_t *partial_result(const char *role, const json_t *intervals, json_int_t size);

#endif
