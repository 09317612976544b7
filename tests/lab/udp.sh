#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# udp: what UDP streams report against the kernel's own drop counters, to the packet, on the networks
# where other measuring tools were reported to count wrong. Each case is named by the mistake and, in
# brackets, where it was reported. A drop of the window is told from others by the phase that is
# written in each datagram (core/engine/packet.h): 2 at bit 96 of the UDP header and payload.
# timeout: 400
# shellcheck disable=SC2016 # jq's variables
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=two.inc
. "$(dirname "$0")/two.inc"
need jq nft tc

json=$work/m.json

# relayed NAME KEYS: client and server through a relay with those impairments, which logs each fate.
relayed() {
	link "$1" "via: relay, ab: {$2}, seed: 7"
}

# What the kernel has counted until now; zero where there is no such thing.
errors() { on server awk '/^Udp:/ && $2 ~ /[0-9]/ {print $6}' /proc/net/snmp; }
queue() { on n tc -s -j qdisc show dev eth2 2>/dev/null | jq '[.[].drops] | add // 0'; }
logged() { vpclab fate "$lab:client-server" --json 2>/dev/null | jq -s 'map(select(.direction == "ab").number) | max // 0'; }

# m ARGUMENT…: one measurement from client to server; the engine's part goes to $json. Where a machine
# that is too busy spoilt it, it is done again, and counting begins again.
m() {
	for _ in 1 2 3; do
		base_errors=$(errors) base_queue=$(queue) base_logged=$(logged)
		on n nft reset counters >/dev/null 2>&1
		vpclab measure "$lab:client" server "$@" --json 2>"$work/err" | jq .engine >"$json" 2>>"$work/err"
		[ "$(jq .partial "$json")" = true ] || break
	done
}

# says NAME FILTER: is what jq finds in the result true?
says() {
	local got
	got=$(jq -c "$2" "$json" 2>&1)
	tap_result "$1" "$([ "$got" = true ] || echo "not so: $2"; [ "$got" = true ] ||
		jq -c 'del(.intervals, .flows, .machines, .detail, .tcp, .client, .server)' "$json")"
}

# The account of the window closes, and percentages are some.
closes() {
	says "$1: sent = received + lost, and the share is one" \
		'.client.packets == .server.packets + .lost and .loss >= 0 and .loss <= 1'
}

# lossy EXPRESSION: the router drops forwarded UDP to the server that matches, and counts; drops of
# the window in `window`, all in `total`.
lossy() {
	on n nft -f - <<-END
		table ip lossy
		delete table ip lossy
		table ip lossy {
			counter window { }
			counter total { }
			chain lose {
				counter name total
				@th,96,2 2 counter name window
				drop
			}
			chain forward {
				type filter hook forward priority 0
				$1
			}
		}
	END
}

# dropped NAME: what the router's counter has.
dropped() {
	on n nft -j list counter ip lossy "$1" | jq '[.nftables[].counter.packets? // empty] | add'
}

# equal NAME: lost is what the router dropped in the window, all of it on the path.
equal() {
	is "$1: lost is what the router's counter says" "$(jq '.lost - .lost_host' "$json")" "$(dropped window)"
	closes "$1"
}

to='ip daddr 10.9.0.1 ip protocol udp'
if routed drops; then
	# Only what is missing between datagrams that came was counted: a lost end was no loss.
	lossy "$to @th,96,2 2 limit rate over 1/hour burst 500 packets jump lose"
	m udp_stream --rate 5mbit --size 1000 --duration 2s --warmup 300ms
	equal "all is lost after the first 500 (esnet/iperf#698: 0 %)"
	says "… which is most of them" '.server.packets >= 500 and .server.packets <= 501'

	lossy "$to udp length > 20 jump lose"
	m udp_stream --rate 5mbit --size 1000 --duration 1s --warmup 300ms --total-loss
	equal "all is lost (esnet/iperf#1934: 0 %)"
	says "… so the loss is 1, and nothing was delivered" '.loss == 1 and .goodput_bps == 0'

	# Without that question, it is no measurement.
	run vpclab measure "$lab:client" server udp_stream --rate 5mbit --size 1000 --duration 1s \
		--warmup 300ms --json
	is "nothing arrives: exit status" "$status" 3
	has "nothing arrives: it says so, and what its sender counted" \
		"$(jq -r .engine.invalid <<<"$output")" "not one datagram arrived in the window (0 in all): "
	lossy "$to @th,96,2 2 reject"
	run vpclab measure "$lab:client" server udp_bidir --rate 5mbit --size 1000 --duration 1s \
		--warmup 300ms --json
	is "all is rejected, one way of two: exit status" "$status" 3
	is "all is rejected: ICMP is told" "$(jq -r .engine.invalid <<<"$output" |
		grep -c 'ICMP unreachable: [1-9][0-9]* to the sender')" 1

	# The first datagram ever: nothing may depend on it.
	lossy "$to limit rate 1/hour burst 1 packets jump lose"
	before=$SECONDS
	m udp_stream --rate 5mbit --duration 1s --warmup 300ms
	equal "the first datagram is lost (esnet/iperf#351: 30 s)"
	is "… and nobody waits for it" "$((SECONDS - before < 10))" 1

	# As fast as it goes: most is dropped on the way, and the head figure is what arrived.
	lossy "$to @th,96,2 2 limit rate over 5000/second burst 100 packets jump lose"
	m udp_stream --size 64 --duration 1s --warmup 300ms
	equal "a policer drops most of it (esnet/iperf#584)"
	says "… the head figure is the receiver's, the sender's stands beside it" \
		'.server.packets < 6000 and .sent_bps > 2 * .goodput_bps'
	says "… intervals sum up to what arrived" \
		'(reduce .intervals[] as $i ({n: 0, t: 0}; .n += $i.pps * ($i.t_s - .t) | .t = $i.t_s)).n as $n
			| ($n - .pps | fabs) < 1'

	lossy "$to @th,96,2 2 numgen inc mod 4 0 jump lose"
	m udp_stream --rate 5mbit --duration 1s --warmup 300ms --streams 3
	equal "every fourth is lost, of three streams"

	# Each way has its own losses.
	lossy "$to @th,96,2 2 numgen inc mod 10 0 jump lose"
	m udp_bidir --rate 5mbit --duration 1s --warmup 300ms
	equal "every tenth is lost, one way of two"
	says "… and the other way lost nothing" \
		'.back.lost == 0 and .detail.back.received == .detail.back.sent and .back.pps > 0'
	lossy "ip saddr 10.9.0.1 ip protocol udp @th,96,2 2 numgen inc mod 10 0 jump lose"
	m udp_maerts --rate 5mbit --duration 1s --warmup 300ms
	is "every tenth is lost, from server to client: lost is what the router's counter says" \
		"$(jq .lost "$json")" "$(dropped window)"
	says "… and sent = received + lost" '.server.packets == .client.packets + .lost'

	# Behind a NAT, the server sends to where it heard the client.
	on n nft add table ip nat
	on n nft add chain ip nat post '{ type nat hook postrouting priority 100; }'
	on n nft add rule ip nat post oifname eth2 masquerade
	lossy ''
	m udp_bidir --rate 5mbit --duration 1s --warmup 300ms
	says "through a NAT, both ways lose nothing" \
		'.lost == 0 and .back.lost == 0 and .server.packets > 0 and .detail.back.received > 0'
	on n nft delete table ip nat

	# 64 datagrams travel as one where nothing segments them: counted one by one all the same.
	lossy "$to udp length > 20 jump lose"
	m udp_stream --io gso --size 100 --duration 1s --warmup 300ms --total-loss
	closes "io gso, all lost"
	says "… by the datagram" '.loss == 1 and .io == "gso" and .lost > 64'
	lossy ''
	m udp_stream --io gso --size 100 --duration 1s --warmup 300ms
	closes "io gso"
	says "… all others are the receiver's drops" '.lost == .lost_host'

	# A queue drops it, before the window and in it.
	on n tc qdisc replace dev eth2 root tbf rate 50mbit burst 32kb latency 20ms
	m udp_stream --rate 300mbit --duration 1s --warmup 500ms
	closes "a queue overflows, in the warm-up too (esnet/iperf#1489: 209 %)"
	is "… and the drops of all phases are the queue's" \
		"$(jq '.client.packets_all - .server.packets_all - .drops_all' "$json")" \
		"$(($(queue) - base_queue))"
	says "… what arrives is what the queue's rate can carry" \
		'.goodput_bps <= 50e6 * 1472 / 1514 * 1.01'
	on n tc qdisc del dev eth2 root

	# Shaped at its own card, the sender is held back instead of losing: that is no result at 300.
	on client tc qdisc replace dev eth1 root tbf rate 50mbit burst 32kb latency 20ms
	m udp_stream --rate 300mbit --duration 1s --warmup 300ms
	closes "the sender's own card holds it back (esnet/iperf#947: loss 0 %, rate missed without a word)"
	says "… the target was missed, and the result says who is the limit" \
		'.sent_bps < 0.5 * .offered_bps and .limit == "sender"'
	on client tc qdisc del dev eth1 root

	# Packets too large for a hop that does not say so.
	on n ip link set eth2 mtu 1300
	lossy ''
	on n nft add rule ip lossy forward icmp type destination-unreachable drop
	on n nft add chain ip lossy output '{ type filter hook output priority 0; }'
	on n nft add rule ip lossy output icmp type destination-unreachable drop
	m udp_stream --rate 5mbit --duration 1s --warmup 300ms --total-loss
	closes "a black hole for large packets (esnet/iperf#905: 0 %)"
	says "… loses all" '.loss == 1 and .goodput_bps == 0 and .lost == .client.packets'
	on n ip link set eth2 mtu 1500

	# What the receiver's own socket drops is its loss, not the path's; the kernel counts it too.
	lossy ''
	m udp_stream --size 1000 --duration 1s --warmup 300ms --rcvbuf 4096
	closes "the receiver's socket overflows (esnet/iperf#571)"
	says "… and all that is lost was lost there" '.lost > 0 and .lost_host == .lost and .limit == "receiver"'
	is "… as many as the kernel's RcvbufErrors" "$(jq .drops_all "$json")" "$(($(errors) - base_errors))"

	# The rate that was asked for, in even gaps: bursts would overflow this policer.
	lossy "$to @th,96,2 2 limit rate over 20000/second burst 5 packets jump lose"
	m udp_stream --packets 10kpps --size 1250 --duration 1s --warmup 300ms
	equal "half a policer's rate (esnet/iperf#386: 26 % lost)"
	if jq -e '.detail.within_20us < 0.99 or .missed > 0' "$json" >/dev/null; then
		tap_skip "… nothing is lost" "this machine did not keep the gaps: $(jq -c .detail.gap_error_ns "$json")"
	else
		says "… nothing is lost" '.lost == 0'
	fi
	m udp_stream --packets 10kpps --size 1250 --burst 50 --duration 1s --warmup 300ms
	says "bursts of 50 do overflow it" '.lost > 0 and (.detail.gap_ns.p50 < 1000)'
	for schedule in poisson uniform normal; do
		lossy ''
		m udp_stream --packets 5kpps --size 100 --schedule $schedule --seed 3 --duration 1s --warmup 300ms
		says "gaps by a $schedule schedule have the rate asked for" \
			'(.client.packets + .missed) / 5000 > 0.93 and .client.packets / 5000 < 1.07'
	done

	# Steering, and taking packets before the stack, need root of the machine; without it, it says so.
	for io in steer afxdp; do
		run vpclab measure "$lab:client" server udp_stream --io $io --size 100 --duration 1s --warmup 300ms --json
		if [ "$(id -u)" = 0 ]; then
			jq .engine <<<"$output" >"$json"
			closes "io $io"
			says "… is named in the result" ".io == \"$io\""
			is "… and the card is as before" \
				"$(on server cat /sys/class/net/eth1/queues/rx-0/rps_cpus | tr -d '0,')$(on server ip -j link show eth1 | jq -r '.[].xdp // empty')" ""
		else
			has "io $io without root says what it lacks" "$output" "only root may"
			is "io $io without root: the status says so" "$((status != 0))" 1
		fi
	done
	run vpclab measure "$lab:client" server udp_stream --io gos --duration 1s
	has "an io that there is not: a suggestion" "$output" "did you mean 'gso'"
	run vpclab measure "$lab:client" server udp_stream --burst 5 --duration 1s
	has "bursts without a rate are an error" "$output" "burst: needs a rate"
	lab_down
fi

# What arrived twice or out of order, against the relay's log of each packet's fate.
log() { vpclab fate "$lab:client-server" --json | jq -s -c --argjson n "$(jq .client.packets "$json")" "
	map(select(.direction == \"ab\" and .frame_bytes == $1 and .number > $base_logged)) | (map(.number) | unique | .[0:\$n]) as \$window |
	(\$window | map({key: tostring, value: true}) | from_entries) as \$in |
	map(select(\$in[.number | tostring])) | $2"; }
if relayed fates "duplication: 5%, reordering: 5%, delay: 2ms"; then
	m udp_stream --packets 1kpps --size 500 --duration 1s --warmup 0s
	closes "some come twice, or late"
	is "duplicates are the relay's copies" "$(jq .duplicated "$json")" "$(log 542 'map(select(.copy)) | length')"
	is "reordered are those that a later one overtook (esnet/iperf#469: 0)" "$(jq .reordered "$json")" \
		"$(log 542 'map(select(.copy | not)) | sort_by([.departure_ns, .reordered, .number]) | reduce .[].number as $n
			({top: 0, late: 0}; if $n < .top then .late += 1 else .top = $n end) | .late')"
	says "… and there were some" '.duplicated > 0 and .reordered > 0 and .lost == 0'
	lab_down
fi

# A datagram of six fragments is lost when one of them is.
if relayed pieces "loss: 2%"; then
	m udp_stream --packets 500pps --size 8192 --duration 3s --warmup 0s
	closes "datagrams of several packets"
	says "fragments are told, and what loss of packets the loss of datagrams means (esnet/iperf#773)" \
		'.detail.fragments == 6 and .loss > 0.05 and .detail.packet_loss > 0.01 and .detail.packet_loss < 0.035'
	lab_down
fi

# A group: each receiver has its own losses.
if relayed group "loss: {every: 10}"; then
	m udp_multicast --packets 1kpps --size 200 --streams 3 --duration 1s --warmup 0s
	says "a group: each of three receivers is counted by itself" '.detail.receivers | length == 3'
	says "… each datagram that the way lost is missing at all three" \
		'(.client.packets * 3 == .server.packets + .lost) and ([.detail.receivers[].lost] | unique | length == 1)'
	is "… as many as the relay's log has" "$(jq '.detail.receivers[0].lost' "$json")" \
		"$(log 242 'map(select(.fate == "lost")) | length')"
	lab_down
fi
finish
