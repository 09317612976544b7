/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire_text: limits and impairments of the wire model in words, for people.
 */
#ifndef VPCLAB_MODEL_WIRE_TEXT_H
#define VPCLAB_MODEL_WIRE_TEXT_H

#include "core/base/str.h"
#include "emulator/model/wire.h"

/* "1 Gbit/s l1, 300 kpps, 4 queues of 250 Mbit/s"; nothing where nothing limits. Appends. */
void wire_text_shape(struct strbuf *out, const struct wire_shape *s);
/* "delay 10 ms, loss 1 %"; nothing where nothing is done to packets. Appends. */
void wire_text_impair(struct strbuf *out, const struct wire_impair *i);
const char *wire_text_engine(enum impair_engine engine); /* "netem", "relay", "none" */

#endif
