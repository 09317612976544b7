#!/bin/sh
# The lab flat-ovs by hand, as vpclab builds it:
#   sh FILE [COMMAND...]
#
# as root or as anybody: it starts itself again in mount, network and (not root) user namespaces
# of its own, so nothing outside changes; when its last process ends, all is gone. It needs
# iproute2, ethtool, nftables, ebtables and, for Open vSwitch hosts, openvswitch.
set -eu
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
if [ "${1:-}" != --inside ]; then
	if [ "$(id -u)" = 0 ]; then
		exec unshare -mn sh "$0" --inside "$@"
	fi
	exec unshare -rmn sh "$0" --inside "$@"
fi
shift
up=$(ip -o link show up)
if [ -n "$up" ]; then # a network namespace that is in use, certainly not a new one
	echo "$0: leave out --inside" >&2
	exit 2
fi
mount -t tmpfs -o mode=755 tmpfs /run

# A private Open vSwitch for each host: ovs NAMESPACE COMMAND...
ovs() {
	ovs_ns=$1
	shift
	ip netns exec "$ovs_ns" env OVS_RUNDIR="/run/ovs/$ovs_ns" OVS_DBDIR="/run/ovs/$ovs_ns" \
		OVS_LOGDIR="/run/ovs/$ovs_ns" OVS_SYSCONFDIR="/run/ovs/$ovs_ns" "$@"
}
# A bridge of the userspace datapath needs a tap device; without one: dummy, as vpclab does.
ovs_datapath() { # PLANNED: sets $datapath
	datapath=$1
	if [ "$1" = netdev ] && ! { [ -r /dev/net/tun ] && [ -w /dev/net/tun ]; }; then
		datapath=dummy
		echo "$0: no access to /dev/net/tun: Open vSwitch runs on its dummy datapath" >&2
	fi
}
ovs_check() { # NAMESPACE: ovs-vsctl only warns when a bridge or port did not come to be
	missing=$({
		ovs "$1" ovs-vsctl --bare --columns=name find Interface 'ofport=[]'
		ovs "$1" ovs-vsctl --bare --columns=name find Interface ofport=-1
	} | grep . | paste -sd ' ' -)
	if [ -n "$missing" ]; then
		echo "$0: $1: Open vSwitch cannot make" "$missing" \
			"with its $datapath datapath (see /run/ovs/$1/ovs-vswitchd.log):" >&2
		[ "$datapath" != system ] || echo 'Is the module loaded (modprobe openvswitch)? Else: vpclab plan FILE --format sh --datapath netdev' >&2
		grep -E 'WARN|ERR' "/run/ovs/$1/ovs-vswitchd.log" | tail -n 3 >&2
		exit 1
	fi
}
ovs_start() { # NAMESPACE DATAPATH
	mkdir -p "/run/ovs/$1"
	ovs "$1" ovsdb-tool create "/run/ovs/$1/conf.db" /usr/share/openvswitch/vswitch.ovsschema
	ovs "$1" ovsdb-server "/run/ovs/$1/conf.db" --remote="punix:/run/ovs/$1/db.sock" \
		-vconsole:err --pidfile --log-file --detach --no-chdir
	ovs "$1" ovs-vsctl --no-wait init
	case $2 in # the kernel's module is left alone where it is not asked for
	system) set -- "$1" ;;
	dummy) set -- "$1" --disable-system --enable-dummy ;;
	*) set -- "$1" --disable-system ;;
	esac
	ovs_ns=$1
	shift
	ovs "$ovs_ns" ovs-vswitchd "unix:/run/ovs/$ovs_ns/db.sock" --pidfile --log-file \
		-vconsole:err --detach --no-chdir "$@"
}
ovs_stop() {
	for pid in /run/ovs/*/*.pid; do
		kill "$(cat "$pid")"
	done
}
trap ovs_stop EXIT

# netns
ip netns add fabric
ip netns add h1
ip netns add h2
ip netns add client
ip netns add server
ip netns add peer

# sysctl
ip netns exec fabric sh -eu <<'END'
[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-iptables
[ ! -e /proc/sys/net/bridge/bridge-nf-call-ip6tables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-ip6tables
[ ! -e /proc/sys/net/bridge/bridge-nf-call-arptables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-arptables
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n fabric link set lo up
ip netns exec h1 sh -eu <<'END'
[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-iptables
[ ! -e /proc/sys/net/bridge/bridge-nf-call-ip6tables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-ip6tables
[ ! -e /proc/sys/net/bridge/bridge-nf-call-arptables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-arptables
echo 0 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n h1 link set lo up
ip netns exec h2 sh -eu <<'END'
[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-iptables
[ ! -e /proc/sys/net/bridge/bridge-nf-call-ip6tables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-ip6tables
[ ! -e /proc/sys/net/bridge/bridge-nf-call-arptables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-arptables
echo 0 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n h2 link set lo up
ip netns exec client sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6
echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/all/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/default/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/all/forwarding
echo 0 >/proc/sys/net/ipv6/conf/default/forwarding
[ ! -e /proc/sys/net/ipv6/conf/default/addr_gen_mode ] || echo 1 >/proc/sys/net/ipv6/conf/default/addr_gen_mode
END
ip -n client link set lo up
ip netns exec server sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6
echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/all/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/default/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/all/forwarding
echo 0 >/proc/sys/net/ipv6/conf/default/forwarding
[ ! -e /proc/sys/net/ipv6/conf/default/addr_gen_mode ] || echo 1 >/proc/sys/net/ipv6/conf/default/addr_gen_mode
END
ip -n server link set lo up
ip netns exec peer sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6
echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/all/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/default/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/all/forwarding
echo 0 >/proc/sys/net/ipv6/conf/default/forwarding
[ ! -e /proc/sys/net/ipv6/conf/default/addr_gen_mode ] || echo 1 >/proc/sys/net/ipv6/conf/default/addr_gen_mode
END
ip -n peer link set lo up

# link
ip -n fabric link add name br0 index 100 mtu 1500 address 02:b9:04:c7:8f:7a type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name nic index 101 mtu 1500 address 02:ef:de:06:a1:cc type veth peer name h1 index 101 mtu 1500 address 02:8f:9f:e2:0c:ba netns fabric
ip -n h1 link add name mgmt0 index 102 mtu 1500 address 02:9f:03:95:c4:6c type veth peer name mgmt0-port index 103 mtu 1500 address 02:44:b6:b4:86:8b netns h1
ip -n h1 link add name client-out index 105 mtu 1500 address 02:61:84:77:3e:49 type veth peer name client index 106 mtu 1500 address 02:e3:09:5e:19:df netns h1
ip -n h2 link add name nic index 101 mtu 1500 address 02:17:f8:79:de:65 type veth peer name h2 index 102 mtu 1500 address 02:83:91:f7:f6:15 netns fabric
ip -n h2 link add name mgmt0 index 102 mtu 1500 address 02:1a:0e:69:a7:60 type veth peer name mgmt0-port index 103 mtu 1500 address 02:09:50:49:98:c9 netns h2
ip -n h2 link add name server-out index 105 mtu 1500 address 02:13:92:0c:8b:12 type veth peer name server index 106 mtu 1500 address 02:e8:49:aa:45:da netns h2
ip -n h2 link add name peer-out index 108 mtu 1500 address 02:65:d8:c2:95:2f type veth peer name peer index 109 mtu 1500 address 02:cd:e4:c1:78:ae netns h2
ip -n client link add name eth0 index 100 mtu 1500 address 02:4a:e9:cc:5d:1a type veth peer name client-tap index 104 mtu 1500 address 02:13:82:01:d7:37 netns h1
ip -n server link add name eth0 index 100 mtu 1500 address 02:33:23:45:4f:22 type veth peer name server-tap index 104 mtu 1500 address 02:1d:bf:d9:96:b6 netns h2
ip -n peer link add name eth0 index 100 mtu 1500 address 02:bb:6f:33:0d:e8 type veth peer name peer-tap index 107 mtu 1500 address 02:c2:78:90:9a:ea netns h2

# config
ip netns exec fabric ethtool -K h1 gro off >/dev/null
ip netns exec fabric ethtool -K h2 gro off >/dev/null
ip -n fabric link set dev h1 up
ip -n fabric link set dev h2 up
tc -n fabric qdisc add dev h1 root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
tc -n fabric qdisc add dev h2 root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
ip netns exec h1 ethtool -K nic gro off >/dev/null
ip netns exec h1 ethtool -K mgmt0 gro off >/dev/null
ip netns exec h1 ethtool -K mgmt0-port gro off >/dev/null
ip netns exec h1 ethtool -K client-tap gro off >/dev/null
ip netns exec h1 ethtool -K client-out gro off >/dev/null
ip netns exec h1 ethtool -K client gro off >/dev/null
ip -n h1 addr add 172.31.255.1/24 dev mgmt0 noprefixroute
ip -n h1 link set dev nic up
ip -n h1 link set dev mgmt0 up
ip -n h1 link set dev mgmt0-port up
ip -n h1 link set dev client-tap up
ip -n h1 link set dev client-out up
ip -n h1 link set dev client up
ip -n h1 -4 route add 172.31.255.0/24 dev mgmt0 src 172.31.255.1
tc -n h1 qdisc add dev nic root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
ip netns exec h1 nft -f - <<'END'
table netdev tap {
	chain from-client-tap {
		type filter hook ingress device "client-tap" priority 0; policy accept;
		dup to "client-out"
		drop
	}
	chain from-client-out {
		type filter hook ingress device "client-out" priority 0; policy accept;
		fwd to "client-tap"
	}
}
END
ip netns exec h2 ethtool -K nic gro off >/dev/null
ip netns exec h2 ethtool -K mgmt0 gro off >/dev/null
ip netns exec h2 ethtool -K mgmt0-port gro off >/dev/null
ip netns exec h2 ethtool -K server-tap gro off >/dev/null
ip netns exec h2 ethtool -K server-out gro off >/dev/null
ip netns exec h2 ethtool -K server gro off >/dev/null
ip netns exec h2 ethtool -K peer-tap gro off >/dev/null
ip netns exec h2 ethtool -K peer-out gro off >/dev/null
ip netns exec h2 ethtool -K peer gro off >/dev/null
ip -n h2 addr add 172.31.255.2/24 dev mgmt0 noprefixroute
ip -n h2 link set dev nic up
ip -n h2 link set dev mgmt0 up
ip -n h2 link set dev mgmt0-port up
ip -n h2 link set dev server-tap up
ip -n h2 link set dev server-out up
ip -n h2 link set dev server up
ip -n h2 link set dev peer-tap up
ip -n h2 link set dev peer-out up
ip -n h2 link set dev peer up
ip -n h2 -4 route add 172.31.255.0/24 dev mgmt0 src 172.31.255.2
tc -n h2 qdisc add dev nic root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
ip netns exec h2 nft -f - <<'END'
table netdev tap {
	chain from-server-tap {
		type filter hook ingress device "server-tap" priority 0; policy accept;
		dup to "server-out"
		drop
	}
	chain from-server-out {
		type filter hook ingress device "server-out" priority 0; policy accept;
		fwd to "server-tap"
	}
	chain from-peer-tap {
		type filter hook ingress device "peer-tap" priority 0; policy accept;
		dup to "peer-out"
		drop
	}
	chain from-peer-out {
		type filter hook ingress device "peer-out" priority 0; policy accept;
		fwd to "peer-tap"
	}
}
END
ip netns exec client ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n client addr add 10.0.0.10/24 dev eth0 noprefixroute
ip -n client addr add fd00:10::a/64 dev eth0 noprefixroute nodad
ip -n client link set dev eth0 up
ip -n client -4 route add 10.0.0.0/24 dev eth0 src 10.0.0.10 congctl cubic
ip -n client -6 route add fd00:10::/64 dev eth0 src fd00:10::a congctl cubic
ip netns exec server ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n server addr add 10.0.0.11/24 dev eth0 noprefixroute
ip -n server addr add fd00:10::b/64 dev eth0 noprefixroute nodad
ip -n server link set dev eth0 up
ip -n server -4 route add 10.0.0.0/24 dev eth0 src 10.0.0.11 congctl cubic
ip -n server -6 route add fd00:10::/64 dev eth0 src fd00:10::b congctl cubic
ip netns exec peer ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n peer addr add 10.0.0.12/24 dev eth0 noprefixroute
ip -n peer addr add fd00:10::c/64 dev eth0 noprefixroute nodad
ip -n peer link set dev eth0 up
ip -n peer -4 route add 10.0.0.0/24 dev eth0 src 10.0.0.12 congctl cubic
ip -n peer -6 route add fd00:10::/64 dev eth0 src fd00:10::c congctl cubic

# ovs
ovs_datapath system
ovs_start h1 "$datapath"
ovs h1 ovs-vsctl \
	-- add-br br-net -- set bridge br-net datapath_type="$datapath" other-config:hwaddr='"02:ef:de:06:a1:cc"' \
	-- add-port br-net nic -- set port nic qos=@nic -- --id=@nic create qos type=linux-noop \
	-- add-port br-net mgmt0-port \
	-- add-port br-net client
ovs_check h1
ovs_datapath system
ovs_start h2 "$datapath"
ovs h2 ovs-vsctl \
	-- add-br br-net -- set bridge br-net datapath_type="$datapath" other-config:hwaddr='"02:17:f8:79:de:65"' \
	-- add-port br-net nic -- set port nic qos=@nic -- --id=@nic create qos type=linux-noop \
	-- add-port br-net mgmt0-port \
	-- add-port br-net server \
	-- add-port br-net peer
ovs_check h2

# bridge
ip -n fabric link set dev h1 master br0
ip -n fabric link set dev h2 master br0
ip -n fabric link set dev br0 up

echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the lab ends with this shell.' >&2
if [ $# -gt 0 ]; then
	"$@"
else
	"${SHELL:-sh}"
fi
