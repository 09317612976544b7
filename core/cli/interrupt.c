// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * interrupt: signals while labs are up. The first asks the run to end in order: labs down, partial
 * result printed. A second SIGINT or SIGTERM has its default effect; tied labs then end with the
 * process. A second SIGHUP has none: a terminal that closes sends it twice (kernel and shell).
 * Under nohup SIGHUP stays ignored.
 */
#include "core/cli/interrupt.h"

#include <errno.h>
#include <string.h>

#include "core/harness/run.h"

static void on_signal(int signal_number)
{
	struct sigaction end = {.sa_handler = SIG_DFL};
	int saved = errno;

	(void)signal_number;
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	run_interrupt();
	errno = saved;
}

static void take(int signal_number, struct sigaction *old)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigemptyset(&action.sa_mask);
	sigaction(signal_number, NULL, old);
	/* A shell without job control ignores SIGINT for what it starts with "&": no wish. */
	if (signal_number != SIGHUP || old->sa_handler != SIG_IGN)
		sigaction(signal_number, &action, NULL);
}

void interrupt_begin(struct interrupt *i)
{
	take(SIGINT, &i->old_int);
	take(SIGTERM, &i->old_term);
	take(SIGHUP, &i->old_hup);
}

void interrupt_end(const struct interrupt *i)
{
	sigaction(SIGINT, &i->old_int, NULL);
	sigaction(SIGTERM, &i->old_term, NULL);
	sigaction(SIGHUP, &i->old_hup, NULL);
}
