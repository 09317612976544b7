/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine: what a figure depends on and no option says: kernel, program, CPU, and of the device
 * that the data goes through its MTU and offloads. Private to this folder.
 */
#ifndef VPCLAB_ENGINE_MACHINE_H
#define VPCLAB_ENGINE_MACHINE_H

#include <jansson.h>

/*
 * {"kernel", "vpclab", "cpu", "cpus", "boot_id", "clocksource", "congestion_available", "tcp_rmem",
 * "tcp_wmem", "device", "mtu", "driver", "offloads": {"tso": true, …}}; null: not known. fd: a
 * socket that is connected or bound, whose local address names the device; -1: none. Gives a
 * reference. Sources: uname(2), proc(5), sysfs(5), netdevice(7), linux/ethtool.h.
 */
json_t *machine_describe(int fd);

#endif
