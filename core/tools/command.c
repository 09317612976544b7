/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command: fills placeholders in. One table says which there are and how each gets its value.
 * Called by core/harness/tool_run.c, and by adapter.c, which asks whether a placeholder exists.
 */
#include "core/tools/command.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "core/base/units.h"

#define VALUE_MAX 4096

/* Each writes the value into buf; false: it was not asked for. Numbers as everybody reads them:
 * neither 1e+10 nor 2e-05. */
static bool number(char *buf, double v)
{
	int n = snprintf(buf, VALUE_MAX, "%.9f", v);

	while (buf[n - 1] == '0')
		n--;
	n -= buf[n - 1] == '.';
	buf[n] = '\0';
	return v > 0;
}

static bool server_address(const struct command_values *v, char *buf)
{
	char text[ADDR_TEXT];

	snprintf(buf, VALUE_MAX, "%s%s%s", ip_format(text, &v->server), v->zone ? "%" : "",
		 v->zone ? v->zone : "");
	return true;
}
static bool client_address(const struct command_values *v, char *buf)
{
	ip_format(buf, &v->client);
	return true;
}
static bool port(const struct command_values *v, char *buf)
{
	return number(buf, v->port);
}
static bool family(const struct command_values *v, char *buf)
{
	return number(buf, v->server.family == AF_INET6 ? 6 : 4);
}
static bool duration_s(const struct command_values *v, char *buf)
{
	return number(buf, v->duration_s);
}
static bool duration_ms(const struct command_values *v, char *buf)
{
	return number(buf, v->duration_s * 1e3);
}
static bool interval_s(const struct command_values *v, char *buf)
{
	return number(buf, v->interval_s);
}

static bool warmup_s(const struct command_values *v, char *buf)
{
	return number(buf, v->warmup_s);
}
static bool rate_bps(const struct command_values *v, char *buf)
{
	return number(buf, v->rate_bps);
}
static bool rate_kbps(const struct command_values *v, char *buf)
{
	return number(buf, v->rate_bps / 1e3);
}
static bool rate_mbps(const struct command_values *v, char *buf)
{
	return number(buf, v->rate_bps / 1e6);
}
/* Packets a second: as asked, or by the rate and the size. */
static double packets(const struct command_values *v)
{
	if (v->rate_pps > 0)
		return v->rate_pps;
	return v->size > 0 ? v->rate_bps / 8 / v->size : 0;
}
static bool rate_pps(const struct command_values *v, char *buf)
{
	return number(buf, packets(v));
}
static bool gap_us(const struct command_values *v, char *buf)
{
	double pps = packets(v);

	return number(buf, pps > 0 ? 1e6 / pps : 0);
}
static bool gap_s(const struct command_values *v, char *buf)
{
	double pps = packets(v);

	return number(buf, pps > 0 ? 1 / pps : 0);
}
/* As many as fit into the duration at that rate: for tools that end by a count. */
static bool count(const struct command_values *v, char *buf)
{
	double n = v->count > 0 ? v->count : packets(v) * v->duration_s;

	snprintf(buf, VALUE_MAX, "%.0f", n);
	return n >= 1;
}
static bool size(const struct command_values *v, char *buf)
{
	return number(buf, v->size);
}
static bool response_size(const struct command_values *v, char *buf)
{
	return number(buf, v->response_size);
}
static bool streams(const struct command_values *v, char *buf)
{
	number(buf, v->streams);
	return v->streams > 1;
}
static bool dscp(const struct command_values *v, char *buf)
{
	return number(buf, v->dscp);
}
static bool tos(const struct command_values *v, char *buf)
{
	return number(buf, v->dscp << 2);
}
static bool no_delay(const struct command_values *v, char *buf)
{
	snprintf(buf, VALUE_MAX, "1");
	return v->no_delay;
}
static bool ipv6(const struct command_values *v, char *buf)
{
	snprintf(buf, VALUE_MAX, "6");
	return v->server.family == AF_INET6;
}
static bool program(const struct command_values *v, char *buf)
{
	snprintf(buf, VALUE_MAX, "%s", v->program ? v->program : "");
	return v->program;
}
static bool file(const struct command_values *v, char *buf)
{
	snprintf(buf, VALUE_MAX, "%s", v->file ? v->file : "");
	return v->file;
}

static const struct {
	const char *name;
	bool (*get)(const struct command_values *v, char *buf);
} placeholders[] = {
    {"server.address", server_address},
    {"client.address", client_address},
    {"port", port},
    {"family", family},
    {"ipv6", ipv6},
    {"duration.s", duration_s},
    {"duration.ms", duration_ms},
    {"interval.s", interval_s},
    {"warmup.s", warmup_s},
    {"rate.bps", rate_bps},
    {"rate.kbps", rate_kbps},
    {"rate.mbps", rate_mbps},
    {"rate.pps", rate_pps},
    {"gap.us", gap_us},
    {"gap.s", gap_s},
    {"count", count},
    {"size", size},
    {"response_size", response_size},
    {"streams", streams},
    {"dscp", dscp},
    {"tos", tos},
    {"no_delay", no_delay},
    {"program", program},
    {"file", file},
};

static int find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(placeholders); i++)
		if (strlen(placeholders[i].name) == len && !memcmp(placeholders[i].name, name, len))
			return (int)i;
	return -1;
}

bool command_knows(const char *name, const char **near)
{
	const char *names[ARRAY_SIZE(placeholders)];

	for (size_t i = 0; i < ARRAY_SIZE(placeholders); i++)
		names[i] = placeholders[i].name;
	if (near)
		*near = str_suggest(name, names, ARRAY_SIZE(names));
	return find(name, strlen(name)) >= 0;
}

/* One word: each {name} by its value. "{{" is a brace. */
static int fill(const char *text, const struct command_values *v, struct strbuf *out,
		struct err *err)
{
	char value[VALUE_MAX];

	while (*text) {
		if (text[0] != '{' || text[1] == '{') {
			text += text[0] == '{';
			strbuf_addc(out, *text++);
			continue;
		}
		size_t len = strcspn(text + 1, "}");
		int i = text[len + 1] ? find(text + 1, len) : -1;

		if (i < 0)
			return err_input(err, "there is no placeholder '{%.*s}'", (int)len,
					 text + 1);
		if (!placeholders[i].get(v, value))
			return err_input(err,
					 "'{%s}' was not asked for; put it into a group, "
					 "{with: %s, args: […]}",
					 placeholders[i].name, placeholders[i].name);
		strbuf_add(out, value);
		text += len + 2;
	}
	return 0;
}

static int add(const char *text, const struct command_values *v, struct command_line *out,
	       struct err *err)
{
	autostr struct strbuf word = {0};
	int r = fill(text, v, &word, err);

	if (!r)
		*VEC_ADD(&out->arena, &out->argv) = arena_strdup(&out->arena, strbuf_text(&word));
	return r;
}

static bool asked(const char *name, const struct command_values *v)
{
	char value[VALUE_MAX];
	int i = find(name, strlen(name));

	return i >= 0 && placeholders[i].get(v, value);
}

int command_expand(const struct tool_command *c, const struct command_values *v,
		   struct command_line *out, struct err *err)
{
	int r = 0;

	*out = (struct command_line){0};
	arena_init(&out->arena);
	VEC_FOREACH (w, &c->argv) {
		if (w->text)
			r = add(w->text, v, out, err);
		else if (asked(w->when, v) != w->absent)
			for (size_t i = 0; i < w->words.n && !r; i++)
				r = add(w->words.v[i], v, out, err);
		if (r)
			return r;
	}
	*VEC_ADD(&out->arena, &out->argv) = NULL;
	out->argv.n--;
	return 0;
}

void command_done(struct command_line *l)
{
	arena_done(&l->arena);
	*l = (struct command_line){0};
}

int command_text(const char *text, const struct command_values *v, struct strbuf *out,
		 struct err *err)
{
	return fill(text, v, out, err);
}
