#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# multicast: a member with two devices on one net hears each datagram once; a group that is no group and
# a member behind a translation are told before anything is sent.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq ip

cat >"$work/lab.yaml" <<'END'
version: 1
nodes:
  a: {kind: machine, addresses: {eth1: [10.8.0.1/24, fd00:8::1/64]}}
  b: {kind: machine, addresses: {eth1: [10.8.0.2/24, fd00:8::2/64], eth2: 10.9.0.1/24}}
  sw: {kind: switch}
links:
  - {endpoints: ["a:eth1", "sw:p1"]}
  - {endpoints: ["b:eth1", "sw:p2"]}
  - {endpoints: ["b:eth2", "sw:p3"]}
END
if lab_up multicast "$work/lab.yaml"; then
	on b ip addr flush dev eth2
	on b ip addr add 10.8.0.3/24 dev eth2
	on b ip addr add fd00:8::3/64 dev eth2 nodad
	for family in --warmup=0s --ipv6; do
		run vpclab measure "$lab:a" b udp_multicast "$family" --packets 500pps --streams 2 --duration 1s --json
		is "two devices on one net ($family): each datagram once" "$(jq -c '.engine | [.invalid, .duplicated,
			(.detail.receivers | map(.duplicated) | add), (.detail.receivers | length),
			(.detail.receivers | map(.received > 0) | all)]' <<<"$output" 2>&1)" '[null,0,0,2,true]'
		is "two devices on one net ($family): counted by the group's address, no rate predicted" \
			"$(jq -c '[.counted.truths, .counted.packets > 100, .predicted.goodput_bps]' <<<"$output")" '["agree",true,null]'
	done
	# The device that is named joins, whichever is first.
	run vpclab measure "$lab:a" b udp_multicast --group 10.8.0.9 --packets 500pps --duration 1s
	is "a group must be one: exit status" "$status" 2
	has "a group must be one: it says so" "$output" "10.8.0.9 is no multicast address"
	lab_down
fi
if lab_up multicast-nat zstack; then
	run vpclab measure "$lab:client" 'eip(flat-eip)' udp_multicast --packets 500pps --duration 1s
	is "a member behind an EIP: exit status" "$status" 2
	has "a member behind an EIP: it says why" "$output" "NAT translates no multicast group"
	lab_down
fi
finish
