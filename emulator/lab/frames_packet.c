/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames_packet: writes and recognises the probe's frames. The payload follows from the frame's
 * number and port, so that a changed bit anywhere shows. Called by frames_inside.c.
 */
#include "emulator/lab/frames_packet.h"

#include <arpa/inet.h>
#include <string.h>

enum {
	IP = FRAMES_ETHERNET,
	UDP = IP + 20,
	SEQ = UDP + 8,
	DISCARD = 9, /* port, RFC 863 */
	FIRST = 20,  /* last byte of the addresses of stream 0 */
	TTL = 8,
};

/* To the group that bridges keep, from a locally administered address; IPv4. */
static const unsigned char ethernet[FRAMES_ETHERNET] = {
    0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x02, 0x76, 0x70, 0x63, 0, 0x01, 0x08, 0x00,
};
static const unsigned char network[3] = {203, 0, 113};

static void put16(unsigned char *at, unsigned v)
{
	at[0] = (unsigned char)(v >> 8);
	at[1] = (unsigned char)v;
}

static unsigned get16(const unsigned char *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static void put32(unsigned char *at, uint32_t v)
{
	put16(at, v >> 16);
	put16(at + 2, v & 0xffff);
}

static uint32_t get32(const unsigned char *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

/* RFC 1071, over the 20 bytes of the header. */
static unsigned header_checksum(const unsigned char *ip)
{
	unsigned sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += get16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16)) & 0xffff;
}

void frames_packet_write(unsigned char *frame, int ip_bytes, const struct frames_id *id, bool whole)
{
	unsigned char *ip = frame + IP;
	uint32_t x = id->seq * 2654435761u + id->source * 40503u; /* differs from its neighbours */

	memcpy(frame, ethernet, sizeof(ethernet));
	memset(ip, 0, SEQ - IP);
	ip[0] = 0x45;
	put16(ip + 2, (unsigned)ip_bytes);
	put16(ip + 4, id->run);
	put16(ip + 6, 0x4000); /* do not fragment */
	ip[8] = TTL;
	ip[9] = 17; /* UDP */
	memcpy(ip + 12, network, sizeof(network));
	ip[15] = (unsigned char)(FIRST + 2 * id->stream);
	memcpy(ip + 16, network, sizeof(network));
	ip[19] = (unsigned char)(FIRST + 1 + 2 * id->stream);
	put16(ip + 10, header_checksum(ip));
	put16(frame + UDP, id->source);
	put16(frame + UDP + 2, DISCARD);
	put16(frame + UDP + 4, (unsigned)ip_bytes - 20); /* its checksum stays 0: none, RFC 768 */
	put32(frame + SEQ, id->seq);
	for (int i = SEQ + 4; whole && i < FRAMES_ETHERNET + ip_bytes; i++) {
		x = x * 1664525u + 1013904223u; /* Numerical Recipes' generator */
		frame[i] = (unsigned char)(x >> 24);
	}
}

bool frames_packet_read(const unsigned char *frame, size_t len, struct frames_id *id)
{
	const unsigned char *ip = frame + IP;

	if (len < FRAMES_HEADERS || memcmp(frame, ethernet, sizeof(ethernet)) != 0 ||
	    memcmp(ip + 12, network, sizeof(network)) != 0 ||
	    memcmp(ip + 16, network, sizeof(network)) != 0 || get16(frame + UDP + 2) != DISCARD ||
	    get16(ip + 4) != id->run || ip[15] != FIRST + 2 * id->stream ||
	    ip[19] != FIRST + 1 + 2 * id->stream)
		return false;
	id->source = (uint16_t)get16(frame + UDP);
	id->seq = get32(frame + SEQ);
	return true;
}

bool frames_packet_intact(const unsigned char *frame, size_t len, const struct frames_id *id)
{
	unsigned char should[FRAMES_ETHERNET + 65536];

	if (len < FRAMES_HEADERS || len > sizeof(should))
		return false;
	frames_packet_write(should, (int)len - FRAMES_ETHERNET, id, true);
	return memcmp(frame, should, len) == 0;
}
