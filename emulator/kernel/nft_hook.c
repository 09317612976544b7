/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_hook: parses the specification of a base chain. Called by nft.c and by emulator/lab/check.c.
 */
#include "emulator/kernel/nft_hook.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/netfilter.h>
#include <linux/netfilter_arp.h>

#include "core/base/mem.h"
#include "emulator/kernel/nft_lex.h"

#define FAMILY(f) (1u << (f))
#define L3	  (FAMILY(NFPROTO_IPV4) | FAMILY(NFPROTO_IPV6) | FAMILY(NFPROTO_INET))
#define BRIDGE	  FAMILY(NFPROTO_BRIDGE)
#define ARP	  FAMILY(NFPROTO_ARP)
#define NETDEV	  FAMILY(NFPROTO_NETDEV)

static const struct {
	unsigned families;
	const char *name;
	int number;
} nft_hooks[] = {
    {L3 | BRIDGE, "prerouting", NF_INET_PRE_ROUTING},
    {L3 | BRIDGE, "input", NF_INET_LOCAL_IN},
    {L3 | BRIDGE, "forward", NF_INET_FORWARD},
    {L3 | BRIDGE, "output", NF_INET_LOCAL_OUT},
    {L3 | BRIDGE, "postrouting", NF_INET_POST_ROUTING},
    {ARP, "input", NF_ARP_IN},
    {ARP, "output", NF_ARP_OUT},
    {NETDEV, "ingress", NF_NETDEV_INGRESS},
    {NETDEV, "egress", NF_NETDEV_EGRESS},
};

static const struct {
	unsigned families;
	const char *name;
	int priority;
} nft_priorities[] = {
    {L3, "raw", -300},	      {L3, "mangle", -150},	{L3, "dstnat", -100},
    {L3, "security", 50},     {L3, "srcnat", 100},	{L3 | ARP | NETDEV, "filter", 0},
    {BRIDGE, "dstnat", -300}, {BRIDGE, "filter", -200}, {BRIDGE, "out", 100},
    {BRIDGE, "srcnat", 300},
};

static int nft_hook_number(struct nft_lex *lex, int family, struct nft_hook *h)
{
	for (size_t i = 0; i < ARRAY_SIZE(nft_hooks); i++) {
		if (!(nft_hooks[i].families & FAMILY(family)) ||
		    !nft_lex_is(lex, nft_hooks[i].name))
			continue;
		h->number = nft_hooks[i].number;
		return nft_lex_next(lex);
	}
	return nft_lex_error(lex, "a hook of this family");
}

static int nft_hook_int(struct nft_lex *lex, int *n)
{
	char *end;
	long v = strtol(lex->now.text, &end, 10);

	if (lex->now.kind != NFT_WORD || *end || v < INT_MIN / 2 || v > INT_MAX / 2)
		return nft_lex_error(lex, "a priority");
	*n = (int)v;
	return nft_lex_next(lex);
}

/* "-100", "dstnat", "filter + 10", "srcnat - 5". */
static int nft_hook_priority(struct nft_lex *lex, int family, struct nft_hook *h)
{
	int more = 0, sign, rc;
	size_t i = 0;

	while (i < ARRAY_SIZE(nft_priorities) && (!(nft_priorities[i].families & FAMILY(family)) ||
						  !nft_lex_is(lex, nft_priorities[i].name)))
		i++;
	if (i == ARRAY_SIZE(nft_priorities))
		return nft_hook_int(lex, &h->priority);
	h->priority = nft_priorities[i].priority;
	rc = nft_lex_next(lex);
	if (rc < 0)
		return rc;
	sign = nft_lex_is(lex, "+") ? 1 : nft_lex_is(lex, "-") ? -1 : 0;
	if (!sign)
		return 0;
	rc = nft_lex_next(lex);
	if (rc == 0)
		rc = nft_hook_int(lex, &more);
	h->priority += sign * more;
	return rc;
}

/* The current token is a word to keep. */
static int nft_hook_word(struct nft_lex *lex, char *out, size_t size, const char *wanted)
{
	if ((lex->now.kind != NFT_WORD && lex->now.kind != NFT_STRING) ||
	    strlen(lex->now.text) >= size)
		return nft_lex_error(lex, wanted);
	strcpy(out, lex->now.text);
	return nft_lex_next(lex);
}

static int nft_hook_device(struct nft_lex *lex, struct nft_hook *h)
{
	int rc = nft_lex_accept(lex, "device");

	return rc > 0 ? nft_hook_word(lex, h->device, sizeof(h->device), "a device") : rc;
}

static int nft_hook_policy(struct nft_lex *lex, struct nft_hook *h)
{
	int rc = nft_lex_accept(lex, "policy");

	if (rc <= 0)
		return rc;
	if (!nft_lex_is(lex, "accept") && !nft_lex_is(lex, "drop"))
		return nft_lex_error(lex, "accept or drop");
	h->policy = nft_lex_is(lex, "accept") ? NF_ACCEPT : NF_DROP;
	rc = nft_lex_next(lex);
	return rc < 0 ? rc : nft_lex_accept(lex, ";");
}

int nft_hook_parse(int family, const char *text, struct nft_hook *out, struct err *err)
{
	struct nft_lex lex;
	struct nft_hook h = {.policy = -1};
	int rc = nft_lex_start(&lex, text, err);

	if (rc == 0)
		rc = nft_lex_expect(&lex, "type");
	if (rc == 0)
		rc = nft_hook_word(&lex, h.type, sizeof(h.type), "filter, nat or route");
	if (rc == 0)
		rc = nft_lex_expect(&lex, "hook");
	if (rc == 0)
		rc = nft_hook_number(&lex, family, &h);
	if (rc == 0)
		rc = nft_hook_device(&lex, &h);
	if (rc == 0)
		rc = nft_lex_expect(&lex, "priority");
	if (rc == 0)
		rc = nft_hook_priority(&lex, family, &h);
	if (rc == 0)
		rc = nft_lex_accept(&lex, ";");
	if (rc >= 0)
		rc = nft_hook_policy(&lex, &h);
	if (rc >= 0 && lex.now.kind != NFT_END)
		rc = nft_lex_error(&lex, "the end");
	if (rc < 0)
		return rc;
	*out = h;
	return 0;
}

void nft_hook_set(const struct nft_hook *hook, struct nftnl_chain *chain)
{
	nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, hook->type);
	nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, (uint32_t)hook->number);
	nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, hook->priority);
	if (hook->policy >= 0)
		nftnl_chain_set_u32(chain, NFTNL_CHAIN_POLICY, (uint32_t)hook->policy);
	if (*hook->device)
		nftnl_chain_set_str(chain, NFTNL_CHAIN_DEV, hook->device);
}
