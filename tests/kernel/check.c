/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check finds nothing in a lab as planned, and each thing that somebody changes in it. The changes
 * are made by ip, tc, nft, ethtool and sysctl.
 */
#include "tests/kernel/plans.h"
#include "tests/kernel/sandbox.h"

#include <signal.h>
#include <sys/wait.h>

#include "emulator/lab/apply.h"
#include "emulator/lab/check.h"

static struct lab_plan lab;

static int build(void **state)
{
	struct apply_result result;
	struct err err = ERR_INIT;

	(void)state;
	make_plan("topologies/zstack.yaml", &lab);
	sandbox_ok(&err, apply_plan(&lab.plan, &result, &err));
	json_decref(result.choices);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	drop_plan(&lab);
	return 0;
}

static size_t check(struct strbuf *out)
{
	struct err err = ERR_INIT;
	struct netns self;
	size_t n = 0;

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, check_compare(&lab.plan, NULL, out, &n, &err));
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	return n;
}

static void nothing(void **state)
{
	autostr struct strbuf out = {0};

	(void)state;
	if (check(&out))
		fail_msg("as planned, but:\n%s", strbuf_text(&out));
}

/* In a child with namespaces of its own; 0: as planned. */
static int as_planned(const char *path)
{
	struct lab_plan p = {0};
	struct apply_result result;
	struct err err = ERR_INIT;
	autostr struct strbuf out = {0};
	size_t n = 0;

	sandbox_enter();
	make_plan(path, &p);
	if (apply_plan(&p.plan, &result, &err) < 0 ||
	    check_compare(&p.plan, NULL, &out, &n, &err) < 0)
		printf("# %s: %s\n", path, err.text);
	else if (n)
		printf("# %s:\n%s", path, strbuf_text(&out));
	else
		return 0;
	return 1;
}

static void other_topologies(void **state)
{
	static const char *const paths[] = {
	    "topologies/flat.yaml",    "topologies/eip.yaml",	   "topologies/vpc.yaml",
	    "topologies/two-vpc.yaml", "topologies/dumbbell.yaml", "topologies/star.yaml",
	    "topologies/queues.yaml",  "topologies/vnic.yaml",	   "topologies/vlan.yaml"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int status;
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			setpgid(0, 0);
			int rc = as_planned(paths[i]);
			fflush(stdout);
			_exit(rc);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		kill(-pid, SIGKILL); /* its relays, which here have no supervisor to die with */
		if (status)
			fail_msg("%s", paths[i]);
	}
}

static void sh(const char *command)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	struct err err = ERR_INIT;
	struct netns self;

	sandbox_ok(&err, netns_self(&self, &err));
	free(sandbox_run(&self, argv));
	netns_close(&self);
}

/* What undoes a change that `ip` cannot describe is in `undo`. */
static const struct change {
	const char *change, *undo;
	const char *says; /* a line that starts so */
	size_t n;	  /* lines in all */
} changes[] = {
    {"ip -n client link set eth0 mtu 1400", "ip -n client link set eth0 mtu 1500",
     "client: eth0: MTU planned 1500, is 1400", 1},
    {"ip -n client link set eth0 alias x", "ip -n client link set eth0 alias ''",
     "client: eth0: alias planned none, is x", 1},
    {"ip -n client addr add 10.9.9.9/32 dev eth0 noprefixroute",
     "ip -n client addr del 10.9.9.9/32 dev eth0", "client: eth0: address 10.9.9.9/32 not planned",
     1},
    {"ip -n client route add 10.9.0.0/16 dev eth0", "ip -n client route del 10.9.0.0/16",
     "client: eth0: route 10.9.0.0/16 not planned", 1},
    {"ip -n vpc-eip route change default via 10.20.0.1 dev eth0", NULL,
     "vpc-eip: eth0: route default: congestion control planned cubic, is none", 1},
    {"ip -n vpc-eip route del 10.20.0.0/24", NULL, "vpc-eip: eth0: route 10.20.0.0/24 missing", 1},
    {"bridge -n h3 fdb del 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.2", NULL,
     "h3: vxlan100: forwarding entry to 172.31.255.2 missing", 1},
    {"ip -n client neigh add 192.0.2.77 lladdr 02:00:00:00:00:01 dev eth0 nud permanent",
     "ip -n client neigh del 192.0.2.77 dev eth0", "client: eth0: neighbour 192.0.2.77 not planned",
     1},
    {"ip -n fabric link add extra type veth peer name extra2", "ip -n fabric link del extra",
     "fabric: extra: device not planned", 2},
    {"ip -n fabric link set h1 nomaster", "ip -n fabric link set h1 master br0",
     "fabric: h1: bridge planned br0, is none", 1},
    {"tc -n fabric qdisc change dev h1 root handle 1: tbf rate 1mbit burst 3000 limit 4000 "
     "overhead 10 mpu 70",
     NULL, "fabric: h1: tbf 1:0: rate in bytes/s planned 125000000, is 125000", 5},
    {"tc -n fabric qdisc del dev h2 root", NULL, "fabric: h2: shaper planned tbf 1:0, is none", 1},
    {"ip netns exec client ethtool -K eth0 tso on >/dev/null",
     "ip netns exec client ethtool -K eth0 tso off >/dev/null",
     "client: eth0: tso planned off, is on", 1},
    {"ip netns exec vr1 sysctl -qw net.ipv4.ip_forward=0",
     "ip netns exec vr1 sysctl -qw net.ipv4.ip_forward=1",
     "vr1: sysctl net/ipv4/ip_forward planned 1, is 0", 1},
    {"ip netns exec vr1 nft add rule ip nat POSTROUTING masquerade", NULL,
     "vr1: nft ip nat POSTROUTING rule ", 1},
    {"ip netns exec h2 nft flush chain bridge nat PREROUTING", NULL,
     "h2: nft bridge nat PREROUTING rule 1: missing", 2},
    {"ip netns exec client nft add table netdev vpclab_count; ip netns exec client nft add chain "
     "netdev vpclab_count eth0 '{ type filter hook ingress device eth0 priority 0; }'",
     "ip netns exec client nft delete table netdev vpclab_count", NULL, 0},
};

static void each_change(void **state)
{
	size_t stays = 0; /* lines of what was not undone */

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		const struct change *c = &changes[i];
		autostr struct strbuf out = {0};
		sh(c->change);
		size_t n = check(&out);
		if (n != stays + c->n || (c->says && !strstr(strbuf_text(&out), c->says)))
			fail_msg("%s: expected %zu + %zu lines with \"%s\":\n%s", c->change, stays,
				 c->n, c->says ? c->says : "", strbuf_text(&out));
		if (c->undo)
			sh(c->undo);
		else
			stays += c->n;
	}
}

/* A user may part the values of a sysctl by as many blanks as he likes; the kernel has tabs. */
static void blanks_in_a_sysctl(void **state)
{
	autostr struct strbuf same = {0}, other = {0};
	struct op *op = VEC_ADD(&lab.plan.arena, &lab.plan.ops);

	(void)state;
	sh("ip netns exec client sysctl -qw net.ipv4.ip_local_port_range='32768 60999'");
	*op = (struct op){
	    .kind = OP_SYSCTL,
	    .ns = "client",
	    .sysctl = {"net/ipv4/ip_local_port_range", " 32768   60999", false},
	};
	check(&same);
	op->sysctl.value = "32768  60998";
	check(&other);
	lab.plan.ops.n--;
	assert_null(strstr(strbuf_text(&same), "ip_local_port_range"));
	assert_non_null(strstr(strbuf_text(&other),
			       "client: sysctl net/ipv4/ip_local_port_range planned 32768 60998, "
			       "is 32768 60999\n"));
}

static void missing_namespace(void **state)
{
	autostr struct strbuf out = {0};

	(void)state;
	sh("ip netns del direct");
	check(&out);
	assert_non_null(strstr(strbuf_text(&out), "direct: namespace missing\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing),		 cmocka_unit_test(other_topologies),
	    cmocka_unit_test(each_change),	 cmocka_unit_test(blanks_in_a_sysctl),
	    cmocka_unit_test(missing_namespace),
	};

	sandbox_enter();
	return cmocka_run_group_tests(tests, build, drop);
}
