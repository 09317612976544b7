/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_capture: the headers of the packets at a tool's server while it runs, by tcpdump(1) where
 * it is installed. Nothing depends on it.
 */
#ifndef VPCLAB_HARNESS_TRIAL_CAPTURE_H
#define VPCLAB_HARNESS_TRIAL_CAPTURE_H

#include "core/harness/rig.h"

struct trial_capture;

/* At the endpoint `to`, into `file`. NULL: it cannot be done here, and nothing is written. */
struct trial_capture *trial_capture_open(const struct rig *rig, const char *to, const char *file);
/* Ends and frees it; a file without packets is removed. NULL is fine. */
void trial_capture_close(struct trial_capture *c);

#endif
