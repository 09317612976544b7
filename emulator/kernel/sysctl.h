/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl: values below /proc/sys, in the network namespace of the calling thread. */
#ifndef VPCLAB_KERNEL_SYSCTL_H
#define VPCLAB_KERNEL_SYSCTL_H

#include <stddef.h>

#include "core/base/err.h"

/* `key` with slashes: "net/ipv4/ip_forward". -ENOENT where this kernel has no such file. */
int sysctl_set(const char *key, const char *value, struct err *err);

/* Reads at most size - 1 bytes, which sysctl_squeeze() brings into form. */
int sysctl_get(const char *key, char *value, size_t size, struct err *err);

/* Blanks at both ends go, those inside become one space each: the kernel's tabs, a user's spaces.
 */
void sysctl_squeeze(char *value);

#endif
