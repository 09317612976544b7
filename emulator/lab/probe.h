/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe: tries single features of the kernel, each for real, in a scratch namespace that the caller
 * has made (scratch_run()).
 */
#ifndef VPCLAB_LAB_PROBE_H
#define VPCLAB_LAB_PROBE_H

#include "core/base/err.h"

struct probe; /* sockets and devices that probes share */

/* Opens what the probes need: netlink sockets, a veth pair. */
int probe_open(struct probe **out, struct err *err);
void probe_close(struct probe *p);

/* Each: 0 when the feature works here, else a negative errno and err. */
typedef int probe_fn(struct probe *p, struct err *err);
probe_fn probe_proc, probe_veth, probe_bridge, probe_vxlan;
probe_fn probe_tbf, probe_htb, probe_netem, probe_police, probe_vlan;
probe_fn probe_nft_tap, probe_nft_count, probe_nft_nat, probe_nft_bridge, probe_arpreply;
probe_fn probe_offload, probe_congctl, probe_packet, probe_tun, probe_ovs_kernel, probe_xdp;

#endif
