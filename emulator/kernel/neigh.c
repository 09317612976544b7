/* SPDX-License-Identifier: GPL-2.0-or-later */
/* neigh: rtnetlink messages for neighbours. Called by emulator/lab/apply.c and tests. */
#include "emulator/kernel/neigh.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

static struct ndmsg *neigh_header(struct nlmsghdr *nlh, int family, int ifindex)
{
	struct ndmsg *ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));

	ndm->ndm_family = (uint8_t)family;
	ndm->ndm_ifindex = ifindex;
	return ndm;
}

void neigh_add(struct nl_batch *batch, const char *dev, int ifindex, const struct ip *ip,
	       const struct mac *mac)
{
	char text[ADDR_TEXT];
	struct nlmsghdr *nlh = nl_add(batch, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL,
				      "add neighbour %s on %s", ip_format(text, ip), dev);

	neigh_header(nlh, ip->family, ifindex)->ndm_state = NUD_PERMANENT;
	nl_put_ip(nlh, NDA_DST, ip);
	mnl_attr_put(nlh, NDA_LLADDR, sizeof(mac->bytes), mac->bytes);
}

void neigh_fdb_add(struct nl_batch *batch, const char *dev, int ifindex, const struct ip *remote)
{
	static const struct mac all_zero;
	char text[ADDR_TEXT];
	struct nlmsghdr *nlh =
	    nl_add(batch, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_APPEND,
		   "add forwarding entry to %s on %s", ip_format(text, remote), dev);
	struct ndmsg *ndm = neigh_header(nlh, AF_BRIDGE, ifindex);

	ndm->ndm_flags = NTF_SELF;
	ndm->ndm_state = NUD_NOARP | NUD_PERMANENT;
	mnl_attr_put(nlh, NDA_LLADDR, sizeof(all_zero.bytes), all_zero.bytes);
	nl_put_ip(nlh, NDA_DST, remote);
}
