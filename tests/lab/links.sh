#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# links: caps of packets and bytes, their sum, queues, policers, credit and large frames, each against
# arithmetic. The first and the last word has the kernel's counter at the receiver's card; where the
# machine was the limit there is nothing to say: a skip, with the evidence.
# timeout: 400
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=measure.inc
. "$(dirname "$0")/measure.inc"
# shellcheck source=two.inc
. "$(dirname "$0")/two.inc"
need jq

tolerance=0.005
brief=(--duration 2s --warmup 500ms)

# packets NAME CAP: UDP above the cap gets the cap; TCP with its super-packets too, each wire packet
# counted; a flow below it loses nothing.
packets() {
	local cap=$2
	alone "$1: udp" udp_stream --frame 64 --packets $((cap * 2))pps "${brief[@]}"
	alone "$1: tcp" tcp_stream "${brief[@]}"
	is "$1: no packet is longer than a frame" "$(jq '
		.counted.payload_bytes <= .counted.packets * .predicted.payload_bytes' \
		"$work/alone.json")" true
	for _ in $tries; do
		measure "$work/alone.json" "$lab:client" server udp_stream --frame 64 \
			--packets $((cap * 95 / 100))pps "${brief[@]}"
		[ "$(jq .engine.lost "$work/alone.json")" = 0 ] && break
	done
	check_lossless "$1: 95 % of the cap loses nothing"
}

check_lossless() {
	local limit lost
	limit=$(jq -r 'if .fidelity.limit == "none" then "" else .fidelity.why end' "$work/alone.json")
	lost=$(jq .engine.lost "$work/alone.json")
	if [ "$lost" != 0 ] && [ -n "$limit" ]; then
		tap_skip "$1" "the machine was the limit: $limit ($lost lost)"
	else
		is "$1" "$lost" 0
	fi
}

vnic pps-1k "pps: 1kpps" && packets "1 kpps" 1000 && lab_down
vnic pps-20k "pps: 20kpps" && packets "20 kpps" 20000 && lab_down
link link-pps "pps: 5kpps" && packets "link, 5 kpps" 5000 && lab_down

# One cap for both directions: each alone, and both together, reach it.
sum() { # NAME ARGUMENT…
	local name=$1 there=$work/there.json back=$work/back.json other
	shift
	tolerance=0.01
	alone "$name: out alone" "$@" "${brief[@]}"
	for _ in $tries; do
		measure "$back" "$lab:server" client "$@" "${brief[@]}" --opposite --cpus free &
		other=$!
		measure "$there" "$lab:client" server "$@" "${brief[@]}" --opposite --cpus free
		wait $other
		together=$(jq -n --slurpfile a "$there" --slurpfile b "$back" '
			($a[0].counted.goodput_bps + $b[0].counted.goodput_bps) /
			($a[0].predicted.goodput_bps * 2) - 1 | fabs < 0.01')
		[ "$together" = true ] && break
	done
	if [ "$together" != true ] && [ "$(jq -r .fidelity.limit "$there")" != none ]; then
		tap_skip "$name: both together" "the machine was the limit"
	else
		is "$name: both together" "$together" true
	fi
	tolerance=0.005
}

vnic sum-rate "rate: 20mbit, direction: sum" &&
	sum "sum of 20 Mbit/s" udp_stream --size 1000 --rate 30mbit && lab_down
vnic sum-pps "pps: 4kpps, direction: sum" &&
	sum "sum of 4 kpps" udp_stream --frame 64 --packets 6kpps && lab_down

# Four queues with a cap each: one flow has one, many have them all.
if vnic queues "queues: {count: 4, pps_each: 1kpps}"; then
	is "queues: the VM sees four" "$(on client sh -c 'ls -d /sys/class/net/eth0/queues/tx-* | wc -l')" 4
	alone "queues: one flow has a quarter" udp_stream --frame 64 --packets 8kpps "${brief[@]}"
	for _ in $tries; do
		measure "$work/many.json" "$lab:client" server udp_stream --frame 64 --packets 8kpps \
			--streams 48 "${brief[@]}"
		whole=$(jq '.counted.packets_pps / 4000 - 1 | fabs < 0.05' "$work/many.json")
		[ "$whole" = true ] && break
	done
	is "queues: many flows have the whole" "$whole" true
	lab_down
fi

# Base and burst: from full credit the burst rate for as long as was said, then the base rate.
if vnic credit "rate: {base: 10mbit, burst: 30mbit, credit: 2s}"; then
	for _ in $tries; do
		measure "$work/credit.json" "$lab:client" server udp_stream --size 1000 --rate 40mbit \
			--warmup 0s --duration 5s --interval 100ms
		problems=$(jq -r '
			(1000 / 1028 * 1e6) as $m | [.engine.intervals[].bps / $m] as $v |
			([$v[] | select(. > 20)] | length / 10) as $time |
			([$v[3:16][]] | add / length) as $high | ([$v[25:45][]] | add / length) as $low |
			(if ($time - 2 | fabs) > 0.11 then "burst lasted \($time) s" else empty end),
			(if ($high / 30 - 1 | fabs) > 0.02 then "burst was \($high) Mbit/s" else empty end),
			(if ($low / 10 - 1 | fabs) > 0.02 then "base was \($low) Mbit/s" else empty end)' \
			"$work/credit.json" 2>&1)
		[ -z "$problems" ] && break
		vpclab down "$lab" >/dev/null 2>&1 # an emptied bucket is no full one
		vpclab up "$work/lab.yaml" --name "$lab" >/dev/null 2>&1
	done
	tap_result "credit: 2 s of 30 Mbit/s, then 10" "$problems"
	lab_down
fi

# police drops what is over and delays nothing; TCP's answer to that is its own, UDP's is none.
link police "police: 10mbit" &&
	alone "police: udp" udp_stream --size 1000 --rate 15mbit "${brief[@]}" && lab_down

# Frames of 9,000 bytes.
link jumbo "rate: 50mbit, basis: l2, mtu: 9000" && {
	alone "jumbo: tcp" tcp_stream "${brief[@]}"
	alone "jumbo: udp" udp_stream --size 8972 --rate 60mbit "${brief[@]}"
	lab_down
}

# BIG TCP: what the stack hands to the device is larger than 64 KiB, on the wire nothing changes.
cat >"$work/big.yaml" <<-END
	version: 1
	name: big
	nodes:
	  a: {kind: machine, addresses: ["fd00::1/64"]}
	  b: {kind: machine, addresses: ["fd00::2/64"]}
	links: [{endpoints: ["a:eth1", "b:eth1"], big_tcp: 256KiB}]
END
lab_up "big_tcp" "$work/big.yaml" && {
	vpclab measure "$lab:a" b tcp_stream --ipv6 --duration 1s --warmup 200ms --size 1MiB >/dev/null 2>&1
	is "big_tcp: packets of TCP before segmentation are larger than 64 KiB" \
		"$(vpclab exec "$lab:a" -- ip -s -j link show eth1 | jq '.[0].stats64.tx | .bytes / .packets > 65536')" true
	lab_down
}
sed 's/, big_tcp/, rate: 1gbit, big_tcp/' "$work/big.yaml" >"$work/shaped.yaml"
fails_with 2 "big_tcp: a shaped link refuses it" vpclab validate "$work/shaped.yaml"

# A router passes IPv6 from the first packet, and its link-local addresses are as planned.
cat >"$work/v6.yaml" <<-END
	version: 1
	name: v6
	nodes:
	  a: {kind: machine, addresses: ["fd08::1/64"], routes: ["default via fd08::fe"]}
	  n: {kind: router, addresses: {eth0: "fd08::fe/64", eth1: "fd09::fe/64"}}
	  b: {kind: machine, addresses: ["fd09::1/64"], routes: ["default via fd09::fe"]}
	links: [{endpoints: ["a:eth0", "n:eth0"]}, {endpoints: ["n:eth1", "b:eth0"]}]
END
lab_up ipv6-router "$work/v6.yaml" && {
	passes "ipv6 router: as planned" vpclab check "$lab"
	passes "ipv6 router: the first packet comes back" on a ping -6 -c 1 -W 1 fd09::1
	lab_down
}

# A forty-gigabit profile on a laptop: a thousandth of it, and results say both figures.
if vnic scaled "rate: 40gbit" --set scale=1/1000; then
	alone "scaled: tcp" tcp_stream "${brief[@]}"
	is "scaled: JSON says the full size too" "$(jq '
		.predicted.full_size_goodput_bps / .predicted.goodput_bps | round' "$work/alone.json")" 1000
	lab_down
fi
finish
