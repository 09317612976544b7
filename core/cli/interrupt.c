// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * interrupt: signals while labs are up. The first asks the run to end in order: labs down, partial
 * result printed. The second has its default effect; tied labs then end with the process.
 */
#include "core/cli/interrupt.h"

#include <string.h>

#include "core/harness/run.h"

static void on_signal(int signal_number)
{
	(void)signal_number;
	run_interrupt();
}

void interrupt_begin(struct interrupt *i)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, &i->old_int);
	sigaction(SIGTERM, &action, &i->old_term);
	sigaction(SIGHUP, &action, &i->old_hup);
}

void interrupt_end(const struct interrupt *i)
{
	sigaction(SIGINT, &i->old_int, NULL);
	sigaction(SIGTERM, &i->old_term, NULL);
	sigaction(SIGHUP, &i->old_hup, NULL);
}
