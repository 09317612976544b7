/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft: nftables tables, chains and rules, written in nft's own language, loaded in transactions
 * through libnftnl and libmnl.
 */
#ifndef VPCLAB_KERNEL_NFT_H
#define VPCLAB_KERNEL_NFT_H

#include "core/base/addr.h"
#include "emulator/kernel/nft_rule.h"
#include "emulator/kernel/nl.h"

/*
 * What is added is collected and committed by nft_commit(), or in between when it has grown larger
 * than a socket takes at once. `fd` is a NETLINK_NETFILTER socket of the namespace.
 */
struct nft_tx {
	int fd;
	struct nl_batch batch;
	uint32_t set_id;
};

struct nft_place {
	const char *family; /* "ip", "ip6", "inet", "arp", "bridge", "netdev" */
	const char *table, *chain;
};

void nft_start(struct nft_tx *tx, int fd);
int nft_commit(struct nft_tx *tx, struct err *err); /* also when nothing was added */
void nft_done(struct nft_tx *tx);		    /* drops what is not committed */

int nft_add_table(struct nft_tx *tx, const struct nft_place *at, struct err *err);

/* hook NULL: a regular chain; else "type nat hook prerouting priority -100; policy accept;". */
int nft_add_chain(struct nft_tx *tx, const struct nft_place *at, const char *hook, struct err *err);

/* `comment` NULL: the one in the text, if any. Devices are looked up in the namespace of `fd`. */
int nft_add_rule(struct nft_tx *tx, const struct nft_place *at, const char *text,
		 const char *comment, struct err *err);

/*
 * Answers ARP requests for `ip` that enter bridge port `dev` with `mac`: table bridge nat, chain
 * PREROUTING, by the xtables target arpreply. The same objects that ebtables-nft makes for
 * `-t nat -A PREROUTING -i DEV -p ARP --arp-op Request --arp-ip-dst IP -j arpreply
 * --arpreply-mac MAC`. nft_add_arp_chain() comes first, once a namespace.
 */
struct nft_arpreply {
	const char *dev;
	struct ip ip; /* IPv4 */
	struct mac mac;
};
#define NFT_ARP_HOOK "type filter hook prerouting priority dstnat; policy accept;"
int nft_add_arp_chain(struct nft_tx *tx, struct err *err);
int nft_add_arpreply(struct nft_tx *tx, const struct nft_arpreply *a, struct err *err);

/* The expressions of that rule. */
void nft_arpreply_rule(const struct nft_arpreply *a, struct nftnl_rule *out);

int nft_delete_chain(struct nft_tx *tx, const struct nft_place *at, struct err *err);
int nft_flush_chain(struct nft_tx *tx, const struct nft_place *at, struct err *err); /* its rules */

struct nft_counter {
	uint64_t packets, bytes;
};
/* The rules of a chain as they are, in order; -ENOENT when they are not `n`. */
struct nft_rule_now {
	uint64_t handle;
	struct nft_counter counter; /* zero where it has none */
};
int nft_read_rules(int fd, const struct nft_place *at, struct nft_rule_now *out, size_t n,
		   struct err *err);

/* A rule instead of the one with that handle. It starts to count anew; those around it count on. */
struct nft_rule_text {
	const char *text, *comment; /* as nft_add_rule() takes them */
};
int nft_replace_rule(struct nft_tx *tx, const struct nft_place *at, uint64_t handle,
		     const struct nft_rule_text *rule, struct err *err);

/* "ip", "inet", … of an NFPROTO_…; "?" for one that no lab has. */
const char *nft_family_name(uint32_t family);

/* NFPROTO_… of a family's name, or -EINVAL with err set. */
int nft_family(const char *name, struct err *err);

/* What each message begins with, of an NFPROTO_…; `resource` is 0 but around a transaction. */
void nft_put_header(struct nlmsghdr *nlh, uint32_t family, uint16_t resource);

/* Looks up devices in the namespace of a socket, whose number `fd` points to. */
struct nft_names nft_names_of(int *fd);

#endif
