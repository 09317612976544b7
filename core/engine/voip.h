/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * voip: codecs, and how a call over them would sound: the R-value of the E-model and MOS. Pure.
 *
 *   R = R0 − Id − Ie,eff             R0 = 93.2, all else at the defaults of ITU-T G.107
 *   Id = 0.024·d + 0.11·(d − 177.3)·H(d − 177.3)      d: one way, mouth to ear, ms (the short form
 *                                    of G.107's delay impairment by Cole and Rosenbluth, ACM CCR
 *                                    31(2), 2001)
 *   Ie,eff = Ie + (95 − Ie)·Ppl / (Ppl + Bpl)         Ppl: percent lost, losses at random
 *   MOS = 1 + 0.035·R + R·(R − 60)·(100 − R)·7·10⁻⁶, 1 for R ≤ 0, 4.5 for R ≥ 100
 *
 * A wideband codec is on the wider scale of G.107.1: R0 = 129, Ie,wb, and MOS of R / 1.29; the 95
 * of Ie,eff stays (G.107.1, 7-15).
 *
 * Ie and Bpl are provisional planning values of ITU-T G.113, for losses at random:
 *   G.711                 0,  4.3   Appendix I (2007), table I.4, 10 ms a packet, no concealment
 *   G.711 concealed       0, 25.1   … with that of G.711 Appendix I
 *   G.723.1 6.3 kbit/s   15, 16.1   … with silence suppression, 30 ms
 *   G.729A               11, 19.0   … with silence suppression, 20 ms
 *   GSM-EFR 12.2 kbit/s   5, 10.0   …
 *   G.723.1 5.3, G.726 32 kbit/s: Ie 19 and 7 of table I.1, which has no Bpl: those of G.723.1
 * at 6.3 and of G.711 without concealment AMR 12.2 kbit/s       not in G.113: those of GSM-EFR,
 * which its mode 12.2 is AMR-WB 12.65 kbit/s  13 of table IV.1 (2024; one ear), which has no Bpl:
 * the 4.3 that table IV.4 has of it for both ears, where its Ie is 20 `assumed` says that a value
 * is that of a codec, or of a way of listening, like it. The edition of 2024 has no Bpl for
 * narrowband codecs any more. Read in public programs that quote the tables.
 */
#ifndef VPCLAB_ENGINE_VOIP_H
#define VPCLAB_ENGINE_VOIP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

struct voip_codec {
	const char *name; /* "g711u" */
	const char *title;
	int frame_bytes; /* of a frame in RTP, with the payload format's own bytes */
	int64_t frame_ns;
	int frames;	      /* in a datagram, unless asked otherwise */
	int64_t lookahead_ns; /* of the encoder */
	double ie, bpl;
	bool assumed; /* bpl, or both, are of something similar */
	bool wide;
	int payload_type; /* RFC 3551; dynamic ones 96 */
};

/* "g711u", case-insensitive. -EINVAL with a suggestion. */
int voip_codec_parse(const char *name, const struct voip_codec **codec, struct err *err);
const struct voip_codec *voip_codec_at(int i); /* NULL after the last */

/* One way, in ns and share 0…1. NAN in gives NAN out. */
double voip_r(const struct voip_codec *c, double delay_ns, double loss);
double voip_mos(const struct voip_codec *c, double r);

#endif
