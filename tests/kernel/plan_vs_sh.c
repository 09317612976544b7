/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeout: 300
 *
 * The plan applied through our libraries and the plan printed as a shell script must make the same
 * network: both are built, each in namespaces of its own, dumped by iproute2, nft and ethtool, and
 * the dumps compared. Called with --dump, this program prints the dump of the lab that it stands
 * in.
 */
#include "tests/kernel/plans.h"
#include "tests/kernel/sandbox.h"

#include <dirent.h>
#include <sys/wait.h>

#include "emulator/lab/apply.h"

/* What differs between two runs of the same thing. */
static const char *const volatile_names[] = {"handle",
					     "packets",
					     "bytes",
					     "link_netnsid",
					     "hello_timer",
					     "tcn_timer",
					     "gc_timer",
					     "topology_change_timer",
					     "operstate",
					     "stats64",
					     "stats",
					     "cacheinfo",
					     "used",
					     "updated",
					     "confirmed",
					     "probes",
					     "refcnt",
					     "topology_change",
					     "topology_change_detected",
					     "parentbus",
					     NULL};

static const char *const commands[][8] = {
    {"ip", "-j", "-d", "link"},
    {"ip", "-j", "addr"},
    {"ip", "-j", "-d", "-4", "route"},
    {"ip", "-j", "-d", "-6", "route"},
    {"ip", "-j", "-4", "neigh", "show", "nud", "permanent"},
    {"ip", "-j", "-6", "neigh", "show", "nud", "permanent"},
    {"bridge", "-j", "fdb", "show"},
    {"tc", "-j", "qdisc"},
    {"nft", "-j", "list", "ruleset"},
};

/* Learned entries come and go with traffic. */
static void drop_learned(json_t *fdb)
{
	for (size_t i = json_array_size(fdb); i-- > 0;) {
		const char *state =
		    json_string_value(json_object_get(json_array_get(fdb, i), "state"));
		if (json_object_get(json_array_get(fdb, i), "mac") &&
		    (!state || strcmp(state, "permanent") != 0))
			json_array_remove(fdb, i);
	}
}

/* Carrier of bridges and the state of their ports follow a moment later (linkwatch). */
static void drop_carrier(json_t *links)
{
	static const char *const port_state[] = {"state", NULL};
	json_t *link;
	size_t k;

	json_array_foreach(links, k, link)
	{
		json_t *flags = json_object_get(link, "flags");
		json_t *info = json_object_get(link, "linkinfo");
		sandbox_strip(json_object_get(info, "info_slave_data"), port_state);
		for (size_t i = json_array_size(flags); i-- > 0;) {
			const char *flag = json_string_value(json_array_get(flags, i));
			if (!strcmp(flag, "NO-CARRIER") || !strcmp(flag, "LOWER_UP"))
				json_array_remove(flags, i);
		}
	}
}

static int text_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Forwarding entries and qdiscs are listed in no particular order. */
static json_t *sorted(json_t *array)
{
	size_t n = json_array_size(array);
	char **texts = mem_zalloc((n + 1) * sizeof(*texts));
	json_t *out = json_array();

	for (size_t i = 0; i < n; i++)
		texts[i] = json_dumps(json_array_get(array, i), JSON_SORT_KEYS);
	qsort(texts, n, sizeof(*texts), text_order);
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(out, json_loads(texts[i], 0, NULL));
		free(texts[i]);
	}
	free(texts);
	json_decref(array);
	return out;
}

static void dump_features(const struct netns *ns, json_t *out)
{
	json_t *links = SANDBOX_JSON(ns, "ip", "-j", "link"), *link;
	size_t i;

	json_array_foreach(links, i, link)
	{
		const char *dev = json_string_value(json_object_get(link, "ifname"));
		autofree char *text = SANDBOX_RUN(ns, "ethtool", "-k", dev);
		json_object_set_new(out, dev, json_string(text));
	}
	json_decref(links);
}

static void dump_sysctls(const struct netns *ns, json_t *out)
{
	static const char *const keys[] = {"net.ipv4.ip_forward",
					   "net.ipv6.conf.all.forwarding",
					   "net.ipv6.conf.default.addr_gen_mode",
					   "net.ipv6.conf.all.disable_ipv6",
					   "net.ipv4.conf.all.rp_filter",
					   "net.ipv4.conf.all.send_redirects",
					   "net.ipv4.conf.all.arp_ignore",
					   NULL};

	for (const char *const *key = keys; *key; key++) {
		autofree char *text = SANDBOX_RUN(ns, "sysctl", "-e", *key);
		json_object_set_new(out, *key, json_string(text ? text : ""));
	}
}

static json_t *dump_node(const char *name)
{
	struct err err = ERR_INIT;
	struct netns self, ns;
	json_t *node = json_object(), *features = json_object(), *sysctls = json_object();

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_open(name, &ns, &err));
	sandbox_ok(&err, netns_enter(&self, &err));
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		autostr struct strbuf key = {0};
		for (const char *const *word = commands[i]; *word; word++)
			strbuf_addf(&key, "%s ", *word);
		json_t *j = sandbox_json(&ns, commands[i]);
		if (!strcmp(commands[i][0], "bridge")) {
			drop_learned(j);
		}
		if (!strcmp(commands[i][0], "bridge") || !strcmp(commands[i][0], "tc"))
			j = sorted(j);
		drop_carrier(j);
		json_object_set_new(node, strbuf_text(&key), j);
	}
	dump_features(&ns, features);
	dump_sysctls(&ns, sysctls);
	json_object_set_new(node, "features", features);
	json_object_set_new(node, "sysctls", sysctls);
	netns_close(&ns);
	netns_close(&self);
	return node;
}

static json_t *dump_lab(void)
{
	json_t *lab = json_object();
	DIR *dir = opendir(NETNS_DIR);

	assert_non_null(dir);
	for (struct dirent *d; (d = readdir(dir));)
		if (d->d_name[0] != '.')
			json_object_set_new(lab, d->d_name, dump_node(d->d_name));
	closedir(dir);
	sandbox_strip(lab, volatile_names);
	return lab;
}

static int dump_to(FILE *f)
{
	json_t *lab = dump_lab();
	int rc = json_dumpf(lab, f, JSON_SORT_KEYS);

	json_decref(lab);
	return rc || fflush(f) ? 1 : 0;
}

/* Applies in a child, which enters namespaces of its own, and reads its dump. */
static json_t *by_libraries(const struct plan *plan)
{
	json_error_t error;
	int fds[2], status;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct apply_result result;
		struct err err = ERR_INIT;
		sandbox_enter();
		if (apply_plan(plan, &result, &err) < 0) {
			dprintf(fds[1], "{\"error\": \"%s\"}", err.text);
			_exit(1);
		}
		_exit(dump_to(fdopen(fds[1], "w")));
	}
	close(fds[1]);
	FILE *f = fdopen(fds[0], "r");
	json_t *lab = json_loadf(f, 0, &error);
	fclose(f);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!lab || status)
		fail_msg("apply: %s",
			 lab ? json_string_value(json_object_get(lab, "error")) : error.text);
	return lab;
}

static json_t *by_script(const struct plan *plan)
{
	char script[] = "/tmp/plan_vs_sh.XXXXXX", self[4096];
	autostr struct strbuf text = {0}, out = {0}, errout = {0};
	struct err err = ERR_INIT;
	json_error_t error;
	int status;

	plan_print_sh(plan, &text);
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(n > 0);
	self[n] = '\0';
	int fd = mkstemp(script);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text.s, text.len), text.len);
	close(fd);
	const char *const argv[] = {"sh", script, self, "--dump", NULL};
	int rc = proc_run(argv, 120 * NSEC_PER_SEC, &out, &errout, &status, &err);
	unlink(script);
	sandbox_ok(&err, rc);
	json_t *lab = json_loads(strbuf_text(&out), 0, &error);
	if (status != 0 || !lab)
		fail_msg("script: exit %d: %s", status, strbuf_text(&errout));
	return lab;
}

static void same_network(const char *path)
{
	struct lab_plan p = {0};
	const char *node, *command;
	json_t *ours, *what;

	make_plan(path, &p);
	json_t *a = by_libraries(&p.plan), *b = by_script(&p.plan);
	assert_true(json_object_size(a) >= 3);
	assert_int_equal(json_object_size(a), json_object_size(b));
	json_object_foreach(a, node, ours)
	{
		json_t *theirs = json_object_get(b, node);
		json_object_foreach(ours, command, what)
		{
			autofree char *title = mem_printf("%s: %s: %s", path, node, command);
			json_t *other = json_object_get(theirs, command);
			assert_non_null(other);
			sandbox_equal(title, json_incref(what), json_incref(other));
		}
	}
	json_decref(a);
	json_decref(b);
	drop_plan(&p);
}

static void flat(void **state)
{
	(void)state;
	same_network("topologies/flat.yaml");
}

static void eip(void **state)
{
	(void)state;
	same_network("topologies/eip.yaml");
}

static void vpc(void **state)
{
	(void)state;
	same_network("topologies/vpc.yaml");
}

static void zstack(void **state)
{
	(void)state;
	same_network("topologies/zstack.yaml");
}

static void dumbbell(void **state)
{
	(void)state;
	same_network("topologies/dumbbell.yaml");
}

static void queues(void **state)
{
	(void)state;
	same_network("topologies/queues.yaml");
}

/* Caps of all kinds, both directions in one, a profile. */
static void vnic(void **state)
{
	(void)state;
	same_network("topologies/vnic.yaml");
}

static void vlan(void **state)
{
	(void)state;
	same_network("topologies/vlan.yaml");
}

/* Namespaces must be had, else all is skipped: tried in a child, since this process stays outside.
 */
static void probe_namespaces(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		sandbox_enter();
		_exit(3);
	}
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		exit(0); /* the child has said why */
}

/* The script runs relays by it: beside us in the build directory. */
static void find_program(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	for (int up = 0; up < 3 && strrchr(self, '/'); up++)
		*strrchr(self, '/') = '\0';
	autofree char *program = mem_printf("%s/vpclab", self);
	setenv("VPCLAB", program, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flat),   cmocka_unit_test(eip),	  cmocka_unit_test(vpc),
	    cmocka_unit_test(zstack), cmocka_unit_test(dumbbell), cmocka_unit_test(queues),
	    cmocka_unit_test(vnic),   cmocka_unit_test(vlan),
	};

	if (argc == 2 && !strcmp(argv[1], "--dump"))
		return dump_to(stdout);
	probe_namespaces();
	find_program();
	/* An emulated machine has no time for more than what only it can test. */
	if (getenv("VPCLAB_SLOW"))
		cmocka_set_test_filter("vlan");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
