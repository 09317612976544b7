#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# links: how exact links are, beside the same links built as Mininet and containerlab build them.
#
#   tests/bench/links.sh [-b BUILD] [-d SECONDS] [GROUP]…     (make bench-links)
#
# Groups: rates, jumbo, packets, sum, queues, credit. Prints Markdown. The instrument is the same for
# all: the kernel's counter at the receiver's card over a window of SECONDS (10; more where a packet
# would be over 0.1 % of it) after warm-up, against header arithmetic. "machine" is a figure that this machine's processors limited.
# Never part of pass or fail: it wants a quiet machine. tests/bench/README.md keeps the last table.
set -u
cd "$(dirname "$0")/../.." || exit 2
BUILD=build seconds=10
while getopts b:d: option; do
	case $option in
	b) BUILD=$OPTARG ;;
	d) seconds=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
vpclab=$BUILD/vpclab
[ -x "$vpclab" ] || { echo "links: $vpclab is not built" >&2; exit 2; }
work=$(mktemp -d)
lab=bench-$$
trap '"$vpclab" down $lab >/dev/null 2>&1; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The lab of $work/lab.yaml.
up() {
	"$vpclab" up "$work/lab.yaml" --name $lab >/dev/null
}
down() {
	"$vpclab" down $lab >/dev/null
}

# flow FILE SRC DST ARGUMENT…: one measurement; its JSON in FILE.
flow() {
	"$vpclab" measure "$lab:$2" "$3" "${@:4}" --duration "${seconds}s" --warmup 2s --interval 1s \
		--json >"$1" 2>"$1.err"
	[ -s "$1" ] || echo '{}' >"$1"
}

# both ARGUMENT…: two equal flows, one each way at once; their JSON in a.json and b.json.
both() {
	flow "$work/a.json" a b "$@" --opposite --cpus free &
	local other=$!
	flow "$work/b.json" b a "$@" --opposite --cpus free
	wait $other
}

# error_of FILE [EXPECTED]: what was counted against EXPECTED, a jq expression of payload bits per
# second, in percent; without it against the prediction (its nearer end where it is a range).
error_of() {
	local range=${2:+"[$2, $2]"}
	jq -r "${range:-[.predicted.low_bps, .predicted.high_bps]} as [\$low, \$high] |"'
		if .engine == null or ($low // 0) == 0 then "failed"
		else .counted.goodput_bps as $c | .fidelity.limit as $limit |
			(if $c < $low then $c / $low - 1 elif $c > $high then $c / $high - 1 else 0 end) |
			(. * 10000 | round / 100 + 0) as $e |
			(if $e > 0 then "+" else "" end) + "\($e)" +
			(if $limit == "none" then "" else " (machine)" end)
		end' "$1" 2>/dev/null || echo "failed"
}

# peak_of BASIS: the greatest second of the shapers themselves (readings of `vpclab top`, whole frames
# without what a reading began or ended in the midst of) above the rate: percent, and of how many a
# burst would be.
peak_of() {
	"$vpclab" inspect $lab --json | jq '.links[0].ab' >"$work/truth.json"
	jq -r -s --arg basis "$1" --slurpfile truth "$work/truth.json" '
		$truth[0] as $t | {l1: 24, l2: 0, l3: -14}[$basis] as $more |
		[.[1:-1][].interfaces[] | select(.node == "wires") | .tx_bps + $more * 8 * .tx_pps] as $seconds |
		"\((($seconds | max) / $t.rate_bps - 1) * 10000 | round / 100) \($t.burst_bytes * 8 / $t.rate_bps * 10000 | round / 100)"
		' "$work/top.json" 2>/dev/null || echo "failed"
}

two_machines() { # LINK's keys
	cat >"$work/lab.yaml" <<-END
		version: 1
		name: bench
		nodes:
		  a: {kind: machine, addresses: [10.0.0.1/24]}
		  b: {kind: machine, addresses: [10.0.0.2/24]}
		links:
		  - {endpoints: ["a:eth1", "b:eth1"]$1}
	END
}

# peer RATE KIND: the plain link, shaped by hand at both senders as another emulator does it.
peer() {
	local node
	for node in a b; do
		case $2 in
		mininet)
			"$vpclab" exec "$lab:$node" -- tc qdisc add dev eth1 root handle 5: htb default 1 &&
				"$vpclab" exec "$lab:$node" -- tc class add dev eth1 parent 5: classid 5:1 \
					htb rate "$1" burst 15k
			;;
		containerlab)
			"$vpclab" exec "$lab:$node" -- tc qdisc add dev eth1 root netem rate "$1" limit 10000
			;;
		esac 2>/dev/null || return
	done
}

bits_of() { # 256kbit → 256000
	local n=${1%[kmg]bit}
	case $1 in *kbit) echo $((n * 1000)) ;; *mbit) echo $((n * 1000000)) ;; *gbit) echo $((n * 1000000000)) ;; esac
}

# One line of the table: vpclab on three bases, then the others (whose rate counts 14 + IP bytes).
rate_row() { # RATE MTU NAME PAYLOAD WIRE ARGUMENT…
	local rate=$1 mtu=$2 payload=$4 wire=$5 basis kind line="| $1 | $2 | $3 |" worst=-100
	shift 5
	# A packet more or less is to be 0.1 % at most.
	local seconds=$seconds packet=$((wire * 8 * 1000 / $(bits_of "$rate")))
	[ $packet -le "$seconds" ] || seconds=$packet
	for basis in l1 l2 l3; do
		two_machines ", rate: $rate, basis: $basis, mode: exact, mtu: $mtu"
		up || { line+=" failed |"; continue; }
		"$vpclab" top $lab --interval 1s --json >"$work/top.json" &
		local top=$!
		both "$@"
		kill -INT $top
		wait $top
		line+=" $(error_of "$work/a.json") / $(error_of "$work/b.json") |"
		worst=$(printf '%s\n' "$worst" "$(peak_of $basis)" | sort -g | tail -1)
		down
	done
	line+=" ${worst% *} (${worst#* }) |"
	for kind in mininet containerlab; do
		two_machines ", mtu: $mtu"
		up || { line+=" failed |"; continue; }
		if peer "$rate" $kind; then
			both "$@"
			line+=" $(error_of "$work/a.json" "$(bits_of "$rate") * $payload / $wire") |"
		else
			line+=" no netem here |"
		fi
		down
	done
	echo "$line"
}

head_of_rates() {
	echo
	echo "### $1"
	echo
	echo "Error in percent, both directions at once: a→b / b→a. Peak: the greatest second of all shapers above the rate, in percent, and what a burst is of a second. Slow rates take longer windows, so that a packet is 0.1 % of them."
	echo
	echo "| rate | MTU | traffic | vpclab l1 | l2 | l3 | peak | Mininet TCLink (HTB, burst 15k) | containerlab (netem rate) |"
	echo "|---|---|---|---|---|---|---|---|---|"
}

rates() {
	local rate
	head_of_rates "Rates"
	for rate in ${RATES:-256kbit 1mbit 10mbit 100mbit 500mbit 1gbit}; do
		rate_row "$rate" 1500 TCP 1448 1514 tcp_stream
		rate_row "$rate" 1500 "UDP 1472" 1472 1514 udp_stream --size 1472 --rate "$rate"
		case $rate in
		500mbit | 1gbit) ;; # more packets than a processor sends
		*) rate_row "$rate" 1500 "UDP 64-byte frames" 18 60 udp_stream --frame 64 --rate "$rate" ;;
		esac
	done
}

jumbo() {
	local rate
	head_of_rates "Jumbo frames"
	for rate in ${RATES:-10mbit 100mbit 500mbit 1gbit}; do
		rate_row "$rate" 9000 TCP 8948 9014 tcp_stream
		rate_row "$rate" 9000 "UDP 8972" 8972 9014 udp_stream --size 8972 --rate "$rate"
	done
}

packets() {
	local cap
	echo
	echo "### Packets a second"
	echo
	echo "| cap | UDP, twice the cap offered | TCP | lost of 95 % of the cap |"
	echo "|---|---|---|---|"
	for cap in 1 10 100; do
		two_machines ", pps: ${cap}kpps"
		up || continue
		flow "$work/udp.json" a b udp_stream --frame 64 --packets $((cap * 2))kpps
		flow "$work/tcp.json" a b tcp_stream
		flow "$work/most.json" a b udp_stream --frame 64 --packets $((cap * 950))pps
		echo "| ${cap} kpps | $(error_of "$work/udp.json") % | $(error_of "$work/tcp.json") % | $(jq .engine.lost "$work/most.json") of $(jq .engine.client.packets "$work/most.json") |"
		down
	done
}

two_vms() { # the server's vNIC
	cat >"$work/lab.yaml" <<-END
		version: 1
		name: bench
		hosts: {h1: {}, h2: {}}
		networks: {net: {type: flat, cidr: 10.0.0.0/24}}
		vms:
		  a: {host: h1, network: net, vnic: {$1}}
		  b: {host: h2, network: net}
	END
}

sum() {
	local kind
	echo
	echo "### One cap for both directions"
	echo
	echo "| cap | in alone | out alone | both together, sum |"
	echo "|---|---|---|---|"
	for kind in "rate: 50mbit, direction: sum" "pps: 10kpps, direction: sum"; do
		local args=(udp_stream --size 1000 --rate 80mbit)
		case $kind in pps*) args=(udp_stream --frame 64 --packets 15kpps) ;; esac
		two_vms "$kind"
		up || continue
		flow "$work/in.json" b a "${args[@]}"
		flow "$work/out.json" a b "${args[@]}"
		both "${args[@]}"
		jq -r -n --slurpfile i "$work/in.json" --slurpfile o "$work/out.json" \
			--slurpfile a "$work/a.json" --slurpfile b "$work/b.json" --arg kind "${kind%%,*}" '
			def e($x): ($x * 10000 | round / 100 + 0) | if . > 0 then "+\(.) %" else "\(.) %" end;
			($i[0].predicted.goodput_bps) as $cap |
			"| \($kind) | \(e($i[0].counted.goodput_bps / $cap - 1)) | \(e($o[0].counted.goodput_bps / $cap - 1)) | \(e(($a[0].counted.goodput_bps + $b[0].counted.goodput_bps) / $cap - 1)) |"'
		down
	done
}

queues() {
	local streams
	echo
	echo "### Queues: four with 2,000 packets/s each"
	echo
	echo "| flows | packets/s | of the whole |"
	echo "|---|---|---|"
	two_vms "queues: {count: 4, pps_each: 2kpps}"
	up || return
	for streams in 1 64; do
		flow "$work/q.json" a b udp_stream --frame 64 --packets 16kpps --streams $streams
		jq -r --argjson n $streams '"| \($n) | \(.counted.packets_pps | round) | \(.counted.packets_pps / 80 | . * 100 | round / 100) % |"' "$work/q.json"
	done
	down
}

# Base 20 Mbit/s, burst 50 Mbit/s, 2 s of credit: 2 s of burst, then base; after 3 s of silence the
# bucket has 3 x 20 of 2 x 30 Mbit again, that is all of it.
credit() {
	echo
	echo "### Burst credit: base 20 Mbit/s, burst 50 Mbit/s, 2 s"
	echo
	echo "| | model | found |"
	echo "|---|---|---|"
	two_vms "rate: {base: 20mbit, burst: 50mbit, credit: 2s}"
	up || return
	"$vpclab" measure $lab:a b udp_stream --size 1000 --rate 80mbit --warmup 0s --duration 8s \
		--interval 100ms --json >"$work/c.json"
	credit_row first
	sleep 3 # the bucket fills: nothing to wait for but time
	"$vpclab" measure $lab:a b udp_stream --size 1000 --rate 80mbit --warmup 0s --duration 8s \
		--interval 100ms --json >"$work/c.json"
	credit_row "after 3 s of silence"
	down
}
credit_row() {
	jq -r --arg name "$1" '
		(1000 / 1028) as $payload |
		[.engine.intervals[] | .bps / $payload / 1e6] as $m |
		([$m[] | select(. > 35)] | length / 10) as $burst |
		"| burst lasts, \($name) | 2 s | \($burst) s |",
		"| burst rate | 50 Mbit/s | \([$m[2:15][]] | add / length * 100 | round / 100) |",
		"| base rate | 20 Mbit/s | \([$m[30:][]] | add / length * 100 | round / 100) |"' "$work/c.json"
}

echo "$("$vpclab" version 2>/dev/null | head -1), Linux $(uname -r), $(nproc) CPUs, $(date +%F), windows of $seconds s"
[ $# -gt 0 ] || set -- rates jumbo packets sum queues credit
for group; do
	$group
done
