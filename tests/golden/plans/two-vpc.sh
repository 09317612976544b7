#!/bin/sh
# The lab two-vpc by hand, as vpclab builds it:
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
ip netns add vr-red
ip netns add vr-blue
ip netns add client
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
ip netns exec vr-red sh -eu <<'END'
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
ip -n vr-red link set lo up
ip netns exec vr-blue sh -eu <<'END'
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
ip -n vr-blue link set lo up
ip netns exec client sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n client link set lo up
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
ip -n h1 link add name br-public index 100 mtu 1500 address 02:ef:de:06:a1:cc type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name nic index 101 mtu 1500 address 02:ef:de:06:a1:cc type veth peer name h1 index 101 mtu 1500 address 02:8f:9f:e2:0c:ba netns fabric
ip -n h1 link add name br-red index 102 mtu 1450 address 02:c8:6f:3d:73:99 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name vxlan100 index 103 mtu 1450 address 02:11:2d:85:64:23 type vxlan id 100 dstport 4789 local 172.31.255.1
ip -n h1 link add name br-blue index 104 mtu 1450 address 02:ad:74:22:ed:e6 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name vxlan200 index 105 mtu 1450 address 02:e1:7f:eb:ae:20 type vxlan id 200 dstport 4789 local 172.31.255.1
ip -n h1 link add name client-out index 109 mtu 1500 address 02:61:84:77:3e:49 type veth peer name client index 110 mtu 1500 address 02:e3:09:5e:19:df netns h1
ip -n h1 link add name red-1-out index 112 mtu 1450 address 02:cf:87:59:11:cc type veth peer name red-1 index 113 mtu 1450 address 02:c4:87:c3:db:bc netns h1
ip -n h1 link add name blue-1-out index 115 mtu 1450 address 02:55:88:54:55:97 type veth peer name blue-1 index 116 mtu 1450 address 02:9d:49:c1:4d:8e netns h1
ip -n h2 link add name br-public index 100 mtu 1500 address 02:17:f8:79:de:65 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add name nic index 101 mtu 1500 address 02:17:f8:79:de:65 type veth peer name h2 index 102 mtu 1500 address 02:83:91:f7:f6:15 netns fabric
ip -n h2 link add name br-red index 102 mtu 1450 address 02:c6:30:8e:3e:a9 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add name vxlan100 index 103 mtu 1450 address 02:33:b1:2b:19:f6 type vxlan id 100 dstport 4789 local 172.31.255.2
ip -n h2 link add name br-blue index 104 mtu 1450 address 02:cf:c4:9a:d0:5c type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add name vxlan200 index 105 mtu 1450 address 02:c0:fe:90:dc:dd type vxlan id 200 dstport 4789 local 172.31.255.2
ip -n h2 link add name red-2-out index 109 mtu 1450 address 02:91:6e:cf:89:3b type veth peer name red-2 index 110 mtu 1450 address 02:60:92:90:f6:a0 netns h2
ip -n h2 link add name blue-2-out index 112 mtu 1450 address 02:7e:85:85:13:21 type veth peer name blue-2 index 113 mtu 1450 address 02:a3:03:87:9e:3a netns h2
ip -n vr-red link add name pub index 100 mtu 1500 address 02:4a:9d:8c:c1:0e type veth peer name vr-red-pub index 106 mtu 1500 address 02:96:74:ff:c6:53 netns h1
ip -n vr-red link add name pri index 101 mtu 1450 address 02:d9:6a:cf:02:eb type veth peer name vr-red-pri index 107 mtu 1450 address 02:d6:0f:24:2d:8c netns h1
ip -n vr-blue link add name pub index 100 mtu 1500 address 02:9a:ae:93:6b:77 type veth peer name vr-blue-pub index 106 mtu 1500 address 02:e0:b9:52:70:ca netns h2
ip -n vr-blue link add name pri index 101 mtu 1450 address 02:b3:08:91:3a:43 type veth peer name vr-blue-pri index 107 mtu 1450 address 02:8c:e9:12:fc:a2 netns h2
ip -n client link add name eth0 index 100 mtu 1500 address 02:4a:e9:cc:5d:1a type veth peer name client-tap index 108 mtu 1500 address 02:13:82:01:d7:37 netns h1
ip -n red-1 link add name eth0 index 100 mtu 1450 address 02:00:f9:3e:9c:7f type veth peer name red-1-tap index 111 mtu 1450 address 02:fb:c8:7b:94:5b netns h1
ip -n red-2 link add name eth0 index 100 mtu 1450 address 02:db:0b:35:aa:1b type veth peer name red-2-tap index 108 mtu 1450 address 02:c4:9f:1f:c0:d0 netns h2
ip -n blue-1 link add name eth0 index 100 mtu 1450 address 02:6d:ed:5b:71:57 type veth peer name blue-1-tap index 114 mtu 1450 address 02:26:9c:cd:ff:44 netns h1
ip -n blue-2 link add name eth0 index 100 mtu 1450 address 02:11:a1:e3:60:27 type veth peer name blue-2-tap index 111 mtu 1450 address 02:88:04:85:83:0c netns h2

# config
ip netns exec fabric ethtool -K h1 gro off >/dev/null
ip netns exec fabric ethtool -K h2 gro off >/dev/null
ip -n fabric link set dev h1 up
ip -n fabric link set dev h2 up
tc -n fabric qdisc add dev h1 root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
tc -n fabric qdisc add dev h2 root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
ip netns exec h1 ethtool -K nic gro off >/dev/null
ip netns exec h1 ethtool -K vxlan100 gro off >/dev/null
ip netns exec h1 ethtool -K vxlan200 gro off >/dev/null
ip netns exec h1 ethtool -K vr-red-pub gro off >/dev/null
ip netns exec h1 ethtool -K vr-red-pri gro off >/dev/null
ip netns exec h1 ethtool -K client-tap gro off >/dev/null
ip netns exec h1 ethtool -K client-out gro off >/dev/null
ip netns exec h1 ethtool -K client gro off >/dev/null
ip netns exec h1 ethtool -K red-1-tap gro off >/dev/null
ip netns exec h1 ethtool -K red-1-out gro off >/dev/null
ip netns exec h1 ethtool -K red-1 gro off >/dev/null
ip netns exec h1 ethtool -K blue-1-tap gro off >/dev/null
ip netns exec h1 ethtool -K blue-1-out gro off >/dev/null
ip netns exec h1 ethtool -K blue-1 gro off >/dev/null
ip -n h1 addr add 172.31.255.1/24 dev br-public noprefixroute
ip -n h1 link set dev nic up
ip -n h1 link set dev vxlan100 up
ip -n h1 link set dev vxlan200 up
ip -n h1 link set dev vr-red-pub up
ip -n h1 link set dev vr-red-pri up
ip -n h1 link set dev client-tap up
ip -n h1 link set dev client-out up
ip -n h1 link set dev client up
ip -n h1 link set dev red-1-tap up
ip -n h1 link set dev red-1-out up
ip -n h1 link set dev red-1 up
ip -n h1 link set dev blue-1-tap up
ip -n h1 link set dev blue-1-out up
ip -n h1 link set dev blue-1 up
tc -n h1 qdisc add dev nic root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
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
ip netns exec h2 ethtool -K vxlan100 gro off >/dev/null
ip netns exec h2 ethtool -K vxlan200 gro off >/dev/null
ip netns exec h2 ethtool -K vr-blue-pub gro off >/dev/null
ip netns exec h2 ethtool -K vr-blue-pri gro off >/dev/null
ip netns exec h2 ethtool -K red-2-tap gro off >/dev/null
ip netns exec h2 ethtool -K red-2-out gro off >/dev/null
ip netns exec h2 ethtool -K red-2 gro off >/dev/null
ip netns exec h2 ethtool -K blue-2-tap gro off >/dev/null
ip netns exec h2 ethtool -K blue-2-out gro off >/dev/null
ip netns exec h2 ethtool -K blue-2 gro off >/dev/null
ip -n h2 addr add 172.31.255.2/24 dev br-public noprefixroute
ip -n h2 link set dev nic up
ip -n h2 link set dev vxlan100 up
ip -n h2 link set dev vxlan200 up
ip -n h2 link set dev vr-blue-pub up
ip -n h2 link set dev vr-blue-pri up
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
ip netns exec vr-red ethtool -K pub tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec vr-red ethtool -K pri tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n vr-red addr add 192.0.2.2/24 dev pub noprefixroute
ip -n vr-red addr add 192.0.2.60/24 dev pub noprefixroute
ip -n vr-red addr add 10.20.0.1/24 dev pri noprefixroute
ip -n vr-red link set dev pub up
ip -n vr-red link set dev pri up
ip -n vr-red -4 route add 192.0.2.0/24 dev pub src 192.0.2.2
ip -n vr-red -4 route add 10.20.0.0/24 dev pri src 10.20.0.1
ip netns exec vr-red nft -f - <<'END'
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
ip netns exec vr-blue ethtool -K pub tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec vr-blue ethtool -K pri tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n vr-blue addr add 192.0.2.3/24 dev pub noprefixroute
ip -n vr-blue addr add 192.0.2.70/24 dev pub noprefixroute
ip -n vr-blue addr add 10.20.0.1/24 dev pri noprefixroute
ip -n vr-blue link set dev pub up
ip -n vr-blue link set dev pri up
ip -n vr-blue -4 route add 192.0.2.0/24 dev pub src 192.0.2.3
ip -n vr-blue -4 route add 10.20.0.0/24 dev pri src 10.20.0.1
ip netns exec vr-blue nft -f - <<'END'
table ip nat {
	chain PREROUTING {
		type nat hook prerouting priority -100; policy accept;
		ip daddr 192.0.2.70 counter dnat to 10.20.0.10 comment "EIP"
	}
	chain POSTROUTING {
		type nat hook postrouting priority 100; policy accept;
		oifname "pub" ip saddr 10.20.0.10 counter snat to 192.0.2.70 comment "EIP"
		oifname "pub" ip saddr 10.20.0.0/24 ip daddr != 224.0.0.0/8 counter snat to 192.0.2.3 comment "network SNAT"
		oifname "pri" ip saddr 10.20.0.0/24 ip daddr != 224.0.0.0/8 counter snat to 192.0.2.3 comment "network SNAT, hairpin"
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
		ip daddr 192.0.2.3 ct state established,related counter return
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
ip netns exec red-1 ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n red-1 addr add 10.20.0.10/24 dev eth0 noprefixroute
ip -n red-1 link set dev eth0 up
ip -n red-1 -4 route add 10.20.0.0/24 dev eth0 src 10.20.0.10 congctl cubic
ip -n red-1 -4 route add default via 10.20.0.1 dev eth0 congctl cubic
ip netns exec red-2 ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n red-2 addr add 10.20.0.11/24 dev eth0 noprefixroute
ip -n red-2 link set dev eth0 up
ip -n red-2 -4 route add 10.20.0.0/24 dev eth0 src 10.20.0.11 congctl cubic
ip -n red-2 -4 route add default via 10.20.0.1 dev eth0 congctl cubic
ip netns exec blue-1 ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n blue-1 addr add 10.20.0.10/24 dev eth0 noprefixroute
ip -n blue-1 link set dev eth0 up
ip -n blue-1 -4 route add 10.20.0.0/24 dev eth0 src 10.20.0.10 congctl cubic
ip -n blue-1 -4 route add default via 10.20.0.1 dev eth0 congctl cubic
ip netns exec blue-2 ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n blue-2 addr add 10.20.0.11/24 dev eth0 noprefixroute
ip -n blue-2 link set dev eth0 up
ip -n blue-2 -4 route add 10.20.0.0/24 dev eth0 src 10.20.0.11 congctl cubic
ip -n blue-2 -4 route add default via 10.20.0.1 dev eth0 congctl cubic

# bridge
ip -n fabric link set dev h1 master br0
ip -n fabric link set dev h2 master br0
ip -n fabric link set dev br0 up
ip -n h1 link set dev nic master br-public
ip -n h1 link set dev vxlan100 master br-red
ip -n h1 link set dev vxlan200 master br-blue
ip -n h1 link set dev vr-red-pub master br-public
ip -n h1 link set dev vr-red-pri master br-red
ip -n h1 link set dev client master br-public
ip -n h1 link set dev red-1 master br-red
ip -n h1 link set dev blue-1 master br-blue
bridge -n h1 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.2 self permanent
bridge -n h1 fdb append 00:00:00:00:00:00 dev vxlan200 dst 172.31.255.2 self permanent
ip -n h1 link set dev br-public up
ip -n h1 link set dev br-red up
ip -n h1 link set dev br-blue up
ip -n h1 -4 route add 172.31.255.0/24 dev br-public src 172.31.255.1
ip -n h2 link set dev nic master br-public
ip -n h2 link set dev vxlan100 master br-red
ip -n h2 link set dev vxlan200 master br-blue
ip -n h2 link set dev vr-blue-pub master br-public
ip -n h2 link set dev vr-blue-pri master br-blue
ip -n h2 link set dev red-2 master br-red
ip -n h2 link set dev blue-2 master br-blue
bridge -n h2 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.1 self permanent
bridge -n h2 fdb append 00:00:00:00:00:00 dev vxlan200 dst 172.31.255.1 self permanent
ip -n h2 link set dev br-public up
ip -n h2 link set dev br-red up
ip -n h2 link set dev br-blue up
ip -n h2 -4 route add 172.31.255.0/24 dev br-public src 172.31.255.2

echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the lab ends with this shell.' >&2
if [ $# -gt 0 ]; then
	"$@"
else
	"${SHELL:-sh}"
fi
