/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nl: netlink sockets and batches of messages, over libmnl.
 *
 * Why libmnl and not libnl-route for rtnetlink: a lab is thousands of small messages, sent many at
 * a time, where an error must name the one thing that failed. libnl sends one object at a time and
 * cannot say several of ours at all (peer with ifindex in another namespace, RTAX_CC_ALGO by name,
 * TCA_STAB without a table). With libmnl every message is written here, so the order, the sequence
 * numbers and the acknowledgements are ours.
 *
 * A batch is filled by link_…(), addr_…(), … and sent to a namespace's socket by nl_send(). Only
 * the last message of a datagram asks for an acknowledgement; the kernel reports errors of the
 * others unasked (netlink_rcv_skb() in net/netlink/af_netlink.c), by their sequence number.
 */
#ifndef VPCLAB_KERNEL_NL_H
#define VPCLAB_KERNEL_NL_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/addr.h"
#include "core/base/err.h"

struct nl_item {
	size_t offset;	 /* of the message in buf */
	char label[104]; /* what it does, for errors: "add address 10.0.0.1/24 to eth0" */
};

struct nl_batch { /* zeroed is empty; reusable for any socket, by one thread at a time */
	char *buf;
	size_t len, cap;
	struct nl_item *items;
	size_t n, items_cap;
};

void nl_batch_done(struct nl_batch *b);
void nl_batch_reset(struct nl_batch *b); /* forgets the messages, keeps the memory */

/*
 * Starts a message; the caller adds attributes with mnl_attr_…() until the next nl_add() (at most
 * NL_MESSAGE_MAX bytes). `type` and `flags` as in struct nlmsghdr, NLM_F_REQUEST is added. The
 * label is for errors. mnl_nlmsg_put_extra_header() follows in the caller.
 */
#define NL_MESSAGE_MAX 65536
struct nlmsghdr *nl_add(struct nl_batch *b, uint16_t type, uint16_t flags, const char *label, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Sends all messages and waits for the answers; the batch is empty afterwards. The first message
 * that failed makes the error: its label, the kernel's extended text and the errno. Those after it
 * were tried too.
 */
int nl_send(int fd, struct nl_batch *b, struct err *err);

/*
 * The same for a netfilter transaction, whose first and last message are its brackets: it goes in
 * one piece, and everything in it happens or nothing.
 */
int nl_send_transaction(int fd, struct nl_batch *b, struct err *err);

/* A netlink socket of the calling thread's network namespace, to which it stays bound. */
int nl_open(int protocol, int *fd, struct err *err);

/*
 * Sends the batch's only message with NLM_F_DUMP (or a single get) and calls `cb` for each answer.
 * A dump that changed while it was read gives -EAGAIN: clear what was collected and try again. The
 * batch is empty afterwards.
 */
int nl_dump(int fd, struct nl_batch *b, mnl_cb_t cb, void *arg, struct err *err);

/*
 * Is there a generic netlink family of that name? Asking for one by name has the kernel load its
 * module (genl_ctrl_getfamily(), request_module()), which would change the machine; so the families
 * that are there are listed. False also where they cannot be.
 */
bool nl_has_family(const char *name);

/* ifindex of a device in the socket's namespace, or -ENODEV. */
int nl_ifindex(int fd, const char *name);

void nl_put_ip(struct nlmsghdr *nlh, uint16_t attr, const struct ip *ip);

#endif
