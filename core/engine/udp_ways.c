/* SPDX-License-Identifier: GPL-2.0-or-later */
/* udp_maerts, udp_bidir: udp_stream the other way, and both at once on sockets of their own. See
 * udp_stream.c. */
#include "core/base/units.h"
#include "core/engine/udp.h"

static const char *const udp_ways_none[] = {NULL};

const struct engine_def udp_maerts_engine = {
    .test = TEST_UDP_MAERTS,
    .name = "udp_maerts",
    .aliases = udp_ways_none,
    .datagram = true,
    .headline_client = true,
    .way = WAY_BACK,
    .unit = UNIT_PACKETS,
    .stream = true,
    .paced = true,
    .linger_ns = UDP_LINGER_NS,
    .max_gap_ns = {100 * NSEC_PER_MSEC, INT64_MAX},
    .check = udp_stream_check,
    .prepare = udp_stream_prepare,
    .body = {udp_stream_body, udp_stream_body},
    .release = udp_stream_release,
    .report = udp_counts_report,
    .merge = udp_counts_merge,
    .settled = udp_receive_settled,
    .sent = udp_counts_sent,
};

const struct engine_def udp_bidir_engine = {
    .test = TEST_UDP_BIDIR,
    .name = "udp_bidir",
    .aliases = udp_ways_none,
    .datagram = true,
    .way = WAY_BOTH,
    .unit = UNIT_PACKETS,
    .stream = true,
    .paced = true,
    .linger_ns = UDP_LINGER_NS,
    .max_gap_ns = {100 * NSEC_PER_MSEC, INT64_MAX},
    .check = udp_stream_check,
    .prepare = udp_stream_prepare,
    .body = {udp_stream_body, udp_stream_body},
    .release = udp_stream_release,
    .report = udp_counts_report,
    .merge = udp_counts_merge,
    .settled = udp_receive_settled,
    .sent = udp_counts_sent,
};
