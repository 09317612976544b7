/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor: what this kernel and this user can do for labs, as one list. Called by cli.
 *
 * Kernel features are tried in a scratch namespace (probe.c), in the order of the table: later ones
 * use the devices of earlier ones. A feature without a fallback is one that no lab can do without.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "emulator/kernel/program.h"
#include "emulator/lab/lab.h"
#include "emulator/lab/probe.h"
#include "emulator/lab/relays.h"
#include "emulator/lab/scratch.h"

struct feature {
	const char *name, *needed_for;
	const char *fallback; /* what takes its place; NULL: labs cannot do without */
	const char *package;  /* Debian's, or NULL */
	probe_fn *probe;      /* NULL: a program of that name */
};

#define WITHOUT(what) "labs without " what
#define OVS_FALLBACK  "bridge: linux"
#define OVS_PACKAGE   "openvswitch-switch"
#define BY_HAND	      "nothing of vpclab needs it"

static const struct feature features[] = {
    {"veth", "every link", NULL, NULL, probe_veth},
    {"bridge", "networks on Linux bridges", WITHOUT("bridges (nodes and links)"), NULL,
     probe_bridge},
    {"vxlan", "VPC networks across hosts", WITHOUT("VPC networks across hosts"), NULL, probe_vxlan},
    {"tbf", "rates of links", WITHOUT("rates"), NULL, probe_tbf},
    {"htb", "caps of queues and flows", WITHOUT("caps of queues and flows"), NULL, probe_htb},
    {"netem", "delay and loss by the kernel", "the relay", NULL, probe_netem},
    {"matchall, act_police", "police: true of rates", "a shaper with a queue of two frames", NULL,
     probe_police},
    {"802.1Q", "VLANs by tagged frames", "a wire of its own for each VLAN", NULL, probe_vlan},
    {"nft netdev dup, fwd", "VMs behind shaped links", WITHOUT("shaped links behind VMs"), NULL,
     probe_nft_tap},
    {"nft netdev counter", "measurements", WITHOUT("measurements"), NULL, probe_nft_count},
    {"nft nat, conntrack", "EIPs and routers", WITHOUT("EIPs and routers' NAT"), NULL,
     probe_nft_nat},
    {"nft bridge", "ARP fence of flat EIPs", "bridge: ovs", NULL, probe_nft_bridge},
    {"ebtables arpreply", "gateway address of flat EIPs", "bridge: ovs", NULL, probe_arpreply},
    {"offload control", "exact links", "mode: fast", NULL, probe_offload},
    {"cubic by route", "routes of VMs and machines", NULL, NULL, probe_congctl},
    {"packet sockets", "mode: auto measured; Open vSwitch without module",
     "mode: auto exact up to 1 Gbit/s; bridge: linux", NULL, probe_packet},
    {"/dev/net/tun", "Open vSwitch without module", "its dummy datapath, slower", NULL, probe_tun},
    {"openvswitch module", "bridge: ovs at the kernel's speed",
     "its userspace datapath; modprobe openvswitch", NULL, probe_ovs_kernel},
    {"AF_XDP", "faster ports of the userspace datapath", "packet sockets", NULL, probe_xdp},
    {"own /proc", "ps inside a lab shows the lab", "the host's /proc", NULL, probe_proc},
    {"ovs-vswitchd", "bridge: ovs", OVS_FALLBACK, OVS_PACKAGE, NULL},
    {"ovsdb-server", "bridge: ovs", OVS_FALLBACK, OVS_PACKAGE, NULL},
    {"ovs-vsctl", "bridge: ovs", OVS_FALLBACK, OVS_PACKAGE, NULL},
    {"ovs-ofctl", "bridge: ovs", OVS_FALLBACK, OVS_PACKAGE, NULL},
    {"ip", "looking by hand; scripts of vpclab plan", BY_HAND, "iproute2", NULL},
    {"tc", "looking by hand; scripts of vpclab plan", BY_HAND, "iproute2", NULL},
    {"nft", "looking by hand; scripts of vpclab plan", BY_HAND, "nftables", NULL},
    {"ebtables", "scripts of vpclab plan", BY_HAND, "ebtables", NULL},
    {"ethtool", "looking by hand; scripts of vpclab plan", BY_HAND, "ethtool", NULL},
};

static json_t *entry(const struct feature *f, bool available, const char *detail)
{
	json_t *e = json_pack("{s:s, s:s, s:b, s:s?, s:s?}", "feature", f->name, "needed_for",
			      f->needed_for, "available", available, "fallback", f->fallback,
			      "package", f->package);

	if (!available && detail && *detail)
		json_object_set_new(e, "detail", json_string(detail));
	return e;
}

static json_t *probe_one(const struct feature *f, struct probe *p)
{
	struct err err = ERR_INIT;
	char path[512];

	if (!f->probe)
		return entry(f, program_find(f->name, path, sizeof(path)), NULL);
	return entry(f, f->probe(p, &err) == 0, err.text);
}

static int probe_all(void *arg, json_t **out, struct err *err)
{
	struct probe *p;
	int rc = probe_open(&p, err);
	json_t *list;

	(void)arg;
	if (rc)
		return rc;
	list = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		json_array_append_new(list, probe_one(&features[i], p));
	probe_close(p);
	*out = json_pack("{s:o}", "list", list);
	return 0;
}

/* Not in the scratch namespace, which for root is not a user namespace. */
static bool can_make_userns(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && status == 0;
}

static json_t *userns_entry(const char *problem)
{
	static const struct feature f = {"user namespaces", "labs without root", "run it as root",
					 NULL, NULL};

	return entry(&f, can_make_userns(), problem);
}

/* It says how much it carries: whoever sends more through it gets "inconclusive". */
static json_t *relay_entry(void)
{
	static const struct feature f = {"relay", "delay, loss and the like without netem",
					 WITHOUT("delay and loss, unless netem is there"), NULL,
					 NULL};
	struct err err = ERR_INIT;
	int64_t pps = 0;
	int rc = relays_measure(&pps, &err);
	json_t *e = entry(&f, rc == 0 && pps > 0, err.text);

	if (!rc)
		json_object_set_new(e, "capacity_pps", json_integer(pps));
	return e;
}

json_t *lab_doctor(void)
{
	static const struct feature namespaces = {"namespaces", "every lab", NULL, NULL, NULL};
	struct err err = ERR_INIT;
	json_t *got = NULL, *list = json_array();
	int rc = scratch_run(probe_all, NULL, &got, &err);

	json_array_append_new(list, entry(&namespaces, rc == 0, err.text));
	json_array_append_new(list, userns_entry(err.text));
	if (!rc)
		json_array_extend(list, json_object_get(got, "list"));
	if (!rc)
		json_array_append_new(list, relay_entry());
	json_decref(got);
	return list;
}
