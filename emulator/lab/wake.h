/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wake: has stopped processes outside a lab collect their dead inside it. */
#ifndef VPCLAB_LAB_WAKE_H
#define VPCLAB_LAB_WAKE_H

#include <sys/types.h>

/*
 * Continues (SIGCONT) each stopped process of this user's that has a dead, uncollected child in the
 * PID namespace of `supervisor`: until it has collected that child, PID 1 there cannot end. Never
 * fails: what cannot be read stays as it is.
 */
void wake_parents(pid_t supervisor);

#endif
