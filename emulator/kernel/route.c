/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route: rtnetlink messages for routes. Called by emulator/lab/apply.c and tests. */
#include "emulator/kernel/route.h"

#include <linux/rtnetlink.h>

static void route_put(struct nlmsghdr *nlh, const struct route_spec *r)
{
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	bool on_link = !r->via.family && r->dst.ip.family == AF_INET;

	rtm->rtm_family = (uint8_t)r->dst.ip.family;
	rtm->rtm_dst_len = (uint8_t)r->dst.len;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_protocol = RTPROT_BOOT;
	rtm->rtm_scope = on_link ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
	rtm->rtm_type = RTN_UNICAST;
	if (r->dst.len)
		nl_put_ip(nlh, RTA_DST, &r->dst.ip);
	if (r->via.family)
		nl_put_ip(nlh, RTA_GATEWAY, &r->via);
	if (r->src.family)
		nl_put_ip(nlh, RTA_PREFSRC, &r->src);
	mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)r->ifindex);
}

void route_add(struct nl_batch *batch, const struct route_spec *r)
{
	char text[ADDR_TEXT];
	/* Each device has a network of link-local addresses of its own. */
	int once = ip_is_link_local(&r->dst.ip) ? NLM_F_APPEND : NLM_F_EXCL;
	struct nlmsghdr *nlh =
	    nl_add(batch, RTM_NEWROUTE, NLM_F_CREATE | once, "add route %s by %s",
		   r->dst.len ? prefix_format(text, &r->dst) : "default", r->dev);

	route_put(nlh, r);
	if (r->congctl) {
		struct nlattr *metrics = mnl_attr_nest_start(nlh, RTA_METRICS);
		mnl_attr_put_strz(nlh, RTAX_CC_ALGO, r->congctl);
		mnl_attr_nest_end(nlh, metrics);
	}
}
