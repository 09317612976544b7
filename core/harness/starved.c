/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * starved: reads schedstat of each thread that the lab's own /proc lists. Judges nothing. Called by
 * trial_evidence.c.
 */
#include "core/harness/starved.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"

#define TID_MAX 32

struct thread {
	char name[TID_MAX]; /* PID/task/TID */
	int64_t first_ns, last_ns, longest_ns;
};

struct starved {
	int proc; /* the lab's /proc, or -1 */
	struct arena arena;
	VEC(struct thread) threads;
};

bool starved_parse(const char *text, int64_t *ran_ns, int64_t *waited_ns)
{
	long long ran, waited;

	if (sscanf(text, "%lld %lld", &ran, &waited) != 2 || ran < 0 || waited < 0)
		return false;
	*ran_ns = ran;
	*waited_ns = waited;
	return true;
}

struct starved *starved_new(pid_t inside)
{
	struct starved *s = mem_zalloc(sizeof(*s));
	autofree char *path = mem_printf("/proc/%d/root", (int)inside);
	autofd int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	arena_init(&s->arena);
	s->proc = root < 0 ? -1 : openat(root, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s;
}

static void look_at(struct starved *s, const char *name)
{
	autofree char *path = mem_printf("%s/schedstat", name);
	autofd int fd = openat(s->proc, path, O_RDONLY | O_CLOEXEC);
	char text[128] = "";
	int64_t ran, waited;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 || !starved_parse(text, &ran, &waited))
		return;
	VEC_FOREACH (t, &s->threads) {
		if (strcmp(t->name, name) != 0)
			continue;
		if (waited - t->last_ns > t->longest_ns)
			t->longest_ns = waited - t->last_ns;
		t->last_ns = waited;
		return;
	}
	struct thread *t = VEC_ADD(&s->arena, &s->threads);
	*t = (struct thread){.first_ns = waited, .last_ns = waited};
	snprintf(t->name, sizeof(t->name), "%s", name);
}

static bool each_number(int at, const char *path, void (*fn)(struct starved *, const char *),
			struct starved *s)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	for (const struct dirent *e; (e = readdir(dir));) {
		autofree char *name = str_eq(path, ".") ? mem_strdup(e->d_name)
							: mem_printf("%s/%s", path, e->d_name);

		if (isdigit((unsigned char)e->d_name[0]))
			fn(s, name);
	}
	closedir(dir);
	return true;
}

static void look_at_process(struct starved *s, const char *pid)
{
	autofree char *tasks = mem_printf("%s/task", pid);

	each_number(s->proc, tasks, look_at, s);
}

void starved_look(struct starved *s)
{
	if (s->proc >= 0)
		each_number(s->proc, ".", look_at_process, s);
}

void starved_found(const struct starved *s, struct starved_found *out)
{
	*out = (struct starved_found){.known = s->threads.n > 0};
	VEC_FOREACH (t, &s->threads) {
		double waited_s = (double)(t->last_ns - t->first_ns) / NSEC_PER_SEC;
		double longest_s = (double)t->longest_ns / NSEC_PER_SEC;

		if (waited_s > out->waited_s)
			out->waited_s = waited_s;
		if (longest_s > out->longest_s)
			out->longest_s = longest_s;
	}
}

void starved_free(struct starved *s)
{
	if (!s)
		return;
	if (s->proc >= 0)
		close(s->proc);
	arena_done(&s->arena);
	free(s);
}
