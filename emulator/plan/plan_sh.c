/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_sh: the plan as a POSIX shell script that a person can read, change and run without this
 * program: ip, tc, bridge, ethtool, nft, ebtables, ovs-vsctl, ovs-ofctl. Called by cli/; a test of
 * tests/lab runs its output and compares the network with the one that emulator/lab makes.
 *
 * The script first starts itself again by unshare(1): there it mounts a tmpfs on /run of its own
 * mount namespace, so that names of namespaces are its own too. That it does so itself, and does
 * not ask its user to, is what keeps the host untouched when somebody just runs it. Sysctls, nft
 * rules and Open vSwitch of one namespace are written in one go each; everything else is one line
 * an operation. Iproute2 from 6.1 on.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "emulator/plan/plan_relay.h"
#include "emulator/plan/plan_tc.h"

struct script {
	const struct plan *plan;
	struct strbuf *out;
	bool ovs;    /* some namespace runs Open vSwitch */
	bool relays; /* some link has a relay */
	bool netem;  /* some link is impaired by the kernel */
};

static void quote(struct script *s, const char *before, const char *text)
{
	strbuf_add(s->out, before);
	str_shell_quote(s->out, text);
}

static void add_mac(struct script *s, const char *before, const struct mac *mac)
{
	char text[ADDR_TEXT];

	strbuf_addf(s->out, "%s%s", before, mac_format(text, mac));
}

static void add_ip(struct script *s, const char *before, const struct ip *ip)
{
	char text[ADDR_TEXT];

	if (ip->family)
		strbuf_addf(s->out, "%s%s", before, ip_format(text, ip));
}

static void add_prefix(struct script *s, const char *before, const struct prefix *p)
{
	char text[ADDR_TEXT];

	strbuf_addf(s->out, "%s%s", before, prefix_format(text, p));
}

static void netns_exec(struct script *s, const struct op *op)
{
	quote(s, "ip netns exec ", op->ns);
	strbuf_addc(s->out, ' ');
}

static void sh_netns(struct script *s, const struct op *op)
{
	quote(s, "ip netns add ", op->ns);
	strbuf_addc(s->out, '\n');
}

static void sh_lo_up(struct script *s, const struct op *op)
{
	quote(s, "ip -n ", op->ns);
	strbuf_add(s->out, " link set lo up\n");
}

/* All of one namespace in one shell, since entering it costs more than all its writes. */
static size_t sh_sysctls(struct script *s, size_t i)
{
	const struct op *first = &s->plan->ops.v[i];

	netns_exec(s, first);
	strbuf_add(s->out, "sh -eu <<'END'\n");
	for (; i < s->plan->ops.n; i++) {
		const struct op *op = &s->plan->ops.v[i];

		if (op->kind != OP_SYSCTL || op->ns != first->ns)
			break;
		if (op->sysctl.optional)
			quote(s, "[ ! -e /proc/sys/", op->sysctl.key);
		quote(s, op->sysctl.optional ? " ] || echo " : "echo ", op->sysctl.value);
		quote(s, " >/proc/sys/", op->sysctl.key);
		strbuf_addc(s->out, '\n');
	}
	strbuf_add(s->out, "END\n");
	return i;
}

static void add_end(struct script *s, const struct op_veth_end *end)
{
	quote(s, " name ", end->name);
	strbuf_addf(s->out, " index %d mtu %d", end->ifindex, end->mtu);
	add_mac(s, " address ", &end->mac);
	if (end->tx_queues)
		strbuf_addf(s->out, " numtxqueues %d", end->tx_queues);
	if (end->rx_queues)
		strbuf_addf(s->out, " numrxqueues %d", end->rx_queues);
	if (end->big_tcp)
		strbuf_addf(s->out, " gso_max_size %d gro_max_size %d", end->big_tcp, end->big_tcp);
}

static void sh_veth(struct script *s, const struct op *op)
{
	quote(s, "ip -n ", op->ns);
	strbuf_add(s->out, " link add");
	add_end(s, &op->veth.a);
	strbuf_add(s->out, " type veth peer");
	add_end(s, &op->veth.b);
	quote(s, " netns ", op->veth.b.ns);
	strbuf_addc(s->out, '\n');
}

static void sh_bridge(struct script *s, const struct op *op)
{
	const struct op_veth_end end = {.ns = op->ns,
					.name = op->dev,
					.ifindex = op->ifindex,
					.mtu = op->bridge.mtu,
					.mac = op->bridge.mac};

	quote(s, "ip -n ", op->ns);
	strbuf_add(s->out, " link add");
	add_end(s, &end);
	strbuf_add(s->out, " type bridge stp_state 0 forward_delay 0 mcast_snooping 0\n");
}

static void sh_vxlan(struct script *s, const struct op *op)
{
	const struct op_veth_end end = {.ns = op->ns,
					.name = op->dev,
					.ifindex = op->ifindex,
					.mtu = op->vxlan.mtu,
					.mac = op->vxlan.mac};

	quote(s, "ip -n ", op->ns);
	strbuf_add(s->out, " link add");
	add_end(s, &end);
	strbuf_addf(s->out, " type vxlan id %d dstport %d", op->vxlan.vni, op->vxlan.port);
	add_ip(s, " local ", &op->vxlan.local);
	strbuf_addc(s->out, '\n');
}

static void sh_vlan(struct script *s, const struct op *op)
{
	const struct op_veth_end end = {
	    .name = op->dev, .ifindex = op->ifindex, .mtu = op->vlan.mtu, .mac = op->vlan.mac};

	quote(s, "ip -n ", op->ns);
	quote(s, " link add link ", op->vlan.lower);
	add_end(s, &end);
	strbuf_addf(s->out, " type vlan id %d\n", op->vlan.vlan);
}

static void sh_offload(struct script *s, const struct op *op)
{
	netns_exec(s, op);
	quote(s, "ethtool -K ", op->dev);
	for (unsigned bit = 1; plan_offload_name(bit); bit <<= 1) {
		if (op->offloads_off & bit)
			strbuf_addf(s->out, " %s off", plan_offload_name(bit));
	}
	strbuf_add(s->out, " >/dev/null\n"); /* it tells what else changed with it */
}

static void sh_addr(struct script *s, const struct op *op)
{
	quote(s, "ip -n ", op->ns);
	add_prefix(s, " addr add ", &op->addr);
	quote(s, " dev ", op->dev);
	strbuf_addf(s->out, " noprefixroute%s\n", op->addr.ip.family == AF_INET6 ? " nodad" : "");
}

static void sh_neigh(struct script *s, const struct op *op)
{
	quote(s, "ip -n ", op->ns);
	add_ip(s, " neigh add ", &op->neigh.ip);
	add_mac(s, " lladdr ", &op->neigh.mac);
	quote(s, " dev ", op->dev);
	strbuf_add(s->out, " nud permanent\n");
}

static void sh_up(struct script *s, const struct op *op)
{
	if (op->up.altname) {
		quote(s, "ip -n ", op->ns);
		quote(s, " link property add dev ", op->dev);
		quote(s, " altname ", op->up.altname);
		strbuf_addc(s->out, '\n');
	}
	quote(s, "ip -n ", op->ns);
	quote(s, " link set dev ", op->dev);
	if (op->up.alias)
		quote(s, " alias ", op->up.alias);
	strbuf_add(s->out, " up\n");
}

static void sh_route(struct script *s, const struct op *op)
{
	quote(s, "ip -n ", op->ns);
	strbuf_addf(s->out, " -%c route %s ", op->route.dst.ip.family == AF_INET6 ? '6' : '4',
		    ip_is_link_local(&op->route.dst.ip) ? "append" : "add");
	if (op->route.dst.len)
		add_prefix(s, "", &op->route.dst);
	else
		strbuf_add(s->out, "default");
	add_ip(s, " via ", &op->route.via);
	quote(s, " dev ", op->dev);
	add_ip(s, " src ", &op->route.src);
	if (op->route.congctl)
		quote(s, " congctl ", op->route.congctl);
	strbuf_addc(s->out, '\n');
}

static void sh_tc(struct script *s, const struct op *op)
{
	quote(s, "tc -n ", op->ns);
	strbuf_addc(s->out, ' ');
	plan_tc_sh(op, s->out);
	strbuf_addc(s->out, '\n');
}

static void sh_arpreply(struct script *s, const struct op *op)
{
	netns_exec(s, op);
	quote(s, "ebtables-nft -t nat -A PREROUTING -i ", op->dev);
	add_ip(s, " -p ARP --arp-op Request --arp-ip-dst ", &op->arpreply.ip);
	add_mac(s, " -j arpreply --arpreply-mac ", &op->arpreply.mac);
	strbuf_addc(s->out, '\n');
}

static void sh_master(struct script *s, const struct op *op)
{
	quote(s, "ip -n ", op->ns);
	quote(s, " link set dev ", op->dev);
	quote(s, " master ", op->master.master);
	strbuf_addc(s->out, '\n');
}

static void sh_fdb(struct script *s, const struct op *op)
{
	quote(s, "bridge -n ", op->ns);
	quote(s, " fdb append 00:00:00:00:00:00 dev ", op->dev);
	add_ip(s, " dst ", &op->fdb);
	strbuf_add(s->out, " self permanent\n");
}

/* Returns when packets pass; the relay ends with the namespaces' last process, or before. */
static void sh_relay(struct script *s, const struct op *op)
{
	struct relay_spec spec = plan_relay_spec(op);
	json_t *j = relay_spec_json(&spec);
	char *text = json_dumps(j, JSON_COMPACT);

	quote(s, "relay ", op->ns);
	quote(s, " ", text);
	strbuf_addc(s->out, '\n');
	free(text);
	json_decref(j);
}

static bool in_nft_run(const struct script *s, size_t i, const struct op *first)
{
	const struct op *op = &s->plan->ops.v[i];

	return i < s->plan->ops.n && op->ns == first->ns &&
	       (op->kind == OP_NFT_TABLE || op->kind == OP_NFT_CHAIN || op->kind == OP_NFT_RULE);
}

static bool same_table(const struct op *a, const struct op *b)
{
	return !strcmp(a->nft.family, b->nft.family) && !strcmp(a->nft.table, b->nft.table);
}

static void nft_rules(struct script *s, size_t i, const struct op *chain)
{
	const struct op *first = chain;

	for (; in_nft_run(s, i, first); i++) {
		const struct op *op = &s->plan->ops.v[i];

		if (op->kind != OP_NFT_RULE || !same_table(op, chain) ||
		    strcmp(op->nft.chain, chain->nft.chain) != 0)
			continue;
		strbuf_addf(s->out, "\t\t%s", op->nft.text);
		if (op->nft.comment)
			strbuf_addf(s->out, " comment \"%s\"", op->nft.comment);
		strbuf_addc(s->out, '\n');
	}
}

static void nft_chains(struct script *s, size_t i, const struct op *table)
{
	const struct op *first = table;

	for (; in_nft_run(s, i, first); i++) {
		const struct op *op = &s->plan->ops.v[i];

		if (op->kind != OP_NFT_CHAIN || !same_table(op, table))
			continue;
		strbuf_addf(s->out, "\tchain %s {\n", op->nft.chain);
		if (op->nft.hook)
			strbuf_addf(s->out, "\t\t%s\n", op->nft.hook);
		nft_rules(s, i, op);
		strbuf_add(s->out, "\t}\n");
	}
}

/* One transaction a namespace, nested as `nft list ruleset` prints it. */
static size_t sh_nft(struct script *s, size_t i)
{
	const struct op *first = &s->plan->ops.v[i];

	netns_exec(s, first);
	strbuf_add(s->out, "nft -f - <<'END'\n");
	for (size_t k = i; in_nft_run(s, k, first); k++) {
		const struct op *op = &s->plan->ops.v[k];

		if (op->kind != OP_NFT_TABLE)
			continue;
		strbuf_addf(s->out, "table %s %s {\n", op->nft.family, op->nft.table);
		nft_chains(s, i, op);
		strbuf_add(s->out, "}\n");
	}
	strbuf_add(s->out, "END\n");
	while (in_nft_run(s, i, first))
		i++;
	return i;
}

/* vswitchd takes away the qdisc of a port that has no QoS; linux-noop means hands off. */
static void sh_ovs_port(struct script *s, const struct op *op)
{
	quote(s, " \\\n\t-- add-port ", op->ovs.bridge);
	quote(s, " ", op->dev);
	if (op->ovs.vlan)
		strbuf_addf(s->out, " tag=%d", op->ovs.vlan);
	if (!op->ovs.shaped)
		return;
	quote(s, " -- set port ", op->dev);
	quote(s, " qos=@", op->dev);
	quote(s, " -- --id=@", op->dev);
	strbuf_add(s->out, " create qos type=linux-noop");
}

/* The daemons, then bridges and ports in one transaction. */
static size_t sh_ovs(struct script *s, size_t i)
{
	const struct op *first = &s->plan->ops.v[i];

	strbuf_addf(s->out, "ovs_datapath %s\n", first->ovs.datapath);
	quote(s, "ovs_start ", first->ns);
	strbuf_add(s->out, " \"$datapath\"\n");
	quote(s, "ovs ", first->ns);
	strbuf_add(s->out, " ovs-vsctl");
	for (i++; i < s->plan->ops.n; i++) {
		const struct op *op = &s->plan->ops.v[i];

		if (op->ns != first->ns)
			break;
		if (op->kind == OP_OVS_BRIDGE) {
			quote(s, " \\\n\t-- add-br ", op->dev);
			quote(s, " -- set bridge ", op->dev);
			strbuf_add(s->out, " datapath_type=\"$datapath\"");
			add_mac(s, " other-config:hwaddr='\"", &op->ovs.mac);
			strbuf_add(s->out, "\"'");
		} else if (op->kind == OP_OVS_PORT) {
			sh_ovs_port(s, op);
		} else {
			break;
		}
	}
	quote(s, "\novs_check ", first->ns);
	strbuf_addc(s->out, '\n');
	return i;
}

static size_t sh_flows(struct script *s, size_t i)
{
	const struct op *first = &s->plan->ops.v[i];

	quote(s, "ovs ", first->ns);
	quote(s, " ovs-ofctl --bundle add-flows ", first->ovs.bridge);
	strbuf_add(s->out, " - <<'END'\n");
	for (; i < s->plan->ops.n; i++) {
		const struct op *op = &s->plan->ops.v[i];

		if (op->kind != OP_OVS_FLOW || op->ns != first->ns ||
		    strcmp(op->ovs.bridge, first->ovs.bridge) != 0)
			break;
		strbuf_addf(s->out, "%s\n", op->ovs.text);
	}
	strbuf_add(s->out, "END\n");
	return i;
}

/* Writes the operation at i, or the run of operations that starts there; gives the next index. */
static size_t write_at(struct script *s, size_t i)
{
	static void (*const one[])(struct script * s, const struct op *op) = {
	    [OP_NETNS] = sh_netns,	 [OP_LO_UP] = sh_lo_up,
	    [OP_VETH] = sh_veth,	 [OP_BRIDGE] = sh_bridge,
	    [OP_VXLAN] = sh_vxlan,	 [OP_VLAN] = sh_vlan,
	    [OP_OFFLOAD] = sh_offload,	 [OP_ADDR] = sh_addr,
	    [OP_NEIGH] = sh_neigh,	 [OP_UP] = sh_up,
	    [OP_ROUTE] = sh_route,	 [OP_TC] = sh_tc,
	    [OP_ARPREPLY] = sh_arpreply, [OP_MASTER] = sh_master,
	    [OP_FDB] = sh_fdb,		 [OP_RELAY] = sh_relay,
	};
	const struct op *op = &s->plan->ops.v[i];

	switch (op->kind) {
	case OP_SYSCTL:
		return sh_sysctls(s, i);
	case OP_NFT_TABLE:
		return sh_nft(s, i);
	case OP_OVS:
		return sh_ovs(s, i);
	case OP_OVS_FLOW:
		return sh_flows(s, i);
	default:
		one[op->kind](s, op);
		return i + 1;
	}
}

static const char head[] =
    "#   sh FILE [COMMAND...]\n"
    "#\n"
    "# as root or as anybody: it starts itself again in mount, network and (not root) user "
    "namespaces\n"
    "# of its own, so nothing outside changes; when its last process ends, all is gone. It needs\n"
    "# iproute2, ethtool, nftables, ebtables and, for Open vSwitch hosts, openvswitch.\n"
    "set -eu\n"
    "export LC_ALL=C PATH=\"$PATH:/usr/sbin:/sbin\"\n"
    "if [ \"${1:-}\" != --inside ]; then\n"
    "\tif [ \"$(id -u)\" = 0 ]; then\n"
    "\t\texec unshare -mn sh \"$0\" --inside \"$@\"\n"
    "\tfi\n"
    "\texec unshare -rmn sh \"$0\" --inside \"$@\"\n"
    "fi\n"
    "shift\n"
    "up=$(ip -o link show up)\n"
    "if [ -n \"$up\" ]; then # a network namespace that is in use, certainly not a new one\n"
    "\techo \"$0: leave out --inside\" >&2\n"
    "\texit 2\n"
    "fi\n"
    "mount -t tmpfs -o mode=755 tmpfs /run\n";

static const char ovs_head[] =
    "\n"
    "# A private Open vSwitch for each host: ovs NAMESPACE COMMAND...\n"
    "ovs() {\n"
    "\tovs_ns=$1\n"
    "\tshift\n"
    "\tip netns exec \"$ovs_ns\" env OVS_RUNDIR=\"/run/ovs/$ovs_ns\" "
    "OVS_DBDIR=\"/run/ovs/$ovs_ns\" "
    "\\\n"
    "\t\tOVS_LOGDIR=\"/run/ovs/$ovs_ns\" OVS_SYSCONFDIR=\"/run/ovs/$ovs_ns\" \"$@\"\n"
    "}\n"
    "# A bridge of the userspace datapath needs a tap device; without one: dummy, as vpclab does.\n"
    "ovs_datapath() { # PLANNED: sets $datapath\n"
    "\tdatapath=$1\n"
    "\tif [ \"$1\" = netdev ] && ! { [ -r /dev/net/tun ] && [ -w /dev/net/tun ]; }; then\n"
    "\t\tdatapath=dummy\n"
    "\t\techo \"$0: no access to /dev/net/tun: Open vSwitch runs on its dummy datapath\" >&2\n"
    "\tfi\n"
    "}\n"
    "ovs_check() { # NAMESPACE: ovs-vsctl only warns when a bridge or port did not come to be\n"
    "\tmissing=$({\n"
    "\t\tovs \"$1\" ovs-vsctl --bare --columns=name find Interface 'ofport=[]'\n"
    "\t\tovs \"$1\" ovs-vsctl --bare --columns=name find Interface ofport=-1\n"
    "\t} | grep . | paste -sd ' ' -)\n"
    "\tif [ -n \"$missing\" ]; then\n"
    "\t\techo \"$0: $1: Open vSwitch cannot make\" \"$missing\" \\\n"
    "\t\t\t\"with its $datapath datapath (see /run/ovs/$1/ovs-vswitchd.log):\" >&2\n"
    "\t\t[ \"$datapath\" != system ] || echo 'Is the module loaded (modprobe openvswitch)? "
    "Else: vpclab plan FILE --format sh --datapath netdev' >&2\n"
    "\t\tgrep -E 'WARN|ERR' \"/run/ovs/$1/ovs-vswitchd.log\" | tail -n 3 >&2\n"
    "\t\texit 1\n"
    "\tfi\n"
    "}\n"
    "ovs_start() { # NAMESPACE DATAPATH\n"
    "\tmkdir -p \"/run/ovs/$1\"\n"
    "\tovs \"$1\" ovsdb-tool create \"/run/ovs/$1/conf.db\" "
    "/usr/share/openvswitch/vswitch.ovsschema\n"
    "\tovs \"$1\" ovsdb-server \"/run/ovs/$1/conf.db\" --remote=\"punix:/run/ovs/$1/db.sock\" \\\n"
    "\t\t-vconsole:err --pidfile --log-file --detach --no-chdir\n"
    "\tovs \"$1\" ovs-vsctl --no-wait init\n"
    "\tcase $2 in # the kernel's module is left alone where it is not asked for\n"
    "\tsystem) set -- \"$1\" ;;\n"
    "\tdummy) set -- \"$1\" --disable-system --enable-dummy ;;\n"
    "\t*) set -- \"$1\" --disable-system ;;\n"
    "\tesac\n"
    "\tovs_ns=$1\n"
    "\tshift\n"
    "\tovs \"$ovs_ns\" ovs-vswitchd \"unix:/run/ovs/$ovs_ns/db.sock\" --pidfile --log-file \\\n"
    "\t\t-vconsole:err --detach --no-chdir \"$@\"\n"
    "}\n"
    "ovs_stop() {\n"
    "\tfor pid in /run/ovs/*/*.pid; do\n"
    "\t\tkill \"$(cat \"$pid\")\"\n"
    "\tdone\n"
    "}\n"
    "trap ovs_stop EXIT\n";

static const char netem_head[] =
    "\n"
    "# netem delays and loses packets here. vpclab up has a relay where the kernel has no netem; "
    "a\n"
    "# script made from the running lab (vpclab plan LAB --format sh) has it too.\n"
    "if ! tc qdisc add dev lo root netem 2>/dev/null; then\n"
    "\techo \"$0: this kernel has no netem: vpclab up FILE, then vpclab plan LAB --format sh\" "
    ">&2\n"
    "\texit 4\n"
    "fi\n"
    "tc qdisc del dev lo root\n";

static const char relay_head[] =
    "\n"
    "# What impairs a link where netem does not: a relay, which ends with this shell. VPCLAB is "
    "the\n"
    "# program, where the shell does not find it.\n"
    "relay_n=0\n"
    "relay() { # NAMESPACE JSON: returns when packets pass\n"
    "\trelay_n=$((relay_n + 1))\n"
    "\tip netns exec \"$1\" \"${VPCLAB:-vpclab}\" relay --detach --control "
    "\"/run/relay.$relay_n\" \"$2\"\n"
    "}\n"
    "relay_stop() {\n"
    "\tfor socket in /run/relay.*; do\n"
    "\t\t\"${VPCLAB:-vpclab}\" relay --ask --control \"$socket\" '{\"end\": true}' >/dev/null "
    "|| :\n"
    "\tdone\n"
    "}\n";

static const char tail[] = "\n"
			   "echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the "
			   "lab ends with this shell.' >&2\n"
			   "if [ $# -gt 0 ]; then\n"
			   "\t\"$@\"\n"
			   "else\n"
			   "\t\"${SHELL:-sh}\"\n"
			   "fi\n";

void plan_print_sh(const struct plan *plan, struct strbuf *out)
{
	struct script s = {.plan = plan, .out = out};
	enum plan_phase phase = PHASE_COUNT;

	VEC_FOREACH (op, &plan->ops) {
		s.ovs = s.ovs || op->kind == OP_OVS;
		s.relays = s.relays || op->kind == OP_RELAY;
		s.netem = s.netem || (op->kind == OP_TC && op->tc.kind == TC_NETEM);
	}
	strbuf_addf(out, "#!/bin/sh\n# The lab %s by hand, as vpclab builds it:\n", plan->name);
	strbuf_add(out, head);
	if (s.ovs)
		strbuf_add(out, ovs_head);
	if (s.netem)
		strbuf_add(out, netem_head);
	if (s.relays) {
		strbuf_add(out, relay_head);
		strbuf_addf(out, "trap '%srelay_stop' EXIT\n", s.ovs ? "ovs_stop; " : "");
	}
	for (size_t i = 0; i < plan->ops.n;) {
		if (plan->ops.v[i].phase != phase)
			strbuf_addf(out, "\n# %s\n", plan_phase_name(plan->ops.v[i].phase));
		phase = plan->ops.v[i].phase;
		i = write_at(&s, i);
	}
	strbuf_add(out, tail);
}
