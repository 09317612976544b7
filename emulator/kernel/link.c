/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link: rtnetlink messages that create and change devices. Called by emulator/lab/apply.c and
 * tests.
 */
#include "emulator/kernel/link.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>

#define LINK_CREATE (NLM_F_CREATE | NLM_F_EXCL)

static struct ifinfomsg *link_header(struct nlmsghdr *nlh, int ifindex)
{
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));

	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = ifindex;
	return ifi;
}

static void link_common(struct nlmsghdr *nlh, const struct link_spec *spec)
{
	mnl_attr_put_strz(nlh, IFLA_IFNAME, spec->name);
	mnl_attr_put(nlh, IFLA_ADDRESS, sizeof(spec->mac.bytes), spec->mac.bytes);
	if (spec->mtu)
		mnl_attr_put_u32(nlh, IFLA_MTU, (uint32_t)spec->mtu);
	if (spec->tx_queues)
		mnl_attr_put_u32(nlh, IFLA_NUM_TX_QUEUES, (uint32_t)spec->tx_queues);
	if (spec->rx_queues)
		mnl_attr_put_u32(nlh, IFLA_NUM_RX_QUEUES, (uint32_t)spec->rx_queues);
	if (!spec->big_tcp)
		return;
	mnl_attr_put_u32(nlh, IFLA_GSO_MAX_SIZE, (uint32_t)spec->big_tcp);
	mnl_attr_put_u32(nlh, IFLA_GRO_MAX_SIZE, (uint32_t)spec->big_tcp);
}

void link_veth(struct nl_batch *batch, const struct link_spec *a, const struct link_spec *b,
	       int b_ns_fd)
{
	struct nlmsghdr *nlh = nl_add(batch, RTM_NEWLINK, LINK_CREATE,
				      "create veth %s with peer %s", a->name, b->name);

	link_header(nlh, a->ifindex);
	link_common(nlh, a);
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	struct nlattr *data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	struct nlattr *peer = mnl_attr_nest_start(nlh, VETH_INFO_PEER);
	link_header(nlh, b->ifindex);
	link_common(nlh, b);
	mnl_attr_put_u32(nlh, IFLA_NET_NS_FD, (uint32_t)b_ns_fd);
	mnl_attr_nest_end(nlh, peer);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
}

void link_bridge(struct nl_batch *batch, const struct link_spec *spec)
{
	struct nlmsghdr *nlh =
	    nl_add(batch, RTM_NEWLINK, LINK_CREATE, "create bridge %s", spec->name);

	link_header(nlh, spec->ifindex);
	link_common(nlh, spec);
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "bridge");
	struct nlattr *data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	mnl_attr_put_u32(nlh, IFLA_BR_STP_STATE, 0);
	mnl_attr_put_u32(nlh, IFLA_BR_FORWARD_DELAY, 0);
	mnl_attr_put_u8(nlh, IFLA_BR_MCAST_SNOOPING, 0);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
}

void link_vxlan(struct nl_batch *batch, const struct link_spec *spec, const struct link_vxlan *v)
{
	struct nlmsghdr *nlh =
	    nl_add(batch, RTM_NEWLINK, LINK_CREATE, "create vxlan %s", spec->name);

	link_header(nlh, spec->ifindex);
	link_common(nlh, spec);
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "vxlan");
	struct nlattr *data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	mnl_attr_put_u32(nlh, IFLA_VXLAN_ID, (uint32_t)v->vni);
	mnl_attr_put_u16(nlh, IFLA_VXLAN_PORT, htons((uint16_t)v->port));
	if (v->local.family)
		nl_put_ip(nlh, v->local.family == AF_INET6 ? IFLA_VXLAN_LOCAL6 : IFLA_VXLAN_LOCAL,
			  &v->local);
	mnl_attr_put_u8(nlh, IFLA_VXLAN_LEARNING, 1);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
}

void link_vlan(struct nl_batch *batch, const struct link_spec *spec, int lower, int vlan)
{
	struct nlmsghdr *nlh =
	    nl_add(batch, RTM_NEWLINK, LINK_CREATE, "create vlan %s", spec->name);

	link_header(nlh, spec->ifindex);
	link_common(nlh, spec);
	mnl_attr_put_u32(nlh, IFLA_LINK, (uint32_t)lower);
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "vlan");
	struct nlattr *data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	mnl_attr_put_u16(nlh, IFLA_VLAN_ID, (uint16_t)vlan);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
}

void link_up(struct nl_batch *batch, const char *name, int ifindex)
{
	struct nlmsghdr *nlh = nl_add(batch, RTM_NEWLINK, 0, "set %s up", name);
	struct ifinfomsg *ifi = link_header(nlh, ifindex);

	ifi->ifi_flags = IFF_UP;
	ifi->ifi_change = IFF_UP;
}

void link_alias(struct nl_batch *batch, const char *name, int ifindex, const char *alias)
{
	struct nlmsghdr *nlh = nl_add(batch, RTM_NEWLINK, 0, "set alias of %s", name);

	link_header(nlh, ifindex);
	mnl_attr_put_str(nlh, IFLA_IFALIAS, alias);
}

void link_altname(struct nl_batch *batch, const char *name, int ifindex, const char *altname)
{
	struct nlmsghdr *nlh = nl_add(batch, RTM_NEWLINKPROP, LINK_CREATE,
				      "give %s the alternative name %s", name, altname);

	link_header(nlh, ifindex);
	struct nlattr *list = mnl_attr_nest_start(nlh, IFLA_PROP_LIST);
	mnl_attr_put_strz(nlh, IFLA_ALT_IFNAME, altname);
	mnl_attr_nest_end(nlh, list);
}

void link_master(struct nl_batch *batch, const char *name, int ifindex, int master_ifindex)
{
	struct nlmsghdr *nlh = nl_add(batch, RTM_NEWLINK, 0, "put %s into its bridge", name);

	link_header(nlh, ifindex);
	mnl_attr_put_u32(nlh, IFLA_MASTER, (uint32_t)master_ifindex);
}
