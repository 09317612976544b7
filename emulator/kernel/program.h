/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program: where a program is, also for users whose PATH leaves out the sbin directories. */
#ifndef VPCLAB_KERNEL_PROGRAM_H
#define VPCLAB_KERNEL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Looks in PATH, then in the sbin directories. Writes the full path; false when it is nowhere. */
bool program_find(const char *name, char *path, size_t size);

/* The value of PATH with the sbin directories that it lacks at its end; gives a heap text. */
char *program_path(void);

#endif
