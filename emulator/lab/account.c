/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account: reads a lab's counters, has account_walk.c make the ledger of them, and compares two
 * ledgers. Called by core/harness (what a measurement lost, and where), core/cli and tests.
 */
#include "emulator/lab/account.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "emulator/lab/account_walk.h"
#include "emulator/lab/count.h"

#define IDLE_STEP_NS  (10 * NSEC_PER_MSEC)
#define IDLE_CHECK_NS NSEC_PER_SEC

void account_done(struct account *a)
{
	arena_done(&a->arena);
	*a = (struct account){0};
}

void account_of(const struct wire *w, const json_t *snapshot, struct account *out)
{
	*out = (struct account){0};
	account_walk(w, snapshot, out);
}

int account_read_nodes(const struct lab *lab, const struct wire *w, const bool *nodes,
		       struct account *out, struct err *err)
{
	autofree const char **names = mem_zalloc((w->nodes.n + 1) * sizeof(*names));
	json_t *snapshot = NULL;
	size_t n = 0;

	for (size_t i = 0; i < w->nodes.n; i++)
		if (!nodes || nodes[i])
			names[n++] = w->nodes.v[i].name;
	int rc = count_snapshot_relays(lab, w, names, n, &snapshot, err);
	if (rc)
		return rc;
	account_of(w, snapshot, out);
	json_decref(snapshot);
	return 0;
}

/* ---- two readings ---- */

const struct account_direction *account_find(const struct account *a, int link, bool ba)
{
	VEC_FOREACH (d, &a->directions)
		if (d->link == link && d->ba == ba)
			return d;
	return NULL;
}

static int64_t lost_before(const struct account_direction *d, const struct account_loss *l)
{
	for (size_t i = 0; d && i < d->n_lost; i++)
		if (str_eq(d->lost[i].cause, l->cause) && str_eq(d->lost[i].where, l->where))
			return d->lost[i].packets;
	return 0;
}

/* A device refuses what is too large for it, what comes while it is down, or what the backlog of
 * the CPU has no room for: when the machine has dropped as much of that, it is that. */
static const char *cause_between(const struct account *out, const struct account_loss *l)
{
	bool softnet = str_eq(l->cause, "device") && l->packets <= out->softnet_dropped;

	return softnet ? "softnet" : l->cause;
}

static void subtract_direction(const struct account_direction *before,
			       const struct account_direction *after, struct account *out,
			       struct account_direction *d)
{
	static const struct account_direction nothing;
	const struct account_direction *b = before ? before : &nothing;

	*d = (struct account_direction){
	    .link = after->link,
	    .ba = after->ba,
	    .entered = after->entered - b->entered,
	    .left = after->left - b->left,
	    .waiting = after->waiting - b->waiting,
	    .duplicated = after->duplicated - b->duplicated,
	    .corrupted = after->corrupted - b->corrupted,
	    .hole = after->hole - b->hole,
	};
	for (size_t i = 0; i < after->n_lost; i++) {
		struct account_loss l = after->lost[i];

		l.packets -= lost_before(before, &l);
		l.cause = cause_between(out, &l);
		account_lose(&out->arena, d, &l);
	}
}

static int64_t elsewhere_before(const struct account *before, const struct account_loss *l)
{
	VEC_FOREACH (b, &before->elsewhere)
		if (b->node == l->node && str_eq(b->cause, l->cause) && str_eq(b->where, l->where))
			return b->packets;
	return 0;
}

void account_between(const struct account *before, const struct account *after, struct account *out)
{
	*out = (struct account){.at_ns = after->at_ns};
	out->softnet_dropped = after->softnet_dropped - before->softnet_dropped;
	VEC_FOREACH (d, &after->directions) {
		struct account_direction *to = VEC_ADD(&out->arena, &out->directions);

		subtract_direction(account_find(before, d->link, d->ba), d, out, to);
	}
	VEC_FOREACH (l, &after->elsewhere) {
		struct account_loss loss = *l;

		loss.packets -= elsewhere_before(before, l);
		if (!loss.packets)
			continue;
		loss.cause = arena_strdup(&out->arena, l->cause);
		loss.where = arena_strdup(&out->arena, l->where);
		*VEC_ADD(&out->arena, &out->elsewhere) = loss;
	}
}

/* ---- an idle lab ---- */

static bool stands_still(const struct account *a, const struct account *b)
{
	if (a->directions.n != b->directions.n)
		return false;
	for (size_t i = 0; i < a->directions.n; i++) {
		const struct account_direction *x = &a->directions.v[i], *y = &b->directions.v[i];

		if (x->waiting || y->waiting || x->entered != y->entered || x->left != y->left)
			return false;
	}
	return true;
}

/* Reads until nothing waits and no counter moves (at most `limit_ns`). -ETIMEDOUT: still busy. */
static int account_read_idle(const struct lab *lab, const struct wire *w, int64_t limit_ns,
			     struct account *out, struct err *err)
{
	int64_t deadline = clock_now_ns() + limit_ns;
	struct account before = {0};
	int rc = account_read_nodes(lab, w, NULL, &before, err);

	while (rc == 0) {
		clock_sleep_until_ns(clock_now_ns() + IDLE_STEP_NS);
		rc = account_read_nodes(lab, w, NULL, out, err);
		if (rc)
			break;
		if (stands_still(&before, out)) {
			account_done(&before);
			return 0;
		}
		account_done(&before);
		if (clock_now_ns() > deadline) {
			account_done(out);
			return err_fail(err, ETIMEDOUT, "the lab's links are not idle");
		}
		before = *out;
	}
	account_done(&before);
	return rc;
}

static void tell_hole(const struct wire *w, const struct account_direction *d, struct strbuf *text)
{
	int64_t n = d->hole < 0 ? -d->hole : d->hole;
	char number[32];

	strbuf_addf(text, "link %s %s: %s packet%s %s\n", w->links.v[d->link].name,
		    d->ba ? "b→a" : "a→b", account_number(number, n), n == 1 ? "" : "s",
		    d->hole < 0 ? "more than entered it" : "unexplained");
}

int account_check(const struct lab *lab, struct strbuf *text, size_t *n, struct err *err)
{
	struct err busy = ERR_INIT;
	struct account a;
	struct wire w;

	wire_init(&w);
	int rc = lab_wire(lab, &w, &busy);
	if (rc == 0)
		rc = account_read_idle(lab, &w, IDLE_CHECK_NS, &a, &busy);
	if (rc == 0) {
		VEC_FOREACH (d, &a.directions) {
			*n += d->hole != 0;
			if (d->hole)
				tell_hole(&w, d, text);
		}
		account_done(&a);
	} else if (rc == -ETIMEDOUT) {
		rc = 0;
	} else {
		*err = busy;
	}
	wire_done(&w);
	return rc;
}

/* ---- words ---- */

int64_t account_lost(const struct account_direction *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < d->n_lost; i++)
		sum += d->lost[i].packets;
	return sum;
}

char *account_number(char buf[32], int64_t v)
{
	char plain[24], *to = buf;
	int n = snprintf(plain, sizeof(plain), "%" PRId64, v);
	int digits = plain[0] == '-' ? n - 1 : n;

	for (const char *p = plain; *p; p++) {
		*to++ = *p;
		if (*p == '-')
			continue;
		if (--digits > 0 && digits % 3 == 0)
			*to++ = ',';
	}
	*to = '\0';
	return buf;
}

void account_describe(const struct account_loss *l, struct strbuf *out)
{
	const char *class = strchr(l->where, ' ');
	char number[32], cause[32];

	strbuf_addf(out, "%s%s at ", out->len ? ", " : "", account_number(number, l->packets));
	if (str_eq(l->cause, "queue") && !str_starts(l->where, "relay")) {
		strbuf_addn(out, l->where, class ? (size_t)(class - l->where) : strlen(l->where));
		strbuf_addf(out, "'s queue%s%s", class ? " of" : "", class ? class : "");
		return;
	}
	snprintf(cause, sizeof(cause), "%s", l->cause);
	for (char *p = cause; *p; p++)
		if (*p == '_')
			*p = ' ';
	strbuf_addf(out, "%s (%s)", l->where, cause);
}

static json_t *loss_json(const struct account_loss *l)
{
	return json_pack("{s:s, s:s, s:I}", "cause", l->cause, "where", l->where, "packets",
			 (json_int_t)l->packets);
}

static json_t *direction_json(const struct account_direction *d, const struct wire *w)
{
	json_t *lost = json_array();

	for (size_t i = 0; i < d->n_lost; i++)
		json_array_append_new(lost, loss_json(&d->lost[i]));
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:I}", "name",
			 w->links.v[d->link].name, "direction", d->ba ? "ba" : "ab",
			 "entered_packets", (json_int_t)d->entered, "left_packets",
			 (json_int_t)d->left, "waiting_packets", (json_int_t)d->waiting,
			 "duplicated_packets", (json_int_t)d->duplicated, "lost", lost,
			 "unexplained_packets", (json_int_t)d->hole);
}

json_t *account_json(const struct account *a, const struct wire *w)
{
	json_t *links = json_array(), *elsewhere = json_array();

	VEC_FOREACH (d, &a->directions)
		json_array_append_new(links, direction_json(d, w));
	VEC_FOREACH (l, &a->elsewhere) {
		json_t *o = loss_json(l);

		json_object_set_new(o, "node", json_string(w->nodes.v[l->node].name));
		json_array_append_new(elsewhere, o);
	}
	return json_pack("{s:I, s:I, s:o, s:o}", "at_ns", (json_int_t)a->at_ns, "softnet_dropped",
			 (json_int_t)a->softnet_dropped, "links", links, "elsewhere", elsewhere);
}
