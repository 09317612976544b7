/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl: values below /proc/sys, in the network namespace of the calling thread. */
#ifndef VPCLAB_KERNEL_SYSCTL_H
#define VPCLAB_KERNEL_SYSCTL_H

#include <stddef.h>

#include "core/base/err.h"

/* `key` with slashes: "net/ipv4/ip_forward". -ENOENT where this kernel has no such file. */
int sysctl_set(const char *key, const char *value, struct err *err);

/* Reads at most size - 1 bytes; blanks inside are one space each, the end is trimmed. */
int sysctl_get(const char *key, char *value, size_t size, struct err *err);

#endif
