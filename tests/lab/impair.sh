#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# impair: one table of impairments, met by the relay and by netem (where the kernel has it) alike; then
# police by the kernel's action, and fq with a paced sender. Told by ping and iperf3, which know
# nothing of us. VPCLAB_SLOW: an emulated machine is late, but loses and doubles as any other.
# timeout: 300
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq ping iperf3 tc

late_ms=15
[ -z "${VPCLAB_SLOW:-}" ] || late_ms=60

# can FEATURE: by doctor's word.
features=$(vpclab doctor --json)
can() {
	[ "$(jq -r --arg name "$1" '[.. | objects | select(.feature? == $name) | .available][0]' \
		<<<"$features")" = true ]
}

# pair NAME LINK: two machines with one link that has these keys; their device is "e".
pair() {
	cat >"$work/pair.yaml" <<-YAML
		version: 1
		name: pair
		nodes:
		  a: {addresses: [10.9.0.1/24]}
		  b: {addresses: [10.9.0.2/24]}
		links:
		  - {endpoints: ["a:e", "b:e"], $2}
	YAML
	lab_up "$1" "$work/pair.yaml"
}

# within NAME VALUE LEAST MOST
within() {
	tap_result "$1: $2 is from $3 to $4" "$(
		awk -v v="$2" -v a="$3" -v b="$4" 'BEGIN { if (v == "" || v < a || v > b) print "it is not" }'
	)"
}

# pings COUNT: sets received, duplicates, late (arrived after a later one), and rtt_min, rtt_avg,
# rtt_dev in ms.
pings() {
	output=$(on a ping -i 0.01 -c "$1" -W 3 -s 200 10.9.0.2 2>&1)
	received=$(sed -n 's/.*, \([0-9]*\) received.*/\1/p' <<<"$output")
	duplicates=$(sed -n 's/.* +\([0-9]*\) duplicates.*/\1/p' <<<"$output")
	late=$(sed -n 's/.*icmp_seq=\([0-9]*\) .*/\1/p' <<<"$output" |
		awk '$1 < most { n++ } $1 > most { most = $1 } END { print n + 0 }')
	IFS=/ read -r rtt_min rtt_avg _ rtt_dev < <(sed -n 's/^rtt [^=]*= \([0-9./]*\) ms.*/\1/p' <<<"$output")
}

# row NAME IMPAIRMENT: on the way from a to b, by $via.
row() {
	what="$via: $1"
	pair "impair" "via: $via, ab: {$2}" || return
	passes "$what: as planned" vpclab check "$lab"
	if [ "$via" = netem ]; then
		has "$what: netem does it" "$(on wires tc qdisc show)" "netem"
	else
		hasnt "$what: netem does not do it" "$(on wires tc qdisc show)" "netem"
	fi
	pings 300
}

table() {
	if row "delay" "delay: 30ms"; then
		within "$what: least" "$rtt_min" 30 $((30 + late_ms))
		within "$what: mean" "$rtt_avg" 30 $((30 + late_ms))
		is "$what: nothing is lost" "$received" 300
		lab_down
	fi
	if row "jitter" "delay: 40ms, jitter: {uniform: 10ms}"; then
		within "$what: least" "$rtt_min" 29.9 $((35 + late_ms))
		within "$what: deviation" "$rtt_dev" 3 $((10 + late_ms))
		lab_down
	fi
	# Five standard deviations around what is expected.
	if row "loss" "loss: 20%"; then
		within "$what: received of 300" "$received" 205 275
		lab_down
	fi
	if row "duplication" "duplication: 20%"; then
		within "$what: duplicates of 300" "${duplicates:-0}" 25 95
		is "$what: nothing is lost" "$received" 300
		lab_down
	fi
	if row "corruption" "corruption: 30%"; then
		within "$what: received of 300" "$received" 170 260
		lab_down
	fi
	# By the ratio of RFC 4737 only the relay does it.
	if [ "$via" = relay ] && row "reordering" "delay: 30ms, reordering: 20%"; then
		within "$what: late of 300" "$late" 20 110
		is "$what: nothing is lost" "$received" 300
		lab_down
	fi
}

# The lab's own probes agree; once out of three tries is enough on a busy machine.
proof() {
	local try
	pair "prove" "rate: 10mbit, via: $via, ab: {delay: 20ms}" || return
	for try in 1 2 3; do
		run vpclab check --prove --quiet "$lab"
		[ "$status" != 0 ] || break
	done
	if [ "$status" = 3 ] || { [ "$status" = 1 ] && [ -n "${VPCLAB_SLOW:-}" ]; }; then
		has "$via: check --prove has a table" "$output" "delay"
		tap_skip "$via: check --prove" "this machine was too slow in $try tries"
	else
		is "$via: check --prove" "$status" 0
	fi
	lab_down
}

police() {
	pair "police" "police: {rate: 100kbit, burst: 3KiB}" || return
	passes "police: as planned" vpclab check "$lab"
	# shellcheck disable=SC2016 # expanded inside
	has "police: by the kernel's action" "$(for ns in a b wires; do
		on $ns sh -c 'for d in $(ls /sys/class/net); do
			for way in root ingress egress; do tc filter show dev "$d" "$way"; done; done'
	done 2>/dev/null)" "police"
	output=$(on a ping -q -i 0.01 -c 200 -W 1 -s 1400 10.9.0.2)
	within "police: received of 200 at more than its rate" \
		"$(sed -n 's/.*, \([0-9]*\) received.*/\1/p' <<<"$output")" 2 190
	lab_down
}

# A sender that paces itself; and check sees a foreign qdisc.
fair_queue() {
	local rate out server
	pair "fq" "rate: 100mbit" || return
	run on a tc qdisc replace dev e root fq
	if [ "$status" != 0 ]; then
		tap_skip "fq" "this kernel has no fq: $output"
		lab_down
		return
	fi
	run vpclab check "$lab"
	has "fq: check tells of it" "$output" "qdisc fq not planned"
	exec {out}< <(exec "$VPCLAB" exec "$lab:b" -- iperf3 -s -1 --forceflush 2>&1)
	server=$!
	while read -t 20 -r output <&"$out"; do
		case $output in "Server listening"*) break ;; esac
	done
	output=$(on a iperf3 -c 10.9.0.2 -t 4 --fq-rate 8M --json 2>&1)
	kill "$server" 2>/dev/null
	exec {out}<&-
	rate=$(jq -r '.end.sum_received.bits_per_second // empty' <<<"$output")
	within "fq: a sender paced to 8 Mbit/s" "${rate%.*}" 6000000 8800000
	lab_down
}

for via in relay netem; do
	if [ $via = netem ] && ! can netem; then
		tap_skip "impairments by netem" "this kernel has no netem"
		continue
	fi
	table
	proof
done
if can "matchall, act_police"; then
	police
else
	tap_skip "police by the kernel's action" "this kernel has no act_police or no matchall"
fi
fair_queue
finish
