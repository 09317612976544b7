/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs: scripts as IxChariot's on up to 10,000 pairs at a time: throughput, response time and
 * transaction rate of each pair, each group and all, and how calls over the path would sound.
 *
 * spec.script is the script as JSON (script.h); core/harness/scripts.c makes it from a user's file.
 * One thread at each end serves all pairs (pair_loop.h). The client draws all that is random from
 * spec.seed, so the same seed gives the same sizes and times.
 *
 * The run ends when all pairs have ended their scripts, when the first has ("end": "first"), or
 * after spec.duration_ns, whichever is first; with "end": "time" loops without count go on until
 * then. A timing record counts when it began after the warm-up and ended before the end of the run.
 *
 * What is reported (pair_result.c has the arithmetic):
 *   goodput_bps  what was received, at both ends, a second, from the end of the warm-up until the
 *                run's end, or until the last of it came
 *   pps          transactions a second of the run
 *   latency      ns a transaction, a sample a timing record
 *   delay        one way, of all datagrams; between two clocks by the offset that the driver found.
 *                Without one, delays and R-values are null; jitter needs none
 *   pairs        an object a pair; of more than PAIRS_SHOWN, the PAIRS_WORST slowest
 *   detail       {"script", "ended_by", "run_s", "seed", "pairs", "complete", "failed", "shown",
 *                 "groups": […], "total": {…}}
 */
#include "core/engine/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/packet.h"
#include "core/engine/result.h"

#define PAIRS_FILES 32 /* descriptors besides those of the pairs */

static const char pairs_own_script[] =
    "{\"version\":1,\"name\":\"throughput\",\"groups\":[{\"name\":\"throughput\",\"commands\":["
    "\"connect\",{\"loop\":{\"do\":[\"start_timer\",{\"send\":\"1MB\"},\"confirm\","
    "\"end_timer\"]}},\"disconnect\"]}]}";

int pairs_script(const struct engine_spec *s, struct script *script, struct err *err)
{
	return script_parse_text(s->script ? s->script : pairs_own_script, script, err);
}

static void pairs_defaults(struct engine_spec *s)
{
	s->warmup_ns = 0;
	s->no_delay = true;
	s->file_size = 1; /* no time beside the duration for a last transfer */
}

static int pairs_check(const struct engine_spec *s, struct err *err)
{
	struct script script;
	if (s->streams != 1 || s->threads > 1 || s->ports != 1)
		return err_input(err,
				 "%s: pairs: the script says how many pairs there are; one "
				 "thread at each end serves them",
				 s->streams != 1 ? "streams"
				 : s->ports != 1 ? "ports"
						 : "threads");
	if (s->count)
		return err_input(err, "count: the script's loops say how often");
	if (!str_eq(s->close, "rst") && !str_eq(s->close, "fin"))
		return err_input(err, "close: must be rst or fin");
	int r = pairs_script(s, &script, err);
	script_done(&script);
	return r;
}

void pairs_put(char *to, uint32_t session, uint32_t pair, const struct packet *p)
{
	struct packet own = *p;
	uint32_t source = htobe32(pair);
	memset(to, 0, 8);
	memcpy(to + 8, &source, 4);
	own.session = session;
	packet_put(to + 12, PACKET_TIMED, &own);
}

bool pairs_descriptors(struct stream *s, int pairs)
{
	struct rlimit files, more;
	rlim_t need = (rlim_t)pairs + PAIRS_FILES;
	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= need)
		return true;
	more = files;
	more.rlim_cur = need;
	if (more.rlim_max < need) /* root may */
		more.rlim_max = need;
	if (!setrlimit(RLIMIT_NOFILE, &more))
		return true;
	err_fail(&s->err, EMFILE,
		 "%d pairs need %lld descriptors; the limit is %lld: raise it with ulimit -n",
		 pairs, (long long)need, (long long)files.rlim_max);
	atomic_store(&s->w->failed, true);
	return false;
}

static void pairs_prepare(struct stream *s)
{
	struct pairs *p = mem_zalloc(sizeof(*p));
	struct err checked = ERR_INIT; /* the specification has passed pairs_check() */
	struct worker *w = s->w;
	pairs_script(&w->spec, &p->script, &checked);
	p->keeper_fd = p->udp_fd = -1;
	p->ended_by = "stopped";
	p->times = mem_zalloc((p->script.groups.n + 1) * sizeof(struct hist *));
	if (w->server)
		p->flows = mem_zalloc((size_t)p->script.pairs * sizeof(struct pair_flow *));
	else
		p->pairs = mem_zalloc((size_t)p->script.pairs * sizeof(*p->pairs));
	if (!w->spec.seed)
		w->spec.seed = distribution_seed_new();
	s->own = p;
}

static void pairs_release(struct stream *s)
{
	struct pairs *p = s->own;
	for (size_t i = 0; i < p->script.groups.n; i++)
		hist_free(p->times[i]);
	for (int i = 0; p->flows && i < p->script.pairs; i++)
		free(p->flows[i]);
	if (p->udp_fd >= 0)
		close(p->udp_fd);
	free(p->times);
	free(p->flows);
	free(p->pairs);
	script_done(&p->script);
	free(p);
}

static json_t *pairs_pair(const struct pair *pair)
{
	json_t *j = json_pack("[o,I,I,i,i,I]", pair_stats_pack(&pair->stats),
			      (json_int_t)pair->sent, (json_int_t)pair->missed, (int)pair->state,
			      pair->code, (json_int_t)pair->connections);
	return j;
}

static void pairs_report(struct worker *w, json_t *result)
{
	struct pairs *p = w->streams->own;
	json_t *times = json_array(), *list = json_array();
	for (size_t i = 0; i < p->script.groups.n; i++)
		json_array_append_new(times, p->times[i] ? hist_json(p->times[i]) : json_null());
	for (int i = 0; i < p->script.pairs; i++) {
		if (!w->server)
			json_array_append_new(list, pairs_pair(&p->pairs[i]));
		else if (p->flows[i])
			json_array_append_new(list,
					      json_pack("[i,o]", i, pair_flow_pack(p->flows[i])));
	}
	json_object_set_new(result, w->server ? "delays" : "times", times);
	json_object_set_new(result, w->server ? "flows" : "pairs", list);
	if (w->server) {
		json_object_set_new(result, "comparable", json_boolean(worker_comparable(w)));
		json_object_set_new(result, "invalid", json_integer(p->invalid));
		json_object_set_new(result, "drops",
				    json_integer(p->udp_fd >= 0 ? socket_drops(p->udp_fd) : 0));
		return;
	}
	int64_t run = p->ended_ns - w->win.begin_ns;
	json_object_set_new(result, "run_ns", json_integer(run > 0 ? run : 0));
	json_object_set_new(result, "window_ns", json_integer(run > 0 ? run : 0));
	json_object_set_new(result, "begun_ns", json_integer(p->begun_ns));
	json_object_set_new(result, "ended_by", json_string(p->ended_by));
	json_object_set_new(result, "seed", json_integer(w->spec.seed));
}

static bool pairs_also_udp(const struct engine_spec *s)
{
	struct script script;
	struct err checked = ERR_INIT;
	bool udp = !pairs_script(s, &script, &checked) && script.udp;
	script_done(&script);
	return udp;
}

static const char *const pairs_aliases[] = {"script", "scripts", "ixchariot_pairs", NULL};

const struct engine_def pairs_engine = {
    .test = TEST_PAIRS,
    .name = "pairs",
    .aliases = pairs_aliases,
    .scripted = true,
    .open_end = true,
    .unit = UNIT_BYTES,
    .max_gap_ns = {100 * NSEC_PER_MSEC, 100 * NSEC_PER_MSEC},
    .own_connections = true,
    .also_udp = pairs_also_udp,
    .defaults = pairs_defaults,
    .check = pairs_check,
    .prepare = pairs_prepare,
    .crew = {pairs_server, pairs_client},
    .release = pairs_release,
    .report = pairs_report,
    .merge = pairs_merge,
};
