// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * progress: draws what run.c tells. On a terminal one line that changes, wiped at the end;
 * elsewhere (a CI log) a line at each step and no more. Called by cli/ unless it is to be quiet.
 */
#include "core/report/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/units.h"
#include "core/report/text.h"

enum { BAR = 22 };

void progress_init(struct progress *p)
{
	*p = (struct progress){.bar = isatty(STDERR_FILENO)};
}

static void add_left(struct strbuf *line, int64_t left_ns)
{
	int64_t s = (left_ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC;

	if (s >= 60)
		strbuf_addf(line, " · %lld min %02lld s left", (long long)(s / 60),
			    (long long)(s % 60));
	else if (s > 0)
		strbuf_addf(line, " · %lld s left", (long long)s);
}

static void draw_bar(const struct run_progress *what)
{
	autostr struct strbuf line = {0};
	int full = (int)(what->done * BAR + 0.5);

	strbuf_add(&line, "\r  [");
	for (int i = 0; i < BAR; i++)
		strbuf_addc(&line, i < full ? '#' : '-');
	strbuf_addf(&line, "] %s", what->text);
	add_left(&line, what->left_ns);
	strbuf_add(&line, "\033[K");
	fputs(strbuf_text(&line), stderr);
	fflush(stderr);
}

void progress_show(void *progress, const struct run_progress *what)
{
	struct progress *p = progress;
	autostr struct strbuf line = {0};

	if (p->bar) {
		draw_bar(what);
		p->drawn = true;
		return;
	}
	if (!what->step)
		return;
	strbuf_addf(&line, "%3.0f %%  %s", what->done * 100, what->text);
	add_left(&line, what->left_ns);
	fprintf(stderr, "%s\n", strbuf_text(&line));
}

void progress_done(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}
