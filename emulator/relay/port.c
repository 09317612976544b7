/* SPDX-License-Identifier: GPL-2.0-or-later */
/* port: packet sockets with a ring in and batches out. Decides nothing. Called by lane.c. */
#include "emulator/relay/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/units.h"

#define BLOCK_BYTES   65536
#define SLOT_HEAD     (TPACKET2_HDRLEN + 64) /* TPACKET2 header, virtio header, alignment */
#define TAG_BYTES     4
#define SEND_BYTES    (64 << 20)
#define SKEW_NS	      (50 * NSEC_PER_USEC) /* a frame is stamped before it stands in the ring */
#define WALL_TRIES    4
#define WALL_SLACK_NS 500

_Static_assert(sizeof(struct virtio_net_hdr) == PORT_VNET_BYTES, "no padding in between");

static int device_index(int fd, const char *dev, struct ifreq *r, struct err *err)
{
	*r = (struct ifreq){0};
	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", dev);
	if (strlen(dev) >= sizeof(r->ifr_name) || ioctl(fd, SIOCGIFINDEX, r) < 0)
		return err_fail(err, ENODEV, "there is no device '%s' here", dev);
	return r->ifr_ifindex;
}

static int set_int(int fd, int name, int value)
{
	return setsockopt(fd, SOL_PACKET, name, &value, sizeof(value));
}

static int make_ring(struct port_in *p, int mtu, size_t bytes, const char *dev, struct err *err)
{
	struct tpacket_req req;

	p->slot_bytes = TPACKET_ALIGN(SLOT_HEAD + ETH_HLEN + TAG_BYTES + (size_t)mtu);
	for (p->block_bytes = BLOCK_BYTES; p->block_bytes < p->slot_bytes;)
		p->block_bytes *= 2;
	p->slots_a_block = p->block_bytes / p->slot_bytes;
	req.tp_block_size = (unsigned)p->block_bytes;
	req.tp_block_nr = (unsigned)((bytes + p->block_bytes - 1) / p->block_bytes);
	req.tp_frame_size = (unsigned)p->slot_bytes;
	req.tp_frame_nr = req.tp_block_nr * (unsigned)p->slots_a_block;
	p->slots = req.tp_frame_nr;
	p->ring_bytes = p->block_bytes * req.tp_block_nr;
	if (setsockopt(p->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) < 0)
		return err_sys(err, errno, "device '%s': no ring of %zu bytes", dev, p->ring_bytes);
	p->ring =
	    mmap(NULL, p->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, p->fd, 0);
	if (p->ring == MAP_FAILED) {
		p->ring = NULL;
		return err_sys(err, errno, "device '%s': cannot map its ring", dev);
	}
	return 0;
}

static int set_up_in(struct port_in *p, const char *dev, size_t bytes, struct err *err)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	struct ifreq r;
	int rc = device_index(p->fd, dev, &r, err);

	if (rc < 0)
		return rc;
	p->ifindex = at.sll_ifindex = rc;
	if (ioctl(p->fd, SIOCGIFMTU, &r) < 0)
		return err_sys(err, errno, "device '%s': cannot read its MTU", dev);
	if (set_int(p->fd, PACKET_VERSION, TPACKET_V2) < 0 ||
	    set_int(p->fd, PACKET_VNET_HDR, 1) < 0 || set_int(p->fd, PACKET_IGNORE_OUTGOING, 1) < 0)
		return err_sys(err, errno, "device '%s': its packet socket lacks an option", dev);
	rc = make_ring(p, r.ifr_mtu, bytes, dev, err);
	if (!rc && bind(p->fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		rc = err_sys(err, errno, "device '%s': cannot take its packets", dev);
	return rc;
}

/* Protocol 0: nothing comes before bind(), when all is set up. */
static int packet_socket(struct err *err)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? err_sys(err, errno, "cannot make a packet socket") : fd;
}

int port_in_open(struct port_in *p, const char *dev, size_t ring_bytes, struct err *err)
{
	int rc;

	*p = (struct port_in){.fd = packet_socket(err)};
	if (p->fd < 0)
		return p->fd;
	p->empty_ns = clock_now_ns();
	rc = set_up_in(p, dev, ring_bytes, err);
	if (rc)
		port_in_close(p);
	return rc;
}

void port_in_close(struct port_in *p)
{
	if (p->ring)
		munmap(p->ring, p->ring_bytes);
	if (p->fd >= 0)
		close(p->fd);
	*p = (struct port_in){.fd = -1};
}

static struct tpacket2_hdr *slot(const struct port_in *p)
{
	size_t block = p->at / p->slots_a_block, in_block = p->at % p->slots_a_block;

	return (struct tpacket2_hdr *)(void *)(p->ring + block * p->block_bytes +
					       in_block * p->slot_bytes);
}

static int64_t arrival(struct port_in *p, const struct tpacket2_hdr *h, int64_t now_ns,
		       int64_t wall_ns)
{
	int64_t at = (int64_t)h->tp_sec * NSEC_PER_SEC + h->tp_nsec - wall_ns;

	if (at < p->empty_ns - SKEW_NS)
		at = p->empty_ns;
	/* It may have come since `now`: then `now` would be too early, and so would be the packet.
	 */
	if (at > now_ns)
		now_ns = clock_now_ns();
	return at > now_ns ? now_ns : at;
}

bool port_in_next(struct port_in *p, int64_t now_ns, int64_t wall_ns, struct port_frame *out)
{
	struct tpacket2_hdr *h = slot(p);
	uint32_t status = __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE);
	const uint8_t *base = (const uint8_t *)h;

	if (!(status & TP_STATUS_USER)) {
		p->empty_ns = now_ns;
		return false;
	}
	*out = (struct port_frame){
	    .data = base + h->tp_mac,
	    .len = h->tp_snaplen,
	    .full_len = h->tp_len,
	    .arrival_ns = arrival(p, h, now_ns, wall_ns),
	    .tagged = status & TP_STATUS_VLAN_VALID,
	    .tpid = status & TP_STATUS_VLAN_TPID_VALID ? h->tp_vlan_tpid : ETH_P_8021Q,
	    .tci = h->tp_vlan_tci,
	};
	memcpy(&out->vnet, out->data - PORT_VNET_BYTES, PORT_VNET_BYTES);
	p->empty_ns = out->arrival_ns;
	return true;
}

void port_in_done(struct port_in *p)
{
	__atomic_store_n(&slot(p)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	if (++p->at == p->slots)
		p->at = 0;
}

void port_in_count(struct port_in *p)
{
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);

	if (getsockopt(p->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) == 0)
		p->overrun += stats.tp_drops; /* reading it sets it to 0 */
}

int port_in_state(struct port_in *p)
{
	struct sockaddr_ll at = {0};
	struct ifreq r = {.ifr_ifindex = p->ifindex};
	socklen_t len = sizeof(at);
	int code;

	getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &code, &(socklen_t){sizeof(code)});
	if (getsockname(p->fd, (struct sockaddr *)&at, &len) < 0 || at.sll_ifindex != p->ifindex ||
	    ioctl(p->fd, SIOCGIFNAME, &r) < 0 || ioctl(p->fd, SIOCGIFFLAGS, &r) < 0)
		return -ENODEV;
	return r.ifr_flags & IFF_UP ? 1 : 0;
}

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

/* The monotonic clock is read after the other, so the difference is never too large and no arrival
 * seems earlier than it was; an interruption in between is tried again. */
int64_t port_wall_ns(void)
{
	int64_t wall = 0, after = 0;

	for (int i = 0; i < WALL_TRIES; i++) {
		int64_t before = clock_now_ns();

		wall = read_clock(CLOCK_REALTIME);
		after = clock_now_ns();
		if (after - before <= WALL_SLACK_NS)
			break;
	}
	return wall - after;
}

static int add_out(struct port_out *p, struct err *err)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = p->ifindex};
	const int bytes = SEND_BYTES;
	int fd = packet_socket(err);

	if (fd < 0)
		return fd;
	if (set_int(fd, PACKET_QDISC_BYPASS, 1) < 0 || set_int(fd, PACKET_VNET_HDR, 1) < 0 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		err_sys(err, errno, "cannot send by a packet socket");
		close(fd);
		return -err->code;
	}
	/* Only root may go beyond net.core.wmem_max. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	p->fds[p->n++] = fd;
	return 0;
}

int port_out_open(struct port_out *p, const char *dev, struct err *err)
{
	struct ifreq r;
	int fd = packet_socket(err), rc;

	*p = (struct port_out){0};
	if (fd < 0)
		return fd;
	rc = device_index(fd, dev, &r, err);
	close(fd);
	if (rc < 0)
		return rc;
	p->ifindex = rc;
	rc = add_out(p, err);
	return rc ? err_wrap(err, "device '%s'", dev) : 0;
}

void port_out_close(struct port_out *p)
{
	while (p->n)
		close(p->fds[--p->n]);
}

/* To the next socket, a new one where none is left; false: there is none. */
static bool next_socket(struct port_out *p, int tried)
{
	struct err ignored = ERR_INIT;

	if (tried < p->n) {
		p->at = (p->at + 1) % p->n;
		return true;
	}
	if (p->n == PORT_OUT_MAX || add_out(p, &ignored))
		return false;
	p->at = p->n - 1;
	return true;
}

int port_out_send(struct port_out *p, struct mmsghdr *v, unsigned n)
{
	int tried = 0, sent;

	for (;;) {
		sent = sendmmsg(p->fds[p->at], v, n, MSG_DONTWAIT);
		if (sent >= 0)
			return sent;
		if (errno != EAGAIN)
			return -errno;
		if (!next_socket(p, ++tried))
			return -EAGAIN;
	}
}
