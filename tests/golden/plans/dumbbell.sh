#!/bin/sh
# The lab dumbbell by hand, as vpclab builds it:
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
ip netns add a
ip netns add r
ip netns add b
ip netns add wires

# sysctl
ip netns exec a sh -eu <<'END'
echo 0 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n a link set lo up
ip netns exec r sh -eu <<'END'
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n r link set lo up
ip netns exec b sh -eu <<'END'
echo 0 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n b link set lo up
ip netns exec wires sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n wires link set lo up

# link
ip -n a link add name eth1 index 100 mtu 1500 address 02:7c:63:d6:52:81 type veth peer name eth1 index 100 mtu 1500 address 02:4d:e5:6d:50:fc netns r
ip -n r link add name eth2 index 101 mtu 1500 address 02:1f:3f:64:ee:57 type veth peer name r-eth2 index 100 mtu 1500 address 02:8a:84:2d:61:bf netns wires
ip -n b link add name eth1 index 100 mtu 1500 address 02:50:89:4a:54:e6 type veth peer name b-eth1 index 101 mtu 1500 address 02:05:ce:02:02:22 netns wires
ip -n wires link add name r-eth2-span index 102 mtu 1500 address 02:e6:ed:e2:d8:64 type veth peer name b-eth1-span index 103 mtu 1500 address 02:20:fe:13:1f:ac netns wires

# config
ip netns exec a ethtool -K eth1 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n a addr add 10.0.1.1/24 dev eth1 noprefixroute
ip -n a link set dev eth1 up
ip -n a -4 route add 10.0.1.0/24 dev eth1 src 10.0.1.1 congctl cubic
ip -n a -4 route add default via 10.0.1.254 dev eth1 congctl cubic
ip netns exec r ethtool -K eth1 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec r ethtool -K eth2 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n r addr add 10.0.1.254/24 dev eth1 noprefixroute
ip -n r addr add 10.0.2.254/24 dev eth2 noprefixroute
ip -n r link set dev eth1 up
ip -n r link set dev eth2 up
ip -n r -4 route add 10.0.1.0/24 dev eth1 src 10.0.1.254
ip -n r -4 route add 10.0.2.0/24 dev eth2 src 10.0.2.254
ip netns exec b ethtool -K eth1 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n b addr add 10.0.2.1/24 dev eth1 noprefixroute
ip -n b link set dev eth1 up
ip -n b -4 route add 10.0.2.0/24 dev eth1 src 10.0.2.1 congctl cubic
ip -n b -4 route add default via 10.0.2.254 dev eth1 congctl cubic
ip netns exec wires ethtool -K r-eth2 gro off >/dev/null
ip netns exec wires ethtool -K b-eth1 gro off >/dev/null
ip netns exec wires ethtool -K r-eth2-span tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec wires ethtool -K b-eth1-span tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n wires link set dev r-eth2 up
ip -n wires link set dev b-eth1 up
ip -n wires link set dev r-eth2-span up
ip -n wires link set dev b-eth1-span up
tc -n wires qdisc add dev r-eth2 root handle 1: netem limit 3141 delay 10ms
tc -n wires qdisc add dev b-eth1 root handle 1: netem limit 4331 delay 10ms 1ms distribution normal loss random 1%
tc -n wires qdisc add dev r-eth2-span root handle 1: tbf rate 100000000bit burst 100000 limit 250000
tc -n wires qdisc add dev b-eth1-span root handle 1: tbf rate 100000000bit burst 100000 limit 250000
ip netns exec wires nft -f - <<'END'
table netdev wires {
	chain from-r-eth2 {
		type filter hook ingress device "r-eth2" priority 0; policy accept;
		fwd to "r-eth2-span"
	}
	chain from-b-eth1-span {
		type filter hook ingress device "b-eth1-span" priority 0; policy accept;
		fwd to "b-eth1"
	}
	chain from-b-eth1 {
		type filter hook ingress device "b-eth1" priority 0; policy accept;
		fwd to "b-eth1-span"
	}
	chain from-r-eth2-span {
		type filter hook ingress device "r-eth2-span" priority 0; policy accept;
		fwd to "r-eth2"
	}
}
END

echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the lab ends with this shell.' >&2
if [ $# -gt 0 ]; then
	"$@"
else
	"${SHELL:-sh}"
fi
