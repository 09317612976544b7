/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump_attrs: attributes of an answer by their type. For the dump_….c files alone. */
#ifndef VPCLAB_KERNEL_DUMP_ATTRS_H
#define VPCLAB_KERNEL_DUMP_ATTRS_H

#include "emulator/kernel/dump.h"

#define DUMP_ATTR_MAX 80
#define DUMP_TRIES    5

struct dump_attrs { /* types beyond the table are not ours; NULL: not there */
	const struct nlattr *of[DUMP_ATTR_MAX];
};

/* After the fixed header of a message; inside an attribute, which may be NULL. */
struct dump_attrs dump_attrs_of(const struct nlmsghdr *nlh, size_t header);
struct dump_attrs dump_nested(const struct nlattr *nest);
const char *dump_str(struct dump *d, const struct nlattr *attr); /* NULL: NULL */

#endif
