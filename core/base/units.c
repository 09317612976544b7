/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units: one table a class of unit, which both parses and prints. No floating point on the way in:
 * "927.122mbit" is 927122000 exactly. Model, scenarios, options and reports call it; position and
 * the name of the key are the caller's to add.
 */
#include "core/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FRACTION_DIGITS 18
#define DIGITS		4 /* significant, of printed figures */

struct unit {
	const char *names[4]; /* what is read */
	int64_t factor;
	const char *shown; /* what is printed; NULL: never printed */
};

struct unit_class {
	const char *is_not;	/* "'x' is not a rate" */
	const char *one;	/* the step that results are counted in */
	const char *write_like; /* after "; write it like " */
	bool exact_case;	/* kB, KiB and kb differ */
	bool bare;		/* a number without unit counts in the step */
	bool bare_zero;		/* "0" needs no unit */
	size_t n;
	struct unit unit[9]; /* from small to large */
};

static const struct unit_class rate = {
    .is_not = "a rate",
    .one = "bits per second",
    .write_like = "100mbit (bits per second: kbit, mbit, gbit)",
    .n = 5,
    .unit =
	{
	    {{"bit", "bit/s"}, 1, "bit/s"},
	    {{"kbit", "kbit/s"}, 1000, "kbit/s"},
	    {{"mbit", "mbit/s"}, 1000000, "Mbit/s"},
	    {{"gbit", "gbit/s"}, 1000000000, "Gbit/s"},
	    {{"tbit", "tbit/s"}, INT64_C(1000000000000), "Tbit/s"},
	},
};

static const struct unit_class pps = {
    .is_not = "a packet rate",
    .one = "packets per second",
    .write_like = "300kpps (packets per second: pps, kpps, mpps)",
    .n = 4,
    .unit =
	{
	    {{"pps"}, 1, "pps"},
	    {{"kpps"}, 1000, "kpps"},
	    {{"mpps"}, 1000000, "Mpps"},
	    {{"gpps"}, 1000000000, "Gpps"},
	},
};

static const struct unit_class time_span = {
    .is_not = "a time",
    .one = "nanoseconds",
    .write_like = "20ms (ns, us, ms, s, min, h)",
    .bare_zero = true,
    .n = 6,
    .unit =
	{
	    {{"ns"}, 1, "ns"},
	    {{"us", "\u00b5s", "\u03bcs"}, 1000, "\u00b5s"}, /* micro sign, Greek mu */
	    {{"ms"}, 1000000, "ms"},
	    {{"s"}, 1000000000, "s"},
	    {{"min"}, 60 * NSEC_PER_SEC, NULL},
	    {{"h"}, 3600 * NSEC_PER_SEC, NULL},
	},
};

static const struct unit_class size_of = {
    .is_not = "a size",
    .one = "bytes",
    .write_like = "64KiB (bytes: B, kB = 1000, KiB = 1024, MB, MiB, GB, GiB)",
    .exact_case = true,
    .bare = true,
    .n = 9,
    .unit =
	{
	    {{"B"}, 1, "B"},
	    {{"kB"}, 1000, "kB"},
	    {{"KiB"}, INT64_C(1) << 10, "KiB"},
	    {{"MB"}, 1000000, "MB"},
	    {{"MiB"}, INT64_C(1) << 20, "MiB"},
	    {{"GB"}, 1000000000, "GB"},
	    {{"GiB"}, INT64_C(1) << 30, "GiB"},
	    {{"TB"}, INT64_C(1000000000000), "TB"},
	    {{"TiB"}, INT64_C(1) << 40, "TiB"},
	},
};

static const struct unit_class percent = {
    .is_not = "a percentage",
    .one = "millionths",
    .write_like = "0.1%",
    .bare_zero = true,
    .n = 1,
    .unit = {{{"%"}, 10000, NULL}},
};

/* digits [ "." digits ], as whole + fraction / scale */
struct number {
	__int128 whole, fraction, scale;
	bool too_large, too_fine;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads the number at the start of s; gives its end, or NULL where there is none. */
static const char *read_number(const char *s, struct number *n)
{
	*n = (struct number){.scale = 1};
	if (!is_digit(*s))
		return NULL;
	for (; is_digit(*s); s++) {
		n->whole = n->whole * 10 + (*s - '0');
		if (n->whole > INT64_MAX) {
			n->too_large = true;
			n->whole = 0;
		}
	}
	if (*s != '.')
		return s;
	if (!is_digit(*++s))
		return NULL;
	for (int digits = 0; is_digit(*s); s++, digits++) {
		if (digits < FRACTION_DIGITS) {
			n->fraction = n->fraction * 10 + (*s - '0');
			n->scale *= 10;
		} else if (*s != '0') {
			n->too_fine = true;
		}
	}
	return s;
}

static const struct unit *find_unit(const struct unit_class *class, const char *name)
{
	for (size_t i = 0; i < class->n; i++) {
		const struct unit *u = &class->unit[i];

		for (size_t k = 0; k < 4 && u->names[k]; k++)
			if (!(class->exact_case ? strcmp : strcasecmp)(name, u->names[k]))
				return u;
	}
	return NULL;
}

/* The unit of what stands after the number, or NULL. */
static const struct unit *unit_after(const struct unit_class *class, const struct number *n,
				     const char *rest)
{
	if (!*rest) {
		bool zero = !n->whole && !n->fraction && !n->too_large && !n->too_fine;

		return class->bare || (class->bare_zero && zero) ? &class->unit[0] : NULL;
	}
	if (*rest == ' ') /* as printed: "1 Gbit/s" */
		rest++;
	return find_unit(class, rest);
}

static int parse(const struct unit_class *class, const char *s, int64_t *out, struct err *err)
{
	bool negative = s[0] == '-' && is_digit(s[1]);
	struct number n;
	const char *rest = read_number(s + negative, &n);
	const struct unit *u = rest ? unit_after(class, &n, rest) : NULL;
	__int128 value;

	if (!u)
		return err_input(err, "'%s' is not %s; write it like %s", s, class->is_not,
				 class->write_like);
	if (negative)
		return err_input(err, "'%s' is negative; %s must be 0 or more", s, class->is_not);
	value = n.fraction * u->factor;
	if (n.too_fine || value % n.scale)
		return err_input(err, "'%s' is not a whole number of %s", s, class->one);
	value = value / n.scale + n.whole * u->factor;
	if (n.too_large || value > INT64_MAX)
		return err_input(err, "'%s' is too large for %s", s, class->is_not);
	*out = (int64_t)value;
	return 0;
}

int units_parse_rate(const char *s, int64_t *bps, struct err *err)
{
	return parse(&rate, s, bps, err);
}

int units_parse_pps(const char *s, int64_t *packets_per_s, struct err *err)
{
	return parse(&pps, s, packets_per_s, err);
}

int units_parse_time(const char *s, int64_t *ns, struct err *err)
{
	return parse(&time_span, s, ns, err);
}

int units_parse_size(const char *s, int64_t *bytes, struct err *err)
{
	return parse(&size_of, s, bytes, err);
}

int units_parse_percent(const char *s, int64_t *ppm, struct err *err)
{
	return parse(&percent, s, ppm, err);
}

int units_parse_int(const char *s, int64_t min, int64_t max, int64_t *v, struct err *err)
{
	const char *digits = s + (*s == '-');
	size_t n = strspn(digits, "0123456789");
	__int128 value = 0;

	if (!n || digits[n] || (digits[0] == '0' && (n > 1 || digits != s)))
		return err_input(err, "'%s' is not a whole number", s);
	for (size_t i = 0; i < n && value <= INT64_MAX; i++)
		value = value * 10 + (digits[i] - '0');
	if (digits != s)
		value = -value;
	if (value < min || value > max)
		return err_input(err, "'%s' is not between %" PRId64 " and %" PRId64, s, min, max);
	*v = (int64_t)value;
	return 0;
}

/* x rounded to DIGITS significant digits. */
static double rounded(double x)
{
	char text[32];

	snprintf(text, sizeof(text), "%.*e", DIGITS - 1, x);
	return strtod(text, NULL);
}

/* The figure with at most DIGITS digits, none of them a trailing zero after the point. */
static const char *print(char *buf, size_t size, double figure, const char *unit)
{
	double magnitude = rounded(fabs(figure));
	int decimals = magnitude < 10 ? 3 : magnitude < 100 ? 2 : magnitude < 1000 ? 1 : 0;
	char text[400]; /* the largest double has 309 digits */
	char *end;

	snprintf(text, sizeof(text), "%.*f", decimals, figure);
	if (decimals) {
		for (end = text + strlen(text); end[-1] == '0'; end--)
			;
		end[end[-1] == '.' ? -1 : 0] = '\0';
	}
	snprintf(buf, size, "%s %s", text, unit);
	return buf;
}

/* In the largest unit of which there is at least one. */
static const char *format(const struct unit_class *class, char *buf, size_t size, double value)
{
	const struct unit *u = &class->unit[0];

	for (size_t i = 1; i < class->n; i++) {
		const struct unit *larger = &class->unit[i];

		if (larger->shown && rounded(fabs(value) / (double)larger->factor) >= 1)
			u = larger;
	}
	return print(buf, size, value / (double)u->factor, u->shown);
}

const char *units_format_rate(char *buf, size_t size, double bps)
{
	return format(&rate, buf, size, bps);
}

const char *units_format_pps(char *buf, size_t size, double packets)
{
	return format(&pps, buf, size, packets);
}

const char *units_format_time(char *buf, size_t size, int64_t ns)
{
	return format(&time_span, buf, size, (double)ns);
}

static bool is_binary(const struct unit *u)
{
	return u->factor > 1 && !(u->factor & (u->factor - 1));
}

/* Whole KiB, MiB, … where it is some, then bytes as long as they can be read, then kB, MB, … */
const char *units_format_size(char *buf, size_t size, int64_t bytes)
{
	bool small = bytes > -10000 && bytes < 10000;
	const struct unit *binary = NULL, *u = &size_of.unit[0];

	for (size_t i = 1; bytes && i < size_of.n; i++) {
		const struct unit *larger = &size_of.unit[i];

		if (is_binary(larger) && bytes % larger->factor == 0)
			binary = larger;
		if (!is_binary(larger) && !small &&
		    rounded(fabs((double)bytes) / (double)larger->factor) >= 1)
			u = larger;
	}
	if (binary)
		u = binary;
	return print(buf, size, (double)bytes / (double)u->factor, u->shown);
}
