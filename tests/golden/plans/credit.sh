#!/bin/sh
# The lab credit by hand, as vpclab builds it:
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
ip netns add server
ip netns add client

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
ip netns exec server sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n server link set lo up
ip netns exec client sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n client link set lo up

# link
ip -n fabric link add name br0 index 100 mtu 1500 address 02:b9:04:c7:8f:7a type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name br-net index 100 mtu 1500 address 02:ef:de:06:a1:cc type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name nic index 101 mtu 1500 address 02:ef:de:06:a1:cc type veth peer name h1 index 101 mtu 1500 address 02:8f:9f:e2:0c:ba netns fabric
ip -n h1 link add name server-out index 103 mtu 1500 address 02:4b:79:c8:a0:94 type veth peer name server index 104 mtu 1500 address 02:80:c0:a1:78:11 netns h1
ip -n h2 link add name br-net index 100 mtu 1500 address 02:17:f8:79:de:65 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add name nic index 101 mtu 1500 address 02:17:f8:79:de:65 type veth peer name h2 index 102 mtu 1500 address 02:83:91:f7:f6:15 netns fabric
ip -n h2 link add name client-out index 103 mtu 1500 address 02:b1:8a:aa:b2:15 type veth peer name client index 104 mtu 1500 address 02:4e:9c:c0:f5:e3 netns h2
ip -n server link add name eth0 index 100 mtu 1500 address 02:33:23:45:4f:22 type veth peer name server-tap index 102 mtu 1500 address 02:90:d2:e2:3b:a6 netns h1
ip -n client link add name eth0 index 100 mtu 1500 address 02:4a:e9:cc:5d:1a type veth peer name client-tap index 102 mtu 1500 address 02:f5:71:d4:d2:91 netns h2

# config
ip netns exec fabric ethtool -K h1 gro off >/dev/null
ip netns exec fabric ethtool -K h2 gro off >/dev/null
ip -n fabric link set dev h1 up
ip -n fabric link set dev h2 up
ip netns exec h1 ethtool -K nic gro off >/dev/null
ip netns exec h1 ethtool -K server-tap gro off >/dev/null
ip netns exec h1 ethtool -K server-out gro off >/dev/null
ip netns exec h1 ethtool -K server gro off >/dev/null
ip -n h1 addr add 172.31.255.1/24 dev br-net noprefixroute
ip -n h1 link set dev nic up
ip -n h1 link set dev server-tap up
ip -n h1 link set dev server-out up
ip -n h1 link set dev server up
ip netns exec h1 nft -f - <<'END'
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
}
END
ip netns exec h2 ethtool -K nic gro off >/dev/null
ip netns exec h2 ethtool -K client-tap gro off >/dev/null
ip netns exec h2 ethtool -K client-out gro off >/dev/null
ip netns exec h2 ethtool -K client gro off >/dev/null
ip -n h2 addr add 172.31.255.2/24 dev br-net noprefixroute
ip -n h2 link set dev nic up
ip -n h2 link set dev client-tap up
ip -n h2 link set dev client-out up
ip -n h2 link set dev client up
tc -n h2 qdisc add dev client-tap root handle 1: stab overhead -14 tbf rate 20000000bit burst 50000000 limit 131072 peakrate 100000000bit minburst 100000
tc -n h2 qdisc add dev client-out root handle 1: stab overhead -14 tbf rate 20000000bit burst 50000000 limit 131072 peakrate 100000000bit minburst 100000
ip netns exec h2 nft -f - <<'END'
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
ip netns exec server ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n server addr add 10.0.0.10/24 dev eth0 noprefixroute
ip -n server link set dev eth0 up
ip -n server -4 route add 10.0.0.0/24 dev eth0 src 10.0.0.10 congctl cubic
ip netns exec client ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n client addr add 10.0.0.11/24 dev eth0 noprefixroute
ip -n client link set dev eth0 up
ip -n client -4 route add 10.0.0.0/24 dev eth0 src 10.0.0.11 congctl cubic

# bridge
ip -n fabric link set dev h1 master br0
ip -n fabric link set dev h2 master br0
ip -n fabric link set dev br0 up
ip -n h1 link set dev nic master br-net
ip -n h1 link set dev server master br-net
ip -n h1 link set dev br-net up
ip -n h1 -4 route add 172.31.255.0/24 dev br-net src 172.31.255.1
ip -n h2 link set dev nic master br-net
ip -n h2 link set dev client master br-net
ip -n h2 link set dev br-net up
ip -n h2 -4 route add 172.31.255.0/24 dev br-net src 172.31.255.2

echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the lab ends with this shell.' >&2
if [ $# -gt 0 ]; then
	"$@"
else
	"${SHELL:-sh}"
fi
