/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share: the folders in which the files that vpclab ships may be, and what there is. */
#ifndef VPCLAB_BASE_SHARE_H
#define VPCLAB_BASE_SHARE_H

#include "core/base/mem.h"

/*
 * The n-th place, from 0, where shipped files of a kind ("topologies") may be: installed beside the
 * program, in the checkout that it was built in, below the current directory. Gives a heap string,
 * whether there is such a folder or not; NULL after the last.
 */
char *share_place(const char *kind, int n);

/* The names of all shipped files KIND/NAME.yaml, each once, sorted. Texts in `a`. */
struct share_names {
	VEC(const char *) list;
};
void share_names(const char *kind, struct arena *a, struct share_names *out);

#endif
