#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# several: several pairs of ends at the same time: two clients to one server, one client to two
# servers, two pairs; each counted by itself, and the sum against the link that they share.
# timeout: 240
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

cat >"$work/several.yaml" <<'END'
version: 1
nodes:
  a: {addresses: [10.9.0.1/24]}
  b: {addresses: [10.9.0.2/24]}
  c: {addresses: [10.9.0.3/24]}
  d: {addresses: [10.9.0.4/24]}
  sw: {kind: switch}
links:
  - {endpoints: ["a:e0", "sw:a"]}
  - {endpoints: ["b:e0", "sw:b"]}
  - {endpoints: ["c:e0", "sw:c"], rate: 40mbit}
  - {endpoints: ["d:e0", "sw:d"]}
END

measured() {
	output=$(vpclab measure "$@" --json --duration 2s --warmup 500ms 2>"$work/err")
	status=$?
}
# of EXPRESSION: of what was measured.
of() {
	jq -r "$1" <<<"$output" 2>&1
}
# Two full frames of 1,538 bytes on the wire a millisecond, and one of two acknowledged.
near='. > 0.96 and . < 1.005'

lab_up several "$work/several.yaml" || finish

measured "$lab:a,b" c tcp_stream
is "two clients, one server: measured" "$status$(<"$work/err")" 0
is "two clients, one server: both counted at the same card, each by itself" \
	"$(of '[.pairs[] | .counted.truths] | unique | join(" ")')" agree
is "two clients, one server: each has packets of its own" \
	"$(of '[.pairs[] | .counted.packets > 1000 and .counted.foreign_packets < 64] | all')" true
is "two clients, one server: the sum is what the server's link carries" \
	"$(of ".total.goodput_bps / .total.predicted.high_bps | $near")" true
is "two clients, one server: alone, none is predicted" \
	"$(of '[.pairs[].predicted.unknown] | unique | join(" ")')" "other pairs run at the same time"
is "two clients, one server: what they did together" \
	"$(of '[.total.pairs, .total.cut, (.total.goodput_bps - ([.pairs[].engine.goodput_bps] | add) | fabs < 1)] | join(" ")')" \
	"2 false true"
is "two clients, one server: fairness is of two" "$(of '.total.fairness | . >= 0.5 and . <= 1')" true

# What a busy machine did not send in time, the engine has as missed (of the warm-up too): a thousand a
# second are sent or missed, and no more are sent.
thousand='(.client.packets + .missed) / 2000 > 0.95 and .client.packets / 2000 < 1.05'
measured "$lab:a" b,d udp_stream --packets 1kpps
is "one client, two servers: each gets its own thousand a second" \
	"$status $(of "[.pairs[].engine | $thousand and .server.packets + .lost == .client.packets] | all")" "0 true"
is "one client, two servers: each confirmed" "$(of '[.pairs[].counted.truths] | unique | join(" ")')" agree
is "one client, two servers: the pairs as they were named" \
	"$(of '[.pairs[] | .from + " " + .to] | join(", ")')" "a b, a d"

measured "$lab:a,b" b,a tcp_bidir
is "two pairs against each other, both ways: counted" \
	"$status $(of '[.pairs[].counted.truths] | unique | join(" ")')" "0 agree"
is "two pairs against each other, both ways: the sum has the way back" "$(of '.total.back_goodput_bps > 1e6')" true

# They all begin their windows at one time: none sends alone. By each pair's own first interval.
measured "$lab:a,b,d" c udp_stream --packets 1kpps --interval 200ms
is "three to one, 1,000 a second each" \
	"$status $(of "[.pairs[].engine | $thousand] | all")" "0 true"
is "three to one: nothing lost, so all of the link's 40 Mbit/s was not needed" "$(of '.total.lost')" 0

run vpclab measure "$lab:a,b" c tcp_stream --duration 1s
has "as text: each" "$output" "b → c, tcp_stream"
has "as text: the sum" "$output" "together, 2 of 2 pairs"
has "as text: the window" "$output" "in which all ran"

# Told to end in the middle: what there is, marked.
"$VPCLAB" measure "$lab:a,b" c tcp_stream --json --duration 20s --interval 200ms >"$work/part.json" 2>"$work/err" &
pid=$!
sleep 3
kill -TERM $pid
wait $pid
is "told to end: exit status 3" "$?" 3
output=$(<"$work/part.json")
is "told to end: both are marked, and have what was measured" \
	"$(of '[.pairs[].engine | (.invalid | length > 5) and .partial and .goodput_bps > 1e5] | all')" true

run vpclab measure "$lab:a,b,d" a,c tcp_rr
is "three sources, two destinations: an error" "$status" 2
has "three sources, two destinations: in words" "$output" \
	"3 sources and 2 destinations make no pairs: name as many of both, or one of either"
run vpclab measure "$lab:a,,b" c tcp_rr
has "an empty name" "$output" "an end between two commas is empty"
run vpclab measure "$lab:a,bb" c tcp_rr
has "an unknown name" "$output" "'bb' is not an endpoint"

# Two commands that measure on one way at the same time: each says so, as the counters are of both;
# one elsewhere, and one afterwards, do not.
alone() {
	jq -c '[.company, .cpu_per_packet_missing] | map(. != null and test("another measurement used"))' "$1"
}
vpclab measure "$lab:a" c udp_stream --packets 500pps --duration 6s --json >"$work/first.json" 2>/dev/null &
pid=$!
for _ in {1..100}; do
	[ -n "$(vpclab exec "$lab:c" -- ss -Huan 2>/dev/null)" ] && break
	sleep 0.1
done
vpclab measure "$lab:b" c tcp_rr --duration 300ms --warmup 0 --json >"$work/second.json" 2>/dev/null
together=no
kill -0 $pid 2>/dev/null && together=yes
wait $pid
if [ $together = yes ]; then
	is "two commands on one way: the first one says so" "$(alone "$work/first.json")" "[true,true]"
	is "two commands on one way: the second one says so" "$(alone "$work/second.json")" "[true,true]"
else
	tap_skip "two commands on one way" "the first had ended before the second"
fi
vpclab measure "$lab:a" c tcp_rr --duration 300ms --warmup 0 --json >"$work/third.json" 2>/dev/null
is "two commands after each other are alone" "$(alone "$work/third.json")" "[false,false]"

lab_down
finish
