/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "core/engine/engines.h"
#include "core/engine/worker.h"

static int check(const struct engine_spec *s, struct err *err)
{
	return err_fail(err, ENOSYS, "%s is being built", engine_test_name(s->test));
}

static const char *const none[] = {NULL};

const struct engine_def udp_maerts_engine = {.test = TEST_UDP_MAERTS,
					     .name = "udp_maerts",
					     .aliases = none,
					     .datagram = true,
					     .check = check};

const struct engine_def udp_bidir_engine = {
    .test = TEST_UDP_BIDIR, .name = "udp_bidir", .aliases = none, .datagram = true, .check = check};
