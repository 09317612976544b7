/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xdp: AF_XDP in copy mode (Documentation/networking/af_xdp.rst): the datagrams of one UDP port are
 * taken from a device before the kernel's own stack sees them. Everything else, and what comes in
 * through other receive queues than the first, goes to the usual sockets. Private to this folder.
 *
 * The filter is a dozen instructions given to bpf(2) directly: no library, no compiler. It is held
 * by a link that ends with the process, so nothing stays on the device. UDP checksums are not
 * looked at. Needs root of the machine.
 */
#ifndef VPCLAB_ENGINE_XDP_H
#define VPCLAB_ENGINE_XDP_H

#include <linux/if_xdp.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define XDP_FRAMES 8192 /* a power of two; 4096 bytes each */

struct xdp_ring { /* one of the kernel's rings, mapped */
	uint32_t *producer, *consumer;
	void *entries;
	void *map;
	size_t map_size;
};

struct xdp {
	int fd; /* readable: there are frames */
	int program_fd, link_fd, sockets_fd;
	int family;
	char *frames; /* XDP_FRAMES × 4096 bytes */
	struct xdp_ring fill, completion, received;
};

/* Takes what arrives at UDP port `port` of the device from here on. Unsupported where the kernel,
 * the device or the user's rights do not allow it; then nothing is left. */
int xdp_open(struct xdp *x, int device, int family, int port, struct err *err);
void xdp_close(struct xdp *x);

/* Payloads of the datagrams that have come, at most `max`; they are the caller's to read until
 * xdp_give_back() with that number. */
struct xdp_payload {
	const char *data;
	size_t size;
};
int xdp_take(struct xdp *x, struct xdp_payload *out, int max);
void xdp_give_back(struct xdp *x, int n);

int64_t xdp_drops(const struct xdp *x); /* for want of frames or of room, since xdp_open() */

#endif
