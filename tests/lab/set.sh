#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# set: `vpclab set` on a running lab while traffic runs, and a scenario's `schedule:`.
# timeout: 300
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

cat >"$work/pair.yaml" <<'YAML'
version: 1
name: pair
nodes:
  a: {addresses: [10.9.0.1/24]}
  b: {addresses: [10.9.0.2/24]}
  c: {addresses: [10.9.1.1/24]}
  d: {addresses: [10.9.1.2/24]}
links:
  - {endpoints: ["a:e", "b:e"], rate: 10mbit, basis: l2, queue: 200ms, delay: 0s, via: relay}
  - {endpoints: ["c:e", "d:e"]}
YAML

# changes NAME ARGUMENT…: set succeeds, and the lab is as planned then.
changes() {
	run vpclab set "$lab:$2" "${@:3}"
	is "$1" "$status" 0
	has "$1: says so" "$output" ": "
	run vpclab check "$lab"
	is "$1: as planned" "$status" 0
}

# The state of the kernel in the lab, but for counters and times.
picture() {
	local ns
	for ns in a b c d wires; do
		on $ns sh -c 'tc qdisc show; tc class show; nft list ruleset; ip -d link show' 2>/dev/null
	done | sed 's/packets [0-9]* bytes [0-9]*//; s/ state [A-Z]* / /'
	jq -c '[.sets, .changing]' "$(run_dir)/state.json"
}

run_dir() {
	if [ "$(id -u)" = 0 ]; then echo "/run/vpclab/$lab"; else echo "$XDG_RUNTIME_DIR/vpclab/$lab"; fi
}

# qdisc FIELD: of the shaper of what a sends.
qdisc() {
	on wires tc -s -j qdisc show dev a-e-span | jq "[.[] | select(.root)][0].$1"
}

lab_up set "$work/pair.yaml" || finish

# ---- figures, and what they are called ----
changes "rate" a rate=20mbit
is "rate: the kernel has it" "$(qdisc options.rate)" 2500000
has "rate: inspect has it" "$(vpclab inspect "$lab")" "20 Mbit/s"
changes "one direction" a-b ab.rate=5mbit
is "one direction: that one" "$(qdisc options.rate)" 625000
is "one direction: not the other" \
	"$(on wires tc -j qdisc show dev b-e-span | jq '[.[] | select(.root)][0].options.rate')" 2500000
changes "both directions replace one" a:e rate=10mbit
is "both directions replace one: the kernel" "$(qdisc options.rate)" 1250000
changes "a map over a text" a 'rate={base: 10mbit, burst: 20mbit, credit: 1s}'
has "a map over a text: the kernel" "$(on wires tc qdisc show dev a-e-span)" "peakrate 20Mbit"
changes "a text over a map" a rate=10mbit
changes "packets/s" a pps=500pps
is "packets/s: two shapers, one in the other" \
	"$(on wires tc -j qdisc show dev a-e-span | jq -c 'map(.kind) | sort')" '["pfifo","tbf","tbf"]'
changes "packets/s again" a pps=1kpps
changes "packets/s away" a pps=none
is "packets/s away: one shaper" \
	"$(on wires tc -j qdisc show dev a-e-span | jq -c 'map(.kind) | sort')" '["tbf"]'
passes "packets/s away: its queue is there again" on a ping -c 1 -W 2 -q 10.9.0.2
passes "what is so already" vpclab set "$lab:a" rate=10mbit
has "what is so already: nothing changes" "$output" "nothing changes"
run vpclab set "$lab:a" ab.queue=100ms --json
is "--json" "$(jq -c '[.name, (.changes | length), .sets[-1]]' <<<"$output")" \
	"[\"$lab\",1,\"links.0.ab.queue=100ms\"]"
passes "several keys at once" vpclab set "$lab:a" rate=10mbit queue=200ms

# ---- mistakes change nothing ----
picture >"$work/before"
refused() { # NAME TEXT ARGUMENT…
	fails_with 2 "$1" vpclab set "${@:3}"
	has "$1: says so" "$output" "$2"
	picture >"$work/after"
	is "$1: nothing changed" "$(diff "$work/before" "$work/after")" ""
}
refused "a key misspelt" "links.0.dleay=5ms: unknown key 'dleay' in link; did you mean 'delay'?" \
	"$lab:a" dleay=5ms
refused "one of two keys misspelt" "did you mean 'delay'?" "$lab:a" rate=3mbit dleay=5ms
refused "a key to take away misspelt" "unknown key 'lsos' in link; did you mean 'loss'?" \
	"$lab:a" lsos=none
refused "a value without a unit" "'5' is not a rate" "$lab:a" rate=5
refused "a link misspelt" "there is no link 'a-c' in 'pair'; did you mean 'a-b'?" "$lab:a-c" rate=1mbit
refused "no key" "'rate' is no change; write key=value" "$lab:a" rate
refused "what the lab has no devices for" "link 'c-d' has no middle" "$lab:c" delay=5ms
# shellcheck disable=SC2016 # as it is printed
has "what the lab has no devices for: what to declare" "$output" 'declare `delay: 0s`'
refused "MTU" "has the MTU that it was built with" "$lab:a" mtu=9000
refused "YAML that is none" "a ',' or '}' is missing" "$lab:a" 'loss={every: 3'
fails_with 2 "no lab of that name" vpclab set "$lab-x:a" rate=1mbit

# ---- while traffic runs: the queue stays, the rate follows ----
# A queue is filled, then the rate doubles: what waited arrives, and nothing else is missing.
passes "with a queue: a slow link" vpclab set "$lab:a" rate=1mbit queue=2s
received() {
	on b cat /sys/class/net/e/statistics/rx_packets
}
if command -v perl >/dev/null; then
	sent=$(qdisc packets) drops=$(qdisc drops) got=$(received)
	on a perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0);
		send(S, "x" x 1000, 0, sockaddr_in(9, inet_aton("10.9.0.2"))) for 1 .. 80;'
	waited=$(qdisc qlen)
	run vpclab set "$lab:a" rate=2mbit
	is "with a queue: set" "$status" 0
	still=$(qdisc qlen)
	for _ in $(seq 100); do
		[ "$(qdisc qlen)" != 0 ] || break
	done
	if [ "$still" -gt 0 ] && [ "$waited" -gt "$still" ]; then
		tap_result "with a queue: packets waited before ($waited) and after ($still)"
	else
		tap_skip "with a queue: packets waited" "it was empty too soon ($waited, $still)"
	fi
	is "with a queue: nothing was dropped" "$(qdisc drops)" "$drops"
	is "with a queue: the shaper had them all" "$(($(qdisc packets) - sent >= 80))" 1
	is "with a queue: so had the receiver" "$(($(received) - got >= 80))" 1
else
	tap_skip "with a queue" "perl is not here"
fi

# The rate of a flow in steps of 50 ms, from 10 to 20 Mbit/s.
passes "back" vpclab set "$lab:a" rate=10mbit queue=200ms
follow() {
	vpclab measure "$lab:a" b udp_stream --size 1000 --rate 40mbit --duration 2s --warmup 200ms \
		--interval 50ms --json >"$work/follow.json" 2>/dev/null &
	measure=$!
	sleep 1.3 # into the middle of it
	vpclab set "$lab:a" rate=20mbit >/dev/null
	wait $measure
	vpclab set "$lab:a" rate=10mbit >/dev/null
	# from the last step at the old rate to the first at the new one
	jq '[.engine.intervals[] | .bps / 1e6] | [(map(. > 12) | index(true)), (map(. > 18) | index(true))]
		| if .[0] and .[1] then (.[1] - .[0]) * 50 else 9999 end' "$work/follow.json"
}
for _ in 1 2 3; do
	took=$(follow)
	[ "${took:-9999}" -gt 200 ] || break
done
if jq -e '.fidelity.limit != "none"' "$work/follow.json" >/dev/null && [ "${took:-9999}" -gt 200 ]; then
	tap_skip "the rate follows within 200 ms" "the machine was the limit ($took ms)"
else
	tap_result "the rate follows within 200 ms" "$([ "${took:-9999}" -le 200 ] || echo "took $took ms")"
fi

# ---- a cap of packets ----
# pps WANTED: offered twice as many, so many arrive, within 3 %.
pps() {
	local wrong
	for _ in 1 2 3; do
		vpclab measure "$lab:a" b udp_stream --size 100 --rate "$((2 * $1))pps" --duration 1s \
			--warmup 300ms --json >"$work/pps.json" 2>/dev/null
		wrong=$(jq -r --argjson wanted "$1" '.engine.pps / $wanted - 1 |
			if fabs > 0.03 then "off by \(. * 100) %" else "" end' "$work/pps.json" 2>&1)
		[ -n "$wrong" ] || break
	done
	if [ -n "$wrong" ] && jq -e '.fidelity.limit != "none"' "$work/pps.json" >/dev/null; then
		tap_skip "$1 packets/s arrive" "the machine was the limit ($wrong)"
	else
		tap_result "$1 packets/s arrive" "$wrong"
	fi
}
changes "a cap of packets" a pps=1kpps
pps 1000
changes "another cap of packets" a pps=3kpps
pps 3000
passes "no cap of packets" vpclab set "$lab:a" pps=none

# ---- the relay ----
rtt() { # the least of a few
	on a ping -c 5 -i 0.05 -W 2 -q 10.9.0.2 | sed -n 's,^rtt [^=]*= \([0-9.]*\)/.*,\1,p'
}
changes "delay" a delay=20ms
is "delay: both ways" "$(jq -n "$(rtt) >= 40 and $(rtt) < 60")" true
changes "delay of one direction" a ab.delay=0s
is "delay of one direction" "$(jq -n "$(rtt) >= 20 and $(rtt) < 40")" true
changes "no delay" a delay=0s
is "no delay" "$(jq -n "$(rtt) < 15")" true
lost() { # of 30 packets
	on a ping -f -c 30 -W 1 -q 10.9.0.2 | sed -n 's/.* \([0-9]*\) received.*/\1/p'
}
changes "loss on" a 'ab.loss={every: 3}'
is "loss on: each third" "$(lost)" 20
changes "loss off" a ab.loss=none
is "loss off" "$(lost)" 30

# ---- two at the same time ----
vpclab set "$lab:a" ab.rate=6mbit >"$work/one" 2>&1 &
one=$!
vpclab set "$lab:a" ba.rate=7mbit >"$work/two" 2>&1 &
two=$!
wait $one
is "two at the same time: the first" "$?" 0
wait $two
is "two at the same time: the second" "$?" 0
is "two at the same time: both have happened" \
	"$(jq -c '.sets[-2:] | sort' "$(run_dir)/state.json")" '["links.0.ab.rate=6mbit","links.0.ba.rate=7mbit"]'
passes "two at the same time: as planned" vpclab check "$lab"

# ---- killed in the middle ----
# Whenever the kill comes, the lab is as planned or says what is not, and the next change repairs it.
trouble=""
for delay in 0.002 0.004 0.006 0.008 0.010 0.012 0.014 0.020; do
	"$VPCLAB" set "$lab:a" rate=3mbit pps=700pps delay=3ms >/dev/null 2>&1 &
	pid=$!
	sleep $delay
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	run vpclab check "$lab"
	case $status:$output in
	0:*) ;;
	1:*"a change was broken off"*) ;;
	*) trouble+="after $delay s: check gave $status: $output"$'\n' ;;
	esac
	run vpclab set "$lab:a" rate=10mbit pps=none delay=0s
	[ "$status" = 0 ] || trouble+="after $delay s: the next set gave $status: $output"$'\n'
	run vpclab check "$lab"
	[ "$status" = 0 ] || trouble+="after $delay s: not repaired: $output"$'\n'
done
tap_result "killed at any time: told, and repaired by the next" "$trouble"
is "killed at any time: nothing is under way" "$(jq -c .changing "$(run_dir)/state.json")" null
# Half of a change that was written down before, as a kill would leave it.
jq '.changing = [.sets + ["links.0.rate=3mbit"]]' "$(run_dir)/state.json" >"$work/state"
cat "$work/state" >"$(run_dir)/state.json"
on wires tc qdisc change dev a-e-span root handle 1: tbf rate 3mbit burst 4000 limit 50000
fails_with 1 "half-way: check tells" vpclab check "$lab"
has "half-way: and why" "$output" "a change was broken off; the next vpclab set puts the lab right"
passes "half-way: the next set" vpclab set "$lab:a" ba.queue=150ms
has "half-way: the next set says so" "$output" "is put right"
passes "half-way: as planned again" vpclab check "$lab"
lab_down

# ---- a step that fails in the middle ----
# Somebody took a shaper away: what was changed before it is put back, and what it was is there again.
lab_up undo "$work/pair.yaml" --set "links.0.ab.pps=1kpps" || finish
on wires tc qdisc del dev b-e-span root
fails_with 1 "half of it fails" vpclab set "$lab:a" rate=20mbit delay=5ms
has "half of it fails: which" "$output" "b-e-span"
is "half of it fails: the first half is put back" "$(qdisc options.rate)" 1250000
passes "half of it fails: as planned" vpclab check "$lab"
is "half of it fails: nothing is under way" "$(jq -c .changing "$(run_dir)/state.json")" null
changes "half of it fails: now it works" a rate=20mbit delay=5ms
lab_down

# ---- a VM's card ----
lab_up vnic topologies/flat.yaml --set vms.client.vnic.pps=1kpps || finish
changes "vNIC: by its VM" client pps=2kpps
changes "vNIC: by its name" "client vNIC" 'pps={police: 1kpps}'
changes "vNIC: another rule" client 'pps={police: 3kpps}'
changes "vNIC: a rate instead" client pps=none rate=5mbit
changes "vNIC: connections" client connections=100
changes "vNIC: no connections" client connections=none
changes "a host's card" "h1 uplink" rate=50mbit
hasnt "a host's card: that one alone" "$output" "h2"
fails_with 2 "vNIC: more queues" vpclab set "$lab:client" 'queues={count: 4}'
has "vNIC: more queues: what to declare" "$output" "has as many queues as it was built with"
lab_down

# ---- a schedule ----
cat >"$work/steps.yaml" <<YAML
version: 1
name: steps
topology: $work/pair.yaml
repeat: {min: 2, max: 2}
schedule:
  - {at: 2s, link: a-b, ab: {rate: 5mbit}}
  - {at: 1s, link: a, rate: 20mbit}
paths:
  there: {from: a, to: b}
measure:
  stream: {test: udp_stream, size: 1000, rate: 40mbit, duration: 3s, warmup: 300ms, interval: 100ms}
  still: {test: udp_stream, size: 1000, rate: 40mbit, duration: 500ms, warmup: 100ms, schedule: []}
YAML
passes "schedule: valid" vpclab validate "$work/steps.yaml"
run vpclab run -q "$work/steps.yaml" -o "$work/out"
report=$work/out/report.json
has "schedule: what was changed when" "$output" "at 1 s a rate=20mbit; at 2 s a-b ab.rate=5mbit"
is "schedule: by time, asked and done" "$(jq -c '
	[.measurements[0].paths[].runs[].changes | [.[] | .asked_ms, (.done_ms >= .asked_ms)]] | unique' \
	"$report")" "[[1000,true,2000,true]]"
is "schedule: nothing is predicted, and why" \
	"$(jq -r '.measurements[0].paths[0].predicted.unknown' "$report")" "links change while it runs"
is "schedule: none for the other" "$(jq -c '
	[.measurements[1].paths[].runs[].changes] | unique' "$report")" "[[]]"
is "schedule: the prediction of the other is the topology's" \
	"$(jq '.measurements[1].paths[0].predicted.rate_bps' "$report")" 10000000
# Means of the three seconds, without the steps around a change.
means=$(jq -c '[.measurements[0].paths[0].runs[].engine.intervals | map(.bps / 1e6) |
	[.[1:9], .[12:19], .[23:29]] | map(add / length)]' "$report")
if jq -e 'all(.[]; .[0] > 8.5 and .[0] < 10.5 and .[1] > 17 and .[1] < 21 and .[2] > 4.2 and .[2] < 5.3)' \
	<<<"$means" >/dev/null; then
	tap_result "schedule: the series shows the steps, in each run"
elif jq -e '[.measurements[0].paths[].runs[].fidelity.limit] | any(. != "none")' "$report" >/dev/null; then
	tap_skip "schedule: the series shows the steps, in each run" "the machine was the limit: $means"
else
	tap_result "schedule: the series shows the steps, in each run" "$means"
fi

# bad NAME LINE TEXT: a schedule with a mistake, found before anything is built.
bad() {
	sed "s/.*at: 1s.*/  - $2/" "$work/steps.yaml" >"$work/bad.yaml"
	for command in validate "run -q"; do
		# shellcheck disable=SC2086 # words
		fails_with 2 "schedule: $1: $command" vpclab $command "$work/bad.yaml"
		has "schedule: $1: $command: says so" "$output" "$3"
	done
}
bad "a link misspelt" "{at: 1s, link: a-c, rate: 1mbit}" "bad.yaml:7:20: there is no link 'a-c'"
bad "a key misspelt" "{at: 1s, link: a, rat: 1mbit}" "bad.yaml:7:5: unknown key 'rat' in link"
bad "too late" "{at: 9s, link: a, rate: 1mbit}" "at: 9 s is after the measuring window, which is 3 s"
bad "other devices" "{at: 1s, link: c, rate: 1mbit}" "link 'c-d' has no middle"

# ---- an ordinary user ----
user_tree
cp "$work/pair.yaml" "$work/user/pair.yaml"
chmod a+r "$work/user/pair.yaml"
as_user "$work/user/bin/vpclab" up "$work/user/pair.yaml" --name user-set >/dev/null
passes "an ordinary user" as_user "$work/user/bin/vpclab" set a rate=20mbit delay=2ms
has "an ordinary user: says so" "$output" "a-b, a to b: 20 Mbit/s l2, queue 200 ms (was 10 Mbit/s l2"
passes "an ordinary user: as planned" as_user "$work/user/bin/vpclab" check
finish
