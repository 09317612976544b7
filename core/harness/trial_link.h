/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trial_link: the topology that a trial's `link` means. */
#ifndef VPCLAB_HARNESS_TRIAL_LINK_H
#define VPCLAB_HARNESS_TRIAL_LINK_H

#include "core/base/yaml.h"
#include "core/harness/trial.h"

/*
 * Fills in the trial's topology, its name, link, from and to; t->name and t->file are there. `link`
 * is a map with keys of a topology's link. Adds the problems of these, at their places in the
 * trial's file.
 */
void trial_link(struct trial *t, const struct yaml_node *link, bool router, struct problems *p);

#endif
