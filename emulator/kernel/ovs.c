/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ovs: builds all Open vSwitch instances of a lab. Called by emulator/lab/apply.c from one thread.
 *
 * Each step is done for all instances before the next one begins, and its programs run side by
 * side: databases, servers, (the trial of port kinds,) switches, one transaction each, flows.
 * Programs of one step that are still running when another of them fails are collected all the
 * same.
 */
#include "emulator/kernel/ovs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/kernel/netns.h"
#include "emulator/kernel/nl.h"
#include "emulator/kernel/ovs_run.h"
#include "emulator/kernel/ovs_trial.h"

#define OVS_BASE      "/run/ovs"
#define OVS_NAME_MAX  60 /* longer ones are cut: sockets in the directory have 107 bytes in all */
#define OVS_XDP_PORTS 8
#define OVS_XDP_MTU   3000 /* a frame must fit into a quarter-page chunk of AF_XDP memory */
#define OVS_ALL_NS    (10 * NSEC_PER_SEC)   /* for all programs of all instances, */
#define OVS_EACH_NS   (500 * NSEC_PER_MSEC) /* and this for each: a slow machine is no error */
#define OVS_DATAPATHS "system, netdev or dummy"

struct instance {
	struct ovs_instance *spec;
	struct netns ns;
	struct ovs_at at;
	struct ovs_job job;
	bool started;	     /* job runs */
	int64_t deadline_ns; /* for all of its programs, clock_now_ns() time */
	VEC(const char *) argv;
	size_t next_bridge; /* whose flows are added next */
};

struct ovs {
	struct arena arena;
	struct instance *v;
	size_t n;
	const struct ovs_kind *kind; /* of netdev ports; NULL: no instance needs one */
};

const char *ovs_dir(char path[static OVS_PATH], const char *ns)
{
	if (strlen(ns) <= OVS_NAME_MAX) {
		snprintf(path, OVS_PATH, OVS_BASE "/%s", ns);
		return path;
	}
	/* Names that are cut stay different. */
	snprintf(path, OVS_PATH, OVS_BASE "/%.*s-%08x", OVS_NAME_MAX - 9, ns,
		 (unsigned)hash_fnv(ns, strlen(ns), 0));
	return path;
}

void ovs_env(char env[static OVS_ENV][OVS_PATH + 24], const char *ns)
{
	static const char *const names[OVS_ENV] = {"OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR",
						   "OVS_SYSCONFDIR"};
	char dir[OVS_PATH];

	ovs_dir(dir, ns);
	for (int i = 0; i < OVS_ENV; i++)
		snprintf(env[i], OVS_PATH + 24, "%s=%s", names[i], dir);
}

bool ovs_kernel_present(void)
{
	return nl_has_family("ovs_datapath");
}

/* A socket by which devices of the instance's namespace can be asked. */
static int open_rt(struct instance *in, struct err *err)
{
	struct netns self = NETNS_INIT;
	int rc = netns_self(&self, err);

	if (rc)
		return rc;
	rc = netns_enter(&in->ns, err);
	if (!rc)
		rc = nl_open(NETLINK_ROUTE, &in->ns.rt, err);
	if (netns_enter(&self, err) && !rc)
		rc = -err->code;
	netns_close(&self);
	return rc;
}

static int open_instance(struct instance *in, struct err *err)
{
	autofree char *path = mem_printf(NETNS_DIR "/%s", in->spec->ns);

	in->ns.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (in->ns.fd < 0)
		return err_sys(err, errno, "cannot open namespace '%s'", in->spec->ns);
	in->at = (struct ovs_at){
	    .name = in->spec->ns, .ns_fd = in->ns.fd, .deadline_ns = in->deadline_ns};
	return open_rt(in, err);
}

/* What is planned, as far as this machine has it; what runs instead is said in the result. */
static int choose_datapath(struct instance *in, struct err *err)
{
	const char *planned = in->spec->datapath;

	if (str_eq(planned, "system")) {
		if (!ovs_kernel_present())
			return err_unsupported(
			    err, "this kernel has no openvswitch module, or has not loaded "
				 "it (modprobe openvswitch)");
		in->spec->ran_datapath = "system";
		in->spec->ran_ports = "kernel";
		return 0;
	}
	if (!str_eq(planned, "netdev") && !str_eq(planned, "dummy"))
		return err_input(err, "'%s' is not a datapath (" OVS_DATAPATHS ")", planned);
	/* A bridge of the netdev datapath has a tap device of its own. */
	bool dummy = str_eq(planned, "dummy") || access("/dev/net/tun", R_OK | W_OK) < 0;
	in->spec->ran_datapath = dummy ? "dummy" : "netdev";
	in->spec->ran_ports = dummy ? "dummy" : NULL;
	return 0;
}

static int prepare(struct ovs *o, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < o->n; i++) {
		rc = open_instance(&o->v[i], err);
		if (!rc)
			rc = choose_datapath(&o->v[i], err);
		if (!rc)
			rc = ovs_run_prepare(&o->v[i].at, err);
		if (rc)
			err_wrap(err, "%s", o->v[i].spec->ns);
	}
	return rc;
}

/* Runs one program of every instance; `start` may decide that there is none (started stays false).
 * The first error counts, but all that were started are waited for. */
static int for_all(struct ovs *o, int (*start)(struct ovs *, struct instance *, struct err *),
		   struct err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < o->n; i++) {
		rc = start(o, &o->v[i], err);
		if (rc)
			err_wrap(err, "%s", o->v[i].spec->ns);
	}
	for (size_t i = 0; i < o->n; i++) {
		struct err failed = ERR_INIT;

		if (!o->v[i].started)
			continue;
		o->v[i].started = false;
		if (ovs_run_finish(&o->v[i].job, &failed) && !rc) {
			*err = failed;
			rc = err_wrap(err, "%s", o->v[i].spec->ns);
		}
	}
	return rc;
}

static int started(struct instance *in, int rc)
{
	in->started = !rc;
	return rc;
}

static int start_ovsdb(struct ovs *o, struct instance *in, struct err *err)
{
	(void)o;
	return started(in, ovs_run_ovsdb(&in->at, &in->job, err));
}

static int start_vswitchd(struct ovs *o, struct instance *in, struct err *err)
{
	(void)o;
	return started(in, ovs_run_vswitchd(&in->at, in->spec->ran_datapath, &in->job, err));
}

/* vswitchd reads this when it starts. */
static int start_tso(struct ovs *o, struct instance *in, struct err *err)
{
	const char *const argv[] = {"ovs-vsctl", "--no-wait",
				    "set",	 "Open_vSwitch",
				    ".",	 "other_config:userspace-tso-enable=true",
				    NULL};

	if (!o->kind || !o->kind->tso || !str_eq(in->spec->ran_datapath, "netdev"))
		return 0;
	return started(in, ovs_run_start(&in->at, argv, NULL, &in->job, err));
}

static bool is_veth(int fd, const char *dev)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq ifr = {.ifr_data = (void *)&info};

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", dev);
	return ioctl(fd, SIOCETHTOOL, &ifr) == 0 && str_eq(info.driver, "veth");
}

static bool is_small(int fd, const char *dev)
{
	struct ifreq ifr = {0};

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", dev);
	return ioctl(fd, SIOCGIFMTU, &ifr) == 0 && ifr.ifr_mtu <= OVS_XDP_MTU;
}

/* AF_XDP goes round the device's qdisc, and takes frames of one chunk only. */
static bool fits_xdp(const struct instance *in, const struct ovs_port *port)
{
	return !port->shaped && is_veth(in->ns.rt, port->dev) && is_small(in->ns.rt, port->dev);
}

/* AF_XDP takes 64 MiB and a quarter of a second for each port: only small labs get it. */
static bool want_xdp(const struct ovs *o)
{
	size_t ports = 0;

	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < o->v[i].spec->n_ports; k++)
			ports += fits_xdp(&o->v[i], &o->v[i].spec->ports[k]);
	return ports > 0 && ports <= OVS_XDP_PORTS;
}

static int choose_kind(struct ovs *o, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < o->n; i++) {
		struct ovs_instance *spec = o->v[i].spec;
		autostr struct strbuf why = {0};

		if (spec->ran_ports)
			continue;
		if (!o->kind)
			rc = ovs_trial(want_xdp(o), &o->kind, &why, err);
		if (rc)
			break;
		spec->ran_ports = o->kind->name;
		spec->why = why.len ? strbuf_take(&why) : NULL;
	}
	return rc;
}

static void add(struct ovs *o, struct instance *in, const char *arg)
{
	*VEC_ADD(&o->arena, &in->argv) = arg;
}

static void add_bridge(struct ovs *o, struct instance *in, const struct ovs_bridge *b)
{
	char mac[ADDR_TEXT];

	add(o, in, "--");
	add(o, in, "add-br");
	add(o, in, b->name);
	add(o, in, "--");
	add(o, in, "set");
	add(o, in, "bridge");
	add(o, in, b->name);
	add(o, in, arena_printf(&o->arena, "datapath_type=%s", in->spec->ran_datapath));
	add(o, in, arena_printf(&o->arena, "other-config:hwaddr=\"%s\"", mac_format(mac, &b->mac)));
}

/* vswitchd takes away the qdisc of a port that has no QoS; linux-noop means hands off. */
static void keep_qdisc(struct ovs *o, struct instance *in, const char *dev)
{
	const char *id = arena_printf(&o->arena, "@q%zu", in->argv.n);

	add(o, in, "--");
	add(o, in, "set");
	add(o, in, "port");
	add(o, in, dev);
	add(o, in, arena_printf(&o->arena, "qos=%s", id));
	add(o, in, "--");
	add(o, in, arena_printf(&o->arena, "--id=%s", id));
	add(o, in, "create");
	add(o, in, "qos");
	add(o, in, "type=linux-noop");
}

static void add_port(struct ovs *o, struct instance *in, const struct ovs_port *p)
{
	bool netdev = str_eq(in->spec->ran_datapath, "netdev");

	add(o, in, "--");
	add(o, in, "add-port");
	add(o, in, p->bridge);
	add(o, in, p->dev);
	if (p->vlan)
		add(o, in, arena_printf(&o->arena, "tag=%d", p->vlan));
	if (p->shaped)
		keep_qdisc(o, in, p->dev);
	if (!netdev || !o->kind->type || !fits_xdp(in, p))
		return;
	add(o, in, "--");
	add(o, in, "set");
	add(o, in, "interface");
	add(o, in, p->dev);
	add(o, in, arena_printf(&o->arena, "type=%s", o->kind->type));
}

static int start_transaction(struct ovs *o, struct instance *in, struct err *err)
{
	const struct ovs_instance *s = in->spec;

	add(o, in, "ovs-vsctl");
	add(o, in, "--timeout=30");
	for (size_t i = 0; i < s->n_bridges; i++)
		add_bridge(o, in, &s->bridges[i]);
	for (size_t i = 0; i < s->n_ports; i++)
		add_port(o, in, &s->ports[i]);
	add(o, in, NULL);
	return started(in, ovs_run_start(&in->at, in->argv.v, NULL, &in->job, err));
}

/* The flows of one bridge of the instance, the next that has any. */
static int start_flows(struct ovs *o, struct instance *in, struct err *err)
{
	const struct ovs_instance *s = in->spec;
	autostr struct strbuf text = {0};
	const char *argv[] = {"ovs-ofctl", "--bundle", "add-flows", NULL, "-", NULL};

	(void)o;
	while (!text.len && in->next_bridge < s->n_bridges) {
		argv[3] = s->bridges[in->next_bridge++].name;
		for (size_t i = 0; i < s->n_flows; i++)
			if (str_eq(s->flows[i].bridge, argv[3]))
				strbuf_addf(&text, "%s\n", s->flows[i].text);
	}
	if (!text.len)
		return 0;
	return started(in, ovs_run_start(&in->at, argv, strbuf_text(&text), &in->job, err));
}

static bool flows_left(const struct ovs *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].next_bridge < o->v[i].spec->n_bridges)
			return true;
	return false;
}

static int build(struct ovs *o, struct err *err)
{
	int rc = prepare(o, err);

	if (!rc)
		rc = for_all(o, start_ovsdb, err);
	if (!rc)
		rc = choose_kind(o, err);
	if (!rc)
		rc = for_all(o, start_tso, err);
	if (!rc)
		rc = for_all(o, start_vswitchd, err);
	if (!rc)
		rc = for_all(o, start_transaction, err);
	while (!rc && flows_left(o))
		rc = for_all(o, start_flows, err);
	return rc;
}

int ovs_build(struct ovs_instance *v, size_t n, struct err *err)
{
	int64_t deadline = clock_now_ns() + OVS_ALL_NS + (int64_t)n * OVS_EACH_NS;
	struct ovs o = {.n = n};
	int rc;

	arena_init(&o.arena);
	o.v = arena_alloc(&o.arena, n * sizeof(*o.v));
	for (size_t i = 0; i < n; i++)
		o.v[i] =
		    (struct instance){.spec = &v[i], .ns = NETNS_INIT, .deadline_ns = deadline};
	rc = build(&o, err);
	for (size_t i = 0; i < n; i++) {
		netns_close(&o.v[i].ns);
		if (rc)
			free(v[i].why);
	}
	arena_done(&o.arena);
	return rc;
}
