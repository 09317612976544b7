/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fateview: the reader's side of a fate log: records in order, in words, as JSON. Pure. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "core/base/addr.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/relay/fatelog.h"
#include "emulator/relay/frame.h"

int fatelog_open(const void *bytes, size_t len, struct fatelog_view *out, struct err *err)
{
	const struct fatelog_head *h = bytes;
	const struct fatelog_record *r = (const void *)((const char *)bytes + sizeof(*h));
	size_t room;

	if (len < sizeof(*h) || memcmp(h->magic, "VPCLFATE", sizeof(h->magic)) != 0 ||
	    h->record_bytes != sizeof(*r) || h->directions != RELAY_DIRECTIONS ||
	    !memchr(h->link, '\0', sizeof(h->link)))
		return err_fail(err, EPROTO, "that is no fate log of this version");
	room = (len - sizeof(*h)) / sizeof(*r);
	*out = (struct fatelog_view){.head = h};
	for (int d = 0; d < RELAY_DIRECTIONS; d++) {
		if (h->dir[d].n > room)
			return err_fail(err, EPROTO, "the fate log is cut off");
		room -= h->dir[d].n;
		out->records[d] = r;
		r += h->dir[d].n;
	}
	return 0;
}

const struct fatelog_record *fatelog_next(const struct fatelog_view *v, size_t at[RELAY_DIRECTIONS],
					  int *direction)
{
	const struct fatelog_record *first = NULL;

	for (int d = 0; d < RELAY_DIRECTIONS; d++) {
		const struct fatelog_record *r = &v->records[d][at[d]];

		if (at[d] == v->head->dir[d].n || (first && first->arrival_ns <= r->arrival_ns))
			continue;
		first = r;
		*direction = d;
	}
	if (first)
		at[*direction]++;
	return first;
}

const char *fatelog_fate(const struct fatelog_record *r)
{
	if (r->cause)
		return "lost";
	return r->departure_ns ? "passed" : "waits";
}

void fatelog_why(const struct fatelog_record *r, struct strbuf *out)
{
	static const struct {
		enum fatelog_flag flag;
		const char *word;
	} words[] = {
	    {FATELOG_COPY, "copy"},
	    {FATELOG_CORRUPTED, "corrupted"},
	    {FATELOG_REORDERED, "reordered"},
	    {FATELOG_LATE, "late"},
	};
	const char *between = "";

	if (r->cause) {
		strbuf_add(out, r->cause < FATE_CAUSES ? fate_cause_name((enum fate_cause)r->cause)
						       : "?");
		between = ", ";
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!(r->flags & words[i].flag))
			continue;
		strbuf_addf(out, "%s%s", between, words[i].word);
		between = ", ";
	}
}

void fatelog_words(const struct fatelog_record *r, struct strbuf *out)
{
	autostr struct strbuf why = {0};
	char delay[32];

	fatelog_why(r, &why);
	strbuf_addf(out, "#%llu %s", (unsigned long long)r->number, fatelog_fate(r));
	if (!r->cause && r->departure_ns)
		strbuf_addf(
		    out, " after %s",
		    units_format_time(delay, sizeof(delay), r->departure_ns - r->arrival_ns));
	if (why.len)
		strbuf_addf(out, ": %s", strbuf_text(&why));
}

static void add_address(struct strbuf *out, int family, const uint8_t *bytes)
{
	struct ip ip = {.family = family};
	char text[ADDR_TEXT];

	memcpy(ip.bytes, bytes, ip_size(&ip));
	strbuf_add(out, ip_format(text, &ip));
}

static unsigned word(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* Ports of TCP and UDP, where they were kept and are not a later fragment's. */
static void add_ports(struct strbuf *out, const struct fatelog_record *r, size_t at, int protocol)
{
	if ((protocol != IPPROTO_TCP && protocol != IPPROTO_UDP) || at + 4u > r->kept)
		return;
	strbuf_addf(out, " %s %u → %u", protocol == IPPROTO_TCP ? "tcp" : "udp", word(r->data + at),
		    word(r->data + at + 2));
}

void fatelog_packet(const struct fatelog_record *r, struct strbuf *out)
{
	struct frame f;
	const uint8_t *p;

	frame_read(r->data, r->kept, &f);
	p = r->data + f.l3;
	if (f.ip_bytes && p[0] >> 4 == 4) {
		add_address(out, AF_INET, p + 12);
		strbuf_add(out, " → ");
		add_address(out, AF_INET, p + 16);
		if (!(word(p + 6) & 0x1fff))
			add_ports(out, r, f.payload, p[9]);
	} else if (f.ip_bytes) {
		add_address(out, AF_INET6, p + 8);
		strbuf_add(out, " → ");
		add_address(out, AF_INET6, p + 24);
		add_ports(out, r, f.payload, p[6]);
	} else if (f.l3 >= 2) {
		unsigned type = word(p - 2);

		strbuf_addf(out, type == 0x0806 ? "ARP" : "ethertype 0x%04x", type);
	}
}

static json_t *time_or_null(int64_t ns)
{
	return ns ? json_integer(ns) : json_null();
}

json_t *fatelog_json(const struct fatelog_record *r, int direction)
{
	autostr struct strbuf why = {0}, packet = {0};

	fatelog_why(r, &why);
	fatelog_packet(r, &packet);
	return json_pack(
	    "{s:I, s:s, s:I, s:o, s:o, s:I, s:s, s:s, s:b, s:b, s:b, s:b, s:s}", "number",
	    (json_int_t)r->number, "direction", direction == RELAY_AB ? "ab" : "ba", "arrival_ns",
	    (json_int_t)r->arrival_ns, "due_ns", time_or_null(r->due_ns), "departure_ns",
	    time_or_null(r->departure_ns), "frame_bytes", (json_int_t)r->len, "fate",
	    fatelog_fate(r), "why", strbuf_text(&why), "copy", !!(r->flags & FATELOG_COPY),
	    "corrupted", !!(r->flags & FATELOG_CORRUPTED), "reordered",
	    !!(r->flags & FATELOG_REORDERED), "late", !!(r->flags & FATELOG_LATE), "packet",
	    strbuf_text(&packet));
}
