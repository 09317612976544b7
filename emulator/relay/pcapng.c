/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pcapng: a fate log as a capture file: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng
 * (section header, interface description and enhanced packet blocks, in the byte order of the
 * machine). Called by cli through fatelog.h.
 */
#include <string.h>

#include "emulator/relay/fatelog.h"

enum { BLOCK_SECTION = 0x0a0d0d0a, BLOCK_INTERFACE = 1, BLOCK_PACKET = 6 };
enum { OPT_END = 0, OPT_COMMENT = 1, OPT_IF_NAME = 2, OPT_IF_TSRESOL = 9, OPT_USERAPPL = 4 };

#define MAGIC	       0x1a2b3c4d
#define LINK_ETHERNET  1 /* LINKTYPE_ETHERNET */
#define RESOLUTION     9 /* of time stamps: 10^-9 s */
#define LENGTH_UNKNOWN UINT64_MAX
#define PADDED(n)      (((n) + 3) / 4 * 4)

static void add16(struct strbuf *b, unsigned v)
{
	uint16_t n = (uint16_t)v;

	strbuf_addn(b, (const char *)&n, sizeof(n));
}

static void add32(struct strbuf *b, uint32_t v)
{
	strbuf_addn(b, (const char *)&v, sizeof(v));
}

static void add_padded(struct strbuf *b, const void *data, size_t len)
{
	static const char zeros[4];

	strbuf_addn(b, data, len);
	strbuf_addn(b, zeros, PADDED(len) - len);
}

static void add_option(struct strbuf *b, unsigned code, const void *data, size_t len)
{
	add16(b, code);
	add16(b, (unsigned)len);
	add_padded(b, data, len);
}

static void add_block(struct strbuf *out, uint32_t type, const struct strbuf *body)
{
	uint32_t total = (uint32_t)body->len + 12;

	add32(out, type);
	add32(out, total);
	strbuf_addn(out, body->s, body->len);
	add32(out, total);
}

static void add_section(struct strbuf *out)
{
	static const char program[] = "vpclab " VPCLAB_VERSION;
	const uint64_t unknown = LENGTH_UNKNOWN;
	struct strbuf b = {0};

	add32(&b, MAGIC);
	add16(&b, 1); /* version 1.0 */
	add16(&b, 0);
	strbuf_addn(&b, (const char *)&unknown, sizeof(unknown));
	add_option(&b, OPT_USERAPPL, program, strlen(program));
	add_option(&b, OPT_END, "", 0);
	add_block(out, BLOCK_SECTION, &b);
	strbuf_done(&b);
}

static void add_interface(struct strbuf *out, const struct fatelog_head *h, int d)
{
	const uint8_t resolution = RESOLUTION;
	struct strbuf b = {0}, name = {0};

	strbuf_addf(&name, "%s %s", h->link, d == RELAY_AB ? "a to b" : "b to a");
	add16(&b, LINK_ETHERNET);
	add16(&b, 0);
	add32(&b, FATELOG_BYTES);
	add_option(&b, OPT_IF_NAME, name.s, name.len);
	add_option(&b, OPT_IF_TSRESOL, &resolution, 1);
	add_option(&b, OPT_END, "", 0);
	add_block(out, BLOCK_INTERFACE, &b);
	strbuf_done(&b);
	strbuf_done(&name);
}

/* `b` and `words` are emptied and used again: there may be hundreds of thousands of packets. */
static void add_packet(struct strbuf *out, const struct fatelog_record *r, uint64_t when, int d,
		       struct strbuf scratch[2])
{
	struct strbuf *b = &scratch[0], *words = &scratch[1];

	b->len = words->len = 0;
	fatelog_words(r, words);
	add32(b, (uint32_t)d);
	add32(b, (uint32_t)(when >> 32));
	add32(b, (uint32_t)when);
	add32(b, r->kept);
	add32(b, r->len);
	add_padded(b, r->data, r->kept);
	add_option(b, OPT_COMMENT, words->s, words->len);
	add_option(b, OPT_END, "", 0);
	add_block(out, BLOCK_PACKET, b);
}

void fatelog_pcapng(const struct fatelog_view *v, struct strbuf *out)
{
	struct strbuf scratch[2] = {{0}, {0}};
	size_t at[RELAY_DIRECTIONS] = {0};
	const struct fatelog_record *r;
	int d;

	add_section(out);
	for (d = 0; d < RELAY_DIRECTIONS; d++)
		add_interface(out, v->head, d);
	while ((r = fatelog_next(v, at, &d)))
		add_packet(out, r, (uint64_t)(r->arrival_ns + v->head->wall_ns), d, scratch);
	strbuf_done(&scratch[0]);
	strbuf_done(&scratch[1]);
}
