/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control: commands of a running relay. Touches packets only through loop_call(). Called by
 * relay.c. */
#include "emulator/relay/control.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "emulator/relay/wiretalk.h"

#define BACKLOG 16

int relay_control_init(struct control *c, const struct relay_spec *s, struct err *err)
{
	json_t *j = relay_spec_json(s);
	int rc;

	*c = (struct control){.listener = -1};
	arena_init(&c->arena);
	c->spec = arena_alloc(&c->arena, sizeof(*c->spec));
	rc = relay_spec_parse(j, &c->arena, c->spec, err);
	json_decref(j);
	return rc;
}

static int address(const char *path, struct sockaddr_un *a, struct err *err)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(a->sun_path))
		return err_input(err, "'%s' is too long for a socket", path);
	strcpy(a->sun_path, path);
	return 0;
}

static bool somebody_listens(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool yes = fd >= 0 &&
		   (connect(fd, (const struct sockaddr *)a, sizeof(*a)) == 0 || errno == EAGAIN);

	if (fd >= 0)
		close(fd);
	return yes;
}

int relay_control_listen(struct control *c, const char *path, struct err *err)
{
	struct sockaddr_un a;
	int rc = address(path, &a, err);

	if (rc)
		return rc;
	if (somebody_listens(&a))
		return err_fail(err, EADDRINUSE, "a relay listens at '%s' already", path);
	unlink(path);
	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->listener < 0 || bind(c->listener, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(c->listener, BACKLOG) < 0)
		return err_sys(err, errno, "cannot listen at '%s'", path);
	c->path = arena_strdup(&c->arena, path);
	return 0;
}

struct snapshot {
	struct lane_stats *stats[RELAY_DIRECTIONS];
};

static void take_snapshot(struct loop *l, void *arg)
{
	struct snapshot *s = arg;

	for (int d = 0; d < RELAY_DIRECTIONS; d++) {
		struct lane *lane = &l->lanes[d];

		port_in_count(&lane->in);
		lane->stats->overrun = (int64_t)lane->in.overrun;
		memcpy(s->stats[d], lane->stats, sizeof(*lane->stats));
	}
}

static json_t *get_stats(struct control *c)
{
	struct snapshot s = {0};
	json_t *j;

	for (int d = 0; d < RELAY_DIRECTIONS; d++)
		s.stats[d] = mem_zalloc(sizeof(*s.stats[d]));
	loop_call(c->loop, take_snapshot, &s);
	j = json_pack("{s:s, s:i, s:I, s:o, s:o}", "name", c->spec->name, "pid", (int)getpid(),
		      "at_ns", (json_int_t)clock_now_ns(), "ab", lane_stats_json(s.stats[RELAY_AB]),
		      "ba", lane_stats_json(s.stats[RELAY_BA]));
	for (int d = 0; d < RELAY_DIRECTIONS; d++)
		free(s.stats[d]);
	return j;
}

static void apply_set(struct loop *l, void *arg)
{
	const struct relay_spec *s = arg;
	int64_t now = clock_now_ns();

	l->name = s->name;
	for (int d = 0; d < RELAY_DIRECTIONS; d++)
		lane_set(&l->lanes[d], &s->dir[d].impair, now);
}

/* What the new specification needs is read into memory of its own; the old one's then goes. */
static int set(struct control *c, const json_t *j, struct err *err)
{
	json_t *now = relay_spec_json(c->spec), *ab = NULL, *ba = NULL;
	struct relay_spec *spec;
	struct arena arena, old = c->arena;
	json_error_t why;
	int rc = 0;

	if (json_unpack_ex((json_t *)j, &why, 0, "{s?o, s?o !}", "ab", &ab, "ba", &ba))
		rc = err_input(err, "set: %s", why.text);
	if (ab)
		json_object_set(json_object_get(now, "ab"), "impair", ab);
	if (ba)
		json_object_set(json_object_get(now, "ba"), "impair", ba);
	arena_init(&arena);
	spec = arena_alloc(&arena, sizeof(*spec));
	if (!rc)
		rc = relay_spec_parse(now, &arena, spec, err);
	json_decref(now);
	if (rc) {
		arena_done(&arena);
		return rc;
	}
	c->path = arena_strdup(&arena, c->path);
	c->spec = spec;
	c->arena = arena;
	loop_call(c->loop, apply_set, spec);
	arena_done(&old);
	return 0;
}

static void apply_end(struct loop *l, void *arg)
{
	(void)arg;
	l->end = true;
}

/* Gives the answer, and in *fd what goes with it; *end when the relay shall end after it. */
static int answer(struct control *c, const json_t *command, json_t **out, int *fd, struct err *err)
{
	const char *get = json_string_value(json_object_get(command, "get"));
	json_t *impairments = json_object_get(command, "set");

	if (impairments) {
		int rc = set(c, impairments, err);

		*out = rc ? NULL : json_object();
		return rc;
	}
	if (str_eq(get, "stats"))
		*out = get_stats(c);
	else if (str_eq(get, "spec"))
		*out = relay_spec_json(c->spec);
	else if (str_eq(get, "fates") && c->loop->log.fd < 0)
		return err_fail(err, ENOENT, "the relay of '%s' keeps no fates", c->spec->name);
	else if (str_eq(get, "fates"))
		*out = json_object(), *fd = c->loop->log.fd;
	else if (json_is_true(json_object_get(command, "end")))
		*out = json_object();
	else
		return err_input(err, "a relay knows no such command");
	return 0;
}

/* True: the relay shall end. */
static bool serve(struct control *c, int client)
{
	json_t *command = NULL, *reply = NULL;
	struct err err = ERR_INIT;
	int fd = -1, rc = wiretalk_recv(client, clock_now_ns() + CONTROL_NS, &command, NULL);
	bool end;

	if (rc == -EPROTO)
		rc = err_input(&err, "that is no command in JSON");
	else if (rc)
		return false; /* nobody waits for an answer */
	else
		rc = answer(c, command, &reply, &fd, &err);
	if (rc)
		reply = json_pack("{s:{s:i, s:i, s:s}}", "error", "kind", (int)err.kind, "code",
				  err.code, "text", err.text);
	end = !rc && json_is_true(json_object_get(command, "end"));
	wiretalk_send(client, reply, fd);
	json_decref(reply);
	json_decref(command);
	return end;
}

static void *control_main(void *arg)
{
	struct control *c = arg;
	bool end = false;

	while (!end) {
		int client = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0 && errno != EINTR && errno != ECONNABORTED)
			break;
		if (client < 0)
			continue;
		end = serve(c, client);
		close(client);
	}
	if (end)
		loop_call(c->loop, apply_end, NULL);
	return NULL;
}

int relay_control_start(struct control *c, struct loop *loop, struct err *err)
{
	int rc;

	c->loop = loop;
	rc = pthread_create(&c->thread, NULL, control_main, c);
	if (rc)
		return err_sys(err, rc, "cannot start a thread");
	c->running = true;
	return 0;
}

void relay_control_done(struct control *c)
{
	if (c->listener >= 0)
		shutdown(c->listener, SHUT_RDWR); /* its thread is told, whatever it waits for */
	if (c->running)
		pthread_join(c->thread, NULL);
	if (c->listener >= 0)
		close(c->listener);
	if (c->path)
		unlink(c->path);
	arena_done(&c->arena);
}
