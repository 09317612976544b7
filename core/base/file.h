/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file: whole files in and out. */
#ifndef VPCLAB_BASE_FILE_H
#define VPCLAB_BASE_FILE_H

#include <stddef.h>

#include "core/base/err.h"

/* Reads all of a file, "-" is standard input. Gives a heap text (NUL added after len bytes). */
int file_read(const char *path, char **text, size_t *len, struct err *err);

/* The same from a descriptor, which stays open; `name` is for the error. */
int file_read_fd(int fd, const char *name, char **text, size_t *len, struct err *err);

/* Writes a file by a temporary name, fsync and rename: whole or not at all. */
int file_write(const char *path, const char *text, size_t len, struct err *err);

/* Whether file_write() will get as far as writing: asked before hours of work whose result it is.
 */
int file_check_write(const char *path, struct err *err);

/* All of it to a descriptor, whatever that is: pipe, socket, file. 0 or a negative errno. */
int file_write_fd(int fd, const void *data, size_t len);

int file_mkdirs(const char *path, struct err *err); /* like mkdir -p, mode 0777 & ~umask */

#endif
