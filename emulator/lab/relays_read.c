/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relays_read: the relays of a lab, asked from outside. Called by cli and the harness. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "emulator/lab/relays.h"

#define LATE_SHARE 100 /* more than one in so many is too much */

static int write_out(int fd, const void *data, size_t len, struct err *err)
{
	int rc = file_write_fd(fd, data, len);

	return rc ? err_sys(err, -rc, "cannot write out of the lab") : 0;
}

/* Inside the lab. One that has ended is told as that, one that was never there is an error. */
static int read_one(const char *link, json_t *all, struct err *err)
{
	json_t *command = json_pack("{s:s}", "get", "stats"), *stats = NULL;
	int rc = relays_ask(link, command, &stats, err);

	json_decref(command);
	if (rc == -ESRCH) {
		stats = json_pack("{s:b, s:s}", "ended", 1, "why", err->text);
		*err = ERR_INIT;
		rc = 0;
	}
	if (!rc)
		json_object_set_new(all, link, stats);
	return rc;
}

static int read_inside(void *arg, int out_fd, struct err *err)
{
	const struct wire *w = arg;
	json_t *all = json_object();
	autofree char *text = NULL;
	int rc = 0;

	VEC_FOREACH (l, &w->links)
		if (!rc && l->engine == IMPAIR_RELAY)
			rc = read_one(l->name, all, err);
	if (!rc) {
		text = json_dumps(all, JSON_COMPACT);
		rc = write_out(out_fd, text, strlen(text), err);
	}
	json_decref(all);
	return rc;
}

static bool any_relay(const struct wire *w)
{
	VEC_FOREACH (l, &w->links)
		if (l->engine == IMPAIR_RELAY)
			return true;
	return false;
}

int relays_read(const struct lab *lab, const struct wire *w, json_t **out, struct err *err)
{
	autofree char *text = NULL;
	size_t len = 0;
	int rc;

	if (!any_relay(w)) { /* nothing to enter the lab for */
		*out = json_object();
		return 0;
	}
	rc = lab_call(lab, NULL, read_inside, (void *)w, &text, &len, err);
	if (rc)
		return rc;
	*out = json_loadb(text, len, 0, NULL);
	return *out ? 0 : err_fail(err, EPROTO, "the lab's relays said no JSON");
}

static int fates_inside(void *arg, int out_fd, struct err *err)
{
	autostr struct strbuf bytes = {0};
	int rc = relays_log(arg, &bytes, err);

	return rc ? rc : write_out(out_fd, bytes.s, bytes.len, err);
}

int relays_fates(const struct lab *lab, const char *link, char **bytes, size_t *len,
		 struct err *err)
{
	return lab_call(lab, NULL, fates_inside, (void *)link, bytes, len, err);
}

struct freeze {
	const char *link;
	bool stop;
};

static int freeze_inside(void *arg, int out_fd, struct err *err)
{
	const struct freeze *f = arg;
	pid_t pid = relays_pid(f->link);

	(void)out_fd;
	if (pid <= 0) {
		err_input(err, "link %s has no relay", f->link);
		return -ENOENT;
	}
	if (kill(pid, f->stop ? SIGSTOP : SIGCONT))
		return err_sys(err, errno, "the relay of %s", f->link);
	return 0;
}

int relays_freeze(const struct lab *lab, const char *link, bool stop, struct err *err)
{
	struct freeze f = {link, stop};
	autofree char *nothing = NULL;
	size_t len;

	return lab_call(lab, NULL, freeze_inside, &f, &nothing, &len, err);
}

/* Counter `path` of one direction, after less before. */
static int64_t grown(const json_t *before, const json_t *after, const char *group, const char *key)
{
	const json_t *b = group ? json_object_get(before, group) : before;
	const json_t *a = group ? json_object_get(after, group) : after;

	return json_integer_value(json_object_get(a, key)) -
	       json_integer_value(json_object_get(b, key));
}

static bool limited(const json_t *before, const json_t *after, const char *link, char *why,
		    size_t size)
{
	static const char *const directions[] = {"ab", "ba"};

	if (json_is_true(json_object_get(after, "ended"))) {
		snprintf(why, size, "%s", json_string_value(json_object_get(after, "why")));
		return true;
	}
	for (size_t d = 0; d < ARRAY_SIZE(directions); d++) {
		const json_t *b = json_object_get(before, directions[d]);
		const json_t *a = json_object_get(after, directions[d]);
		int64_t overrun = grown(b, a, "lost", "overrun"), late = grown(b, a, NULL, "late");
		int64_t out = grown(b, a, NULL, "out_packets");

		if (overrun > 0) {
			snprintf(why, size, "%lld packets overran the relay of %s",
				 (long long)overrun, link);
			return true;
		}
		if (late * LATE_SHARE > out) {
			snprintf(why, size, "the relay of %s was late with %lld of %lld packets",
				 link, (long long)late, (long long)out);
			return true;
		}
	}
	return false;
}

bool relays_limited(const json_t *before, const json_t *after, char *why, size_t size)
{
	const char *link;
	json_t *stats;

	json_object_foreach((json_t *)after, link, stats)
	{
		if (limited(json_object_get(before, link), stats, link, why, size))
			return true;
	}
	return false;
}
