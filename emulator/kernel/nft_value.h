/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_value: constants of nft's rule language as the bytes that the kernel compares.
 */
#ifndef VPCLAB_KERNEL_NFT_VALUE_H
#define VPCLAB_KERNEL_NFT_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

#define NFT_VALUE_MAX 16

enum nft_type {
	NFT_TYPE_IP4,
	NFT_TYPE_IP6,
	NFT_TYPE_ETHER,
	NFT_TYPE_ETHERTYPE,
	NFT_TYPE_ARPOP,
	NFT_TYPE_L4PROTO,
	NFT_TYPE_PORT,
	NFT_TYPE_ICMP,
	NFT_TYPE_ICMP6,
	NFT_TYPE_BYTE,
	NFT_TYPE_SHORT, /* 16 bits of a header */
	NFT_TYPE_DSCP,	/* 6 bits of IPv4's second byte … */
	NFT_TYPE_DSCP6, /* … and of IPv6's first two */
	NFT_TYPE_MARK,
	NFT_TYPE_PRIORITY, /* of traffic control: 1:10, hexadecimal */
	NFT_TYPE_HOST32,   /* 32 bits in host order */
	NFT_TYPE_IFNAME,
	NFT_TYPE_IFINDEX,
	NFT_TYPE_IFTYPE,
	NFT_TYPE_NFPROTO,
	NFT_TYPE_PKTTYPE,
	NFT_TYPE_CT_STATE,
	NFT_TYPE_CT_DIR,
	NFT_TYPE_CT_STATUS,
	NFT_TYPE_COUNT,
};

struct nft_type_info {
	const char *name; /* for errors: "an IPv4 address" */
	uint8_t len;	  /* bytes */
	uint8_t datatype; /* number by which nft knows the type of a set's key */
	bool network;	  /* bytes are in network order, so ranges compare */
	bool bits;	  /* a list of words is a mask: ct state new,established */
	uint8_t part;	  /* only so many bits of the bytes; 0: all */
	uint8_t shift;	  /* … above these */
};
extern const struct nft_type_info nft_types[NFT_TYPE_COUNT];

/* A constant, a prefix (bits >= 0) or a range (last set). */
struct nft_value {
	uint8_t first[NFT_VALUE_MAX], last[NFT_VALUE_MAX];
	int bits; /* prefix length, or -1 */
	bool range;
	uint8_t len; /* bytes; a wildcard interface name is shorter than its type */
};

/* Interface name to index: the index, or a negative errno. */
struct nft_names {
	int (*ifindex)(void *arg, const char *name);
	void *arg;
};

/*
 * Reads one word or string: "10.0.0.0/24", "1000-2000", "echo-request", "eth*". 0, or -EINVAL when
 * it is not of that type (err is left alone: the caller knows the column), -ENODEV for a device.
 */
int nft_value_parse(enum nft_type type, const char *text, const struct nft_names *names,
		    struct nft_value *v);

/* Which bits a type with a part has; false, and nothing: it has all. */
bool nft_value_mask(enum nft_type type, uint8_t *mask);

/* Adds one, as a big-endian number of v's length; false on overflow. */
bool nft_value_increment(uint8_t *bytes, unsigned len);

#endif
