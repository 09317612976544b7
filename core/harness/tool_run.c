/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool_run: starts a tool's server and client inside nodes, and ends them. Whether a server is
 * ready is seen in its namespace's table of sockets (proc(5), /proc/PID/net); nothing is slept for.
 * What they print is kept whole. Judges nothing. Called by the trials and by `vpclab tool try`.
 */
#include "core/harness/tool_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/tools/command.h"
#include "core/tools/pattern.h"
#include "emulator/model/path.h"

#define READY_NS   (10 * NSEC_PER_SEC)
#define LOOK_NS	   (10 * NSEC_PER_MSEC) /* between two looks at the table of sockets */
#define TICK_NS	   (20 * NSEC_PER_MSEC)
#define END_NS	   (5 * NSEC_PER_SEC) /* for a server that ends by itself, or is told to */
#define GRACE_NS   (15 * NSEC_PER_SEC)
#define HEED_NS	   NSEC_PER_SEC	      /* for the adapter's own signal to do it */
#define MORE_NS	   (3 * NSEC_PER_SEC) /* for other clients, after the first has ended */
#define STILL_NS   NSEC_PER_SEC	      /* so late nobody wakes up who may run */
#define OUTPUT_MAX ((off_t)64 << 20)
#define SAID_MAX   200	/* bytes */
#define SUBSTITUTE 0x1a /* ^Z, for a NUL byte */
#define TCP_LISTEN 0x0a /* state in /proc/net/tcp */
#define UDP_BOUND  0x07

enum end { CLIENT, SERVER };

struct tool_process {
	struct proc proc;
	bool running;
	int out, err; /* files in memory */
};

/* ---- starting ---- */

/* Figures are to be read by one rule wherever the user lives: no decimal commas, English words. */
static const char *const environment[] = {"LC_ALL=C.UTF-8", NULL};

static int start(const struct tool_run_spec *s, enum end end, const struct command_line *l,
		 struct tool_process *p, struct err *err)
{
	const struct wire_endpoint *at =
	    wire_find_endpoint(s->wire, end == SERVER ? s->to : s->from);
	struct proc_spec spec = PROC_SPEC(l->argv.v);

	p->out = memfd_create("stdout", MFD_CLOEXEC);
	p->err = memfd_create("stderr", MFD_CLOEXEC);
	if (p->out < 0 || p->err < 0)
		return err_sys(err, errno, "cannot keep the output of %s", l->argv.v[0]);
	spec.in = PROC_NULL;
	spec.out = p->out;
	spec.errfd = p->err;
	spec.env = environment;
	spec.file_max = OUTPUT_MAX;
	spec.die_with_parent = true;
	spec.cpu = end == SERVER ? s->server_cpu : s->client_cpu;
	int r = lab_spawn(s->lab, s->wire->nodes.v[at->node].name, &spec, &p->proc, err);
	p->running = !r;
	return r ? err_wrap(err, "starting %s", l->argv.v[0]) : 0;
}

/* Is there such a line in one of the tables: a local port in that state? */
static bool in_table(pid_t pid, const char *table, int port, unsigned state)
{
	autofree char *path = mem_printf("/proc/%d/net/%s", (int)pid, table);
	autofree char *text = NULL;
	struct err ignored = ERR_INIT;
	size_t len;

	if (file_read(path, &text, &len, &ignored))
		return false;
	for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		unsigned local, is;

		if (sscanf(line + 1, "%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &local, &is) ==
			2 &&
		    local == (unsigned)port && is == state)
			return true;
	}
	return false;
}

/* Who listens on IPv6 usually takes IPv4, too; the other way about never. */
static bool listens(pid_t pid, bool udp, int port, int family)
{
	unsigned state = udp ? UDP_BOUND : TCP_LISTEN;

	return in_table(pid, udp ? "udp6" : "tcp6", port, state) ||
	       (family != AF_INET6 && in_table(pid, udp ? "udp" : "tcp", port, state));
}

static char *read_all(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text;

	if (size < 0)
		size = 0;
	if (size > OUTPUT_MAX)
		size = OUTPUT_MAX;
	text = mem_zalloc((size_t)size + 1);
	for (off_t at = 0; at < size;) {
		ssize_t n = pread(fd, text + at, (size_t)(size - at), at);

		if (n <= 0)
			break;
		at += n;
	}
	for (char *nul = text; (nul = memchr(nul, '\0', (size_t)(text + size - nul)));)
		*nul = SUBSTITUTE;
	return text;
}

/* A file is appended to by its own offset, which reading must not move: pread() only. */
static bool has_line(const struct tool_process *p, const char *expression)
{
	struct err ignored = ERR_INIT;
	struct pattern *pattern;
	bool found = false;

	if (pattern_new(expression, &pattern, &ignored))
		return false;
	for (int i = 0; i < 2 && !found; i++) {
		autofree char *path = mem_printf("/proc/self/fd/%d", i ? p->err : p->out);
		autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
		autofree char *text = fd < 0 ? mem_strdup("") : read_all(fd);
		size_t at = 0;

		found = pattern_next(pattern, text, strlen(text), &at);
	}
	pattern_free(pattern);
	return found;
}

static bool is_ready(const struct tool_run_spec *s, const struct tool_process *p, int port)
{
	const struct tool_command *c = &s->test->server;

	switch (c->ready) {
	case READY_LISTEN_TCP:
		return listens(p->proc.pid, false, port, s->family);
	case READY_LISTEN_UDP:
		return listens(p->proc.pid, true, port, s->family);
	case READY_LINE:
		return has_line(p, c->ready_line);
	default:
		return true;
	}
}

static int ready_port(const struct tool_command *c, const struct command_values *v, int *port,
		      struct err *err)
{
	autostr struct strbuf text = {0};
	int64_t n;
	int r = c->ready_port ? command_text(c->ready_port, v, &text, err) : 0;

	*port = v->port;
	if (r || !c->ready_port)
		return r;
	if (units_parse_int(strbuf_text(&text), 1, 65535, &n, err))
		return err_wrap(err, "ready: port");
	*port = (int)n;
	return 0;
}

static int await_ready(const struct tool_run_spec *s, const struct command_values *v,
		       struct tool_process *p, struct err *err)
{
	const struct tool_command *c = &s->test->server;
	int64_t deadline = clock_now_ns() + READY_NS;
	struct err ignored = ERR_INIT;
	int port, status, r = ready_port(c, v, &port, err);

	while (!r && !is_ready(s, p, port)) {
		if (!proc_wait(&p->proc, clock_now_ns() + LOOK_NS, &status, &ignored)) {
			autofree char *said = read_all(p->err);
			autostr struct strbuf line = {0};

			p->running = false;
			str_add_line(&line, said, SAID_MAX);
			return err_fail(err, EPIPE, "the server of %s ended at once, status %d: %s",
					s->adapter->name, proc_shell_status(status),
					strbuf_text(&line));
		}
		if (s->stop && s->stop())
			return err_fail(err, EINTR, "interrupted");
		if (clock_now_ns() > deadline)
			return err_fail(err, ETIMEDOUT,
					"the server of %s was not ready within %lld s: nothing "
					"listens on port %d%s",
					s->adapter->name, (long long)(READY_NS / NSEC_PER_SEC),
					port, s->family == AF_INET6 ? " over IPv6" : "");
	}
	return r;
}

/* ---- ending ---- */

static void send_signal(const struct tool_process *p, int number)
{
	syscall(SYS_pidfd_send_signal, p->proc.pidfd, number, NULL, 0);
}

/* Waits; one that does not end is told to, then killed. Its status; -1: killed by us. */
static int end_server(const struct tool_run_spec *s, struct tool_process *p)
{
	const struct tool_command *c = &s->test->server;
	struct err ignored = ERR_INIT;
	int status = 0;

	if (!p->running)
		return -1;
	p->running = false;
	if (s->stop && s->stop()) { /* what it would say is not asked for any more */
		proc_kill(&p->proc, 0);
		return -1;
	}
	if (c->ends && !proc_wait(&p->proc, clock_now_ns() + END_NS, &status, &ignored))
		return proc_shell_status(status);
	send_signal(p, c->stop_signal ? c->stop_signal : SIGINT);
	/* A shell's background job has SIGINT ignored, and so has what it starts. */
	if (!proc_wait(&p->proc, clock_now_ns() + HEED_NS, &status, &ignored))
		return proc_shell_status(status);
	send_signal(p, SIGTERM);
	if (!proc_wait(&p->proc, clock_now_ns() + END_NS, &status, &ignored))
		return proc_shell_status(status);
	proc_kill(&p->proc, 0);
	return -1;
}

static void kill_server(struct tool_process *p)
{
	if (p->running)
		proc_kill(&p->proc, 0);
	p->running = false;
}

static void run_client(const struct tool_run_spec *s, struct tool_process *p,
		       struct tool_process *server, struct tool_output *out)
{
	int64_t grace = s->grace_ns ? s->grace_ns : GRACE_NS;
	int64_t begin = clock_now_ns(), deadline = begin + s->spec.duration_ns + grace;
	int64_t now, late, still = 0;
	struct err ignored = ERR_INIT;
	int status = 0;

	do {
		now = clock_now_ns();
		if (s->tick && s->tick(s->arg, now))
			kill_server(server);
		out->timed_out =
		    proc_wait(&p->proc, clock_now_ns() + TICK_NS, &status, &ignored) != 0;
		late = clock_now_ns() - now - TICK_NS;
		still += late > STILL_NS ? late : 0; /* no time that the tool had */
	} while (out->timed_out && now < deadline + still && !(s->stop && s->stop()));
	out->took_s = (double)(clock_now_ns() - begin - still) / 1e9;
	out->still_s = (double)still / 1e9;
	if (out->timed_out)
		proc_kill(&p->proc, 0);
	p->running = false;
	out->status[CLIENT] = out->timed_out ? -1 : proc_shell_status(status);
}

/* ---- the whole ---- */

static void keep_one(int fd, enum tool_source source, struct tool_output *out)
{
	out->text[source] = fd >= 0 ? read_all(fd) : mem_strdup("");
	if (fd < 0)
		return;
	if (lseek(fd, 0, SEEK_END) >= OUTPUT_MAX)
		out->flooded |= 1u << source;
	close(fd);
}

static void keep(struct tool_process *p, enum end end, struct tool_output *out)
{
	keep_one(p->out, end == CLIENT ? FROM_CLIENT_OUT : FROM_SERVER_OUT, out);
	keep_one(p->err, end == CLIENT ? FROM_CLIENT_ERR : FROM_SERVER_ERR, out);
}

static int serve(const struct tool_run_spec *s, const struct command_values *v,
		 struct tool_process *p, struct err *err)
{
	struct command_line l;
	int r = command_expand(&s->test->server, v, &l, err);

	if (!r)
		r = start(s, SERVER, &l, p, err);
	command_done(&l);
	return r ? r : await_ready(s, v, p, err);
}

static int ask(const struct tool_run_spec *s, const struct command_values *v,
	       struct tool_process *p, struct err *err)
{
	struct command_line l;
	int r = command_expand(&s->test->client, v, &l, err);

	if (!r)
		r = start(s, CLIENT, &l, p, err);
	command_done(&l);
	return r;
}

/* Those besides the first: as many as could be started. */
static int ask_more(const struct tool_run_spec *s, const struct command_values *v,
		    struct tool_process *more, struct err *err)
{
	int r = 0;

	for (int i = 0; i < s->n_more && !r; i++)
		r = ask(s, v, &more[i], err);
	return r;
}

static void end_more(const struct tool_run_spec *s, struct tool_process *more, double took_s)
{
	int64_t deadline = clock_now_ns() + (s->stop && s->stop() ? 0 : MORE_NS);

	for (int i = 0; i < s->n_more; i++) {
		struct tool_output *out = &s->more[i];
		struct err ignored = ERR_INIT;
		int status = 0;

		if (more[i].running) {
			out->timed_out = proc_wait(&more[i].proc, deadline, &status, &ignored) != 0;
			if (out->timed_out)
				proc_kill(&more[i].proc, 0);
			out->status[CLIENT] = out->timed_out ? -1 : proc_shell_status(status);
		}
		out->took_s = took_s;
		keep(&more[i], CLIENT, out);
		out->text[FROM_SERVER_OUT] = mem_strdup("");
		out->text[FROM_SERVER_ERR] = mem_strdup("");
	}
}

static struct command_values values_of(const struct tool_run_spec *s)
{
	const struct engine_spec *e = &s->spec;

	return (struct command_values){
	    .port = s->port ? s->port : TOOL_RUN_PORT,
	    .streams = e->streams,
	    .dscp = e->dscp,
	    .no_delay = e->no_delay,
	    .duration_s = (double)e->duration_ns / 1e9,
	    .interval_s = (double)e->interval_ns / 1e9,
	    .warmup_s = s->warmup ? (double)e->warmup_ns / 1e9 : 0,
	    .rate_bps = (double)e->rate_bps,
	    .rate_pps = (double)e->rate_pps,
	    .size = (double)e->size,
	    .response_size = (double)e->response_size,
	    .count = (double)e->count,
	};
}

static int address(const struct tool_run_spec *s, const char *name, struct ip *out, struct err *err)
{
	const struct wire_endpoint *e = wire_find_endpoint(s->wire, name);

	if (!e)
		return err_input(err, "there is no endpoint '%s'", name);
	*out = s->family == AF_INET6 ? e->ip6 : e->ip4;
	return 0;
}

/* In the lab's own /run: however we end, it goes with the lab. */
static int make_file(void *arg, int out_fd, struct err *err)
{
	char path[] = "/run/tool-XXXXXX";
	autofd int fd = mkostemp(path, O_CLOEXEC);

	(void)arg;
	if (fd < 0)
		return err_sys(err, errno, "cannot make %s in the lab", path);
	return file_write_fd(out_fd, path, strlen(path));
}

/* A link-local address says nothing without the device behind which it is (RFC 4007). */
static int zone(const struct tool_run_spec *s, struct command_values *v, struct err *err)
{
	struct path p;

	if (!ip_is_link_local(&v->server))
		return 0;
	int r = path_find(s->wire, s->from, s->to, s->family, &p, err);
	if (r)
		return r;
	if (p.hops.n && p.hops.v[0].dev_out >= 0)
		v->zone = s->wire->devs.v[p.hops.v[0].dev_out].name;
	path_done(&p);
	return 0;
}

int tool_run(const struct tool_run_spec *s, struct tool_output *out, struct err *err)
{
	struct tool_process client = {.out = -1, .err = -1}, server = client;
	autofree struct tool_process *more = mem_zalloc((size_t)(s->n_more + 1) * sizeof(*more));
	struct command_values v = values_of(s);
	autofree char *path = NULL, *version = NULL, *file = NULL;

	*out = (struct tool_output){.status = {-1, -1}};
	for (int i = 0; i < s->n_more; i++) {
		s->more[i] = *out;
		more[i] = client;
	}
	int r = tool_run_find(s->adapter, &path, &version, err);
	if (!r)
		r = lab_call(s->lab, NULL, make_file, NULL, &file, NULL, err);
	v.program = path;
	v.file = file;
	if (!r)
		r = address(s, s->from, &v.client, err);
	if (!r)
		r = address(s, s->to, &v.server, err);
	if (!r)
		r = zone(s, &v, err);
	if (!r && s->test->server.given && !s->no_server)
		r = serve(s, &v, &server, err);
	if (!r)
		r = ask(s, &v, &client, err);
	if (!r)
		r = ask_more(s, &v, more, err);
	if (!r)
		run_client(s, &client, &server, out);
	if (!r && s->stop && s->stop())
		r = err_fail(err, EINTR, "interrupted");
	if (client.running)
		proc_kill(&client.proc, 0);
	end_more(s, more, out->took_s);
	out->status[SERVER] = end_server(s, &server);
	keep(&client, CLIENT, out);
	keep(&server, SERVER, out);
	return r;
}

void tool_run_done(struct tool_output *o)
{
	for (int i = 0; i < 4; i++)
		free(o->text[i]);
	*o = (struct tool_output){0};
}
