#!/bin/sh
# The lab zstack by hand, as vpclab builds it:
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
ip netns add h3
ip netns add vr1
ip netns add client
ip netns add direct
ip netns add flat-eip
ip netns add vpc-eip
ip netns add br-public_192_0_2_50

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
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6
echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/all/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/default/accept_ra
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
echo 1 >/proc/sys/net/ipv6/conf/default/forwarding
echo 0 >/proc/sys/net/ipv6/conf/default/addr_gen_mode
END
ip -n vr1 link set lo up
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
ip netns exec direct sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6
echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/all/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/default/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/all/forwarding
echo 0 >/proc/sys/net/ipv6/conf/default/forwarding
[ ! -e /proc/sys/net/ipv6/conf/default/addr_gen_mode ] || echo 1 >/proc/sys/net/ipv6/conf/default/addr_gen_mode
END
ip -n direct link set lo up
ip netns exec flat-eip sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n flat-eip link set lo up
ip netns exec vpc-eip sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vpc-eip link set lo up
ip netns exec br-public_192_0_2_50 sh -eu <<'END'
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
echo 1 >/proc/sys/net/ipv4/conf/all/send_redirects
echo 1 >/proc/sys/net/ipv4/conf/default/send_redirects
echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n br-public_192_0_2_50 link set lo up

# link
ip -n fabric link add name br0 index 100 mtu 1500 address 02:b9:04:c7:8f:7a type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name br-public index 100 mtu 1500 address 02:ef:de:06:a1:cc type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name nic index 101 mtu 1500 address 02:ef:de:06:a1:cc type veth peer name h1 index 101 mtu 1500 address 02:8f:9f:e2:0c:ba netns fabric
ip -n h1 link add name client-out index 103 mtu 1500 address 02:61:84:77:3e:49 type veth peer name client index 104 mtu 1500 address 02:e3:09:5e:19:df netns h1
ip -n h2 link add name br-public index 100 mtu 1500 address 02:17:f8:79:de:65 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add name nic index 101 mtu 1500 address 02:17:f8:79:de:65 type veth peer name h2 index 102 mtu 1500 address 02:83:91:f7:f6:15 netns fabric
ip -n h2 link add name br-tenant index 102 mtu 1450 address 02:fd:c0:42:0a:50 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h2 link add name vxlan100 index 103 mtu 1450 address 02:33:b1:2b:19:f6 type vxlan id 100 dstport 4789 local 172.31.255.2
ip -n h2 link add name direct-out index 107 mtu 1500 address 02:16:ca:1d:c8:15 type veth peer name direct index 108 mtu 1500 address 02:5a:fd:5e:52:2b netns h2
ip -n h2 link add name flat-eip-out index 110 mtu 1500 address 02:5a:14:60:ce:a6 type veth peer name flat-eip index 111 mtu 1500 address 02:43:46:43:ef:24 netns h2
ip -n h2 link add name flat-eip_eo index 112 mtu 65500 address 02:b4:e6:d6:ea:73 type veth peer name flat-eip_ei index 100 mtu 65500 address 02:73:b2:37:30:92 netns br-public_192_0_2_50
ip -n h2 link add name flat-eip_o index 113 mtu 65500 address 02:3e:02:76:91:27 type veth peer name flat-eip_i index 101 mtu 65500 address 02:55:ac:54:ae:e8 netns br-public_192_0_2_50
ip -n h3 link add name br-public index 100 mtu 1500 address 02:0e:02:96:d0:ed type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h3 link add name nic index 101 mtu 1500 address 02:0e:02:96:d0:ed type veth peer name h3 index 103 mtu 1500 address 02:b4:ff:a9:88:65 netns fabric
ip -n h3 link add name br-tenant index 102 mtu 1450 address 02:4e:bf:fa:ef:e0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h3 link add name vxlan100 index 103 mtu 1450 address 02:76:0a:66:d8:94 type vxlan id 100 dstport 4789 local 172.31.255.3
ip -n h3 link add name vpc-eip-out index 105 mtu 1450 address 02:69:da:b0:cb:91 type veth peer name vpc-eip index 106 mtu 1450 address 02:bf:8b:0d:93:70 netns h3
ip -n vr1 link add name pub index 100 mtu 1500 address 02:13:e7:e3:9e:93 type veth peer name vr1-pub index 104 mtu 1500 address 02:c0:91:b5:83:90 netns h2
ip -n vr1 link add name pri index 101 mtu 1450 address 02:a0:3a:ec:6c:66 type veth peer name vr1-pri index 105 mtu 1450 address 02:ef:bc:cd:2c:50 netns h2
ip -n client link add name eth0 index 100 mtu 1500 address 02:4a:e9:cc:5d:1a type veth peer name client-tap index 102 mtu 1500 address 02:13:82:01:d7:37 netns h1
ip -n direct link add name eth0 index 100 mtu 1500 address 02:c1:13:5e:83:57 type veth peer name direct-tap index 106 mtu 1500 address 02:23:21:f8:19:a4 netns h2
ip -n flat-eip link add name eth0 index 100 mtu 1500 address 02:b6:c3:0d:d8:3a type veth peer name flat-eip-tap index 109 mtu 1500 address 02:2f:62:83:b0:41 netns h2
ip -n vpc-eip link add name eth0 index 100 mtu 1450 address 02:61:3e:8b:3d:c3 type veth peer name vpc-eip-tap index 104 mtu 1450 address 02:85:a4:56:6c:23 netns h3

# config
ip netns exec fabric ethtool -K h1 gro off >/dev/null
ip netns exec fabric ethtool -K h2 gro off >/dev/null
ip netns exec fabric ethtool -K h3 gro off >/dev/null
ip -n fabric link set dev h1 up
ip -n fabric link set dev h2 up
ip -n fabric link set dev h3 up
tc -n fabric qdisc add dev h1 root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
tc -n fabric qdisc add dev h2 root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
tc -n fabric qdisc add dev h3 root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
ip netns exec h1 ethtool -K nic gro off >/dev/null
ip netns exec h1 ethtool -K client-tap gro off >/dev/null
ip netns exec h1 ethtool -K client-out gro off >/dev/null
ip netns exec h1 ethtool -K client gro off >/dev/null
ip -n h1 addr add 172.31.255.1/24 dev br-public noprefixroute
ip -n h1 link set dev nic up
ip -n h1 link set dev client-tap up
ip -n h1 link set dev client-out up
ip -n h1 link set dev client up
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
}
END
ip netns exec h2 ethtool -K nic gro off >/dev/null
ip netns exec h2 ethtool -K vxlan100 gro off >/dev/null
ip netns exec h2 ethtool -K vr1-pub gro off >/dev/null
ip netns exec h2 ethtool -K vr1-pri gro off >/dev/null
ip netns exec h2 ethtool -K direct-tap gro off >/dev/null
ip netns exec h2 ethtool -K direct-out gro off >/dev/null
ip netns exec h2 ethtool -K direct gro off >/dev/null
ip netns exec h2 ethtool -K flat-eip-tap gro off >/dev/null
ip netns exec h2 ethtool -K flat-eip-out gro off >/dev/null
ip netns exec h2 ethtool -K flat-eip gro off >/dev/null
ip netns exec h2 ethtool -K flat-eip_eo gro off >/dev/null
ip netns exec h2 ethtool -K flat-eip_o gro off >/dev/null
ip -n h2 addr add 172.31.255.2/24 dev br-public noprefixroute
ip -n h2 link set dev nic up
ip -n h2 link set dev vxlan100 up
ip -n h2 link set dev vr1-pub up
ip -n h2 link set dev vr1-pri up
ip -n h2 link set dev direct-tap up
ip -n h2 link set dev direct-out up
ip -n h2 link set dev direct up
ip -n h2 link set dev flat-eip-tap up
ip -n h2 link set dev flat-eip-out up
ip -n h2 link set dev flat-eip up
ip -n h2 link property add dev flat-eip_eo altname eip-192.0.2.50-eo
ip -n h2 link set dev flat-eip_eo alias eip:flat-eip,eip_addr:192.0.2.50,vnic:flat-eip,vnic_ip:10.10.0.10,vm:flat-eip,vip:192.0.2.50 up
ip -n h2 link property add dev flat-eip_o altname eip-192.0.2.50-o
ip -n h2 link set dev flat-eip_o alias eip:flat-eip,eip_addr:192.0.2.50,vnic:flat-eip,vnic_ip:10.10.0.10,vm:flat-eip,vip:192.0.2.50 up
tc -n h2 qdisc add dev nic root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
ip netns exec h2 nft -f - <<'END'
table netdev tap {
	chain from-direct-tap {
		type filter hook ingress device "direct-tap" priority 0; policy accept;
		dup to "direct-out"
		drop
	}
	chain from-direct-out {
		type filter hook ingress device "direct-out" priority 0; policy accept;
		fwd to "direct-tap"
	}
	chain from-flat-eip-tap {
		type filter hook ingress device "flat-eip-tap" priority 0; policy accept;
		dup to "flat-eip-out"
		drop
	}
	chain from-flat-eip-out {
		type filter hook ingress device "flat-eip-out" priority 0; policy accept;
		fwd to "flat-eip-tap"
	}
}
table bridge fence {
	chain prerouting {
		type filter hook prerouting priority -200; policy accept;
		arp operation request iifname "flat-eip_o" counter drop
	}
	chain postrouting {
		type filter hook postrouting priority 300; policy accept;
		arp operation request arp daddr ip 10.10.0.1 arp saddr ether != 02:b6:c3:0d:d8:3a oifname "flat-eip_o" counter drop
		arp operation request arp daddr ip 10.10.0.1 arp saddr ether != 02:b6:c3:0d:d8:3a oifname "flat-eip_eo" counter drop
		arp operation request arp saddr ip 10.10.0.1 ether saddr != 02:55:ac:54:ae:e8 oifname "flat-eip" counter drop
	}
}
END
ip netns exec h2 ebtables-nft -t nat -A PREROUTING -i flat-eip -p ARP --arp-op Request --arp-ip-dst 10.10.0.1 -j arpreply --arpreply-mac 02:55:ac:54:ae:e8
ip netns exec h2 ebtables-nft -t nat -A PREROUTING -i flat-eip_o -p ARP --arp-op Request --arp-ip-dst 10.10.0.10 -j arpreply --arpreply-mac 02:b6:c3:0d:d8:3a
ip netns exec h3 ethtool -K nic gro off >/dev/null
ip netns exec h3 ethtool -K vxlan100 gro off >/dev/null
ip netns exec h3 ethtool -K vpc-eip-tap gro off >/dev/null
ip netns exec h3 ethtool -K vpc-eip-out gro off >/dev/null
ip netns exec h3 ethtool -K vpc-eip gro off >/dev/null
ip -n h3 addr add 172.31.255.3/24 dev br-public noprefixroute
ip -n h3 link set dev nic up
ip -n h3 link set dev vxlan100 up
ip -n h3 link set dev vpc-eip-tap up
ip -n h3 link set dev vpc-eip-out up
ip -n h3 link set dev vpc-eip up
tc -n h3 qdisc add dev nic root handle 1: tbf rate 1000000000bit burst 1000000 limit 1514000 overhead 24 mpu 84
ip netns exec h3 nft -f - <<'END'
table netdev tap {
	chain from-vpc-eip-tap {
		type filter hook ingress device "vpc-eip-tap" priority 0; policy accept;
		dup to "vpc-eip-out"
		drop
	}
	chain from-vpc-eip-out {
		type filter hook ingress device "vpc-eip-out" priority 0; policy accept;
		fwd to "vpc-eip-tap"
	}
}
END
ip netns exec vr1 ethtool -K pub tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec vr1 ethtool -K pri tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n vr1 addr add 192.0.2.2/24 dev pub noprefixroute
ip -n vr1 addr add 2001:db8:1::2/64 dev pub noprefixroute nodad
ip -n vr1 addr add 192.0.2.60/24 dev pub noprefixroute
ip -n vr1 addr add 10.20.0.1/24 dev pri noprefixroute
ip -n vr1 link set dev pub up
ip -n vr1 link set dev pri up
ip -n vr1 -4 route add 192.0.2.0/24 dev pub src 192.0.2.2
ip -n vr1 -6 route add 2001:db8:1::/64 dev pub src 2001:db8:1::2
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
table ip6 filter {
	chain pub.in {
		ct state established,related counter return comment "4000"
		counter reject with icmpv6 port-unreachable comment "10000"
	}
	chain pub.out {
	}
	chain pub.local {
		ip6 daddr 2001:db8:1::2 ct state established,related counter return
		meta l4proto ipv6-icmp counter return
		tcp dport 22 counter reject with icmpv6 port-unreachable
		counter reject with icmpv6 port-unreachable
	}
	chain pri.in {
		ct state established,related counter return comment "4000"
		ct state new counter accept comment "9999"
		counter reject with icmpv6 port-unreachable comment "10000"
	}
	chain pri.out {
	}
	chain pri.local {
		meta l4proto ipv6-icmp counter return
		tcp dport 22 counter reject with icmpv6 port-unreachable
		counter reject with icmpv6 port-unreachable
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
ip -n client addr add 2001:db8:1::a/64 dev eth0 noprefixroute nodad
ip -n client link set dev eth0 up
ip -n client -4 route add 192.0.2.0/24 dev eth0 src 192.0.2.10 congctl cubic
ip -n client -6 route add 2001:db8:1::/64 dev eth0 src 2001:db8:1::a congctl cubic
ip netns exec direct ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n direct addr add 192.0.2.11/24 dev eth0 noprefixroute
ip -n direct addr add 2001:db8:1::b/64 dev eth0 noprefixroute nodad
ip -n direct link set dev eth0 up
ip -n direct -4 route add 192.0.2.0/24 dev eth0 src 192.0.2.11 congctl cubic
ip -n direct -6 route add 2001:db8:1::/64 dev eth0 src 2001:db8:1::b congctl cubic
ip netns exec flat-eip ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n flat-eip addr add 10.10.0.10/24 dev eth0 noprefixroute
ip -n flat-eip link set dev eth0 up
ip -n flat-eip -4 route add 10.10.0.0/24 dev eth0 src 10.10.0.10 congctl cubic
ip -n flat-eip -4 route add default via 10.10.0.1 dev eth0 congctl cubic
ip netns exec vpc-eip ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n vpc-eip addr add 10.20.0.10/24 dev eth0 noprefixroute
ip -n vpc-eip link set dev eth0 up
ip -n vpc-eip -4 route add 10.20.0.0/24 dev eth0 src 10.20.0.10 congctl cubic
ip -n vpc-eip -4 route add default via 10.20.0.1 dev eth0 congctl cubic
ip netns exec br-public_192_0_2_50 ethtool -K flat-eip_ei tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec br-public_192_0_2_50 ethtool -K flat-eip_i tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n br-public_192_0_2_50 addr add 192.0.2.50/24 dev flat-eip_ei noprefixroute
ip -n br-public_192_0_2_50 addr add 10.10.0.1/24 dev flat-eip_i noprefixroute
ip -n br-public_192_0_2_50 neigh add 10.10.0.10 lladdr 02:b6:c3:0d:d8:3a dev flat-eip_i nud permanent
ip -n br-public_192_0_2_50 link property add dev flat-eip_ei altname eip-192.0.2.50-ei
ip -n br-public_192_0_2_50 link set dev flat-eip_ei alias eip:flat-eip,eip_addr:192.0.2.50,vnic:flat-eip,vnic_ip:10.10.0.10,vm:flat-eip,vip:192.0.2.50 up
ip -n br-public_192_0_2_50 link property add dev flat-eip_i altname eip-192.0.2.50-i
ip -n br-public_192_0_2_50 link set dev flat-eip_i alias eip:flat-eip,eip_addr:192.0.2.50,vnic:flat-eip,vnic_ip:10.10.0.10,vm:flat-eip,vip:192.0.2.50 up
ip -n br-public_192_0_2_50 -4 route add 192.0.2.0/24 dev flat-eip_ei src 192.0.2.50
ip -n br-public_192_0_2_50 -4 route add 10.10.0.0/24 dev flat-eip_i src 10.10.0.1
ip netns exec br-public_192_0_2_50 nft -f - <<'END'
table ip nat {
	chain DNAT-192.0.2.50 {
		counter dnat to 10.10.0.10
	}
	chain SNAT-192.0.2.50 {
		counter snat to 192.0.2.50
	}
	chain PREROUTING {
		type nat hook prerouting priority -100; policy accept;
		ip daddr 192.0.2.50 counter jump DNAT-192.0.2.50
	}
	chain POSTROUTING {
		type nat hook postrouting priority 100; policy accept;
		ip saddr 10.10.0.10 counter jump SNAT-192.0.2.50
	}
}
table ip filter {
	chain vip-perf {
		ip saddr 10.10.0.10 counter return
		ip daddr 10.10.0.10 counter return
	}
	chain FWD-192.0.2.50 {
		counter accept
	}
	chain FORWARD {
		type filter hook forward priority 0; policy accept;
		ip saddr 10.10.0.10 ip daddr != 10.10.0.0/24 counter jump vip-perf
		ip saddr != 10.10.0.0/24 ip daddr 10.10.0.10 counter jump vip-perf
		iifname "flat-eip_ei" ip daddr != 10.10.0.10 counter reject with icmp port-unreachable
		iifname "flat-eip_i" oifname "flat-eip_ei" counter jump FWD-192.0.2.50
		iifname "flat-eip_ei" oifname "flat-eip_i" counter jump FWD-192.0.2.50
	}
}
END

# bridge
ip -n fabric link set dev h1 master br0
ip -n fabric link set dev h2 master br0
ip -n fabric link set dev h3 master br0
ip -n fabric link set dev br0 up
ip -n h1 link set dev nic master br-public
ip -n h1 link set dev client master br-public
ip -n h1 link set dev br-public up
ip -n h1 -4 route add 172.31.255.0/24 dev br-public src 172.31.255.1
ip -n h2 link set dev nic master br-public
ip -n h2 link set dev vxlan100 master br-tenant
ip -n h2 link set dev vr1-pub master br-public
ip -n h2 link set dev vr1-pri master br-tenant
ip -n h2 link set dev direct master br-public
ip -n h2 link set dev flat-eip master br-public
ip -n h2 link set dev flat-eip_eo master br-public
ip -n h2 link set dev flat-eip_o master br-public
bridge -n h2 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.3 self permanent
ip -n h2 link set dev br-public up
ip -n h2 link set dev br-tenant up
ip -n h2 -4 route add 172.31.255.0/24 dev br-public src 172.31.255.2
ip -n h3 link set dev nic master br-public
ip -n h3 link set dev vxlan100 master br-tenant
ip -n h3 link set dev vpc-eip master br-tenant
bridge -n h3 fdb append 00:00:00:00:00:00 dev vxlan100 dst 172.31.255.2 self permanent
ip -n h3 link set dev br-public up
ip -n h3 link set dev br-tenant up
ip -n h3 -4 route add 172.31.255.0/24 dev br-public src 172.31.255.3

echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the lab ends with this shell.' >&2
if [ $# -gt 0 ]; then
	"$@"
else
	"${SHELL:-sh}"
fi
