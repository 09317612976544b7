/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysctl: reads and writes /proc/sys. Which namespace's net/ values are meant follows from the
 * thread (net_ctl_header_lookup() in net/sysctl_net.c). Called by emulator/lab/apply.c, check.c and
 * tests, after netns_enter().
 */
#include "emulator/kernel/sysctl.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"

#define SYSCTL_PATH 256

static int sysctl_open(const char *key, int flags, int *fd, struct err *err)
{
	char path[SYSCTL_PATH];

	if (snprintf(path, sizeof(path), "/proc/sys/%s", key) >= (int)sizeof(path))
		return err_input(err, "sysctl %s: name too long", key);
	*fd = open(path, flags | O_CLOEXEC);
	return *fd < 0 ? err_sys(err, errno, "sysctl %s", key) : 0;
}

int sysctl_set(const char *key, const char *value, struct err *err)
{
	autofd int fd = -1;
	int rc = sysctl_open(key, O_WRONLY, &fd, err);

	if (rc < 0)
		return rc;
	if (write(fd, value, strlen(value)) < 0)
		return err_sys(err, errno, "sysctl %s = %s", key, value);
	return 0;
}

void sysctl_squeeze(char *s)
{
	char *to = s;

	for (const char *from = s; *from; from++) {
		bool blank = isspace((unsigned char)*from);
		if (blank && (to == s || to[-1] == ' '))
			continue;
		*to++ = blank ? ' ' : *from;
	}
	while (to > s && to[-1] == ' ')
		to--;
	*to = '\0';
}

int sysctl_get(const char *key, char *value, size_t size, struct err *err)
{
	autofd int fd = -1;
	int rc = sysctl_open(key, O_RDONLY, &fd, err);

	if (rc < 0)
		return rc;
	ssize_t n = read(fd, value, size - 1);
	if (n < 0)
		return err_sys(err, errno, "sysctl %s", key);
	value[n] = '\0';
	sysctl_squeeze(value);
	return 0;
}
