#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vlan: two VLANs with the same addresses on the same hosts: each reaches its own, neither hears the
# other, and the tag is on the wire where the kernel, or Open vSwitch, puts one there.
# timeout: 300
# beside: packets pass or do not, however late
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=shapes.inc
. "$top/tests/lab/shapes.inc"
need jq iperf3 arping ping nft

has_8021q=$(vpclab doctor --json | jq -r '.. | objects | select(.feature? == "802.1Q") | .available')

# count_tags: at the switch, what comes from h1; tags_seen WHAT: how many frames those were.
count_tags() {
	on fabric nft -f - <<-EOF_RULES
		table netdev tags {
			chain ingress {
				type filter hook ingress device "h1" priority -500;
				ether type vlan vlan id 100 counter accept comment "red"
				ether type vlan vlan id 200 counter accept comment "blue"
				ip saddr 10.0.0.0/24 counter comment "plain"
			}
		}
	EOF_RULES
}
tags_seen() {
	on fabric nft -j list table netdev tags | jq --arg what "$1" \
		'.nftables[].rule // empty | select(.comment == $what) | .expr[].counter.packets // empty'
}

# try_vlans NAME TAGGED [OPTION]…: TAGGED is yes where frames must have tags.
try_vlans() {
	local tagged=$2 colour said
	shape=$1
	lab_up "$shape" topologies/vlan.yaml "${@:3}" || return
	said=$output
	facts=$(vpclab inspect "$lab" --json)
	passes "$shape: as planned" vpclab check "$lab"
	count_tags
	for colour in red blue; do
		passes "$shape: $colour-1 reaches $colour-2" on $colour-1 ping -c 2 -i 0.2 -W 2 10.0.0.2
	done
	passes "$shape: with whole frames" on red-1 ping -c 1 -W 2 -M 'do' -s 1472 10.0.0.2
	if [ "$tagged" = yes ]; then
		is "$shape: red has tag 100 on the wire" "$([ "$(tags_seen red)" -ge 3 ] && echo yes)" yes
		is "$shape: blue has tag 200 on the wire" "$([ "$(tags_seen blue)" -ge 2 ] && echo yes)" yes
		is "$shape: nothing of them goes untagged" "$(tags_seen plain)" 0
		hasnt "$shape: up tells of no fallback" "$said" "own wire"
	else
		has "$shape: up tells of the fallback" "$said" "vlan 100: own wire; 802.1Q not in this kernel"
		is "$shape: the lab's state too" "$(jq -r '.choices["vlan 200"]' <<<"$facts")" \
			"own wire; 802.1Q not in this kernel"
		is "$shape: no tag on the shared wire" "$(tags_seen red)" 0
	fi
	no_leak red-1 red-2 "blue-1 blue-2" red-1
	no_leak blue-2 blue-1 "red-1 red-2" blue-2
	lab_down
}

if [ "$has_8021q" = true ]; then linux=yes; else linux=no; fi
try_vlans vlan "$linux"
if command -v ovs-vswitchd >/dev/null; then
	try_vlans vlan-ovs yes --set hosts.h1.bridge=ovs --set hosts.h2.bridge=ovs
	try_vlans vlan-mixed "$linux" --set hosts.h1.bridge=ovs
else
	tap_skip "VLANs on Open vSwitch" "ovs-vswitchd is not here"
fi
finish
