/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock: the monotonic clock in nanoseconds, and sleeping to an absolute time. */
#ifndef VPCLAB_BASE_CLOCK_H
#define VPCLAB_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t clock_now_ns(void); /* CLOCK_MONOTONIC: the same for all processes of the machine */
void clock_sleep_until_ns(int64_t when_ns); /* sleeps on after signals; at once for the past */

/* The same text: the same CLOCK_MONOTONIC. Of this boot of this machine, and in the same time
 * namespace (time_namespaces(7)). "": not known. */
void clock_id(char *id, size_t size);

#endif
