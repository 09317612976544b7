/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules compiled by us and by nft must be the same rules: each text of nft_rules.h is loaded both
 * ways, in two namespaces, and `nft -j list ruleset` of both compared. Then what we expect the
 * kernel to have is compared with what it has.
 */
#include "tests/kernel/nft_rules.h"
#include "tests/kernel/sandbox.h"

#include <linux/netlink.h>

#include "core/base/file.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/nft.h"
#include "emulator/kernel/nft_dump.h"

static const struct {
	const char *family, *chain, *hook;
} chains[] = {
    {"ip", "foo", NULL},
    {"ip", "input", "type filter hook input priority 0;"},
    {"ip", "prerouting", "type nat hook prerouting priority -100; policy accept;"},
    {"ip", "postrouting", "type nat hook postrouting priority srcnat; policy accept;"},
    {"ip6", "input", "type filter hook input priority filter; policy drop;"},
    {"ip6", "prerouting", "type nat hook prerouting priority dstnat; policy accept;"},
    {"inet", "input", "type filter hook input priority filter + 10; policy accept;"},
    {"inet", "prerouting", "type nat hook prerouting priority dstnat - 5;"},
    {"arp", "input", "type filter hook input priority 0; policy accept;"},
    {"bridge", "foo", NULL},
    {"bridge", "input", "type filter hook input priority filter; policy accept;"},
    {"netdev", "ingress", "type filter hook ingress device \"lo\" priority 0; policy accept;"},
    {"netdev", "egress", "type filter hook egress device \"lo\" priority 5; policy accept;"},
};

static void write_nft_file(const char *path)
{
	struct err err = ERR_INIT;
	autostr struct strbuf s = {0};

	for (size_t i = 0; i < ARRAY_SIZE(chains); i++) {
		strbuf_addf(&s, "table %s t {\n chain %s {\n", chains[i].family, chains[i].chain);
		if (chains[i].hook)
			strbuf_addf(&s, "%s\n", chains[i].hook);
		strbuf_add(&s, " }\n}\n");
	}
	for (size_t i = 0; i < ARRAY_SIZE(rule_texts); i++)
		strbuf_addf(&s, "add rule %s t %s %s\n", rule_texts[i].family, rule_texts[i].chain,
			    rule_texts[i].text);
	sandbox_ok(&err, file_write(path, strbuf_text(&s), s.len, &err));
}

static void load_ours(int fd)
{
	struct err err = ERR_INIT;
	struct nft_tx tx;

	nft_start(&tx, fd);
	for (size_t i = 0; i < ARRAY_SIZE(chains); i++) {
		const struct nft_place at = {chains[i].family, "t", chains[i].chain};
		sandbox_ok(&err, nft_add_table(&tx, &at, &err));
		sandbox_ok(&err, nft_add_chain(&tx, &at, chains[i].hook, &err));
	}
	sandbox_ok(&err, nft_commit(&tx, &err));
	for (size_t i = 0; i < ARRAY_SIZE(rule_texts); i++) {
		const struct nft_place at = {rule_texts[i].family, "t", rule_texts[i].chain};
		sandbox_ok(&err, nft_add_rule(&tx, &at, rule_texts[i].text, NULL, &err));
	}
	sandbox_ok(&err, nft_commit(&tx, &err));
	nft_done(&tx);
}

/* The rules of a chain, in order. */
static json_t *rules_of(json_t *ruleset, const char *family, const char *chain)
{
	json_t *out = json_array(), *object;
	size_t i;

	json_array_foreach(json_object_get(ruleset, "nftables"), i, object)
	{
		json_t *rule = json_object_get(object, "rule");
		if (rule && !strcmp(json_string_value(json_object_get(rule, "family")), family) &&
		    !strcmp(json_string_value(json_object_get(rule, "chain")), chain))
			json_array_append(out, rule);
	}
	return out;
}

static void compare_rules(json_t *theirs, json_t *ours, size_t chain)
{
	json_t *a = rules_of(theirs, chains[chain].family, chains[chain].chain);
	json_t *b = rules_of(ours, chains[chain].family, chains[chain].chain);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rule_texts); i++) {
		if (strcmp(rule_texts[i].family, chains[chain].family) ||
		    strcmp(rule_texts[i].chain, chains[chain].chain))
			continue;
		if (!json_equal(json_array_get(a, n), json_array_get(b, n)))
			sandbox_equal(rule_texts[i].text, json_incref(json_array_get(a, n)),
				      json_incref(json_array_get(b, n)));
		n++;
	}
	assert_int_equal(json_array_size(a), n);
	assert_int_equal(json_array_size(b), n);
	json_decref(a);
	json_decref(b);
}

static void expect(struct nft_ruleset *r, int fd)
{
	struct err err = ERR_INIT;
	struct nft_names names = nft_names_of(&fd);

	for (size_t i = 0; i < ARRAY_SIZE(chains); i++) {
		const struct nft_place at = {chains[i].family, "t", chains[i].chain};
		sandbox_ok(&err, nft_expect_chain(r, &at, chains[i].hook, &err));
	}
	for (size_t i = 0; i < ARRAY_SIZE(rule_texts); i++) {
		const struct nft_place at = {rule_texts[i].family, "t", rule_texts[i].chain};
		sandbox_ok(&err, nft_expect_rule(r, &at, rule_texts[i].text, NULL, &names, &err));
	}
}

static void compare_expected(int fd)
{
	struct err err = ERR_INIT;
	struct nft_ruleset expected = {0}, actual;
	autostr struct strbuf differences = {0};
	size_t n = 0;

	expect(&expected, fd);
	sandbox_ok(&err, nft_dump(fd, &actual, &err));
	nft_ruleset_compare(&expected, &actual, "", &differences, &n);
	if (n)
		fail_msg("%zu differences:\n%s", n, strbuf_text(&differences));
	nft_ruleset_done(&expected);
	nft_ruleset_done(&actual);
}

static void same_as_nft(void **state)
{
	static const char *const volatile_names[] = {"handle", NULL};
	struct netns a = sandbox_netns("theirs"), b = sandbox_netns("ours");
	int fa = sandbox_socket(&a, NETLINK_NETFILTER), fb = sandbox_socket(&b, NETLINK_NETFILTER);

	(void)state;
	write_nft_file("/run/rules.nft");
	free(SANDBOX_RUN(&a, "nft", "-f", "/run/rules.nft"));
	load_ours(fb);
	json_t *theirs = SANDBOX_JSON(&a, "nft", "-j", "list", "ruleset");
	json_t *ours = SANDBOX_JSON(&b, "nft", "-j", "list", "ruleset");
	sandbox_strip(theirs, volatile_names);
	sandbox_strip(ours, volatile_names);
	for (size_t i = 0; i < ARRAY_SIZE(chains); i++)
		compare_rules(theirs, ours, i);
	sandbox_equal("rulesets", theirs, ours);
	compare_expected(fa);
	compare_expected(fb);
	close(fa);
	close(fb);
	netns_close(&a);
	netns_close(&b);
}

/* A rule more, one less and one changed are three differences. */
static void differences_are_found(void **state)
{
	static const char *const is[] = {"ip saddr { 10.0.0.1, 10.0.0.2 } accept", "counter",
					 "tcp dport 22 accept", "drop"};
	static const char *const planned[] = {"ip saddr { 10.0.0.1, 10.0.0.3 } accept", "counter",
					      "tcp dport 22 accept"};
	struct err err = ERR_INIT;
	struct netns ns = sandbox_netns("differences");
	int fd = sandbox_socket(&ns, NETLINK_NETFILTER);
	struct nft_names names = nft_names_of(&fd);
	struct nft_ruleset expected = {0}, actual;
	autostr struct strbuf text = {0};
	const struct nft_place at = {"ip", "t", "c"};
	struct nft_tx tx;
	size_t n = 0;

	(void)state;
	nft_start(&tx, fd);
	sandbox_ok(&err, nft_add_table(&tx, &at, &err));
	sandbox_ok(&err, nft_add_chain(&tx, &at, NULL, &err));
	for (size_t i = 0; i < ARRAY_SIZE(is); i++)
		sandbox_ok(&err, nft_add_rule(&tx, &at, is[i], NULL, &err));
	sandbox_ok(&err, nft_commit(&tx, &err));
	nft_done(&tx);
	sandbox_ok(&err, nft_expect_chain(&expected, &at,
					  "type filter hook input priority 0; policy drop;", &err));
	for (size_t i = 0; i < ARRAY_SIZE(planned); i++)
		sandbox_ok(&err, nft_expect_rule(&expected, &at, planned[i], NULL, &names, &err));
	sandbox_ok(&err, nft_dump(fd, &actual, &err));
	nft_ruleset_compare(&expected, &actual, "h1: ", &text, &n);
	assert_int_equal(n, 3);
	assert_non_null(strstr(strbuf_text(&text), "h1: nft ip t c: planned"));
	assert_non_null(strstr(strbuf_text(&text), "nft ip t c rule 1: planned"));
	assert_non_null(strstr(strbuf_text(&text), "nft ip t c rule 4: not planned"));
	nft_ruleset_done(&expected);
	nft_ruleset_done(&actual);
	close(fd);
	netns_close(&ns);
}

static void errors_name_the_rule(void **state)
{
	struct err err = ERR_INIT;
	struct netns ns = sandbox_netns("errors");
	int fd = sandbox_socket(&ns, NETLINK_NETFILTER);
	const struct nft_place at = {"ip", "t", "c"};
	struct nft_tx tx;

	(void)state;
	nft_start(&tx, fd);
	sandbox_ok(&err, nft_add_table(&tx, &at, &err));
	sandbox_ok(&err, nft_add_chain(&tx, &at, NULL, &err));
	sandbox_ok(&err, nft_add_rule(&tx, &at, "jump nowhere", NULL, &err));
	assert_int_equal(nft_commit(&tx, &err), -ENOENT);
	assert_non_null(strstr(err.text, "ip t c: jump nowhere"));
	/* All or nothing, and the socket is good for the next one. */
	json_t *j = SANDBOX_JSON(&ns, "nft", "-j", "list", "ruleset");
	assert_int_equal(json_array_size(json_object_get(j, "nftables")), 1);
	json_decref(j);
	sandbox_ok(&err, nft_add_table(&tx, &at, &err));
	sandbox_ok(&err, nft_commit(&tx, &err));
	nft_done(&tx);
	close(fd);
	netns_close(&ns);
}

/* More rules than one transaction carries; sets keep their places in all of them. */
static void many_rules(void **state)
{
	struct err err = ERR_INIT;
	struct netns ns = sandbox_netns("many");
	int fd = sandbox_socket(&ns, NETLINK_NETFILTER);
	const struct nft_place at = {"ip", "t", "c"};
	const size_t n = 1500;
	struct nft_tx tx;

	(void)state;
	nft_start(&tx, fd);
	sandbox_ok(&err, nft_add_table(&tx, &at, &err));
	sandbox_ok(&err, nft_add_chain(&tx, &at, NULL, &err));
	for (size_t i = 0; i < n; i++) {
		autofree char *text =
		    mem_printf("ip saddr { 10.0.%zu.%zu, 10.1.0.1 } tcp dport %zu counter accept",
			       i / 256, i % 256, i + 1);
		sandbox_ok(&err, nft_add_rule(&tx, &at, text, "a comment", &err));
	}
	sandbox_ok(&err, nft_commit(&tx, &err));
	nft_done(&tx);
	json_t *j = SANDBOX_JSON(&ns, "nft", "-j", "list", "ruleset"), *rules;
	rules = rules_of(j, "ip", "c");
	assert_int_equal(json_array_size(rules), n);
	autofree char *last = json_dumps(json_array_get(rules, n - 1), 0);
	assert_non_null(strstr(last, "10.0.5.219"));
	assert_non_null(strstr(last, "1500"));
	assert_non_null(strstr(last, "a comment"));
	json_decref(rules);
	json_decref(j);
	close(fd);
	netns_close(&ns);
}

static void arpreply_as_ebtables(void **state)
{
	static const char *const volatile_names[] = {"handle", NULL};
	struct err err = ERR_INIT;
	struct netns a = sandbox_netns("ebtables"), b = sandbox_netns("arpreply");
	int fa = sandbox_socket(&a, NETLINK_NETFILTER), fb = sandbox_socket(&b, NETLINK_NETFILTER);
	struct nft_arpreply reply = {.dev = "vnic0"};
	struct nft_ruleset expected = {0}, actual;
	struct nft_tx tx;
	size_t n = 0;

	(void)state;
	sandbox_ok(&err, ip_parse("10.0.0.1", &reply.ip, &err));
	sandbox_ok(&err, mac_parse("02:00:00:00:00:01", &reply.mac, &err));
	free(SANDBOX_RUN(&a, "ebtables", "-t", "nat", "-A", "PREROUTING", "-i", "vnic0", "-p",
			 "ARP", "--arp-op", "Request", "--arp-ip-dst", "10.0.0.1", "-j", "arpreply",
			 "--arpreply-mac", "02:00:00:00:00:01"));
	nft_start(&tx, fb);
	sandbox_ok(&err, nft_add_arp_chain(&tx, &err));
	sandbox_ok(&err, nft_add_arpreply(&tx, &reply, &err));
	sandbox_ok(&err, nft_commit(&tx, &err));
	nft_done(&tx);
	json_t *theirs = SANDBOX_JSON(&a, "nft", "-j", "list", "ruleset");
	json_t *ours = SANDBOX_JSON(&b, "nft", "-j", "list", "ruleset");
	sandbox_strip(theirs, volatile_names);
	sandbox_strip(ours, volatile_names);
	sandbox_equal("arpreply", theirs, ours);
	/* What nft does not show: the arguments of match and target. */
	nft_expect_arpreply(&expected, &reply);
	sandbox_ok(&err, nft_dump(fa, &actual, &err));
	VEC_FOREACH (line, &actual.lines)
		n += line->rule && !strcmp(line->text, expected.lines.v[0].text);
	assert_int_equal(n, 1);
	nft_ruleset_done(&actual);
	autofree char *list = SANDBOX_RUN(&b, "ebtables", "-t", "nat", "-L");
	assert_non_null(strstr(list, "--arp-ip-dst 10.0.0.1 -j arpreply"));
	nft_ruleset_done(&expected);
	close(fa);
	close(fb);
	netns_close(&a);
	netns_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(same_as_nft),	    cmocka_unit_test(differences_are_found),
	    cmocka_unit_test(errors_name_the_rule), cmocka_unit_test(many_rules),
	    cmocka_unit_test(arpreply_as_ebtables),
	};

	sandbox_enter();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
