#!/bin/sh
# The lab vpc-ovs by hand, as vpclab builds it:
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
ip netns add h3
ip netns add vr1
ip netns add client
ip netns add web
ip netns add db

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
ip netns exec h3 sh -eu <<'END'
[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-iptables
[ ! -e /proc/sys/net/bridge/bridge-nf-call-ip6tables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-ip6tables
[ ! -e /proc/sys/net/bridge/bridge-nf-call-arptables ] || echo 0 >/proc/sys/net/bridge/bridge-nf-call-arptables
echo 0 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n h3 link set lo up
ip netns exec vr1 sh -eu <<'END'
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/all/send_redirects
echo 0 >/proc/sys/net/ipv4/conf/default/send_redirects
echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
echo 1 >/proc/sys/net/ipv4/conf/all/arp_filter
echo 1 >/proc/sys/net/ipv4/ip_nonlocal_bind
echo 1 >/proc/sys/net/ipv4/conf/all/promote_secondaries
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vr1 link set lo up
ip netns exec client sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n client link set lo up
ip netns exec web sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n web link set lo up
ip netns exec db sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n db link set lo up

# link
ip -n fabric link add name br0 index 100 mtu 1500 address 02:b9:04:c7:8f:7a type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name nic index 101 mtu 1500 address 02:ef:de:06:a1:cc type veth peer name h1 index 101 mtu 1500 address 02:8f:9f:e2:0c:ba netns fabric
ip -n h1 link add name mgmt0 index 102 mtu 1500 address 02:9f:03:95:c4:6c type veth peer name mgmt0-port index 103 mtu 1500 address 02:44:b6:b4:86:8b netns h1
ip -n h1 link add name vxlan100 index 105 mtu 1450 address 02:11:2d:85:64:23 type vxlan id 100 dstport 4789 local 172.31.255.1
ip -n h1 link add name client-out index 107 mtu 1500 address 02:61:84:77:3e:49 type veth peer name client index 108 mtu 1500 address 02:e3:09:5e:19:df netns h1
ip -n h1 link add name db-out index 110 mtu 1450 address 02:ee:25:e2:19:75 type veth peer name db index 111 mtu 1450 address 02:f2:97:6a:20:13 netns h1
ip -n h2 link add name nic index 101 mtu 1500 address 02:17:f8:79:de:65 type veth peer name h2 index 102 mtu 1500 address 02:83:91:f7:f6:15 netns fabric
ip -n h2 link add name mgmt0 index 102 mtu 1500 address 02:1a:0e:69:a7:60 type veth peer name mgmt0-port index 103 mtu 1500 address 02:09:50:49:98:c9 netns h2
ip -n h2 link add name vxlan100 index 105 mtu 1450 address 02:33:b1:2b:19:f6 type vxlan id 100 dstport 4789 local 172.31.255.2
ip -n h3 link add name nic index 101 mtu 1500 address 02:0e:02:96:d0:ed type veth peer name h3 index 103 mtu 1500 address 02:b4:ff:a9:88:65 netns fabric
ip -n h3 link add name mgmt0 index 102 mtu 1500 address 02:9d:08:93:da:50 type veth peer name mgmt0-port index 103 mtu 1500 address 02:98:1e:89:3c:22 netns h3
ip -n h3 link add name vxlan100 index 105 mtu 1450 address 02:76:0a:66:d8:94 type vxlan id 100 dstport 4789 local 172.31.255.3
ip -n h3 link add name web-out index 107 mtu 1450 address 02:97:f3:b0:4f:48 type veth peer name web index 108 mtu 1450 address 02:c7:62:79:21:60 netns h3
ip -n vr1 link add name pub index 100 mtu 1500 address 02:13:e7:e3:9e:93 type veth peer name vr1-pub index 106 mtu 1500 address 02:c0:91:b5:83:90 netns h2
ip -n vr1 link add name pri index 101 mtu 1450 address 02:a0:3a:ec:6c:66 type veth peer name vr1-pri index 107 mtu 1450 address 02:ef:bc:cd:2c:50 netns h2
ip -n client link add name eth0 index 100 mtu 1500 address 02:4a:e9:cc:5d:1a type veth peer name client-tap index 106 mtu 1500 address 02:13:82:01:d7:37 netns h1
ip -n web link add name eth0 index 100 mtu 1450 address 02:84:ab:dc:b1:fc type veth peer name web-tap index 106 mtu 1450 address 02:d9:34:7e:83:2b netns h3
ip -n db link add name eth0 index 100 mtu 1450 address 02:41:1d:7c:a7:d0 type veth peer name db-tap index 109 mtu 1450 address 02:ef:fe:b2:2d:76 netns h1

# config
ip netns exec fabric ethtool -K h1 gro off >/dev/null
ip netns exec fabric ethtool -K h2 gro off >/dev/null
ip netns exec fabric ethtool -K h3 gro off >/dev/null
ip -n fabric link set dev h1 up
ip -n fabric link set dev h2 up
ip -n fabric link set dev h3 up
tc -n fabric qdisc add dev h1 root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
tc -n fabric qdisc add dev h2 root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
tc -n fabric qdisc add dev h3 root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
ip netns exec h1 ethtool -K nic gro off >/dev/null
ip netns exec h1 ethtool -K mgmt0 gro off >/dev/null
ip netns exec h1 ethtool -K mgmt0-port gro off >/dev/null
ip netns exec h1 ethtool -K vxlan100 gro off >/dev/null
ip netns exec h1 ethtool -K client-tap gro off >/dev/null
ip netns exec h1 ethtool -K client-out gro off >/dev/null
ip netns exec h1 ethtool -K client gro off >/dev/null
ip netns exec h1 ethtool -K db-tap gro off >/dev/null
ip netns exec h1 ethtool -K db-out gro off >/dev/null
ip netns exec h1 ethtool -K db gro off >/dev/null
ip -n h1 addr add 172.31.255.1/24 dev mgmt0 noprefixroute
ip -n h1 link set dev nic up
ip -n h1 link set dev mgmt0 up
ip -n h1 link set dev mgmt0-port up
ip -n h1 link set dev vxlan100 up
ip -n h1 link set dev client-tap up
ip -n h1 link set dev client-out up
ip -n h1 link set dev client up
ip -n h1 link set dev db-tap up
ip -n h1 link set dev db-out up
ip -n h1 link set dev db up
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
	chain from-db-tap {
		type filter hook ingress device "db-tap" priority 0; policy accept;
		dup to "db-out"
		drop
	}
	chain from-db-out {
		type filter hook ingress device "db-out" priority 0; policy accept;
		fwd to "db-tap"
	}
}
END
ip netns exec h2 ethtool -K nic gro off >/dev/null
ip netns exec h2 ethtool -K mgmt0 gro off >/dev/null
ip netns exec h2 ethtool -K mgmt0-port gro off >/dev/null
ip netns exec h2 ethtool -K vxlan100 gro off >/dev/null
ip netns exec h2 ethtool -K vr1-pub gro off >/dev/null
ip netns exec h2 ethtool -K vr1-pri gro off >/dev/null
ip -n h2 addr add 172.31.255.2/24 dev mgmt0 noprefixroute
ip -n h2 link set dev nic up
ip -n h2 link set dev mgmt0 up
ip -n h2 link set dev mgmt0-port up
ip -n h2 link set dev vxlan100 up
ip -n h2 link set dev vr1-pub up
ip -n h2 link set dev vr1-pri up
ip -n h2 -4 route add 172.31.255.0/24 dev mgmt0 src 172.31.255.2
tc -n h2 qdisc add dev nic root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
ip netns exec h3 ethtool -K nic gro off >/dev/null
ip netns exec h3 ethtool -K mgmt0 gro off >/dev/null
ip netns exec h3 ethtool -K mgmt0-port gro off >/dev/null
ip netns exec h3 ethtool -K vxlan100 gro off >/dev/null
ip netns exec h3 ethtool -K web-tap gro off >/dev/null
ip netns exec h3 ethtool -K web-out gro off >/dev/null
ip netns exec h3 ethtool -K web gro off >/dev/null
ip -n h3 addr add 172.31.255.3/24 dev mgmt0 noprefixroute
ip -n h3 link set dev nic up
ip -n h3 link set dev mgmt0 up
ip -n h3 link set dev mgmt0-port up
ip -n h3 link set dev vxlan100 up
ip -n h3 link set dev web-tap up
ip -n h3 link set dev web-out up
ip -n h3 link set dev web up
ip -n h3 -4 route add 172.31.255.0/24 dev mgmt0 src 172.31.255.3
tc -n h3 qdisc add dev nic root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
ip netns exec h3 nft -f - <<'END'
table netdev tap {
	chain from-web-tap {
		type filter hook ingress device "web-tap" priority 0; policy accept;
		dup to "web-out"
		drop
	}
	chain from-web-out {
		type filter hook ingress device "web-out" priority 0; policy accept;
		fwd to "web-tap"
	}
}
END
ip netns exec vr1 ethtool -K pub tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec vr1 ethtool -K pri tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n vr1 addr add 192.0.2.2/24 dev pub noprefixroute
ip -n vr1 addr add 192.0.2.60/24 dev pub noprefixroute
ip -n vr1 addr add 10.20.0.1/24 dev pri noprefixroute
ip -n vr1 link set dev pub up
ip -n vr1 link set dev pri up
ip -n vr1 -4 route add 192.0.2.0/24 dev pub src 192.0.2.2
ip -n vr1 -4 route add 10.20.0.0/24 dev pri src 10.20.0.1
ip netns exec vr1 nft -f - <<'END'
table ip nat {
	chain PREROUTING {
		type nat hook prerouting priority -100; policy accept;
		ip daddr 192.0.2.60 counter dnat to 10.20.0.10 comment "EIP"
	}
	chain POSTROUTING {
		type nat hook postrouting priority 100; policy accept;
		oifname "pub" ip saddr 10.20.0.10 counter snat to 192.0.2.60 comment "EIP"
		oifname "pub" ip saddr 10.20.0.0/24 ip daddr != 224.0.0.0/8 counter snat to 192.0.2.2 comment "network SNAT"
		oifname "pri" ip saddr 10.20.0.0/24 ip daddr != 224.0.0.0/8 counter snat to 192.0.2.2 comment "network SNAT, hairpin"
	}
}
table ip filter {
	chain pub.in {
		ct state established,related counter return comment "4000"
		ip daddr 10.20.0.10 ct state new,established,related counter accept comment "EIP"
		counter reject with icmp port-unreachable comment "10000"
	}
	chain pub.out {
	}
	chain pub.local {
		ip daddr 192.0.2.2 ct state established,related counter return
		meta l4proto icmp counter return
		tcp dport 22 counter reject with icmp port-unreachable
		counter reject with icmp port-unreachable
	}
	chain pri.in {
		ct state established,related counter return comment "4000"
		ip saddr 10.20.0.10 ct state new,established,related counter accept comment "EIP"
		ct state new counter accept comment "9999"
		counter reject with icmp port-unreachable comment "10000"
	}
	chain pri.out {
	}
	chain pri.local {
		ip daddr 10.20.0.1 ct state established,related counter return
		meta l4proto icmp counter return
		tcp dport 22 counter reject with icmp port-unreachable
		counter reject with icmp port-unreachable
	}
	chain IN {
		iifname "pub" counter jump pub.in
		iifname "pri" counter jump pri.in
	}
	chain OUT {
		oifname "pub" counter jump pub.out
		oifname "pri" counter jump pri.out
	}
	chain LOCAL {
		iifname "pub" counter jump pub.local
		iifname "pri" counter jump pri.local
	}
	chain INPUT {
		type filter hook input priority 0; policy accept;
		counter jump LOCAL
	}
	chain FORWARD {
		type filter hook forward priority 0; policy accept;
		counter jump IN
		counter jump OUT
	}
}
END
ip netns exec client ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n client addr add 192.0.2.10/24 dev eth0 noprefixroute
ip -n client link set dev eth0 up
ip -n client -4 route add 192.0.2.0/24 dev eth0 src 192.0.2.10 congctl cubic
ip netns exec web ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n web addr add 10.20.0.10/24 dev eth0 noprefixroute
ip -n web link set dev eth0 up
ip -n web -4 route add 10.20.0.0/24 dev eth0 src 10.20.0.10 congctl cubic
ip -n web -4 route add default via 10.20.0.1 dev eth0 congctl cubic
ip netns exec db ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n db addr add 10.20.0.11/24 dev eth0 noprefixroute
ip -n db link set dev eth0 up
ip -n db -4 route add 10.20.0.0/24 dev eth0 src 10.20.0.11 congctl cubic
ip -n db -4 route add default via 10.20.0.1 dev eth0 congctl cubic

# ovs
ovs_datapath system
ovs_start h1 "$datapath"
ovs h1 ovs-vsctl \
	-- add-br br-public -- set bridge br-public datapath_type="$datapath" other-config:hwaddr='"02:ef:de:06:a1:cc"' \
	-- add-br br-tenant -- set bridge br-tenant datapath_type="$datapath" other-config:hwaddr='"02:2c:72:9d:7e:0e"' \
	-- add-port br-public nic -- set port nic qos=@nic -- --id=@nic create qos type=linux-noop \
	-- add-port br-public mgmt0-port \
	-- add-port br-tenant vxlan100 \
	-- add-port br-public client \
	-- add-port br-tenant db
ovs_check h1
ovs_datapath system
ovs_start h2 "$datapath"
ovs h2 ovs-vsctl \
	-- add-br br-public -- set bridge br-public datapath_type="$datapath" other-config:hwaddr='"02:17:f8:79:de:65"' \
	-- add-br br-tenant -- set bridge br-tenant datapath_type="$datapath" other-config:hwaddr='"02:fd:c0:42:0a:50"' \
	-- add-port br-public nic -- set port nic qos=@nic -- --id=@nic create qos type=linux-noop \
	-- add-port br-public mgmt0-port \
	-- add-port br-tenant vxlan100 \
	-- add-port br-public vr1-pub \
	-- add-port br-tenant vr1-pri
ovs_check h2
ovs_datapath system
ovs_start h3 "$datapath"
ovs h3 ovs-vsctl \
	-- add-br br-public -- set bridge br-public datapath_type="$datapath" other-config:hwaddr='"02:0e:02:96:d0:ed"' \
	-- add-br br-tenant -- set bridge br-tenant datapath_type="$datapath" other-config:hwaddr='"02:4e:bf:fa:ef:e0"' \
	-- add-port br-public nic -- set port nic qos=@nic -- --id=@nic create qos type=linux-noop \
	-- add-port br-public mgmt0-port \
	-- add-port br-tenant vxlan100 \
	-- add-port br-tenant web
ovs_check h3

# bridge
ip -n fabric link set dev h1 master br0
ip -n fabric link set dev h2 master br0
ip -n fabric link set dev h3 master br0
ip -n fabric link set dev br0 up
bridge -n h1 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.2 self permanent
bridge -n h1 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.3 self permanent
bridge -n h2 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.1 self permanent
bridge -n h2 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.3 self permanent
bridge -n h3 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.1 self permanent
bridge -n h3 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.2 self permanent

echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the lab ends with this shell.' >&2
if [ $# -gt 0 ]; then
	"$@"
else
	"${SHELL:-sh}"
fi
