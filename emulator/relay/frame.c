/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame: reads the headers of a frame; corrupts it. Called by lane.c. */
#include "emulator/relay/frame.h"

#include <linux/if_ether.h>

#define MAC_BYTES 12
#define TAG_BYTES 4
#define IP4_MIN	  20
#define IP6_BYTES 40

static unsigned word(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static void read_ip4(const uint8_t *p, size_t len, struct frame *f)
{
	size_t header = (size_t)(p[0] & 15) * 4;

	if (p[0] >> 4 != 4 || header < IP4_MIN || header > len)
		return;
	f->payload = f->l3 + header;
	f->ip_bytes = word(p + 2);
}

static void read_ip6(const uint8_t *p, size_t len, struct frame *f)
{
	if (len < IP6_BYTES || p[0] >> 4 != 6)
		return;
	f->payload = f->l3 + IP6_BYTES;
	f->ip_bytes = IP6_BYTES + word(p + 4);
}

void frame_read(const uint8_t *data, size_t len, struct frame *out)
{
	struct frame f = {.l3 = MAC_BYTES + 2};
	unsigned type = len >= f.l3 ? word(data + MAC_BYTES) : 0;

	while ((type == ETH_P_8021Q || type == ETH_P_8021AD) && len >= f.l3 + TAG_BYTES) {
		type = word(data + f.l3 + 2);
		f.l3 += TAG_BYTES;
	}
	if (f.l3 > len)
		f.l3 = len;
	f.payload = f.l3;
	f.l3_bytes = len - f.l3;
	if (type == ETH_P_IP && f.l3_bytes >= IP4_MIN)
		read_ip4(data + f.l3, f.l3_bytes, &f);
	else if (type == ETH_P_IPV6)
		read_ip6(data + f.l3, f.l3_bytes, &f);
	*out = f;
}

void frame_finish_checksum(uint8_t *data, size_t len, size_t start, size_t offset)
{
	uint64_t sum = 0;
	unsigned folded;

	if (start > len || offset > len - start || len - start - offset < 2)
		return;
	for (size_t i = start; i < len; i++)
		sum += (i - start) % 2 ? data[i] : (unsigned)data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	folded = ~(unsigned)sum & 0xffff;
	if (!folded) /* 0 would mean "none" in UDP, and both are zero in ones' complement */
		folded = 0xffff;
	data[start + offset] = (uint8_t)(folded >> 8);
	data[start + offset + 1] = (uint8_t)folded;
}

void frame_flip(uint8_t *data, size_t len, uint64_t bit)
{
	struct frame f;
	size_t from;

	frame_read(data, len, &f);
	from = f.payload < len ? f.payload : f.l3;
	if (from >= len)
		return;
	bit %= (uint64_t)(len - from) * 8;
	data[from + bit / 8] ^= (uint8_t)(1 << bit % 8);
}
