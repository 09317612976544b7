// SPDX-License-Identifier: GPL-2.0-or-later
/* remote: names of ends, and what is wrong with them. (Logging in: tests/lab/remote.sh.) */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "core/base/str.h"
#include "core/harness/remote.h"

static int arena_up(void **state)
{
	static struct arena arena;

	arena_init(&arena);
	*state = &arena;
	return 0;
}

static int arena_down(void **state)
{
	arena_done(*state);
	return 0;
}

static void check(struct arena *arena, const char *text, enum remote_kind kind, const char *user,
		  const char *host, const char *port)
{
	struct remote_end end;
	struct err err = ERR_INIT;

	assert_int_equal(remote_parse(text, arena, &end, &err), 0);
	assert_int_equal(end.kind, kind);
	assert_true(str_eq(end.user, user) || (!end.user && !user));
	assert_true(str_eq(end.host, host) || (!end.host && !host));
	assert_true(str_eq(end.port, port) || (!end.port && !port));
}

static void test_names(void **state)
{
	check(*state, "local", REMOTE_LOCAL, NULL, NULL, NULL);
	check(*state, "ssh://web1", REMOTE_SSH, NULL, "web1", NULL);
	check(*state, "ssh://me@web1.example:2222", REMOTE_SSH, "me", "web1.example", "2222");
	check(*state, "ssh://a@b@web1", REMOTE_SSH, "a@b", "web1", NULL);
	check(*state, "ssh://[fd00::1]:22", REMOTE_SSH, NULL, "fd00::1", "22");
	check(*state, "ssh://[fd00::1]", REMOTE_SSH, NULL, "fd00::1", NULL);
	check(*state, "tls://10.0.0.1:7000", REMOTE_TLS, NULL, "10.0.0.1", "7000");
}

static void bad(struct arena *arena, const char *text, const char *words)
{
	struct remote_end end;
	struct err err = ERR_INIT;

	assert_int_equal(remote_parse(text, arena, &end, &err), -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("%s: '%s' has no '%s'", text, err.text, words);
}

static void test_bad_names(void **state)
{
	bad(*state, "ssh://", "which host?");
	bad(*state, "ssh://-oProxyCommand=x", "which host?"); /* would be an option of ssh's */
	bad(*state, "ssh://-l@host", "which host?");
	bad(*state, "ssh://host:x", "is no port");
	bad(*state, "ssh://host/path", "is no port");
	bad(*state, "ssh://fd00::1", "[brackets]");
	bad(*state, "ssh://[fd00::1", "without ']'");
	bad(*state, "tls://host", "HOST:PORT");
	bad(*state, "tls://me@host:1", "HOST:PORT");
	bad(*state, "http://host", "is no end");
	bad(*state, "host", "is no end");
}

static void test_kind(void **state)
{
	(void)state;
	assert_true(remote_is("local"));
	assert_true(remote_is("ssh://x"));
	assert_false(remote_is("lab:node"));
	assert_false(remote_is("eip(web)"));
}

/* Where the client finds the server, without asking anybody. */
static void test_address(void **state)
{
	struct remote_options o = {.family = AF_INET};
	struct remote_worker client = {.in = -1, .out = -1, .words = -1};
	struct remote_end server;
	struct err err = ERR_INIT;
	char text[ADDR_TEXT];
	struct ip_zone at;

	assert_int_equal(remote_parse("local", *state, &server, &err), 0);
	/* Nobody knows how a client behind a listener would see this machine. */
	assert_int_equal(remote_address(&server, &client, &o, &at, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--address"));
	strcpy(client.machine, "boot;");
	assert_int_equal(remote_address(&server, &client, &o, &at, &err), 0);
	assert_string_equal(ip_format(text, &at.ip), "127.0.0.1");
	strcpy(client.seen_as, "192.0.2.7"); /* as ssh's other end sees it */
	assert_int_equal(remote_address(&server, &client, &o, &at, &err), 0);
	assert_string_equal(ip_format(text, &at.ip), "192.0.2.7");
	o.address = "192.0.2.9"; /* said: wins */
	assert_int_equal(remote_address(&server, &client, &o, &at, &err), 0);
	assert_string_equal(ip_format(text, &at.ip), "192.0.2.9");
	o.address = "fd00::1";
	assert_int_equal(remote_address(&server, &client, &o, &at, &err), -EINVAL);
	assert_non_null(strstr(err.text, "IPv4"));
	o.family = AF_INET6;
	o.address = "fe80::9%wlan0";
	assert_int_equal(remote_address(&server, &client, &o, &at, &err), 0);
	assert_string_equal(at.zone, "wlan0");
	assert_string_equal(ip_format(text, &at.ip), "fe80::9");
	o.address = "fd00::1%wlan0";
	assert_int_equal(remote_address(&server, &client, &o, &at, &err), -EINVAL);
	assert_non_null(strstr(err.text, "only a link-local address"));
}

static void test_here(void **state)
{
	struct remote_worker w;
	struct remote_end end;
	const struct remote_options o = {.family = AF_INET};
	struct err err = ERR_INIT;

	assert_int_equal(remote_parse("local", *state, &end, &err), 0);
	assert_int_equal(remote_open(&end, &o, &w, &err), 0);
	assert_true(remote_here(&w));
	w.machine[0] ^= 1;
	assert_false(remote_here(&w));
	w.machine[0] = '\0'; /* not known: not certain */
	assert_false(remote_here(&w));
	remote_close(&w);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, arena_up, arena_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {TEST(test_names), TEST(test_bad_names), TEST(test_kind),
					   TEST(test_address), TEST(test_here)};

	(void)argv;
	if (argc > 1) /* as the worker that test_here starts: it has nothing to do */
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
