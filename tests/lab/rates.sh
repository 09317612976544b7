#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rates: what a link carries, against arithmetic: 1, 10, 100 Mbit/s and 1 Gbit/s on three bases.
#
# Both directions at the same time, each offered more datagrams than it carries. What the kernel
# counted at the receiver's card in the window must be what the model predicts, within 0.5 %. Where
# the machine was the limit there is nothing to say: a skip, with the evidence.
# timeout: 300
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

tolerance=0.005

# check NAME FILE: one direction's JSON.
check() {
	local limit problem
	limit=$(jq -r 'if .fidelity.limit == "none" then "" else .fidelity.why end' "$2" 2>&1)
	problem=$(jq -r --argjson tolerance $tolerance '
		if .counted.truths != "agree" then .counted.why
		else .counted.goodput_bps / .predicted.goodput_bps - 1 |
			if fabs > $tolerance then "off by \(. * 100) %" else "" end
		end' "$2" 2>&1)
	if [ -n "$problem" ] && [ -n "$limit" ]; then
		tap_skip "$1" "the machine was the limit: $limit ($problem)"
	else
		tap_result "$1" "$problem"
	fi
}

# both RATE BASIS SIZE: offers as much payload as the link has rate, so headers are the excess.
both() {
	local other
	lab_up "rate-$1-$2" topologies/flat.yaml --set "fabric.nic.rate=$1" \
		--set "fabric.nic.basis=$2" || return
	vpclab measure "$lab:server" client udp_stream --size "$3" --rate "$1" --opposite --cpus free \
		--json >"$work/back.json" 2>"$work/back.err" &
	other=$!
	vpclab measure "$lab:client" server udp_stream --size "$3" --rate "$1" --opposite --cpus free \
		--json >"$work/there.json" 2>"$work/there.err"
	is "$1 $2 there: measured" "$? $(<"$work/there.err")" "0 "
	wait $other
	is "$1 $2 back: measured" "$? $(<"$work/back.err")" "0 "
	check "$1 $2 there" "$work/there.json"
	check "$1 $2 back" "$work/back.json"
	lab_down
}

for basis in l1 l2 l3; do
	both 1mbit $basis 200 # small, so that one datagram more or less is little
	both 10mbit $basis 1472
	both 100mbit $basis 1472
	both 1gbit $basis 1472
done

# TCP alone fills the link to the byte.
lab_up tcp topologies/flat.yaml --set fabric.nic.rate=100mbit || finish
vpclab measure "$lab:client" server tcp_stream --duration 3s --json >"$work/tcp.json" 2>&1
is "tcp: measured" $? 0
check "tcp: 1448 of 1538 bytes" "$work/tcp.json"

# Datagrams beyond the link: its rate arrives, the rest is dropped on the way.
vpclab measure "$lab:client" server udp_stream --size 1472 --rate 150mbit --duration 2s --json \
	>"$work/flood.json" 2>&1
is "flood: measured" $? 0
check "flood: the link's rate arrives" "$work/flood.json"
is "flood: as much is lost as was too much" "$(jq '
	.engine.loss - (1 - .predicted.goodput_bps / .engine.sent_bps) | fabs < 0.05' \
	"$work/flood.json")" true
lab_down
finish
