#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# engines: how our measuring engines compare with the field's tools on this machine, in one run.
#
#   tests/bench/engines.sh [-b BUILD] [-n PAIRS] [-d SECONDS] [-N DIR] [GROUP]…    (make bench-engines)
#
# Groups: bulk, small, rr, many, crr, freeze, pacing. Prints Markdown. Two machines on one unshaped
# link; every tool runs in the same two nodes. The tools take turns, PAIRS (7) times each, so that a
# slow minute meets all of them; medians, and the median of the ratios of each turn. Ratios below 1.15
# (1.3 for bulk TCP) are called ties. Placement is fixed and named in each row: "0" and "1" are the
# first two CPUs that may be used. netperf is looked for in DIR (its src folder) and in PATH; tools
# that are not there are left out, and said. What counts packets is the same for all: datagrams
# delivered to sockets by the kernel of the receiving node, in the middle of the run.
# Never part of pass or fail: it wants a quiet machine. tests/bench/README.md keeps the last table.
set -u
cd "$(dirname "$0")/../.." || exit 2
BUILD=build pairs=7 seconds=2 netperf_dir=
while getopts b:n:d:N: option; do
	case $option in
	b) BUILD=$OPTARG ;;
	n) pairs=$OPTARG ;;
	d) seconds=$OPTARG ;;
	N) netperf_dir=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
vpclab=$BUILD/vpclab
[ -x "$vpclab" ] || { echo "engines: $vpclab is not built" >&2; exit 2; }
[ -z "$netperf_dir" ] || PATH=$PATH:$netperf_dir
work=$(mktemp -d)
(umask 077 && openssl rand -hex 32 >"$work/key")
lab=bench-engines-$$
servers=()
# shellcheck disable=SC2317 # called by trap
finish() {
	stop_servers
	"$vpclab" down $lab >/dev/null 2>&1
	"$vpclab" down $lab-big >/dev/null 2>&1
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

have() { command -v "$1" >/dev/null; }
on() { "$vpclab" exec "$lab:$1" -- "${@:2}"; }

up() { # MTU
	cat >"$work/lab.yaml" <<-END
		version: 1
		name: bench
		nodes:
		  a: {kind: machine, addresses: [10.0.0.1/24, "fd00::1/64"]}
		  b: {kind: machine, addresses: [10.0.0.2/24, "fd00::2/64"]}
		links:
		  - {endpoints: ["a:eth1", "b:eth1"], mtu: $1}
	END
	"$vpclab" up "$work/lab.yaml" --name $lab >/dev/null
}

# serve CPU COMMAND…: a tool's server in node b, until stop_servers. It runs in the foreground there.
serve() {
	on b taskset -c "$1" "${@:2}" >/dev/null 2>&1 &
	servers+=($!)
}
# Their listening sockets: seen, not slept for.
listening() { # tcp|udp PORT
	local i
	for ((i = 0; i < 100; i++)); do
		on b ss -H -n -l "--$1" "sport = :$2" | grep -q . && return
		sleep 0.05
	done
	return 1
}
stop_servers() {
	local pid
	for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null; done
	for pid in "${servers[@]}"; do wait "$pid" 2>/dev/null; done
	servers=()
}

start_servers() { # CPU
	serve "$1" iperf3 -s && listening tcp 5201
	have iperf && serve "$1" iperf -s && listening tcp 5001
	have iperf && serve "$1" iperf -s -u -U -p 5002 && listening udp 5002
	have qperf && serve "$1" qperf && listening tcp 19765
	have sockperf && serve "$1" sockperf server -p 11111 && listening udp 11111
	serve "$1" "$vpclab" engine --listen 10.0.0.2:5999 --key "$work/key" && listening tcp 5999
	have netserver && serve "$1" netserver -D && listening tcp 12865
	return 0
}

ours() { # FILTER ARGUMENT…
	"$vpclab" measure "$lab:a" b "${@:2}" --duration "${seconds}s" --warmup 500ms --json \
		2>>"$work/err" | jq -r "$1"
}
client() { on a taskset -c "$cpu" "$@" 2>/dev/null; }

# ---- one figure each; empty where the tool is not there or failed ----

bulk_ours() { ours '.engine.goodput_bps / 1e9' tcp_stream --cpus "$place" --streams "$1"; }
bulk_spread() { ours '.engine.goodput_bps / 1e9' tcp_stream --cpus spread --streams "$1"; }
bulk_discard() { ours '.engine.goodput_bps / 1e9' tcp_stream --cpus "$place" --streams "$1" --discard --threads "$1"; }
bulk_iperf3() { client iperf3 -c 10.0.0.2 -t "$seconds" -P "$1" -J | jq -r '.end.sum_received.bits_per_second / 1e9'; }
bulk_iperf() { client iperf -c 10.0.0.2 -t "$seconds" -P "$1" -y C | tail -1 | awk -F, '{ print $9 / 1e9 }'; }
bulk_qperf() { [ "$1" = 1 ] && client qperf -t "$seconds" 10.0.0.2 tcp_bw | awk '/bw  =/ { print $3 * ($4 ~ /^GB/ ? 8 : $4 ~ /^MB/ ? .008 : .000008) }'; }
bulk_netperf() {
	local i
	for ((i = 0; i < $1; i++)); do
		client netperf -H 10.0.0.2 -l "$seconds" -t TCP_STREAM -P 0 &
	done | awk '{ sum += $5 } END { if (sum) print sum / 1e3 }'
	wait
}

# Datagrams a second (in thousands) that the kernel of b delivers while the command runs: of readings
# four times a second, the median of those in which it was at work (some tools need seconds to begin).
delivered() {
	"$@" >/dev/null 2>&1 &
	local run=$!
	while kill -0 $run 2>/dev/null; do
		snapshot
		sleep 0.25
	done >"$work/readings"
	wait $run
	awk 'NR > 1 && $1 > t { print ($2 - n) / ($1 - t) / 1e3 } { t = $1; n = $2 }' "$work/readings" | sort -g |
		awk '{ v[NR] = $1 } END { for (i = 1; i <= NR; i++) if (v[i] > v[NR] / 10) w[++n] = v[i]; print w[int((n + 1) / 2)] }'
}
# shellcheck disable=SC2016 # expanded by the shell in the node
snapshot() { on b sh -c 'echo $(date +%s.%N) $(awk "/^Udp:/ { v = \$2 } END { print v }" /proc/net/snmp)'; }
longer=$((seconds + 2))
small_ours() { ours '.engine.pps / 1e3' udp_stream --size 18 --cpus apart "$@"; }
small_iperf3() { delivered client iperf3 -c 10.0.0.2 -u -b 0 -l 18 -t $longer; }
small_iperf() { delivered client iperf -c 10.0.0.2 -p 5002 -u -b 10g -l 64 -t $longer; }
small_qperf() { delivered client qperf -t $longer -m 18 10.0.0.2 udp_bw; }
small_sockperf() { delivered client sockperf throughput -i 10.0.0.2 -m 18 -t $longer; }
small_netperf() { delivered client netperf -H 10.0.0.2 -l $longer -t UDP_STREAM -- -m 18; }

rr_ours() { ours '.engine.pps' "$@" --cpus same; }
# As other tools are run, from one node to a server in the other: the lab's counters, which cost the
# path some 100 ns a packet, are not there.
rr_alone() {
	on a "$vpclab" measure local tls://10.0.0.2:5999 "$@" --key "$work/key" --client-cpu 0 --server-cpu 0 \
		--duration "${seconds}s" --warmup 500ms --json 2>>"$work/err" | jq -r .engine.pps
}
rr_spin() { ours '.engine.pps' "$@" --cpus apart --spin; }
rr_netperf() { on a netperf -H 10.0.0.2 -l "$seconds" -T "$2" -t "$1" -P 0 2>/dev/null | awk 'NF > 5 { print $6; exit }'; }
rr_qperf() { client qperf -t "$seconds" 10.0.0.2 "$1" | awk '/latency/ { print 1 / (2 * $3 * ($4 == "ms" ? .001 : $4 == "us" ? 1e-6 : 1e-9)) }'; }
rr_sockperf() { client sockperf ping-pong -i 10.0.0.2 -m 14 -t "$seconds" | awk '/Latency is|avg-lat/ { for (i = 1; i < NF; i++) if ($i ~ /^(is|avg-lat=)$/) print 1e6 / (2 * $(i + 1)) }' | tail -1; }

# ---- comparing ----

median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# compare TIE-RATIO NAME=COMMAND…: PAIRS turns of all; the first is ours. A row for each, and which
# peer was best.
compare() {
	local tie=$1 turn i name value
	shift
	rm -f "$work"/turn.*
	for ((turn = 0; turn < pairs; turn++)); do
		i=0
		for name; do
			value=$(eval "${name#*=}")
			case $value in '' | null | *[!0-9.e+-]*) value=- ;; esac
			echo "$value" >>"$work/turn.$i"
			i=$((i + 1))
		done
	done
	i=0
	for name; do
		local ratio=
		if grep -q '[0-9]' "$work/turn.$i"; then
			[ $i = 0 ] || ratio=$(paste "$work/turn.0" "$work/turn.$i" | awk '$1 != "-" && $2 > 0 { print $1 / $2 }' | median)
			printf '| %s | %.4g | %s |\n' "${name%%=*}" "$(grep '[0-9]' "$work/turn.$i" | median)" "$(words "$ratio" "$tie")"
		else
			printf '| %s | not here | |\n' "${name%%=*}"
		fi
		i=$((i + 1))
	done
}
words() { # RATIO TIE
	[ -n "$1" ] || return
	awk -v r="$1" -v t="$2" 'BEGIN { printf("%.2f%s", r, (r < t && r * t > 1) ? " (tie)" : "") }'
}

title() { printf '\n## %s\n\n| %s | %s | first row / this one |\n|---|---|---|\n' "$1" "$2" "$3"; }

bulk() {
	local n
	up 1500
	sed 's/mtu: 1500/mtu: 1500, big_tcp: 256KiB/' "$work/lab.yaml" >"$work/big.yaml"
	"$vpclab" up "$work/big.yaml" --name $lab-big >/dev/null
	place=apart cpu=0
	start_servers 1
	for n in 1 2; do
		title "TCP bulk, $n stream(s), MTU 1500, sender on CPU 0, receiver on CPU 1" tool Gbit/s
		compare 1.3 "vpclab tcp_stream=bulk_ours $n" "iperf3=bulk_iperf3 $n" "iperf=bulk_iperf $n" \
			"qperf tcp_bw=bulk_qperf $n" "netperf TCP_STREAM=bulk_netperf $n" \
			"vpclab tcp_stream --cpus spread (a stream's ends share a CPU)=bulk_spread $n" \
			"vpclab tcp_stream --discard (receive without copy)=bulk_discard $n" \
			"vpclab tcp_stream, BIG TCP link=bulk_big --streams $n" \
			"vpclab tcp_stream --discard, BIG TCP link=bulk_big --streams $n --discard"
	done
	stop_servers
	"$vpclab" down $lab >/dev/null
	"$vpclab" down $lab-big >/dev/null
}
# The same over a link whose TCP packets are up to 256 KiB before they are segmented (IPv6 only).
bulk_big() {
	local lab=$lab-big
	ours '.engine.goodput_bps / 1e9' tcp_stream --ipv6 --cpus apart --size 1MiB "$@"
}

small() {
	up 1500
	cpu=0
	start_servers 1
	title "UDP of 18 bytes (minimum frames), one flow, delivered, sender on CPU 0, receiver on CPU 1" tool "1,000/s"
	compare 1.15 "vpclab udp_stream=small_ours" "iperf3 -u -b 0=small_iperf3" "iperf -u=small_iperf" \
		"qperf udp_bw=small_qperf" "sockperf throughput=small_sockperf" "netperf UDP_STREAM=small_netperf" \
		"vpclab --io steer=small_ours --io steer" "vpclab --io afxdp=small_ours --io afxdp" \
		"vpclab --io gso (datagrams, not wire packets)=small_ours --io gso"
	stop_servers
	"$vpclab" down $lab >/dev/null
}

rr() {
	up 1500
	cpu=0
	start_servers 0
	title "Request and response of 1 byte, one connection, both ends on CPU 0" tool "1/s"
	compare 1.15 "vpclab tcp_rr=rr_alone tcp_rr" "netperf TCP_RR -T 0,0=rr_netperf TCP_RR 0,0" \
		"vpclab tcp_rr, counted by the lab=rr_ours tcp_rr" \
		"qperf tcp_lat=rr_qperf tcp_lat" "vpclab tcp_rr --spin (taking turns)=rr_ours tcp_rr --spin --client-cpu 0 --server-cpu 0"
	title "The same over UDP" tool "1/s"
	compare 1.15 "vpclab udp_rr=rr_alone udp_rr" "vpclab udp_rr, counted by the lab=rr_ours udp_rr" "netperf UDP_RR -T 0,0=rr_netperf UDP_RR 0,0" \
		"qperf udp_lat=rr_qperf udp_lat" "sockperf ping-pong=rr_sockperf"
	title "Spinning on two CPUs" tool "1/s"
	compare 1.15 "vpclab tcp_rr --spin=rr_spin tcp_rr" "netperf TCP_RR -T 0,0=rr_netperf TCP_RR 0,0" "netperf TCP_RR -T 0,1=rr_netperf TCP_RR 0,1"
	compare 1.15 "vpclab udp_rr --spin=rr_spin udp_rr" "netperf UDP_RR -T 0,0=rr_netperf UDP_RR 0,0" "netperf UDP_RR -T 0,1=rr_netperf UDP_RR 0,1"
	stop_servers
	"$vpclab" down $lab >/dev/null
}

many() {
	local n
	up 1500
	title "TCP_RR over many connections, one thread at each end, CPUs 0 and 1" connections "1/s"
	for n in 1 8 64 256 1000 4000 10000; do
		compare 1.15 "$n=ours .engine.pps tcp_rr --streams $n --threads 1 --cpus apart"
	done
	title "The same, a thread of each end on each CPU (--cpus spread)" connections "1/s"
	for n in 2 8 64 256 1000 4000 10000; do
		compare 1.15 "$n=ours .engine.pps tcp_rr --streams $n --cpus spread"
	done
	"$vpclab" down $lab >/dev/null
}

crr() {
	up 1500
	cpu=0
	start_servers 0
	title "Connect, request, response, close; both ends on CPU 0" tool "1/s"
	compare 1.15 "vpclab tcp_crr=rr_alone tcp_crr" "vpclab tcp_crr, counted by the lab=rr_ours tcp_crr" "netperf TCP_CRR -T 0,0=rr_netperf TCP_CRR 0,0"
	stop_servers
	"$vpclab" down $lab >/dev/null
}

# The link stands still for 500 ms in a window of 5 s. By the formula the 99 % quantile of an
# open-loop probe is 500 ms · (1 − 0.01 / 0.1) = 450 ms.
freeze_ours() {
	"$vpclab" measure "$lab:a" b udp_latency --packets 1kpps --duration 5s --warmup 500ms --json >"$work/f.json" 2>>"$work/err" &
	local run=$!
	still
	wait $run
	jq --argjson frozen "$(<"$work/frozen")" '.engine.latency_ns.p99 / 1e6 / ($frozen - 50)' "$work/f.json" >>"$work/freeze"
	jq -r '.engine.latency_ns.p99 / 1e6' "$work/f.json"
}
freeze_sockperf() {
	client sockperf ping-pong -i 10.0.0.2 -t 5 --full-rtt >"$work/f.txt" &
	local run=$!
	sleep 2.5 # sockperf needs 2.4 s before its first packet
	still
	wait $run
	awk '/percentile 99.00/ { print $NF / 1e3 }' "$work/f.txt"
}
# The process that delays, below the lab's supervisor.
relay_of() {
	local pid up
	for pid in /proc/[0-9]*; do
		pid=${pid#/proc/}
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = vpclab-relay ] || continue
		up=$pid
		while [ "${up:-0}" -gt 1 ] && [ "$up" != "$1" ]; do
			up=$(sed -n 's/^PPid:\t//p' "/proc/$up/status" 2>/dev/null)
		done
		[ "$up" != "$1" ] || echo "$pid"
	done
}
still() { # leaves how long it stood still, ms, in $work/frozen
	local from to
	sleep 2.5
	kill -STOP "$relay"
	from=${EPOCHREALTIME/./}
	sleep 0.5
	to=${EPOCHREALTIME/./}
	kill -CONT "$relay"
	jq -n --argjson us $((to - from)) '$us / 1e3' >"$work/frozen"
}
freeze() {
	cat >"$work/lab.yaml" <<-END
		version: 1
		name: bench
		nodes:
		  a: {kind: machine, addresses: [10.0.0.1/24]}
		  b: {kind: machine, addresses: [10.0.0.2/24]}
		links:
		  - {endpoints: ["a:eth1", "b:eth1"], via: relay, delay: 1ms}
	END
	"$vpclab" up "$work/lab.yaml" --name $lab >/dev/null
	relay=$(relay_of "$("$vpclab" ls --json | jq -r --arg lab $lab '.. | objects | select(.name? == $lab) | .pid')")
	cpu=0
	have sockperf && serve 1 sockperf server -p 11111 && listening udp 11111
	title "99 % of round trips when the link stands still for 500 ms of 5 s (open loop, by the formula: 450 ms)" tool ms
	compare 1.02 "vpclab udp_latency=freeze_ours" "sockperf ping-pong=freeze_sockperf"
	jq -rs 'sort | .[length / 2 | floor] | "\nBy how long the link really stood still, our figure is \((. - 1) * 1e4 | round / 100) % off the formula (median)."' "$work/freeze"
	stop_servers
	"$vpclab" down $lab >/dev/null
}

pacing() {
	local rate
	up 1500
	printf '\n## Pacing: udp_stream, sender on CPU 0, receiver on CPU 1\n\n| asked, 1/s | offered | error | 99 %% of gaps within |\n|---|---|---|---|\n'
	for rate in 1000 10000 50000; do
		"$vpclab" measure "$lab:a" b udp_stream --size 64 --packets ${rate}pps --cpus apart --duration 5s --json 2>>"$work/err" |
			jq -r --argjson rate $rate '.engine | ((.sent_pps / $rate - 1) * 1e5 | round / 1e3) as $e |
				"| \($rate) | \(.sent_pps | round) | \($e) % | \(.detail.gap_error_ns.p99 // null | if . then "\(. / 1e3) µs" else "?" end) |"'
	done
	"$vpclab" down $lab >/dev/null
}

echo "$("$vpclab" version 2>/dev/null | head -1), Linux $(uname -r), $(nproc) CPUs, $(date +%F), medians of $pairs turns of $seconds s"
for tool in iperf3 iperf qperf sockperf netperf; do
	have $tool || echo "($tool is not here)"
done
[ $# -gt 0 ] || set -- bulk small rr many crr freeze pacing
for group; do
	$group
done
if [ -s "$work/err" ]; then
	echo
	sort "$work/err" | uniq -c >&2
fi
