/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nl: netlink sockets and batches. Knows nothing of what the messages mean. Called by everything in
 * emulator/kernel.
 */
#include "emulator/kernel/nl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/base/mem.h"

#define NL_DATAGRAM_MAX (64 * 1024) /* bytes sent at once; the socket's send buffer is larger */
#define NL_RECV_MAX	(64 * 1024)

void nl_batch_done(struct nl_batch *b)
{
	free(b->buf);
	free(b->items);
	*b = (struct nl_batch){0};
}

void nl_batch_reset(struct nl_batch *b)
{
	b->len = 0;
	b->n = 0;
}

/* The last message may have grown since nl_add(): its header tells its length. */
static void nl_close_last(struct nl_batch *b)
{
	if (b->n == 0)
		return;
	size_t offset = b->items[b->n - 1].offset;
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)(b->buf + offset);
	b->len = offset + MNL_ALIGN(nlh->nlmsg_len);
}

static void nl_reserve(struct nl_batch *b)
{
	if (b->len + NL_MESSAGE_MAX > b->cap) {
		b->cap = 2 * b->cap + NL_MESSAGE_MAX;
		b->buf = mem_realloc(b->buf, b->cap);
	}
	if (b->n == b->items_cap) {
		b->items_cap = 2 * b->items_cap + 16;
		b->items = mem_realloc(b->items, b->items_cap * sizeof(*b->items));
	}
}

struct nlmsghdr *nl_add(struct nl_batch *b, uint16_t type, uint16_t flags, const char *label, ...)
{
	va_list ap;

	nl_close_last(b);
	nl_reserve(b);
	struct nl_item *item = &b->items[b->n++];
	item->offset = b->len;
	va_start(ap, label);
	vsnprintf(item->label, sizeof(item->label), label, ap);
	va_end(ap);
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(b->buf + b->len);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = (uint32_t)b->n; /* index of the item + 1 */
	return nlh;
}

static void nl_ext_ack(const struct nlmsghdr *nlh, const char **text)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*e);

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += MNL_ALIGN(e->msg.nlmsg_len) - sizeof(e->msg);
	const struct nlattr *attr;
	mnl_attr_for_each(attr, nlh, skip)
	{
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			*text = mnl_attr_get_str(attr);
	}
}

/* Makes the error of one negative answer. */
static int nl_error(const struct nl_batch *b, const struct nlmsghdr *nlh, struct err *err)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	const char *text = NULL;
	const char *label = "netlink";

	nl_ext_ack(nlh, &text);
	if (nlh->nlmsg_seq >= 1 && nlh->nlmsg_seq <= b->n)
		label = b->items[nlh->nlmsg_seq - 1].label;
	if (text)
		return err_sys(err, -e->error, "%s: kernel says \"%s\"", label, text);
	return err_sys(err, -e->error, "%s", label);
}

static int nl_recv(int fd, char *buf, size_t size, ssize_t *got, struct err *err)
{
	do
		*got = recv(fd, buf, size, 0);
	while (*got < 0 && errno == EINTR);
	if (*got < 0)
		return err_sys(err, errno, "netlink: receive");
	return 0;
}

/*
 * Reads answers until that of message `last` has come, or an error of message `fatal` (0: none).
 * The first error wins.
 */
static int nl_wait(int fd, const struct nl_batch *b, uint32_t last, uint32_t fatal, struct err *err)
{
	char buf[NL_RECV_MAX] __attribute__((aligned(8)));
	int result = 0;

	for (bool done = false; !done;) {
		ssize_t got;
		int rc = nl_recv(fd, buf, sizeof(buf), &got, err);
		if (rc < 0)
			return rc;
		int left = (int)got;
		for (const struct nlmsghdr *nlh = (void *)buf; mnl_nlmsg_ok(nlh, left);
		     nlh = mnl_nlmsg_next(nlh, &left)) {
			if (nlh->nlmsg_type != NLMSG_ERROR)
				continue;
			const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
			if (e->error && !result)
				result = nl_error(b, nlh, err);
			done =
			    done || nlh->nlmsg_seq == last || (e->error && nlh->nlmsg_seq == fatal);
		}
	}
	return result;
}

/* The messages from item `first` on that go into one datagram; returns the item after them. */
static size_t nl_chunk(const struct nl_batch *b, size_t first)
{
	size_t i = first + 1;

	while (i < b->n) {
		size_t end = i + 1 < b->n ? b->items[i + 1].offset : b->len;
		if (end - b->items[first].offset > NL_DATAGRAM_MAX)
			break;
		i++;
	}
	return i;
}

static int nl_send_bytes(int fd, const struct nl_batch *b, size_t from, size_t to, struct err *err)
{
	ssize_t sent;

	do
		sent = send(fd, b->buf + from, to - from, 0);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return err_sys(err, errno, "netlink send of %zu bytes", to - from);
	return 0;
}

static struct nlmsghdr *nl_message(struct nl_batch *b, size_t i)
{
	return (void *)(b->buf + b->items[i].offset);
}

static int nl_send_chunk(int fd, struct nl_batch *b, size_t first, size_t end, struct err *err)
{
	struct nlmsghdr *last = nl_message(b, end - 1);

	last->nlmsg_flags |= NLM_F_ACK;
	int rc = nl_send_bytes(fd, b, b->items[first].offset,
			       end < b->n ? b->items[end].offset : b->len, err);
	if (rc < 0)
		return err_wrap(err, "%s", b->items[first].label);
	return nl_wait(fd, b, last->nlmsg_seq, 0, err);
}

int nl_send(int fd, struct nl_batch *b, struct err *err)
{
	int rc = 0;

	nl_close_last(b);
	for (size_t i = 0; i < b->n && rc == 0;) {
		size_t end = nl_chunk(b, i);
		rc = nl_send_chunk(fd, b, i, end, err);
		i = end;
	}
	nl_batch_reset(b);
	return rc;
}

/*
 * Errors of single messages are reported for each, after all were looked at; a commit that fails,
 * or a lack of privilege, only for the opening bracket (nfnetlink_rcv_batch()). The closing bracket
 * is acknowledged by newer kernels only, so the message before it is asked for.
 */
int nl_send_transaction(int fd, struct nl_batch *b, struct err *err)
{
	nl_close_last(b);
	struct nlmsghdr *last = nl_message(b, b->n - 2);
	last->nlmsg_flags |= NLM_F_ACK;
	int rc = nl_send_bytes(fd, b, 0, b->len, err);
	if (rc == 0)
		rc = nl_wait(fd, b, last->nlmsg_seq, nl_message(b, 0)->nlmsg_seq, err);
	nl_batch_reset(b);
	return rc;
}

int nl_open(int protocol, int *fd, struct err *err)
{
	int one = 1, size = 1 << 20;
	autofd int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (s < 0)
		return err_sys(err, errno, "netlink socket (protocol %d)", protocol);
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK};
	if (bind(s, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return err_sys(err, errno, "netlink socket: bind");
	/* Old kernels lack these; errors then come without text. */
	setsockopt(s, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(s, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	if (protocol == NETLINK_ROUTE)
		setsockopt(s, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	setsockopt(s, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	*fd = s;
	s = -1;
	return 0;
}

enum { DUMP_MORE, DUMP_END };

struct nl_dump_state {
	const struct nl_batch *b;
	mnl_cb_t cb;
	void *arg;
	bool interrupted;
};

static int nl_dump_message(struct nl_dump_state *s, const struct nlmsghdr *nlh, struct err *err)
{
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		s->interrupted = true;
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
		if (e->error)
			return nl_error(s->b, nlh, err);
		return DUMP_END;
	}
	if (nlh->nlmsg_type == NLMSG_DONE) {
		const int *status = mnl_nlmsg_get_payload(nlh);
		if (mnl_nlmsg_get_payload_len(nlh) >= sizeof(*status) && *status < 0)
			return err_sys(err, -*status, "%s", s->b->items[0].label);
		return DUMP_END;
	}
	if (!s->interrupted)
		s->cb(nlh, s->arg);
	return DUMP_MORE;
}

static int nl_dump_read(int fd, struct nl_dump_state *s, struct err *err)
{
	char buf[NL_RECV_MAX] __attribute__((aligned(8)));

	for (;;) {
		ssize_t got;
		int rc = nl_recv(fd, buf, sizeof(buf), &got, err);
		if (rc < 0)
			return rc;
		int left = (int)got;
		for (const struct nlmsghdr *nlh = (void *)buf; mnl_nlmsg_ok(nlh, left);
		     nlh = mnl_nlmsg_next(nlh, &left)) {
			rc = nl_dump_message(s, nlh, err);
			if (rc == DUMP_END)
				return 0;
			if (rc < 0)
				return rc;
		}
	}
}

int nl_dump(int fd, struct nl_batch *b, mnl_cb_t cb, void *arg, struct err *err)
{
	struct nl_dump_state s = {.b = b, .cb = cb, .arg = arg};

	nl_close_last(b);
	struct nlmsghdr *nlh = (void *)b->buf;
	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		nlh->nlmsg_flags |= NLM_F_ACK;
	int rc = nl_send_bytes(fd, b, 0, b->len, err);
	rc = rc < 0 ? err_wrap(err, "%s", b->items[0].label) : nl_dump_read(fd, &s, err);
	if (rc == 0 && s.interrupted)
		rc = err_sys(err, EAGAIN, "%s: the kernel's state changed while it was read",
			     b->items[0].label);
	nl_batch_reset(b);
	return rc;
}

struct nl_family {
	const char *wanted;
	bool found;
};

static int nl_see_family(const struct nlmsghdr *nlh, void *arg)
{
	struct nl_family *f = arg;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
	{
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_NAME &&
		    !strcmp(mnl_attr_get_str(attr), f->wanted))
			f->found = true;
	}
	return MNL_CB_OK;
}

bool nl_has_family(const char *name)
{
	struct nl_family family = {.wanted = name};
	struct err none = ERR_INIT;
	struct nl_batch batch = {0};
	autofd int fd = -1;

	if (nl_open(NETLINK_GENERIC, &fd, &none))
		return false;
	struct nlmsghdr *nlh = nl_add(&batch, GENL_ID_CTRL, NLM_F_DUMP, "list families");
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = CTRL_CMD_GETFAMILY;
	genl->version = 1;
	int rc = nl_dump(fd, &batch, nl_see_family, &family, &none);
	nl_batch_done(&batch);
	return rc == 0 && family.found;
}

/* A netlink socket hands device ioctls to its own namespace (netlink_ioctl(), sock_do_ioctl()). */
int nl_ifindex(int fd, const char *name)
{
	struct ifreq ifr = {0};

	if (strlen(name) >= sizeof(ifr.ifr_name))
		return -ENODEV;
	strcpy(ifr.ifr_name, name);
	if (ioctl(fd, SIOCGIFINDEX, &ifr) < 0)
		return -errno;
	return ifr.ifr_ifindex;
}

void nl_put_ip(struct nlmsghdr *nlh, uint16_t attr, const struct ip *ip)
{
	mnl_attr_put(nlh, attr, ip_size(ip), ip->bytes);
}
