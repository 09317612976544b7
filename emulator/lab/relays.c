/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * relays: starting relays inside a lab and asking them, inside. What is done from outside is in
 * relays_read.c. Called by apply.c, check and account code, supervisor.c and tests.
 *
 * /run/relay of the lab has, a relay: ID.sock, where it listens; ID.json, its name and pid; ID.end,
 * why it ended when it did so by itself. ID is a hash of the link's name, which may be too long and
 * too free for a file's name.
 */
#include "emulator/lab/relays.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/base/proc.h"
#include "emulator/relay/fatelog.h"

#define RELAYS_DIR  "/run/relay"
#define RELAYS_PATH 64
#define READY	    1
#define FAILED	    2

/* What a relay that could not start says instead of READY. */
struct failure {
	char what;
	struct err err;
};

static const char *path_of(char path[static RELAYS_PATH], const char *link, const char *end)
{
	uint64_t id = hash_fnv(link, strlen(link), 0);

	snprintf(path, RELAYS_PATH, RELAYS_DIR "/%016llx%s", (unsigned long long)id, end);
	return path;
}

static void usual_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL); /* refused for KILL, STOP and libc's own: as wanted */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Only standard error and `keep` stay open. */
static void close_others(int keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 1; fd++)
		dup2(null, fd);
	proc_close_others(&keep, 1);
}

/* In the relay's own process. `ready` is written to again only when it was not closed: before. */
static _Noreturn void be_relay(const struct relay_spec *spec, int ready)
{
	struct failure f = {.what = FAILED};
	char path[RELAYS_PATH], why[RELAYS_PATH];
	struct err ignored = ERR_INIT;
	int rc;

	prctl(PR_SET_NAME, "vpclab-relay");
	usual_signals();
	signal(SIGPIPE, SIG_IGN);
	close_others(ready);
	rc = relay_run(spec, path_of(path, spec->name, ".sock"), ready, &f.err);
	if (rc) {
		/* Of a relay that had begun this fails: it has closed the pipe. */
		ssize_t told = write(ready, &f, sizeof(f));

		if (told < 0)
			file_write(path_of(why, spec->name, ".end"), f.err.text, strlen(f.err.text),
				   &ignored);
	}
	_exit(rc ? 1 : 0);
}

static int register_relay(const char *link, pid_t pid, struct err *err)
{
	char path[RELAYS_PATH];
	json_t *j = json_pack("{s:s, s:i}", "name", link, "pid", (int)pid);
	autofree char *text = json_dumps(j, 0);

	json_decref(j);
	if (!text)
		return err_input(err, "the name of a link is not UTF-8");
	return file_write(path_of(path, link, ".json"), text, strlen(text), err);
}

pid_t relays_pid(const char *link)
{
	char path[RELAYS_PATH];
	autofree char *text = NULL;
	struct err ignored = ERR_INIT;
	size_t len;
	pid_t pid = 0;

	if (!file_read(path_of(path, link, ".json"), &text, &len, &ignored)) {
		json_t *j = json_loads(text, 0, NULL);

		pid = (pid_t)json_integer_value(json_object_get(j, "pid"));
		json_decref(j);
	}
	return pid;
}

static int await_ready(int fd, const char *link, struct err *err)
{
	struct failure f = {0};
	ssize_t n;

	do
		n = read(fd, &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	if (n == 1 && f.what == READY)
		return 0;
	if (n == (ssize_t)sizeof(f) && f.what == FAILED) {
		*err = f.err;
		return err_wrap(err, "relay of %s", link);
	}
	return err_fail(err, EIO, "relay of %s: it ended before it passed packets", link);
}

int relays_start(const struct relay_spec *spec, struct err *err)
{
	struct relay_spec logging = *spec;
	char path[RELAYS_PATH];
	autofd int ready = -1;
	int fds[2], rc = file_mkdirs(RELAYS_DIR, err);
	pid_t pid;

	if (rc)
		return rc;
	if (!logging.fates_max)
		logging.fates_max = RELAY_FATES_MAX;
	unlink(path_of(path, spec->name, ".end"));
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot make a pipe");
	ready = fds[0];
	pid = fork(); /* only this thread goes on in the child, in its network namespace */
	if (pid == 0)
		be_relay(&logging, fds[1]);
	rc = pid < 0 ? errno : 0;
	close(fds[1]);
	if (rc)
		return err_sys(err, rc, "cannot start the relay of %s", spec->name);
	rc = await_ready(ready, spec->name, err);
	if (!rc)
		rc = register_relay(spec->name, pid, err);
	if (rc) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return rc;
}

/* Why a relay ended by itself, "" when it did not say. Heap. */
static char *why_ended(const char *link)
{
	char path[RELAYS_PATH];
	struct err ignored = ERR_INIT;
	char *text = NULL;

	return file_read(path_of(path, link, ".end"), &text, NULL, &ignored) ? mem_strdup("")
									     : text;
}

static bool was_started(const char *link)
{
	char path[RELAYS_PATH];

	return access(path_of(path, link, ".json"), F_OK) == 0;
}

/* What its socket says, in words about the link. Returns rc, or what it really means. */
static int explain(const char *link, int rc, struct err *err)
{
	if (rc == -ENOENT && !was_started(link))
		return err_fail(err, ENOENT, "link %s has no relay", link);
	if (rc == -ENOENT || rc == -ECONNREFUSED || rc == -ECONNRESET || rc == -EPIPE) {
		autofree char *why = why_ended(link);

		return err_fail(err, ESRCH, "the relay of %s has ended%s%s", link, *why ? ": " : "",
				why);
	}
	return rc;
}

int relays_ask(const char *link, const json_t *command, json_t **answer, struct err *err)
{
	char path[RELAYS_PATH];

	return explain(link, relay_ask(path_of(path, link, ".sock"), command, answer, err), err);
}

int relays_set(const char *link, const struct wire_impair *ab, const struct wire_impair *ba,
	       struct err *err)
{
	json_t *command, *answer = NULL, *directions = json_object();
	int rc;

	if (ab)
		json_object_set_new(directions, "ab", relay_impair_json(ab));
	if (ba)
		json_object_set_new(directions, "ba", relay_impair_json(ba));
	command = json_pack("{s:o}", "set", directions);
	rc = relays_ask(link, command, &answer, err);
	json_decref(command);
	json_decref(answer);
	return rc ? err_wrap(err, "link %s", link) : 0;
}

int relays_log(const char *link, struct strbuf *bytes, struct err *err)
{
	char path[RELAYS_PATH];
	int rc = relay_fates(path_of(path, link, ".sock"), bytes, err);

	return explain(link, rc, err);
}

static void differ(struct strbuf *out, size_t *n, const struct wire *w, const struct wire_link *l,
		   const char *what)
{
	int node = l->span[1] < 0 ? -1 : w->devs.v[l->span[1]].node;

	strbuf_addf(out, "%s: relay of %s: %s\n", node < 0 ? "wires" : w->nodes.v[node].name,
		    l->name, what);
	(*n)++;
}

/* Does it what the model says? */
static int check_spec(const struct wire *w, const struct wire_link *l, const json_t *now,
		      struct strbuf *out, size_t *n)
{
	static const char *const arrows[] = {"a to b", "b to a"};
	struct relay_spec planned, is;
	struct err err = ERR_INIT;
	struct arena arena;
	char what[64];
	int rc;

	arena_init(&arena);
	rc = relay_spec_parse(now, &arena, &is, &err);
	relay_spec_of_link(w, l, &planned);
	for (int d = 0; !rc && d < RELAY_DIRECTIONS; d++) {
		if (relay_impair_equal(&planned.dir[d].impair, &is.dir[d].impair))
			continue;
		snprintf(what, sizeof(what), "other impairments than planned, %s", arrows[d]);
		differ(out, n, w, l, what);
	}
	arena_done(&arena);
	return rc;
}

int relays_check(const struct wire *w, struct strbuf *differences, size_t *n, struct err *err)
{
	json_t *command = json_pack("{s:s}", "get", "spec");
	int rc = 0;

	VEC_FOREACH (l, &w->links) {
		struct err why = ERR_INIT;
		json_t *spec = NULL;

		if (l->engine != IMPAIR_RELAY)
			continue;
		if (relays_ask(l->name, command, &spec, &why))
			differ(differences, n, w, l, why.text);
		else if (check_spec(w, l, spec, differences, n))
			rc = err_fail(err, EPROTO, "the relay of %s does not say what it does",
				      l->name);
		json_decref(spec);
	}
	json_decref(command);
	return rc;
}

/* Was that file written for a relay of this pid? Then its link's name. Heap, or NULL. */
static char *name_of(const char *file, pid_t pid)
{
	autofree char *path = mem_printf(RELAYS_DIR "/%s", file);
	json_t *j = str_ends(file, ".json") ? json_load_file(path, 0, NULL) : NULL;
	const char *name = json_string_value(json_object_get(j, "name"));
	char *found = NULL;

	if (name && json_integer_value(json_object_get(j, "pid")) == pid)
		found = mem_strdup(name);
	json_decref(j);
	return found;
}

void relays_collected(pid_t pid, int wait_status, const struct rundir *run)
{
	DIR *dir = opendir(RELAYS_DIR);
	char *name = NULL;
	struct dirent *e;

	while (dir && !name && (e = readdir(dir)))
		name = name_of(e->d_name, pid);
	if (dir)
		closedir(dir);
	if (name && WIFSIGNALED(wait_status)) {
		rundir_log(run, "the relay of %s was killed (%s): the link is cut", name,
			   strsignal(WTERMSIG(wait_status)));
	} else if (name) {
		autofree char *why = why_ended(name);

		rundir_log(run, "the relay of %s has ended (status %d)%s%s: the link is cut", name,
			   WEXITSTATUS(wait_status), *why ? ": " : "", why);
	}
	free(name);
}
