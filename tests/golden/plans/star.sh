#!/bin/sh
# The lab star by hand, as vpclab builds it:
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
ip netns add h1
ip netns add vm-1
ip netns add vm-2
ip netns add vm-3
ip netns add vm-4
ip netns add vm-5
ip netns add vm-6
ip netns add vm-7
ip netns add vm-8
ip netns add vm-9
ip netns add vm-10
ip netns add vm-11
ip netns add vm-12
ip netns add vm-13
ip netns add vm-14
ip netns add vm-15
ip netns add vm-16
ip netns add vm-17
ip netns add vm-18
ip netns add vm-19
ip netns add vm-20
ip netns add vm-21
ip netns add vm-22
ip netns add vm-23
ip netns add vm-24
ip netns add vm-25
ip netns add vm-26
ip netns add vm-27
ip netns add vm-28
ip netns add vm-29
ip netns add vm-30
ip netns add vm-31
ip netns add vm-32
ip netns add vm-33
ip netns add vm-34
ip netns add vm-35
ip netns add vm-36
ip netns add vm-37
ip netns add vm-38
ip netns add vm-39
ip netns add vm-40
ip netns add vm-41
ip netns add vm-42
ip netns add vm-43
ip netns add vm-44
ip netns add vm-45
ip netns add vm-46
ip netns add vm-47
ip netns add vm-48
ip netns add vm-49
ip netns add vm-50
ip netns add vm-51
ip netns add vm-52
ip netns add vm-53
ip netns add vm-54
ip netns add vm-55
ip netns add vm-56
ip netns add vm-57
ip netns add vm-58
ip netns add vm-59
ip netns add vm-60
ip netns add vm-61
ip netns add vm-62
ip netns add vm-63
ip netns add vm-64
ip netns add vm-65
ip netns add vm-66
ip netns add vm-67
ip netns add vm-68
ip netns add vm-69
ip netns add vm-70
ip netns add vm-71
ip netns add vm-72
ip netns add vm-73
ip netns add vm-74
ip netns add vm-75
ip netns add vm-76
ip netns add vm-77
ip netns add vm-78
ip netns add vm-79
ip netns add vm-80
ip netns add vm-81
ip netns add vm-82
ip netns add vm-83
ip netns add vm-84
ip netns add vm-85
ip netns add vm-86
ip netns add vm-87
ip netns add vm-88
ip netns add vm-89
ip netns add vm-90
ip netns add vm-91
ip netns add vm-92
ip netns add vm-93
ip netns add vm-94
ip netns add vm-95
ip netns add vm-96
ip netns add vm-97
ip netns add vm-98
ip netns add vm-99
ip netns add vm-100

# sysctl
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
ip netns exec vm-1 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-1 link set lo up
ip netns exec vm-2 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-2 link set lo up
ip netns exec vm-3 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-3 link set lo up
ip netns exec vm-4 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-4 link set lo up
ip netns exec vm-5 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-5 link set lo up
ip netns exec vm-6 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-6 link set lo up
ip netns exec vm-7 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-7 link set lo up
ip netns exec vm-8 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-8 link set lo up
ip netns exec vm-9 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-9 link set lo up
ip netns exec vm-10 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-10 link set lo up
ip netns exec vm-11 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-11 link set lo up
ip netns exec vm-12 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-12 link set lo up
ip netns exec vm-13 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-13 link set lo up
ip netns exec vm-14 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-14 link set lo up
ip netns exec vm-15 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-15 link set lo up
ip netns exec vm-16 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-16 link set lo up
ip netns exec vm-17 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-17 link set lo up
ip netns exec vm-18 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-18 link set lo up
ip netns exec vm-19 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-19 link set lo up
ip netns exec vm-20 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-20 link set lo up
ip netns exec vm-21 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-21 link set lo up
ip netns exec vm-22 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-22 link set lo up
ip netns exec vm-23 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-23 link set lo up
ip netns exec vm-24 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-24 link set lo up
ip netns exec vm-25 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-25 link set lo up
ip netns exec vm-26 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-26 link set lo up
ip netns exec vm-27 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-27 link set lo up
ip netns exec vm-28 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-28 link set lo up
ip netns exec vm-29 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-29 link set lo up
ip netns exec vm-30 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-30 link set lo up
ip netns exec vm-31 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-31 link set lo up
ip netns exec vm-32 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-32 link set lo up
ip netns exec vm-33 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-33 link set lo up
ip netns exec vm-34 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-34 link set lo up
ip netns exec vm-35 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-35 link set lo up
ip netns exec vm-36 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-36 link set lo up
ip netns exec vm-37 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-37 link set lo up
ip netns exec vm-38 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-38 link set lo up
ip netns exec vm-39 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-39 link set lo up
ip netns exec vm-40 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-40 link set lo up
ip netns exec vm-41 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-41 link set lo up
ip netns exec vm-42 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-42 link set lo up
ip netns exec vm-43 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-43 link set lo up
ip netns exec vm-44 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-44 link set lo up
ip netns exec vm-45 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-45 link set lo up
ip netns exec vm-46 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-46 link set lo up
ip netns exec vm-47 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-47 link set lo up
ip netns exec vm-48 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-48 link set lo up
ip netns exec vm-49 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-49 link set lo up
ip netns exec vm-50 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-50 link set lo up
ip netns exec vm-51 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-51 link set lo up
ip netns exec vm-52 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-52 link set lo up
ip netns exec vm-53 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-53 link set lo up
ip netns exec vm-54 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-54 link set lo up
ip netns exec vm-55 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-55 link set lo up
ip netns exec vm-56 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-56 link set lo up
ip netns exec vm-57 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-57 link set lo up
ip netns exec vm-58 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-58 link set lo up
ip netns exec vm-59 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-59 link set lo up
ip netns exec vm-60 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-60 link set lo up
ip netns exec vm-61 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-61 link set lo up
ip netns exec vm-62 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-62 link set lo up
ip netns exec vm-63 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-63 link set lo up
ip netns exec vm-64 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-64 link set lo up
ip netns exec vm-65 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-65 link set lo up
ip netns exec vm-66 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-66 link set lo up
ip netns exec vm-67 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-67 link set lo up
ip netns exec vm-68 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-68 link set lo up
ip netns exec vm-69 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-69 link set lo up
ip netns exec vm-70 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-70 link set lo up
ip netns exec vm-71 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-71 link set lo up
ip netns exec vm-72 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-72 link set lo up
ip netns exec vm-73 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-73 link set lo up
ip netns exec vm-74 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-74 link set lo up
ip netns exec vm-75 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-75 link set lo up
ip netns exec vm-76 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-76 link set lo up
ip netns exec vm-77 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-77 link set lo up
ip netns exec vm-78 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-78 link set lo up
ip netns exec vm-79 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-79 link set lo up
ip netns exec vm-80 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-80 link set lo up
ip netns exec vm-81 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-81 link set lo up
ip netns exec vm-82 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-82 link set lo up
ip netns exec vm-83 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-83 link set lo up
ip netns exec vm-84 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-84 link set lo up
ip netns exec vm-85 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-85 link set lo up
ip netns exec vm-86 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-86 link set lo up
ip netns exec vm-87 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-87 link set lo up
ip netns exec vm-88 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-88 link set lo up
ip netns exec vm-89 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-89 link set lo up
ip netns exec vm-90 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-90 link set lo up
ip netns exec vm-91 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-91 link set lo up
ip netns exec vm-92 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-92 link set lo up
ip netns exec vm-93 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-93 link set lo up
ip netns exec vm-94 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-94 link set lo up
ip netns exec vm-95 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-95 link set lo up
ip netns exec vm-96 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-96 link set lo up
ip netns exec vm-97 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-97 link set lo up
ip netns exec vm-98 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-98 link set lo up
ip netns exec vm-99 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-99 link set lo up
ip netns exec vm-100 sh -eu <<'END'
[ ! -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
END
ip -n vm-100 link set lo up

# link
ip -n h1 link add name br-net index 100 mtu 1500 address 02:15:0d:12:b9:78 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip -n vm-1 link add name eth0 index 100 mtu 1500 address 02:e3:aa:c6:ae:a5 type veth peer name vm-1 index 101 mtu 1500 address 02:99:24:71:c5:ca netns h1
ip -n vm-2 link add name eth0 index 100 mtu 1500 address 02:9e:42:f2:fb:e0 type veth peer name vm-2 index 102 mtu 1500 address 02:f3:74:11:f2:2b netns h1
ip -n vm-3 link add name eth0 index 100 mtu 1500 address 02:31:ec:1f:48:36 type veth peer name vm-3 index 103 mtu 1500 address 02:f1:33:d3:1a:7d netns h1
ip -n vm-4 link add name eth0 index 100 mtu 1500 address 02:a3:e2:45:30:f4 type veth peer name vm-4 index 104 mtu 1500 address 02:6d:98:02:9d:ee netns h1
ip -n vm-5 link add name eth0 index 100 mtu 1500 address 02:1a:e8:69:76:9b type veth peer name vm-5 index 105 mtu 1500 address 02:6b:57:c4:c5:3f netns h1
ip -n vm-6 link add name eth0 index 100 mtu 1500 address 02:1c:b1:2b:4b:79 type veth peer name vm-6 index 106 mtu 1500 address 02:6f:00:66:29:c5 netns h1
ip -n vm-7 link add name eth0 index 100 mtu 1500 address 02:38:08:d2:fb:ef type veth peer name vm-7 index 107 mtu 1500 address 02:6d:bf:27:52:16 netns h1
ip -n vm-8 link add name eth0 index 100 mtu 1500 address 02:63:ed:a8:ed:ff type veth peer name vm-8 index 108 mtu 1500 address 02:0c:a3:60:3f:b8 netns h1
ip -n vm-9 link add name eth0 index 100 mtu 1500 address 02:66:c3:93:b3:fc type veth peer name vm-9 index 109 mtu 1500 address 02:4b:66:c9:8d:bc netns h1
ip -n vm-10 link add name eth0 index 100 mtu 1500 address 02:fc:8c:cb:e9:14 type veth peer name vm-10 index 110 mtu 1500 address 02:61:46:cd:03:10 netns h1
ip -n vm-11 link add name eth0 index 100 mtu 1500 address 02:56:ec:13:e6:96 type veth peer name vm-11 index 111 mtu 1500 address 02:a9:84:72:9e:2d netns h1
ip -n vm-12 link add name eth0 index 100 mtu 1500 address 02:5b:a8:ce:c0:f2 type veth peer name vm-12 index 112 mtu 1500 address 02:0a:d2:cc:68:8d netns h1
ip -n vm-13 link add name eth0 index 100 mtu 1500 address 02:89:20:27:1a:96 type veth peer name vm-13 index 113 mtu 1500 address 02:2f:8f:27:0b:9f netns h1
ip -n vm-14 link add name eth0 index 100 mtu 1500 address 02:bd:01:15:18:20 type veth peer name vm-14 index 114 mtu 1500 address 02:39:2b:00:6c:00 netns h1
ip -n vm-15 link add name eth0 index 100 mtu 1500 address 02:0f:57:78:c4:c3 type veth peer name vm-15 index 115 mtu 1500 address 02:91:2a:0f:d0:ca netns h1
ip -n vm-16 link add name eth0 index 100 mtu 1500 address 02:1e:d3:28:0f:d7 type veth peer name vm-16 index 116 mtu 1500 address 02:ae:2d:96:19:f4 netns h1
ip -n vm-17 link add name eth0 index 100 mtu 1500 address 02:44:4f:31:bc:7a type veth peer name vm-17 index 117 mtu 1500 address 02:cb:5c:30:9c:19 netns h1
ip -n vm-18 link add name eth0 index 100 mtu 1500 address 02:44:9b:c9:64:7d type veth peer name vm-18 index 118 mtu 1500 address 02:89:8c:fd:4e:ab netns h1
ip -n vm-19 link add name eth0 index 100 mtu 1500 address 02:9e:41:bb:c1:46 type veth peer name vm-19 index 119 mtu 1500 address 02:f4:81:31:5b:7e netns h1
ip -n vm-20 link add name eth0 index 100 mtu 1500 address 02:75:fe:f1:d8:ea type veth peer name vm-20 index 120 mtu 1500 address 02:bb:78:4e:a0:4d netns h1
ip -n vm-21 link add name eth0 index 100 mtu 1500 address 02:db:80:bd:4f:18 type veth peer name vm-21 index 121 mtu 1500 address 02:73:3a:a9:05:30 netns h1
ip -n vm-22 link add name eth0 index 100 mtu 1500 address 02:d9:9b:f1:6c:8a type veth peer name vm-22 index 122 mtu 1500 address 02:c2:8b:51:58:25 netns h1
ip -n vm-23 link add name eth0 index 100 mtu 1500 address 02:5b:51:ed:ae:52 type veth peer name vm-23 index 123 mtu 1500 address 02:db:c1:01:45:fa netns h1
ip -n vm-24 link add name eth0 index 100 mtu 1500 address 02:13:64:0f:40:d3 type veth peer name vm-24 index 124 mtu 1500 address 02:8d:c4:5c:8e:35 netns h1
ip -n vm-25 link add name eth0 index 100 mtu 1500 address 02:c8:e7:8d:38:27 type veth peer name vm-25 index 125 mtu 1500 address 02:da:84:2a:e7:86 netns h1
ip -n vm-26 link add name eth0 index 100 mtu 1500 address 02:4e:d8:b8:10:d4 type veth peer name vm-26 index 126 mtu 1500 address 02:6a:da:79:5f:2f netns h1
ip -n vm-27 link add name eth0 index 100 mtu 1500 address 02:a4:2f:18:f5:79 type veth peer name vm-27 index 127 mtu 1500 address 02:e2:a9:52:d0:78 netns h1
ip -n vm-28 link add name eth0 index 100 mtu 1500 address 02:43:05:4c:e5:92 type veth peer name vm-28 index 128 mtu 1500 address 02:b5:0d:cc:0e:f7 netns h1
ip -n vm-29 link add name eth0 index 100 mtu 1500 address 02:2d:82:b9:cb:b7 type veth peer name vm-29 index 129 mtu 1500 address 02:f1:0c:30:9e:9b netns h1
ip -n vm-30 link add name eth0 index 100 mtu 1500 address 02:fa:97:c0:19:f7 type veth peer name vm-30 index 130 mtu 1500 address 02:b8:5d:1a:f5:68 netns h1
ip -n vm-31 link add name eth0 index 100 mtu 1500 address 02:58:ba:28:7f:20 type veth peer name vm-31 index 131 mtu 1500 address 02:ab:8f:ce:90:b0 netns h1
ip -n vm-32 link add name eth0 index 100 mtu 1500 address 02:5d:5b:b4:45:dd type veth peer name vm-32 index 132 mtu 1500 address 02:61:01:77:22:5e netns h1
ip -n vm-33 link add name eth0 index 100 mtu 1500 address 02:15:cd:af:11:55 type veth peer name vm-33 index 133 mtu 1500 address 02:73:39:8e:7c:d2 netns h1
ip -n vm-34 link add name eth0 index 100 mtu 1500 address 02:73:cd:71:42:89 type veth peer name vm-34 index 134 mtu 1500 address 02:b9:c1:2d:01:1e netns h1
ip -n vm-35 link add name eth0 index 100 mtu 1500 address 02:8b:73:ef:5c:f9 type veth peer name vm-35 index 135 mtu 1500 address 02:67:cd:2d:64:be netns h1
ip -n vm-36 link add name eth0 index 100 mtu 1500 address 02:ff:8b:7e:96:73 type veth peer name vm-36 index 136 mtu 1500 address 02:bf:70:1d:ad:40 netns h1
ip -n vm-37 link add name eth0 index 100 mtu 1500 address 02:6b:94:62:9b:4b type veth peer name vm-37 index 137 mtu 1500 address 02:83:71:b9:1d:9c netns h1
ip -n vm-38 link add name eth0 index 100 mtu 1500 address 02:5a:90:25:35:53 type veth peer name vm-38 index 138 mtu 1500 address 02:30:ea:49:18:ac netns h1
ip -n vm-39 link add name eth0 index 100 mtu 1500 address 02:0d:56:df:2c:59 type veth peer name vm-39 index 139 mtu 1500 address 02:4d:19:e4:9a:d1 netns h1
ip -n vm-40 link add name eth0 index 100 mtu 1500 address 02:b5:3d:e5:86:1c type veth peer name vm-40 index 140 mtu 1500 address 02:c6:70:bc:96:44 netns h1
ip -n vm-41 link add name eth0 index 100 mtu 1500 address 02:7b:9c:cf:34:28 type veth peer name vm-41 index 141 mtu 1500 address 02:d3:3e:08:fb:fc netns h1
ip -n vm-42 link add name eth0 index 100 mtu 1500 address 02:ec:c4:7e:7e:c0 type veth peer name vm-42 index 142 mtu 1500 address 02:a1:10:a1:2a:6f netns h1
ip -n vm-43 link add name eth0 index 100 mtu 1500 address 02:06:9b:aa:b0:a1 type veth peer name vm-43 index 143 mtu 1500 address 02:1e:14:ac:df:c6 netns h1
ip -n vm-44 link add name eth0 index 100 mtu 1500 address 02:6c:18:d3:1e:93 type veth peer name vm-44 index 144 mtu 1500 address 02:17:ad:8e:5d:c1 netns h1
ip -n vm-45 link add name eth0 index 100 mtu 1500 address 02:b3:3f:ef:29:75 type veth peer name vm-45 index 145 mtu 1500 address 02:69:a1:8e:fa:20 netns h1
ip -n vm-46 link add name eth0 index 100 mtu 1500 address 02:80:df:66:87:9f type veth peer name vm-46 index 146 mtu 1500 address 02:73:55:c1:3c:52 netns h1
ip -n vm-47 link add name eth0 index 100 mtu 1500 address 02:25:c7:55:a6:21 type veth peer name vm-47 index 147 mtu 1500 address 02:da:51:0b:b3:d4 netns h1
ip -n vm-48 link add name eth0 index 100 mtu 1500 address 02:2a:c2:4c:08:f6 type veth peer name vm-48 index 148 mtu 1500 address 02:63:e9:35:0a:99 netns h1
ip -n vm-49 link add name eth0 index 100 mtu 1500 address 02:7c:b9:3c:a9:33 type veth peer name vm-49 index 149 mtu 1500 address 02:9a:b4:67:55:2f netns h1
ip -n vm-50 link add name eth0 index 100 mtu 1500 address 02:8b:05:13:b9:84 type veth peer name vm-50 index 150 mtu 1500 address 02:24:ed:30:d5:b5 netns h1
ip -n vm-51 link add name eth0 index 100 mtu 1500 address 02:6d:b6:5a:ea:2a type veth peer name vm-51 index 151 mtu 1500 address 02:7c:ec:3f:39:80 netns h1
ip -n vm-52 link add name eth0 index 100 mtu 1500 address 02:4f:2c:8d:5d:19 type veth peer name vm-52 index 152 mtu 1500 address 02:66:d0:a8:6e:32 netns h1
ip -n vm-53 link add name eth0 index 100 mtu 1500 address 02:f3:07:2c:6e:b7 type veth peer name vm-53 index 153 mtu 1500 address 02:60:48:b4:7f:a2 netns h1
ip -n vm-54 link add name eth0 index 100 mtu 1500 address 02:f4:f2:6a:ee:b6 type veth peer name vm-54 index 154 mtu 1500 address 02:4b:2c:1d:b5:54 netns h1
ip -n vm-55 link add name eth0 index 100 mtu 1500 address 02:6a:e5:f3:47:7e type veth peer name vm-55 index 155 mtu 1500 address 02:1b:60:8d:e9:15 netns h1
ip -n vm-56 link add name eth0 index 100 mtu 1500 address 02:0b:ff:e4:35:8f type veth peer name vm-56 index 156 mtu 1500 address 02:7c:ad:e7:b3:75 netns h1
ip -n vm-57 link add name eth0 index 100 mtu 1500 address 02:fd:70:69:ef:fb type veth peer name vm-57 index 157 mtu 1500 address 02:ce:78:c4:d3:31 netns h1
ip -n vm-58 link add name eth0 index 100 mtu 1500 address 02:82:b1:d5:ab:c5 type veth peer name vm-58 index 158 mtu 1500 address 02:1f:05:b5:d4:e4 netns h1
ip -n vm-59 link add name eth0 index 100 mtu 1500 address 02:bf:52:05:74:28 type veth peer name vm-59 index 159 mtu 1500 address 02:0c:03:37:2c:1e netns h1
ip -n vm-60 link add name eth0 index 100 mtu 1500 address 02:22:0f:09:6a:eb type veth peer name vm-60 index 160 mtu 1500 address 02:a7:d4:14:8d:1c netns h1
ip -n vm-61 link add name eth0 index 100 mtu 1500 address 02:af:d3:d5:ee:95 type veth peer name vm-61 index 161 mtu 1500 address 02:88:93:55:d9:dc netns h1
ip -n vm-62 link add name eth0 index 100 mtu 1500 address 02:f6:35:70:cf:17 type veth peer name vm-62 index 162 mtu 1500 address 02:c5:ee:d8:83:c9 netns h1
ip -n vm-63 link add name eth0 index 100 mtu 1500 address 02:17:b3:3c:49:99 type veth peer name vm-63 index 163 mtu 1500 address 02:3d:be:b1:f4:12 netns h1
ip -n vm-64 link add name eth0 index 100 mtu 1500 address 02:3a:c8:5a:8b:d6 type veth peer name vm-64 index 164 mtu 1500 address 02:44:c5:5b:ac:2c netns h1
ip -n vm-65 link add name eth0 index 100 mtu 1500 address 02:a4:fe:6d:d9:fc type veth peer name vm-65 index 165 mtu 1500 address 02:ec:c5:4c:48:62 netns h1
ip -n vm-66 link add name eth0 index 100 mtu 1500 address 02:4f:31:8b:11:9d type veth peer name vm-66 index 166 mtu 1500 address 02:e7:1c:29:cd:9b netns h1
ip -n vm-67 link add name eth0 index 100 mtu 1500 address 02:19:1b:ba:c1:67 type veth peer name vm-67 index 167 mtu 1500 address 02:54:4d:a5:87:2c netns h1
ip -n vm-68 link add name eth0 index 100 mtu 1500 address 02:25:f4:0e:f5:7b type veth peer name vm-68 index 168 mtu 1500 address 02:52:ff:73:db:8e netns h1
ip -n vm-69 link add name eth0 index 100 mtu 1500 address 02:14:5d:af:52:3e type veth peer name vm-69 index 169 mtu 1500 address 02:65:01:f2:83:55 netns h1
ip -n vm-70 link add name eth0 index 100 mtu 1500 address 02:f3:02:49:3c:01 type veth peer name vm-70 index 170 mtu 1500 address 02:bd:8a:28:ff:08 netns h1
ip -n vm-71 link add name eth0 index 100 mtu 1500 address 02:a4:4c:41:f7:1d type veth peer name vm-71 index 171 mtu 1500 address 02:a5:54:78:12:34 netns h1
ip -n vm-72 link add name eth0 index 100 mtu 1500 address 02:54:2a:ff:d5:6a type veth peer name vm-72 index 172 mtu 1500 address 02:c5:15:f9:62:9c netns h1
ip -n vm-73 link add name eth0 index 100 mtu 1500 address 02:31:82:bd:f1:41 type veth peer name vm-73 index 173 mtu 1500 address 02:c7:3e:5b:41:3a netns h1
ip -n vm-74 link add name eth0 index 100 mtu 1500 address 02:40:af:4c:d1:37 type veth peer name vm-74 index 174 mtu 1500 address 02:a6:fb:34:6c:ef netns h1
ip -n vm-75 link add name eth0 index 100 mtu 1500 address 02:8b:80:e6:d8:84 type veth peer name vm-75 index 175 mtu 1500 address 02:6f:30:03:21:59 netns h1
ip -n vm-76 link add name eth0 index 100 mtu 1500 address 02:ee:83:c3:e4:8f type veth peer name vm-76 index 176 mtu 1500 address 02:c8:d3:f2:69:db netns h1
ip -n vm-77 link add name eth0 index 100 mtu 1500 address 02:55:f4:4c:c0:eb type veth peer name vm-77 index 177 mtu 1500 address 02:bc:17:cc:36:3d netns h1
ip -n vm-78 link add name eth0 index 100 mtu 1500 address 02:44:21:2f:13:99 type veth peer name vm-78 index 178 mtu 1500 address 02:8d:22:c0:86:d4 netns h1
ip -n vm-79 link add name eth0 index 100 mtu 1500 address 02:54:d8:c8:07:43 type veth peer name vm-79 index 179 mtu 1500 address 02:02:4c:51:f1:5a netns h1
ip -n vm-80 link add name eth0 index 100 mtu 1500 address 02:9c:fc:83:9f:49 type veth peer name vm-80 index 180 mtu 1500 address 02:8d:6b:3f:c7:b4 netns h1
ip -n vm-81 link add name eth0 index 100 mtu 1500 address 02:82:69:a4:34:fc type veth peer name vm-81 index 181 mtu 1500 address 02:d0:9e:d5:9a:67 netns h1
ip -n vm-82 link add name eth0 index 100 mtu 1500 address 02:68:45:80:60:2e type veth peer name vm-82 index 182 mtu 1500 address 02:b0:55:22:f6:ba netns h1
ip -n vm-83 link add name eth0 index 100 mtu 1500 address 02:32:a2:47:b5:8a type veth peer name vm-83 index 183 mtu 1500 address 02:c3:57:a0:9e:81 netns h1
ip -n vm-84 link add name eth0 index 100 mtu 1500 address 02:21:ac:f9:e5:ee type veth peer name vm-84 index 184 mtu 1500 address 02:95:3a:d5:64:c0 netns h1
ip -n vm-85 link add name eth0 index 100 mtu 1500 address 02:b2:7f:95:d4:f1 type veth peer name vm-85 index 185 mtu 1500 address 02:37:07:94:bc:e7 netns h1
ip -n vm-86 link add name eth0 index 100 mtu 1500 address 02:9c:68:44:24:80 type veth peer name vm-86 index 186 mtu 1500 address 02:e1:21:9e:7a:a4 netns h1
ip -n vm-87 link add name eth0 index 100 mtu 1500 address 02:ae:97:69:fe:31 type veth peer name vm-87 index 187 mtu 1500 address 02:52:f2:d4:6b:96 netns h1
ip -n vm-88 link add name eth0 index 100 mtu 1500 address 02:a5:f9:67:bd:75 type veth peer name vm-88 index 188 mtu 1500 address 02:77:3f:53:6c:b1 netns h1
ip -n vm-89 link add name eth0 index 100 mtu 1500 address 02:08:e6:d5:3e:ea type veth peer name vm-89 index 189 mtu 1500 address 02:78:6e:42:1a:b1 netns h1
ip -n vm-90 link add name eth0 index 100 mtu 1500 address 02:d2:4b:73:24:b7 type veth peer name vm-90 index 190 mtu 1500 address 02:31:fd:f6:c1:a5 netns h1
ip -n vm-91 link add name eth0 index 100 mtu 1500 address 02:ec:5e:7e:31:fe type veth peer name vm-91 index 191 mtu 1500 address 02:79:3b:9c:5c:c3 netns h1
ip -n vm-92 link add name eth0 index 100 mtu 1500 address 02:72:55:e2:7b:ae type veth peer name vm-92 index 192 mtu 1500 address 02:d9:88:f6:26:23 netns h1
ip -n vm-93 link add name eth0 index 100 mtu 1500 address 02:ba:13:66:a8:8f type veth peer name vm-93 index 193 mtu 1500 address 02:5a:62:55:c4:89 netns h1
ip -n vm-94 link add name eth0 index 100 mtu 1500 address 02:d5:7c:7a:9e:13 type veth peer name vm-94 index 194 mtu 1500 address 02:0a:be:0a:e2:06 netns h1
ip -n vm-95 link add name eth0 index 100 mtu 1500 address 02:96:de:03:19:86 type veth peer name vm-95 index 195 mtu 1500 address 02:e7:fa:22:70:93 netns h1
ip -n vm-96 link add name eth0 index 100 mtu 1500 address 02:98:6c:ed:6f:62 type veth peer name vm-96 index 196 mtu 1500 address 02:3c:e0:18:b2:d6 netns h1
ip -n vm-97 link add name eth0 index 100 mtu 1500 address 02:74:25:5f:c4:c7 type veth peer name vm-97 index 197 mtu 1500 address 02:9a:13:5a:5a:af netns h1
ip -n vm-98 link add name eth0 index 100 mtu 1500 address 02:d9:b4:75:61:3e type veth peer name vm-98 index 198 mtu 1500 address 02:60:e6:4d:23:22 netns h1
ip -n vm-99 link add name eth0 index 100 mtu 1500 address 02:63:6c:71:7f:ba type veth peer name vm-99 index 199 mtu 1500 address 02:a8:53:a1:7a:90 netns h1
ip -n vm-100 link add name eth0 index 100 mtu 1500 address 02:f6:1c:0b:21:52 type veth peer name vm-100 index 200 mtu 1500 address 02:10:cd:34:a0:cc netns h1

# config
ip -n h1 link set dev vm-1 up
ip -n h1 link set dev vm-2 up
ip -n h1 link set dev vm-3 up
ip -n h1 link set dev vm-4 up
ip -n h1 link set dev vm-5 up
ip -n h1 link set dev vm-6 up
ip -n h1 link set dev vm-7 up
ip -n h1 link set dev vm-8 up
ip -n h1 link set dev vm-9 up
ip -n h1 link set dev vm-10 up
ip -n h1 link set dev vm-11 up
ip -n h1 link set dev vm-12 up
ip -n h1 link set dev vm-13 up
ip -n h1 link set dev vm-14 up
ip -n h1 link set dev vm-15 up
ip -n h1 link set dev vm-16 up
ip -n h1 link set dev vm-17 up
ip -n h1 link set dev vm-18 up
ip -n h1 link set dev vm-19 up
ip -n h1 link set dev vm-20 up
ip -n h1 link set dev vm-21 up
ip -n h1 link set dev vm-22 up
ip -n h1 link set dev vm-23 up
ip -n h1 link set dev vm-24 up
ip -n h1 link set dev vm-25 up
ip -n h1 link set dev vm-26 up
ip -n h1 link set dev vm-27 up
ip -n h1 link set dev vm-28 up
ip -n h1 link set dev vm-29 up
ip -n h1 link set dev vm-30 up
ip -n h1 link set dev vm-31 up
ip -n h1 link set dev vm-32 up
ip -n h1 link set dev vm-33 up
ip -n h1 link set dev vm-34 up
ip -n h1 link set dev vm-35 up
ip -n h1 link set dev vm-36 up
ip -n h1 link set dev vm-37 up
ip -n h1 link set dev vm-38 up
ip -n h1 link set dev vm-39 up
ip -n h1 link set dev vm-40 up
ip -n h1 link set dev vm-41 up
ip -n h1 link set dev vm-42 up
ip -n h1 link set dev vm-43 up
ip -n h1 link set dev vm-44 up
ip -n h1 link set dev vm-45 up
ip -n h1 link set dev vm-46 up
ip -n h1 link set dev vm-47 up
ip -n h1 link set dev vm-48 up
ip -n h1 link set dev vm-49 up
ip -n h1 link set dev vm-50 up
ip -n h1 link set dev vm-51 up
ip -n h1 link set dev vm-52 up
ip -n h1 link set dev vm-53 up
ip -n h1 link set dev vm-54 up
ip -n h1 link set dev vm-55 up
ip -n h1 link set dev vm-56 up
ip -n h1 link set dev vm-57 up
ip -n h1 link set dev vm-58 up
ip -n h1 link set dev vm-59 up
ip -n h1 link set dev vm-60 up
ip -n h1 link set dev vm-61 up
ip -n h1 link set dev vm-62 up
ip -n h1 link set dev vm-63 up
ip -n h1 link set dev vm-64 up
ip -n h1 link set dev vm-65 up
ip -n h1 link set dev vm-66 up
ip -n h1 link set dev vm-67 up
ip -n h1 link set dev vm-68 up
ip -n h1 link set dev vm-69 up
ip -n h1 link set dev vm-70 up
ip -n h1 link set dev vm-71 up
ip -n h1 link set dev vm-72 up
ip -n h1 link set dev vm-73 up
ip -n h1 link set dev vm-74 up
ip -n h1 link set dev vm-75 up
ip -n h1 link set dev vm-76 up
ip -n h1 link set dev vm-77 up
ip -n h1 link set dev vm-78 up
ip -n h1 link set dev vm-79 up
ip -n h1 link set dev vm-80 up
ip -n h1 link set dev vm-81 up
ip -n h1 link set dev vm-82 up
ip -n h1 link set dev vm-83 up
ip -n h1 link set dev vm-84 up
ip -n h1 link set dev vm-85 up
ip -n h1 link set dev vm-86 up
ip -n h1 link set dev vm-87 up
ip -n h1 link set dev vm-88 up
ip -n h1 link set dev vm-89 up
ip -n h1 link set dev vm-90 up
ip -n h1 link set dev vm-91 up
ip -n h1 link set dev vm-92 up
ip -n h1 link set dev vm-93 up
ip -n h1 link set dev vm-94 up
ip -n h1 link set dev vm-95 up
ip -n h1 link set dev vm-96 up
ip -n h1 link set dev vm-97 up
ip -n h1 link set dev vm-98 up
ip -n h1 link set dev vm-99 up
ip -n h1 link set dev vm-100 up
ip -n vm-1 addr add 10.0.0.10/16 dev eth0 noprefixroute
ip -n vm-1 link set dev eth0 up
ip -n vm-1 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.10 congctl cubic
ip -n vm-2 addr add 10.0.0.11/16 dev eth0 noprefixroute
ip -n vm-2 link set dev eth0 up
ip -n vm-2 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.11 congctl cubic
ip -n vm-3 addr add 10.0.0.12/16 dev eth0 noprefixroute
ip -n vm-3 link set dev eth0 up
ip -n vm-3 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.12 congctl cubic
ip -n vm-4 addr add 10.0.0.13/16 dev eth0 noprefixroute
ip -n vm-4 link set dev eth0 up
ip -n vm-4 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.13 congctl cubic
ip -n vm-5 addr add 10.0.0.14/16 dev eth0 noprefixroute
ip -n vm-5 link set dev eth0 up
ip -n vm-5 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.14 congctl cubic
ip -n vm-6 addr add 10.0.0.15/16 dev eth0 noprefixroute
ip -n vm-6 link set dev eth0 up
ip -n vm-6 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.15 congctl cubic
ip -n vm-7 addr add 10.0.0.16/16 dev eth0 noprefixroute
ip -n vm-7 link set dev eth0 up
ip -n vm-7 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.16 congctl cubic
ip -n vm-8 addr add 10.0.0.17/16 dev eth0 noprefixroute
ip -n vm-8 link set dev eth0 up
ip -n vm-8 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.17 congctl cubic
ip -n vm-9 addr add 10.0.0.18/16 dev eth0 noprefixroute
ip -n vm-9 link set dev eth0 up
ip -n vm-9 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.18 congctl cubic
ip -n vm-10 addr add 10.0.0.19/16 dev eth0 noprefixroute
ip -n vm-10 link set dev eth0 up
ip -n vm-10 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.19 congctl cubic
ip -n vm-11 addr add 10.0.0.20/16 dev eth0 noprefixroute
ip -n vm-11 link set dev eth0 up
ip -n vm-11 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.20 congctl cubic
ip -n vm-12 addr add 10.0.0.21/16 dev eth0 noprefixroute
ip -n vm-12 link set dev eth0 up
ip -n vm-12 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.21 congctl cubic
ip -n vm-13 addr add 10.0.0.22/16 dev eth0 noprefixroute
ip -n vm-13 link set dev eth0 up
ip -n vm-13 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.22 congctl cubic
ip -n vm-14 addr add 10.0.0.23/16 dev eth0 noprefixroute
ip -n vm-14 link set dev eth0 up
ip -n vm-14 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.23 congctl cubic
ip -n vm-15 addr add 10.0.0.24/16 dev eth0 noprefixroute
ip -n vm-15 link set dev eth0 up
ip -n vm-15 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.24 congctl cubic
ip -n vm-16 addr add 10.0.0.25/16 dev eth0 noprefixroute
ip -n vm-16 link set dev eth0 up
ip -n vm-16 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.25 congctl cubic
ip -n vm-17 addr add 10.0.0.26/16 dev eth0 noprefixroute
ip -n vm-17 link set dev eth0 up
ip -n vm-17 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.26 congctl cubic
ip -n vm-18 addr add 10.0.0.27/16 dev eth0 noprefixroute
ip -n vm-18 link set dev eth0 up
ip -n vm-18 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.27 congctl cubic
ip -n vm-19 addr add 10.0.0.28/16 dev eth0 noprefixroute
ip -n vm-19 link set dev eth0 up
ip -n vm-19 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.28 congctl cubic
ip -n vm-20 addr add 10.0.0.29/16 dev eth0 noprefixroute
ip -n vm-20 link set dev eth0 up
ip -n vm-20 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.29 congctl cubic
ip -n vm-21 addr add 10.0.0.30/16 dev eth0 noprefixroute
ip -n vm-21 link set dev eth0 up
ip -n vm-21 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.30 congctl cubic
ip -n vm-22 addr add 10.0.0.31/16 dev eth0 noprefixroute
ip -n vm-22 link set dev eth0 up
ip -n vm-22 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.31 congctl cubic
ip -n vm-23 addr add 10.0.0.32/16 dev eth0 noprefixroute
ip -n vm-23 link set dev eth0 up
ip -n vm-23 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.32 congctl cubic
ip -n vm-24 addr add 10.0.0.33/16 dev eth0 noprefixroute
ip -n vm-24 link set dev eth0 up
ip -n vm-24 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.33 congctl cubic
ip -n vm-25 addr add 10.0.0.34/16 dev eth0 noprefixroute
ip -n vm-25 link set dev eth0 up
ip -n vm-25 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.34 congctl cubic
ip -n vm-26 addr add 10.0.0.35/16 dev eth0 noprefixroute
ip -n vm-26 link set dev eth0 up
ip -n vm-26 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.35 congctl cubic
ip -n vm-27 addr add 10.0.0.36/16 dev eth0 noprefixroute
ip -n vm-27 link set dev eth0 up
ip -n vm-27 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.36 congctl cubic
ip -n vm-28 addr add 10.0.0.37/16 dev eth0 noprefixroute
ip -n vm-28 link set dev eth0 up
ip -n vm-28 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.37 congctl cubic
ip -n vm-29 addr add 10.0.0.38/16 dev eth0 noprefixroute
ip -n vm-29 link set dev eth0 up
ip -n vm-29 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.38 congctl cubic
ip -n vm-30 addr add 10.0.0.39/16 dev eth0 noprefixroute
ip -n vm-30 link set dev eth0 up
ip -n vm-30 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.39 congctl cubic
ip -n vm-31 addr add 10.0.0.40/16 dev eth0 noprefixroute
ip -n vm-31 link set dev eth0 up
ip -n vm-31 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.40 congctl cubic
ip -n vm-32 addr add 10.0.0.41/16 dev eth0 noprefixroute
ip -n vm-32 link set dev eth0 up
ip -n vm-32 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.41 congctl cubic
ip -n vm-33 addr add 10.0.0.42/16 dev eth0 noprefixroute
ip -n vm-33 link set dev eth0 up
ip -n vm-33 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.42 congctl cubic
ip -n vm-34 addr add 10.0.0.43/16 dev eth0 noprefixroute
ip -n vm-34 link set dev eth0 up
ip -n vm-34 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.43 congctl cubic
ip -n vm-35 addr add 10.0.0.44/16 dev eth0 noprefixroute
ip -n vm-35 link set dev eth0 up
ip -n vm-35 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.44 congctl cubic
ip -n vm-36 addr add 10.0.0.45/16 dev eth0 noprefixroute
ip -n vm-36 link set dev eth0 up
ip -n vm-36 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.45 congctl cubic
ip -n vm-37 addr add 10.0.0.46/16 dev eth0 noprefixroute
ip -n vm-37 link set dev eth0 up
ip -n vm-37 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.46 congctl cubic
ip -n vm-38 addr add 10.0.0.47/16 dev eth0 noprefixroute
ip -n vm-38 link set dev eth0 up
ip -n vm-38 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.47 congctl cubic
ip -n vm-39 addr add 10.0.0.48/16 dev eth0 noprefixroute
ip -n vm-39 link set dev eth0 up
ip -n vm-39 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.48 congctl cubic
ip -n vm-40 addr add 10.0.0.49/16 dev eth0 noprefixroute
ip -n vm-40 link set dev eth0 up
ip -n vm-40 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.49 congctl cubic
ip -n vm-41 addr add 10.0.0.50/16 dev eth0 noprefixroute
ip -n vm-41 link set dev eth0 up
ip -n vm-41 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.50 congctl cubic
ip -n vm-42 addr add 10.0.0.51/16 dev eth0 noprefixroute
ip -n vm-42 link set dev eth0 up
ip -n vm-42 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.51 congctl cubic
ip -n vm-43 addr add 10.0.0.52/16 dev eth0 noprefixroute
ip -n vm-43 link set dev eth0 up
ip -n vm-43 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.52 congctl cubic
ip -n vm-44 addr add 10.0.0.53/16 dev eth0 noprefixroute
ip -n vm-44 link set dev eth0 up
ip -n vm-44 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.53 congctl cubic
ip -n vm-45 addr add 10.0.0.54/16 dev eth0 noprefixroute
ip -n vm-45 link set dev eth0 up
ip -n vm-45 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.54 congctl cubic
ip -n vm-46 addr add 10.0.0.55/16 dev eth0 noprefixroute
ip -n vm-46 link set dev eth0 up
ip -n vm-46 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.55 congctl cubic
ip -n vm-47 addr add 10.0.0.56/16 dev eth0 noprefixroute
ip -n vm-47 link set dev eth0 up
ip -n vm-47 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.56 congctl cubic
ip -n vm-48 addr add 10.0.0.57/16 dev eth0 noprefixroute
ip -n vm-48 link set dev eth0 up
ip -n vm-48 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.57 congctl cubic
ip -n vm-49 addr add 10.0.0.58/16 dev eth0 noprefixroute
ip -n vm-49 link set dev eth0 up
ip -n vm-49 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.58 congctl cubic
ip -n vm-50 addr add 10.0.0.59/16 dev eth0 noprefixroute
ip -n vm-50 link set dev eth0 up
ip -n vm-50 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.59 congctl cubic
ip -n vm-51 addr add 10.0.0.60/16 dev eth0 noprefixroute
ip -n vm-51 link set dev eth0 up
ip -n vm-51 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.60 congctl cubic
ip -n vm-52 addr add 10.0.0.61/16 dev eth0 noprefixroute
ip -n vm-52 link set dev eth0 up
ip -n vm-52 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.61 congctl cubic
ip -n vm-53 addr add 10.0.0.62/16 dev eth0 noprefixroute
ip -n vm-53 link set dev eth0 up
ip -n vm-53 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.62 congctl cubic
ip -n vm-54 addr add 10.0.0.63/16 dev eth0 noprefixroute
ip -n vm-54 link set dev eth0 up
ip -n vm-54 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.63 congctl cubic
ip -n vm-55 addr add 10.0.0.64/16 dev eth0 noprefixroute
ip -n vm-55 link set dev eth0 up
ip -n vm-55 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.64 congctl cubic
ip -n vm-56 addr add 10.0.0.65/16 dev eth0 noprefixroute
ip -n vm-56 link set dev eth0 up
ip -n vm-56 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.65 congctl cubic
ip -n vm-57 addr add 10.0.0.66/16 dev eth0 noprefixroute
ip -n vm-57 link set dev eth0 up
ip -n vm-57 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.66 congctl cubic
ip -n vm-58 addr add 10.0.0.67/16 dev eth0 noprefixroute
ip -n vm-58 link set dev eth0 up
ip -n vm-58 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.67 congctl cubic
ip -n vm-59 addr add 10.0.0.68/16 dev eth0 noprefixroute
ip -n vm-59 link set dev eth0 up
ip -n vm-59 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.68 congctl cubic
ip -n vm-60 addr add 10.0.0.69/16 dev eth0 noprefixroute
ip -n vm-60 link set dev eth0 up
ip -n vm-60 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.69 congctl cubic
ip -n vm-61 addr add 10.0.0.70/16 dev eth0 noprefixroute
ip -n vm-61 link set dev eth0 up
ip -n vm-61 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.70 congctl cubic
ip -n vm-62 addr add 10.0.0.71/16 dev eth0 noprefixroute
ip -n vm-62 link set dev eth0 up
ip -n vm-62 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.71 congctl cubic
ip -n vm-63 addr add 10.0.0.72/16 dev eth0 noprefixroute
ip -n vm-63 link set dev eth0 up
ip -n vm-63 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.72 congctl cubic
ip -n vm-64 addr add 10.0.0.73/16 dev eth0 noprefixroute
ip -n vm-64 link set dev eth0 up
ip -n vm-64 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.73 congctl cubic
ip -n vm-65 addr add 10.0.0.74/16 dev eth0 noprefixroute
ip -n vm-65 link set dev eth0 up
ip -n vm-65 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.74 congctl cubic
ip -n vm-66 addr add 10.0.0.75/16 dev eth0 noprefixroute
ip -n vm-66 link set dev eth0 up
ip -n vm-66 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.75 congctl cubic
ip -n vm-67 addr add 10.0.0.76/16 dev eth0 noprefixroute
ip -n vm-67 link set dev eth0 up
ip -n vm-67 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.76 congctl cubic
ip -n vm-68 addr add 10.0.0.77/16 dev eth0 noprefixroute
ip -n vm-68 link set dev eth0 up
ip -n vm-68 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.77 congctl cubic
ip -n vm-69 addr add 10.0.0.78/16 dev eth0 noprefixroute
ip -n vm-69 link set dev eth0 up
ip -n vm-69 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.78 congctl cubic
ip -n vm-70 addr add 10.0.0.79/16 dev eth0 noprefixroute
ip -n vm-70 link set dev eth0 up
ip -n vm-70 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.79 congctl cubic
ip -n vm-71 addr add 10.0.0.80/16 dev eth0 noprefixroute
ip -n vm-71 link set dev eth0 up
ip -n vm-71 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.80 congctl cubic
ip -n vm-72 addr add 10.0.0.81/16 dev eth0 noprefixroute
ip -n vm-72 link set dev eth0 up
ip -n vm-72 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.81 congctl cubic
ip -n vm-73 addr add 10.0.0.82/16 dev eth0 noprefixroute
ip -n vm-73 link set dev eth0 up
ip -n vm-73 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.82 congctl cubic
ip -n vm-74 addr add 10.0.0.83/16 dev eth0 noprefixroute
ip -n vm-74 link set dev eth0 up
ip -n vm-74 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.83 congctl cubic
ip -n vm-75 addr add 10.0.0.84/16 dev eth0 noprefixroute
ip -n vm-75 link set dev eth0 up
ip -n vm-75 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.84 congctl cubic
ip -n vm-76 addr add 10.0.0.85/16 dev eth0 noprefixroute
ip -n vm-76 link set dev eth0 up
ip -n vm-76 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.85 congctl cubic
ip -n vm-77 addr add 10.0.0.86/16 dev eth0 noprefixroute
ip -n vm-77 link set dev eth0 up
ip -n vm-77 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.86 congctl cubic
ip -n vm-78 addr add 10.0.0.87/16 dev eth0 noprefixroute
ip -n vm-78 link set dev eth0 up
ip -n vm-78 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.87 congctl cubic
ip -n vm-79 addr add 10.0.0.88/16 dev eth0 noprefixroute
ip -n vm-79 link set dev eth0 up
ip -n vm-79 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.88 congctl cubic
ip -n vm-80 addr add 10.0.0.89/16 dev eth0 noprefixroute
ip -n vm-80 link set dev eth0 up
ip -n vm-80 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.89 congctl cubic
ip -n vm-81 addr add 10.0.0.90/16 dev eth0 noprefixroute
ip -n vm-81 link set dev eth0 up
ip -n vm-81 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.90 congctl cubic
ip -n vm-82 addr add 10.0.0.91/16 dev eth0 noprefixroute
ip -n vm-82 link set dev eth0 up
ip -n vm-82 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.91 congctl cubic
ip -n vm-83 addr add 10.0.0.92/16 dev eth0 noprefixroute
ip -n vm-83 link set dev eth0 up
ip -n vm-83 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.92 congctl cubic
ip -n vm-84 addr add 10.0.0.93/16 dev eth0 noprefixroute
ip -n vm-84 link set dev eth0 up
ip -n vm-84 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.93 congctl cubic
ip -n vm-85 addr add 10.0.0.94/16 dev eth0 noprefixroute
ip -n vm-85 link set dev eth0 up
ip -n vm-85 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.94 congctl cubic
ip -n vm-86 addr add 10.0.0.95/16 dev eth0 noprefixroute
ip -n vm-86 link set dev eth0 up
ip -n vm-86 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.95 congctl cubic
ip -n vm-87 addr add 10.0.0.96/16 dev eth0 noprefixroute
ip -n vm-87 link set dev eth0 up
ip -n vm-87 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.96 congctl cubic
ip -n vm-88 addr add 10.0.0.97/16 dev eth0 noprefixroute
ip -n vm-88 link set dev eth0 up
ip -n vm-88 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.97 congctl cubic
ip -n vm-89 addr add 10.0.0.98/16 dev eth0 noprefixroute
ip -n vm-89 link set dev eth0 up
ip -n vm-89 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.98 congctl cubic
ip -n vm-90 addr add 10.0.0.99/16 dev eth0 noprefixroute
ip -n vm-90 link set dev eth0 up
ip -n vm-90 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.99 congctl cubic
ip -n vm-91 addr add 10.0.0.100/16 dev eth0 noprefixroute
ip -n vm-91 link set dev eth0 up
ip -n vm-91 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.100 congctl cubic
ip -n vm-92 addr add 10.0.0.101/16 dev eth0 noprefixroute
ip -n vm-92 link set dev eth0 up
ip -n vm-92 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.101 congctl cubic
ip -n vm-93 addr add 10.0.0.102/16 dev eth0 noprefixroute
ip -n vm-93 link set dev eth0 up
ip -n vm-93 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.102 congctl cubic
ip -n vm-94 addr add 10.0.0.103/16 dev eth0 noprefixroute
ip -n vm-94 link set dev eth0 up
ip -n vm-94 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.103 congctl cubic
ip -n vm-95 addr add 10.0.0.104/16 dev eth0 noprefixroute
ip -n vm-95 link set dev eth0 up
ip -n vm-95 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.104 congctl cubic
ip -n vm-96 addr add 10.0.0.105/16 dev eth0 noprefixroute
ip -n vm-96 link set dev eth0 up
ip -n vm-96 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.105 congctl cubic
ip -n vm-97 addr add 10.0.0.106/16 dev eth0 noprefixroute
ip -n vm-97 link set dev eth0 up
ip -n vm-97 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.106 congctl cubic
ip -n vm-98 addr add 10.0.0.107/16 dev eth0 noprefixroute
ip -n vm-98 link set dev eth0 up
ip -n vm-98 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.107 congctl cubic
ip -n vm-99 addr add 10.0.0.108/16 dev eth0 noprefixroute
ip -n vm-99 link set dev eth0 up
ip -n vm-99 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.108 congctl cubic
ip -n vm-100 addr add 10.0.0.109/16 dev eth0 noprefixroute
ip -n vm-100 link set dev eth0 up
ip -n vm-100 -4 route add 10.0.0.0/16 dev eth0 src 10.0.0.109 congctl cubic

# bridge
ip -n h1 link set dev vm-1 master br-net
ip -n h1 link set dev vm-2 master br-net
ip -n h1 link set dev vm-3 master br-net
ip -n h1 link set dev vm-4 master br-net
ip -n h1 link set dev vm-5 master br-net
ip -n h1 link set dev vm-6 master br-net
ip -n h1 link set dev vm-7 master br-net
ip -n h1 link set dev vm-8 master br-net
ip -n h1 link set dev vm-9 master br-net
ip -n h1 link set dev vm-10 master br-net
ip -n h1 link set dev vm-11 master br-net
ip -n h1 link set dev vm-12 master br-net
ip -n h1 link set dev vm-13 master br-net
ip -n h1 link set dev vm-14 master br-net
ip -n h1 link set dev vm-15 master br-net
ip -n h1 link set dev vm-16 master br-net
ip -n h1 link set dev vm-17 master br-net
ip -n h1 link set dev vm-18 master br-net
ip -n h1 link set dev vm-19 master br-net
ip -n h1 link set dev vm-20 master br-net
ip -n h1 link set dev vm-21 master br-net
ip -n h1 link set dev vm-22 master br-net
ip -n h1 link set dev vm-23 master br-net
ip -n h1 link set dev vm-24 master br-net
ip -n h1 link set dev vm-25 master br-net
ip -n h1 link set dev vm-26 master br-net
ip -n h1 link set dev vm-27 master br-net
ip -n h1 link set dev vm-28 master br-net
ip -n h1 link set dev vm-29 master br-net
ip -n h1 link set dev vm-30 master br-net
ip -n h1 link set dev vm-31 master br-net
ip -n h1 link set dev vm-32 master br-net
ip -n h1 link set dev vm-33 master br-net
ip -n h1 link set dev vm-34 master br-net
ip -n h1 link set dev vm-35 master br-net
ip -n h1 link set dev vm-36 master br-net
ip -n h1 link set dev vm-37 master br-net
ip -n h1 link set dev vm-38 master br-net
ip -n h1 link set dev vm-39 master br-net
ip -n h1 link set dev vm-40 master br-net
ip -n h1 link set dev vm-41 master br-net
ip -n h1 link set dev vm-42 master br-net
ip -n h1 link set dev vm-43 master br-net
ip -n h1 link set dev vm-44 master br-net
ip -n h1 link set dev vm-45 master br-net
ip -n h1 link set dev vm-46 master br-net
ip -n h1 link set dev vm-47 master br-net
ip -n h1 link set dev vm-48 master br-net
ip -n h1 link set dev vm-49 master br-net
ip -n h1 link set dev vm-50 master br-net
ip -n h1 link set dev vm-51 master br-net
ip -n h1 link set dev vm-52 master br-net
ip -n h1 link set dev vm-53 master br-net
ip -n h1 link set dev vm-54 master br-net
ip -n h1 link set dev vm-55 master br-net
ip -n h1 link set dev vm-56 master br-net
ip -n h1 link set dev vm-57 master br-net
ip -n h1 link set dev vm-58 master br-net
ip -n h1 link set dev vm-59 master br-net
ip -n h1 link set dev vm-60 master br-net
ip -n h1 link set dev vm-61 master br-net
ip -n h1 link set dev vm-62 master br-net
ip -n h1 link set dev vm-63 master br-net
ip -n h1 link set dev vm-64 master br-net
ip -n h1 link set dev vm-65 master br-net
ip -n h1 link set dev vm-66 master br-net
ip -n h1 link set dev vm-67 master br-net
ip -n h1 link set dev vm-68 master br-net
ip -n h1 link set dev vm-69 master br-net
ip -n h1 link set dev vm-70 master br-net
ip -n h1 link set dev vm-71 master br-net
ip -n h1 link set dev vm-72 master br-net
ip -n h1 link set dev vm-73 master br-net
ip -n h1 link set dev vm-74 master br-net
ip -n h1 link set dev vm-75 master br-net
ip -n h1 link set dev vm-76 master br-net
ip -n h1 link set dev vm-77 master br-net
ip -n h1 link set dev vm-78 master br-net
ip -n h1 link set dev vm-79 master br-net
ip -n h1 link set dev vm-80 master br-net
ip -n h1 link set dev vm-81 master br-net
ip -n h1 link set dev vm-82 master br-net
ip -n h1 link set dev vm-83 master br-net
ip -n h1 link set dev vm-84 master br-net
ip -n h1 link set dev vm-85 master br-net
ip -n h1 link set dev vm-86 master br-net
ip -n h1 link set dev vm-87 master br-net
ip -n h1 link set dev vm-88 master br-net
ip -n h1 link set dev vm-89 master br-net
ip -n h1 link set dev vm-90 master br-net
ip -n h1 link set dev vm-91 master br-net
ip -n h1 link set dev vm-92 master br-net
ip -n h1 link set dev vm-93 master br-net
ip -n h1 link set dev vm-94 master br-net
ip -n h1 link set dev vm-95 master br-net
ip -n h1 link set dev vm-96 master br-net
ip -n h1 link set dev vm-97 master br-net
ip -n h1 link set dev vm-98 master br-net
ip -n h1 link set dev vm-99 master br-net
ip -n h1 link set dev vm-100 master br-net
ip -n h1 link set dev br-net up

echo 'The lab is up. Inside a node: ip netns exec NODE COMMAND; the lab ends with this shell.' >&2
if [ $# -gt 0 ]; then
	"$@"
else
	"${SHELL:-sh}"
fi
