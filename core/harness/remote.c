// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * remote: starts workers by ssh, and says in words what went wrong. It measures nothing and keeps
 * no secrets: who may log in is ssh's business. Called by `vpclab measure`.
 *
 * Before the worker's protocol begins, the other side's shell says who it is: a mark, the boot id
 * and time namespace, the addresses of the ssh connection, the program's version. What login
 * scripts print before the mark is left alone.
 */
#include "core/harness/remote.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/listen.h"

#define REMOTE_HELLO_NS (30 * NSEC_PER_SEC)
#define REMOTE_ASK_NS	(10 * NSEC_PER_SEC)
#define REMOTE_END_NS	(2 * NSEC_PER_SEC)
#define REMOTE_MARK	"vpclab-remote"
#define REMOTE_BOOT	"/proc/sys/kernel/random/boot_id"
#define REMOTE_TIMENS	"/proc/self/timens_offsets"

enum { LINE = 512, NOISE_MOST = 65536, SHELL_NOT_FOUND = 127, SSH_FAILED = 255 };

/* ---- names ---- */

bool remote_is(const char *text)
{
	return str_eq(text, "local") || strstr(text, "://");
}

/* "[USER@]HOST[:PORT]" */
static int parse_host(const char *text, const char *rest, struct arena *arena,
		      struct remote_end *out, struct err *err)
{
	const char *at = strrchr(rest, '@'), *host = at ? at + 1 : rest, *end, *port;

	if (at)
		out->user = arena_strndup(arena, rest, (size_t)(at - rest));
	if (*host == '[') {
		end = strchr(++host, ']');
		if (!end)
			return err_input(err, "%s: '[' without ']'", text);
		port = end + 1;
	} else {
		end = host + strcspn(host, ":/");
		port = end;
	}
	out->host = arena_strndup(arena, host, (size_t)(end - host));
	if (*port == ':' && port[1] && strspn(port + 1, "0123456789") == strlen(port + 1))
		out->port = arena_strdup(arena, port + 1);
	else if (*port)
		return err_input(err, "%s: '%s' after the host is no port%s", text, port,
				 strchr(port + 1, ':') ? "; write an IPv6 address in [brackets]"
						       : "");
	if (!*out->host || *out->host == '-' || (out->user && (!*out->user || *out->user == '-')))
		return err_input(err, "%s: which host? ssh://[USER@]HOST[:PORT]", text);
	return 0;
}

int remote_parse(const char *text, struct arena *arena, struct remote_end *out, struct err *err)
{
	*out = (struct remote_end){.text = arena_strdup(arena, text)};
	if (str_eq(text, "local"))
		return 0;
	if (str_starts(text, "ssh://")) {
		out->kind = REMOTE_SSH;
		return parse_host(text, text + strlen("ssh://"), arena, out, err);
	}
	if (!str_starts(text, "tls://"))
		return err_input(err,
				 "'%s' is no end: ssh://[USER@]HOST[:PORT], tls://HOST:PORT or "
				 "local",
				 text);
	out->kind = REMOTE_TLS;
	int r = parse_host(text, text + strlen("tls://"), arena, out, err);
	if (!r && (out->user || !out->port))
		r = err_input(err, "%s: tls:// takes HOST:PORT, as `vpclab engine --listen` says",
			      text);
	return r;
}

/* ---- ssh's command line ---- */

enum { ARGV_MOST = 24 };

static void ssh_argv(const struct remote_end *end, const struct remote_options *o,
		     const char *command, const char *argv[ARGV_MOST])
{
	int n = 0;

	argv[n++] = "ssh";
	argv[n++] = command ? "-T" : "-G";
	argv[n++] = "-o";
	argv[n++] = "BatchMode=yes";
	argv[n++] = "-o";
	argv[n++] = "ConnectTimeout=10";
	if (o->ssh_config) {
		argv[n++] = "-F";
		argv[n++] = o->ssh_config;
	}
	if (end->port) {
		argv[n++] = "-p";
		argv[n++] = end->port;
	}
	if (end->user) {
		argv[n++] = "-l";
		argv[n++] = end->user;
	}
	argv[n++] = "--";
	argv[n++] = end->host;
	if (command)
		argv[n++] = command;
	argv[n] = NULL;
}

static const char *program_of(const struct remote_options *o)
{
	return o->program ? o->program : "vpclab";
}

/* In a shell of the other side's choice, so no more than all of them know: one word in quotes. */
static char *remote_command(const struct remote_options *o, struct err *err)
{
	const char *program = program_of(o);

	for (const char *c = program; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_./~+-", *c)) {
			err_input(err,
				  "--remote-program: '%s': only letters, digits and _./~+- "
				  "may be in it",
				  program);
			return NULL;
		}
	return mem_printf("exec sh -c 'echo " REMOTE_MARK "; cat " REMOTE_BOOT " " REMOTE_TIMENS
			  "; echo ssh $SSH_CONNECTION; %s --version && exec %s engine --stdio'",
			  program, program);
}

/* ---- what the other side says first ---- */

/* One line, a byte at a time: what follows belongs to the protocol. -EPIPE: the end of it. */
static int read_line(int fd, char *line, int64_t deadline_ns)
{
	size_t n = 0;

	for (;;) {
		int64_t left = deadline_ns - clock_now_ns();
		struct pollfd p = {.fd = fd, .events = POLLIN};
		char c;

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)(left / NSEC_PER_MSEC) + 1) <= 0)
			continue;
		ssize_t got = read(fd, &c, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EPIPE;
		if (c == '\n')
			break;
		if (n < LINE - 1 && c != '\r')
			line[n++] = c;
	}
	line[n] = '\0';
	return (int)n;
}

static void add_machine(struct remote_worker *w, const char *line)
{
	size_t n = strlen(w->machine);

	for (; *line && n < sizeof(w->machine) - 2; line++)
		if (!isspace((unsigned char)*line))
			w->machine[n++] = *line;
		else if (n && w->machine[n - 1] != ' ')
			w->machine[n++] = ' ';
	w->machine[n++] = ';';
	w->machine[n] = '\0';
}

/* Until the version: "vpclab 0.1.0". */
static int read_hello(struct remote_worker *w, char *version, int64_t deadline_ns)
{
	char line[LINE];
	int r, noise = 0;

	do {
		r = read_line(w->in, line, deadline_ns);
		noise += r + 1;
	} while (r >= 0 && noise < NOISE_MOST && !str_eq(line, REMOTE_MARK));
	while (r >= 0 && noise < NOISE_MOST) {
		r = read_line(w->in, line, deadline_ns);
		noise += r + 1;
		if (r < 0 || str_starts(line, "vpclab "))
			break;
		if (str_starts(line, "ssh "))
			sscanf(line, "ssh %63s", w->seen_as);
		else
			add_machine(w, line);
	}
	if (r >= 0 && noise >= NOISE_MOST)
		return -EPROTO;
	if (r >= 0)
		snprintf(version, LINE, "%s", line);
	return r < 0 ? r : 0;
}

static void own_machine(struct remote_worker *w)
{
	static const char *const files[] = {REMOTE_BOOT, REMOTE_TIMENS};
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		autofree char *text = NULL;
		size_t len;

		if (file_read(files[i], &text, &len, &ignored))
			continue;
		char *save = NULL;
		for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
			add_machine(w, l);
	}
}

bool remote_here(const struct remote_worker *w)
{
	struct remote_worker here = {0};

	own_machine(&here);
	return here.machine[0] && str_eq(w->machine, here.machine);
}

/* ---- words ---- */

/* What ssh and the other side's shell said, in one line; heap. */
static char *spoken(const struct remote_worker *w)
{
	char text[2048];
	ssize_t n = w->words >= 0 ? pread(w->words, text, sizeof(text) - 1, 0) : 0;
	autostr struct strbuf out = {0};

	text[n > 0 ? n : 0] = '\0';
	char *save = NULL;
	for (char *l = strtok_r(text, "\r\n", &save); l; l = strtok_r(NULL, "\r\n", &save)) {
		/* Asked for what not every kernel has. */
		if (strstr(l, REMOTE_TIMENS) || !l[strspn(l, " \t")])
			continue;
		strbuf_addf(&out, "%s%s", out.len ? "; " : "", l);
	}
	return strbuf_take(&out);
}

void remote_explain(const struct remote_end *end, const struct remote_worker *w, struct err *err)
{
	autofree char *words = spoken(w);
	struct err before = *err;

	if (!words[0] || !err->kind)
		return;
	snprintf(err->text, sizeof(err->text), "%.1000s; ssh to %s: %.900s", before.text, end->host,
		 words);
}

/* Why there was no hello. */
static int no_hello(const struct remote_end *end, const struct remote_options *o,
		    struct remote_worker *w, int why, struct err *err)
{
	struct err ignored = ERR_INIT;
	int status = 0;
	bool over = !proc_wait(&w->proc, clock_now_ns() + REMOTE_END_NS, &status, &ignored);
	int code = over ? proc_shell_status(status) : -1;
	autofree char *words = spoken(w);

	if (over)
		w->started = false;
	if (strstr(words, "Host key verification failed"))
		return err_fail(err, EACCES,
				"%s: its host key is not known here; connect once by hand and "
				"compare it (ssh %s): %s",
				end->text, end->host, words);
	if (strstr(words, "Permission denied"))
		return err_fail(err, EACCES,
				"%s: ssh must get in without a password, by a key or an agent: %s",
				end->text, words);
	if (code == SHELL_NOT_FOUND || strstr(words, "not found"))
		return err_unsupported(err,
				       "%s: no program '%s' there; install it, or say where it is "
				       "with --remote-program: %s",
				       end->text, program_of(o), words);
	if (why == -ETIMEDOUT)
		return err_fail(err, ETIMEDOUT, "%s: no answer within 30 s: %s", end->text, words);
	if (code == SSH_FAILED)
		return err_fail(err, ENOTCONN, "%s: ssh failed: %s", end->text, words);
	return err_fail(err, EPROTO, "%s: '%s --version' said nothing of use (status %d): %s",
			end->text, program_of(o), code, words);
}

/* ---- opening ---- */

/* Ctrl-C is for us: a worker is told to stop and its result read, so ssh must live on. */
static int start(const char *const *argv, struct remote_worker *w, struct err *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
	struct proc_spec spec = PROC_SPEC(argv);
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_sys(err, errno, "cannot make a control channel");
	spec.in = spec.out = pair[1];
	spec.errfd = w->words >= 0 ? w->words : -1;
	spec.die_with_parent = spec.keep_ignored = true;
	sigaction(SIGINT, &ignore, &old);
	int r = proc_start(&spec, &w->proc, err);
	sigaction(SIGINT, &old, NULL);
	close(pair[1]);
	if (r) {
		close(pair[0]);
		return r;
	}
	w->started = true;
	w->in = w->out = pair[0];
	return 0;
}

static int open_local(struct remote_worker *w, struct err *err)
{
	static const char *const argv[] = {"/proc/self/exe", "engine", "--stdio", NULL};

	own_machine(w);
	return start(argv, w, err);
}

static int open_ssh(const struct remote_end *end, const struct remote_options *o,
		    struct remote_worker *w, struct err *err)
{
	autofree char *command = remote_command(o, err);
	const char *argv[ARGV_MOST];
	char version[LINE];

	if (!command)
		return -EINVAL;
	ssh_argv(end, o, command, argv);
	w->words = memfd_create("vpclab-ssh", MFD_CLOEXEC);
	int r = start(argv, w, err);
	if (r == -ENOENT)
		return err_unsupported(err, "%s: there is no ssh here; install OpenSSH's client",
				       end->text);
	if (r)
		return err_wrap(err, "%s", end->text);
	r = read_hello(w, version, clock_now_ns() + REMOTE_HELLO_NS);
	if (r)
		return no_hello(end, o, w, r, err);
	if (!str_eq(version, "vpclab " VPCLAB_VERSION))
		return err_unsupported(err,
				       "%s: has %s, and this is vpclab " VPCLAB_VERSION
				       ": both ends of a measurement must be of one version",
				       end->text, version);
	return 0;
}

int remote_open(const struct remote_end *end, const struct remote_options *o,
		struct remote_worker *w, struct err *err)
{
	*w = (struct remote_worker){.in = -1, .out = -1, .words = -1};
	if (end->kind == REMOTE_LOCAL)
		return open_local(w, err);
	if (end->kind == REMOTE_SSH)
		return open_ssh(end, o, w, err);
	int r = listen_connect(end->host, end->port, o->key_file, &w->in, err);
	if (r) {
		w->in = -1;
		return err_wrap(err, "%s", end->text);
	}
	w->out = w->in;
	return 0;
}

void remote_close(struct remote_worker *w)
{
	struct err ignored = ERR_INIT;
	int status;

	if (w->in > 0)
		close(w->in);
	if (w->started && proc_wait(&w->proc, clock_now_ns() + REMOTE_END_NS, &status, &ignored))
		proc_kill(&w->proc, 0);
	if (w->words > 0)
		close(w->words);
	*w = (struct remote_worker){.in = -1, .out = -1, .words = -1};
}

/* ---- addresses ---- */

static int resolve(const char *host, int family, struct ip_zone *out, struct err *err)
{
	struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM}, *found;
	char text[INET6_ADDRSTRLEN + 1 + ADDR_ZONE];
	int r = getaddrinfo(host, NULL, &hints, &found);

	if (r)
		return err_fail(err, ENOENT,
				"no %s address of '%s' is known here (%s); give the server's with "
				"--address",
				family == AF_INET6 ? "IPv6" : "IPv4", host, gai_strerror(r));
	r = getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof(text), NULL, 0,
			NI_NUMERICHOST);
	freeaddrinfo(found);
	if (r)
		return err_fail(err, ENOENT, "address of '%s': %s", host, gai_strerror(r));
	return ip_zone_parse(text, out, err);
}

/* The name that ssh connects to, which need not be the one that it was given. */
static int resolve_ssh(const struct remote_end *end, const struct remote_options *o,
		       struct ip_zone *out, struct err *err)
{
	autostr struct strbuf text = {0}, words = {0};
	const char *argv[ARGV_MOST];
	int status;

	ssh_argv(end, o, NULL, argv);
	int r = proc_run(argv, REMOTE_ASK_NS, &text, &words, &status, err);
	if (r)
		return err_wrap(err, "%s: ssh -G", end->text);
	autofree char *copy = strbuf_take(&text);
	char *save = NULL;
	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (str_starts(l, "hostname "))
			return resolve(l + strlen("hostname "), o->family, out, err);
	return err_fail(err, EPROTO, "%s: ssh -G names no host: %s", end->text,
			strbuf_text(&words));
}

static int given_address(const struct remote_options *o, struct ip_zone *out, struct err *err)
{
	int r = ip_zone_parse(o->address, out, err);

	if (!r && out->ip.family != o->family)
		r = err_input(err, "%s is no %s address", o->address,
			      o->family == AF_INET6 ? "IPv6" : "IPv4");
	return r ? err_wrap(err, "--address") : 0;
}

/* The zone of a name that was resolved here is a device of this machine, and means nothing to a
 * client on another one. */
static int resolved(const struct remote_end *server, const struct remote_worker *client,
		    const struct remote_options *o, struct ip_zone *out, struct err *err)
{
	char text[ADDR_TEXT];
	int r = server->kind == REMOTE_SSH ? resolve_ssh(server, o, out, err)
					   : resolve(server->host, o->family, out, err);

	if (!r && out->zone[0] && !remote_here(client))
		r = err_input(err,
			      "%s: its address %s is link-local: give it with --address, with the "
			      "client's device that leads to it (%s%%DEVICE)",
			      server->text, ip_format(text, &out->ip), text);
	return r;
}

int remote_address(const struct remote_end *server, const struct remote_worker *client,
		   const struct remote_options *o, struct ip_zone *out, struct err *err)
{
	*out = (struct ip_zone){0};
	if (o->address)
		return given_address(o, out, err);
	if (server->kind != REMOTE_LOCAL)
		return resolved(server, client, o, out, err);
	if (client->seen_as[0] && !ip_zone_parse(client->seen_as, out, err) &&
	    out->ip.family == o->family && !ip_is_link_local(&out->ip))
		return 0;
	*err = ERR_INIT;
	if (client->machine[0] && !client->seen_as[0])
		return ip_zone_parse(o->family == AF_INET6 ? "::1" : "127.0.0.1", out, err);
	return err_input(err, "which of this machine's addresses is the server's? Give it with "
			      "--address");
}
