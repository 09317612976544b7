/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft: nftables transactions. Compiling is nft_rule.c's, reading back nft_dump.c's. Called by
 * emulator/lab/apply.c, count.c and tests.
 */
#include "emulator/kernel/nft.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>
#include <libnftnl/udata.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "core/base/mem.h"
#include "emulator/kernel/nft_hook.h"

/* A transaction is one datagram; an unprivileged socket takes about 200 kB (wmem_max). */
#define NFT_TX_MAX (96 * 1024)

#define NFT_ARP_TABLE "nat"
#define NFT_ARP_CHAIN "PREROUTING"

int nft_family(const char *name, struct err *err)
{
	static const struct {
		const char *name;
		int family;
	} families[] = {{"ip", NFPROTO_IPV4},	    {"ip6", NFPROTO_IPV6},
			{"inet", NFPROTO_INET},	    {"arp", NFPROTO_ARP},
			{"bridge", NFPROTO_BRIDGE}, {"netdev", NFPROTO_NETDEV}};

	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (!strcmp(families[i].name, name))
			return families[i].family;
	return err_input(err, "'%s' is not a family of nftables", name);
}

static int nft_names_ifindex(void *arg, const char *name)
{
	return nl_ifindex(*(int *)arg, name);
}

struct nft_names nft_names_of(int *fd)
{
	return (struct nft_names){.ifindex = nft_names_ifindex, .arg = fd};
}

void nft_put_header(struct nlmsghdr *nlh, uint32_t family, uint16_t resource)
{
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));

	nfg->nfgen_family = (uint8_t)family;
	nfg->version = NFNETLINK_V0;
	nfg->res_id = htons(resource);
}

static void nft_bracket(struct nft_tx *tx, uint16_t type)
{
	nft_put_header(nl_add(&tx->batch, type, 0, "nftables transaction"), AF_UNSPEC,
		       NFNL_SUBSYS_NFTABLES);
}

static void nft_clear(struct nft_tx *tx)
{
	nl_batch_reset(&tx->batch);
	nft_bracket(tx, NFNL_MSG_BATCH_BEGIN);
	tx->set_id = 1;
}

void nft_start(struct nft_tx *tx, int fd)
{
	*tx = (struct nft_tx){.fd = fd};
	nft_clear(tx);
}

void nft_done(struct nft_tx *tx)
{
	nl_batch_done(&tx->batch);
}

int nft_commit(struct nft_tx *tx, struct err *err)
{
	int rc = 0;

	if (tx->batch.n > 1) {
		nft_bracket(tx, NFNL_MSG_BATCH_END);
		rc = nl_send_transaction(tx->fd, &tx->batch, err);
	}
	nft_clear(tx);
	return rc;
}

/* Before an object is added: what is there goes out where more would not fit. */
static int nft_room(struct nft_tx *tx, struct err *err)
{
	return tx->batch.len > NFT_TX_MAX ? nft_commit(tx, err) : 0;
}

#define NFT_ADD(tx, message, flags, ...)                                                           \
	nl_add(&(tx)->batch, NFNL_SUBSYS_NFTABLES << 8 | (message), (flags), __VA_ARGS__)

int nft_add_table(struct nft_tx *tx, const struct nft_place *at, struct err *err)
{
	int family = nft_family(at->family, err);
	int rc = family < 0 ? family : nft_room(tx, err);

	if (rc < 0)
		return rc;
	struct nlmsghdr *nlh = NFT_ADD(tx, NFT_MSG_NEWTABLE, NLM_F_CREATE, "nft add table %s %s",
				       at->family, at->table);
	nft_put_header(nlh, family, 0);
	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, at->table);
	mnl_attr_put_u32(nlh, NFTA_TABLE_FLAGS, 0);
	return 0;
}

int nft_add_chain(struct nft_tx *tx, const struct nft_place *at, const char *hook, struct err *err)
{
	struct nft_hook h;
	int family = nft_family(at->family, err);
	int rc = family < 0 ? family : nft_room(tx, err);

	if (rc == 0 && hook)
		rc = nft_hook_parse(family, hook, &h, err);
	if (rc < 0)
		return err_wrap(err, "nft chain %s %s %s", at->family, at->table, at->chain);
	struct nftnl_chain *c = nftnl_chain_alloc();
	nftnl_chain_set_str(c, NFTNL_CHAIN_TABLE, at->table);
	nftnl_chain_set_str(c, NFTNL_CHAIN_NAME, at->chain);
	if (hook)
		nft_hook_set(&h, c);
	struct nlmsghdr *nlh = NFT_ADD(tx, NFT_MSG_NEWCHAIN, NLM_F_CREATE, "nft add chain %s %s %s",
				       at->family, at->table, at->chain);
	nft_put_header(nlh, family, 0);
	nftnl_chain_nlmsg_build_payload(nlh, c);
	nftnl_chain_free(c);
	return 0;
}

/* A message that says no more than which chain. */
static int nft_chain_message(struct nft_tx *tx, uint16_t message, const struct nft_place *at,
			     struct err *err)
{
	bool rules = message == NFT_MSG_DELRULE;
	int family = nft_family(at->family, err);
	int rc = family < 0 ? family : nft_room(tx, err);

	if (rc < 0)
		return rc;
	struct nlmsghdr *nlh =
	    NFT_ADD(tx, message, 0, "nft %s chain %s %s %s", rules ? "flush" : "delete", at->family,
		    at->table, at->chain);
	nft_put_header(nlh, family, 0);
	mnl_attr_put_strz(nlh, rules ? NFTA_RULE_TABLE : NFTA_CHAIN_TABLE, at->table);
	mnl_attr_put_strz(nlh, rules ? NFTA_RULE_CHAIN : NFTA_CHAIN_NAME, at->chain);
	return 0;
}

int nft_flush_chain(struct nft_tx *tx, const struct nft_place *at, struct err *err)
{
	return nft_chain_message(tx, NFT_MSG_DELRULE, at, err);
}

int nft_delete_chain(struct nft_tx *tx, const struct nft_place *at, struct err *err)
{
	return nft_chain_message(tx, NFT_MSG_DELCHAIN, at, err);
}

/* What nft stores with a set so that a listing can tell host from network order. */
static void nft_set_userdata(struct nftnl_set *set, const struct nft_match *m)
{
	struct nftnl_udata_buf *ud = nftnl_udata_buf_alloc(NFT_USERDATA_MAXLEN);

	/* enum byteorder of nft: 1 host, 2 big endian. */
	nftnl_udata_put_u32(ud, NFTNL_UDATA_SET_KEYBYTEORDER, nft_types[m->type].network ? 2 : 1);
	if (m->interval)
		nftnl_udata_put_u32(ud, NFTNL_UDATA_SET_MERGE_ELEMENTS, 1);
	nftnl_set_set_data(set, NFTNL_SET_USERDATA, nftnl_udata_buf_data(ud),
			   nftnl_udata_buf_len(ud));
	nftnl_udata_buf_free(ud);
}

static void nft_set_element(struct nftnl_set *set, const struct nft_element *e, uint32_t len)
{
	struct nftnl_set_elem *elem = nftnl_set_elem_alloc();

	nftnl_set_elem_set(elem, NFTNL_SET_ELEM_KEY, e->key, len);
	if (e->end)
		nftnl_set_elem_set_u32(elem, NFTNL_SET_ELEM_FLAGS, NFT_SET_ELEM_INTERVAL_END);
	if (e->open) { /* as nft marks an interval without an end element */
		struct nftnl_udata_buf *ud = nftnl_udata_buf_alloc(NFT_USERDATA_MAXLEN);
		nftnl_udata_put_u32(ud, NFTNL_UDATA_SET_ELEM_FLAGS, 1);
		nftnl_set_elem_set(elem, NFTNL_SET_ELEM_USERDATA, nftnl_udata_buf_data(ud),
				   nftnl_udata_buf_len(ud));
		nftnl_udata_buf_free(ud);
	}
	nftnl_set_elem_add(set, elem);
}

static struct nftnl_set *nft_set_new(const struct nft_place *at, const struct nft_match *m,
				     uint32_t id)
{
	struct nftnl_set *set = nftnl_set_alloc();
	uint32_t flags = NFT_SET_ANONYMOUS | NFT_SET_CONSTANT;

	nftnl_set_set_str(set, NFTNL_SET_TABLE, at->table);
	nftnl_set_set_str(set, NFTNL_SET_NAME, "__set%d");
	nftnl_set_set_u32(set, NFTNL_SET_ID, id);
	nftnl_set_set_u32(set, NFTNL_SET_FLAGS, m->interval ? flags | NFT_SET_INTERVAL : flags);
	nftnl_set_set_u32(set, NFTNL_SET_KEY_TYPE, nft_types[m->type].datatype);
	nftnl_set_set_u32(set, NFTNL_SET_KEY_LEN, m->load.len);
	nftnl_set_set_u32(set, NFTNL_SET_DESC_SIZE, (uint32_t)m->set.n);
	nft_set_userdata(set, m);
	VEC_FOREACH (e, &m->set)
		nft_set_element(set, e, m->load.len);
	return set;
}

/* The anonymous sets of a rule, before the rule itself. */
static void nft_add_sets(struct nft_tx *tx, const struct nft_place *at, const struct nft_rule *rule)
{
	uint32_t id = tx->set_id;

	VEC_FOREACH (s, &rule->stmts) {
		if (s->kind != NFT_STMT_MATCH || !s->match.set.n)
			continue;
		struct nftnl_set *set = nft_set_new(at, &s->match, id++);
		struct nlmsghdr *nlh =
		    NFT_ADD(tx, NFT_MSG_NEWSET, NLM_F_CREATE, "nft add a set to table %s %s",
			    at->family, at->table);
		nft_put_header(nlh, rule->family, 0);
		nftnl_set_nlmsg_build_payload(nlh, set);
		nlh = NFT_ADD(tx, NFT_MSG_NEWSETELEM, NLM_F_CREATE,
			      "nft add elements to a set of table %s %s", at->family, at->table);
		nft_put_header(nlh, rule->family, 0);
		nftnl_set_elems_nlmsg_build_payload(nlh, set);
		nftnl_set_free(set);
	}
}

static void nft_rule_set_comment(struct nftnl_rule *r, const char *comment)
{
	struct nftnl_udata_buf *ud = nftnl_udata_buf_alloc(NFT_USERDATA_MAXLEN);

	nftnl_udata_put_strz(ud, NFTNL_UDATA_RULE_COMMENT, comment);
	nftnl_rule_set_data(r, NFTNL_RULE_USERDATA, nftnl_udata_buf_data(ud),
			    nftnl_udata_buf_len(ud));
	nftnl_udata_buf_free(ud);
}

static struct nftnl_rule *nft_rule_new(const struct nft_place *at)
{
	struct nftnl_rule *r = nftnl_rule_alloc();

	nftnl_rule_set_str(r, NFTNL_RULE_TABLE, at->table);
	nftnl_rule_set_str(r, NFTNL_RULE_CHAIN, at->chain);
	return r;
}

struct nft_put { /* where a rule goes */
	const struct nft_place *at;
	uint64_t handle; /* instead of this rule; 0: at the chain's end */
};

static int nft_put_rule(struct nft_tx *tx, const struct nft_put *put, const char *text,
			const char *comment, struct err *err)
{
	uint16_t flags = put->handle ? NLM_F_REPLACE : NLM_F_CREATE | NLM_F_APPEND;
	struct nft_names names = nft_names_of(&tx->fd);
	const struct nft_place *at = put->at;
	struct nft_rule rule;
	int family = nft_family(at->family, err);
	int rc = family < 0 ? family : nft_room(tx, err);

	if (rc < 0)
		return rc;
	rc = nft_rule_compile(&rule, family, text, &names, err);
	if (rc == 0) {
		nft_add_sets(tx, at, &rule);
		struct nftnl_rule *r = nft_rule_new(at);
		nft_emit(&rule, r, &tx->set_id);
		if (comment || rule.comment)
			nft_rule_set_comment(r, comment ? comment : rule.comment);
		if (put->handle)
			nftnl_rule_set_u64(r, NFTNL_RULE_HANDLE, put->handle);
		struct nlmsghdr *nlh = NFT_ADD(tx, NFT_MSG_NEWRULE, flags, "nft rule %s %s %s: %s",
					       at->family, at->table, at->chain, text);
		nft_put_header(nlh, family, 0);
		nftnl_rule_nlmsg_build_payload(nlh, r);
		nftnl_rule_free(r);
	} else {
		err_wrap(err, "nft rule of chain %s %s %s", at->family, at->table, at->chain);
	}
	nft_rule_done(&rule);
	return rc;
}

int nft_add_rule(struct nft_tx *tx, const struct nft_place *at, const char *text,
		 const char *comment, struct err *err)
{
	const struct nft_put put = {.at = at};

	return nft_put_rule(tx, &put, text, comment, err);
}

int nft_replace_rule(struct nft_tx *tx, const struct nft_place *at, uint64_t handle,
		     const struct nft_rule_text *rule, struct err *err)
{
	const struct nft_put put = {.at = at, .handle = handle};

	return nft_put_rule(tx, &put, rule->text, rule->comment, err);
}

int nft_add_arp_chain(struct nft_tx *tx, struct err *err)
{
	const struct nft_place at = {"bridge", NFT_ARP_TABLE, NFT_ARP_CHAIN};
	int rc = nft_add_table(tx, &at, err);

	return rc < 0 ? rc : nft_add_chain(tx, &at, NFT_ARP_HOOK, err);
}

int nft_add_arpreply(struct nft_tx *tx, const struct nft_arpreply *a, struct err *err)
{
	const struct nft_place at = {"bridge", NFT_ARP_TABLE, NFT_ARP_CHAIN};
	char text[ADDR_TEXT];
	int rc = nft_room(tx, err);

	if (rc < 0)
		return rc;
	struct nftnl_rule *r = nft_rule_new(&at);
	nft_arpreply_rule(a, r);
	struct nlmsghdr *nlh = NFT_ADD(tx, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND,
				       "arpreply for %s on %s", ip_format(text, &a->ip), a->dev);
	nft_put_header(nlh, NFPROTO_BRIDGE, 0);
	nftnl_rule_nlmsg_build_payload(nlh, r);
	nftnl_rule_free(r);
	return 0;
}

const char *nft_family_name(uint32_t family)
{
	switch (family) {
	case NFPROTO_IPV4:
		return "ip";
	case NFPROTO_IPV6:
		return "ip6";
	case NFPROTO_INET:
		return "inet";
	case NFPROTO_ARP:
		return "arp";
	case NFPROTO_BRIDGE:
		return "bridge";
	case NFPROTO_NETDEV:
		return "netdev";
	}
	return "?";
}
