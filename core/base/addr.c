/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * addr: addresses as values. It resolves no names and asks no kernel; the model, the plan and the
 * kernel layer call it.
 */
#include "core/base/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"

static bool ip_read(const char *s, struct ip *ip)
{
	struct ip new = {.family = strchr(s, ':') ? AF_INET6 : AF_INET};

	/* inet_pton() takes exactly four decimal parts without leading zeros, and no zone. */
	if (inet_pton(new.family, s, new.bytes) != 1)
		return false;
	*ip = new;
	return true;
}

int ip_parse(const char *s, struct ip *ip, struct err *err)
{
	if (!ip_read(s, ip))
		return err_input(err, "'%s' is not an IPv4 or IPv6 address", s);
	return 0;
}

bool ip_is_link_local(const struct ip *ip)
{
	return ip->family == AF_INET6 && ip->bytes[0] == 0xfe && (ip->bytes[1] & 0xc0) == 0x80;
}

int ip_zone_parse(const char *s, struct ip_zone *out, struct err *err)
{
	size_t len = strcspn(s, "%");
	struct ip_zone new = {0};
	char text[ADDR_TEXT];

	if (len >= sizeof(text))
		return err_input(err, "'%s' is not an IPv4 or IPv6 address", s);
	memcpy(text, s, len);
	text[len] = '\0';
	int r = ip_parse(text, &new.ip, err);
	if (!r && s[len]) {
		const char *zone = s + len + 1;

		if (!ip_is_link_local(&new.ip))
			return err_input(err,
					 "'%s': only a link-local address (fe80::/10) has a "
					 "zone",
					 s);
		if (!*zone || strlen(zone) >= sizeof(new.zone) || strpbrk(zone, "/% \t\n"))
			return err_input(err,
					 "'%s': the zone must be a device's name, as in "
					 "fe80::1%%eth0",
					 s);
		strcpy(new.zone, zone);
	}
	if (!r)
		*out = new;
	return r;
}

/* "0" … "128": digits alone, no sign, no leading zero. -1 when it is none. */
static int read_length(const char *s)
{
	size_t n = strspn(s, "0123456789");

	if (n < 1 || n > 3 || s[n] || (s[0] == '0' && n > 1))
		return -1;
	return atoi(s);
}

int prefix_parse(const char *s, struct prefix *p, struct err *err)
{
	const char *slash = strchr(s, '/');
	char text[ADDR_TEXT];
	struct prefix new;

	if (!slash) {
		if (!ip_read(s, &new.ip))
			return err_input(err, "'%s' is not an address with a prefix length", s);
		return err_input(err, "'%s' has no prefix length; write it like %s/%d", s, s,
				 new.ip.family == AF_INET ? 24 : 64);
	}
	if ((size_t)(slash - s) >= sizeof(text))
		return err_input(err, "'%s' is not an address with a prefix length", s);
	memcpy(text, s, (size_t)(slash - s));
	text[slash - s] = '\0';
	if (!ip_read(text, &new.ip))
		return err_input(err, "'%s' is not an IPv4 or IPv6 address", text);
	new.len = read_length(slash + 1);
	if (new.len < 0 || (size_t) new.len > 8 * ip_size(&new.ip))
		return err_input(err, "'%s': the prefix length must be 0 to %zu", s,
				 8 * ip_size(&new.ip));
	*p = new;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int mac_parse(const char *s, struct mac *mac, struct err *err)
{
	struct mac new;

	if (strlen(s) != 17)
		goto bad;
	for (int i = 0; i < 6; i++) {
		int high = hex_digit(s[3 * i]), low = hex_digit(s[3 * i + 1]);

		if (high < 0 || low < 0 || (i < 5 && s[3 * i + 2] != ':'))
			goto bad;
		new.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*mac = new;
	return 0;
bad:
	return err_input(err, "'%s' is not a MAC address; write it like 02:00:00:00:00:01", s);
}

const char *ip_format(char buf[static ADDR_TEXT], const struct ip *ip)
{
	if (!ip->family || !inet_ntop(ip->family, ip->bytes, buf, ADDR_TEXT))
		snprintf(buf, ADDR_TEXT, "none");
	return buf;
}

const char *prefix_format(char buf[static ADDR_TEXT], const struct prefix *p)
{
	size_t len;

	ip_format(buf, &p->ip);
	len = strlen(buf);
	snprintf(buf + len, ADDR_TEXT - len, "/%d", p->len);
	return buf;
}

const char *mac_format(char buf[static ADDR_TEXT], const struct mac *mac)
{
	const uint8_t *b = mac->bytes;

	snprintf(buf, ADDR_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4],
		 b[5]);
	return buf;
}

bool ip_equal(const struct ip *a, const struct ip *b)
{
	return a->family == b->family && !memcmp(a->bytes, b->bytes, ip_size(a));
}

bool mac_equal(const struct mac *a, const struct mac *b)
{
	return !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

size_t ip_size(const struct ip *ip)
{
	switch (ip->family) {
	case AF_INET:
		return 4;
	case AF_INET6:
		return 16;
	default:
		return 0;
	}
}

struct prefix prefix_network(const struct prefix *p)
{
	struct prefix net = *p;
	size_t size = ip_size(&p->ip);

	for (size_t i = 0; i < size; i++) {
		int keep = p->len - (int)(8 * i); /* bits of this byte that belong to the network */

		if (keep <= 0)
			net.ip.bytes[i] = 0;
		else if (keep < 8)
			net.ip.bytes[i] &= (uint8_t)(0xff << (8 - keep));
	}
	return net;
}

bool prefix_contains(const struct prefix *p, const struct ip *ip)
{
	struct prefix of_ip = {.ip = *ip, .len = p->len}, net = prefix_network(p);

	of_ip = prefix_network(&of_ip);
	return ip_size(ip) && ip_equal(&net.ip, &of_ip.ip);
}

bool prefix_same_network(const struct prefix *a, const struct prefix *b)
{
	return a->len == b->len && prefix_contains(a, &b->ip);
}

bool prefix_overlaps(const struct prefix *a, const struct prefix *b)
{
	return a->len <= b->len ? prefix_contains(a, &b->ip) : prefix_contains(b, &a->ip);
}

int prefix_nth(const struct prefix *p, uint64_t n, struct ip *ip)
{
	struct prefix net = prefix_network(p);
	int host_bits = (int)(8 * ip_size(&p->ip)) - p->len;

	if (!ip_size(&p->ip) || (host_bits < 64 && n >> host_bits))
		return -ERANGE;
	/* Host bits are zero in the network, so adding is setting them: no carry. */
	for (size_t i = ip_size(&p->ip); i-- > 0 && n; n >>= 8)
		net.ip.bytes[i] |= (uint8_t)n;
	*ip = net.ip;
	return 0;
}

struct mac mac_from_text(const char *text)
{
	struct mac mac = {.bytes = {0x02}};
	uint64_t h = hash_fnv(text, strlen(text), 0);

	h ^= h >> 32; /* short texts differ in the high bits too little */
	h *= UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 1; i < 6; i++)
		mac.bytes[i] = (uint8_t)(h >> (8 * (i + 2)));
	return mac;
}
