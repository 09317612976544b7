/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr: rtnetlink messages for addresses. Called by emulator/lab/apply.c and tests. */
#include "emulator/kernel/addr.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

void addr_add(struct nl_batch *batch, const char *dev, int ifindex, const struct prefix *p)
{
	char text[ADDR_TEXT];
	struct nlmsghdr *nlh = nl_add(batch, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL,
				      "add address %s to %s", prefix_format(text, p), dev);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifa));
	bool loopback = p->ip.family == AF_INET && p->ip.bytes[0] == 127;
	bool v6 = p->ip.family == AF_INET6; /* IPv4 has no duplicate address detection */

	ifa->ifa_family = (uint8_t)p->ip.family;
	ifa->ifa_prefixlen = (uint8_t)p->len;
	ifa->ifa_scope = loopback ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE;
	ifa->ifa_index = (uint32_t)ifindex;
	nl_put_ip(nlh, IFA_LOCAL, &p->ip);
	nl_put_ip(nlh, IFA_ADDRESS, &p->ip);
	mnl_attr_put_u32(nlh, IFA_FLAGS, IFA_F_NOPREFIXROUTE | (v6 ? IFA_F_NODAD : 0));
}
