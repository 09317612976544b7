/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * company: which measurements run in a lab at the same time and share nodes on their ways. The
 * counters of those nodes, and of the machine below them, are then of all of them together: what
 * was dropped is nobody's alone.
 *
 * They leave word in a file of the lab's run directory: a number a node, of measurements that began
 * there, and a lock a node (open file description locks, fcntl(2)) for as long as one runs. So it
 * is noticed too when another one began and ended meanwhile, and one that was killed is no company.
 */
#ifndef VPCLAB_LAB_COMPANY_H
#define VPCLAB_LAB_COMPANY_H

#include "emulator/lab/lab.h"
#include "emulator/model/path.h"

struct company;

/* Begins a measurement along a way. NULL: no word can be left, and nothing will be noticed. Both
 * borrowed until company_leave(). */
struct company *company_join(const struct lab *lab, const struct path *way);

/* The index of a node that another measurement used since then, or does; -1: none. */
int company_met(const struct company *c);

void company_leave(struct company *c); /* NULL: nothing to do */

#endif
