/* SPDX-License-Identifier: GPL-2.0-or-later */
/* voip: the table of codecs and the arithmetic of voip.h. It sends nothing. Used by script.c for
 * what a call sends and by pair_result.c for how it would sound. */
#include "core/engine/voip.h"

#include <math.h>
#include <strings.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"

#define MS NSEC_PER_MSEC

/* Frame sizes: RFC 3551 (G.7xx), RFC 4867 (AMR, bandwidth-efficient would save 6 bits: here
 * octet-aligned, a byte of mode request and one of contents a frame). Ie and Bpl: see voip.h. */
static const struct voip_codec voip_codecs[] = {
    {"g711u", "G.711 µ-law", 80, 10 * MS, 2, 0, 0, 4.3, false, false, 0},
    {"g711a", "G.711 A-law", 80, 10 * MS, 2, 0, 0, 4.3, false, false, 8},
    {"g711u_plc", "G.711 µ-law, concealed", 80, 10 * MS, 2, 0, 0, 25.1, false, false, 0},
    {"g711a_plc", "G.711 A-law, concealed", 80, 10 * MS, 2, 0, 0, 25.1, false, false, 8},
    {"g723_63", "G.723.1 MP-MLQ 6.3 kbit/s", 24, 30 * MS, 1, 7500000, 15, 16.1, false, false, 4},
    {"g723_53", "G.723.1 ACELP 5.3 kbit/s", 20, 30 * MS, 1, 7500000, 19, 16.1, true, false, 4},
    {"g726", "G.726 32 kbit/s", 40, 10 * MS, 2, 0, 7, 4.3, true, false, 96},
    {"g729", "G.729A 8 kbit/s", 10, 10 * MS, 2, 5 * MS, 11, 19.0, false, false, 18},
    {"amr_nb", "AMR 12.2 kbit/s", 33, 20 * MS, 1, 0, 5, 10.0, true, false, 96},
    {"amr_wb", "AMR-WB 12.65 kbit/s", 34, 20 * MS, 1, 5 * MS, 13, 4.3, true, true, 96},
};

static const char *const voip_aliases[][2] = {
    {"g711", "g711u"},	   {"g.711u", "g711u"},	   {"g.711a", "g711a"},	 {"g723", "g723_63"},
    {"g723.1", "g723_63"}, {"g.723.1", "g723_63"}, {"g.726", "g726"},	 {"g.729", "g729"},
    {"amr", "amr_nb"},	   {"amr-nb", "amr_nb"},   {"amr-wb", "amr_wb"}, {"g722.2", "amr_wb"}};

const struct voip_codec *voip_codec_at(int i)
{
	return i >= 0 && i < (int)ARRAY_SIZE(voip_codecs) ? &voip_codecs[i] : NULL;
}

int voip_codec_parse(const char *name, const struct voip_codec **codec, struct err *err)
{
	const char *names[ARRAY_SIZE(voip_codecs)];
	for (size_t i = 0; i < ARRAY_SIZE(voip_aliases); i++)
		if (!strcasecmp(name, voip_aliases[i][0]))
			name = voip_aliases[i][1];
	for (size_t i = 0; i < ARRAY_SIZE(voip_codecs); i++) {
		names[i] = voip_codecs[i].name;
		if (!strcasecmp(name, names[i])) {
			*codec = &voip_codecs[i];
			return 0;
		}
	}
	const char *near = str_suggest(name, names, ARRAY_SIZE(names));
	if (near)
		return err_input(err, "unknown codec '%s'; did you mean '%s'?", name, near);
	return err_input(err,
			 "unknown codec '%s'; there are g711u, g711a, g711u_plc, g711a_plc, "
			 "g723_63, g723_53, g726, g729, amr_nb, amr_wb",
			 name);
}

double voip_r(const struct voip_codec *c, double delay_ns, double loss)
{
	double d = delay_ns / 1e6, percent = loss * 100;
	double delay = 0.024 * d + (d > 177.3 ? 0.11 * (d - 177.3) : 0);
	double equipment = c->ie + (95 - c->ie) * percent / (percent + c->bpl);
	return (c->wide ? 129 : 93.2) - delay - equipment;
}

double voip_mos(const struct voip_codec *c, double r)
{
	if (c->wide)
		r /= 1.29;
	if (isnan(r))
		return NAN;
	if (r <= 0)
		return 1;
	if (r >= 100)
		return 4.5;
	double mos = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
	return mos < 1 ? 1 : mos; /* the cubic dips below 1 for R up to 6.5 */
}
