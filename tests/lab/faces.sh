#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# faces: one measurement in all forms that it is printed in, and what it says beside the figure. No
# rate is compared with anything but itself: a busy machine changes none of this.
# timeout: 240
# beside: no figure is compared with anything but itself
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

lab_up faces topologies/flat.yaml || finish
quick=(-d 1s -w 200ms -i 200ms)

run vpclab measure "$lab:client" server tcp_stream "${quick[@]}" --size 64
is "small writes: measured" "${status/3/0}" 0
output=$(tr -s ' \n' ' ' <<<"$output") # lines are broken where they are full
has "messages, segments and packets side by side" "$output" "writes a second,"
has "segments of TCP" "$output" "TCP segments,"
has "packets of the card" "$output" "packets at the receiver's card"
has "the puzzle of small writes is explained" "$output" "this is no figure of 64-byte packets"
has "what TCP_NODELAY would change" "$output" "TCP_NODELAY"
has "what would measure such packets" "$output" "udp_stream --size 64"
has "what held the rate" "$output" " limit "
has "CPU of both ends" "$output" "both share one machine"

vpclab measure "$lab:client" server tcp_stream "${quick[@]}" --json >"$work/tcp.json"
is "the intervals' bytes are the total's" "$(jq '.engine |
	([.intervals[].bytes] | add) == .server.bytes' "$work/tcp.json")" true
is "TCP's own figures in each interval" "$(jq '[.engine.intervals[] | [.retransmits, .rtt_us,
	.rttvar_us, .cwnd, .bytes_acked, .data_segs_out, .delivery_bps, .busy_us, .rwnd_limited,
	.sndbuf_limited, .reord_seen, .dsack_dups] | all(type == "number")] | all' "$work/tcp.json")" true
is "the limit is one of its words, with evidence" "$(jq '.engine |
	(.limit | IN("link", "sender", "receiver", "schedule", "window", "")) and
	(.limit_why | length > 10)' "$work/tcp.json")" true
is "both machines are described" "$(jq '[.engine.machines | .client, .server |
	[.kernel, .vpclab, .congestion_available, .device] | all(type == "string")] | all' \
	"$work/tcp.json")" true
is "the device's offloads" "$(jq '.engine.machines.client.offloads.tso | type' "$work/tcp.json")" '"boolean"'
is "CPU time of each thread" "$(jq '.engine.client.threads[0].cpu_s > 0' "$work/tcp.json")" true

vpclab measure "$lab:client" server tcp_stream "${quick[@]}" --csv >"$work/a.csv"
is "CSV: a header, five intervals, a total" "$(wc -l <"$work/a.csv")" 7
is "CSV: all rows have as many fields" "$(awk -F, '{print NF}' "$work/a.csv" | sort -u | wc -l)" 1
is "CSV: intervals add up to the total" "$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) c[$i] = i; next}
	$c["kind"] == "total" {total = $c["bytes"]} $c["kind"] == "interval" {sum += $c["bytes"]}
	END {print sum - total}' "$work/a.csv")" 0
has "CSV: times are ISO 8601" "$(sed -n 2p "$work/a.csv")" "$(date -u +%Y-%m-%dT)"

run vpclab measure "$lab:client" server tcp_rr "${quick[@]}" --format netperf
has "netperf's names" "$output" "THROUGHPUT_UNITS=Trans/s"
has "netperf's latencies" "$output" "P90_LATENCY="
has "netperf's service demand" "$output" "LOCAL_SD="
is "nothing else between them" "$(grep -cv '^[A-Z0-9_]*=' <<<"$output")" 0

run vpclab measure "$lab:client" server tcp_bidir "${quick[@]}" --format lines
has "lines: iperf's header" "$output" "[ ID] Interval           Transfer     Bitrate"
is "lines: both ways in each interval" "$(grep -c '^\[S-C\].*us$' <<<"$output")" 5
has "lines: the receiver of a way" "$output" "receiver"
is "lines: the receiver is first" "$(grep -o 'receiver$\|sender$' <<<"$output" | head -n 1)" receiver

run vpclab measure "$lab:client" server udp_stream "${quick[@]}" -p 2000pps --format lines
has "lines: datagrams" "$output" "Lost/Total Datagrams"
run vpclab measure "$lab:client" server udp_latency "${quick[@]}"
has "what only one test finds is shown" "$output" "round trip.due"
run vpclab measure "$lab:client" server tcp_stream --format netprf
is "an unknown face is bad input" "$status" 2

if command -v script >/dev/null; then
	script -qec "\"$VPCLAB\" measure $lab:client server tcp_stream ${quick[*]}" "$work/tty" >/dev/null
	has "intervals on a terminal while it runs" "$(<"$work/tty")" "Cwnd"
fi

run vpclab engine tcp_rr "${quick[@]}" --format csv
has "the engine alone has the same faces" "$output" "transactions_per_s"
vpclab engine tcp_stream "${quick[@]}" --steady >"$work/steady.json"
is "what a steady part leaves out is said" "$(jq '(.cut_s == 0) or (.steady_why | length > 0)' \
	"$work/steady.json")" true

run vpclab help tests
for test in tcp_stream tcp_maerts tcp_bidir tcp_sendfile udp_stream udp_maerts udp_bidir udp_multicast \
	tcp_rr udp_rr tcp_crr tcp_cc udp_latency throughput pairs path_check; do
	has "help tests: $test" "$output" $'\n'"  $test "
done

cat >"$work/all.yaml" <<YAML
version: 1
topology: $top/topologies/flat.yaml
paths:
  there: {from: client, to: server}
measure:
  crr: {test: tcp_crr, streams: 10000, ports: 4, close: fin, timeout: 1s}
  probes: {test: udp_latency, rate: 2kpps, gaps: poisson, seed: 7}
  back: {test: tcp_maerts, discard: true, steady: true, mss: 1000, io: zerocopy}
  datagrams: {test: udp_bidir, rate: 1kpps, burst: 4, threads: 2}
  many: {test: tcp_rr, outstanding: 8, spin: true, size: [100, 1000]}
expect:
  - crr.tps of there above 1
  - probes.delay.p99 of there below 1s
  - back.coalescing of there above 0
  - datagrams.back.pps of there above 1pps
YAML
run vpclab validate "$work/all.yaml"
is "a scenario may say all of it" "$status" 0
run vpclab validate - <<<"$(sed 's/close: fin/burst: 3/' "$work/all.yaml")"
has "what a test does not have is an error" "$output" "'burst' means nothing to tcp_crr"

run vpclab measure "$lab:client,server" server,client tcp_rr "${quick[@]}" --csv
is "CSV of several pairs has one header" "$(grep -c '^time,from' <<<"$output")" 1
lab_down

# What held the rate, where the truth is known.
cat >"$work/line.yaml" <<YAML
version: 1
nodes:
  a: {addresses: [10.9.0.1/24]}
  b: {addresses: [10.9.0.2/24]}
links:
  - {endpoints: ["a:eth0", "b:eth0"], rate: 20mbit, delay: 20ms}
YAML
lab_up line "$work/line.yaml" || finish

# limit TEST [OPTION]…: sets $output to the limit, $why to its evidence; file $work/limit.json.
limit() {
	vpclab measure "$lab:a" b "$@" "${quick[@]}" --json >"$work/limit.json" 2>"$work/limit.err"
	output=$(jq -r .engine.limit "$work/limit.json")
	why=$(jq -r .engine.limit_why "$work/limit.json")
}
reached='(.engine.goodput_bps >= 0.97 * .predicted.low_bps)'
limit tcp_stream --rcvbuf 16KiB
is "a small receive buffer: the window" "$output" window
has "a small receive buffer: the share of time" "$why" "% of the time"
limit tcp_stream
is "what the model predicts is the link's, and else it is not" \
	"$(jq "$reached == ((.engine.limit == \"link\") and (.engine.limit_why | contains(\"predicts\")))" \
		"$work/limit.json")" true
limit udp_stream -r 40mbit
is "more datagrams than it carries: the link, or a sender without time" \
	"$(jq '.engine.limit | IN("link", "sender", "schedule")' "$work/limit.json")" true
limit udp_stream -p 200pps
is "fewer than it carries: the schedule, or a sender without time" \
	"$(jq '.engine.limit | IN("schedule", "sender")' "$work/limit.json")" true
limit tcp_rr
has "a closed loop waits for its answers" "$output $why" "waits for its answer"
lab_down
finish
