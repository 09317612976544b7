/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe: makes one object of each kind that labs are built of, and sees whether the kernel takes
 * it. It reads no configuration and guesses nothing. Called by doctor.c.
 */
#include "emulator/lab/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "emulator/kernel/ethtool.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/nft.h"
#include "emulator/kernel/nl.h"
#include "emulator/kernel/ovs.h"
#include "emulator/kernel/qdisc.h"
#include "emulator/kernel/route.h"

enum { NEAR = 101, FAR, BRIDGE, VXLAN, VLAN }; /* ifindexes */

struct probe {
	int rt, nf;
	struct nl_batch batch;
};

int probe_open(struct probe **out, struct err *err)
{
	struct probe *p = mem_zalloc(sizeof(*p));
	int rc;

	p->rt = p->nf = -1;
	rc = nl_open(NETLINK_ROUTE, &p->rt, err);
	if (!rc)
		rc = nl_open(NETLINK_NETFILTER, &p->nf, err);
	if (rc) {
		probe_close(p);
		return rc;
	}
	*out = p;
	return 0;
}

void probe_close(struct probe *p)
{
	if (p->rt >= 0)
		close(p->rt);
	if (p->nf >= 0)
		close(p->nf);
	nl_batch_done(&p->batch);
	free(p);
}

static int status_error(int status, const char *what, struct err *err)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_sys(err, WIFEXITED(status) ? WEXITSTATUS(status) : EINTR, "%s", what);
}

/* A /proc of one's own needs a PID namespace, and that a process in it. */
int probe_proc(struct probe *p, struct err *err)
{
	int status = 0;
	pid_t pid;

	(void)p;
	if (unshare(CLONE_NEWPID) < 0)
		return err_sys(err, errno, "cannot make a PID namespace");
	pid = fork();
	if (pid == 0)
		_exit(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0
			  ? errno
			  : 0);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid < 0 ? err_sys(err, errno, "cannot fork")
		       : status_error(status, "cannot mount /proc", err);
}

int probe_veth(struct probe *p, struct err *err)
{
	struct link_spec near = {.name = "near", .ifindex = NEAR, .mac = mac_from_text("near")};
	struct link_spec far = {.name = "far", .ifindex = FAR, .mac = mac_from_text("far")};
	autofd int ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	if (ns < 0)
		return err_sys(err, errno, "cannot open the network namespace");
	link_veth(&p->batch, &near, &far, ns);
	link_up(&p->batch, "near", NEAR);
	link_up(&p->batch, "far", FAR);
	return nl_send(p->rt, &p->batch, err);
}

int probe_bridge(struct probe *p, struct err *err)
{
	struct link_spec spec = {.name = "br", .ifindex = BRIDGE, .mac = mac_from_text("br")};

	link_bridge(&p->batch, &spec);
	link_master(&p->batch, "near", NEAR, BRIDGE);
	return nl_send(p->rt, &p->batch, err);
}

int probe_vxlan(struct probe *p, struct err *err)
{
	struct link_spec spec = {.name = "vx", .ifindex = VXLAN, .mac = mac_from_text("vx")};
	struct link_vxlan vxlan = {
	    .vni = 1, .port = 4789, .local = {.family = AF_INET, .bytes = {192, 0, 2, 1}}};

	link_vxlan(&p->batch, &spec, &vxlan);
	return nl_send(p->rt, &p->batch, err);
}

int probe_tbf(struct probe *p, struct err *err)
{
	const struct tc_step step = {.kind = TC_TBF,
				     .parent = TC_AT_ROOT,
				     .handle = TC_ID(1, 0),
				     .tbf = {.rate = {125000, 3000, 24, 84}, .limit_bytes = 30000}};

	qdisc_step(&p->batch, "far", FAR, &step, QDISC_ADD);
	return nl_send(p->rt, &p->batch, err);
}

int probe_netem(struct probe *p, struct err *err)
{
	struct nlmsghdr *nlh =
	    nl_add(&p->batch, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, "add qdisc netem");
	struct tcmsg *tc = mnl_nlmsg_put_extra_header(nlh, sizeof(*tc));
	struct tc_netem_qopt options = {.latency = 1000, .limit = 1000};

	tc->tcm_ifindex = FAR;
	tc->tcm_parent = TC_H_ROOT;
	mnl_attr_put_strz(nlh, TCA_KIND, "netem");
	mnl_attr_put(nlh, TCA_OPTIONS, sizeof(options), &options);
	return nl_send(p->rt, &p->batch, err);
}

/* Classes, and a queue below one of them. */
int probe_htb(struct probe *p, struct err *err)
{
	const struct tc_bucket rate = {125000, 3000, 24, 84};
	const struct tc_step steps[] = {
	    {.kind = TC_HTB, .parent = TC_AT_ROOT, .handle = TC_ID(1, 0)},
	    {.kind = TC_CLASS,
	     .parent = TC_ID(1, 0),
	     .handle = TC_ID(1, 1),
	     .cls = {.rate = rate, .ceil = rate, .quantum = 1514}},
	    {.kind = TC_FIFO,
	     .parent = TC_ID(1, 1),
	     .handle = TC_ID(2, 0),
	     .fifo_limit_bytes = 30000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		qdisc_step(&p->batch, "near", NEAR, &steps[i], QDISC_ADD);
	return nl_send(p->rt, &p->batch, err);
}

int probe_police(struct probe *p, struct err *err)
{
	const struct tc_step steps[] = {
	    {.kind = TC_CLSACT, .parent = TC_AT_CLSACT, .handle = TC_CLSACT_HANDLE},
	    {.kind = TC_POLICE,
	     .parent = TC_AT_INGRESS,
	     .police = {.rate = {125000, 3000, 24, 84}, .mtu_bytes = 65535}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		qdisc_step(&p->batch, "near", NEAR, &steps[i], QDISC_ADD);
	return nl_send(p->rt, &p->batch, err);
}

int probe_vlan(struct probe *p, struct err *err)
{
	struct nlmsghdr *nlh =
	    nl_add(&p->batch, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, "create VLAN device");
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));

	ifi->ifi_index = VLAN;
	mnl_attr_put_strz(nlh, IFLA_IFNAME, "vlan");
	mnl_attr_put_u32(nlh, IFLA_LINK, NEAR);
	struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "vlan");
	struct nlattr *data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	mnl_attr_put_u16(nlh, IFLA_VLAN_ID, 2);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	return nl_send(p->rt, &p->batch, err);
}

struct nft_try {
	struct nft_place at;
	const char *hook, *rule;
};

static int try_nft(struct probe *p, const struct nft_try *t, struct err *err)
{
	struct nft_tx tx;
	int rc;

	nft_start(&tx, p->nf);
	rc = nft_add_table(&tx, &t->at, err);
	if (!rc)
		rc = nft_add_chain(&tx, &t->at, t->hook, err);
	if (!rc)
		rc = nft_add_rule(&tx, &t->at, t->rule, NULL, err);
	if (!rc)
		rc = nft_commit(&tx, err);
	nft_done(&tx);
	return rc;
}

/* What frees a VM's packet from its sender's socket: see the model's taps. */
int probe_nft_tap(struct probe *p, struct err *err)
{
	static const struct nft_try in = {
	    {"netdev", "tap", "in"},
	    "type filter hook ingress device \"near\" priority 0; policy accept;",
	    "dup to \"far\" drop"};
	static const struct nft_try out = {
	    {"netdev", "tapout", "in"},
	    "type filter hook ingress device \"far\" priority 0; policy accept;",
	    "fwd to \"near\""};
	int rc = try_nft(p, &in, err);

	return rc ? rc : try_nft(p, &out, err);
}

int probe_nft_count(struct probe *p, struct err *err)
{
	static const struct nft_try t = {
	    {"netdev", "count", "in"},
	    "type filter hook ingress device \"far\" priority -1000; policy accept;",
	    "ip saddr 192.0.2.1 tcp dport 7 counter"};

	return try_nft(p, &t, err);
}

int probe_nft_nat(struct probe *p, struct err *err)
{
	static const struct nft_try nat = {{"ip", "nat", "pre"},
					   "type nat hook prerouting priority -100; policy accept;",
					   "ip daddr 192.0.2.50 counter dnat to 192.0.2.51"};
	static const struct nft_try state = {{"ip", "filter", "fwd"},
					     "type filter hook forward priority 0; policy accept;",
					     "ct state established,related counter accept"};
	int rc = try_nft(p, &nat, err);

	return rc ? rc : try_nft(p, &state, err);
}

int probe_nft_bridge(struct probe *p, struct err *err)
{
	static const struct nft_try t = {{"bridge", "fence", "fwd"},
					 "type filter hook forward priority 0; policy accept;",
					 "oifname \"near\" counter drop"};

	return try_nft(p, &t, err);
}

int probe_arpreply(struct probe *p, struct err *err)
{
	struct nft_arpreply reply = {.dev = "near",
				     .ip = {.family = AF_INET, .bytes = {192, 0, 2, 1}},
				     .mac = mac_from_text("gateway")};
	struct nft_tx tx;
	int rc;

	nft_start(&tx, p->nf);
	rc = nft_add_arp_chain(&tx, err);
	if (!rc)
		rc = nft_add_arpreply(&tx, &reply, err);
	if (!rc)
		rc = nft_commit(&tx, err);
	nft_done(&tx);
	return rc;
}

int probe_offload(struct probe *p, struct err *err)
{
	(void)p;
	return ethtool_off(p->rt, "far", ETHTOOL_TSO | ETHTOOL_GSO | ETHTOOL_GRO | ETHTOOL_TX, err);
}

int probe_congctl(struct probe *p, struct err *err)
{
	struct route_spec route = {.dst = {{.family = AF_INET, .bytes = {198, 51, 100, 0}}, 24},
				   .dev = "far",
				   .ifindex = FAR,
				   .congctl = "cubic"};

	route_add(&p->batch, &route);
	return nl_send(p->rt, &p->batch, err);
}

int probe_packet(struct probe *p, struct err *err)
{
	autofd int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	(void)p;
	return fd < 0 ? err_sys(err, errno, "cannot make a packet socket") : 0;
}

int probe_tun(struct probe *p, struct err *err)
{
	autofd int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	(void)p;
	return fd < 0 ? err_sys(err, errno, "cannot open /dev/net/tun") : 0;
}

int probe_ovs_kernel(struct probe *p, struct err *err)
{
	(void)p;
	return ovs_kernel_present() ? 0
				    : err_fail(err, ENOENT, "the module is missing, or not loaded");
}

/* An AF_XDP port is a socket and a program at the device: r0 = XDP_PASS; exit. */
int probe_xdp(struct probe *p, struct err *err)
{
	const struct bpf_insn program[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_XDP,
			       .insns = (uintptr_t)program,
			       .insn_cnt = ARRAY_SIZE(program),
			       .license = (uintptr_t) "GPL"};
	autofd int sock = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	autofd int fd = -1;

	(void)p;
	if (sock < 0)
		return err_sys(err, errno, "cannot make an AF_XDP socket");
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? err_sys(err, errno, "cannot load an XDP program") : 0;
}
