#!/bin/sh
# The lab eip-ovs by hand, as vpclab builds it:
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
ip netns add web
ip netns add db
ip netns add plain
ip netns add br-public_192_0_2_50
ip netns add br-public_192_0_2_51

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
ip netns exec plain sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n plain link set lo up
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
ip netns exec br-public_192_0_2_51 sh -eu <<'END'
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter
echo 1 >/proc/sys/net/ipv4/conf/all/send_redirects
echo 1 >/proc/sys/net/ipv4/conf/default/send_redirects
echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n br-public_192_0_2_51 link set lo up

# link
ip -n fabric link add name br0 index 100 mtu 1500 address 02:b9:04:c7:8f:7a type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n h1 link add name nic index 101 mtu 1500 address 02:ef:de:06:a1:cc type veth peer name h1 index 101 mtu 1500 address 02:8f:9f:e2:0c:ba netns fabric
ip -n h1 link add name mgmt0 index 102 mtu 1500 address 02:9f:03:95:c4:6c type veth peer name mgmt0-port index 103 mtu 1500 address 02:44:b6:b4:86:8b netns h1
ip -n h1 link add name client-out index 105 mtu 1500 address 02:61:84:77:3e:49 type veth peer name client index 106 mtu 1500 address 02:e3:09:5e:19:df netns h1
ip -n h1 link add name db-out index 108 mtu 1500 address 02:ee:25:e2:19:75 type veth peer name db index 109 mtu 1500 address 02:f2:97:6a:20:13 netns h1
ip -n h1 link add name db_eo index 110 mtu 65500 address 02:b4:99:78:90:df type veth peer name db_ei index 100 mtu 65500 address 02:eb:6f:e8:26:e0 netns br-public_192_0_2_51
ip -n h1 link add name db_o index 111 mtu 65500 address 02:43:24:6e:79:13 type veth peer name db_i index 101 mtu 65500 address 02:d5:b5:0e:68:9c netns br-public_192_0_2_51
ip -n h2 link add name nic index 101 mtu 1500 address 02:17:f8:79:de:65 type veth peer name h2 index 102 mtu 1500 address 02:83:91:f7:f6:15 netns fabric
ip -n h2 link add name mgmt0 index 102 mtu 1500 address 02:1a:0e:69:a7:60 type veth peer name mgmt0-port index 103 mtu 1500 address 02:09:50:49:98:c9 netns h2
ip -n h2 link add name web-out index 105 mtu 1500 address 02:e1:17:a7:78:79 type veth peer name web index 106 mtu 1500 address 02:f5:73:3d:0a:11 netns h2
ip -n h2 link add name plain-out index 108 mtu 1500 address 02:48:41:3f:5e:db type veth peer name plain index 109 mtu 1500 address 02:79:4f:94:35:c4 netns h2
ip -n h2 link add name web_eo index 110 mtu 65500 address 02:7f:97:cd:a0:f2 type veth peer name web_ei index 100 mtu 65500 address 02:32:ad:1b:ff:58 netns br-public_192_0_2_50
ip -n h2 link add name web_o index 111 mtu 65500 address 02:88:dc:06:4c:0a type veth peer name web_i index 101 mtu 65500 address 02:c0:08:67:32:fd netns br-public_192_0_2_50
ip -n client link add name eth0 index 100 mtu 1500 address 02:4a:e9:cc:5d:1a type veth peer name client-tap index 104 mtu 1500 address 02:13:82:01:d7:37 netns h1
ip -n web link add name eth0 index 100 mtu 1500 address 02:84:ab:dc:b1:fc type veth peer name web-tap index 104 mtu 1500 address 02:d4:a9:06:9b:46 netns h2
ip -n db link add name eth0 index 100 mtu 1500 address 02:41:1d:7c:a7:d0 type veth peer name db-tap index 107 mtu 1500 address 02:ef:fe:b2:2d:76 netns h1
ip -n plain link add name eth0 index 100 mtu 1500 address 02:46:d7:c2:d2:0a type veth peer name plain-tap index 107 mtu 1500 address 02:4a:61:28:c4:22 netns h2

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
ip netns exec h1 ethtool -K db-tap gro off >/dev/null
ip netns exec h1 ethtool -K db-out gro off >/dev/null
ip netns exec h1 ethtool -K db gro off >/dev/null
ip netns exec h1 ethtool -K db_eo gro off >/dev/null
ip netns exec h1 ethtool -K db_o gro off >/dev/null
ip -n h1 addr add 172.31.255.1/24 dev mgmt0 noprefixroute
ip -n h1 link set dev nic up
ip -n h1 link set dev mgmt0 up
ip -n h1 link set dev mgmt0-port up
ip -n h1 link set dev client-tap up
ip -n h1 link set dev client-out up
ip -n h1 link set dev client up
ip -n h1 link set dev db-tap up
ip -n h1 link set dev db-out up
ip -n h1 link set dev db up
ip -n h1 link property add dev db_eo altname eip-192.0.2.51-eo
ip -n h1 link set dev db_eo alias eip:db,eip_addr:192.0.2.51,vnic:db,vnic_ip:10.10.0.11,vm:db,vip:192.0.2.51 up
ip -n h1 link property add dev db_o altname eip-192.0.2.51-o
ip -n h1 link set dev db_o alias eip:db,eip_addr:192.0.2.51,vnic:db,vnic_ip:10.10.0.11,vm:db,vip:192.0.2.51 up
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
ip netns exec h2 ethtool -K web-tap gro off >/dev/null
ip netns exec h2 ethtool -K web-out gro off >/dev/null
ip netns exec h2 ethtool -K web gro off >/dev/null
ip netns exec h2 ethtool -K plain-tap gro off >/dev/null
ip netns exec h2 ethtool -K plain-out gro off >/dev/null
ip netns exec h2 ethtool -K plain gro off >/dev/null
ip netns exec h2 ethtool -K web_eo gro off >/dev/null
ip netns exec h2 ethtool -K web_o gro off >/dev/null
ip -n h2 addr add 172.31.255.2/24 dev mgmt0 noprefixroute
ip -n h2 link set dev nic up
ip -n h2 link set dev mgmt0 up
ip -n h2 link set dev mgmt0-port up
ip -n h2 link set dev web-tap up
ip -n h2 link set dev web-out up
ip -n h2 link set dev web up
ip -n h2 link set dev plain-tap up
ip -n h2 link set dev plain-out up
ip -n h2 link set dev plain up
ip -n h2 link property add dev web_eo altname eip-192.0.2.50-eo
ip -n h2 link set dev web_eo alias eip:web,eip_addr:192.0.2.50,vnic:web,vnic_ip:10.10.0.10,vm:web,vip:192.0.2.50 up
ip -n h2 link property add dev web_o altname eip-192.0.2.50-o
ip -n h2 link set dev web_o alias eip:web,eip_addr:192.0.2.50,vnic:web,vnic_ip:10.10.0.10,vm:web,vip:192.0.2.50 up
ip -n h2 -4 route add 172.31.255.0/24 dev mgmt0 src 172.31.255.2
tc -n h2 qdisc add dev nic root handle 1: tbf rate 50000000bit burst 50000 limit 1514000 overhead 24 mpu 84
ip netns exec h2 nft -f - <<'END'
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
	chain from-plain-tap {
		type filter hook ingress device "plain-tap" priority 0; policy accept;
		dup to "plain-out"
		drop
	}
	chain from-plain-out {
		type filter hook ingress device "plain-out" priority 0; policy accept;
		fwd to "plain-tap"
	}
}
END
ip netns exec client ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n client addr add 192.0.2.10/24 dev eth0 noprefixroute
ip -n client link set dev eth0 up
ip -n client -4 route add 192.0.2.0/24 dev eth0 src 192.0.2.10 congctl cubic
ip netns exec web ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n web addr add 10.10.0.10/24 dev eth0 noprefixroute
ip -n web link set dev eth0 up
ip -n web -4 route add 10.10.0.0/24 dev eth0 src 10.10.0.10 congctl cubic
ip -n web -4 route add default via 10.10.0.1 dev eth0 congctl cubic
ip netns exec db ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n db addr add 10.10.0.11/24 dev eth0 noprefixroute
ip -n db link set dev eth0 up
ip -n db -4 route add 10.10.0.0/24 dev eth0 src 10.10.0.11 congctl cubic
ip -n db -4 route add default via 10.10.0.1 dev eth0 congctl cubic
ip netns exec plain ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n plain addr add 10.10.0.12/24 dev eth0 noprefixroute
ip -n plain link set dev eth0 up
ip -n plain -4 route add 10.10.0.0/24 dev eth0 src 10.10.0.12 congctl cubic
ip netns exec br-public_192_0_2_50 ethtool -K web_ei tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec br-public_192_0_2_50 ethtool -K web_i tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n br-public_192_0_2_50 addr add 192.0.2.50/24 dev web_ei noprefixroute
ip -n br-public_192_0_2_50 addr add 10.10.0.1/24 dev web_i noprefixroute
ip -n br-public_192_0_2_50 neigh add 10.10.0.10 lladdr 02:84:ab:dc:b1:fc dev web_i nud permanent
ip -n br-public_192_0_2_50 link property add dev web_ei altname eip-192.0.2.50-ei
ip -n br-public_192_0_2_50 link set dev web_ei alias eip:web,eip_addr:192.0.2.50,vnic:web,vnic_ip:10.10.0.10,vm:web,vip:192.0.2.50 up
ip -n br-public_192_0_2_50 link property add dev web_i altname eip-192.0.2.50-i
ip -n br-public_192_0_2_50 link set dev web_i alias eip:web,eip_addr:192.0.2.50,vnic:web,vnic_ip:10.10.0.10,vm:web,vip:192.0.2.50 up
ip -n br-public_192_0_2_50 -4 route add 192.0.2.0/24 dev web_ei src 192.0.2.50
ip -n br-public_192_0_2_50 -4 route add 10.10.0.0/24 dev web_i src 10.10.0.1
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
		iifname "web_ei" ip daddr != 10.10.0.10 counter reject with icmp port-unreachable
		iifname "web_i" oifname "web_ei" counter jump FWD-192.0.2.50
		iifname "web_ei" oifname "web_i" counter jump FWD-192.0.2.50
	}
}
END
ip netns exec br-public_192_0_2_51 ethtool -K db_ei tso off gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec br-public_192_0_2_51 ethtool -K db_i tso off gso off gro off tx-udp-segmentation off >/dev/null
ip -n br-public_192_0_2_51 addr add 192.0.2.51/24 dev db_ei noprefixroute
ip -n br-public_192_0_2_51 addr add 10.10.0.1/24 dev db_i noprefixroute
ip -n br-public_192_0_2_51 neigh add 10.10.0.11 lladdr 02:41:1d:7c:a7:d0 dev db_i nud permanent
ip -n br-public_192_0_2_51 link property add dev db_ei altname eip-192.0.2.51-ei
ip -n br-public_192_0_2_51 link set dev db_ei alias eip:db,eip_addr:192.0.2.51,vnic:db,vnic_ip:10.10.0.11,vm:db,vip:192.0.2.51 up
ip -n br-public_192_0_2_51 link property add dev db_i altname eip-192.0.2.51-i
ip -n br-public_192_0_2_51 link set dev db_i alias eip:db,eip_addr:192.0.2.51,vnic:db,vnic_ip:10.10.0.11,vm:db,vip:192.0.2.51 up
ip -n br-public_192_0_2_51 -4 route add 192.0.2.0/24 dev db_ei src 192.0.2.51
ip -n br-public_192_0_2_51 -4 route add 10.10.0.0/24 dev db_i src 10.10.0.1
ip netns exec br-public_192_0_2_51 nft -f - <<'END'
table ip nat {
	chain DNAT-192.0.2.51 {
		counter dnat to 10.10.0.11
	}
	chain SNAT-192.0.2.51 {
		counter snat to 192.0.2.51
	}
	chain PREROUTING {
		type nat hook prerouting priority -100; policy accept;
		ip daddr 192.0.2.51 counter jump DNAT-192.0.2.51
	}
	chain POSTROUTING {
		type nat hook postrouting priority 100; policy accept;
		ip saddr 10.10.0.11 counter jump SNAT-192.0.2.51
	}
}
table ip filter {
	chain vip-perf {
		ip saddr 10.10.0.11 counter return
		ip daddr 10.10.0.11 counter return
	}
	chain FWD-192.0.2.51 {
		counter accept
	}
	chain FORWARD {
		type filter hook forward priority 0; policy accept;
		ip saddr 10.10.0.11 ip daddr != 10.10.0.0/24 counter jump vip-perf
		ip saddr != 10.10.0.0/24 ip daddr 10.10.0.11 counter jump vip-perf
		iifname "db_ei" ip daddr != 10.10.0.11 counter reject with icmp port-unreachable
		iifname "db_i" oifname "db_ei" counter jump FWD-192.0.2.51
		iifname "db_ei" oifname "db_i" counter jump FWD-192.0.2.51
	}
}
END

# ovs
ovs_datapath system
ovs_start h1 "$datapath"
ovs h1 ovs-vsctl \
	-- add-br br-public -- set bridge br-public datapath_type="$datapath" other-config:hwaddr='"02:ef:de:06:a1:cc"' \
	-- add-port br-public nic -- set port nic qos=@nic -- --id=@nic create qos type=linux-noop \
	-- add-port br-public mgmt0-port \
	-- add-port br-public client \
	-- add-port br-public db \
	-- add-port br-public db_eo \
	-- add-port br-public db_o
ovs_check h1
ovs h1 ovs-ofctl --bundle add-flows br-public - <<'END'
priority=120,arp,in_port="db",arp_op=1,arp_tpa=10.10.0.1 actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],mod_dl_src:02:d5:b5:0e:68:9c,load:0x2->NXM_OF_ARP_OP[],move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],load:0x02d5b50e689c->NXM_NX_ARP_SHA[],load:0x0a0a0001->NXM_OF_ARP_SPA[],IN_PORT
priority=120,arp,in_port="db_o",arp_op=1,arp_tpa=10.10.0.11 actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],mod_dl_src:02:41:1d:7c:a7:d0,load:0x2->NXM_OF_ARP_OP[],move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],load:0x02411d7ca7d0->NXM_NX_ARP_SHA[],load:0x0a0a000b->NXM_OF_ARP_SPA[],IN_PORT
priority=115,arp,in_port="db_o",arp_op=1 actions=drop
priority=110,arp,arp_op=1,arp_tpa=10.10.0.1 actions=output:"nic",output:"mgmt0-port",output:"client",output:"db"
priority=105,arp,arp_op=1,arp_spa=10.10.0.1 actions=output:"nic",output:"mgmt0-port",output:"client",output:"db_eo",output:"db_o"
priority=112,arp,arp_op=1,arp_spa=10.10.0.1,arp_tpa=10.10.0.1 actions=output:"nic",output:"mgmt0-port",output:"client"
END
ovs_datapath system
ovs_start h2 "$datapath"
ovs h2 ovs-vsctl \
	-- add-br br-public -- set bridge br-public datapath_type="$datapath" other-config:hwaddr='"02:17:f8:79:de:65"' \
	-- add-port br-public nic -- set port nic qos=@nic -- --id=@nic create qos type=linux-noop \
	-- add-port br-public mgmt0-port \
	-- add-port br-public web \
	-- add-port br-public plain \
	-- add-port br-public web_eo \
	-- add-port br-public web_o
ovs_check h2
ovs h2 ovs-ofctl --bundle add-flows br-public - <<'END'
priority=120,arp,in_port="web",arp_op=1,arp_tpa=10.10.0.1 actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],mod_dl_src:02:c0:08:67:32:fd,load:0x2->NXM_OF_ARP_OP[],move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],load:0x02c0086732fd->NXM_NX_ARP_SHA[],load:0x0a0a0001->NXM_OF_ARP_SPA[],IN_PORT
priority=120,arp,in_port="web_o",arp_op=1,arp_tpa=10.10.0.10 actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],mod_dl_src:02:84:ab:dc:b1:fc,load:0x2->NXM_OF_ARP_OP[],move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],load:0x0284abdcb1fc->NXM_NX_ARP_SHA[],load:0x0a0a000a->NXM_OF_ARP_SPA[],IN_PORT
priority=115,arp,in_port="web_o",arp_op=1 actions=drop
priority=110,arp,arp_op=1,arp_tpa=10.10.0.1 actions=output:"nic",output:"mgmt0-port",output:"web",output:"plain"
priority=105,arp,arp_op=1,arp_spa=10.10.0.1 actions=output:"nic",output:"mgmt0-port",output:"plain",output:"web_eo",output:"web_o"
priority=112,arp,arp_op=1,arp_spa=10.10.0.1,arp_tpa=10.10.0.1 actions=output:"nic",output:"mgmt0-port",output:"plain"
END

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
