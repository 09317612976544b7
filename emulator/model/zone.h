/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone: link-local ends of a measurement, "fe80::2%eth1" (RFC 4007). Pure.
 *
 * Such an address is nobody's alone: who has it depends on the device that asks. So it is an
 * endpoint only beside a source, and only in a wire model that is read afterwards, never built.
 */
#ifndef VPCLAB_MODEL_ZONE_H
#define VPCLAB_MODEL_ZONE_H

#include "emulator/model/wire.h"

/*
 * Makes `text` an endpoint of `w`: who has that address behind that device of endpoint `from`; with
 * the routes that the kernel has for it on both sides, and the addresses that it makes from MACs.
 * -EINVAL names what is missing.
 */
int zone_add(struct wire *w, const char *from, const char *text, struct err *err);

#endif
