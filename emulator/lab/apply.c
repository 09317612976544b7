/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply: hands the plan's operations to emulator/kernel, namespace by namespace. Decides nothing:
 * what is done and in which order is the plan's. Called by supervisor.c and by tests.
 *
 * Inside a phase the operations of one namespace are a job. Two threads take jobs one after the
 * other and enter the namespace; most of the kernel's work is under its one rtnetlink lock, so more
 * threads only wait (a star of 1,000 VMs on two CPUs: 2.3 s with one thread, 1.5 s with two, 2.5 s
 * with four). All rtnetlink messages of a job go in one batch, all nftables
 * objects in one transaction; what goes by other ways (sysctls, features) is done in between, in
 * the plan's order.
 */
#include "emulator/lab/apply.h"

#include <errno.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/keyset.h"
#include "emulator/kernel/addr.h"
#include "emulator/kernel/ethtool.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/neigh.h"
#include "emulator/kernel/netns.h"
#include "emulator/kernel/nft.h"
#include "emulator/kernel/nl.h"
#include "emulator/kernel/ovs.h"
#include "emulator/kernel/qdisc.h"
#include "emulator/kernel/route.h"
#include "emulator/kernel/sysctl.h"
#include "emulator/lab/relays.h"
#include "emulator/lab/replaced.h"
#include "emulator/plan/plan_relay.h"

#define APPLY_THREADS 2

_Static_assert((int)OFFLOAD_TSO == ETHTOOL_TSO && (int)OFFLOAD_GSO == ETHTOOL_GSO &&
		   (int)OFFLOAD_GRO == ETHTOOL_GRO && (int)OFFLOAD_TX == ETHTOOL_TX &&
		   (int)OFFLOAD_UDP_SEG == ETHTOOL_UDP_SEG,
	       "the bits of the model are those of emulator/kernel");

struct apply_ns {
	const char *name;
	struct netns ns;
};

struct apply {
	const struct plan *plan;
	struct arena arena;
	VEC(struct apply_ns) ns;
	struct keyset names; /* of namespaces: indices */
	int *ns_of;	     /* of each operation: index of its namespace */
	/* Operations of the running phase by namespace: op[start[k]] … op[start[k+1]-1]. */
	size_t *start, *op;
	atomic_size_t next; /* job */
	atomic_bool failed;
	pthread_mutex_t lock; /* of err */
	struct err *err;
};

/* What a thread works with. */
struct apply_job {
	struct apply *a;
	struct apply_ns *ns;
	struct nl_batch batch;
	struct nft_tx nft;
	int nft_fd; /* -1: not needed so far in this namespace */
	bool arp_chain;
	struct err err;
};

static void apply_add_ns(struct apply *a, const char *name)
{
	if (keyset_add_text(&a->names, 0, name, (int)a->ns.n))
		*VEC_ADD(&a->arena, &a->ns) = (struct apply_ns){name, NETNS_INIT};
}

static void apply_init(struct apply *a, const struct plan *plan, struct err *err)
{
	*a = (struct apply){.plan = plan, .lock = PTHREAD_MUTEX_INITIALIZER, .err = err};
	arena_init(&a->arena);
	keyset_init(&a->names);
	size_t n = plan->ops.n;
	a->ns_of = arena_alloc(&a->arena, (n + 1) * sizeof(*a->ns_of));
	a->op = arena_alloc(&a->arena, (n + 1) * sizeof(*a->op));
	VEC_FOREACH (op, &plan->ops)
		if (op->kind == OP_NETNS)
			apply_add_ns(a, op->ns);
	a->start = arena_alloc(&a->arena, (a->ns.n + 2) * sizeof(*a->start));
	for (size_t i = 0; i < n; i++)
		a->ns_of[i] = keyset_find_text(&a->names, 0, plan->ops.v[i].ns);
}

static void apply_done(struct apply *a)
{
	VEC_FOREACH (ns, &a->ns)
		netns_close(&ns->ns);
	keyset_done(&a->names);
	arena_done(&a->arena);
}

/* Counting sort of the phase's operations by namespace, keeping their order. */
static void apply_group(struct apply *a, size_t first, size_t end)
{
	memset(a->start, 0, (a->ns.n + 1) * sizeof(*a->start));
	for (size_t i = first; i < end; i++)
		a->start[a->ns_of[i] + 1]++;
	for (size_t k = 0; k < a->ns.n; k++)
		a->start[k + 1] += a->start[k];
	for (size_t i = first; i < end; i++)
		a->op[a->start[a->ns_of[i]]++] = i;
	for (size_t k = a->ns.n; k > 0; k--)
		a->start[k] = a->start[k - 1];
	a->start[0] = 0;
}

static struct link_spec apply_spec(const struct op_veth_end *e)
{
	return (struct link_spec){.name = e->name,
				  .ifindex = e->ifindex,
				  .mtu = e->mtu,
				  .mac = e->mac,
				  .tx_queues = e->tx_queues,
				  .rx_queues = e->rx_queues,
				  .big_tcp = e->big_tcp};
}

static int apply_netns(struct apply_job *j, const struct op *op)
{
	return netns_create(op->ns, &j->ns->ns, &j->err);
}

static int apply_sysctl(struct apply_job *j, const struct op *op)
{
	int rc = sysctl_set(op->sysctl.key, op->sysctl.value, &j->err);

	return rc == -ENOENT && op->sysctl.optional ? 0 : rc;
}

static int apply_lo_up(struct apply_job *j, const struct op *op)
{
	(void)op;
	link_up(&j->batch, "lo", 1);
	return 0;
}

static int apply_veth(struct apply_job *j, const struct op *op)
{
	struct link_spec a = apply_spec(&op->veth.a), b = apply_spec(&op->veth.b);
	int peer = keyset_find_text(&j->a->names, 0, op->veth.b.ns);

	link_veth(&j->batch, &a, &b, j->a->ns.v[peer].ns.fd);
	return 0;
}

static int apply_bridge(struct apply_job *j, const struct op *op)
{
	struct link_spec spec = {
	    .name = op->dev, .ifindex = op->ifindex, .mtu = op->bridge.mtu, .mac = op->bridge.mac};

	link_bridge(&j->batch, &spec);
	return 0;
}

static int apply_vxlan(struct apply_job *j, const struct op *op)
{
	struct link_spec spec = {
	    .name = op->dev, .ifindex = op->ifindex, .mtu = op->vxlan.mtu, .mac = op->vxlan.mac};
	struct link_vxlan v = {op->vxlan.vni, op->vxlan.port, op->vxlan.local};

	link_vxlan(&j->batch, &spec, &v);
	return 0;
}

static int apply_vlan(struct apply_job *j, const struct op *op)
{
	struct link_spec spec = {
	    .name = op->dev, .ifindex = op->ifindex, .mtu = op->vlan.mtu, .mac = op->vlan.mac};

	link_vlan(&j->batch, &spec, op->vlan.lower_ifindex, op->vlan.vlan);
	return 0;
}

static int apply_offload(struct apply_job *j, const struct op *op)
{
	return ethtool_off(j->ns->ns.rt, op->dev, op->offloads_off, &j->err);
}

/* The plan leaves the index of a device out that it does not create itself. */
static int apply_ifindex(struct apply_job *j, const struct op *op)
{
	if (op->ifindex)
		return op->ifindex;
	int index = nl_ifindex(j->ns->ns.rt, op->dev);
	return index < 0 ? err_sys(&j->err, -index, "device %s", op->dev) : index;
}

static int apply_addr(struct apply_job *j, const struct op *op)
{
	int index = apply_ifindex(j, op);

	if (index > 0)
		addr_add(&j->batch, op->dev, index, &op->addr);
	return index < 0 ? index : 0;
}

static int apply_neigh(struct apply_job *j, const struct op *op)
{
	int index = apply_ifindex(j, op);

	if (index > 0)
		neigh_add(&j->batch, op->dev, index, &op->neigh.ip, &op->neigh.mac);
	return index < 0 ? index : 0;
}

static int apply_up(struct apply_job *j, const struct op *op)
{
	int index = apply_ifindex(j, op);

	if (index < 0)
		return index;
	if (op->up.altname)
		link_altname(&j->batch, op->dev, index, op->up.altname);
	if (op->up.alias)
		link_alias(&j->batch, op->dev, index, op->up.alias);
	link_up(&j->batch, op->dev, index);
	return 0;
}

static int apply_route(struct apply_job *j, const struct op *op)
{
	struct route_spec r = {.dst = op->route.dst,
			       .via = op->route.via,
			       .src = op->route.src,
			       .dev = op->dev,
			       .congctl = op->route.congctl};

	r.ifindex = apply_ifindex(j, op);
	if (r.ifindex > 0)
		route_add(&j->batch, &r);
	return r.ifindex < 0 ? r.ifindex : 0;
}

static int apply_tc(struct apply_job *j, const struct op *op)
{
	qdisc_step(&j->batch, op->dev, op->ifindex, &op->tc, QDISC_ADD);
	return 0;
}

/* The transaction of this namespace, opened when it is first needed. */
static int apply_nft(struct apply_job *j)
{
	if (j->nft_fd >= 0)
		return 0;
	int rc = nl_open(NETLINK_NETFILTER, &j->nft_fd, &j->err);
	if (rc == 0)
		nft_start(&j->nft, j->nft_fd);
	return rc;
}

static int apply_nft_op(struct apply_job *j, const struct op *op)
{
	const struct nft_place at = {op->nft.family, op->nft.table, op->nft.chain};
	int rc = apply_nft(j);

	if (rc < 0)
		return rc;
	if (op->kind == OP_NFT_TABLE)
		return nft_add_table(&j->nft, &at, &j->err);
	if (op->kind == OP_NFT_CHAIN)
		return nft_add_chain(&j->nft, &at, op->nft.hook, &j->err);
	return nft_add_rule(&j->nft, &at, op->nft.text, op->nft.comment, &j->err);
}

static int apply_arpreply(struct apply_job *j, const struct op *op)
{
	struct nft_arpreply r = {op->dev, op->arpreply.ip, op->arpreply.mac};
	int rc = apply_nft(j);

	if (rc == 0 && !j->arp_chain)
		rc = nft_add_arp_chain(&j->nft, &j->err);
	j->arp_chain = true;
	return rc < 0 ? rc : nft_add_arpreply(&j->nft, &r, &j->err);
}

static int apply_master(struct apply_job *j, const struct op *op)
{
	link_master(&j->batch, op->dev, op->ifindex, op->master.master_ifindex);
	return 0;
}

static int apply_fdb(struct apply_job *j, const struct op *op)
{
	neigh_fdb_add(&j->batch, op->dev, op->ifindex, &op->fdb);
	return 0;
}

static int apply_relay(struct apply_job *j, const struct op *op)
{
	const struct relay_spec spec = plan_relay_spec(op);
	int rc = relays_start(&spec, &j->err);

	if (rc == 0)
		replaced_unseen(&spec, op->ns, j->ns->ns.rt);
	return rc;
}

static const struct {
	int (*run)(struct apply_job *j, const struct op *op); /* NULL: done by apply_ovs() */
	bool direct; /* not by the batch, which must go out before */
} apply_ops[] = {
    [OP_NETNS] = {apply_netns, true},
    [OP_LO_UP] = {apply_lo_up, false},
    [OP_SYSCTL] = {apply_sysctl, true},
    [OP_VETH] = {apply_veth, false},
    [OP_BRIDGE] = {apply_bridge, false},
    [OP_VXLAN] = {apply_vxlan, false},
    [OP_VLAN] = {apply_vlan, false},
    [OP_OFFLOAD] = {apply_offload, true},
    [OP_ADDR] = {apply_addr, false},
    [OP_NEIGH] = {apply_neigh, false},
    [OP_UP] = {apply_up, false},
    [OP_ROUTE] = {apply_route, false},
    [OP_TC] = {apply_tc, false},
    [OP_NFT_TABLE] = {apply_nft_op, false},
    [OP_NFT_CHAIN] = {apply_nft_op, false},
    [OP_NFT_RULE] = {apply_nft_op, false},
    [OP_ARPREPLY] = {apply_arpreply, false},
    [OP_OVS] = {NULL, false},
    [OP_OVS_BRIDGE] = {NULL, false},
    [OP_OVS_PORT] = {NULL, false},
    [OP_OVS_FLOW] = {NULL, false},
    [OP_MASTER] = {apply_master, false},
    [OP_FDB] = {apply_fdb, false},
    [OP_RELAY] = {apply_relay, true},
};

static int apply_job_finish(struct apply_job *j, int rc)
{
	if (rc == 0)
		rc = nl_send(j->ns->ns.rt, &j->batch, &j->err);
	if (j->nft_fd >= 0) {
		if (rc == 0)
			rc = nft_commit(&j->nft, &j->err);
		nft_done(&j->nft);
		close(j->nft_fd);
		j->nft_fd = -1;
	}
	nl_batch_reset(&j->batch);
	return rc < 0 ? err_wrap(&j->err, "namespace %s", j->ns->name) : 0;
}

static int apply_job_run(struct apply_job *j, size_t k)
{
	struct apply *a = j->a;
	int rc = 0;

	j->ns = &a->ns.v[k];
	j->arp_chain = false;
	if (j->ns->ns.fd >= 0)
		rc = netns_enter(&j->ns->ns, &j->err);
	for (size_t i = a->start[k]; rc == 0 && i < a->start[k + 1]; i++) {
		const struct op *op = &a->plan->ops.v[a->op[i]];
		if (apply_ops[op->kind].direct && j->batch.n)
			rc = nl_send(j->ns->ns.rt, &j->batch, &j->err);
		if (rc == 0 && apply_ops[op->kind].run)
			rc = apply_ops[op->kind].run(j, op);
	}
	return apply_job_finish(j, rc);
}

static void *apply_thread(void *arg)
{
	struct apply *a = arg;
	struct apply_job j = {.a = a, .nft_fd = -1};

	for (size_t k; !a->failed && (k = a->next++) < a->ns.n;) {
		if (a->start[k] == a->start[k + 1] || apply_job_run(&j, k) == 0)
			continue;
		pthread_mutex_lock(&a->lock);
		if (!a->failed)
			*a->err = j.err;
		a->failed = true;
		pthread_mutex_unlock(&a->lock);
	}
	nl_batch_done(&j.batch);
	return NULL;
}

static int apply_phase(struct apply *a, size_t first, size_t end)
{
	pthread_t threads[APPLY_THREADS];
	int started = 0, rc = 0;

	apply_group(a, first, end);
	a->next = 0;
	/* Threads even for one job: the caller stays in its own namespace. */
	for (; started < APPLY_THREADS && rc == 0; started++)
		rc = pthread_create(&threads[started], NULL, apply_thread, a);
	if (rc)
		started--;
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	if (started == 0)
		return err_sys(a->err, rc, "start a thread");
	return a->failed ? -a->err->code : 0;
}

struct apply_ovs { /* the instances, with their parts */
	VEC(struct ovs_instance) instances;
	VEC(struct ovs_bridge) bridges;
	VEC(struct ovs_port) ports;
	VEC(struct ovs_flow) flows;
};

static void apply_ovs_part(struct apply *a, const struct op *op, struct apply_ovs *o)
{
	struct ovs_instance *v = &o->instances.v[o->instances.n - 1];

	switch (op->kind) {
	case OP_OVS_BRIDGE:
		*VEC_ADD(&a->arena, &o->bridges) = (struct ovs_bridge){op->dev, op->ovs.mac};
		v->n_bridges++;
		break;
	case OP_OVS_PORT:
		*VEC_ADD(&a->arena, &o->ports) =
		    (struct ovs_port){op->ovs.bridge, op->dev, op->ovs.vlan, op->ovs.shaped};
		v->n_ports++;
		break;
	case OP_OVS_FLOW:
		*VEC_ADD(&a->arena, &o->flows) = (struct ovs_flow){op->ovs.bridge, op->ovs.text};
		v->n_flows++;
		break;
	default:
		break;
	}
}

/* Parts of one instance follow each other in the plan; arrays are final only at the end. */
static void apply_ovs_collect(struct apply *a, size_t first, size_t end, struct apply_ovs *o)
{
	for (size_t i = first; i < end; i++) {
		const struct op *op = &a->plan->ops.v[i];
		if (op->kind == OP_OVS) {
			struct ovs_instance *v = VEC_ADD(&a->arena, &o->instances);
			v->ns = op->ns;
			v->datapath = op->ovs.datapath;
		} else if (o->instances.n) {
			apply_ovs_part(a, op, o);
		}
	}
	size_t bridge = 0, port = 0, flow = 0;
	VEC_FOREACH (v, &o->instances) {
		v->bridges = o->bridges.v + bridge;
		v->ports = o->ports.v + port;
		v->flows = o->flows.v + flow;
		bridge += v->n_bridges;
		port += v->n_ports;
		flow += v->n_flows;
	}
}

static int apply_ovs(struct apply *a, size_t first, size_t end, json_t *choices)
{
	struct apply_ovs o = {0};

	apply_ovs_collect(a, first, end, &o);
	if (!o.instances.n)
		return 0;
	int rc = ovs_build(o.instances.v, o.instances.n, a->err);
	if (rc < 0)
		return rc;
	VEC_FOREACH (v, &o.instances) {
		json_object_set_new(choices, v->ns,
				    json_pack("{s:s, s:s, s:s*}", "ovs_datapath", v->ran_datapath,
					      "ovs_port", v->ran_ports, "ovs_port_why", v->why));
		free(v->why);
	}
	return 0;
}

static int apply_phases(struct apply *a, struct apply_result *out)
{
	int rc = netns_prepare(a->err);

	for (size_t first = 0; rc == 0 && first < a->plan->ops.n;) {
		enum plan_phase phase = a->plan->ops.v[first].phase;
		size_t end = first;
		while (end < a->plan->ops.n && a->plan->ops.v[end].phase == phase)
			end++;
		int64_t began = clock_now_ns();
		if (phase == PHASE_OVS)
			rc = apply_ovs(a, first, end, out->choices);
		if (rc == 0)
			rc = apply_phase(a, first, end);
		out->phase_ns[phase] += clock_now_ns() - began;
		first = end;
	}
	return rc;
}

int apply_plan(const struct plan *plan, struct apply_result *out, struct err *err)
{
	struct apply_result result = {.choices = json_object()};
	struct apply a;

	apply_init(&a, plan, err);
	VEC_FOREACH (choice, &plan->wire->choices)
		json_object_set_new(result.choices, choice->what, json_string(choice->how));
	int rc = apply_phases(&a, &result);
	apply_done(&a);
	if (rc < 0) {
		json_decref(result.choices);
		return rc;
	}
	*out = result;
	return 0;
}
