#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rr: the transaction engines: sizes, many connections and requests on the way, a path with delay and
# loss, more connections than there are ports, both ways of closing, IPv6, a server that refuses, too
# few descriptors. Expectations are arithmetic that a busy machine does not change.
# timeout: 240
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=measure.inc
. "$(dirname "$0")/measure.inc"
# shellcheck source=two.inc
. "$(dirname "$0")/two.inc"
need jq nft sysctl

# m ARGUMENT…: one measurement; the engine's part of the result is in $work/m.json; status.
m() {
	measure "$work/all.json" "$lab:client" server "$@"
	output=$(<"$work/all.json.err")
	jq .engine "$work/all.json" >"$work/m.json" 2>/dev/null
}

# found NAME EXPRESSION: true of the last measurement, of whose machine nothing is asked.
found() {
	is "$1" "$(jq -c "if $2 then true else . end" "$work/m.json" 2>&1)" true
}

# Little's law within 15 %: connections × outstanding = rate × mean time.
# shellcheck disable=SC2016 # jq's variables
busy='((.latency_ns.count * .latency_ns.mean) as $sum | (.client.window_ns *
	.detail.connections * .detail.outstanding) as $all | ($sum / $all - 1 | fabs) < 0.15)'

# each NAME TEST OPTION…: it runs, and all its requests are always on the way.
each() {
	for _ in $tries; do # a machine that is busy with other things may starve one
		m "${@:2}" --duration 1s --warmup 300ms
		[ "$(jq "$busy" "$work/m.json" 2>&1)" = true ] && break
	done
	found "$1" ".pps > 0 and .latency_ns.count == .client.packets and $busy"
}

link plain "" || finish
each "tcp_rr: 1,000,000 bytes each way" tcp_rr --size 1000000 --response-size 1000000
each "tcp_rr: a large answer, 5 on the way" tcp_rr --response-size 1024000 --outstanding 5
each "tcp_rr: 1,000 connections" tcp_rr --streams 1000
each "udp_rr: 60,000 bytes" udp_rr --timeout 10s --size 60000 --response-size 60000
each "udp_rr: 200 connections with 10 requests each" udp_rr --timeout 10s --streams 200 --outstanding 10 --size 20 \
	--response-size 20
each "both ends spin" tcp_rr --spin

# A thread of each end on each CPU: as many threads as CPUs, and where the kernel keeps them.
"$VPCLAB" measure "$lab:client" server tcp_rr --streams 64 --cpus spread --duration 3s --json --quiet \
	>"$work/all.json" 2>"$work/err" &
pid=$!
places() { # of the threads that are kept on one CPU, of pid's descendants; "2 0 2 1": two on each
	local worker
	for worker in $(ps -e -o pid=,ppid= | awk -v top=$pid '
		{ up[$1] = $2 }
		END { for (p in up) { q = p; while (q && q != top) q = up[q]; if (q) print p } }'); do
		awk '$1 == "Cpus_allowed_list:" && $2 !~ /[-,]/ { print $2 }' /proc/"$worker"/task/*/status 2>/dev/null
	done | sort -n | uniq -c | xargs
}
wanted=$(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print 2, i }' | xargs)
for _ in {1..100}; do
	got=$(places)
	[ "$got" = "$wanted" ] && break
	sleep 0.05
done
wait $pid
if [ "$(nproc)" -gt 1 ] && [ "$(nproc)" -le 64 ]; then
	is "spread: a thread of each end on each CPU" "$got" "$wanted"
	is "spread: said" "$(jq -c '.engine | [.client.cpu, .detail.threads]' "$work/all.json")" "[-1,$(nproc)]"
else
	tap_skip "spread" "one CPU, or more than connections"
fi
each "and with connections" udp_rr --timeout 10s --spin --streams 5
lab_down

# More connections than ports. With a reset a port is free at once; with FIN, a pair of ports is gone
# for a minute, so the sum of all connections is the number of pairs.
link ports "" || finish
on client sysctl -q -w net.ipv4.ip_local_port_range="40000 40099"
m tcp_crr --duration 1s --warmup 0s --interval 250ms
found "rst: more connections than ports" '.client.packets_all > 300 and .detail.ports_used <= 100'
found "rst: no port is missing" '.detail.address_not_available == 0 and .detail.time_wait == 0'
found "rst: the rate does not fall" '[.intervals[].transactions] | min > 20'
found "the range is in the result" '.detail.port_range == [40000, 40099]'
m tcp_crr --close fin --ports 3 --duration 1s --warmup 0s
found "fin: as many connections as pairs of ports" '.client.packets_all == 300'
found "fin: they are in TIME_WAIT" '.detail.time_wait == 300 and .detail.ports_used == 100'
found "fin: the tries without a port are counted" '.detail.address_not_available > 0 and
	.lost == .detail.address_not_available'
found "fin: what held the rate" '.limit == "sender" and (.limit_why | test("TIME_WAIT"))'
m tcp_cc --duration 500ms --warmup 0s
found "tcp_cc: more connections than ports" '.client.packets_all > 300 and .client.bytes == 0'
on client sysctl -q -w net.ipv4.ip_local_port_range="32768 60999"

# A server that refuses: some, and all.
refuse() {
	on server nft -f - <<-END
		table inet rr {
			chain in {
				type filter hook input priority 0
				tcp flags syn / fin,syn,rst,ack $1 reject with tcp reset
			}
		}
	END
}
refuse 'numgen random mod 4 0'
m tcp_crr --streams 4 --duration 1s --warmup 100ms
found "connections that are refused are counted" '.detail.refused > 0 and .lost == .detail.refused'
found "and the others go on" '.client.packets > .detail.refused'
on server nft delete table inet rr
refuse ''
m tcp_cc --duration 500ms --warmup 0s
is "all refused: no result" "$((status != 0))" 1
has "all refused: why" "$output $(jq .invalid "$work/m.json")" "Connection refused"
on server nft delete table inet rr
lab_down

# A path with 10 ms there and back: rates are its inverse, losses stop nothing.
link far "delay: 5ms, ab: {loss: 4%}" || finish
m udp_rr --streams 20 --duration 2s --warmup 300ms
found "udp_rr with loss goes on" '.pps > 500 and .pps < 2000 and .latency_ns.min > 9.9e6'
found "udp_rr: what is lost" '.lost > 10 and .loss > 0.015 and .loss < 0.08 and
	(.sent_pps * .client.window_ns / 1e9 - .client.packets - .lost | fabs) < 0.01'
m udp_rr --streams 20 --duration 1s --warmup 0s --timeout 1ms
found "an answer after the timeout is late, and no loss" '.late > 0 and .late >= .client.packets - 40
	and .loss < 0.08'
m tcp_crr --streams 10 --duration 2s --warmup 0s
found "tcp_crr: two round trips" '.latency_ns.min > 19.9e6 and .detail.connect_ns.min > 9.9e6 and
	.pps > 50 and .pps < 505 and .lost == 0'
m tcp_crr --streams 10 --duration 1s --warmup 0s --timeout 15ms
is "all timed out: no result" "$((status != 0))" 1
has "all timed out: why" "$output $(jq .invalid "$work/m.json")" "timed out"
lab_down

# IPv6, and descriptors: both ends in one place.
here() {
	vpclab engine "$@" --duration 300ms --warmup 100ms >"$work/m.json" 2>"$work/err"
	status=$?
	output=$(<"$work/err")
}
if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	for test in tcp_rr udp_rr tcp_crr tcp_cc; do
		here "$test" --address ::1 --streams 3
		found "$test by IPv6" '.pps > 0 and .lost == 0 and .flows[0].remote == "::1"'
	done
else
	tap_skip "by IPv6" "this machine has no IPv6 on lo"
fi
few() {
	ulimit -n 100
	here "$@"
	echo "$status $output"
}
for test in tcp_crr tcp_rr; do
	output=$(few $test --streams 200)
	hasnt "$test with too few descriptors fails" "$output" "0 vpclab"
	has "$test with too few descriptors says the limit" "$output" "the limit is 100"
done

finish
