/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames_inside: what frames.c has done inside the lab, and the form in which the answer travels:
 * for each stream a struct frames_head, then its arrays. Both ends are the same program.
 */
#ifndef VPCLAB_LAB_FRAMES_INSIDE_H
#define VPCLAB_LAB_FRAMES_INSIDE_H

#include "emulator/lab/frames.h"

struct frames_head {
	size_t n_sent, n_arrivals;
	int64_t foreign, refused, overrun;
};

int frames_inside(void *spec, int out_fd,
		  struct err *err); /* struct frames_spec *, for lab_call() */

#endif
