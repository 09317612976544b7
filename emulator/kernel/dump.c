/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dump: rtnetlink dumps as plain structs. Called by emulator/lab/check.c, count_inside.c and tests.
 */
#include "emulator/kernel/dump_attrs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "emulator/kernel/nl.h"

#define DUMP_TRIES 5

void dump_done(struct dump *d)
{
	arena_done(&d->arena);
	*d = (struct dump){0};
}

static int dump_attr(const struct nlattr *attr, void *arg)
{
	struct dump_attrs *t = arg;

	if (mnl_attr_get_type(attr) < DUMP_ATTR_MAX)
		t->of[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

struct dump_attrs dump_attrs_of(const struct nlmsghdr *nlh, size_t header)
{
	struct dump_attrs t = {0};

	mnl_attr_parse(nlh, (unsigned)header, dump_attr, &t);
	return t;
}

struct dump_attrs dump_nested(const struct nlattr *nest)
{
	struct dump_attrs t = {0};

	if (nest)
		mnl_attr_parse_nested(nest, dump_attr, &t);
	return t;
}

/* NULL: 0 */
static uint32_t dump_u32(const struct nlattr *attr)
{
	return attr ? mnl_attr_get_u32(attr) : 0;
}

const char *dump_str(struct dump *d, const struct nlattr *attr)
{
	return attr ? arena_strndup(&d->arena, mnl_attr_get_payload(attr),
				    mnl_attr_get_payload_len(attr))
		    : NULL;
}

static struct ip dump_ip(int family, const struct nlattr *attr)
{
	struct ip ip = {0};

	if (!attr)
		return ip;
	ip.family = family;
	if (mnl_attr_get_payload_len(attr) == ip_size(&ip))
		memcpy(ip.bytes, mnl_attr_get_payload(attr), ip_size(&ip));
	else
		ip.family = 0;
	return ip;
}

static struct mac dump_mac(const struct nlattr *attr)
{
	struct mac mac = {0};

	if (attr && mnl_attr_get_payload_len(attr) == sizeof(mac.bytes))
		memcpy(mac.bytes, mnl_attr_get_payload(attr), sizeof(mac.bytes));
	return mac;
}

static void dump_link_kind(struct dump *d, struct dump_link *l, const struct nlattr *linkinfo)
{
	struct dump_attrs info = dump_nested(linkinfo);
	struct dump_attrs data = dump_nested(info.of[IFLA_INFO_DATA]);

	l->kind = info.of[IFLA_INFO_KIND] ? dump_str(d, info.of[IFLA_INFO_KIND]) : "";
	if (!strcmp(l->kind, "bridge")) {
		const struct nlattr *snooping = data.of[IFLA_BR_MCAST_SNOOPING];
		l->stp = dump_u32(data.of[IFLA_BR_STP_STATE]);
		l->forward_delay = dump_u32(data.of[IFLA_BR_FORWARD_DELAY]);
		l->snooping = snooping && mnl_attr_get_u8(snooping);
	} else if (!strcmp(l->kind, "vxlan")) {
		const struct nlattr *port = data.of[IFLA_VXLAN_PORT];
		l->vni = (int)dump_u32(data.of[IFLA_VXLAN_ID]);
		l->port = port ? ntohs(mnl_attr_get_u16(port)) : 0;
		l->local = data.of[IFLA_VXLAN_LOCAL]
			       ? dump_ip(AF_INET, data.of[IFLA_VXLAN_LOCAL])
			       : dump_ip(AF_INET6, data.of[IFLA_VXLAN_LOCAL6]);
	} else if (!strcmp(l->kind, "vlan")) {
		const struct nlattr *id = data.of[IFLA_VLAN_ID];
		l->vlan = id ? mnl_attr_get_u16(id) : 0;
	}
}

static void dump_link_stats(struct dump_link *l, const struct nlattr *attr)
{
	struct rtnl_link_stats64 s = {0};

	if (!attr)
		return;
	size_t n = mnl_attr_get_payload_len(attr);
	memcpy(&s, mnl_attr_get_payload(attr), n < sizeof(s) ? n : sizeof(s));
	l->stats = (struct dump_stats){
	    .rx_packets = s.rx_packets,
	    .rx_bytes = s.rx_bytes,
	    .rx_dropped = s.rx_dropped,
	    .rx_errors = s.rx_errors,
	    .rx_multicast = s.multicast,
	    .tx_packets = s.tx_packets,
	    .tx_bytes = s.tx_bytes,
	    .tx_dropped = s.tx_dropped,
	    .tx_errors = s.tx_errors,
	};
}

static int dump_one_link(const struct nlmsghdr *nlh, void *arg)
{
	struct dump *d = arg;
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);

	if (nlh->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	struct dump_attrs t = dump_attrs_of(nlh, sizeof(*ifi));
	struct dump_link *l = VEC_ADD(&d->arena, &d->links);
	l->ifindex = ifi->ifi_index;
	l->up = ifi->ifi_flags & IFF_UP;
	l->name = dump_str(d, t.of[IFLA_IFNAME]);
	l->alias = dump_str(d, t.of[IFLA_IFALIAS]);
	l->mtu = (int)dump_u32(t.of[IFLA_MTU]);
	l->master = (int)dump_u32(t.of[IFLA_MASTER]);
	l->peer = (int)dump_u32(t.of[IFLA_LINK]);
	l->tx_queues = (int)dump_u32(t.of[IFLA_NUM_TX_QUEUES]);
	l->rx_queues = (int)dump_u32(t.of[IFLA_NUM_RX_QUEUES]);
	l->gso_max_size = (int)dump_u32(t.of[IFLA_GSO_MAX_SIZE]);
	l->gro_max_size = (int)dump_u32(t.of[IFLA_GRO_MAX_SIZE]);
	l->mac = dump_mac(t.of[IFLA_ADDRESS]);
	l->altname = dump_str(d, dump_nested(t.of[IFLA_PROP_LIST]).of[IFLA_ALT_IFNAME]);
	dump_link_kind(d, l, t.of[IFLA_LINKINFO]);
	dump_link_stats(l, t.of[IFLA_STATS64]);
	return MNL_CB_OK;
}

static int dump_one_addr(const struct nlmsghdr *nlh, void *arg)
{
	struct dump *d = arg;
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);

	if (nlh->nlmsg_type != RTM_NEWADDR)
		return MNL_CB_OK;
	struct dump_attrs t = dump_attrs_of(nlh, sizeof(*ifa));
	const struct nlattr *local = t.of[IFA_LOCAL] ? t.of[IFA_LOCAL] : t.of[IFA_ADDRESS];
	struct dump_addr *a = VEC_ADD(&d->arena, &d->addrs);
	a->ifindex = (int)ifa->ifa_index;
	a->prefix.ip = dump_ip(ifa->ifa_family, local);
	a->prefix.len = ifa->ifa_prefixlen;
	a->flags = t.of[IFA_FLAGS] ? dump_u32(t.of[IFA_FLAGS]) : ifa->ifa_flags;
	return MNL_CB_OK;
}

static int dump_one_route(const struct nlmsghdr *nlh, void *arg)
{
	struct dump *d = arg;
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);

	if (nlh->nlmsg_type != RTM_NEWROUTE || rtm->rtm_type != RTN_UNICAST ||
	    rtm->rtm_table != RT_TABLE_MAIN || rtm->rtm_flags & RTM_F_CLONED)
		return MNL_CB_OK;
	struct dump_attrs t = dump_attrs_of(nlh, sizeof(*rtm));
	struct dump_route *r = VEC_ADD(&d->arena, &d->routes);
	r->dst.ip = dump_ip(rtm->rtm_family, t.of[RTA_DST]);
	r->dst.ip.family = rtm->rtm_family;
	r->dst.len = rtm->rtm_dst_len;
	r->via = dump_ip(rtm->rtm_family, t.of[RTA_GATEWAY]);
	r->src = dump_ip(rtm->rtm_family, t.of[RTA_PREFSRC]);
	r->ifindex = (int)dump_u32(t.of[RTA_OIF]);
	r->protocol = rtm->rtm_protocol;
	r->congctl = dump_str(d, dump_nested(t.of[RTA_METRICS]).of[RTAX_CC_ALGO]);
	return MNL_CB_OK;
}

static int dump_one_neigh(const struct nlmsghdr *nlh, void *arg)
{
	struct dump *d = arg;
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	bool fdb = ndm->ndm_family == AF_BRIDGE;

	if (nlh->nlmsg_type != RTM_NEWNEIGH || (!fdb && !(ndm->ndm_state & NUD_PERMANENT)))
		return MNL_CB_OK;
	struct dump_attrs t = dump_attrs_of(nlh, sizeof(*ndm));
	struct dump_neigh *n = VEC_ADD(&d->arena, &d->neighs);
	n->ifindex = ndm->ndm_ifindex;
	n->fdb = fdb;
	n->state = ndm->ndm_state;
	n->flags = ndm->ndm_flags;
	n->mac = dump_mac(t.of[NDA_LLADDR]);
	if (t.of[NDA_DST])
		n->ip = dump_ip(mnl_attr_get_payload_len(t.of[NDA_DST]) == 4 ? AF_INET : AF_INET6,
				t.of[NDA_DST]);
	return MNL_CB_OK;
}

/* A request without filter: a zeroed header of its type. */
struct dump_request {
	uint16_t type;
	size_t header;
	int family;
	mnl_cb_t cb;
	const char *what;
};

static int dump_read(int rt, struct dump *d, const struct dump_request *r, struct err *err)
{
	struct nl_batch batch = {0};
	struct nlmsghdr *nlh = nl_add(&batch, r->type, NLM_F_DUMP, "read %s", r->what);
	uint8_t *header = mnl_nlmsg_put_extra_header(nlh, r->header);

	*header = (uint8_t)r->family; /* the first byte of all of them */
	int rc = nl_dump(rt, &batch, r->cb, d, err);
	nl_batch_done(&batch);
	return rc;
}

/* Both families (second 0: one), again when the kernel's state changed meanwhile. */
struct dump_requests {
	struct dump_request first;
	int second;
	size_t *n; /* length of the array that they fill */
};

static int dump_all(int rt, struct dump *d, const struct dump_requests *rs, struct err *err)
{
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < DUMP_TRIES; i++) {
		struct dump_request second = rs->first;
		*rs->n = 0;
		rc = dump_read(rt, d, &rs->first, err);
		second.family = rs->second;
		if (rc == 0 && rs->second)
			rc = dump_read(rt, d, &second, err);
	}
	return rc;
}

int dump_links(int rt, struct dump *d, struct err *err)
{
	const struct dump_requests rs = {
	    {RTM_GETLINK, sizeof(struct ifinfomsg), AF_UNSPEC, dump_one_link, "devices"},
	    0,
	    &d->links.n};

	return dump_all(rt, d, &rs, err);
}

int dump_addrs(int rt, struct dump *d, struct err *err)
{
	const struct dump_requests rs = {
	    {RTM_GETADDR, sizeof(struct ifaddrmsg), AF_UNSPEC, dump_one_addr, "addresses"},
	    0,
	    &d->addrs.n};

	return dump_all(rt, d, &rs, err);
}

int dump_routes(int rt, struct dump *d, struct err *err)
{
	const struct dump_requests rs = {
	    {RTM_GETROUTE, sizeof(struct rtmsg), AF_INET, dump_one_route, "routes"},
	    AF_INET6,
	    &d->routes.n};

	return dump_all(rt, d, &rs, err);
}

int dump_neighs(int rt, struct dump *d, struct err *err)
{
	const struct dump_requests rs = {
	    {RTM_GETNEIGH, sizeof(struct ndmsg), AF_UNSPEC, dump_one_neigh, "neighbours"},
	    AF_BRIDGE,
	    &d->neighs.n};

	return dump_all(rt, d, &rs, err);
}

const struct dump_link *dump_find_link(const struct dump *d, int ifindex)
{
	VEC_FOREACH (l, &d->links) {
		if (l->ifindex == ifindex)
			return l;
	}
	return NULL;
}

const struct dump_link *dump_find_name(const struct dump *d, const char *name)
{
	VEC_FOREACH (l, &d->links) {
		if (!strcmp(l->name, name))
			return l;
	}
	return NULL;
}
