#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rates: what a link carries, against arithmetic: 1, 10, 100 Mbit/s and 1 Gbit/s on three bases.
#
# Both directions at the same time, each offered more datagrams than it carries. What the kernel
# counted at the receiver's card in the window must be what the model predicts, within 0.5 %. Where
# the machine was the limit there is nothing to say: a skip, with the evidence.
# timeout: 500
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=measure.inc
. "$(dirname "$0")/measure.inc"
need jq

tolerance=0.005

# both RATE BASIS SIZE: offers as much payload as the link has rate, so headers are the excess.
both() {
	local there=$work/there.json back=$work/back.json other status
	local flow=(udp_stream --size "$3" --rate "$1" --opposite --cpus free --duration 2500ms --warmup 500ms)
	lab_up "rate-$1-$2" topologies/flat.yaml --set "fabric.nic.rate=$1" \
		--set "fabric.nic.basis=$2" || return
	for _ in $tries; do
		(measure "$back" "$lab:server" client "${flow[@]}" && exit "$status") &
		other=$!
		measure "$there" "$lab:client" server "${flow[@]}"
		wait $other
		other=$?
		[ "$status $other$(problem "$there")$(problem "$back")" = "0 0" ] && break
	done
	is "$1 $2: measured, or the machine was the limit" \
		"${status/3/0} ${other/3/0} $(<"$there.err")$(<"$back.err")" "0 0 "
	check "$1 $2 there" "$there"
	check "$1 $2 back" "$back"
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
alone "tcp" tcp_stream --duration 3s

# Datagrams beyond the link: its rate arrives, the rest is dropped on the way.
alone "flood" udp_stream --size 1472 --rate 150mbit --duration 2s
is "flood: as much is lost as was too much" "$(jq '
	.engine.loss - (1 - .predicted.goodput_bps / .engine.sent_bps) | fabs < 0.05' \
	"$work/alone.json")" true
lab_down
finish
