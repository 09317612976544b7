/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_match: parses comparisons and generates what they depend on. Called by nft_rule.c.
 */
#include "emulator/kernel/nft_match.h"

#include <errno.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

enum nft_need {
	NEED_NOTHING,
	NEED_ETHER,
	NEED_IP4,
	NEED_IP6,
	NEED_ARP,
	NEED_TCP,
	NEED_UDP,
	NEED_ICMP,
	NEED_ICMP6,
};

/* What a comparison for equality tells about the rest of the packet. */
enum nft_tells { TELLS_NOTHING, TELLS_NETWORK, TELLS_NFPROTO, TELLS_TRANSPORT, TELLS_IFTYPE };

static const struct nft_field {
	const char *head, *word, *sub; /* "arp" "saddr" "ip"; sub may be NULL */
	enum nft_type type;
	struct nft_load load;
	enum nft_need need;
	enum nft_tells tells;
} nft_fields[] = {
#define LINK(offset, len)                                                                          \
	{                                                                                          \
		NFT_FROM_PAYLOAD, NFT_PAYLOAD_LL_HEADER, offset, len                               \
	}
#define NETWORK(offset, len)                                                                       \
	{                                                                                          \
		NFT_FROM_PAYLOAD, NFT_PAYLOAD_NETWORK_HEADER, offset, len                          \
	}
#define TRANSPORT(offset, len)                                                                     \
	{                                                                                          \
		NFT_FROM_PAYLOAD, NFT_PAYLOAD_TRANSPORT_HEADER, offset, len                        \
	}
#define META(key, len)                                                                             \
	{                                                                                          \
		NFT_FROM_META, key, 0, len                                                         \
	}
#define CT(key, len)                                                                               \
	{                                                                                          \
		NFT_FROM_CT, key, 0, len                                                           \
	}
    {"ether", "daddr", NULL, NFT_TYPE_ETHER, LINK(0, 6), NEED_ETHER, TELLS_NOTHING},
    {"ether", "saddr", NULL, NFT_TYPE_ETHER, LINK(6, 6), NEED_ETHER, TELLS_NOTHING},
    {"ether", "type", NULL, NFT_TYPE_ETHERTYPE, LINK(12, 2), NEED_ETHER, TELLS_NETWORK},
    {"arp", "htype", NULL, NFT_TYPE_SHORT, NETWORK(0, 2), NEED_ARP, TELLS_NOTHING},
    {"arp", "ptype", NULL, NFT_TYPE_ETHERTYPE, NETWORK(2, 2), NEED_ARP, TELLS_NOTHING},
    {"arp", "operation", NULL, NFT_TYPE_ARPOP, NETWORK(6, 2), NEED_ARP, TELLS_NOTHING},
    {"arp", "saddr", "ether", NFT_TYPE_ETHER, NETWORK(8, 6), NEED_ARP, TELLS_NOTHING},
    {"arp", "saddr", "ip", NFT_TYPE_IP4, NETWORK(14, 4), NEED_ARP, TELLS_NOTHING},
    {"arp", "daddr", "ether", NFT_TYPE_ETHER, NETWORK(18, 6), NEED_ARP, TELLS_NOTHING},
    {"arp", "daddr", "ip", NFT_TYPE_IP4, NETWORK(24, 4), NEED_ARP, TELLS_NOTHING},
    {"ip", "length", NULL, NFT_TYPE_SHORT, NETWORK(2, 2), NEED_IP4, TELLS_NOTHING},
    {"ip", "dscp", NULL, NFT_TYPE_DSCP, NETWORK(1, 1), NEED_IP4, TELLS_NOTHING},
    {"ip", "ttl", NULL, NFT_TYPE_BYTE, NETWORK(8, 1), NEED_IP4, TELLS_NOTHING},
    {"ip", "protocol", NULL, NFT_TYPE_L4PROTO, NETWORK(9, 1), NEED_IP4, TELLS_TRANSPORT},
    {"ip", "saddr", NULL, NFT_TYPE_IP4, NETWORK(12, 4), NEED_IP4, TELLS_NOTHING},
    {"ip", "daddr", NULL, NFT_TYPE_IP4, NETWORK(16, 4), NEED_IP4, TELLS_NOTHING},
    {"ip6", "dscp", NULL, NFT_TYPE_DSCP6, NETWORK(0, 2), NEED_IP6, TELLS_NOTHING},
    {"ip6", "length", NULL, NFT_TYPE_SHORT, NETWORK(4, 2), NEED_IP6, TELLS_NOTHING},
    {"ip6", "nexthdr", NULL, NFT_TYPE_L4PROTO, NETWORK(6, 1), NEED_IP6, TELLS_TRANSPORT},
    {"ip6", "hoplimit", NULL, NFT_TYPE_BYTE, NETWORK(7, 1), NEED_IP6, TELLS_NOTHING},
    {"ip6", "saddr", NULL, NFT_TYPE_IP6, NETWORK(8, 16), NEED_IP6, TELLS_NOTHING},
    {"ip6", "daddr", NULL, NFT_TYPE_IP6, NETWORK(24, 16), NEED_IP6, TELLS_NOTHING},
    {"icmp", "type", NULL, NFT_TYPE_ICMP, TRANSPORT(0, 1), NEED_ICMP, TELLS_NOTHING},
    {"icmp", "code", NULL, NFT_TYPE_BYTE, TRANSPORT(1, 1), NEED_ICMP, TELLS_NOTHING},
    {"icmpv6", "type", NULL, NFT_TYPE_ICMP6, TRANSPORT(0, 1), NEED_ICMP6, TELLS_NOTHING},
    {"icmpv6", "code", NULL, NFT_TYPE_BYTE, TRANSPORT(1, 1), NEED_ICMP6, TELLS_NOTHING},
    {"tcp", "sport", NULL, NFT_TYPE_PORT, TRANSPORT(0, 2), NEED_TCP, TELLS_NOTHING},
    {"tcp", "dport", NULL, NFT_TYPE_PORT, TRANSPORT(2, 2), NEED_TCP, TELLS_NOTHING},
    {"udp", "sport", NULL, NFT_TYPE_PORT, TRANSPORT(0, 2), NEED_UDP, TELLS_NOTHING},
    {"udp", "dport", NULL, NFT_TYPE_PORT, TRANSPORT(2, 2), NEED_UDP, TELLS_NOTHING},
    {"udp", "length", NULL, NFT_TYPE_SHORT, TRANSPORT(4, 2), NEED_UDP, TELLS_NOTHING},
    {"th", "sport", NULL, NFT_TYPE_PORT, TRANSPORT(0, 2), NEED_NOTHING, TELLS_NOTHING},
    {"th", "dport", NULL, NFT_TYPE_PORT, TRANSPORT(2, 2), NEED_NOTHING, TELLS_NOTHING},
    {"meta", "iifname", NULL, NFT_TYPE_IFNAME, META(NFT_META_IIFNAME, 16), 0, 0},
    {"meta", "oifname", NULL, NFT_TYPE_IFNAME, META(NFT_META_OIFNAME, 16), 0, 0},
    {"meta", "iif", NULL, NFT_TYPE_IFINDEX, META(NFT_META_IIF, 4), 0, 0},
    {"meta", "oif", NULL, NFT_TYPE_IFINDEX, META(NFT_META_OIF, 4), 0, 0},
    {"meta", "iiftype", NULL, NFT_TYPE_IFTYPE, META(NFT_META_IIFTYPE, 2), 0, TELLS_IFTYPE},
    {"meta", "mark", NULL, NFT_TYPE_MARK, META(NFT_META_MARK, 4), 0, 0},
    {"meta", "priority", NULL, NFT_TYPE_PRIORITY, META(NFT_META_PRIORITY, 4), 0, 0},
    {"meta", "length", NULL, NFT_TYPE_HOST32, META(NFT_META_LEN, 4), 0, 0},
    {"meta", "pkttype", NULL, NFT_TYPE_PKTTYPE, META(NFT_META_PKTTYPE, 1), 0, 0},
    {"meta", "nfproto", NULL, NFT_TYPE_NFPROTO, META(NFT_META_NFPROTO, 1), 0, TELLS_NFPROTO},
    {"meta", "l4proto", NULL, NFT_TYPE_L4PROTO, META(NFT_META_L4PROTO, 1), 0, TELLS_TRANSPORT},
    {"meta", "protocol", NULL, NFT_TYPE_ETHERTYPE, META(NFT_META_PROTOCOL, 2), 0, TELLS_NETWORK},
    {"ct", "state", NULL, NFT_TYPE_CT_STATE, CT(NFT_CT_STATE, 4), 0, 0},
    {"ct", "status", NULL, NFT_TYPE_CT_STATUS, CT(NFT_CT_STATUS, 4), 0, 0},
    {"ct", "direction", NULL, NFT_TYPE_CT_DIR, CT(NFT_CT_DIRECTION, 1), 0, 0},
    {"ct", "mark", NULL, NFT_TYPE_MARK, CT(NFT_CT_MARK, 4), 0, 0},
};

static struct nft_match *nft_match_new(struct nft_parser *p, struct nft_load load,
				       enum nft_type type)
{
	struct nft_stmt *s = VEC_ADD(&p->rule->arena, &p->rule->stmts);

	s->kind = NFT_STMT_MATCH;
	s->match.load = load;
	s->match.type = type;
	return &s->match;
}

/* A comparison that the text does not say: META or LINK field, equal to a small number. */
static void nft_match_imply(struct nft_parser *p, struct nft_load load, enum nft_type type,
			    unsigned value)
{
	struct nft_match *m = nft_match_new(p, load, type);
	bool big = nft_types[type].network || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	for (unsigned i = 0; i < load.len; i++)
		m->value[i] = (uint8_t)(value >> 8 * (big ? load.len - 1 - i : i));
	m->protocol = true;
}

static void nft_match_need_ether(struct nft_parser *p)
{
	if (!p->ether)
		nft_match_imply(p, (struct nft_load)META(NFT_META_IIFTYPE, 2), NFT_TYPE_IFTYPE,
				ARPHRD_ETHER);
	p->ether = true;
}

/*
 * Where the Ethernet header is known, nft compares its type, except that in bridge chains the IP
 * headers' own fields and reject go by meta protocol, which sees through VLAN tags (`by_meta`).
 */
static int nft_match_network(struct nft_parser *p, uint16_t ethertype, bool by_meta)
{
	int family = p->rule->family;

	if (p->network == ethertype)
		return 0;
	if (p->network)
		return err_input(p->lex.err, "column %d: the packet is of another protocol, in: %s",
				 p->lex.now.column, p->lex.text);
	p->network = ethertype;
	if (family == NFPROTO_INET && !p->ether) {
		if (ethertype == ETH_P_ARP)
			return err_input(p->lex.err, "column %d: inet chains see no ARP, in: %s",
					 p->lex.now.column, p->lex.text);
		nft_match_imply(p, (struct nft_load)META(NFT_META_NFPROTO, 1), NFT_TYPE_NFPROTO,
				ethertype == ETH_P_IP ? NFPROTO_IPV4 : NFPROTO_IPV6);
		return 0;
	}
	bool meta = family == NFPROTO_BRIDGE ? by_meta && ethertype != ETH_P_ARP : !p->ether;
	nft_match_imply(
	    p, meta ? (struct nft_load)META(NFT_META_PROTOCOL, 2) : (struct nft_load)LINK(12, 2),
	    NFT_TYPE_ETHERTYPE, ethertype);
	return 0;
}

int nft_match_need_network(struct nft_parser *p, uint16_t ethertype)
{
	return nft_match_network(p, ethertype, true);
}

int nft_match_need_transport(struct nft_parser *p, int protocol)
{
	if (p->transport == protocol)
		return 0;
	if (p->transport >= 0)
		return err_input(p->lex.err,
				 "column %d: the packet is of another IP protocol, in: %s",
				 p->lex.now.column, p->lex.text);
	int rc = 0;
	if (protocol == IPPROTO_ICMP)
		rc = nft_match_network(p, ETH_P_IP, false);
	else if (protocol == IPPROTO_ICMPV6)
		rc = nft_match_network(p, ETH_P_IPV6, false);
	if (rc < 0)
		return rc;
	nft_match_imply(p, (struct nft_load)META(NFT_META_L4PROTO, 1), NFT_TYPE_L4PROTO,
			(unsigned)protocol);
	p->transport = protocol;
	return 0;
}

static int nft_match_need(struct nft_parser *p, enum nft_need need)
{
	switch (need) {
	case NEED_NOTHING:
		return 0;
	case NEED_ETHER:
		nft_match_need_ether(p);
		return 0;
	case NEED_IP4:
		return nft_match_network(p, ETH_P_IP, true);
	case NEED_IP6:
		return nft_match_network(p, ETH_P_IPV6, true);
	case NEED_ARP:
		return nft_match_network(p, ETH_P_ARP, true);
	case NEED_TCP:
		return nft_match_need_transport(p, IPPROTO_TCP);
	case NEED_UDP:
		return nft_match_need_transport(p, IPPROTO_UDP);
	case NEED_ICMP:
		return nft_match_need_transport(p, IPPROTO_ICMP);
	case NEED_ICMP6:
		return nft_match_need_transport(p, IPPROTO_ICMPV6);
	}
	return 0;
}

static void nft_match_learn(struct nft_parser *p, const struct nft_field *f, struct nft_match *m)
{
	if (m->test != NFT_EQ || m->masked || f->tells == TELLS_NOTHING)
		return;
	m->protocol = true;
	switch (f->tells) {
	case TELLS_NETWORK:
		p->network = (uint16_t)(m->value[0] << 8 | m->value[1]);
		break;
	case TELLS_NFPROTO:
		p->network = m->value[0] == NFPROTO_IPV4 ? ETH_P_IP : ETH_P_IPV6;
		break;
	case TELLS_TRANSPORT:
		p->transport = m->value[0];
		break;
	case TELLS_IFTYPE:
		p->ether = m->value[0] == ARPHRD_ETHER;
		break;
	case TELLS_NOTHING:
		break;
	}
}

int nft_match_value(struct nft_parser *p, enum nft_type type, struct nft_value *v)
{
	const struct nft_token *t = &p->lex.now;

	if (t->kind != NFT_WORD && t->kind != NFT_STRING)
		return nft_lex_error(&p->lex, nft_types[type].name);
	int rc = nft_value_parse(type, t->text, p->names, v);
	if (rc == -EINVAL)
		return nft_lex_error(&p->lex, nft_types[type].name);
	if (rc < 0)
		return err_sys(p->lex.err, -rc, "column %d: device '%s' in: %s", t->column, t->text,
			       p->lex.text);
	return nft_lex_next(&p->lex);
}

/* A constant, a prefix or a range. A prefix of whole bytes loads only those. */
static void nft_match_compare(struct nft_match *m, const struct nft_value *v, bool negated)
{
	memcpy(m->value, v->first, sizeof(m->value));
	memcpy(m->last, v->last, sizeof(m->last));
	m->test = negated ? NFT_NEQ : NFT_EQ;
	if (v->range)
		m->test = negated ? NFT_NOT_IN_RANGE : NFT_IN_RANGE;
	else if (v->bits > 0 && v->bits % 8 == 0)
		m->load.len = (uint16_t)(v->bits / 8);
	else if (v->bits >= 0)
		m->masked = true;
	else if (m->type == NFT_TYPE_IFNAME)
		m->load.len = v->len;
	for (int i = 0; m->masked && i < v->len; i++)
		m->mask[i] = (uint8_t) ~(v->first[i] ^ v->last[i]);
	m->masked = nft_value_mask(m->type, m->mask) || m->masked;
}

/* "established,related": any of the bits. */
static int nft_match_bits(struct nft_parser *p, struct nft_match *m, bool negated)
{
	uint32_t bits = 0, bit;
	int n = 0, more;

	do {
		struct nft_value v;
		int rc = nft_match_value(p, m->type, &v);
		if (rc < 0)
			return rc;
		memcpy(&bit, v.first, sizeof(bit));
		bits |= bit;
		n++;
		more = nft_lex_accept(&p->lex, ",");
	} while (more > 0);
	if (more < 0)
		return more;
	memcpy(m->mask, &bits, sizeof(bits));
	memcpy(m->value, &bits, sizeof(bits));
	/* nft 1.0.6 compares for inequality with all bits together, which is always true. */
	if (negated && n > 1)
		return nft_lex_error(&p->lex, "one state only after !=");
	m->test = negated ? NFT_NEQ : NFT_ANY_BIT;
	return 0;
}

static int nft_match_element_order(const void *a, const void *b)
{
	return memcmp(((const struct nft_value *)a)->first, ((const struct nft_value *)b)->first,
		      NFT_VALUE_MAX);
}

static struct nft_element *nft_match_element(struct nft_parser *p, struct nft_match *m,
					     const uint8_t *key)
{
	struct nft_element *e = VEC_ADD(&p->rule->arena, &m->set);

	memcpy(e->key, key, sizeof(e->key));
	return e;
}

/*
 * The kernel's interval sets store where membership changes: the first value of each interval, and,
 * marked as end, the first value after it; and a leading end at zero.
 */
static void nft_match_intervals(struct nft_parser *p, struct nft_match *m, struct nft_value *v,
				size_t n)
{
	static const uint8_t zero[NFT_VALUE_MAX];
	unsigned len = m->load.len;

	qsort(v, n, sizeof(*v), nft_match_element_order);
	m->interval = true;
	if (memcmp(v[0].first, zero, len))
		nft_match_element(p, m, zero)->end = true;
	for (size_t i = 0; i < n;) {
		uint8_t after[NFT_VALUE_MAX];
		memcpy(after, v[i].last, sizeof(after));
		struct nft_element *e = nft_match_element(p, m, v[i].first);
		bool more = nft_value_increment(after, len);
		for (i++; more && i < n && memcmp(v[i].first, after, len) <= 0; i++) {
			if (memcmp(v[i].last, after, len) < 0)
				continue;
			memcpy(after, v[i].last, sizeof(after));
			more = nft_value_increment(after, len);
		}
		if (!more) {
			e->open = true;
			return;
		}
		nft_match_element(p, m, after)->end = true;
	}
}

#define NFT_SET_MAX 128

static int nft_match_set_values(struct nft_parser *p, const struct nft_match *m,
				struct nft_value *v, size_t *n)
{
	int more;

	do {
		if (*n == NFT_SET_MAX)
			return nft_lex_error(&p->lex, "at most 128 elements");
		int rc = nft_match_value(p, m->type, &v[*n]);
		if (rc < 0)
			return rc;
		if (v[*n].len != nft_types[m->type].len)
			return nft_lex_error(&p->lex, "no wildcards in a set");
		(*n)++;
		more = nft_lex_accept(&p->lex, ",");
	} while (more > 0);
	return more < 0 ? more : nft_lex_expect(&p->lex, "}");
}

static int nft_match_set(struct nft_parser *p, struct nft_match *m, bool negated)
{
	struct nft_value v[NFT_SET_MAX];
	size_t n = 0;
	bool interval = false;
	int rc = nft_match_set_values(p, m, v, &n);

	if (rc < 0)
		return rc;
	if (n == 1) {
		nft_match_compare(m, &v[0], negated);
		if (nft_types[m->type].bits && !negated) {
			memcpy(m->mask, m->value, sizeof(m->mask));
			m->test = NFT_ANY_BIT;
		}
		return 0;
	}
	m->test = negated ? NFT_NOT_IN_SET : NFT_IN_SET;
	for (size_t i = 0; i < n; i++)
		interval = interval || v[i].range || v[i].bits >= 0;
	if (interval) {
		nft_match_intervals(p, m, v, n);
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		nft_match_element(p, m, v[i].first);
	return 0;
}

/* "meta protocol ip" in an ip chain is left out by nft. */
static bool nft_match_redundant(const struct nft_parser *p, const struct nft_match *m)
{
	static const uint8_t ip[] = {ETH_P_IP >> 8, ETH_P_IP & 0xff};
	static const uint8_t ip6[] = {ETH_P_IPV6 >> 8, ETH_P_IPV6 & 0xff};

	if (m->load.from != NFT_FROM_META || m->load.key != NFT_META_PROTOCOL || m->test != NFT_EQ)
		return false;
	return (p->rule->family == NFPROTO_IPV4 && !memcmp(m->value, ip, sizeof(ip))) ||
	       (p->rule->family == NFPROTO_IPV6 && !memcmp(m->value, ip6, sizeof(ip6)));
}

/* The words of the field are read: operator and what it is compared with. */
static int nft_match_right(struct nft_parser *p, const struct nft_field *f)
{
	int negated = nft_lex_accept(&p->lex, "!=");
	int equal = negated ? 0 : nft_lex_accept(&p->lex, "==");

	if (negated < 0 || equal < 0)
		return -EINVAL;
	int rc = nft_match_need(p, f->need);
	if (rc < 0)
		return rc;
	struct nft_match *m = nft_match_new(p, f->load, f->type);
	int set = nft_lex_accept(&p->lex, "{");
	if (set < 0)
		return set;
	if (set) {
		rc = nft_match_set(p, m, negated);
	} else if (nft_types[f->type].bits) {
		rc = nft_match_bits(p, m, negated);
	} else {
		struct nft_value v;
		rc = nft_match_value(p, f->type, &v);
		if (rc == 0)
			nft_match_compare(m, &v, negated);
	}
	if (rc < 0)
		return rc;
	nft_match_learn(p, f, m);
	if (nft_match_redundant(p, m))
		p->rule->stmts.n--;
	return 0;
}

/* "meta mark set 5", "ct mark set 5", "meta priority set jhash ip saddr mod 4". */
static int nft_match_assign(struct nft_parser *p, const struct nft_field *f)
{
	struct nft_value v = {0};
	struct nft_hash h = {0};

	if (f->type != NFT_TYPE_MARK && f->type != NFT_TYPE_PRIORITY)
		return nft_lex_error(&p->lex, "a comparison (only mark and priority can be set)");
	int rc = nft_lex_accept(&p->lex, "jhash");
	if (rc >= 0)
		rc = rc ? nft_hash_parse(p, &h) : nft_match_value(p, f->type, &v);
	if (rc < 0)
		return rc;
	struct nft_stmt *s = VEC_ADD(&p->rule->arena, &p->rule->stmts);
	s->kind = NFT_STMT_SET;
	s->set.to = f->load;
	s->set.hash = h;
	memcpy(&s->set.value, v.first, sizeof(s->set.value));
	return 0;
}

/* Names of meta may stand without "meta", except those that other things are called too. */
static bool nft_match_bare(const struct nft_field *f)
{
	return !strcmp(f->head, "meta") && strcmp(f->word, "length") &&
	       strcmp(f->word, "protocol") && strcmp(f->word, "nfproto") &&
	       strcmp(f->word, "l4proto");
}

static const struct nft_field *nft_match_find(const char *head, const char *word, const char *sub)
{
	for (size_t i = 0; i < ARRAY_SIZE(nft_fields); i++) {
		const struct nft_field *f = &nft_fields[i];
		if (strcmp(f->head, head) || strcmp(f->word, word))
			continue;
		if (!sub || !f->sub || !strcmp(f->sub, sub))
			return f;
	}
	return NULL;
}

/* Lists the second words of a head, for an error. */
static int nft_match_unknown(struct nft_parser *p, const char *head)
{
	autostr struct strbuf wanted = {0};
	const char *last = "";

	for (size_t i = 0; i < ARRAY_SIZE(nft_fields); i++) {
		if (strcmp(nft_fields[i].head, head) || !strcmp(nft_fields[i].word, last))
			continue;
		strbuf_addf(&wanted, "%s%s", wanted.len ? ", " : "one of ", nft_fields[i].word);
		last = nft_fields[i].word;
	}
	return nft_lex_error(&p->lex, strbuf_text(&wanted));
}

/* The second and third word after `head`. */
static int nft_match_words(struct nft_parser *p, const char *head, const struct nft_field **out)
{
	char word[sizeof(p->lex.now.text)];

	if (p->lex.now.kind != NFT_WORD || !nft_match_find(head, p->lex.now.text, NULL))
		return nft_match_unknown(p, head);
	strcpy(word, p->lex.now.text);
	int rc = nft_lex_next(&p->lex);
	if (rc < 0)
		return rc;
	*out = nft_match_find(head, word, NULL);
	if (!(*out)->sub)
		return 0;
	if (p->lex.now.kind == NFT_WORD)
		*out = nft_match_find(head, word, p->lex.now.text);
	else
		*out = NULL;
	if (!*out)
		return nft_lex_error(&p->lex, "ip or ether");
	return nft_lex_next(&p->lex);
}

static const struct nft_field *nft_match_start(const char *word, bool *head)
{
	for (size_t i = 0; i < ARRAY_SIZE(nft_fields); i++) {
		const struct nft_field *f = &nft_fields[i];
		*head = !strcmp(f->head, word);
		if (*head || (nft_match_bare(f) && !strcmp(f->word, word)))
			return f;
	}
	return NULL;
}

/* The field that the current token starts; 0: none. */
static int nft_match_field_words(struct nft_parser *p, const struct nft_field **f)
{
	bool head;

	*f = NULL;
	if (p->lex.now.kind == NFT_WORD)
		*f = nft_match_start(p->lex.now.text, &head);
	if (!*f)
		return 0;
	int rc = nft_lex_next(&p->lex);
	if (rc == 0 && head)
		rc = nft_match_words(p, (*f)->head, f);
	return rc < 0 ? rc : 1;
}

int nft_match_field(struct nft_parser *p, struct nft_load *load)
{
	const struct nft_field *f;
	int rc = nft_match_field_words(p, &f);

	if (rc <= 0)
		return rc;
	*load = f->load;
	rc = nft_match_need(p, f->need);
	return rc < 0 ? rc : 1;
}

int nft_match_parse(struct nft_parser *p)
{
	const struct nft_field *f;
	int rc = nft_match_field_words(p, &f);

	if (rc <= 0)
		return rc;
	int assign = nft_lex_accept(&p->lex, "set");
	if (assign < 0)
		return assign;
	rc = assign ? nft_match_assign(p, f) : nft_match_right(p, f);
	return rc < 0 ? rc : 1;
}
