/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file: whole files in and out. It knows no formats and no search paths; cli/, harness and lab
 * state call it.
 */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/str.h"

/* So that /dev/zero is an error, not the end of the machine. */
#define FILE_MAX (256 * 1024 * 1024)

static int read_all(int fd, const char *name, struct strbuf *b, struct err *err)
{
	char chunk[65536];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n == 0)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "cannot read '%s'", name);
		if (b->len + (size_t)n > FILE_MAX)
			return err_sys(err, EFBIG, "cannot read '%s'", name);
		strbuf_addn(b, chunk, (size_t)n);
	}
}

/* A named pipe without a writer would be waited for for ever; /dev/fd/63 of a shell's <(…) has one.
 */
static int check_readable(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st))
		return 0; /* open() says why */
	if (S_ISDIR(st.st_mode)) {
		err_input(err, "'%s' is a directory, not a file", path);
		err->code = EISDIR;
		return -EISDIR;
	}
	if (S_ISFIFO(st.st_mode) && strncmp(path, "/dev/", 5) && strncmp(path, "/proc/", 6))
		return err_input(err, "'%s' is a named pipe, not a file; - is standard input",
				 path);
	return 0;
}

static int read_stdin(struct strbuf *b, struct err *err)
{
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		return err_input(err, "standard input is closed");
	return read_all(STDIN_FILENO, "standard input", b, err);
}

int file_read(const char *path, char **text, size_t *len, struct err *err)
{
	autostr struct strbuf b = {0};
	autofd int fd = -1;
	int rc;

	if (str_eq(path, "-")) {
		rc = read_stdin(&b, err);
	} else {
		rc = check_readable(path, err);
		if (rc)
			return rc;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return err_sys(err, errno, "cannot read '%s'", path);
		rc = read_all(fd, path, &b, err);
	}
	if (rc)
		return rc;
	if (len)
		*len = b.len;
	*text = strbuf_take(&b);
	return 0;
}

int file_read_fd(int fd, const char *name, char **text, size_t *len, struct err *err)
{
	autostr struct strbuf b = {0};
	int rc = read_all(fd, name, &b, err);

	if (rc)
		return rc;
	*len = b.len;
	*text = strbuf_take(&b);
	return 0;
}

int file_write_fd(int fd, const void *data, size_t len)
{
	for (const char *at = data; len;) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A device or a pipe cannot be replaced by a file: write into it. */
static int write_in_place(const char *path, const char *text, size_t len, struct err *err)
{
	autofd int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : file_write_fd(fd, text, len);

	return rc ? err_sys(err, -rc, "cannot write '%s'", path) : 0;
}

/* A new file beside `path`; *tmp is the caller's to free, also on failure. */
static int open_beside(const char *path, char **tmp)
{
	for (unsigned i = 0;; i++) {
		int fd;

		free(*tmp);
		*tmp = mem_printf("%s.%ld-%u.tmp", path, (long)getpid(), i);
		fd = open(*tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST || i == 1000)
			return fd < 0 ? -errno : fd;
	}
}

static int replace(const char *path, const char *text, size_t len)
{
	autofree char *tmp = NULL;
	int fd = open_beside(path, &tmp);
	int rc;

	if (fd < 0)
		return fd;
	rc = file_write_fd(fd, text, len);
	if (!rc && fsync(fd) < 0)
		rc = -errno;
	if (close(fd) < 0 && !rc)
		rc = -errno;
	if (!rc && rename(tmp, path) < 0)
		rc = -errno;
	if (rc)
		unlink(tmp);
	return rc;
}

int file_write(const char *path, const char *text, size_t len, struct err *err)
{
	autofree char *real = realpath(path, NULL); /* a symlink stays one */
	const char *target = real ? real : path;
	struct stat st;
	int rc;

	if (stat(target, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return write_in_place(target, text, len, err);
	rc = replace(target, text, len);
	return rc ? err_sys(err, -rc, "cannot write '%s'", path) : 0;
}

int file_check_write(const char *path, struct err *err)
{
	autofree char *real = realpath(path, NULL), *tmp = NULL;
	const char *target = real ? real : path;
	struct stat st;
	int fd;

	if (stat(target, &st))
		st.st_mode = S_IFREG;
	if (S_ISDIR(st.st_mode))
		return err_sys(err, EISDIR, "cannot write '%s'", path);
	if (!S_ISREG(st.st_mode))
		return access(target, W_OK) ? err_sys(err, errno, "cannot write '%s'", path) : 0;
	fd = open_beside(target, &tmp);
	if (fd < 0)
		return err_sys(err, -fd, "cannot write '%s'", path);
	close(fd);
	unlink(tmp);
	return 0;
}

static int make_one(const char *path)
{
	struct stat st;

	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno == EEXIST && stat(path, &st) == 0)
		return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	return -errno;
}

int file_mkdirs(const char *path, struct err *err)
{
	autofree char *copy = mem_strdup(path);

	for (char *p = copy; *p; p++) {
		int rc;

		if (*p == '/' || (p[1] && p[1] != '/'))
			continue;
		/* p is the last byte of a part */
		char rest = p[1];

		p[1] = '\0';
		rc = make_one(copy);
		if (rc)
			return err_sys(err, -rc, "cannot make directory '%s'", copy);
		p[1] = rest;
	}
	return 0;
}
