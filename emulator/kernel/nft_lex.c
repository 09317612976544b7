/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft_lex: cuts rule text into tokens and makes its errors. Called by nft_rule.c, nft_match.c. */
#include "emulator/kernel/nft_lex.h"

#include <ctype.h>
#include <string.h>

static bool nft_lex_word_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr(".:/-_*[]&@", c));
}

static int nft_lex_copy(struct nft_lex *lex, int from, int len)
{
	if (len >= (int)sizeof(lex->now.text))
		return err_input(lex->err, "column %d: word too long in: %s", from + 1, lex->text);
	memcpy(lex->now.text, lex->text + from, (size_t)len);
	lex->now.text[len] = '\0';
	return 0;
}

static int nft_lex_string(struct nft_lex *lex, int from)
{
	int end = from + 1;

	while (lex->text[end] && lex->text[end] != '"')
		end++;
	if (!lex->text[end])
		return err_input(lex->err, "column %d: string without end in: %s", from + 1,
				 lex->text);
	lex->now.kind = NFT_STRING;
	lex->at = end + 1;
	return nft_lex_copy(lex, from + 1, end - from - 1);
}

int nft_lex_next(struct nft_lex *lex)
{
	const char *s = lex->text;
	int from = lex->at;

	while (isspace((unsigned char)s[from]))
		from++;
	lex->now = (struct nft_token){.kind = NFT_END, .column = from + 1};
	lex->at = from;
	if (!s[from])
		return 0;
	if (s[from] == '"')
		return nft_lex_string(lex, from);
	int end = from;
	while (nft_lex_word_char(s[end]))
		end++;
	lex->now.kind = NFT_WORD;
	if (end == from) {
		lex->now.kind = NFT_PUNCT;
		end += strchr("!=<>", s[from]) && s[from + 1] == '=' ? 2 : 1;
	}
	lex->at = end;
	return nft_lex_copy(lex, from, end - from);
}

int nft_lex_start(struct nft_lex *lex, const char *text, struct err *err)
{
	*lex = (struct nft_lex){.text = text, .err = err};
	return nft_lex_next(lex);
}

bool nft_lex_is(const struct nft_lex *lex, const char *text)
{
	return lex->now.kind != NFT_STRING && lex->now.kind != NFT_END &&
	       !strcmp(lex->now.text, text);
}

int nft_lex_accept(struct nft_lex *lex, const char *text)
{
	if (!nft_lex_is(lex, text))
		return 0;
	int rc = nft_lex_next(lex);
	return rc < 0 ? rc : 1;
}

int nft_lex_expect(struct nft_lex *lex, const char *text)
{
	int rc = nft_lex_accept(lex, text);

	if (rc == 0)
		return nft_lex_error(lex, text);
	return rc < 0 ? rc : 0;
}

int nft_lex_error(const struct nft_lex *lex, const char *wanted)
{
	if (lex->now.kind == NFT_END)
		return err_input(lex->err, "column %d: expected %s, found the end, in: %s",
				 lex->now.column, wanted, lex->text);
	return err_input(lex->err, "column %d: expected %s, found '%s', in: %s", lex->now.column,
			 wanted, lex->now.text, lex->text);
}
