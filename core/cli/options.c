// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options: GNU-style option parsing driven by a command's table, and the help text from the same
 * table.
 *
 * It does not know what commands do. main.c parses with it; cmd_help.c and man.c print with it.
 */
#include "core/cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/base/units.h"
#include "core/report/text.h"

struct parse {
	const struct command *c;
	struct parsed *out;
	char *fields; /* the command's options struct */
	VEC(const char *) operands;
};

static const struct option_def *find_long(const struct command *c, const char *name, size_t len)
{
	for (size_t i = 0; i < c->n_options; i++)
		if (strlen(c->options[i].name) == len && !strncmp(c->options[i].name, name, len))
			return &c->options[i];
	return NULL;
}

static const struct option_def *find_short(const struct command *c, char letter)
{
	for (size_t i = 0; i < c->n_options; i++)
		if (letter && c->options[i].letter == letter)
			return &c->options[i];
	return NULL;
}

static int unknown_option(const struct command *c, const char *name, struct err *err)
{
	const char *names[64] = {"help"};
	size_t n = 1;

	for (size_t i = 0; i < c->n_options && n < ARRAY_SIZE(names); i++)
		names[n++] = c->options[i].name;
	const char *near = str_suggest(name, names, n);
	if (near)
		return err_input(err, "unknown option '--%s'; did you mean '--%s'?", name, near);
	return err_input(err, "unknown option '--%s'; see vpclab %s --help", name, c->name);
}

static int check_word(const struct option_def *o, const char *value, struct err *err)
{
	struct strbuf all = {0};
	size_t n = 0;

	for (; o->words[n]; n++) {
		if (str_eq(o->words[n], value))
			return 0;
		strbuf_addf(&all, "%s%s", n ? ", " : "", o->words[n]);
	}
	const char *near = str_suggest(value, o->words, n);
	if (near)
		err_input(err, "--%s: '%s' is none of %s; did you mean '%s'?", o->name, value,
			  strbuf_text(&all), near);
	else
		err_input(err, "--%s: '%s' is none of %s", o->name, value, strbuf_text(&all));
	strbuf_done(&all);
	return -EINVAL;
}

static int parse_number(const struct option_def *o, const char *value, int64_t *field,
			struct err *err)
{
	bool any = !o->min && !o->max;

	switch (o->kind) {
	case OPT_RATE:
		return units_parse_rate(value, field, err);
	case OPT_PPS:
		return units_parse_pps(value, field, err);
	case OPT_TIME:
		if (*value && !value[strspn(value, "0123456789.")] && strcmp(value, "0"))
			return err_input(err, "'%s' has no unit; write %ss", value, value);
		return units_parse_time(value, field, err);
	case OPT_SIZE:
		return units_parse_size(value, field, err);
	default:
		return units_parse_int(value, any ? INT64_MIN : o->min, any ? INT64_MAX : o->max,
				       field, err);
	}
}

static void add_to_list(struct parse *p, struct option_list *list, const char *value)
{
	const char **v = arena_alloc(&p->out->arena, (list->n + 1) * sizeof(*v));

	if (list->n)
		memcpy(v, list->v, list->n * sizeof(*v));
	v[list->n++] = value;
	list->v = v;
}

static int store(struct parse *p, const struct option_def *o, const char *value, struct err *err)
{
	void *field = p->fields + o->offset;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_STRING:
		if (o->words && check_word(o, value, err))
			return -EINVAL;
		*(const char **)field = value;
		return 0;
	case OPT_LIST:
		add_to_list(p, field, value);
		return 0;
	default:
		if (parse_number(o, value, field, err))
			return err_wrap(err, "--%s", o->name);
		return 0;
	}
}

/* "--name", "--name=value", "--name value"; *used counts the arguments taken. */
static int parse_long(struct parse *p, char **arg, int *used, struct err *err)
{
	const char *name = arg[0] + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_def *o = find_long(p->c, name, len);

	*used = 1;
	if (len == 4 && !strncmp(name, "help", 4)) {
		p->out->help = true;
		return 0;
	}
	if (!o)
		return unknown_option(p->c, arena_strndup(&p->out->arena, name, len), err);
	if (o->kind == OPT_FLAG && equals)
		return err_input(err, "option '--%s' takes no value", o->name);
	if (o->kind == OPT_FLAG || equals)
		return store(p, o, equals ? equals + 1 : NULL, err);
	if (!arg[1])
		return err_input(err, "option '--%s' needs %s", o->name, o->arg);
	*used = 2;
	return store(p, o, arg[1], err);
}

/* "-v", "-vj", "-nNAME", "-n NAME". */
static int parse_short(struct parse *p, char **arg, int *used, struct err *err)
{
	*used = 1;
	for (const char *s = arg[0] + 1; *s; s++) {
		const struct option_def *o = find_short(p->c, *s);

		if (!o && *s == 'h') {
			p->out->help = true;
			return 0;
		}
		if (!o)
			return err_input(err, "unknown option '-%c'; see vpclab %s --help", *s,
					 p->c->name);
		if (o->kind == OPT_FLAG) {
			store(p, o, NULL, err);
			continue;
		}
		if (!s[1] && !arg[1])
			return err_input(err, "option '-%c' needs %s", *s, o->arg);
		*used = s[1] ? 1 : 2;
		return store(p, o, s[1] ? s + 1 : arg[1], err);
	}
	return 0;
}

static int check_operands(const struct command *c, const struct call *call, struct err *err)
{
	struct strbuf usage = {0};
	const char *wrong = NULL;

	if (call->argc < c->min_operands)
		wrong = "too few arguments";
	else if (c->max_operands >= 0 && call->argc > c->max_operands)
		wrong = c->takes_rest && !call->rest ? "put '--' before the command to run"
						     : "too many arguments";
	if (!wrong)
		return 0;
	options_print_usage(c, &usage);
	err_input(err, "%s; usage: %s", wrong, strbuf_text(&usage));
	strbuf_done(&usage);
	return -EINVAL;
}

static int parse_arguments(struct parse *p, char **argv, struct err *err)
{
	struct call *call = &p->out->call;
	int used, ret;

	for (; *argv; argv += used) {
		used = 1;
		if (!strcmp(*argv, "--")) {
			call->rest = (const char *const *)argv + 1;
			break;
		}
		if (!strncmp(*argv, "--", 2))
			ret = parse_long(p, argv, &used, err);
		else if (argv[0][0] == '-' && argv[0][1])
			ret = parse_short(p, argv, &used, err);
		else
			ret = 0, *VEC_ADD(&p->out->arena, &p->operands) = *argv;
		if (ret || p->out->help)
			return ret;
	}
	if (!p->c->takes_rest && call->rest) { /* then "--" only ends the options */
		for (const char *const *s = call->rest; *s; s++)
			*VEC_ADD(&p->out->arena, &p->operands) = *s;
		call->rest = NULL;
	}
	return 0;
}

int options_parse(const struct command *c, int argc, char **argv, struct parsed *out,
		  struct err *err)
{
	struct parse p = {.c = c, .out = out};
	int ret;

	*out = (struct parsed){.call.command = c};
	arena_init(&out->arena);
	p.fields = arena_alloc(&out->arena, c->options_size ? c->options_size : 1);
	if (c->defaults)
		memcpy(p.fields, c->defaults, c->options_size);
	ret = argc > 0 ? parse_arguments(&p, argv + 1, err) : 0;
	if (ret || out->help)
		return ret;
	out->call.options = p.fields;
	out->call.argc = (int)p.operands.n;
	*VEC_ADD(&out->arena, &p.operands) = NULL;
	out->call.argv = p.operands.v;
	return check_operands(c, &out->call, err);
}

void parsed_done(struct parsed *p)
{
	arena_done(&p->arena);
}

/* "-n, --name NAME" */
static void options_print_form(const struct option_def *o, struct strbuf *out)
{
	if (o->letter)
		strbuf_addf(out, "-%c, ", o->letter);
	strbuf_addf(out, "--%s", o->name);
	if (o->arg)
		strbuf_addf(out, " %s", o->arg);
}

void options_print_usage(const struct command *c, struct strbuf *out)
{
	strbuf_addf(out, "vpclab %s", c->name);
	if (c->n_options)
		strbuf_add(out, " [OPTION]…");
	if (c->operands)
		strbuf_addf(out, " %s", c->operands);
}

static void print_option(const struct option_def *o, struct strbuf *out)
{
	struct strbuf form = {0};

	options_print_form(o, &form);
	strbuf_add(out, o->letter ? "  " : "      ");
	text_pad(out, strbuf_text(&form), o->letter ? 30 : 26);
	strbuf_addf(out, " %s", o->help);
	for (size_t i = 0; o->words && o->words[i]; i++)
		strbuf_addf(out, "%s%s", i ? ", " : ": ", o->words[i]);
	if (o->kind == OPT_LIST)
		strbuf_add(out, " (may be repeated)");
	strbuf_addc(out, '\n');
	strbuf_done(&form);
}

void options_print_help(const struct command *c, struct strbuf *out)
{
	strbuf_add(out, "Usage: ");
	options_print_usage(c, out);
	strbuf_addf(out, "\n\n%c%s.\n", toupper(c->summary[0]), c->summary + 1);
	if (c->description)
		strbuf_addf(out, "\n%s\n", c->description);
	strbuf_add(out, "\nOptions:\n");
	for (size_t i = 0; i < c->n_options; i++)
		print_option(&c->options[i], out);
	strbuf_addf(out, "  %-30s %s\n", "-h, --help", "print this help");
}
