/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile: the profiles of one file, for who lists or shows them. Pure. */
#ifndef VPCLAB_MODEL_PROFILE_H
#define VPCLAB_MODEL_PROFILE_H

#include "core/base/problems.h"
#include "emulator/model/topology.h"

struct profile {
	const char *name;		  /* "aliyun/ecs.g7a.large", as a topology says it */
	struct wire_shape shape;	  /* as published, not scaled */
	const char *direction;		  /* "each", "sum", "egress" */
	int64_t connections;		  /* 0: no cap */
	int mtu;			  /* 0: its network's */
	int vcpu;			  /* 0: not known */
	double memory_gib;		  /* 0: not known */
	const char *source, *date, *note; /* or NULL */
};

struct profiles {
	struct topology *owner;	  /* of all texts */
	const char *description;  /* of the file, or NULL */
	VEC(struct profile) list; /* file order */
};

/*
 * Reads "profiles/PROVIDER.yaml" (`file->name`; the text is needed only during the call) and checks
 * every profile in it. profiles_done() is needed in either case; with problems the list is what
 * could be read.
 */
void profiles_read(const struct topology_file *file, struct profiles *out, struct problems *p);
void profiles_done(struct profiles *profiles);

#endif
