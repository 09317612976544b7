/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock: CLOCK_MONOTONIC in nanoseconds, and sleeping to an absolute time. */
#ifndef VPCLAB_BASE_CLOCK_H
#define VPCLAB_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_now_ns(void);
void clock_sleep_until_ns(int64_t when_ns); /* restarts after signals */

#endif
