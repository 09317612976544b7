#!/bin/sh
# The lab vlan by hand, as vpclab builds it:
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

# netns
ip netns add fabric
ip netns add h1
ip netns add h2
ip netns add red-1
ip netns add red-2
ip netns add blue-1
ip netns add blue-2

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
ip netns exec red-1 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n red-1 link set lo up
ip netns exec red-2 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n red-2 link set lo up
ip netns exec blue-1 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n blue-1 link set lo up
ip netns exec blue-2 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n blue-2 link set lo up

# link
ip -n fabric link add name br0 index 100 mtu 1500 address 02:b9:04:c7:8f:7a type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name br-fabric index 100 mtu 1500 address 02:ef:de:06:a1:cc type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name nic index 101 mtu 1500 address 02:ef:de:06:a1:cc type veth peer name h1 index 101 mtu 1500 address 02:8f:9f:e2:0c:ba netns fabric
ip -n h1 link add name br-red index 102 mtu 1500 address 02:c8:6f:3d:73:99 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add link nic name nic.100 index 103 mtu 1500 address 02:0b:67:11:41:83 type vlan id 100
ip -n h1 link add name br-blue index 104 mtu 1500 address 02:ad:74:22:ed:e6 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add link nic name nic.200 index 105 mtu 1500 address 02:7e:30:30:23:32 type vlan id 200
ip -n h1 link add name red-1-out index 107 mtu 1500 address 02:cf:87:59:11:cc type veth peer name red-1 index 108 mtu 1500 address 02:c4:87:c3:db:bc netns h1
ip -n h1 link add name blue-1-out index 110 mtu 1500 address 02:55:88:54:55:97 type veth peer name blue-1 index 111 mtu 1500 address 02:9d:49:c1:4d:8e netns h1
ip -n h2 link add name br-fabric index 100 mtu 1500 address 02:17:f8:79:de:65 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add name nic index 101 mtu 1500 address 02:17:f8:79:de:65 type veth peer name h2 index 102 mtu 1500 address 02:83:91:f7:f6:15 netns fabric
ip -n h2 link add name br-red index 102 mtu 1500 address 02:c6:30:8e:3e:a9 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add link nic name nic.100 index 103 mtu 1500 address 02:64:79:29:0e:50 type vlan id 100
ip -n h2 link add name br-blue index 104 mtu 1500 address 02:cf:c4:9a:d0:5c type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add link nic name nic.200 index 105 mtu 1500 address 02:e7:12:38:94:f1 type vlan id 200
ip -n h2 link add name red-2-out index 107 mtu 1500 address 02:91:6e:cf:89:3b type veth peer name red-2 index 108 mtu 1500 address 02:60:92:90:f6:a0 netns h2
ip -n h2 link add name blue-2-out index 110 mtu 1500 address 02:7e:85:85:13:21 type veth peer name blue-2 index 111 mtu 1500 address 02:a3:03:87:9e:3a netns h2
ip -n red-1 link add name eth0 index 100 mtu 1500 address 02:00:f9:3e:9c:7f type veth peer name red-1-tap index 106 mtu 1500 address 02:fb:c8:7b:94:5b netns h1
ip -n red-2 link add name eth0 index 100 mtu 1500 address 02:db:0b:35:aa:1b type veth peer name red-2-tap index 106 mtu 1500 address 02:c4:9f:1f:c0:d0 netns h2
ip -n blue-1 link add name eth0 index 100 mtu 1500 address 02:6d:ed:5b:71:57 type veth peer name blue-1-tap index 109 mtu 1500 address 02:26:9c:cd:ff:44 netns h1
ip -n blue-2 link add name eth0 index 100 mtu 1500 address 02:11:a1:e3:60:27 type veth peer name blue-2-tap index 109 mtu 1500 address 02:88:04:85:83:0c netns h2

# config
ip netns exec fabric ethtool -K h1 gro off >/dev/null
ip netns exec fabric ethtool -K h2 gro off >/dev/null
ip -n fabric link set dev h1 up
ip -n fabric link set dev h2 up
tc -n fabric qdisc add dev h1 root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
tc -n fabric qdisc add dev h2 root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
ip netns exec h1 ethtool -K nic gro off >/dev/null
ip netns exec h1 ethtool -K nic.100 gro off >/dev/null
ip netns exec h1 ethtool -K nic.200 gro off >/dev/null
ip netns exec h1 ethtool -K red-1-tap gro off >/dev/null
ip netns exec h1 ethtool -K red-1-out gro off >/dev/null
ip netns exec h1 ethtool -K red-1 gro off >/dev/null
ip netns exec h1 ethtool -K blue-1-tap gro off >/dev/null
ip netns exec h1 ethtool -K blue-1-out gro off >/dev/null
ip netns exec h1 ethtool -K blue-1 gro off >/dev/null
ip -n h1 addr add 172.31.255.1/24 dev br-fabric noprefixroute
ip -n h1 link set dev nic up
ip -n h1 link set dev nic.100 up
ip -n h1 link set dev nic.200 up
ip -n h1 link set dev red-1-tap up
ip -n h1 link set dev red-1-out up
ip -n h1 link set dev red-1 up
ip -n h1 link set dev blue-1-tap up
ip -n h1 link set dev blue-1-out up
ip -n h1 link set dev blue-1 up
tc -n h1 qdisc add dev nic root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
ip netns exec h1 nft -f - <<'END'
table netdev tap {
	chain from-red-1-tap {
		type filter hook ingress device "red-1-tap" priority 0; policy accept;
		dup to "red-1-out"
		drop
	}
	chain from-red-1-out {
		type filter hook ingress device "red-1-out" priority 0; policy accept;
		fwd to "red-1-tap"
	}
	chain from-blue-1-tap {
		type filter hook ingress device "blue-1-tap" priority 0; policy accept;
		dup to "blue-1-out"
		drop
	}
	chain from-blue-1-out {
		type filter hook ingress device "blue-1-out" priority 0; policy accept;
		fwd to "blue-1-tap"
	}
}
END
ip netns exec h2 ethtool -K nic gro off >/dev/null
ip netns exec h2 ethtool -K nic.100 gro off >/dev/null
ip netns exec h2 ethtool -K nic.200 gro off >/dev/null
ip netns exec h2 ethtool -K red-2-tap gro off >/dev/null
ip netns exec h2 ethtool -K red-2-out gro off >/dev/null
ip netns exec h2 ethtool -K red-2 gro off >/dev/null
ip netns exec h2 ethtool -K blue-2-tap gro off >/dev/null
ip netns exec h2 ethtool -K blue-2-out gro off >/dev/null
ip netns exec h2 ethtool -K blue-2 gro off >/dev/null
ip -n h2 addr add 172.31.255.2/24 dev br-fabric noprefixroute
ip -n h2 link set dev nic up
ip -n h2 link set dev nic.100 up
ip -n h2 link set dev nic.200 up
ip -n h2 link set dev red-2-tap up
ip -n h2 link set dev red-2-out up
ip -n h2 link set dev red-2 up
ip -n h2 link set dev blue-2-tap up
ip -n h2 link set dev blue-2-out up
ip -n h2 link set dev blue-2 up
tc -n h2 qdisc add dev nic root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
ip netns exec h2 nft -f - <<'END'
table netdev tap {
	chain from-red-2-tap {
		type filter hook ingress device "red-2-tap" priority 0; policy accept;
		dup to "red-2-out"
		drop
	}
	chain from-red-2-out {
		type filter hook ingress device "red-2-out" priority 0; policy accept;
		fwd to "red-2-tap"
	}
	chain from-blue-2-tap {
		type filter hook ingress device "blue-2-tap" priority 0; policy accept;
		dup to "blue-2-out"
		drop
	}
	chain from-blue-2-out {
		type filter hook ingress device "blue-2-out" priority 0; policy accept;
		fwd to "blue-2-tap"
	}
}
END
ip netns exec red-1 ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n red-1 addr add 10.0.0.1/24 dev eth0 noprefixroute
ip -n red-1 link set dev eth0 up
ip -n red-1 -4 route add 10.0.0.0/24 dev eth0 src 10.0.0.1 congctl cubic
ip -n red-1 -4 route add default via 10.0.0.254 dev eth0 congctl cubic
ip netns exec red-2 ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n red-2 addr add 10.0.0.2/24 dev eth0 noprefixroute
ip -n red-2 link set dev eth0 up
ip -n red-2 -4 route add 10.0.0.0/24 dev eth0 src 10.0.0.2 congctl cubic
ip -n red-2 -4 route add default via 10.0.0.254 dev eth0 congctl cubic
ip netns exec blue-1 ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n blue-1 addr add 10.0.0.1/24 dev eth0 noprefixroute
ip -n blue-1 link set dev eth0 up
ip -n blue-1 -4 route add 10.0.0.0/24 dev eth0 src 10.0.0.1 congctl cubic
ip -n blue-1 -4 route add default via 10.0.0.254 dev eth0 congctl cubic
ip netns exec blue-2 ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n blue-2 addr add 10.0.0.2/24 dev eth0 noprefixroute
ip -n blue-2 link set dev eth0 up
ip -n blue-2 -4 route add 10.0.0.0/24 dev eth0 src 10.0.0.2 congctl cubic
ip -n blue-2 -4 route add default via 10.0.0.254 dev eth0 congctl cubic

# bridge
ip -n fabric link set dev h1 master br0
ip -n fabric link set dev h2 master br0
ip -n fabric link set dev br0 up
ip -n h1 link set dev nic master br-fabric
ip -n h1 link set dev nic.100 master br-red
ip -n h1 link set dev nic.200 master br-blue
ip -n h1 link set dev red-1 master br-red
ip -n h1 link set dev blue-1 master br-blue
ip -n h1 link set dev br-fabric up
ip -n h1 link set dev br-red up
ip -n h1 link set dev br-blue up
ip -n h1 -4 route add 172.31.255.0/24 dev br-fabric src 172.31.255.1
ip -n h2 link set dev nic master br-fabric
ip -n h2 link set dev nic.100 master br-red
ip -n h2 link set dev nic.200 master br-blue
ip -n h2 link set dev red-2 master br-red
ip -n h2 link set dev blue-2 master br-blue
ip -n h2 link set dev br-fabric up
ip -n h2 link set dev br-red up
ip -n h2 link set dev br-blue up
ip -n h2 -4 route add 172.31.255.0/24 dev br-fabric src 172.31.255.2

echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the lab ends with this shell.' >&2
if [ $# -gt 0 ]; then
	"$@"
else
	"${SHELL:-sh}"
fi
