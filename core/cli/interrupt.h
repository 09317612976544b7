/* SPDX-License-Identifier: GPL-2.0-or-later */
/* interrupt: Ctrl-C while something is measured ends the measurement, not the program. */
#ifndef VPCLAB_CLI_INTERRUPT_H
#define VPCLAB_CLI_INTERRUPT_H

#include <signal.h>

struct interrupt {
	struct sigaction old_int, old_term, old_hup;
};

/*
 * From now on SIGINT, SIGTERM and SIGHUP call run_interrupt(), but SIGHUP not where it is
 * ignored (nohup); an INT or TERM after the first of them ends the program.
 */
void interrupt_begin(struct interrupt *i);
void interrupt_end(const struct interrupt *i);

#endif
