/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steer: receive packet steering, RPS (Documentation/networking/scaling.rst): the kernel's work of
 * receiving from one device is done by one CPU of our choice. Between two namespaces of one machine
 * it would otherwise be done by the sender's CPU, on the sender's time. Private to this folder.
 *
 * The setting is the device's, in /sys/class/net/DEVICE/queues/rx-N/rps_cpus, so one setting serves
 * the whole process; the last steer_end() restores what was there. A process that is killed does
 * not restore it.
 */
#ifndef VPCLAB_ENGINE_STEER_H
#define VPCLAB_ENGINE_STEER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

/* Should each datagram of this UDP socket say where it came in? */
void steer_ask(int fd, int family, bool on);

/* The index of the device through which the first datagram of such a socket came; waits for it, and
 * leaves it queued. 0: none came before the socket was shut down. */
int steer_arrival(int fd, int family);

/* From here on, what comes in through the device is delivered by `cpu` (-1: the CPU that this runs
 * on). Unsupported for anyone but root of the machine. */
int steer_begin(int device, int cpu, struct err *err);
void steer_end(void); /* one for each success of steer_begin(); the last one restores */

/* Packets that this machine dropped since its start because a CPU's queue of received ones was full
 * (/proc/net/softnet_stat): of all devices and namespaces. A sender that is relieved of receiving
 * can fill that queue. -1: not known. */
int64_t steer_backlog_drops(void);

#endif
