/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units: numbers with units, parsed and printed by one table.
 *
 * Bits are SI (kbit = 1000 bit/s), packets/s SI, bytes both (kB = 1000, KiB = 1024). Every parser
 * returns 0 or -EINVAL with a text such as "'100mbs' is not a rate; write it like 100mbit (bits per
 * second: kbit, mbit, gbit)"; the caller adds file and position.
 */
#ifndef VPCLAB_BASE_UNITS_H
#define VPCLAB_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define NSEC_PER_SEC  INT64_C(1000000000)
#define NSEC_PER_MSEC INT64_C(1000000)
#define NSEC_PER_USEC INT64_C(1000)

/* "1gbit", "927.122mbit", "64kbit" */
int units_parse_rate(const char *s, int64_t *bps, struct err *err);
int units_parse_pps(const char *s, int64_t *pps, struct err *err);     /* "300kpps", "2.5Mpps" */
int units_parse_time(const char *s, int64_t *ns, struct err *err);     /* "20ms", "500us"; "0" */
int units_parse_size(const char *s, int64_t *bytes, struct err *err);  /* "64KiB", "1500", "1MB" */
int units_parse_percent(const char *s, int64_t *ppm, struct err *err); /* "0.1%" gives 1000 */
/* A decimal integer from min to max, both included. */
int units_parse_int(const char *s, int64_t min, int64_t max, int64_t *v, struct err *err);

/* Printers write the shortest exact-enough form ("1 Gbit/s", "941.5 Mbit/s", "20 ms") to buf. */
const char *units_format_rate(char *buf, size_t size, double bps);
const char *units_format_pps(char *buf, size_t size, double packets); /* a second: "300 kpps" */
const char *units_format_time(char *buf, size_t size, int64_t ns);
const char *units_format_size(char *buf, size_t size, int64_t bytes);

#endif
