/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xdp: see xdp.h. It knows frames and ports, no streams and no numbers. Called by udp_xdp.c.
 */
#include "core/engine/xdp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/mem.h"

#define XDP_FRAME 4096

#define INSN(c, d, s, o, i)                                                                        \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define XDP_PROGRAM 64 /* instructions, at most */

struct xdp_program {
	struct bpf_insn insns[XDP_PROGRAM];
	int n;
	int exits[16]; /* jumps that lead to "not ours" */
	int n_exits;
};

static void xdp_emit(struct xdp_program *p, struct bpf_insn insn)
{
	p->insns[p->n++] = insn;
}

/* Not ours unless the field at this offset of the frame, masked, has this value; both as they stand
 * in memory. r2: the frame. */
static void xdp_expect(struct xdp_program *p, int size, int16_t offset, int32_t mask, int32_t value)
{
	xdp_emit(p, INSN(BPF_LDX | BPF_MEM | size, BPF_REG_5, BPF_REG_2, offset, 0));
	if (mask)
		xdp_emit(p, INSN(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_5, 0, 0, mask));
	p->exits[p->n_exits++] = p->n;
	xdp_emit(p, INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_5, 0, 0, value));
}

/* Whole datagrams to the port, without options or extension headers, to the socket of the queue
 * that they came through; all else to the kernel's stack. */
static void xdp_write(struct xdp_program *p, int family, int port, int sockets_fd)
{
	bool six = family == AF_INET6;
	*p = (struct xdp_program){.n = 0};
	xdp_emit(p, INSN(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1, 0, 0)); /* data */
	xdp_emit(p, INSN(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_3, BPF_REG_1, 4, 0)); /* data_end */
	xdp_emit(p, INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_2, 0, 0));
	xdp_emit(p, INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, six ? 62 : 42));
	p->exits[p->n_exits++] = p->n;
	xdp_emit(p, INSN(BPF_JMP | BPF_JGT | BPF_X, BPF_REG_4, BPF_REG_3, 0, 0));
	xdp_expect(p, BPF_H, 12, 0, htons(six ? 0x86dd : 0x0800));
	if (six) {
		xdp_expect(p, BPF_B, 20, 0, IPPROTO_UDP);
		xdp_expect(p, BPF_H, 56, 0, htons((uint16_t)port));
	} else {
		xdp_expect(p, BPF_B, 14, 0, 0x45);
		xdp_expect(p, BPF_H, 20, htons(0x3fff), 0); /* no fragment */
		xdp_expect(p, BPF_B, 23, 0, IPPROTO_UDP);
		xdp_expect(p, BPF_H, 36, 0, htons((uint16_t)port));
	}
	/* return bpf_redirect_map(sockets, ctx->rx_queue_index, XDP_PASS) */
	xdp_emit(p, INSN(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1, 16, 0));
	xdp_emit(p, INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, sockets_fd));
	xdp_emit(p, INSN(0, 0, 0, 0, 0));
	xdp_emit(p, INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, XDP_PASS));
	xdp_emit(p, INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map));
	xdp_emit(p, INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
	for (int i = 0; i < p->n_exits; i++)
		p->insns[p->exits[i]].off = (int16_t)(p->n - p->exits[i] - 1);
	xdp_emit(p, INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, XDP_PASS));
	xdp_emit(p, INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
}

static int xdp_bpf(int command, union bpf_attr *attr, const char *what, struct err *err)
{
	int r = (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
	if (r >= 0)
		return r;
	if (errno == EPERM || errno == EACCES)
		return err_unsupported(err,
				       "io afxdp: only root may take packets before the "
				       "kernel's stack (%s)",
				       what);
	return err_sys(err, errno, "io afxdp: %s", what);
}

static int xdp_load(struct xdp *x, int port, struct err *err)
{
	union bpf_attr map = {
	    .map_type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4, .max_entries = 64};
	x->sockets_fd = xdp_bpf(BPF_MAP_CREATE, &map, "making the map of sockets", err);
	if (x->sockets_fd < 0)
		return x->sockets_fd;
	struct xdp_program p;
	xdp_write(&p, x->family, port, x->sockets_fd);
	union bpf_attr load = {.prog_type = BPF_PROG_TYPE_XDP,
			       .insns = (uint64_t)(uintptr_t)p.insns,
			       .insn_cnt = (uint32_t)p.n,
			       .license = (uint64_t)(uintptr_t) "GPL",
			       .expected_attach_type = BPF_XDP};
	x->program_fd = xdp_bpf(BPF_PROG_LOAD, &load, "loading the filter", err);
	return x->program_fd < 0 ? x->program_fd : 0;
}

static int xdp_map(struct xdp *x, struct xdp_ring *r, const struct xdp_ring_offset *at,
		   size_t entry, off_t place)
{
	r->map_size = at->desc + XDP_FRAMES * entry;
	r->map = mmap(NULL, r->map_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, x->fd,
		      place);
	if (r->map == MAP_FAILED) {
		r->map = NULL;
		return -errno;
	}
	r->producer = (uint32_t *)((char *)r->map + at->producer);
	r->consumer = (uint32_t *)((char *)r->map + at->consumer);
	r->entries = (char *)r->map + at->desc;
	return 0;
}

static int xdp_rings(struct xdp *x)
{
	static const int names[] = {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING};
	struct xdp_umem_reg memory = {.addr = (uint64_t)(uintptr_t)x->frames,
				      .len = (uint64_t)XDP_FRAMES * XDP_FRAME,
				      .chunk_size = XDP_FRAME};
	struct xdp_mmap_offsets at;
	if (setsockopt(x->fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory)))
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (setsockopt(x->fd, SOL_XDP, names[i], &(int){XDP_FRAMES}, sizeof(int)))
			return -errno;
	if (getsockopt(x->fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &(socklen_t){sizeof(at)}))
		return -errno;
	int r = xdp_map(x, &x->fill, &at.fr, sizeof(uint64_t), XDP_UMEM_PGOFF_FILL_RING);
	if (!r)
		r = xdp_map(x, &x->completion, &at.cr, sizeof(uint64_t),
			    XDP_UMEM_PGOFF_COMPLETION_RING);
	return r ? r : xdp_map(x, &x->received, &at.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING);
}

static int xdp_socket(struct xdp *x, int device, struct err *err)
{
	x->frames = mmap(NULL, (size_t)XDP_FRAMES * XDP_FRAME, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (x->frames == MAP_FAILED) {
		x->frames = NULL;
		return err_sys(err, errno, "io afxdp: memory for frames");
	}
	x->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	int r = x->fd < 0 ? -errno : xdp_rings(x);
	if (r == -EPERM || r == -EAFNOSUPPORT)
		return err_unsupported(err, "io afxdp: this %s",
				       r == -EPERM ? "user may not open such a socket"
						   : "kernel has none");
	if (r)
		return err_sys(err, -r, "io afxdp: preparing the socket");
	for (uint32_t i = 0; i < XDP_FRAMES; i++)
		((uint64_t *)x->fill.entries)[i] = (uint64_t)i * XDP_FRAME;
	__atomic_store_n(x->fill.producer, XDP_FRAMES, __ATOMIC_RELEASE);
	struct sockaddr_xdp to = {
	    .sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY, .sxdp_ifindex = (uint32_t)device};
	if (bind(x->fd, (struct sockaddr *)&to, sizeof(to)))
		return err_sys(err, errno, "io afxdp: binding to device %d", device);
	return 0;
}

/* In the driver where it can, else on the way from there to the stack. */
static int xdp_attach(struct xdp *x, int device, struct err *err)
{
	union bpf_attr entry = {.map_fd = (uint32_t)x->sockets_fd,
				.key = (uint64_t)(uintptr_t) & (uint32_t){0},
				.value = (uint64_t)(uintptr_t)&x->fd};
	int r = xdp_bpf(BPF_MAP_UPDATE_ELEM, &entry, "naming the socket", err);
	if (r < 0)
		return r;
	union bpf_attr link = {.link_create = {.prog_fd = (uint32_t)x->program_fd,
					       .target_ifindex = (uint32_t)device,
					       .attach_type = BPF_XDP,
					       .flags = XDP_FLAGS_SKB_MODE}};
	x->link_fd = xdp_bpf(BPF_LINK_CREATE, &link, "attaching the filter to the device", err);
	return x->link_fd < 0 ? x->link_fd : 0;
}

int xdp_open(struct xdp *x, int device, int family, int port, struct err *err)
{
	*x = (struct xdp){
	    .fd = -1, .program_fd = -1, .link_fd = -1, .sockets_fd = -1, .family = family};
	int r = xdp_load(x, port, err);
	if (!r)
		r = xdp_socket(x, device, err);
	if (!r)
		r = xdp_attach(x, device, err);
	if (r)
		xdp_close(x);
	return r;
}

static void xdp_unmap(struct xdp_ring *r)
{
	if (r->map)
		munmap(r->map, r->map_size);
	r->map = NULL;
}

void xdp_close(struct xdp *x)
{
	int *fds[] = {&x->link_fd, &x->program_fd, &x->sockets_fd, &x->fd};
	xdp_unmap(&x->fill);
	xdp_unmap(&x->completion);
	xdp_unmap(&x->received);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	if (x->frames)
		munmap(x->frames, (size_t)XDP_FRAMES * XDP_FRAME);
	x->frames = NULL;
}

/* The filter has seen that the headers are there; what UDP says of its length has to fit. */
static struct xdp_payload xdp_payload_of(const struct xdp *x, const struct xdp_desc *d)
{
	size_t udp = x->family == AF_INET6 ? 54 : 34;
	const char *frame = x->frames + d->addr;
	uint16_t length;
	memcpy(&length, frame + udp + 4, sizeof(length));
	length = ntohs(length);
	if (length < 8 || udp + length > d->len)
		return (struct xdp_payload){frame, 0};
	return (struct xdp_payload){frame + udp + 8, length - 8U};
}

int xdp_take(struct xdp *x, struct xdp_payload *out, int max)
{
	const struct xdp_desc *descs = x->received.entries;
	uint32_t from = *x->received.consumer;
	uint32_t there = __atomic_load_n(x->received.producer, __ATOMIC_ACQUIRE) - from;
	int n = there < (uint32_t)max ? (int)there : max;
	for (int i = 0; i < n; i++)
		out[i] = xdp_payload_of(x, &descs[(from + (uint32_t)i) % XDP_FRAMES]);
	return n;
}

void xdp_give_back(struct xdp *x, int n)
{
	const struct xdp_desc *descs = x->received.entries;
	uint64_t *fill = x->fill.entries;
	uint32_t from = *x->received.consumer, to = *x->fill.producer;
	for (uint32_t i = 0; i < (uint32_t)n; i++)
		fill[(to + i) % XDP_FRAMES] =
		    descs[(from + i) % XDP_FRAMES].addr & ~(uint64_t)(XDP_FRAME - 1);
	__atomic_store_n(x->fill.producer, to + (uint32_t)n, __ATOMIC_RELEASE);
	__atomic_store_n(x->received.consumer, from + (uint32_t)n, __ATOMIC_RELEASE);
}

int64_t xdp_drops(const struct xdp *x)
{
	struct xdp_statistics s = {0};
	if (getsockopt(x->fd, SOL_XDP, XDP_STATISTICS, &s, &(socklen_t){sizeof(s)}))
		return 0;
	return (int64_t)(s.rx_dropped + s.rx_ring_full);
}
