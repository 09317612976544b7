/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiler of nft rules without a kernel: what it refuses, with column and expectation, and the
 * statements that it makes of a few texts. That the rules are right is tests/kernel/nft.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "emulator/kernel/nft_hook.h"
#include "emulator/kernel/nft_rule.h"

static int ifindex(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "tap0") ? 7 : -ENODEV;
}

static const struct nft_names names = {.ifindex = ifindex};

static void refuses(void **state)
{
	static const struct {
		int family;
		const char *text, *says;
	} bad[] = {
	    {NFPROTO_IPV4, "", "column 1: expected a comparison or a statement, found the end"},
	    {NFPROTO_IPV4, "acept",
	     "column 1: expected a comparison or a statement, found 'acept'"},
	    {NFPROTO_IPV4, "ip sadr 10.0.0.1",
	     "column 4: expected one of length, dscp, ttl, protocol, "
	     "saddr, daddr, found 'sadr'"},
	    {NFPROTO_IPV4, "ip saddr 10.0.0.256 drop",
	     "column 10: expected an IPv4 address, found '10.0.0.256'"},
	    {NFPROTO_IPV4, "ip saddr 10.0.0.0/33", "column 10: expected an IPv4 address"},
	    {NFPROTO_IPV4, "ip saddr 10.0.0.9-10.0.0.1", "column 10: expected an IPv4 address"},
	    {NFPROTO_IPV4, "tcp dport ssh", "column 11: expected a port number, found 'ssh'"},
	    {NFPROTO_IPV4, "tcp dport 65536", "column 11: expected a port number"},
	    {NFPROTO_IPV4, "tcp dport { 1, 2", "column 17: expected }, found the end"},
	    {NFPROTO_IPV4, "tcp dport @ports", "column 11: expected a port number"},
	    {NFPROTO_IPV4, "tcp dport vmap { 1 : drop }", "column 11: expected a port number"},
	    {NFPROTO_IPV4, "ip6 saddr ::1", "the packet is of another protocol"},
	    {NFPROTO_IPV4, "tcp dport 1 udp dport 2", "the packet is of another IP protocol"},
	    {NFPROTO_INET, "arp operation request", "inet chains see no ARP"},
	    {NFPROTO_INET, "dnat to 10.0.0.1", "column 6: expected ip or ip6"},
	    {NFPROTO_IPV4, "dnat to 10.0.0.1:80", "a port needs a comparison of the IP protocol"},
	    {NFPROTO_IPV4, "dnat to 10.0.0.0/24", "column 9: expected an IPv4 address"},
	    {NFPROTO_IPV4, "jump", "column 5: expected the name of a chain, found the end"},
	    {NFPROTO_IPV4, "limit rate ten/second", "column 12: expected a rate such as 10/second"},
	    {NFPROTO_IPV4, "limit rate 10/fortnight", "expected RATE/second"},
	    {NFPROTO_IPV4, "limit rate 10/second burst 5", "expected packets, found the end"},
	    {NFPROTO_IPV4, "reject with icmp type nonsense", "expected a reason"},
	    {NFPROTO_IPV4, "reject with rst", "expected tcp reset, icmp, icmpv6 or icmpx"},
	    {NFPROTO_IPV4, "ct state != established,related", "expected one state only after !="},
	    {NFPROTO_IPV4, "ct state happy", "column 10: expected a connection state"},
	    {NFPROTO_IPV4, "dup to \"tap0\"", "only netdev chains"},
	    {NFPROTO_IPV4, "meta mark set jhash mod 4", "expected a field such as ip saddr"},
	    {NFPROTO_IPV4, "meta mark set jhash ip saddr mod 0", "a modulus above 0"},
	    {NFPROTO_IPV4, "meta mark set jhash ip saddr . ip daddr", "expected mod"},
	    {NFPROTO_IPV4, "meta priority set 7", "expected a priority such as 1:10"},
	    {NFPROTO_IPV4, "ct count over many drop", "expected a number"},
	    {NFPROTO_IPV4, "ip ttl set 5", "only mark and priority can be set"},
	    {NFPROTO_IPV4, "iifname \"name-of-16-bytes\"",
	     "column 9: expected an interface name, found 'name-of-16-bytes'"},
	    {NFPROTO_IPV4, "iifname \"eth0", "column 9: string without end"},
	    {NFPROTO_IPV4, "iifname { \"eth*\", \"a\" }", "no wildcards in a set"},
	    {NFPROTO_IPV4, "accept comment \"x\" drop", "expected the end, found 'drop'"},
	    {NFPROTO_IPV4, "counter packets 1", "expected bytes, found the end"},
	    {NFPROTO_IPV4, "meta mark set", "column 14: expected a mark, found the end"},
	    {NFPROTO_IPV4, "masquerade to 80", "expected a colon and a port"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct nft_rule rule;
		struct err err = ERR_INIT;
		int rc = nft_rule_compile(&rule, bad[i].family, bad[i].text, &names, &err);
		nft_rule_done(&rule);
		if (rc != -EINVAL || !strstr(err.text, bad[i].says) ||
		    !strstr(err.text, bad[i].text))
			fail_msg("'%s': %d, '%s' where '%s' should be", bad[i].text, rc, err.text,
				 bad[i].says);
	}
}

static void no_such_device(void **state)
{
	struct nft_rule rule;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(
	    nft_rule_compile(&rule, NFPROTO_NETDEV, "counter fwd to \"tap1\"", &names, &err),
	    -ENODEV);
	assert_non_null(strstr(err.text, "column 16: device 'tap1'"));
	nft_rule_done(&rule);
}

static void compile(struct nft_rule *rule, int family, const char *text)
{
	struct err err = ERR_INIT;

	if (nft_rule_compile(rule, family, text, &names, &err) < 0)
		fail_msg("%s", err.text);
}

static void dependencies(void **state)
{
	struct nft_rule rule;

	(void)state;
	compile(&rule, NFPROTO_INET, "ip saddr 10.0.0.1 tcp dport 80 accept");
	assert_int_equal(rule.stmts.n, 5);
	assert_int_equal(rule.stmts.v[0].match.load.key, NFT_META_NFPROTO);
	assert_int_equal(rule.stmts.v[2].match.load.key, NFT_META_L4PROTO);
	assert_int_equal(rule.stmts.v[4].kind, NFT_STMT_VERDICT);
	nft_rule_done(&rule);
	compile(&rule, NFPROTO_IPV4, "ip saddr 10.0.0.1 accept");
	assert_int_equal(rule.stmts.n, 2);
	nft_rule_done(&rule);
}

/* Where merging would change what the rule means, nothing is merged. */
static void merging(void **state)
{
	struct nft_rule rule;

	(void)state;
	compile(&rule, NFPROTO_IPV4, "udp sport 1 udp dport 2");
	assert_int_equal(rule.stmts.n, 2);
	assert_int_equal(rule.stmts.v[1].match.load.len, 4);
	assert_memory_equal(rule.stmts.v[1].match.value, "\0\1\0\2", 4);
	nft_rule_done(&rule);
	compile(&rule, NFPROTO_IPV4, "udp sport 1 counter udp dport 2");
	assert_int_equal(rule.stmts.n, 4);
	nft_rule_done(&rule);
	compile(&rule, NFPROTO_IPV4, "udp sport != 1 udp dport != 2");
	assert_int_equal(rule.stmts.n, 3);
	nft_rule_done(&rule);
}

static void intervals(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		bool open;
	} sets[] = {
	    {"udp dport { 1-10, 20 }", 5, false},	/* 0/end 1 11/end 20 21/end */
	    {"udp dport { 1-10, 5-20, 21 }", 3, false}, /* one interval */
	    {"udp dport { 0-10, 65000-65535 }", 3, true},
	    {"udp dport { 1, 2 }", 2, false}, /* no interval */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		struct nft_rule rule;
		compile(&rule, NFPROTO_IPV4, sets[i].text);
		const struct nft_match *m = &rule.stmts.v[1].match;
		assert_int_equal(m->test, NFT_IN_SET);
		assert_int_equal(m->set.n, sets[i].n);
		assert_int_equal(m->set.v[m->set.n - 1].open, sets[i].open);
		nft_rule_done(&rule);
	}
}

static void hooks(void **state)
{
	struct err err = ERR_INIT;
	struct nft_hook h;

	(void)state;
	assert_int_equal(nft_hook_parse(NFPROTO_NETDEV,
					"type filter hook ingress device \"tap0\" priority 0; "
					"policy drop;",
					&h, &err),
			 0);
	assert_string_equal(h.type, "filter");
	assert_string_equal(h.device, "tap0");
	assert_int_equal(h.policy, NF_DROP);
	assert_int_equal(nft_hook_parse(NFPROTO_BRIDGE,
					"type filter hook prerouting priority dstnat - 5;", &h,
					&err),
			 0);
	assert_int_equal(h.priority, -305);
	assert_int_equal(h.policy, -1);
	assert_int_equal(
	    nft_hook_parse(NFPROTO_IPV4, "type nat hook ingress priority 0;", &h, &err), -EINVAL);
	assert_non_null(strstr(err.text, "column 15: expected a hook of this family"));
	assert_int_equal(
	    nft_hook_parse(NFPROTO_IPV4, "type nat hook input priority low;", &h, &err), -EINVAL);
	assert_non_null(strstr(err.text, "expected a priority, found 'low'"));
	assert_int_equal(
	    nft_hook_parse(NFPROTO_IPV4, "type nat hook input priority 0; policy maybe;", &h, &err),
	    -EINVAL);
	assert_non_null(strstr(err.text, "expected accept or drop"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refuses),	    cmocka_unit_test(no_such_device),
	    cmocka_unit_test(dependencies), cmocka_unit_test(merging),
	    cmocka_unit_test(intervals),    cmocka_unit_test(hooks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
