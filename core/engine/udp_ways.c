/* SPDX-License-Identifier: GPL-2.0-or-later */
/* udp_maerts, udp_bidir: udp_stream the other way, and both at once on sockets of their own. See
 * udp_stream.c. */
#include "core/engine/udp.h"

static const char *const udp_ways_none[] = {NULL};

const struct engine_def udp_maerts_engine = {
    .test = TEST_UDP_MAERTS,
    .name = "udp_maerts",
    .aliases = udp_ways_none,
    .headline_client = true,
    .way = WAY_BACK,
    .check = udp_stream_check,
    .body = {udp_stream_body, udp_stream_body},
    UDP_STREAM_PARTS,
};

const struct engine_def udp_bidir_engine = {
    .test = TEST_UDP_BIDIR,
    .name = "udp_bidir",
    .aliases = udp_ways_none,
    .way = WAY_BOTH,
    .check = udp_stream_check,
    .body = {udp_stream_body, udp_stream_body},
    UDP_STREAM_PARTS,
};
