/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft_lex: words of nft's rule language. */
#ifndef VPCLAB_KERNEL_NFT_LEX_H
#define VPCLAB_KERNEL_NFT_LEX_H

#include <stdbool.h>

#include "core/base/err.h"

enum nft_token_kind {
	NFT_WORD,   /* a run of letters, digits and . : / - _ * [ ] & @ */
	NFT_STRING, /* in double quotes; text is without them */
	NFT_PUNCT,  /* one of , ; { } or "!=" "==" ">=" "<=" "<" ">" "=" */
	NFT_END,
};

struct nft_token {
	enum nft_token_kind kind;
	int column; /* of its first byte, 1 is the first */
	char text[128];
};

struct nft_lex {
	const char *text;
	int at;		      /* index of the byte after the current token */
	struct nft_token now; /* current token */
	struct err *err;      /* where errors go */
};

/* Stands on the first token. 0 or -EINVAL (a string without end, a token too long). */
int nft_lex_start(struct nft_lex *lex, const char *text, struct err *err);
int nft_lex_next(struct nft_lex *lex);

/* Is the current token this word or punctuation (never a quoted string)? */
bool nft_lex_is(const struct nft_lex *lex, const char *text);

/* If the current token is `text`, steps over it: 1. Otherwise 0. Negative errno on a bad token. */
int nft_lex_accept(struct nft_lex *lex, const char *text);

/* Steps over `text`, which must be there. */
int nft_lex_expect(struct nft_lex *lex, const char *text);

/* "column 14: expected WANTED, found 'x' in: RULE". Returns -EINVAL. */
int nft_lex_error(const struct nft_lex *lex, const char *wanted);

#endif
