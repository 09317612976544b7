/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr: IPv4, IPv6 and MAC addresses and prefixes; parse, print, compare, count on. */
#ifndef VPCLAB_BASE_ADDR_H
#define VPCLAB_BASE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define ADDR_TEXT 64 /* enough for any address or prefix printed here */
#define ADDR_ZONE 16 /* of a device's name, IFNAMSIZ */

struct ip {
	int family;	   /* AF_INET, AF_INET6, or 0: no address */
	uint8_t bytes[16]; /* network order; IPv4 uses the first four */
};

struct ip_zone { /* RFC 4007: a link-local address is one of several by the device behind which it
		    is */
	struct ip ip;
	char zone[ADDR_ZONE]; /* a device of whoever uses the address; "": none was named */
};

struct prefix { /* an address with a prefix length: of an interface, or of a network */
	struct ip ip;
	int len;
};

struct mac {
	uint8_t bytes[6];
};

int ip_parse(const char *s, struct ip *ip, struct err *err);
/* "fe80::1%eth0" too; only a link-local address has a zone. */
int ip_zone_parse(const char *s, struct ip_zone *out, struct err *err);
bool ip_is_link_local(const struct ip *ip);			    /* IPv6's, fe80::/10 */
int prefix_parse(const char *s, struct prefix *p, struct err *err); /* the length is required */
int mac_parse(const char *s, struct mac *mac, struct err *err);
const char *ip_format(char buf[static ADDR_TEXT], const struct ip *ip);
const char *prefix_format(char buf[static ADDR_TEXT], const struct prefix *p);
const char *mac_format(char buf[static ADDR_TEXT], const struct mac *mac);

bool ip_equal(const struct ip *a, const struct ip *b);
bool mac_equal(const struct mac *a, const struct mac *b);
size_t ip_size(const struct ip *ip);		      /* 4, 16 or 0 */
struct prefix prefix_network(const struct prefix *p); /* host bits cleared */
bool prefix_contains(const struct prefix *p, const struct ip *ip);
bool prefix_same_network(const struct prefix *a, const struct prefix *b); /* host bits aside */
bool prefix_overlaps(const struct prefix *a, const struct prefix *b);

/* The n-th address of the network (0 = network address). -ERANGE when it is not inside. */
int prefix_nth(const struct prefix *p, uint64_t n, struct ip *ip);

/* A locally administered unicast MAC (02:…) that depends only on the text: same text, same MAC. */
struct mac mac_from_text(const char *text);

#endif
