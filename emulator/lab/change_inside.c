/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * change_inside: makes the operations of a difference of plans happen, inside the lab. Called by
 * change.c through lab_call().
 *
 * All messages of all namespaces are made first: what is wrong shows before anything is touched.
 * Then each namespace gets its traffic control in one netlink batch and its rules in one nftables
 * transaction; relays are told last. Features that limits need off are off before, those that they
 * no longer need go on after.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

#include "emulator/kernel/ethtool.h"
#include "emulator/kernel/netns.h"
#include "emulator/kernel/nft.h"
#include "emulator/kernel/nl.h"
#include "emulator/kernel/qdisc.h"
#include "emulator/lab/change.h"
#include "emulator/lab/relays.h"
#include "emulator/lab/replaced.h"

struct job { /* what happens in one namespace */
	const struct plan_change *first, *end;
	struct netns ns;
	struct nl_batch gone; /* deletions that may fail: what they are of may not be there */
	struct nl_batch batch;
	struct nft_tx nft;
	int nft_fd; /* -1: no rule changes */
	bool back;  /* it puts back what a change did that failed */
};

struct jobs {
	struct arena arena;
	VEC(struct job) v;
};

/* ---- making messages ---- */

static int open_nft(struct job *j, struct err *err)
{
	if (j->nft_fd >= 0)
		return 0;
	int rc = nl_open(NETLINK_NETFILTER, &j->nft_fd, err);
	if (rc == 0)
		nft_start(&j->nft, j->nft_fd);
	return rc;
}

/* The text of a rule that counts on from there, so that no drop of before is forgotten. */
static char *counting_on(const char *text, const struct nft_counter *from)
{
	const char *word = strstr(text, " counter ");
	int head = word ? (int)(word - text) : 0;

	if (!word)
		return mem_strdup(text);
	return mem_printf("%.*s counter packets %llu bytes %llu %s", head, text,
			  (unsigned long long)from->packets, (unsigned long long)from->bytes,
			  word + strlen(" counter "));
}

static int make_rule(struct job *j, const struct plan_change *c, struct err *err)
{
	const struct nft_place at = {c->op->nft.family, c->op->nft.table, c->op->nft.chain};
	autofree struct nft_rule_now *now = mem_zalloc(c->of * sizeof(*now));
	int rc = open_nft(j, err);

	if (rc == 0)
		rc = nft_read_rules(j->nft_fd, &at, now, c->of, err);
	if (rc)
		return rc;
	autofree char *text = counting_on(c->op->nft.text, &now[c->place].counter);
	const struct nft_rule_text rule = {text, c->op->nft.comment};
	return nft_replace_rule(&j->nft, &at, now[c->place].handle, &rule, err);
}

/*
 * Chains jump to each other, so all of them are there and empty before any gets its rules, and
 * those that are to go are gone last. One that is not there cannot be deleted: it is added first.
 */
enum chain_step { CHAIN_EMPTY, CHAIN_FILL, CHAIN_GO, CHAIN_STEPS };

static int empty_chain(struct job *j, const struct plan_change *c, const struct nft_place *at,
		       struct err *err)
{
	int rc = nft_add_table(&j->nft, at, err);

	if (rc == 0)
		rc = nft_add_chain(&j->nft, at, c->op->nft.hook, err);
	return rc ? rc : nft_flush_chain(&j->nft, at, err);
}

static int make_chain(struct job *j, const struct plan_change *c, enum chain_step step,
		      struct err *err)
{
	const struct nft_place at = {c->op->nft.family, c->op->nft.table, c->op->nft.chain};
	int rc = open_nft(j, err);

	if (rc)
		return rc;
	if (step == CHAIN_EMPTY)
		return empty_chain(j, c, &at, err);
	if (step == CHAIN_GO)
		return c->kind == PLAN_CHAIN_DELETE ? nft_delete_chain(&j->nft, &at, err) : 0;
	for (size_t i = 0; rc == 0 && i < c->n_rules; i++)
		rc = nft_add_rule(&j->nft, &at, c->rules[i]->nft.text, c->rules[i]->nft.comment,
				  err);
	return rc;
}

static int make_chains(struct job *j, struct err *err)
{
	int rc = 0;

	for (int step = 0; step < CHAIN_STEPS; step++) {
		for (const struct plan_change *c = j->first; c < j->end; c++) {
			bool chain = c->kind == PLAN_CHAIN || c->kind == PLAN_CHAIN_DELETE;

			if (rc == 0 && chain)
				rc = make_chain(j, c, (enum chain_step)step, err);
		}
	}
	return rc;
}

static int make_one(struct job *j, const struct plan_change *c, struct err *err)
{
	switch (c->kind) {
	case PLAN_TC_ADD:
		qdisc_step(&j->batch, c->dev, c->ifindex, &c->op->tc, QDISC_ADD);
		return 0;
	case PLAN_TC_CHANGE:
		qdisc_step(&j->batch, c->dev, c->ifindex, &c->op->tc, QDISC_CHANGE);
		return 0;
	case PLAN_TC_DELETE:
		qdisc_delete(c->maybe ? &j->gone : &j->batch, c->dev, c->ifindex, &c->op->tc);
		return 0;
	case PLAN_RULE:
		return make_rule(j, c, err);
	case PLAN_CHAIN:
	case PLAN_CHAIN_DELETE: /* make_chains() */
	case PLAN_OFFLOAD:
	case PLAN_RELAY: /* no messages */
		return 0;
	}
	return 0;
}

/* The calling process is in the job's namespace afterwards. */
static int make_job(struct job *j, struct err *err)
{
	int rc = netns_open(j->first->ns, &j->ns, err);

	for (const struct plan_change *c = j->first; c < j->end; c++) {
		if (rc == 0)
			rc = make_one(j, c, err);
	}
	if (rc == 0)
		rc = make_chains(j, err);
	return rc ? err_wrap(err, "namespace %s", j->first->ns) : 0;
}

static int make_jobs(const struct plan_diff *diff, struct jobs *out, struct err *err)
{
	const struct plan_change *c = diff->changes.v, *end = c + diff->changes.n;
	int rc = 0;

	*out = (struct jobs){0};
	while (c && c < end && rc == 0) {
		struct job *j = VEC_ADD(&out->arena, &out->v);

		*j = (struct job){.first = c, .end = c, .ns = NETNS_INIT, .nft_fd = -1};
		while (j->end < end && strcmp(j->end->ns, c->ns) == 0)
			j->end++;
		rc = make_job(j, err);
		c = j->end;
	}
	return rc;
}

static void jobs_done(struct jobs *jobs)
{
	VEC_FOREACH (j, &jobs->v) {
		if (j->nft_fd >= 0) {
			nft_done(&j->nft);
			close(j->nft_fd);
		}
		nl_batch_done(&j->gone);
		nl_batch_done(&j->batch);
		netns_close(&j->ns);
	}
	arena_done(&jobs->arena);
}

/* ---- making it happen ---- */

static int switch_features(struct job *j, bool on, struct err *err)
{
	int rc = 0;

	for (const struct plan_change *c = j->first; c < j->end; c++) {
		if (rc || c->kind != PLAN_OFFLOAD)
			continue;
		if (on && c->on)
			rc = ethtool_on(j->ns.rt, c->dev, c->on, err);
		else if (!on && c->off)
			rc = ethtool_off(j->ns.rt, c->dev, c->off, err);
	}
	return rc;
}

/* A relay that has ended took over nothing: there is nothing to put back. */
static int tell_relays(struct job *j, struct err *err)
{
	int rc = 0;

	for (const struct plan_change *c = j->first; c < j->end; c++) {
		if (rc || c->kind != PLAN_RELAY)
			continue;
		rc = relays_set(c->op->relay.link, c->op->relay.impair[0], c->op->relay.impair[1],
				err);
		if (rc == -ESRCH && j->back) {
			*err = ERR_INIT;
			rc = 0;
		}
	}
	return rc;
}

static int run_job(struct job *j, struct err *err)
{
	struct err not_there = ERR_INIT;
	struct replaced queues;
	int rc = switch_features(j, false, err);

	replaced_before(&queues, j->ns.rt);
	if (rc == 0 && j->gone.n)
		nl_send(j->ns.rt, &j->gone, &not_there);
	if (rc == 0)
		rc = nl_send(j->ns.rt, &j->batch, err);
	replaced_after(&queues, j->first->ns, j->ns.rt);
	if (rc == 0 && j->nft_fd >= 0)
		rc = nft_commit(&j->nft, err);
	if (rc == 0)
		rc = switch_features(j, true, err);
	if (rc == 0)
		rc = tell_relays(j, err);
	return rc ? err_wrap(err, "namespace %s", j->first->ns) : 0;
}

/* *n: how many were touched, whether that succeeded or not. */
static int run_jobs(struct jobs *jobs, size_t *n, struct err *err)
{
	int rc = 0;

	for (*n = 0; rc == 0 && *n < jobs->v.n; (*n)++)
		rc = run_job(&jobs->v.v[*n], err);
	return rc;
}

static bool was_touched(const struct jobs *jobs, size_t n, const char *ns)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(jobs->v.v[i].first->ns, ns))
			return true;
	}
	return false;
}

/* Puts back what the first `n` jobs may have done. */
static int put_back(const struct plan_diff *undo, const struct jobs *done, size_t n,
		    struct err *err)
{
	struct jobs jobs;
	int rc = make_jobs(undo, &jobs, err);

	VEC_FOREACH (j, &jobs.v) {
		j->back = true;
		if (rc == 0 && was_touched(done, n, j->first->ns))
			rc = run_job(j, err);
	}
	jobs_done(&jobs);
	return rc;
}

/* What could not be done, and that the lab is now neither. */
static int unrecoverable(const struct err *second, struct err *err)
{
	autofree char *first = mem_strdup(err->text);

	return err_fail(err, ENOTRECOVERABLE,
			"%s; and what was changed before could not be put back (%s); the next "
			"vpclab set puts the lab right",
			first, second->text);
}

int change_apply(const struct plan_diff *diff, const struct plan_diff *undo, struct err *err)
{
	struct err second = ERR_INIT;
	struct jobs jobs;
	size_t n = 0;
	int rc = make_jobs(diff, &jobs, err);

	if (rc == 0)
		rc = run_jobs(&jobs, &n, err);
	if (rc && n && put_back(undo, &jobs, n, &second))
		rc = unrecoverable(&second, err);
	jobs_done(&jobs);
	return rc;
}
