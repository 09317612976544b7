#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ways_of_data: from server to client, and both ways at once, over links that carry another rate
# each way: predicted and counted are those of the way that the data took, through translation too.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

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
near() {
	of "$1 | . > 0.97 and . < 1.003"
}

lab_up ways_of_data "$work/ways.yaml" || finish

measured "$lab:a" b tcp_maerts
is "tcp_maerts: predicted by the way back" "$status $(of ".predicted.goodput_bps / $down | fabs | . > 0.999 and . < 1.001")" "0 true"
is "tcp_maerts: counted at the client's card" "$(of .counted.truths) $(near ".counted.goodput_bps / $down")" "agree true"
measured "$lab:a" b tcp_stream
is "tcp_stream: predicted and counted by the way there" \
	"$(of .counted.truths) $(near ".counted.goodput_bps / $up")" "agree true"

# Full queues of both ways make round trips of 100 ms: TCP needs its time to fill the wide one.
warmup=3s
# Acknowledgements of 47 Mbit/s, 90 bytes on the wire for each second segment, take 7 % of 20.
measured "$lab:a" b tcp_bidir
warmup=500ms
is "tcp_bidir: counted" "$status $(of .counted.truths)" "0 agree"
is "tcp_bidir: predicted with the other way's acknowledgements" \
	"$(of ".predicted.low_bps / 1e6 | . > 17.3 and . < 17.6")" true
is "tcp_bidir: what was counted is within" \
	"$(of '.counted.goodput_bps >= .predicted.low_bps * 0.99 and .counted.goodput_bps <= .predicted.high_bps * 1.003')" true
is "tcp_bidir: the other way is counted too" "$(of .back.counted.truths)" agree
is "tcp_bidir: the other way is predicted too" \
	"$(of '.back.counted.goodput_bps >= .back.predicted.low_bps * 0.97 and .back.counted.goodput_bps <= .back.predicted.high_bps * 1.003')" true

measured "$lab:a" b udp_maerts
is "udp_maerts: counted, as many as 50 Mbit/s carry" \
	"$status $(of .counted.truths) $(near ".counted.packets_pps / 4063.7")" "0 agree true"
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

# A CPU that is named wins over what would have been chosen, and the other end stays beside it.
measured "$lab:client" 'eip(web)' tcp_rr --client-cpu 0
is "a CPU that was named" "$(of '[.engine.client.cpu, .engine.server.cpu] | join(" ")')" "0 0"
lab_down
finish
