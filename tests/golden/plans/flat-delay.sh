#!/bin/sh
# The lab flat by hand, as vpclab builds it:
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

# netem delays and loses packets here. vpclab up has a relay where the kernel has no netem; a
# script made from the running lab (vpclab plan LAB --format sh) has it too.
if ! tc qdisc add dev lo root netem 2>/dev/null; then
	echo "$0: this kernel has no netem: vpclab up FILE, then vpclab plan LAB --format sh" >&2
	exit 4
fi
tc qdisc del dev lo root

# netns
ip netns add fabric
ip netns add h1
ip netns add wires
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
ip netns exec wires sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n wires link set lo up
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
ip -n fabric link add name h1 index 101 mtu 1500 address 02:8f:9f:e2:0c:ba type veth peer name fabric-h1 index 101 mtu 1500 address 02:34:1e:8f:4f:c7 netns wires
ip -n fabric link add name h2 index 102 mtu 1500 address 02:83:91:f7:f6:15 type veth peer name fabric-h2 index 105 mtu 1500 address 02:2b:d2:41:b1:ad netns wires
ip -n h1 link add name br-net index 100 mtu 1500 address 02:ef:de:06:a1:cc type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name nic index 101 mtu 1500 address 02:ef:de:06:a1:cc type veth peer name h1-nic index 100 mtu 1500 address 02:eb:61:5b:6b:50 netns wires
ip -n h1 link add name client-out index 103 mtu 1500 address 02:61:84:77:3e:49 type veth peer name client index 104 mtu 1500 address 02:e3:09:5e:19:df netns h1
ip -n h1 link add name client-cap index 105 mtu 1500 address 02:be:3f:da:71:a5 type veth peer name client-cpo index 106 mtu 1500 address 02:7c:32:fa:a6:32 netns h1
ip -n wires link add name h1-nic-span index 102 mtu 1500 address 02:5c:af:14:ec:a1 type veth peer name fabric-h1-span index 103 mtu 1500 address 02:f7:73:ef:01:3a netns wires
ip -n wires link add name h2-nic-span index 106 mtu 1500 address 02:10:82:8a:f3:77 type veth peer name fabric-h2-span index 107 mtu 1500 address 02:94:1f:1a:f6:f3 netns wires
ip -n h2 link add name br-net index 100 mtu 1500 address 02:17:f8:79:de:65 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add name nic index 101 mtu 1500 address 02:17:f8:79:de:65 type veth peer name h2-nic index 104 mtu 1500 address 02:e1:1f:4b:2a:86 netns wires
ip -n h2 link add name server-out index 103 mtu 1500 address 02:13:92:0c:8b:12 type veth peer name server index 104 mtu 1500 address 02:e8:49:aa:45:da netns h2
ip -n h2 link add name peer-out index 106 mtu 1500 address 02:65:d8:c2:95:2f type veth peer name peer index 107 mtu 1500 address 02:cd:e4:c1:78:ae netns h2
ip -n client link add name eth0 index 100 mtu 1500 address 02:4a:e9:cc:5d:1a type veth peer name client-tap index 102 mtu 1500 address 02:13:82:01:d7:37 netns h1
ip -n server link add name eth0 index 100 mtu 1500 address 02:33:23:45:4f:22 type veth peer name server-tap index 102 mtu 1500 address 02:1d:bf:d9:96:b6 netns h2
ip -n peer link add name eth0 index 100 mtu 1500 address 02:bb:6f:33:0d:e8 type veth peer name peer-tap index 105 mtu 1500 address 02:c2:78:90:9a:ea netns h2

# config
ip netns exec fabric ethtool -K h1 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec fabric ethtool -K h2 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n fabric link set dev h1 up
ip -n fabric link set dev h2 up
ip netns exec h1 ethtool -K nic tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec h1 ethtool -K client-tap gro off >/dev/null
ip netns exec h1 ethtool -K client-out gro off >/dev/null
ip netns exec h1 ethtool -K client gro off >/dev/null
ip netns exec h1 ethtool -K client-cap gro off >/dev/null
ip netns exec h1 ethtool -K client-cpo gro off >/dev/null
ip -n h1 addr add 172.31.255.1/24 dev br-net noprefixroute
ip -n h1 link set dev nic up
ip -n h1 link set dev client-tap up
ip -n h1 link set dev client-out up
ip -n h1 link set dev client up
ip -n h1 link set dev client-cap up
ip -n h1 link set dev client-cpo up
tc -n h1 qdisc add dev client-cap root handle 1: stab overhead -14 tbf rate 100000000bit burst 100000 limit 1500000
ip netns exec h1 nft -f - <<'END'
table netdev tap {
	chain from-client-tap {
		type filter hook ingress device "client-tap" priority 0; policy accept;
		meta mark set 1
		dup to "client-cap"
		drop
	}
	chain from-client-out {
		type filter hook ingress device "client-out" priority 0; policy accept;
		meta mark set 2
		fwd to "client-cap"
	}
	chain from-client-cpo {
		type filter hook ingress device "client-cpo" priority 0; policy accept;
		meta mark 1 fwd to "client-out"
		meta mark 2 fwd to "client-tap"
	}
}
END
ip netns exec wires ethtool -K h1-nic gro off >/dev/null
ip netns exec wires ethtool -K fabric-h1 gro off >/dev/null
ip netns exec wires ethtool -K h1-nic-span tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec wires ethtool -K fabric-h1-span tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec wires ethtool -K h2-nic gro off >/dev/null
ip netns exec wires ethtool -K fabric-h2 gro off >/dev/null
ip netns exec wires ethtool -K h2-nic-span tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec wires ethtool -K fabric-h2-span tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n wires link set dev h1-nic up
ip -n wires link set dev fabric-h1 up
ip -n wires link set dev h1-nic-span up
ip -n wires link set dev fabric-h1-span up
ip -n wires link set dev h2-nic up
ip -n wires link set dev fabric-h2 up
ip -n wires link set dev h2-nic-span up
ip -n wires link set dev fabric-h2-span up
tc -n wires qdisc add dev h1-nic root handle 1: netem limit 1000
tc -n wires qdisc add dev fabric-h1 root handle 1: netem limit 2976 delay 1ms
tc -n wires qdisc add dev h1-nic-span root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
tc -n wires qdisc add dev fabric-h1-span root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
tc -n wires qdisc add dev h2-nic root handle 1: netem limit 1000
tc -n wires qdisc add dev fabric-h2 root handle 1: netem limit 2976 delay 1ms
tc -n wires qdisc add dev h2-nic-span root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
tc -n wires qdisc add dev fabric-h2-span root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
ip netns exec wires nft -f - <<'END'
table netdev wires {
	chain from-h1-nic {
		type filter hook ingress device "h1-nic" priority 0; policy accept;
		fwd to "h1-nic-span"
	}
	chain from-fabric-h1-span {
		type filter hook ingress device "fabric-h1-span" priority 0; policy accept;
		fwd to "fabric-h1"
	}
	chain from-fabric-h1 {
		type filter hook ingress device "fabric-h1" priority 0; policy accept;
		fwd to "fabric-h1-span"
	}
	chain from-h1-nic-span {
		type filter hook ingress device "h1-nic-span" priority 0; policy accept;
		fwd to "h1-nic"
	}
	chain from-h2-nic {
		type filter hook ingress device "h2-nic" priority 0; policy accept;
		fwd to "h2-nic-span"
	}
	chain from-fabric-h2-span {
		type filter hook ingress device "fabric-h2-span" priority 0; policy accept;
		fwd to "fabric-h2"
	}
	chain from-fabric-h2 {
		type filter hook ingress device "fabric-h2" priority 0; policy accept;
		fwd to "fabric-h2-span"
	}
	chain from-h2-nic-span {
		type filter hook ingress device "h2-nic-span" priority 0; policy accept;
		fwd to "h2-nic"
	}
}
END
ip netns exec h2 ethtool -K nic tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec h2 ethtool -K server-tap gro off >/dev/null
ip netns exec h2 ethtool -K server-out gro off >/dev/null
ip netns exec h2 ethtool -K server gro off >/dev/null
ip netns exec h2 ethtool -K peer-tap gro off >/dev/null
ip netns exec h2 ethtool -K peer-out gro off >/dev/null
ip netns exec h2 ethtool -K peer gro off >/dev/null
ip -n h2 addr add 172.31.255.2/24 dev br-net noprefixroute
ip -n h2 link set dev nic up
ip -n h2 link set dev server-tap up
ip -n h2 link set dev server-out up
ip -n h2 link set dev server up
ip -n h2 link set dev peer-tap up
ip -n h2 link set dev peer-out up
ip -n h2 link set dev peer up
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
ip netns exec client nft -f - <<'END'
table inet vnic {
	chain connections {
		ct state new ct count over 100 counter drop
	}
	chain input {
		type filter hook input priority 0; policy accept;
		iifname "eth0" jump connections
	}
	chain output {
		type filter hook output priority 0; policy accept;
		oifname "eth0" jump connections
	}
}
END
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

# bridge
ip -n fabric link set dev h1 master br0
ip -n fabric link set dev h2 master br0
ip -n fabric link set dev br0 up
ip -n h1 link set dev nic master br-net
ip -n h1 link set dev client master br-net
ip -n h1 link set dev br-net up
ip -n h1 -4 route add 172.31.255.0/24 dev br-net src 172.31.255.1
ip -n h2 link set dev nic master br-net
ip -n h2 link set dev server master br-net
ip -n h2 link set dev peer master br-net
ip -n h2 link set dev br-net up
ip -n h2 -4 route add 172.31.255.0/24 dev br-net src 172.31.255.2

echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the lab ends with this shell.' >&2
if [ $# -gt 0 ]; then
	"$@"
else
	"${SHELL:-sh}"
fi
