#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# latency: udp_latency against what is known: a freeze of the link, of the server and of the client
# against the formula, one-way delays of a link whose ways differ, losses against the relay's own
# log. Tools that wait for each answer see one late probe of a freeze, half the round trip both
# ways, and after the first loss the length of the run.
# timeout: 300
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq python3 pgrep

topology() { # FILE LINE…: two nodes and one link through the relay
	{
		cat <<'END'
version: 1
nodes:
  a: {addresses: [10.9.0.1/24]}
  b: {addresses: [10.9.0.2/24]}
links:
  - endpoints: ["a:eth0", "b:eth0"]
    via: relay
    seed: 5
END
		printf '    %s\n' "${@:2}"
	} >"$1"
}

# pid_of NAME FROM: the processes with that name below the process FROM.
pid_of() {
	local pid
	for pid in /proc/[0-9]*; do
		pid=${pid#/proc/}
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] || continue
		local up=$pid
		while [ "${up:-0}" -gt 1 ] && [ "$up" != "$2" ]; do
			up=$(sed -n 's/^PPid:\t//p' "/proc/$up/status" 2>/dev/null)
		done
		[ "$up" != "$2" ] || echo "$pid"
	done
}

cat >"$work/freeze.py" <<'END'
import os, signal, sys, time
pids, seconds = [int(p) for p in sys.argv[2:]], float(sys.argv[1])
began = time.monotonic_ns()
for p in pids: os.kill(p, signal.SIGSTOP)
time.sleep(seconds)
for p in pids: os.kill(p, signal.SIGCONT)
print(time.monotonic_ns() - began)
END

# formula FROZEN_NS JSON: by how much, as a share, p99 differs from what a freeze of that length in
# a window of 5 s makes of probes that leave by the clock: F · (1 − 0.01 / (F / W)).
formula() {
	jq --argjson frozen "$1" '.engine // . | .latency_ns.p99 / ($frozen - 0.01 * 5e9) - 1' "$2"
}

share() {
	jq '.engine // . | .detail.deadline | map(select(.within_ms == 100))[0].share
		| . > 0.9 and . < 0.93' "$work/frozen.json"
}

# told: p99 and the share are as they should be, so no other try is needed.
told() {
	[ "$(jq -n "$off | fabs < 0.02") $(share)" = "true true" ]
}

# busy FILE [KIND]: how the machine disturbed it, if it did: what the harness says, or how late a
# program that nobody froze was.
busy() {
	jq -r --arg kind "${2:-timer_error}" '(.engine // .).detail as $d
		| if (.fidelity.limit // "none") != "none" then .fidelity.why
		  else ({timer_error: $d.timer_error, server: $d.host.server_receive}[$kind].max / 1e6)
			| if . > 5 then "a program was \(.) ms late" else "" end
		  end' "$1"
}

# unless_busy NAME GOT WHY: it is true; or it says nothing.
unless_busy() {
	if [ "$2" != true ] && [ -n "$3" ]; then
		tap_skip "$1" "the machine was the limit: $3"
	else
		is "$1" "$2" true
	fi
}

# judge NAME KIND: $frozen and $work/frozen.json, after up to three tries.
judge() {
	local why
	why=$(busy "$work/frozen.json" "$2")
	is "$1: 5000 probes, all answered, none left out" \
		"$(jq -c '.engine // . | [.detail.sent, .lost, .latency_ns.count]' "$work/frozen.json")" \
		"[5000,0,5000]"
	unless_busy "$1: p99 is within 2 % of the formula" "$(jq -n "$off | fabs < 0.02")" "$why"
	# Of 500 ms, 400 are longer than 100 ms before the end: 8 % of the probes.
	unless_busy "$1: as many probes are late as were due meanwhile" "$(share)" "$why"
	echo "# $1: frozen for $((frozen / 1000000)) ms, p99 off by $off"
}

# --- a link that stands still: whoever waits for answers sends nothing meanwhile
topology "$work/still.yaml" "delay: 1ms"
lab_up still "$work/still.yaml" || finish
supervisor=$(vpclab ls --json | jq --arg name "$lab" '.labs[] | select(.name == $name).pid')
relay=$(pid_of vpclab-relay "$supervisor")
for _ in 1 2 3; do
	"$VPCLAB" measure "$lab:a" b udp_latency --duration 5s --warmup 500ms --json \
		>"$work/frozen.json" 2>"$work/frozen.err" &
	pid=$!
	sleep 3
	frozen=$(python3 "$work/freeze.py" 0.5 "$relay")
	wait $pid
	off=$(formula "$frozen" "$work/frozen.json")
	told && break
done
judge "a frozen link" timer_error
is "a frozen link: it is the path, not the hosts" "$(jq '.engine.detail
	| .forward.path.p99 > 4e8 and .host.server_receive.p90 < 5e7' "$work/frozen.json")" true
lab_down

# --- one end stands still: the same, since what was due was due
kind=timer_error place=0
for end in server client; do # in the order in which `engine` makes them
	for _ in 1 2 3; do
		"$VPCLAB" engine udp_latency --duration 5s --warmup 500ms >"$work/frozen.json" &
		pid=$!
		sleep 3
		mapfile -t workers < <(pgrep -P $pid | sort -n)
		frozen=$(python3 "$work/freeze.py" 0.5 "${workers[$place]}")
		wait $pid
		off=$(formula "$frozen" "$work/frozen.json")
		told && break
	done
	judge "a frozen $end" "$kind"
	kind=server place=1
done
unless_busy "a frozen client: the schedule's error is told apart" "$(jq '.detail
	| .timer_error.p99 > 4e8 and .round_trip.sent.p99 < .round_trip.due.p99 / 2' \
	"$work/frozen.json")" "$(busy "$work/frozen.json" server)"

# --- each way has its own delay, and half of the round trip is nobody's
topology "$work/ways.yaml" "ab: {delay: 9ms}" "ba: {delay: 1ms}" "delay: 0s"
lab_up ways "$work/ways.yaml" || finish
for _ in 1 2 3; do
	vpclab measure "$lab:a" b udp_latency --duration 2s --warmup 500ms --schedule poisson --seed 9 \
		--json >"$work/ways.json" 2>"$work/ways.err"
	jq -e '.engine.delay_ns.p50 < 9.4e6 and .engine.detail.back.delay.p50 < 1.4e6' \
		"$work/ways.json" >/dev/null && break
done
is "9 ms there and 1 ms back: never less" "$(jq '.engine.detail
	| [.forward.delay.min >= 9e6, .forward.path.min >= 9e6, .back.delay.min >= 1e6,
	   .back.path.min >= 1e6] | all' "$work/ways.json")" true
unless_busy "9 ms there and 1 ms back: hardly more" "$(jq '.engine.detail
	| .forward.delay.p50 < 9.4e6 and .back.delay.p50 < 1.4e6' "$work/ways.json")" \
	"$(busy "$work/ways.json")"
is "the clock is one, and said so" "$(jq -c .engine.detail.clock "$work/ways.json")" \
	'{"shared":true,"comparable":true}'
is "the parts are the whole: program, driver, path, driver, program" "$(jq '.engine.detail
	| (.host.client_send.mean + .forward.path.mean + .host.server_receive.mean + .host.turnaround.mean
	   + .host.server_send.mean + .back.path.mean + .host.client_receive.mean)
	  / .round_trip.sent.mean - 1 | fabs < 0.02' "$work/ways.json")" true
is "the path there and back, without the hosts" "$(jq '.engine.detail
	| .round_trip.less_host.min >= 10e6 and
	  (.round_trip.less_host.mean / (.forward.path.mean + .back.path.mean) - 1 | fabs < 0.02)' \
	"$work/ways.json")" true
is "a Poisson schedule, its mean rate, its seed" "$(jq -c '.engine
	| [.detail.schedule, .seed, (.detail.sent > 1800 and .detail.sent < 2200)]' "$work/ways.json")" \
	'["poisson",9,true]'
is "a histogram that has all of them" "$(jq '.engine.detail.histogram.round_trip
	| [.buckets[][1]] | add' "$work/ways.json")" "$(jq .engine.latency_ns.count "$work/ways.json")"
is "no quantile that the samples do not support" \
	"$(jq -c '[.engine.detail.round_trip.due | .p99 != null, .p9999]' "$work/ways.json")" "[true,null]"
lab_down

# --- losses: survivors keep their time, and each way has its own, to the packet
topology "$work/loss.yaml" "delay: 1ms" "loss: 1%" "duplication: 1%"
lab_up loss "$work/loss.yaml" || finish
vpclab measure "$lab:a" b udp_latency --duration 3s --warmup 0s --json >"$work/loss.json" \
	2>"$work/loss.err"
unless_busy "1 % lost: the survivors' time is the path's" \
	"$(jq '.engine.latency_ns | .min >= 2e6 and .p50 < 4e6' "$work/loss.json")" \
	"$(busy "$work/loss.json")"
is "sent, answered and lost add up" "$(jq '.engine.detail
	| .sent == .answered + .lost and .lost == .forward.lost + .back.lost and .lost > 20' \
	"$work/loss.json")" true
is "what is lost is in no time at all" "$(jq '.engine.detail
	| .deadline[-1].share - .answered / .sent | fabs < 1e-9' "$work/loss.json")" true
# Probes and answers have 64 bytes, all else that passes is shorter.
is "each way's losses and duplicates are those of the relay's log" "$(jq -c '.engine.detail
	| [.forward, .back] | map([.lost, .duplicated])' "$work/loss.json")" \
	"$(vpclab fate "$lab:a-b" --json | jq -s -c 'map(select(.frame_bytes == 106)) | [
		["ab", "ba"][] as $way | map(select(.direction == $way))
		| [(map(select(.fate == "lost")) | length), (map(select(.copy)) | length)]]')"
lab_down

fails_with 2 "a probe too short for its time" vpclab engine udp_latency --size 8
has "says what fits" "$output" "size: a probe has 20 to 65507 bytes"
fails_with 2 "an answer too short for the server's times" vpclab engine udp_latency --response-size 1
has "says why" "$output" "response_size: an answer has 60 to 65507 bytes"
finish
