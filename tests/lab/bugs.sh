#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bugs: what other measuring tools were reported to get wrong, done with our engines. Each case is named
# by the mistake and, in brackets, where it was reported. What concerns loss counts is in udp.sh,
# transactions in rr.sh, latency in latency.sh, ends that die in robust.sh.
# timeout: 240
# shellcheck disable=SC2016 # jq's variables
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=measure.inc
. "$(dirname "$0")/measure.inc"
# shellcheck source=two.inc
. "$(dirname "$0")/two.inc"
need jq ping

# shellcheck disable=SC2034 # measure.inc uses it
tolerance=0.01
json=$work/m.json

# m ARGUMENT…: one measurement; sets $status and $json's content.
m() { measure "$json" "$lab:client" server "$@"; }
# Is what jq finds true?
says() {
	is "$1" "$(jq -c "$2" "$json" 2>&1)" true
}
# Where the machine was the limit there is nothing to say.
says_or_machine() {
	local limit
	limit=$(jq -r 'if .fidelity.limit == "none" then "" else .fidelity.why end' "$json" 2>&1)
	if [ -n "$limit" ] && [ "$(jq -c "$2" "$json" 2>&1)" != true ]; then
		tap_skip "$1" "the machine was the limit: $limit"
	else
		says "$1" "$2"
	fi
}

if routed deep "rate: 10mbit, queue: 4MiB"; then
	m tcp_stream --duration 2s --warmup 0s
	says_or_machine "the head figure is what arrived, not what went into a queue (esnet/iperf#692)" \
		'.engine.goodput_bps <= 1e7 * 1448 / 1514 * 1.003 and .engine.goodput_bps > 9e6'
	says "what the sender handed over stands beside it" '.engine.sent_bps > .engine.goodput_bps'
	says "intervals sum up to the total" \
		'([.engine.intervals[] | .bps] | add / length) as $mean | ($mean / .engine.goodput_bps - 1 | fabs) < 0.001'
	m tcp_maerts --duration 1s --warmup 200ms
	says "the other way round, TCP's own figures are there too (esnet/iperf#803)" \
		'.engine.rtt_us > 0 and .engine.cwnd > 0 and .engine.mss == 1448'
	# A rate is in bits of ten to the power: 5mbit is 5,000,000.
	m udp_stream --rate 5mbit --duration 1s --warmup 200ms
	says "megabits are 1,000,000 bits (iperf 2's -b 100M is 104.86)" '.engine.offered_bps == 5000000'
	says "a datagram of the default size fits the path (qperf's and netperf's defaults do not)" \
		'.engine.size == 1472 and .engine.lost == 0'
	m tcp_stream --size 64 --duration 1s --warmup 200ms
	says "small writes: messages, segments and wire packets are told apart (netperf's 64-byte puzzle)" \
		'.engine.messages_pps > 10 * .engine.segments_pps and .engine.coalescing > 10'
	m tcp_stream --size 64 --no-delay on --duration 1s --warmup 200ms
	says "… with no-delay too" '.engine.messages_pps >= .engine.segments_pps'
	# Both at once, no "server is busy".
	measure "$work/other.json" "$lab:client" server tcp_stream --duration 2s --warmup 200ms &
	m tcp_stream --duration 2s --warmup 200ms
	first=$status
	wait $!
	is "two clients at one server at the same time (esnet/iperf#1735)" \
		"${first/3/0} $(jq '.engine.goodput_bps > 0' "$work/other.json")" "0 true"
	m tcp_rr --duration 200ms --warmup 100ms
	says "a quantile without the samples for it is not printed (sockperf#106)" \
		'.engine.latency_ns | (.count >= 10000) == (.p999 != null)'
	lab_down
fi

if routed clamp; then
	on n nft -f - <<-END
		table ip clamp {
			chain forward {
				type filter hook forward priority 0
				tcp flags syn tcp option maxseg size set 600
			}
		}
	END
	m tcp_stream --duration 1s --warmup 200ms
	says "the MSS is the one in use, not a default (iperf 2's -m says 536)" '.engine.mss == 588'
	lab_down
fi

# Behind a NAT whose table forgets TCP in 3 s and lets no stray packet through.
if routed nat; then
	on n nft -f - <<-END
		table ip nat {
			chain post {
				type nat hook postrouting priority 100
				oifname "eth2" masquerade
			}
			chain forward {
				type filter hook forward priority 0
				ct state invalid drop
			}
		}
	END
	on n sysctl -q -w net.netfilter.nf_conntrack_tcp_timeout_established=3 net.netfilter.nf_conntrack_tcp_loose=0
	begin=$SECONDS
	m udp_stream --rate 1mbit --duration 8s --warmup 200ms --interval 1s
	is "a NAT that forgets idle TCP loses no result (esnet/iperf#320)" \
		"${status/3/0} $(jq '.engine.lost == 0 and .engine.goodput_bps > 0' "$json")" "0 true"
	is "… and ends in time" "$((SECONDS - begin < 14))" 1
	lab_down
fi

# Nobody there: no result, and the status says so.
connect='{"type":"connect","address":"127.0.0.1","port":9}'
for test in tcp_stream udp_rr tcp_rr; do
	run bash -c "{ echo '{\"type\":\"spec\",\"role\":\"client\",\"session\":1,\"test\":\"$test\"}'; echo '$connect'; sleep 4; } |
		'$VPCLAB' engine --stdio"
	has "$test without a server is an error in words (esnet/iperf#1405, iperf 2, sockperf: status 0)" "$output" '"type":"error"'
	is "$test without a server: the status says so" "$((status != 0))" 1
done

run bash -c "ulimit -n 40 && '$VPCLAB' engine tcp_rr --streams 100 --duration 100ms"
is "too few descriptors: it says so, and does not crash (esnet/iperf#324)" "$((status != 0 && status < 126))" 1
has "… with the numbers" "$output" 40
finish
