#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ways_of_data: from server to client, and both ways at once, over links that carry another rate
# each way: predicted and counted are those of the way that the data took, through translation too.
# timeout: 240
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=measure.inc
. "$(dirname "$0")/measure.inc"
need jq
tolerance=0.02

cat >"$work/ways.yaml" <<'END'
version: 1
nodes:
  a: {addresses: [10.1.0.1/24], routes: [default via 10.1.0.254]}
  r: {kind: router, addresses: {e0: 10.1.0.254/24, e1: 10.2.0.254/24}}
  b: {addresses: [10.2.0.1/24], routes: [default via 10.2.0.254]}
links:
  - {endpoints: ["a:e0", "r:e0"], ab: {rate: 20mbit}, ba: {rate: 50mbit}}
  - {endpoints: ["r:e1", "b:e0"]}
END

warmup=500ms
measured() {
	output=$(vpclab measure "$@" --json --duration 2s --warmup "$warmup" 2>"$work/err")
	status=$?
}
of() {
	jq -r "$1" <<<"$output" 2>&1
}
# A frame of 1,538 bytes on the wire for 1,448 of TCP's.
up=18.83e6 down=47.07e6
# exact NAME ARGUMENT…: as predicted, or the machine was the limit. Sets output.
exact() {
	for _ in $tries; do
		measured "${@:2}"
		printf '%s\n' "$output" >"$work/exact.json"
		[ "$status$(problem "$work/exact.json")" = 0 ] && break
	done
	check "$1" "$work/exact.json"
}

lab_up ways_of_data "$work/ways.yaml" || finish

exact "tcp_maerts: counted at the client's card, as predicted" "$lab:a" b tcp_maerts
is "tcp_maerts: predicted by the way back" "$(of ".predicted.goodput_bps / $down | . > 0.999 and . < 1.001")" true
exact "tcp_stream: counted at the server's card, as predicted" "$lab:a" b tcp_stream
is "tcp_stream: predicted by the way there" "$(of ".predicted.goodput_bps / $up | . > 0.999 and . < 1.001")" true

# Full queues of both ways make round trips of 100 ms: TCP needs its time to fill the wide one.
warmup=3s tolerance=0.03
# Acknowledgements of 47 Mbit/s, 90 bytes on the wire for each second segment, take 7 % of 20.
exact "tcp_bidir: counted as predicted, there" "$lab:a" b tcp_bidir
is "tcp_bidir: predicted with the other way's acknowledgements" \
	"$(of ".predicted.low_bps / 1e6 | . > 17.3 and . < 17.6")" true
jq '.back + {fidelity}' "$work/exact.json" >"$work/back.json"
check "tcp_bidir: counted as predicted, back" "$work/back.json"
is "tcp_bidir: the way back is as wide as it is" "$(of ".back.predicted.high_bps / $down | . > 0.999 and . < 1.001")" true
warmup=500ms tolerance=0.02

exact "udp_maerts: counted at the client's card, as predicted" "$lab:a" b udp_maerts
is "udp_maerts: as many as 50 Mbit/s carry are predicted" \
	"$(of '.predicted.packets_pps / 4063.7 | . > 0.999 and . < 1.001')" true
is "udp_maerts: nothing unexplained" "$(of '.account.unexplained_packets')" 0
measured "$lab:a" b udp_bidir --rate 10mbit
is "udp_bidir: both ways counted" \
	"$status $(of .counted.truths) $(of .back.counted.truths)" "0 agree agree"
is "udp_bidir: both ways, nothing lost and nothing unexplained" \
	"$(of '[.account.unexplained_packets, .back.account.unexplained_packets, .engine.lost, .engine.back.lost] | join(" ")')" "0 0 0 0"
lab_down

# The client knows the server by an address that the way translates.
lab_up eip eip || finish
measured "$lab:client" 'eip(web)' tcp_maerts
is "through translation: counted on the way back" "$status $(of .counted.truths)" "0 agree"
measured "$lab:client" 'eip(web)' udp_bidir --rate 10mbit
is "through translation: both ways" "$status $(of .counted.truths) $(of .back.counted.truths)" "0 agree agree"

# Many connections, new ones all the time: by the server's ports. (A group's is in multicast.sh.)
for arguments in "tcp_rr --streams 300" "udp_rr --streams 40" tcp_crr udp_latency; do
	# shellcheck disable=SC2086 # several words
	measured "$lab:client" 'eip(web)' $arguments
	is "$arguments: counted" "$status $(of .counted.truths) $(of '.counted.packets > 100')" "0 agree true"
	is "$arguments: no rate is predicted" "$(of '.predicted.goodput_bps')" null
done

# A CPU that is named wins over what would have been chosen, and the other end stays beside it.
measured "$lab:client" 'eip(web)' tcp_rr --client-cpu 0
is "a CPU that was named" "$(of '[.engine.client.cpu, .engine.server.cpu] | join(" ")')" "0 0"
run vpclab measure "$lab:client" 'eip(web)' tcp_rr --client-cpu 0 --duration 500ms
has "a CPU that was named: said" "$output" "client on CPU 0, server on CPU 0: as asked"
lab_down
finish
