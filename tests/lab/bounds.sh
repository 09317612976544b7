#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bounds: a measurement ends within its duration and 5 s, whatever its work: a file that never gets
# through, a server that stands still from the start of the drain, and what came by then is told.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq pgrep

run vpclab engine throughput --json --file-size 1TB --duration 1s
is "a file that is too large: exit status" "$status" 3
is "a file that is too large: marked, with the part that came" "$(jq -c '[.partial, .goodput_bps > 0,
	(.invalid | contains("a file of 1000000000000 bytes was not through")), .intervals[-1].t_s < 6]' \
	<<<"$output" 2>&1)" '[true,true,true,true]'
# Many files that fit: the duration ends them without a remark.
run vpclab engine throughput --json --file-size 100kB --duration 500ms
is "files that are through" "$(jq -c '[.partial, .invalid, .pps > 0]' <<<"$output" 2>&1)" '[false,null,true]'
# Without a duration, a file is waited for.
run vpclab engine throughput --json --file-size 20MB --count 3
is "a count is work, not time" "$(jq -c '[.partial, .invalid, .latency_ns.count]' <<<"$output" 2>&1)" '[false,null,3]'

# An end that stands still when the window is about to end: the driver gives it up by the clock.
began=$SECONDS
"$VPCLAB" engine tcp_stream --json --duration 3s --warmup 200ms >"$work/m.json" 2>"$work/errors" &
pid=$!
ends=()
for ((i = 0; i < 200 && ${#ends[@]} < 2; i++)); do
	mapfile -t ends < <(pgrep -P "$pid")
	sleep 0.05
done
sleep 2
held=$SECONDS
kill -STOP "${ends[0]}"
wait "$pid"
is "stopped near the end: exit status" $? 3
took=$((SECONDS - held)) # 1.2 s of the window, 5 s, 2 s for who must be killed
tap_result "stopped near the end: ends in time" "$([ $took -le 10 ] || echo "took $took s of $((SECONDS - began))")"
is "stopped near the end: what is known is a result, and marked" \
	"$(jq -c '[.partial, (.invalid | type)]' "$work/m.json")" '[true,"string"]'
finish
