/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_rule: parses what a rule does (counter, limit, verdicts, reject, translation, dup, fwd) and
 * compiles a whole rule. Called by nft.c, by emulator/lab/check.c and tests.
 */
#include "emulator/kernel/nft_rule.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_nat.h>
#include <linux/netfilter/nf_tables.h>

#include "emulator/kernel/nft_match.h"

static struct nft_stmt *nft_rule_add(struct nft_parser *p, enum nft_stmt_kind kind)
{
	struct nft_stmt *s = VEC_ADD(&p->rule->arena, &p->rule->stmts);

	s->kind = kind;
	return s;
}

static int nft_rule_number(struct nft_parser *p, uint64_t *n)
{
	char *end;

	if (p->lex.now.kind != NFT_WORD || p->lex.now.text[0] < '0' || p->lex.now.text[0] > '9')
		return nft_lex_error(&p->lex, "a number");
	*n = strtoull(p->lex.now.text, &end, 10);
	if (*end)
		return nft_lex_error(&p->lex, "a number");
	return nft_lex_next(&p->lex);
}

/* "counter" or "counter packets N bytes N"; the word counter is read. */
static int nft_rule_counter(struct nft_parser *p)
{
	uint64_t packets = 0, bytes = 0;
	int rc = nft_lex_accept(&p->lex, "packets");

	if (rc > 0) {
		rc = nft_rule_number(p, &packets);
		if (rc == 0)
			rc = nft_lex_expect(&p->lex, "bytes");
		if (rc == 0)
			rc = nft_rule_number(p, &bytes);
	}
	if (rc < 0)
		return rc;
	struct nft_stmt *s = nft_rule_add(p, NFT_STMT_COUNTER);
	s->counter.packets = packets;
	s->counter.bytes = bytes;
	return 0;
}

static const struct {
	const char *name;
	uint64_t factor; /* kbytes are 1024 in nft */
} nft_byte_units[] = {{"bytes", 1}, {"kbytes", 1 << 10}, {"mbytes", 1 << 20}};

static const struct {
	const char *name;
	uint64_t seconds;
} nft_time_units[] = {
    {"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86400}, {"week", 604800},
};

/* "10/second", "mbytes/second" without what is before the slash. */
static int nft_rule_per(struct nft_parser *p, const char *slash, struct nft_limit *l)
{
	for (size_t i = 0; slash && i < ARRAY_SIZE(nft_time_units); i++) {
		if (strcmp(slash + 1, nft_time_units[i].name))
			continue;
		l->unit_s = nft_time_units[i].seconds;
		return nft_lex_next(&p->lex);
	}
	return nft_lex_error(&p->lex, "RATE/second, minute, hour, day or week");
}

static bool nft_rule_byte_unit(const char *text, size_t len, uint64_t *factor)
{
	for (size_t i = 0; i < ARRAY_SIZE(nft_byte_units); i++) {
		if (strlen(nft_byte_units[i].name) != len ||
		    strncmp(nft_byte_units[i].name, text, len))
			continue;
		*factor = nft_byte_units[i].factor;
		return true;
	}
	return false;
}

/* "10/second" packets, or "10 mbytes/second". */
static int nft_rule_rate(struct nft_parser *p, struct nft_limit *l)
{
	char *end;
	uint64_t factor;

	if (p->lex.now.kind != NFT_WORD || p->lex.now.text[0] < '0' || p->lex.now.text[0] > '9')
		return nft_lex_error(&p->lex, "a rate such as 10/second");
	l->rate = strtoull(p->lex.now.text, &end, 10);
	if (*end == '/')
		return nft_rule_per(p, end, l);
	if (*end)
		return nft_lex_error(&p->lex, "a rate such as 10/second");
	int rc = nft_lex_next(&p->lex);
	if (rc < 0)
		return rc;
	const char *word = p->lex.now.text;
	const char *slash = strchr(word, '/');
	if (!slash || !nft_rule_byte_unit(word, (size_t)(slash - word), &factor))
		return nft_lex_error(&p->lex, "bytes/second, kbytes/second or mbytes/second");
	l->rate *= factor;
	l->bytes = true;
	return nft_rule_per(p, slash, l);
}

static int nft_rule_burst(struct nft_parser *p, struct nft_limit *l)
{
	uint64_t burst, factor = 1;
	int rc = nft_rule_number(p, &burst);

	if (rc < 0)
		return rc;
	const char *unit = p->lex.now.text;
	if (l->bytes ? !nft_rule_byte_unit(unit, strlen(unit), &factor) : strcmp(unit, "packets"))
		return nft_lex_error(&p->lex, l->bytes ? "bytes, kbytes or mbytes" : "packets");
	if (burst * factor > UINT32_MAX)
		return nft_lex_error(&p->lex, "a smaller burst");
	l->burst = (uint32_t)(burst * factor);
	return nft_lex_next(&p->lex);
}

/* "limit rate [over] R [burst B]"; the word limit is read. */
static int nft_rule_limit(struct nft_parser *p)
{
	struct nft_limit l = {.burst = 5};
	int rc = nft_lex_expect(&p->lex, "rate");

	if (rc < 0)
		return rc;
	rc = nft_lex_accept(&p->lex, "over");
	if (rc < 0)
		return rc;
	l.over = rc;
	rc = nft_rule_rate(p, &l);
	if (rc < 0)
		return rc;
	if (l.bytes)
		l.burst = 0;
	rc = nft_lex_accept(&p->lex, "burst");
	if (rc > 0)
		rc = nft_rule_burst(p, &l);
	if (rc < 0)
		return rc;
	nft_rule_add(p, NFT_STMT_LIMIT)->limit = l;
	return 0;
}

static int nft_rule_verdict(struct nft_parser *p, int verdict)
{
	const char *chain = NULL;

	if (verdict == NFT_JUMP || verdict == NFT_GOTO) {
		if (p->lex.now.kind != NFT_WORD && p->lex.now.kind != NFT_STRING)
			return nft_lex_error(&p->lex, "the name of a chain");
		chain = arena_strdup(&p->rule->arena, p->lex.now.text);
		int rc = nft_lex_next(&p->lex);
		if (rc < 0)
			return rc;
	}
	struct nft_stmt *s = nft_rule_add(p, NFT_STMT_VERDICT);
	s->verdict.verdict = verdict;
	s->verdict.chain = chain;
	return 0;
}

/* Codes by the names of nft; "icmp type" of reject means ICMP's code of type unreachable. */
static const struct nft_reject_code {
	const char *proto, *name;
	uint8_t code;
} nft_reject_codes[] = {
    {"icmp", "net-unreachable", 0},
    {"icmp", "host-unreachable", 1},
    {"icmp", "prot-unreachable", 2},
    {"icmp", "port-unreachable", 3},
    {"icmp", "net-prohibited", 9},
    {"icmp", "host-prohibited", 10},
    {"icmp", "admin-prohibited", 13},
    {"icmpv6", "no-route", 0},
    {"icmpv6", "admin-prohibited", 1},
    {"icmpv6", "addr-unreachable", 3},
    {"icmpv6", "port-unreachable", 4},
    {"icmpv6", "policy-fail", 5},
    {"icmpv6", "reject-route", 6},
    {"icmpx", "no-route", NFT_REJECT_ICMPX_NO_ROUTE},
    {"icmpx", "port-unreachable", NFT_REJECT_ICMPX_PORT_UNREACH},
    {"icmpx", "host-unreachable", NFT_REJECT_ICMPX_HOST_UNREACH},
    {"icmpx", "admin-prohibited", NFT_REJECT_ICMPX_ADMIN_PROHIBITED},
};

#define ICMP_PORT_UNREACHABLE	3
#define ICMPV6_PORT_UNREACHABLE 4

/* Without "with": port unreachable in the language of the packet, or of either if not known. */
static void nft_rule_reject_default(struct nft_parser *p)
{
	struct nft_stmt *s = nft_rule_add(p, NFT_STMT_REJECT);

	s->reject.type = NFT_REJECT_ICMP_UNREACH;
	if (p->network == ETH_P_IP) {
		s->reject.code = ICMP_PORT_UNREACHABLE;
	} else if (p->network == ETH_P_IPV6) {
		s->reject.code = ICMPV6_PORT_UNREACHABLE;
	} else {
		s->reject.type = NFT_REJECT_ICMPX_UNREACH;
		s->reject.code = NFT_REJECT_ICMPX_PORT_UNREACH;
	}
}

static int nft_rule_reject_tcp(struct nft_parser *p)
{
	int rc = nft_lex_expect(&p->lex, "reset");

	if (rc == 0)
		rc = nft_match_need_transport(p, IPPROTO_TCP);
	if (rc < 0)
		return rc;
	nft_rule_add(p, NFT_STMT_REJECT)->reject.type = NFT_REJECT_TCP_RST;
	return 0;
}

/* After "icmp", "icmpv6" or "icmpx": [type] NAME. */
static int nft_rule_reject_icmp(struct nft_parser *p, const char *proto)
{
	const struct nft_reject_code *code = NULL;
	int rc = nft_lex_accept(&p->lex, "type");

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(nft_reject_codes) && !code; i++)
		if (!strcmp(nft_reject_codes[i].proto, proto) &&
		    nft_lex_is(&p->lex, nft_reject_codes[i].name))
			code = &nft_reject_codes[i];
	if (!code)
		return nft_lex_error(&p->lex, "a reason such as port-unreachable");
	bool either = !strcmp(proto, "icmpx");
	if (!either)
		rc = nft_match_need_network(p, strcmp(proto, "icmp") ? ETH_P_IPV6 : ETH_P_IP);
	if (rc < 0)
		return rc;
	struct nft_stmt *s = nft_rule_add(p, NFT_STMT_REJECT);
	s->reject.type = either ? NFT_REJECT_ICMPX_UNREACH : NFT_REJECT_ICMP_UNREACH;
	s->reject.code = code->code;
	return nft_lex_next(&p->lex);
}

static int nft_rule_reject(struct nft_parser *p)
{
	static const char *const protos[] = {"icmp", "icmpv6", "icmpx"};
	int rc = nft_lex_accept(&p->lex, "with");

	if (rc < 0)
		return rc;
	if (rc == 0) {
		nft_rule_reject_default(p);
		return 0;
	}
	rc = nft_lex_accept(&p->lex, "tcp");
	if (rc != 0)
		return rc < 0 ? rc : nft_rule_reject_tcp(p);
	for (size_t i = 0; i < ARRAY_SIZE(protos); i++) {
		rc = nft_lex_accept(&p->lex, protos[i]);
		if (rc != 0)
			return rc < 0 ? rc : nft_rule_reject_icmp(p, protos[i]);
	}
	return nft_lex_error(&p->lex, "tcp reset, icmp, icmpv6 or icmpx");
}

/* Ports "80" or "1024-65535" after a colon. */
static int nft_rule_nat_port(struct nft_parser *p, const char *text, struct nft_nat *nat)
{
	if (nft_value_parse(NFT_TYPE_PORT, text, p->names, &nat->port) < 0)
		return nft_lex_error(&p->lex, "a port or a range of ports");
	if (p->transport < 0)
		return err_input(p->lex.err,
				 "column %d: a port needs a comparison of the IP protocol "
				 "before it, in: %s",
				 p->lex.now.column, p->lex.text);
	nat->flags |= NF_NAT_RANGE_PROTO_SPECIFIED;
	return 0;
}

/* Splits "10.0.0.1:80", "[2001:db8::1]:80", "2001:db8::1", ":80" in place; *port NULL if none. */
static void nft_rule_nat_split(char *text, int family, char **addr, char **port)
{
	*addr = text;
	*port = NULL;
	if (*text == '[') {
		char *close = strchr(text, ']');
		if (!close)
			return;
		*close = '\0';
		*addr = text + 1;
		if (close[1] == ':')
			*port = close + 2;
	} else if (family == NFPROTO_IPV4 && strchr(text, ':')) {
		*port = strchr(text, ':') + 1;
		(*port)[-1] = '\0';
	}
}

/* The current token is the target of snat or dnat. */
static int nft_rule_nat_target(struct nft_parser *p, struct nft_nat *nat)
{
	char text[sizeof(p->lex.now.text)];
	char *addr, *port;

	if (p->lex.now.kind != NFT_WORD)
		return nft_lex_error(&p->lex, "an address");
	strcpy(text, p->lex.now.text);
	nft_rule_nat_split(text, nat->family, &addr, &port);
	enum nft_type type = nat->family == NFPROTO_IPV6 ? NFT_TYPE_IP6 : NFT_TYPE_IP4;
	if (nft_value_parse(type, addr, p->names, &nat->addr) < 0 || nat->addr.bits >= 0)
		return nft_lex_error(&p->lex, nft_types[type].name);
	int rc = port ? nft_rule_nat_port(p, port, nat) : 0;
	return rc < 0 ? rc : nft_lex_next(&p->lex);
}

/* In an inet chain the family of the new address must be said, or known from a comparison. */
static int nft_rule_nat_family(struct nft_parser *p, int *family)
{
	int ip = nft_lex_accept(&p->lex, "ip");
	int ip6 = ip ? 0 : nft_lex_accept(&p->lex, "ip6");

	if (ip < 0 || ip6 < 0)
		return -EINVAL;
	if (ip || ip6)
		*family = ip ? NFPROTO_IPV4 : NFPROTO_IPV6;
	else if (p->network)
		*family = p->network == ETH_P_IP ? NFPROTO_IPV4 : NFPROTO_IPV6;
	else
		return nft_lex_error(&p->lex, "ip or ip6 (the packet can be either)");
	return 0;
}

static int nft_rule_nat_flags(struct nft_parser *p, struct nft_nat *nat)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} flags[] = {{"random", NF_NAT_RANGE_PROTO_RANDOM},
		     {"fully-random", NF_NAT_RANGE_PROTO_RANDOM_FULLY},
		     {"persistent", NF_NAT_RANGE_PERSISTENT}};

	for (size_t i = 0; i < ARRAY_SIZE(flags);) {
		int rc = nft_lex_accept(&p->lex, flags[i].name);
		if (rc < 0)
			return rc;
		if (rc)
			nat->flags |= flags[i].flag;
		i = rc ? 0 : i + 1;
		if (rc && (rc = nft_lex_accept(&p->lex, ",")) < 0)
			return rc;
	}
	return 0;
}

static int nft_rule_nat(struct nft_parser *p, int type)
{
	struct nft_nat nat = {.type = type};
	int rc = nft_rule_nat_family(p, &nat.family);

	if (rc == 0)
		rc = nft_lex_expect(&p->lex, "to");
	if (rc == 0)
		rc = nft_rule_nat_target(p, &nat);
	if (rc == 0)
		rc = nft_rule_nat_flags(p, &nat);
	if (rc == 0)
		nft_rule_add(p, NFT_STMT_NAT)->nat = nat;
	return rc;
}

/* masquerade and redirect: [to :PORTS] [flags]. */
static int nft_rule_to_port(struct nft_parser *p, enum nft_stmt_kind kind)
{
	struct nft_nat nat = {0};
	int rc = nft_lex_accept(&p->lex, "to");

	if (rc > 0) {
		if (p->lex.now.kind != NFT_WORD || p->lex.now.text[0] != ':')
			return nft_lex_error(&p->lex, "a colon and a port");
		rc = nft_rule_nat_port(p, p->lex.now.text + 1, &nat);
		if (rc == 0)
			rc = nft_lex_next(&p->lex);
	}
	if (rc == 0)
		rc = nft_rule_nat_flags(p, &nat);
	if (rc == 0)
		nft_rule_add(p, kind)->nat = nat;
	return rc;
}

/* dup and fwd: to "DEVICE". */
static int nft_rule_device(struct nft_parser *p, enum nft_stmt_kind kind)
{
	struct nft_value v;

	if (p->rule->family != NFPROTO_NETDEV)
		return nft_lex_error(&p->lex, "another statement (only netdev chains have this)");
	int rc = nft_lex_expect(&p->lex, "to");
	if (rc == 0)
		rc = nft_match_value(p, NFT_TYPE_IFINDEX, &v);
	if (rc == 0)
		memcpy(&nft_rule_add(p, kind)->ifindex, v.first, sizeof(int));
	return rc;
}

static int nft_rule_comment(struct nft_parser *p)
{
	if (p->lex.now.kind != NFT_STRING && p->lex.now.kind != NFT_WORD)
		return nft_lex_error(&p->lex, "the text of the comment");
	p->rule->comment = arena_strdup(&p->rule->arena, p->lex.now.text);
	int rc = nft_lex_next(&p->lex);
	if (rc < 0)
		return rc;
	return p->lex.now.kind == NFT_END ? 0 : nft_lex_error(&p->lex, "the end");
}

static int nft_rule_notrack(struct nft_parser *p)
{
	nft_rule_add(p, NFT_STMT_NOTRACK);
	return 0;
}

static int nft_rule_accept(struct nft_parser *p)
{
	return nft_rule_verdict(p, NF_ACCEPT);
}

static int nft_rule_drop(struct nft_parser *p)
{
	return nft_rule_verdict(p, NF_DROP);
}

static int nft_rule_return(struct nft_parser *p)
{
	return nft_rule_verdict(p, NFT_RETURN);
}

static int nft_rule_continue(struct nft_parser *p)
{
	return nft_rule_verdict(p, NFT_CONTINUE);
}

static int nft_rule_jump(struct nft_parser *p)
{
	return nft_rule_verdict(p, NFT_JUMP);
}

static int nft_rule_goto(struct nft_parser *p)
{
	return nft_rule_verdict(p, NFT_GOTO);
}

static int nft_rule_snat(struct nft_parser *p)
{
	return nft_rule_nat(p, NFT_NAT_SNAT);
}

static int nft_rule_dnat(struct nft_parser *p)
{
	return nft_rule_nat(p, NFT_NAT_DNAT);
}

static int nft_rule_masquerade(struct nft_parser *p)
{
	return nft_rule_to_port(p, NFT_STMT_MASQUERADE);
}

static int nft_rule_redirect(struct nft_parser *p)
{
	return nft_rule_to_port(p, NFT_STMT_REDIRECT);
}

static int nft_rule_dup(struct nft_parser *p)
{
	return nft_rule_device(p, NFT_STMT_DUP);
}

static int nft_rule_fwd(struct nft_parser *p)
{
	return nft_rule_device(p, NFT_STMT_FWD);
}

static const struct {
	const char *word;
	int (*parse)(struct nft_parser *p); /* the word is read */
} nft_statements[] = {
    {"counter", nft_rule_counter},   {"limit", nft_rule_limit},
    {"accept", nft_rule_accept},     {"drop", nft_rule_drop},
    {"return", nft_rule_return},     {"continue", nft_rule_continue},
    {"jump", nft_rule_jump},	     {"goto", nft_rule_goto},
    {"reject", nft_rule_reject},     {"snat", nft_rule_snat},
    {"dnat", nft_rule_dnat},	     {"masquerade", nft_rule_masquerade},
    {"redirect", nft_rule_redirect}, {"dup", nft_rule_dup},
    {"fwd", nft_rule_fwd},	     {"notrack", nft_rule_notrack},
    {"comment", nft_rule_comment},
};

/* "ct count [over] N"; 0: the current token does not start that. */
static int nft_rule_count(struct nft_parser *p)
{
	struct nft_lex ahead = p->lex;
	uint64_t n;

	if (!nft_lex_is(&ahead, "ct") || nft_lex_next(&ahead) < 0 || !nft_lex_is(&ahead, "count"))
		return 0;
	p->lex = ahead;
	int rc = nft_lex_next(&p->lex);
	int over = rc < 0 ? rc : nft_lex_accept(&p->lex, "over");
	rc = over < 0 ? over : nft_rule_number(p, &n);
	if (rc < 0)
		return rc;
	if (n > UINT32_MAX)
		return nft_lex_error(&p->lex, "a smaller number");
	struct nft_stmt *s = nft_rule_add(p, NFT_STMT_COUNT);
	s->count.most = (uint32_t)n;
	s->count.over = over;
	return 1;
}

static int nft_rule_statement(struct nft_parser *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(nft_statements); i++) {
		int rc = nft_lex_accept(&p->lex, nft_statements[i].word);
		if (rc < 0)
			return rc;
		if (rc)
			return nft_statements[i].parse(p);
	}
	int rc = nft_rule_count(p);
	if (rc == 0)
		rc = nft_match_parse(p);
	return rc == 0 ? nft_lex_error(&p->lex, "a comparison or a statement") : rc;
}

int nft_rule_compile(struct nft_rule *rule, int family, const char *text,
		     const struct nft_names *names, struct err *err)
{
	struct nft_parser p = {.rule = rule, .names = names, .transport = -1};

	*rule = (struct nft_rule){.family = family};
	arena_init(&rule->arena);
	p.ether = family == NFPROTO_BRIDGE;
	if (family == NFPROTO_IPV4)
		p.network = ETH_P_IP;
	else if (family == NFPROTO_IPV6)
		p.network = ETH_P_IPV6;
	else if (family == NFPROTO_ARP)
		p.network = ETH_P_ARP;
	int rc = nft_lex_start(&p.lex, text, err);
	do {
		if (rc >= 0)
			rc = nft_rule_statement(&p);
	} while (rc >= 0 && p.lex.now.kind != NFT_END);
	if (rc < 0)
		return rc;
	nft_merge(rule);
	return 0;
}

void nft_rule_done(struct nft_rule *rule)
{
	arena_done(&rule->arena);
}
