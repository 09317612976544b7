/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ovs: private Open vSwitch instances, one per emulated host, inside the lab.
 *
 * Each instance is an ovsdb-server and an ovs-vswitchd in the host's network namespace with run,
 * database, log and configuration directories of its own below /run/ovs (the lab's private tmpfs).
 * They detach themselves and are reaped by the lab's first process. No system path is written, and
 * only the programs and their schema are read. Called by emulator/lab/apply.c; lab_spawn() uses
 * ovs_env().
 */
#ifndef VPCLAB_KERNEL_OVS_H
#define VPCLAB_KERNEL_OVS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/addr.h"
#include "core/base/str.h"

struct ovs_bridge {
	const char *name;
	struct mac mac;
};

struct ovs_port {
	const char *bridge, *dev; /* the device is there already, in the instance's namespace */
	int vlan;		  /* tag of what enters there; 0: the port carries all tags */
	bool shaped; /* has a qdisc of its own, which stays; no AF_XDP, which would go round it */
};

struct ovs_flow {
	const char *bridge, *text; /* ovs-ofctl syntax, port names allowed */
};

struct ovs_instance {
	const char *ns;	      /* name of the host's namespace: /run/netns/NS */
	const char *datapath; /* as planned: "system", "netdev", "dummy" */
	const struct ovs_bridge *bridges;
	size_t n_bridges;
	const struct ovs_port *ports;
	size_t n_ports;
	const struct ovs_flow *flows;
	size_t n_flows;
	/* Out: what ran. Static texts, but `why`. */
	const char *ran_datapath; /* "system", "netdev", "dummy" */
	const char *ran_ports;	  /* "kernel", "afxdp-nonpmd", "netdev-tso", "netdev", "dummy" */
	char *why; /* heap, for the caller to free: faster kinds that were tried in vain, or NULL */
};

/*
 * Starts all instances (their daemons side by side), configures each in one ovs-vsctl transaction
 * and adds its flows in one bundle. Returns when every port forwards. A netdev instance gets the
 * fastest kind of port that passes a TCP connect between two scratch namespaces; the first instance
 * decides for all, and has the reason in `why`. The network namespace of the calling thread is left
 * alone.
 *
 * The programs are Debian's openvswitch-switch; without them: ERR_UNSUPPORTED. On failure the
 * daemons that run already are left to die with the caller.
 */
int ovs_build(struct ovs_instance *v, size_t n, struct err *err);

/*
 * True where the kernel has the openvswitch datapath (generic netlink family ovs_datapath) and it
 * is loaded. A module that lies on the disk only is left there: loading it is the administrator's
 * (`modprobe openvswitch`), until then labs use the userspace datapath and say so.
 */
bool ovs_kernel_present(void);

/*
 * Directory of the instance of namespace `ns`, below /run/ovs: holds sockets, database, logs.
 * Writes to `path` (at least OVS_PATH bytes) and returns it.
 */
#define OVS_PATH 96
const char *ovs_dir(char path[static OVS_PATH], const char *ns);

/*
 * Environment by which ovs-vsctl, ovs-ofctl and ovs-appctl find the instance of `ns` without
 * options: OVS_RUNDIR, OVS_DBDIR, OVS_LOGDIR, OVS_SYSCONFDIR, each "NAME=value".
 */
#define OVS_ENV 4
void ovs_env(char env[static OVS_ENV][OVS_PATH + 24], const char *ns);

#endif
