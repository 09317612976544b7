/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_value: parses constants by type, with tables of nft's symbolic names. Knows no services file:
 * ports are numbers. Called by nft_match.c and nft_rule.c.
 */
#include "emulator/kernel/nft_value.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>

#include "core/base/addr.h"
#include "core/base/mem.h"

/* Data type numbers: enum datatypes of nft, part of what a set stores (NFTA_SET_KEY_TYPE). */
const struct nft_type_info nft_types[NFT_TYPE_COUNT] = {
    [NFT_TYPE_IP4] = {"an IPv4 address", 4, 7, true, false},
    [NFT_TYPE_IP6] = {"an IPv6 address", 16, 8, true, false},
    [NFT_TYPE_ETHER] = {"a MAC address", 6, 9, true, false},
    [NFT_TYPE_ETHERTYPE] = {"an Ethernet type", 2, 10, true, false},
    [NFT_TYPE_ARPOP] = {"an ARP operation", 2, 11, true, false},
    [NFT_TYPE_L4PROTO] = {"an IP protocol", 1, 12, true, false},
    [NFT_TYPE_PORT] = {"a port number", 2, 13, true, false},
    [NFT_TYPE_ICMP] = {"an ICMP type", 1, 14, true, false},
    [NFT_TYPE_ICMP6] = {"an ICMPv6 type", 1, 29, true, false},
    [NFT_TYPE_BYTE] = {"a number up to 255", 1, 4, true, false},
    [NFT_TYPE_SHORT] = {"a number up to 65535", 2, 4, true, false},
    [NFT_TYPE_DSCP] = {"a DSCP up to 63", 1, 43, true, false, 6, 2},
    [NFT_TYPE_DSCP6] = {"a DSCP up to 63", 2, 43, true, false, 6, 6},
    [NFT_TYPE_MARK] = {"a mark", 4, 19, false, false},
    [NFT_TYPE_PRIORITY] = {"a priority such as 1:10", 4, 23, false, false},
    [NFT_TYPE_HOST32] = {"a number", 4, 4, false, false},
    [NFT_TYPE_IFNAME] = {"an interface name", IFNAMSIZ, 41, false, false},
    [NFT_TYPE_IFINDEX] = {"an interface that exists", 4, 20, false, false},
    [NFT_TYPE_IFTYPE] = {"a device type", 2, 21, false, false},
    [NFT_TYPE_NFPROTO] = {"ipv4 or ipv6", 1, 2, true, false},
    [NFT_TYPE_PKTTYPE] = {"a packet type", 1, 31, true, false},
    [NFT_TYPE_CT_STATE] = {"a connection state", 4, 26, false, true},
    [NFT_TYPE_CT_DIR] = {"original or reply", 1, 27, true, false},
    [NFT_TYPE_CT_STATUS] = {"a connection status", 4, 28, false, true},
};

static const struct nft_symbol {
	enum nft_type type;
	const char *name;
	uint32_t value;
} nft_symbols[] = {
    {NFT_TYPE_ETHERTYPE, "ip", ETH_P_IP},
    {NFT_TYPE_ETHERTYPE, "ip6", ETH_P_IPV6},
    {NFT_TYPE_ETHERTYPE, "arp", ETH_P_ARP},
    {NFT_TYPE_ETHERTYPE, "vlan", ETH_P_8021Q},
    {NFT_TYPE_ARPOP, "request", 1},
    {NFT_TYPE_ARPOP, "reply", 2},
    {NFT_TYPE_L4PROTO, "icmp", IPPROTO_ICMP},
    {NFT_TYPE_L4PROTO, "igmp", IPPROTO_IGMP},
    {NFT_TYPE_L4PROTO, "tcp", IPPROTO_TCP},
    {NFT_TYPE_L4PROTO, "udp", IPPROTO_UDP},
    {NFT_TYPE_L4PROTO, "gre", IPPROTO_GRE},
    {NFT_TYPE_L4PROTO, "esp", IPPROTO_ESP},
    {NFT_TYPE_L4PROTO, "ah", IPPROTO_AH},
    {NFT_TYPE_L4PROTO, "sctp", IPPROTO_SCTP},
    {NFT_TYPE_L4PROTO, "vrrp", 112},
    {NFT_TYPE_L4PROTO, "icmpv6", IPPROTO_ICMPV6},
    {NFT_TYPE_L4PROTO, "ipv6-icmp", IPPROTO_ICMPV6},
    {NFT_TYPE_ICMP, "echo-reply", 0},
    {NFT_TYPE_ICMP, "destination-unreachable", 3},
    {NFT_TYPE_ICMP, "redirect", 5},
    {NFT_TYPE_ICMP, "echo-request", 8},
    {NFT_TYPE_ICMP, "router-advertisement", 9},
    {NFT_TYPE_ICMP, "router-solicitation", 10},
    {NFT_TYPE_ICMP, "time-exceeded", 11},
    {NFT_TYPE_ICMP, "parameter-problem", 12},
    {NFT_TYPE_ICMP6, "destination-unreachable", 1},
    {NFT_TYPE_ICMP6, "packet-too-big", 2},
    {NFT_TYPE_ICMP6, "time-exceeded", 3},
    {NFT_TYPE_ICMP6, "parameter-problem", 4},
    {NFT_TYPE_ICMP6, "echo-request", 128},
    {NFT_TYPE_ICMP6, "echo-reply", 129},
    {NFT_TYPE_ICMP6, "mld-listener-query", 130},
    {NFT_TYPE_ICMP6, "mld-listener-report", 131},
    {NFT_TYPE_ICMP6, "nd-router-solicit", 133},
    {NFT_TYPE_ICMP6, "nd-router-advert", 134},
    {NFT_TYPE_ICMP6, "nd-neighbor-solicit", 135},
    {NFT_TYPE_ICMP6, "nd-neighbor-advert", 136},
    {NFT_TYPE_ICMP6, "nd-redirect", 137},
    {NFT_TYPE_ICMP6, "mld2-listener-report", 143},
    {NFT_TYPE_IFTYPE, "ether", ARPHRD_ETHER},
    {NFT_TYPE_IFTYPE, "loopback", ARPHRD_LOOPBACK},
    {NFT_TYPE_NFPROTO, "ipv4", NFPROTO_IPV4},
    {NFT_TYPE_NFPROTO, "ipv6", NFPROTO_IPV6},
    {NFT_TYPE_PKTTYPE, "host", PACKET_HOST},
    {NFT_TYPE_PKTTYPE, "broadcast", PACKET_BROADCAST},
    {NFT_TYPE_PKTTYPE, "multicast", PACKET_MULTICAST},
    {NFT_TYPE_PKTTYPE, "other", PACKET_OTHERHOST},
    {NFT_TYPE_CT_STATE, "invalid", NF_CT_STATE_INVALID_BIT},
    {NFT_TYPE_CT_STATE, "established", NF_CT_STATE_BIT(IP_CT_ESTABLISHED)},
    {NFT_TYPE_CT_STATE, "related", NF_CT_STATE_BIT(IP_CT_RELATED)},
    {NFT_TYPE_CT_STATE, "new", NF_CT_STATE_BIT(IP_CT_NEW)},
    {NFT_TYPE_CT_STATE, "untracked", NF_CT_STATE_UNTRACKED_BIT},
    {NFT_TYPE_CT_DIR, "original", 0},
    {NFT_TYPE_CT_DIR, "reply", 1},
    {NFT_TYPE_CT_STATUS, "expected", IPS_EXPECTED},
    {NFT_TYPE_CT_STATUS, "seen-reply", IPS_SEEN_REPLY},
    {NFT_TYPE_CT_STATUS, "assured", IPS_ASSURED},
    {NFT_TYPE_CT_STATUS, "confirmed", IPS_CONFIRMED},
    {NFT_TYPE_CT_STATUS, "snat", IPS_SRC_NAT},
    {NFT_TYPE_CT_STATUS, "dnat", IPS_DST_NAT},
};

static int nft_value_number(enum nft_type type, const char *text, uint8_t *bytes)
{
	unsigned len = nft_types[type].len, part = nft_types[type].part;
	uint64_t max = len >= 4 ? UINT32_MAX : (1u << (part ? part : 8 * len)) - 1;
	uint64_t n = 0;
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(nft_symbols) && !found; i++) {
		if (nft_symbols[i].type != type || strcmp(nft_symbols[i].name, text))
			continue;
		n = nft_symbols[i].value;
		found = true;
	}
	if (!found) {
		char *end;
		n = strtoull(text, &end, 0);
		if (*text < '0' || *text > '9' || *end || n > max)
			return -EINVAL;
	}
	n <<= nft_types[type].shift;
	bool big = nft_types[type].network || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	for (unsigned i = 0; i < len; i++)
		bytes[i] = (uint8_t)(n >> 8 * (big ? len - 1 - i : i));
	return 0;
}

static int nft_value_ip(enum nft_type type, const char *text, uint8_t *bytes)
{
	int family = type == NFT_TYPE_IP4 ? AF_INET : AF_INET6;

	return inet_pton(family, text, bytes) == 1 ? 0 : -EINVAL;
}

/* A class of traffic control as tc writes it. */
static int nft_value_priority(const char *text, uint8_t *bytes)
{
	unsigned major, minor;
	uint32_t id;
	int used = 0;

	if (sscanf(text, "%4x:%4x%n", &major, &minor, &used) != 2 || text[used])
		return -EINVAL;
	id = major << 16 | minor;
	memcpy(bytes, &id, sizeof(id));
	return 0;
}

static int nft_value_single(enum nft_type type, const char *text, const struct nft_names *names,
			    uint8_t *bytes)
{
	struct err ignored = ERR_INIT;
	struct mac mac;
	int index;

	switch (type) {
	case NFT_TYPE_IP4:
	case NFT_TYPE_IP6:
		return nft_value_ip(type, text, bytes);
	case NFT_TYPE_ETHER:
		if (mac_parse(text, &mac, &ignored) < 0)
			return -EINVAL;
		memcpy(bytes, mac.bytes, sizeof(mac.bytes));
		return 0;
	case NFT_TYPE_PRIORITY:
		return nft_value_priority(text, bytes);
	case NFT_TYPE_IFINDEX:
		index = names->ifindex(names->arg, text);
		if (index < 0)
			return index;
		memcpy(bytes, &index, sizeof(index));
		return 0;
	default:
		return nft_value_number(type, text, bytes);
	}
}

static int nft_value_ifname(const char *text, struct nft_value *v)
{
	size_t len = strlen(text);

	if (len == 0 || len >= IFNAMSIZ)
		return -EINVAL;
	memcpy(v->first, text, len);
	v->len = IFNAMSIZ;
	if (text[len - 1] == '*') {
		v->first[len - 1] = 0;
		v->len = (uint8_t)(len - 1);
	}
	return v->len ? 0 : -EINVAL;
}

static int nft_value_prefix(enum nft_type type, const char *text, const char *slash,
			    struct nft_value *v)
{
	char host[64];
	char *end;
	size_t n = (size_t)(slash - text);
	long bits = strtol(slash + 1, &end, 10);

	if (n >= sizeof(host) || !slash[1] || *end || bits < 0 || bits > 8L * v->len)
		return -EINVAL;
	memcpy(host, text, n);
	host[n] = '\0';
	if (nft_value_ip(type, host, v->first) < 0)
		return -EINVAL;
	for (int i = 0; i < v->len; i++) {
		int keep = (int)bits - 8 * i;
		uint8_t mask = keep >= 8 ? 0xff : keep <= 0 ? 0 : (uint8_t)(0xff00 >> keep);
		v->first[i] &= mask;
		v->last[i] = (uint8_t)(v->first[i] | ~mask);
	}
	v->bits = bits == 8L * v->len ? -1 : (int)bits;
	return 0;
}

static int nft_value_range(enum nft_type type, const char *text, const char *dash,
			   struct nft_value *v)
{
	char low[64];
	size_t n = (size_t)(dash - text);

	if (n >= sizeof(low))
		return -EINVAL;
	memcpy(low, text, n);
	low[n] = '\0';
	if (nft_value_single(type, low, NULL, v->first) < 0 ||
	    nft_value_single(type, dash + 1, NULL, v->last) < 0 ||
	    memcmp(v->first, v->last, v->len) > 0)
		return -EINVAL;
	v->range = memcmp(v->first, v->last, v->len) != 0;
	return 0;
}

int nft_value_parse(enum nft_type type, const char *text, const struct nft_names *names,
		    struct nft_value *v)
{
	bool ip = type == NFT_TYPE_IP4 || type == NFT_TYPE_IP6;
	bool ranges = ip || type == NFT_TYPE_PORT || type == NFT_TYPE_SHORT;
	const char *slash = strchr(text, '/');
	const char *dash = strchr(text, '-');

	*v = (struct nft_value){.bits = -1, .len = nft_types[type].len};
	if (type == NFT_TYPE_IFNAME)
		return nft_value_ifname(text, v);
	if (ip && slash)
		return nft_value_prefix(type, text, slash, v);
	if (ranges && dash)
		return nft_value_range(type, text, dash, v);
	int rc = nft_value_single(type, text, names, v->first);
	memcpy(v->last, v->first, sizeof(v->last));
	return rc;
}

bool nft_value_mask(enum nft_type type, uint8_t *mask)
{
	const struct nft_type_info *t = &nft_types[type];
	uint32_t bits = ((1u << t->part) - 1) << t->shift;

	for (unsigned i = 0; i < t->len && t->part; i++)
		mask[i] = (uint8_t)(bits >> 8 * (t->len - 1 - i));
	return t->part;
}

bool nft_value_increment(uint8_t *bytes, unsigned len)
{
	while (len-- > 0)
		if (++bytes[len])
			return true;
	return false;
}
