// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * measure: what a measurement may say, in one table of keys: which tests take it, how its value is
 * read, where it goes. Does not run anything. Called by scenario.c.
 */
#include "core/harness/measure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/measure_script.h"

#define RR  METRIC_RR
#define IX  METRIC_TEST(TEST_THROUGHPUT)
#define UDP METRIC_UDP_STREAMS
#define TCP                                                                                        \
	(METRIC_TCP_STREAMS | METRIC_TEST(TEST_TCP_RR) | METRIC_CRR | IX | METRIC_TEST(TEST_PAIRS))
#define CRR	METRIC_CRR
#define PROBES	METRIC_TEST(TEST_UDP_LATENCY)
#define PACED	(UDP | PROBES)
#define ANSWERS (RR | METRIC_TEST(TEST_TCP_CRR))
#define SCRIPTS (METRIC_TEST(TEST_PAIRS) | METRIC_TEST(TEST_PATH_CHECK))
#define RANDOM	(PACED | METRIC_TEST(TEST_PAIRS))
#define EVERY	(~0u)

enum value_kind {
	VALUE_TIME,
	VALUE_BYTES,
	VALUE_INT,
	VALUE_LONG, /* a number without unit in an int64_t */
	VALUE_BOOL,
	VALUE_TEXT, /* at most `max` bytes with its end */
	VALUE_OTHER
};

struct key {
	const char *name;
	unsigned tests;
	enum value_kind kind;
	size_t offset;	  /* in struct scenario_measure */
	int64_t min, max; /* of what the field holds: ns, bytes, number */
};

#define SPEC(field) offsetof(struct scenario_measure, spec.field)
#define OWN(field)  offsetof(struct scenario_measure, field)
#define SIZE(field) sizeof(((struct engine_spec *)0)->field)

static const struct key keys[] = {
    {"test", EVERY, VALUE_OTHER, 0, 0, 0},
    {"duration", EVERY, VALUE_TIME, SPEC(duration_ns), NSEC_PER_SEC / 10, 3600 * NSEC_PER_SEC},
    {"warmup", EVERY, VALUE_TIME, SPEC(warmup_ns), 0, 60 * NSEC_PER_SEC},
    {"interval", EVERY, VALUE_TIME, SPEC(interval_ns), 10 * NSEC_PER_MSEC, 60 * NSEC_PER_SEC},
    {"streams", EVERY, VALUE_INT, SPEC(streams), 1, ENGINE_STREAMS},
    {"threads", EVERY, VALUE_INT, SPEC(threads), 0, 1024},
    {"size", EVERY, VALUE_OTHER, 0, 1, 1 << 30},
    {"response_size", ANSWERS | PROBES, VALUE_BYTES, SPEC(response_size), 1, 1 << 30},
    {"frame", UDP, VALUE_BYTES, OWN(frame), 64, 9018},
    {"rate", PACED, VALUE_OTHER, 0, 0, 0},
    {"gaps", PACED, VALUE_OTHER, 0, 0, 0},
    {"burst", PACED, VALUE_LONG, SPEC(burst), 1, ENGINE_BURST},
    {"seed", RANDOM, VALUE_LONG, SPEC(seed), 0, INT64_MAX},
    {"outstanding", RR, VALUE_INT, SPEC(outstanding), 1, 1024},
    {"timeout", RR | CRR | PROBES, VALUE_TIME, SPEC(timeout_ns), 0, 60 * NSEC_PER_SEC},
    {"close", CRR, VALUE_TEXT, SPEC(close), 0, SIZE(close)},
    {"ports", CRR, VALUE_INT, SPEC(ports), 1, 1024},
    {"io", METRIC_TCP_STREAMS | UDP, VALUE_TEXT, SPEC(io), 0, SIZE(io)},
    {"spin", RR | CRR | PACED, VALUE_BOOL, SPEC(spin), 0, 0},
    {"discard", METRIC_TCP_STREAMS, VALUE_BOOL, SPEC(discard), 0, 0},
    {"steady", EVERY, VALUE_BOOL, SPEC(steady), 0, 0},
    {"total_loss", UDP, VALUE_BOOL, SPEC(total_loss), 0, 0},
    {"group", METRIC_TEST(TEST_UDP_MULTICAST), VALUE_TEXT, SPEC(group), 0, SIZE(group)},
    {"file_size", IX, VALUE_BYTES, SPEC(file_size), 1, INT64_C(1) << 50},
    {"script", SCRIPTS, VALUE_OTHER, 0, 0, 0}, /* measure_script.c reads it, and variables */
    {"variables", METRIC_TEST(TEST_PAIRS), VALUE_OTHER, 0, 0, 0},
    {"count", IX, VALUE_LONG, SPEC(count), 0, 1000000},
    {"no_delay", TCP, VALUE_BOOL, SPEC(no_delay), 0, 0},
    {"congestion", TCP, VALUE_TEXT, SPEC(congestion), 0, SIZE(congestion)},
    {"mss", TCP, VALUE_INT, SPEC(mss), 0, 65495},
    {"dscp", EVERY, VALUE_INT, SPEC(dscp), 0, 63},
    {"rcvbuf", EVERY, VALUE_BYTES, SPEC(rcvbuf), 0, 1 << 30},
    {"sndbuf", EVERY, VALUE_BYTES, SPEC(sndbuf), 0, 1 << 30},
    {"client_address", EVERY, VALUE_TEXT, SPEC(client_address), 0, SIZE(client_address)},
    {"bind_device", EVERY, VALUE_TEXT, SPEC(bind_device), 0, SIZE(bind_device)},
    {"unshaped", EVERY, VALUE_BOOL, OWN(unshaped), 0, 0},
    {"family", EVERY, VALUE_OTHER, 0, 0, 0},
    {"cpus", EVERY, VALUE_OTHER, 0, 0, 0},
    {"client_cpu", EVERY, VALUE_INT, OWN(client_cpu), 0, 1023},
    {"server_cpu", EVERY, VALUE_INT, OWN(server_cpu), 0, 1023},
    {"repeat", EVERY, VALUE_OTHER, 0, 0, 0},
    {"schedule", EVERY, VALUE_OTHER, 0, 0, 0}, /* scenario.c reads it */
};

static int out_of_range(const struct key *key, const char *text, struct err *err)
{
	char least[64], most[64];

	if (key->kind == VALUE_TIME) {
		units_format_time(least, sizeof(least), key->min);
		units_format_time(most, sizeof(most), key->max);
	} else {
		snprintf(least, sizeof(least), "%lld", (long long)key->min);
		snprintf(most, sizeof(most), "%lld", (long long)key->max);
	}
	return err_input(err, "'%s' is not between %s and %s", text, least, most);
}

static int read_number(const struct key *key, const char *text, int64_t *v, struct err *err)
{
	int r;

	if (key->kind == VALUE_TIME)
		r = units_parse_time(text, v, err);
	else if (key->kind == VALUE_BYTES)
		r = units_parse_size(text, v, err);
	else
		return units_parse_int(text, key->min, key->max, v, err);
	if (!r && (*v < key->min || *v > key->max))
		return out_of_range(key, text, err);
	return r;
}

static int store(const struct key *key, const char *text, struct scenario_measure *m,
		 struct err *err)
{
	char *field = (char *)m + key->offset;
	int64_t v = 0;

	if (key->kind == VALUE_TEXT) {
		if (strlen(text) >= (size_t)key->max)
			return err_input(err, "'%s' is too long", text);
		strcpy(field, text);
		if (str_eq(key->name, "congestion"))
			m->spec.congestion_required = true;
		return 0;
	}
	int r = read_number(key, text, &v, err);
	if (r)
		return r;
	if (key->kind == VALUE_INT)
		*(int *)field = (int)v;
	else
		*(int64_t *)field = v;
	return 0;
}

static void read_plain(const struct key *key, const struct yaml_node *node,
		       struct scenario_measure *m, struct problems *p)
{
	struct err err = ERR_INIT;

	if (key->kind == VALUE_BOOL) {
		yaml_want_bool(node, key->name, (bool *)((char *)m + key->offset), p);
		return;
	}
	const char *text = yaml_want_text(node, key->name, p);
	if (text && store(key, text, m, &err))
		problems_add(p, node->at, "%s: %s", key->name, err.text);
}

static int size_scalar(const struct yaml_node *node, int64_t *v, struct problems *p)
{
	struct err err = ERR_INIT;
	const char *text = yaml_want_text(node, "size", p);

	if (!text)
		return -EINVAL;
	if (!units_parse_size(text, v, &err) && *v >= 1 && *v <= 1 << 30)
		return 0;
	problems_add(p, node->at, "size: %s",
		     err.text[0] ? err.text : "must be between 1 byte and 1 GiB");
	return -EINVAL;
}

/* One number, or [request, response]. */
static void read_size(const struct yaml_node *node, struct scenario_measure *m, struct problems *p)
{
	if (node->kind != YAML_SEQ) {
		size_scalar(node, &m->spec.size, p);
		return;
	}
	if (!(ANSWERS & METRIC_TEST(m->spec.test)) || node->items.n != 2) {
		problems_add(
		    p, node->at,
		    "size: a list is [request, response], for tcp_rr, udp_rr and tcp_crr only");
		return;
	}
	size_scalar(node->items.v[0], &m->spec.size, p);
	size_scalar(node->items.v[1], &m->spec.response_size, p);
}

/* "100mbit" or "50kpps" */
static void read_rate(const struct yaml_node *node, struct scenario_measure *m, struct problems *p)
{
	struct err err = ERR_INIT;
	const char *text = yaml_want_text(node, "rate", p);
	int r;

	if (!text)
		return;
	if (str_ends(text, "pps"))
		r = units_parse_pps(text, &m->spec.rate_pps, &err);
	else
		r = units_parse_rate(text, &m->spec.rate_bps, &err);
	if (r)
		problems_add(p, node->at, "rate: %s", err.text);
}

static void read_word(const struct yaml_node *node, const char *key, const char *const *words,
		      int *value, struct problems *p)
{
	const char *text = yaml_want_text(node, key, p);
	autostr struct strbuf list = {0};

	for (int i = 0; text && words[i]; i++) {
		if (str_eq(text, words[i])) {
			*value = i;
			return;
		}
		strbuf_addf(&list, "%s%s", i ? ", " : "", words[i]);
	}
	if (text)
		problems_add(p, node->at, "%s: '%s' is not one of %s", key, text,
			     strbuf_text(&list));
}

static void read_other(const struct key *key, const struct yaml_node *node,
		       struct scenario_measure *m, struct problems *p)
{
	static const char *const families[] = {"ipv4", "ipv6", NULL};
	static const char *const gaps[] = {"periodic", "poisson", "uniform", "normal", NULL};
	static const char *const cpus[] = {"default", "same", "apart", "free", "spread", NULL};
	int word = 0;

	if (str_eq(key->name, "size")) {
		read_size(node, m, p);
	} else if (str_eq(key->name, "rate")) {
		read_rate(node, m, p);
	} else if (str_eq(key->name, "gaps")) {
		read_word(node, key->name, gaps, &word, p);
		m->spec.schedule = (enum engine_schedule)word;
	} else if (str_eq(key->name, "repeat")) {
		measure_parse_repeat(node, &m->repeat, p);
	} else if (str_eq(key->name, "family")) {
		read_word(node, key->name, families, &word, p);
		m->family = word ? AF_INET6 : AF_INET;
	} else if (str_eq(key->name, "cpus")) {
		read_word(node, key->name, cpus, &word, p);
		m->cpus = (enum scenario_cpus)word;
	}
}

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (str_eq(keys[i].name, name))
			return &keys[i];
	return NULL;
}

bool measure_takes(const char *name, enum engine_test test)
{
	const struct key *key = find_key(name);

	return !key || (key->tests & METRIC_TEST(test));
}

static void read_key(const struct yaml_pair *pair, struct scenario_measure *m, struct problems *p)
{
	const struct key *key = find_key(pair->key);

	if (!key || str_eq(key->name, "test"))
		return; /* unknown: yaml_check_keys() said it */
	if (!measure_takes(key->name, m->spec.test))
		problems_add(p, pair->key_at, "'%s' means nothing to %s", pair->key,
			     engine_test_name(m->spec.test));
	else if (key->kind == VALUE_OTHER)
		read_other(key, pair->value, m, p);
	else
		read_plain(key, pair->value, m, p);
}

/* An unknown test leaves the other keys unread: what they mean depends on it. */
static bool read_test(const struct yaml_node *map, struct scenario_measure *m, struct problems *p)
{
	struct err err = ERR_INIT;
	const struct yaml_node *node = yaml_get(map, "test");
	const char *text = yaml_want_text(node, "test", p);
	enum engine_test test = TEST_TCP_STREAM;
	bool known = false;

	if (!node)
		problems_add(p, m->at, "measurement '%s' has no 'test'", m->name);
	else if (text && engine_test_parse(text, &test, &err))
		problems_add(p, node->at, "%s", err.text);
	else
		known = text;
	engine_spec_default(&m->spec, test);
	return known;
}

static void check_together(const struct yaml_node *map, const struct scenario_measure *m,
			   struct problems *p)
{
	const struct yaml_node *frame = yaml_get(map, "frame");

	if (!frame)
		return;
	if (yaml_get(map, "size"))
		problems_add(p, frame->at, "frame: give either 'frame' or 'size', not both");
	else if (m->family == AF_INET6 && m->frame < 84)
		problems_add(
		    p, frame->at,
		    "frame: UDP over IPv6 needs frames of 84 bytes or more (18 of payload)");
}

/* What the engine itself says of it, now and not when it is run. */
static void check_spec(const struct scenario_measure *m, struct problems *p)
{
	struct err err = ERR_INIT;
	struct engine_spec checked;
	json_t *j = engine_spec_json(&m->spec);

	if (engine_spec_parse(j, &checked, &err))
		problems_add(p, m->at, "measurement '%s': %s", m->name, err.text);
	json_decref(j);
}

void measure_parse(const struct yaml_node *node, struct scenario_measure *m, struct problems *p)
{
	const struct yaml_node *map = yaml_want_map(node, m->name, p);
	const char *names[ARRAY_SIZE(keys)];

	size_t before = problems_count(p);

	m->family = AF_INET;
	m->client_cpu = m->server_cpu = -1;
	if (!map) {
		engine_spec_default(&m->spec, TEST_TCP_STREAM);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		names[i] = keys[i].name;
	yaml_check_keys(map, "measurement", names, ARRAY_SIZE(names), p);
	if (!read_test(map, m, p))
		return;
	VEC_FOREACH (pair, &map->pairs)
		read_key(pair, m, p);
	if (METRIC_TEST(m->spec.test) & SCRIPTS)
		measure_read_script(map, m, p);
	check_together(map, m, p);
	if (problems_count(p) == before)
		check_spec(m, p);
}

static void read_share(const struct yaml_node *map, const char *key, double *share, double most,
		       struct problems *p)
{
	struct err err = ERR_INIT;
	const struct yaml_node *node = yaml_get(map, key);
	const char *text = yaml_want_text(node, key, p);
	int64_t ppm;

	if (!text)
		return;
	if (units_parse_percent(text, &ppm, &err))
		problems_add(p, node->at, "%s: %s", key, err.text);
	else if (ppm <= 0 || (double)ppm / 1e6 > most)
		problems_add(p, node->at, "%s: '%s' is not above 0%% and at most %g%%", key, text,
			     most * 100);
	else
		*share = (double)ppm / 1e6;
}

static void read_runs(const struct yaml_node *map, const char *key, int *runs, struct problems *p)
{
	struct err err = ERR_INIT;
	const struct yaml_node *node = yaml_get(map, key);
	const char *text = yaml_want_text(node, key, p);
	int64_t v;

	if (!text)
		return;
	if (units_parse_int(text, 1, 100, &v, &err))
		problems_add(p, node->at, "%s: %s", key, err.text);
	else
		*runs = (int)v;
}

void measure_parse_repeat(const struct yaml_node *node, struct scenario_repeat *r,
			  struct problems *p)
{
	static const char *const names[] = {"confidence", "width", "min", "max"};
	const struct yaml_node *map = yaml_want_map(node, "repeat", p);

	if (!map)
		return;
	yaml_check_keys(map, "repeat", names, ARRAY_SIZE(names), p);
	read_share(map, "confidence", &r->confidence, 0.9999, p);
	read_share(map, "width", &r->width, 1, p);
	read_runs(map, "min", &r->min, p);
	read_runs(map, "max", &r->max, p);
	if (r->min > r->max && yaml_get(map, "max"))
		problems_add(p, yaml_get(map, "max")->at, "max: %d is less than min, which is %d",
			     r->max, r->min);
	else if (r->min > r->max)
		r->max = r->min;
}
