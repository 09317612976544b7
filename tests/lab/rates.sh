#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rates: what a link carries, against arithmetic: 1, 10, 100 Mbit/s and 1 Gbit/s on three bases.
#
# One TCP stream in each direction at the same time. Each wire then carries the data of one and the
# acknowledgements of the other, and how many of those there are is up to the receiver. So the wire is
# what is compared: all frames that arrived in the window, charged by the basis, are the rate of the
# link within 0.5 %. The stream itself must lie between "one acknowledgement for two segments" and
# "none". Where the machine was the limit there is nothing to say: a skip, with the evidence.
# timeout: 300
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

tolerance=0.005

# charged FILE BASIS: bits per second that the link must have charged for what arrived.
charged() {
	local extra
	case $2 in
	l1) extra=24 ;;
	l2) extra=0 ;;
	l3) extra=-14 ;;
	esac
	jq --argjson extra "$extra" '.counted.window |
		(.device_l2.bytes + $extra * .device_l2.packets) * 8e9 / .elapsed_ns' "$1"
}

# check NAME FILE BASIS RATE: one direction.
check() {
	local limit problem
	limit=$(jq -r 'if .fidelity.limit == "none" then "" else .fidelity.why end' "$2")
	problem=$(jq -r --argjson wire "$(charged "$2" "$3")" --argjson rate "$4" \
		--argjson tolerance $tolerance '
		def off(a; b): a / b - 1;
		.counted.goodput_bps as $got | .predicted as $p |
		if (off($wire; $rate) | fabs) > $tolerance then
			"the wire carried \($wire) bit/s of \($rate)"
		elif $got > $p.high_bps * (1 + $tolerance) or $got < $p.low_bps * (1 - $tolerance) then
			"\($got) bit/s are not in \($p.low_bps) … \($p.high_bps)"
		elif .counted.truths != "agree" then .counted.why
		else "" end' "$2" 2>&1)
	if [ -n "$problem" ] && [ -n "$limit" ]; then
		tap_skip "$1" "the machine was the limit: $limit ($problem)"
	else
		tap_result "$1" "$problem"
	fi
}

# both RATE BITS BASIS
both() {
	local other
	lab_up "rate-$1-$3" topologies/flat.yaml --set "fabric.nic.rate=$1" \
		--set "fabric.nic.basis=$3" || return
	vpclab measure "$lab:server" client tcp_stream --opposite --duration 5s --json \
		>"$work/back.json" 2>"$work/back.err" &
	other=$!
	run vpclab measure "$lab:client" server tcp_stream --opposite --duration 5s --json
	printf '%s\n' "$output" >"$work/there.json"
	is "$1 $3 there: measured" "$status" 0
	wait $other
	is "$1 $3 back: measured" $? 0
	check "$1 $3 there" "$work/there.json" "$3" "$2"
	check "$1 $3 back" "$work/back.json" "$3" "$2"
	lab_down
}

for basis in l1 l2 l3; do
	both 1mbit 1000000 $basis
	both 10mbit 10000000 $basis
	both 100mbit 100000000 $basis
	both 1gbit 1000000000 $basis
done

# UDP beyond the link: what arrives is the link's rate, the rest was dropped on the way.
lab_up flood topologies/flat.yaml --set fabric.nic.rate=100mbit || finish
run vpclab measure "$lab:client" server udp_stream --size 1472 --rate 150mbit --duration 2s --json
printf '%s\n' "$output" >"$work/flood.json"
is "flood: measured" "$status" 0
is "flood: the link's rate arrived, about a third was lost" "$(jq '
	(.counted.goodput_bps / .predicted.goodput_bps - 1 | fabs) < 0.005 and
	.engine.loss > 0.3 and .engine.loss < 0.4' "$work/flood.json")" true
lab_down
finish
