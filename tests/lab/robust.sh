#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# robust: measurements whose ends die, stand still or lose their path, whole programs as a person runs
# them: each ends within its duration and 5 s with what is known by then, marked invalid, and exit
# status 3. Then many connections, and descriptors that are too few for them.
# timeout: 360
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq pgrep nft ping od

# A case is one measurement in the background; its name is that of its files. Those of one group run at
# the same time: most of their time is waiting.
declare -A pids since took
begin() { # CASE COMMAND…
	"${@:2}" >"$work/$1.json" 2>"$work/$1.errors" &
	pids[$1]=$!
	since[$1]=$SECONDS
}

# gather CASE…: waits for all of a group; how long each took since its begin, or since it was hit. What
# the machine held up this loop itself, which sleeps a tenth of a second a time, is nobody's fault.
gather() {
	local case running=yes begun=$SECONDS rounds=0
	while [ -n "$running" ]; do
		running=
		for case; do
			if kill -0 "${pids[$case]}" 2>/dev/null; then
				running=yes
			else
				: "${took[$case]:=$((SECONDS - since[$case]))}"
			fi
		done
		sleep 0.1
		rounds=$((rounds + 1))
	done
	late=$((SECONDS - begun - rounds / 10))
}

# ended CASE NAME SECONDS WHY: how it ended.
ended() {
	local name=$2 most=$3 why=$4
	json=$work/$1.json
	wait "${pids[$1]}"
	status=$?
	output=$(head -c 400 "$json")$(<"$work/$1.errors")
	is "$name: exit status" "$status" 3
	is "$name: ends within $most s (took ${took[$1]}, this machine was $late late)" \
		$((took[$1] <= most + late)) 1
	is "$name: what is known is a result, and marked" \
		"$(jq -c '.engine // . | [.partial, (.invalid | type), (.intervals | length > 0)]' "$json")" \
		'[true,"string",true]'
	has "$name: it says why" "$(jq -r '.engine // . | .invalid' "$json")" "$why"
}

# workers CASE: sets $server and $client, which the engine starts in this order, once there are both.
workers() {
	local all=() i
	for ((i = 0; i < 200; i++)); do
		mapfile -t all < <(pgrep -P "${pids[$1]}")
		[ ${#all[@]} -lt 2 ] || break
		sleep 0.05
	done
	if [ ${#all[@]} -lt 2 ]; then
		tap_result "two workers" "$(<"$work/$1.errors")"
		finish
	fi
	server=${all[0]} client=${all[1]}
}

# engine CASE TEST DURATION: on loopback.
engine() {
	local options=(--duration "$3" --warmup 500ms)
	[ "$2" != udp_stream ] || options+=(--packets 2kpps)
	begin "$1" "$VPCLAB" engine "$2" --json "${options[@]}"
}

# --- ends that die, stand still, are told to stop
tests=(tcp_stream udp_stream tcp_rr tcp_bidir)
for test in "${tests[@]}"; do
	engine "$test-server" "$test" 30s
	engine "$test-client" "$test" 30s
done
sleep 3
for test in "${tests[@]}"; do
	for end in server client; do
		workers "$test-$end"
		kill -KILL "${!end}"
		since[$test-$end]=$SECONDS
	done
done
gather "${tests[@]/%/-server}" "${tests[@]/%/-client}"
for test in "${tests[@]}"; do
	for end in server client; do
		ended "$test-$end" "$test, the $end is killed" 3 "the $end's worker ended without a result"
	done
done

for test in "${tests[@]}"; do
	engine "still-$test" "$test" 10s
done
engine still-client tcp_stream 10s
sleep 3
for test in "${tests[@]}"; do
	workers "still-$test"
	kill -STOP "$server"
done
workers still-client
kill -STOP "$client"
gather "${tests[@]/#/still-}" still-client
for test in "${tests[@]}"; do
	ended "still-$test" "$test, the server stands still" 15 "the server's worker has not been heard"
	is "$test, the server stands still: it is gone" "$(pgrep -P "${pids[still-$test]}" | wc -l)" 0
done
ended still-client "tcp_stream, the client stands still" 15 "the client's worker has not been heard"

for signal in INT TERM KILL; do
	engine "$signal" tcp_stream 30s
done
sleep 3
workers KILL
for signal in INT TERM KILL; do
	kill "-$signal" "${pids[$signal]}"
	since[$signal]=$SECONDS
done
gather INT TERM KILL
for signal in INT TERM; do
	ended "$signal" "SIG$signal" 3 "stopped before its end"
	is "SIG$signal: the part that was measured has a rate" "$(jq '.goodput_bps > 0' "$json")" true
done
for ((i = 0; i < 40; i++)); do
	kill -0 "$server" 2>/dev/null || kill -0 "$client" 2>/dev/null || break
	sleep 0.05
done
is "workers end with who started them" \
	"$(kill -0 "$server" 2>/dev/null || kill -0 "$client" 2>/dev/null || echo gone)" gone

# --- data from behind a NAT, and paths that are cut
cat >"$work/lab.yaml" <<'END'
version: 1
nodes:
  a: {kind: machine, addresses: [10.8.0.1/24], routes: [10.9.0.0/24 via 10.8.0.254]}
  r: {kind: router, addresses: {eth1: 10.8.0.254/24, eth2: 10.9.0.254/24}}
  b: {kind: machine, addresses: [10.9.0.1/24], routes: [10.8.0.0/24 via 10.9.0.254]}
links:
  - {endpoints: ["a:eth1", "r:eth1"]}
  - {endpoints: ["r:eth2", "b:eth1"]}
END
cut() {
	on r nft "add table ip cut; add chain ip cut every { type filter hook forward priority 0; policy drop; }"
}
if lab_up robust "$work/lab.yaml"; then
	# What goes to b is translated: b sees the router only.
	on r nft -f - <<'END'
table ip nat {
	chain out {
		type nat hook postrouting priority 100
		oifname "eth2" masquerade
	}
}
END
	run on a ping -c1 -W2 10.9.0.1
	is "through the NAT" "$status" 0
	for test in udp_maerts udp_bidir udp_rr tcp_crr; do
		options=(--duration 1s --warmup 300ms)
		case $test in udp_maerts | udp_bidir) options+=(--packets 1kpps) ;; esac
		run vpclab measure "$lab:a" b "$test" --json "${options[@]}"
		is "$test from behind a NAT" "$(jq -c '.engine // . | [.invalid, .lost,
			(.pps > 0), ((.back.pps // 1) > 0)]' <<<"$output" 2>&1)" '[null,0,true,true]'
	done
	lab_down
fi

# Each in a lab of its own, so that one is not the other's traffic.
cuts=(tcp_stream tcp_rr udp_rr udp_maerts tcp_maerts throughput)
declare -A lab_of
for test in "${cuts[@]}"; do
	lab_up "cut-$test" "$work/lab.yaml" || finish
	lab_of[$test]=$lab
done
for test in "${cuts[@]}"; do
	options=(--duration 10s --warmup 300ms --cpus free)
	case $test in
	udp_maerts) options+=(--packets 1kpps) ;;
	throughput) options+=(--file-size 100GB --warmup 0s) ;;
	esac
	begin "cut-$test" vpclab measure "${lab_of[$test]}:a" b "$test" --json "${options[@]}"
done
sleep 3
for lab in "${lab_of[@]}"; do
	cut
done
gather "${cuts[@]/#/cut-}"
for test in "${cuts[@]}"; do
	words="nothing came in the last"
	[ "$test" != throughput ] || words="nothing came for"
	ended "cut-$test" "$test, the path is cut" 15 "$words"
done
for lab in "${lab_of[@]}"; do
	lab_down
done

# --- a listener, run after run
head -c 32 /dev/urandom | od -An -tx1 >"$work/key"
chmod 600 "$work/key"
: >"$work/listening"
"$VPCLAB" engine --listen 127.0.0.1:0 --key "$work/key" >"$work/listening" &
listener=$!
for ((i = 0; i < 100 && !$(grep -c . "$work/listening"); i++)); do
	sleep 0.05
done
end=tls://127.0.0.1:$(sed 's/.*://' "$work/listening")
look() { # descriptors, memory in KiB, sessions
	local n
	n=$(pgrep -P "$listener" | wc -l)
	echo "$(find "/proc/$listener/fd" -mindepth 1 | wc -l) $(sed -n \
		's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$listener/status") $n"
}
runs() { # N: how many of them failed; so short, one begins too late where the machine is busy, and says so
	local i failed=0
	for ((i = 0; i < $1; i++)); do
		vpclab measure "$end" "$end" tcp_rr --key "$work/key" --duration 50ms --warmup 10ms \
			>"$work/run" 2>&1 || grep -q "later than the warm-up" "$work/run" || failed=$((failed + 1))
	done
	echo "$failed"
}
is "the first runs against a listener" "$(runs 10)" 0
read -r descriptors memory _ < <(look)
is "100 more" "$(runs 100)" 0
for ((i = 0; i < 40; i++)); do
	read -r more_descriptors more_memory sessions < <(look)
	[ "$sessions" != 0 ] || break
	sleep 0.05
done
is "no session is left" "$sessions" 0
is "no descriptor is left" "$more_descriptors" "$descriptors"
is "no memory is left: $memory KiB, then $more_memory" $((more_memory <= memory + 256)) 1
kill -TERM "$listener"
wait "$listener"
is "SIGTERM ends a listener" $? 0

# --- many connections
run vpclab engine tcp_rr --json --streams 10000 --duration 2s --warmup 500ms
is "10,000 connections" "$status" 0
is "10,000 connections: all are there and speak" \
	"$(jq -c '[(.flows | length), .pps > 0, .invalid]' <<<"$output" 2>&1)" '[10000,true,null]'
is "10,000 connections: their memory is told, and below 256 MiB an end" "$(jq -c '[.client, .server]
	| map(.memory_bytes > 1e6 and .memory_bytes < 268435456)' <<<"$output" 2>&1)" '[true,true]'
user_tree
# shellcheck disable=SC2016 # for the inner shell
run as_user bash -c 'ulimit -n 300; "$HOME/../bin/vpclab" engine tcp_rr --streams 1000'
is "too few descriptors" "$status" 1
has "too few descriptors: it says how many are needed, and how to get them" "$output" \
	"1000 connections need 1016 descriptors; the limit is 300: raise it with ulimit -n"
finish
