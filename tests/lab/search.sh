#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# search: `vpclab search` against links whose answer is arithmetic. Where the machine bounds a search
# (status 3) nothing is known of the path: a skip with its reason, but never a figure above the truth.
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=two.inc
. "$(dirname "$0")/two.inc"
need jq

# search ARGUMENT…: JSON in $work/out, sets status.
search() {
	vpclab search "$lab:client" server "$@" --quiet --json >"$work/out" 2>"$work/err"
	status=$?
}

# judge NAME JQ: true of $work/out; a skip where the machine was the limit (status 3).
judge() {
	if [ "$status" = 3 ]; then
		tap_skip "$1" "the machine was the limit: $(jq -c '[.. | .why? // empty] | unique' "$work/out")"
	else
		is "$1: status $(<"$work/err")" "$status" 0
		is "$1" "$(jq "$2" "$work/out" 2>&1)" true
	fi
}

# A card that carries 400 packets/s: more is lost, less is not. Its queue is short, so that a short
# trial sees it; with the packets that a rested shaper lets through at once it is about 26 of them.
if vnic pps "pps: 400pps, queue: 2KiB"; then
	search throughput --frames 256,512 --duration 1s --most 600pps --resolution 1%
	judge "throughput: 400 packets/s of any size" '[.frames[].throughput.goals[0] |
		.complete and .lower_pps > 390 and .upper_pps < 440] | all'
	is "throughput: nothing is claimed above what the card carries" \
		"$(jq '[.frames[].throughput.goals[0].lower_pps // 0] | max < 440' "$work/out")" true
	is "throughput: sizes" "$(jq -c '[.frames[] | .frame_bytes, .payload_bytes]' "$work/out")" \
		"[256,210,512,466]"
	is "throughput: each trial is there" "$(jq '[.frames[].throughput.trials[] |
		has("offered_pps") and has("lost_packets") and has("valid")] | all and length > 4' "$work/out")" true

	search ndr --frames 256 --duration 1s --initial 300ms --most 600pps --resolution 2% \
		--goal NDR=0% --goal half=30%
	judge "two goals: none lost, and three in ten" '[.goals[].lower_pps] |
		.[0] > 385 and .[0] < 440 and .[1] > 540 and .[1] < 620'

	# In half a second 200, and after a rest 26 at once and the 16 of the queue: of 500 more than
	# half is lost, of 250 some are, of 200 none.
	search frame-loss --frames 128 --duration 500ms --most 1000pps
	judge "frame loss rate: what is more than the rate, until two without" '.frames[0].frame_loss_rate |
		(.[0].loss_share > 0.5 and .[0].loss_share < 0.62) and .[-1].lost_packets == 0 and
		.[-2].lost_packets == 0 and .[-3].lost_packets > 0 and length == 8'

	lab_down
fi

# Each trial is a flow of its own. A card that takes no more of them turns away every packet: that is
# no fault of the machine's, and no trial after it would end otherwise.
if vnic full "connections: 1"; then
	run vpclab measure "$lab:client" server udp_stream --packets 100pps --size 64 -d 200ms --warmup 0 -q
	search frame-loss --frames 128 --duration 200ms --most 400pps
	is "refused flows: nothing is concluded" "$status" 3
	is "refused flows: the reason, and the end of it" "$(jq -c '.frames[0].frame_loss_rate |
		[length, .[-1].valid, .[-1].tries, (.[-1].why // "" | test("refused each of"))]' \
		"$work/out")" '[1,false,1,true]'
	search throughput --frames 128 --duration 200ms --most 400pps
	is "refused flows: no search goes on" "$(jq -c '.frames[0].throughput |
		[.goals[0].bounded_by, (.trials | length), (.goals[0].why | test("refused each of"))]' \
		"$work/out")" '["refused",1,true]'
	lab_down
fi

# 12 connections may be there at the same time, on a card that has had none before: what the kernel
# still remembers of earlier ones counts too. Those that cannot be made take their time.
if vnic cap "connections: 12"; then
	search connections --duration 200ms --warmup 0 --most 14
	is "connections: as many as the card allows" \
		"$status $(jq -c '[.works, .fails]' "$work/out") $(<"$work/err")" "0 [12,13] "
	is "connections: the kernel is asked" \
		"$(jq '[.points[] | select(.error) | .evidence] | all(. == null or test("tracks"))' "$work/out")" true
	lab_down
fi

if link path "rate: 10mbit, delay: 10ms"; then
	search rfc6349 --duration 1s
	judge "rfc6349: the round trip, the bottleneck, and what a quarter of the window gives" '
		(.baseline_rtt_ns / 2e7 > 1) and (.baseline_rtt_ns / 2e7 < 1.1) and
		(.bottleneck_bps / 9.415e6 - 1 | fabs < 0.03) and .path_mtu_bytes == 1500 and
		.segment_mtu_bytes == 1500 and .path_mtu_why == null and
		(.windows[0].transfer_time_ratio > 3) and (.windows[0].transfer_time_ratio < 6) and
		(.windows[2].transfer_time_ratio < 1.3) and (.windows | length == 5) and
		(.windows[4].efficiency_share > 0.9)'
	search saturate tcp_rr --duration 300ms --warmup 50ms --most 16 --repeat 95%,5%,3
	is "saturate: a long way carries ever more connections" \
		"$status $(jq -r '.end + " " + (.streams | tostring)' "$work/out")" "3 open 16"
	is "saturate: about as many times one" \
		"$(jq '.figure / .single > 10 and .figure / .single < 17' "$work/out")" true
	lab_down
fi

# One stream fills a slow link; more bring nothing.
if link flat "rate: 5mbit"; then
	search saturate tcp_stream --duration 500ms --warmup 200ms --most 8 --repeat 95%,5%,3
	judge "saturate: one stream fills a link" \
		'.end == "flat" and .streams == 1 and (.points | length <= 4) and .metric == "goodput"'
	run vpclab search "$lab:client" server saturate tcp_stream --duration 300ms --most 4 --repeat 95%,5%,3
	has "saturate: says so in words" "$output" "one stream gives all"

	wrong() { # NAME WORDS ARGUMENT…
		run vpclab search "$lab:client" server "${@:3}"
		is "$1: status 2" "$status" 2
		has "$1: says why" "$output" "$2"
	}
	wrong "method" "did you mean 'rfc2544'?" rfc2545
	wrong "no test" "needs a test" saturate
	wrong "a test too many" "takes no test" ndr tcp_rr
	wrong "not a figure" "tcp_rr or udp_rr" connections tcp_stream
	wrong "goal" "write it like pdr=0.5%" ndr --goal 5
	wrong "frames" "less than a frame of Ethernet" throughput --frames 12
	wrong "rate" "--most is its upper end" throughput --packets 1kpps
	wrong "repeat" "write it like 99%,2.5%" saturate tcp_rr --repeat 5
	lab_down
fi

# Ctrl-C in the middle: the trials so far, and status 3.
if vnic stop "pps: 1kpps"; then
	"$VPCLAB" search "$lab:client" server throughput --most 3kpps --duration 1s --json \
		>"$work/out" 2>"$work/err" &
	pid=$!
	for _ in {1..300}; do
		[ "$(wc -l <"$work/err")" -ge 2 ] && break
		sleep 0.1
	done
	kill -INT $pid
	wait $pid
	is "interrupted: status 3" "$?" 3
	is "interrupted: says so, with what is known" \
		"$(jq '.interrupted and (.frames | length == 1) and .complete == false' "$work/out")" true
	lab_down
fi
finish
