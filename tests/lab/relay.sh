#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# relay: impairments by the relay: what its fate log says is what the receiver got, the same seed
# gives the same fates, delays are given, sums close, and a relay that dies is told.
# timeout: 240
# shellcheck disable=SC2016 # expanded by the shells that it starts
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq ping

# topology FILE IMPAIRMENTS-OF-A-TO-B [KEYS-OF-THE-LINK]…
topology() {
	local file=$1 impairments=$2 key
	{
		echo "version: 1"
		echo "name: pair"
		echo "nodes:"
		echo "  a: {kind: machine, addresses: [10.9.0.1/24]}"
		echo "  b: {kind: machine, addresses: [10.9.0.2/24]}"
		echo "links:"
		echo "  - endpoints: [\"a:eth0\", \"b:eth0\"]"
		echo "    via: relay"
		echo "    ab: {$impairments}"
		for key in "${@:3}"; do echo "    $key"; done
	} >"$file"
}

# pings COUNT INTERVAL: sets $received.
pings() {
	output=$(on a ping -q -c "$1" -i "$2" -W 1 10.9.0.2 2>&1)
	received=$(sed -nE 's/.* ([0-9]+) received.*/\1/p' <<<"$output")
}

# fates FILTER: the fate log through jq, all lines as one array.
fates() {
	vpclab fate "$lab:a-b" --json >"$work/fates.jsonl" && jq -s -c "$1" "$work/fates.jsonl"
}

ab='map(select(.direction == "ab"))'
icmp='map(select(.packet | startswith("10.9.0.1")))' # not ARP

# --- losses that are exact, counted by the receiver
topology "$work/every.yaml" "loss: {every: 10}"
lab_up every "$work/every.yaml" || finish
pings 200 0.005
is "every 10: what arrived is what the log says" "$received" \
	"$(fates "$ab | $icmp | map(select(.fate == \"passed\")) | length")"
is "every 10: exactly each tenth packet is lost" \
	"$(fates "$ab | map(select(.fate == \"lost\").number)")" \
	"$(fates "$ab | [range(10; (map(.number) | max) + 1; 10)]")"
passes "every 10: each packet is accounted for" vpclab check "$lab"
lab_down

topology "$work/after.yaml" "loss: {after: 50}"
lab_up after "$work/after.yaml" || finish
pings 100 0.005
is "after 50: what arrived is what the log says" "$received" \
	"$(fates "$ab | $icmp | map(select(.fate == \"passed\")) | length")"
is "after 50: the first 50 pass, no more" \
	"$(fates "$ab | map(select(.fate == \"passed\").number)")" "$(jq -n -c '[range(1; 51)]')"
lab_down

# --- the same seed, the same fates; another, others
mixed="loss: 5%, duplication: 3%, corruption: 2%, reordering: 4%, delay: 2ms"
answers='map(select(.number <= 400) | [.number, .fate == "lost", .copy, .corrupted])'
seeded() { # NAME SEED: sets $key, what the log says of the first 400 packets
	topology "$work/$1.yaml" "$mixed" "seed: $2"
	lab_up "$1" "$work/$1.yaml" || finish
	vpclab measure "$lab:a" b udp_stream --packets 2kpps --size 100 --duration 500ms \
		--warmup 100ms >/dev/null 2>&1
	key=$(fates "$ab | $answers")
}
seeded seed-a 42
first=$key
is "fates of 400 packets are logged" "$(jq 'map(.[0]) | unique | length' <<<"$key")" 400
is "each kind of fate is among them" \
	"$(jq -c '[any(.[1]), any(.[2]), any(.[3])]' <<<"$key")" "[true,true,true]"
is "nothing is put out before it is due" \
	"$(fates 'map(select(.departure_ns and .departure_ns < .due_ns)) | length')" 0
is "what is chosen for it arrives after a later one, and nothing else does" "$(fates "$ab
	| map(select(.departure_ns and (.copy | not))) | sort_by(.due_ns) as \$by
	| map(select(.reordered).number) as \$said
	| (reduce (\$by | group_by(.due_ns) | map(sort_by(.reordered))[][]) as \$p
		({top: 0, late: []}; if \$p.number < .top then .late += [\$p.number] else .top = \$p.number end)
		| .late | sort) == \$said")" true
fails_with 0 "a capture is written" vpclab fate "$lab:a-b" -o "$work/fates.pcapng"
if command -v tcpdump >/dev/null; then
	is "tcpdump reads as many packets as the log has" \
		"$(tcpdump -nr "$work/fates.pcapng" 2>/dev/null | wc -l)" "$(fates length)"
else
	tap_skip "tcpdump reads the capture" "tcpdump is not here"
fi
passes "all kinds: each packet is accounted for" vpclab check "$lab"
lab_down
seeded seed-b 42
is "the same seed gives the same fates" "$key" "$first"
lab_down
seeded seed-c 43
tap_result "another seed gives others" "$([ "$key" != "$first" ] || echo "they are the same")"
lab_down

# --- delays: never early; on a machine that has time for it, prompt
topology "$work/delay.yaml" "delay: 10ms" "ba: {delay: 5ms}"
lab_up delay "$work/delay.yaml" || finish
for _ in 1 2 3; do
	vpclab measure "$lab:a" b udp_stream --rate 100mbit --size 1472 --duration 1s \
		--warmup 100ms >/dev/null 2>&1
	slips=$(fates "$ab | .[-8000:] | map(select(.departure_ns) | .departure_ns - .due_ns) | sort
		| {n: length, least: .[0], median: .[length / 2 | floor],
			p99: .[length * 0.99 | floor]}")
	jq -e '.median < 100000 and .p99 < 500000' <<<"$slips" >/dev/null && break
done
is "10 ms at 100 Mbit/s: none is early" "$(jq '.n > 1000 and .least >= 0' <<<"$slips")" true
if jq -e '.median < 100000 and .p99 < 500000' <<<"$slips" >/dev/null; then
	tap_result "10 ms at 100 Mbit/s: median within 0.1 ms, 99 % within 0.5 ms" ""
else
	tap_skip "10 ms at 100 Mbit/s: median within 0.1 ms, 99 % within 0.5 ms" \
		"the machine was busy: $slips ns"
fi
pings 20 0.01
least=$(sed -nE 's,.*= ([0-9.]+)/.*,\1,p' <<<"$output")
is "no round trip is shorter than both delays" "$(jq -n "$least >= 15")" true
passes "delay: as planned" vpclab check "$lab"

# --- one that dies cuts its link, and that is told
relay_pid=$(on a sh -c 'for p in /proc/[0-9]*; do
	[ "$(cat "$p/comm")" != vpclab-relay ] || echo "${p#/proc/}"; done' 2>/dev/null)
on a kill -9 "$relay_pid"
fails_with 1 "a relay that was killed is a difference from the plan" vpclab check "$lab"
has "check names it" "$output" "relay of a-b"
fails_with 1 "it cannot be set" vpclab set "$lab:a-b" delay=3ms
has "set says why" "$output" "has ended"
hasnt "a set that failed leaves nothing half-way" "$output$(vpclab check "$lab")" "puts the lab right"
log=$(find /run/vpclab "${XDG_RUNTIME_DIR:-/run/vpclab}" -path "*/$lab/log" 2>/dev/null | head -n 1)
# The supervisor collects it in its own time.
timeout 10 sh -c 'until grep -q "relay of a-b was killed" "$1"; do sleep 0.1; done' sh "$log"
has "the log tells" "$(<"$log")" "relay of a-b was killed"
fails_with 1 "its fates are gone with it" vpclab fate "$lab:a-b"
has "fate says why" "$output" "has ended"
lab_down

topology "$work/gone.yaml" "delay: 1ms"
lab_up gone "$work/gone.yaml" || finish
on wires ip link del dev a-eth0-span
# It ends in its own time, and says why last.
timeout 10 sh -c 'until "$1" check "$2" 2>&1 | grep -q "has ended: "; do sleep 0.1; done' sh \
	"$VPCLAB" "$lab"
fails_with 1 "a relay whose device went is a difference" vpclab check "$lab"
has "check says why it ended" "$output" "relay of a-b has ended: a device"
lab_down

# --- 64 MiB of packets have room, whatever their size; that is what a topology may ask for
topology "$work/room.yaml" "delay: 50s" "mtu: 9000"
lab_up room "$work/room.yaml" || finish
on a ip neigh replace 10.9.0.2 lladdr 02:00:00:00:00:01 dev eth0
on a bash -c 'exec 3>/dev/udp/10.9.0.2/9; b=$(printf "%08900d" 0)
	for ((i = 0; i < 20000; i++)); do printf %s "$b" >&3; ((i % 100)) || sleep 0.002; done'
waiting=$(vpclab inspect "$lab" --json |
	jq '[.. | objects | select(has("waiting_bytes")) | .waiting_bytes] | max')
tap_result "full memory: 64 MiB wait" "$([ "$waiting" -gt 67000000 ] &&
	[ "$waiting" -le $((64 << 20)) ] || echo "waiting: $waiting bytes")"
lab_down

# --- words for what cannot be
topology "$work/plain.yaml" ""
sed -i '/via/d' "$work/plain.yaml"
lab_up plain "$work/plain.yaml" || finish
fails_with 2 "a link without impairments has no fates" vpclab fate "$lab:a-b"
fails_with 2 "a link that is not there" vpclab fate "$lab:a-c"
has "the near one is suggested" "$output" "did you mean 'a-b'"
lab_down

is "doctor tells how much a relay carries" "$(vpclab doctor --json |
	jq '.features[] | select(.feature == "relay") | .capacity_pps > 1000')" true

# --- an ordinary user's relay
user_tree
topology "$work/user/pair.yaml" "delay: 3ms"
chmod 755 "$work" 2>/dev/null
run as_user "$work/user/bin/vpclab" up "$work/user/pair.yaml" --name mine
if [ "$status" = 4 ]; then
	tap_skip "an ordinary user's relay" "$output"
else
	is "user: up" "$status" 0
	output=$(as_user "$work/user/bin/vpclab" exec mine:a -- ping -q -c 20 -i 0.01 10.9.0.2 2>&1)
	has "user: packets pass" "$output" "20 received"
	is "user: with their delay" "$(jq -n "$(sed -nE 's,.*= ([0-9.]+)/.*,\1,p' <<<"$output") >= 3")" true
	run as_user "$work/user/bin/vpclab" fate mine:a-b
	has "user: fates are told" "$output" "passed"
	as_user "$work/user/bin/vpclab" down mine >/dev/null
fi
finish
