// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * top: live counters of every interface of a running lab, again and again. On a terminal the table
 * stays in its place until q or Ctrl-C; elsewhere each interval is a block of its own.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/cli/command.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "core/cli/top.h"
#include "emulator/lab/count.h"

#define LEAST_INTERVAL_NS (20 * NSEC_PER_MSEC)

struct top_options {
	const char *node;
	int64_t interval_ns, count;
	bool once, all, queues, sar, json;
};

static atomic_bool stopped;

static void on_signal(int signal_number)
{
	(void)signal_number;
	atomic_store(&stopped, true);
}

/* ---- the terminal ---- */

struct screen {
	bool live; /* redraw in place, and listen to keys */
	struct termios old;
};

static void screen_begin(const struct top_options *o, struct screen *s)
{
	struct sigaction end = {.sa_handler = on_signal};
	struct termios raw;

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	s->live = !o->sar && !o->json && !o->once && isatty(STDOUT_FILENO) &&
		  isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &s->old) == 0;
	if (!s->live)
		return;
	raw = s->old;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void screen_end(const struct screen *s)
{
	if (s->live)
		tcsetattr(STDIN_FILENO, TCSANOW, &s->old);
}

static size_t screen_rows(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 2 ? size.ws_row : 24;
}

/* As many lines as there are rows, so that nothing scrolls away. */
static void screen_show(const char *text)
{
	size_t left = screen_rows() - 1;

	fputs("\033[H", stdout);
	for (const char *line = text; *line && left; left--) {
		size_t n = strcspn(line, "\n");

		fwrite(line, 1, n, stdout);
		fputs("\033[K\n", stdout);
		line += n + (line[n] == '\n');
	}
	fputs("\033[J", stdout);
}

/* Until then, a signal, or q. */
static void wait_until(const struct screen *s, int64_t when_ns)
{
	for (;;) {
		struct pollfd keys = {.fd = s->live ? STDIN_FILENO : -1, .events = POLLIN};
		int64_t left = when_ns - clock_now_ns();
		struct timespec t = {left / NSEC_PER_SEC, left % NSEC_PER_SEC};
		char key;

		if (left <= 0 || atomic_load(&stopped))
			return;
		if (ppoll(&keys, 1, &t, NULL) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q')
			atomic_store(&stopped, true);
	}
}

/* ---- what is shown ---- */

struct view {
	const struct top_options *o;
	const struct source *lab;
	struct screen screen;
	json_t *first, *before; /* readings */
	char began[16];		/* sar: time of day of `before` */
	bool any;
};

static void time_of_day(char buf[16])
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(buf, 16, "%H:%M:%S", &tm);
}

static void sar_banner(void)
{
	struct utsname u;
	time_t now = time(NULL);
	char date[32];
	struct tm tm;

	uname(&u);
	localtime_r(&now, &tm);
	/* %x of the C locale, where the month comes first */
	snprintf(date, sizeof(date), "%02d/%02d/%02d", tm.tm_mon + 1, tm.tm_mday, tm.tm_year % 100);
	printf("%s %s (%s) \t%s \t_%s_\t(%ld CPU)\n", u.sysname, u.release, u.nodename, date,
	       u.machine, sysconf(_SC_NPROCESSORS_CONF));
}

static void show_sar(struct view *v, const struct top *t)
{
	autostr struct strbuf text = {0};
	char now[16];

	time_of_day(now);
	top_sar(t, v->began, now, v->o->node != NULL, &text);
	memcpy(v->began, now, sizeof(now));
	print_text(&text);
}

static void show_table(const struct view *v, const struct top *t)
{
	autostr struct strbuf text = {0};
	char now[16], every[32];

	time_of_day(now);
	if (v->any && !v->screen.live)
		strbuf_addc(&text, '\n');
	strbuf_addf(
	    &text, "%s, %s, the last %s%s\n", lab_name(v->lab->lab), now,
	    units_format_time(every, sizeof(every), (int64_t)(t->interval_s * 1e3) * NSEC_PER_MSEC),
	    v->screen.live ? "; q ends" : "");
	top_table(t, v->o->queues, &text);
	if (v->screen.live)
		screen_show(strbuf_text(&text));
	else
		print_text(&text);
}

static void show(struct view *v, const json_t *before, const json_t *after)
{
	/* sar shows all, and in the order of the machine. */
	struct top_filter f = {v->o->node, v->o->all || v->o->sar};
	struct top t;

	top_rows(&v->lab->wire, before, after, &f, &t);
	if (v->o->json) {
		json_t *j = top_json(&t, after);

		json_dumpf(j, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
		putchar('\n');
		json_decref(j);
	} else if (v->o->sar) {
		show_sar(v, &t);
	} else {
		show_table(v, &t);
	}
	fflush(stdout);
	v->any = true;
	top_done(&t);
}

static void show_average(struct view *v)
{
	struct top_filter f = {v->o->node, true};
	autostr struct strbuf text = {0};
	struct top t;

	if (!v->o->sar || !v->any)
		return;
	top_rows(&v->lab->wire, v->first, v->before, &f, &t);
	top_sar(&t, "Average:", "Average:", v->o->node != NULL, &text);
	print_text(&text);
	top_done(&t);
}

/* ---- the command ---- */

static int read_now(const struct view *v, json_t **out, struct err *err)
{
	return count_snapshot(v->lab->lab, &v->o->node, v->o->node != NULL, out, err);
}

static int watch(struct view *v, struct err *err)
{
	int64_t when = clock_now_ns(), left = v->o->once ? 1 : v->o->count;
	int r = read_now(v, &v->before, err);

	if (r)
		return r;
	v->first = json_incref(v->before);
	time_of_day(v->began);
	if (v->o->sar)
		sar_banner();
	if (v->screen.live)
		fputs("\033[2J", stdout);
	while (!atomic_load(&stopped)) {
		json_t *after;

		when += v->o->interval_ns;
		wait_until(&v->screen, when);
		if (atomic_load(&stopped))
			break;
		r = read_now(v, &after, err);
		if (r)
			break;
		show(v, v->before, after);
		json_decref(v->before);
		v->before = after;
		if (left && !--left)
			break;
	}
	show_average(v);
	json_decref(v->first);
	json_decref(v->before);
	return r;
}

static int check_options(const struct top_options *o, const struct source *s, struct err *err)
{
	if (o->interval_ns < LEAST_INTERVAL_NS)
		return err_input(err, "--interval is at least 20ms");
	if (o->json && o->sar)
		return err_input(err, "--json and --sar are two formats; give one of them");
	if (o->node && wire_find_node(&s->wire, o->node) < 0)
		return err_input(err, "lab '%s' has no node '%s'", lab_name(s->lab), o->node);
	return 0;
}

static int top_run(const struct call *call, struct err *err)
{
	struct source s;
	struct view v = {.o = call->options, .lab = &s};
	int ret = source_open_lab(call->argv[0], &s, err);

	if (!ret)
		ret = check_options(v.o, &s, err);
	if (!ret) {
		screen_begin(v.o, &v.screen);
		ret = watch(&v, err);
		screen_end(&v.screen);
	}
	source_done(&s);
	return ret;
}

static const struct option_def option_defs[] = {
    {"interval", 'i', OPT_TIME, "TIME", "how long each reading covers (1s)",
     OPT_AT(struct top_options, interval_ns), NULL, 0, 0},
    {"count", 'n', OPT_INT, "N", "end after N readings", OPT_AT(struct top_options, count), NULL, 1,
     INT32_MAX},
    {"once", 0, OPT_FLAG, NULL, "one reading, as --count 1", OPT_AT(struct top_options, once), NULL,
     0, 0},
    {"node", 0, OPT_STRING, "NODE", "only this node", OPT_AT(struct top_options, node), NULL, 0, 0},
    {"all", 'a', OPT_FLAG, NULL, "idle interfaces too, in the order of the lab",
     OPT_AT(struct top_options, all), NULL, 0, 0},
    {"queues", 0, OPT_FLAG, NULL, "a line for each queue and class below its interface",
     OPT_AT(struct top_options, queues), NULL, 0, 0},
    {"sar", 0, OPT_FLAG, NULL, "print what sar -n DEV prints", OPT_AT(struct top_options, sar),
     NULL, 0, 0},
    {"json", 0, OPT_FLAG, NULL, "print JSON, a line for each reading",
     OPT_AT(struct top_options, json), NULL, 0, 0},
};

static const struct top_options defaults = {.interval_ns = NSEC_PER_SEC};

const struct command cmd_top = {
    .name = "top",
    .summary = "show live counters of every interface of a lab",
    .operands = "[LAB]",
    .operand_kind = OPERAND_LAB,
    .max_operands = 1,
    .description =
	"LAB may be left out when only one is up. Packets, bits and drops a second, and how\n"
	"many packets wait, of every interface that moves, the busiest first; on a terminal\n"
	"until q or Ctrl-C. Drops are named: qdisc (a queue was full), nft (a rule or policer),\n"
	"softnet (the machine had no room on the way to the other end), not_taken (nobody in\n"
	"the node had a use for it), socket (the receiver was too slow).\n"
	"\n"
	"--sar prints the columns of sysstat's `sar -n DEV`, for all interfaces, named\n"
	"node:interface, or by themselves with --node. Bytes are those of Ethernet frames\n"
	"without their checksum.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct top_options),
    .defaults = &defaults,
    .run = top_run,
};
