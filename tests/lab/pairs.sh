#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# pairs: scripts on many pairs in labs: their sum against a link's rate, 10,000 at once, calls against
# the E-model's formula and the relay's own count of losses, seeds, and what is said of broken scripts.
# timeout: 240
# shellcheck disable=SC2016 # jq's variables
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=two.inc
. "$(dirname "$0")/two.inc"
need jq

json=$work/m.json

# pairs ARGUMENT…: from client to server; $json. A machine that was the limit is no error here.
pairs() {
	run vpclab measure "$lab:client" server pairs --json "$@"
	printf '%s\n' "$output" >"$json"
}

# holds NAME FILTER: the filter is true of $json; where it is not and the machine was the limit, a skip.
holds() {
	local limit
	[ "$(jq -r "$2" "$json" 2>&1)" = true ] && tap_result "$1" && return
	limit=$(jq -r 'if .fidelity.limit == "none" then "" else .fidelity.why end' "$json" 2>&1)
	if [ -n "$limit" ] && [ "${3:-}" = timing ]; then
		tap_skip "$1" "the machine was the limit: $limit"
	else
		tap_result "$1" "not so: $2"$'\n'"$(jq -c '.engine.detail' "$json" 2>&1 || cat "$json")"
	fi
}

# What they do together on a link is what the link carries: 1448 bytes of each frame of 1514.
link rate "rate: 100mbit, basis: l2, queue: 20ms" || finish
for _ in 1 2 3; do
	pairs --script throughput --var pairs=8 --var file_size=500kB --duration 3s
	jq -e '.engine.goodput_bps / (1e8 * 1448 / 1514) - 1 | fabs < 0.01' "$json" >/dev/null && break
done
holds "8 pairs fill the link" '.engine.goodput_bps / (1e8 * 1448 / 1514) - 1 | fabs < 0.01' timing
holds "pairs add up to the group" '.engine | ([.pairs[].bytes] | add) == .detail.groups[0].bytes'
holds "the total is bytes over time" '.engine.detail.total |
	.throughput_bps * .elapsed_s / 8 - .bytes | fabs < 1'
holds "intervals add up to what was received" '.engine |
	([.intervals[].bytes] | add) - .client.bytes - .server.bytes | fabs < 100'
holds "what is paced is not faster" '.engine.goodput_bps <= 1e8'
pairs --script throughput_paced --var pairs=4 --var send_data_rate=2mbit --duration 3s
holds "4 pairs of 2 Mbit/s are 8 Mbit/s" \
	'.engine.detail.total.throughput_bps / 8e6 - 1 | fabs < 0.03' timing
pairs --script throughput --duration 1s --ipv6 --var pairs=2
holds "IPv6, TCP" '.engine.detail | .failed == 0 and .total.records > 0'
pairs --script udp_stream --duration 1s --ipv6 --var pairs=3
holds "IPv6, UDP: all arrives" '.engine.detail.total | .sent > 0 and .lost == 0'
holds "UDP is counted as a flow of its own" '.counted.truths == "agree"'

# As many pairs as may be, each with a connection of its own.
cat >"$work/many.yaml" <<-END
	version: 1
	end: all
	duration: 60s
	groups:
	- pairs: 10000
	  commands: [connect, start_timer, {send: 1000}, {receive: 1000}, end_timer, {sleep: 100ms}]
END
pairs --script "$work/many.yaml"
if [ "$status" = 0 ] || [ "$status" = 3 ]; then
	holds "10,000 pairs: all complete" '.engine.detail | .complete == 10000 and .ended_by == "all"'
	holds "10,000 pairs: to the byte" '.engine.detail.total.bytes == 20000000'
	holds "10,000 pairs: the 10 worst are shown" '.engine.pairs | length == 10'
	holds "10,000 pairs: 48 MB at each end are enough" \
		'.engine | [.client.memory_bytes, .server.memory_bytes] | max < 48e6'
else
	has "10,000 pairs: why not" "$output" "descriptors"
fi

# Too few descriptors: said before anything is measured. Root could raise the limit.
# shellcheck disable=SC2317 # called by fails_with
few() {
	local without=()
	[ "$(id -u)" != 0 ] || without=(setpriv "--bounding-set=-sys_resource")
	(ulimit -n 900 && exec ${without[@]+"${without[@]}"} "$VPCLAB" "$@")
}
fails_with 1 "10,000 pairs, 900 descriptors" few engine pairs --script "$work/many.yaml"
has "10,000 pairs, 900 descriptors: said so" "$output" "10000 pairs need 10032 descriptors; the limit is 900"

# The same seed gives the same sizes; another one others.
cat >"$work/random.yaml" <<-END
	version: 1
	end: all
	duration: 30s
	variables: {size: {exponential: 20kB}}
	groups:
	- pairs: 20
	  validate: true
	  commands: [connect, {loop: {count: 5, do: [start_timer, {send: size}, {receive: size}, end_timer]}}]
END
bytes=()
for seed in 7 7 8; do
	pairs --script "$work/random.yaml" --seed $seed
	bytes+=("$(jq .engine.detail.total.bytes "$json")")
done
is "same seed, same bytes" "${bytes[1]}" "${bytes[0]}"
is "another seed, other bytes" "$([ "${bytes[2]}" != "${bytes[0]}" ] && echo other)" other

# All that is shipped runs.
for script in scenarios/scripts/*.yaml; do
	pairs --script "$(basename "$script" .yaml)" --duration 1500ms
	holds "$(basename "$script" .yaml) runs" '.engine.detail |
		.failed == 0 and .groups[0].records > 0'
done

# What is wrong is named, with its place.
cat >"$work/bad.yaml" <<-END
	version: 1
	groups:
	- pairs: 2
	  commands:
	  - connect
	  - start_timer
	  - sned: 10kB
	  - end_timer
END
fails_with 2 "an unknown command" vpclab measure "$lab:client" server pairs --script "$work/bad.yaml"
has "an unknown command: place and suggestion" "$output" \
	"bad.yaml:7:5: unknown command 'sned'; did you mean 'send'?"
sed -i 's/sned: 10kB/send: 10kb/' "$work/bad.yaml"
fails_with 2 "a bad size" vpclab measure "$lab:client" server pairs --script "$work/bad.yaml"
has "a bad size: place" "$output" "bad.yaml:7:11: '10kb'"
fails_with 2 "an unknown variable" vpclab measure "$lab:client" server pairs --script voip \
	--var codek=g729
has "an unknown variable: suggestion" "$output" "did you mean 'codec'?"
fails_with 2 "an unknown script" vpclab measure "$lab:client" server pairs --script thruoghput
has "an unknown script: suggestion" "$output" "did you mean 'throughput'?"
fails_with 2 "no YAML" vpclab measure "$lab:client" server pairs --script <(echo 'a: [')
fails_with 2 "another test" vpclab measure "$lab:client" server tcp_stream --script voip
lab_down

# Calls: what the result says of each is the formula's, and losses are the relay's, to the packet.
link calls "delay: 60ms, ab: {loss: 3%}, seed: 7" || finish
pairs --script voip --var pairs=10 --var codec=g729 --var jitter_buffer=60ms --duration 4s
holds "R of each call is the E-model's" '[.engine.pairs[] |
	(.delay_ns / 1e6 + 20 + 5 + 60) as $d |
	(100 * (.lost + .jitter_buffer_lost) / .sent) as $p |
	(93.2 - 0.024 * $d - (if $d > 177.3 then 0.11 * ($d - 177.3) else 0 end)
		- 11 - 84 * $p / ($p + 19) - .r_value) | fabs < 1e-6] | all and length == 10'
holds "MOS of each call is that of its R" '[.engine.pairs[] | .r_value as $r |
	1 + 0.035 * $r + $r * ($r - 60) * (100 - $r) * 7e-6 - .mos | fabs < 1e-6] | all'
holds "the delay is the link's" '.engine.detail.total.delay_min_ns / 6e7 - 1 | . >= 0 and . < 0.01' timing
holds "losses are those of the relay" '.engine.detail.total |
	.lost > 0 and .loss > 0.01 and .loss < 0.06 and .max_consecutive_lost >= 1'
lab_down
finish
