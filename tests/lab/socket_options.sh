#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# socket_options: what a specification asks of sockets is in force at both ends, seen by others than the
# engine: sock_diag (ss) in both nodes while it runs, and counters of the packets on the wire.
# timeout: 180
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq ss nft

cat >"$work/lab.yaml" <<'END'
version: 1
nodes:
  a: {kind: machine, addresses: [10.8.0.1/24, fd00:8::1/64]}
  b: {kind: machine, addresses: [10.8.0.2/24, fd00:8::2/64]}
links:
  - {endpoints: ["a:eth1", "b:eth1"]}
END
lab_up options "$work/lab.yaml" || finish

# during SS-OPTIONS ARGUMENT…: $left and $right are what ss says in a and in b while it measures.
during() {
	local look=$1 i
	shift
	left='' right=''
	vpclab measure "$lab:a" b "$@" --duration 4s --warmup 100ms --json >"$work/m.json" 2>"$work/errors" &
	pid=$!
	for ((i = 0; i < 60; i++)); do
		# shellcheck disable=SC2086 # several options
		left=$(on a ss -Hn $look 2>/dev/null) right=$(on b ss -Hn $look 2>/dev/null)
		[ -z "$left" ] || [ -z "$right" ] || break
		sleep 0.05
	done
	wait "$pid"
	output=$left$'\n'$right$'\n'$(head -c 300 "$work/m.json")$(<"$work/errors")
}
tcp="-tim state established"
udp="-uam"

during "$tcp" tcp_stream --mss 700
for end in left right; do
	is "mss, $end: no larger segments" "$(grep -o ' mss:[0-9]*' <<<"${!end}" | sort -u |
		awk -F: '$2 > 700 || $2 < 600' | wc -l) $(grep -c ' mss:' <<<"${!end}")" "0 1"
done
during "$tcp" tcp_rr --congestion reno
for end in left right; do
	is "congestion, $end" "$(grep -ow 'reno\|cubic' <<<"${!end}" | sort -u)" reno
done
during "$tcp" tcp_stream --rcvbuf 300000 --sndbuf 200000
for end in left right; do
	is "TCP buffers, $end: twice what was asked for, socket(7)" \
		"$(grep -o 'rb[0-9]*\|tb[0-9]*' <<<"${!end}" | head -2 | xargs)" "rb600000 tb400000"
done
during "$udp" udp_stream --packets 100pps --rcvbuf 300000 --sndbuf 200000
for end in left right; do
	is "UDP buffers, $end" "$(grep -o 'rb[0-9]*\|tb[0-9]*' <<<"${!end}" | head -2 | xargs)" "rb600000 tb400000"
done
during "$tcp" tcp_rr --bind-device eth1
for end in left right; do
	is "bind_device, $end" "$(grep -c '%eth1:' <<<"${!end}")" 1
done
during "$udp" udp_rr --bind-device eth1
for end in left right; do
	is "bind_device by UDP, $end" "$(($(grep -c '%eth1:' <<<"${!end}") > 0))" 1
done

# marked TEST FAMILY: DSCP 46 on all packets of the test, in both directions where it has answers.
for node in a b; do
	on $node nft -f - <<-'END'
		table inet seen {
			counter marked4 {}
			counter marked6 {}
			counter other {}
			chain out {
				type filter hook output priority 0
				ip dscp 46 counter name marked4 accept
				ip6 dscp 46 counter name marked6 accept
				meta l4proto { tcp, udp } counter name other
			}
		}
	END
done
count() { on "$1" nft -j list counter inet seen "$2" | jq '[.nftables[].counter.packets? // empty] | add'; }
for test in tcp_stream tcp_rr tcp_crr udp_rr udp_bidir; do
	for family in 4 6; do
		options=(--dscp 46 --duration 400ms --warmup 100ms)
		[ $test != udp_bidir ] || options+=(--packets 200pps)
		[ $family = 4 ] || options+=(--ipv6)
		for node in a b; do on $node nft reset counters >/dev/null; done
		run vpclab measure "$lab:a" b $test "${options[@]}"
		for node in a b; do
			# A listener answers a SYN before its connection has a socket: Linux marks that too.
			is "$test, IPv$family: DSCP on all that $node sends" \
				"$(($(count $node marked$family) > 5)) $(count $node other)" "1 0"
		done
	done
done
lab_down
finish
