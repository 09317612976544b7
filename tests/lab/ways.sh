#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ways: packets go where `vpclab path` says: through middles, spans, relays and caps of both
# directions, there and back; each flow by its own slot; and one connection too many is refused.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq ping python3

cat >"$work/ways.yaml" <<'END'
version: 1
hosts: {h1: {}, h2: {}}
fabric: {nic: {rate: 1gbit}, delay: 2ms}
networks: {net: {cidr: [10.0.0.0/24, "fd00::/64"]}}
vms:
  sum: {host: h1, network: net, vnic: {rate: 100mbit, pps: 20kpps, direction: sum, queues: {count: 4, rate_each: 25mbit}}}
  each: {host: h2, network: net, vnic: {rate: 100mbit, per_flow: 10mbit, pps: {police: 20kpps}}}
  few: {host: h2, network: net, vnic: {connections: 5}}
nodes:
  a: {addresses: [10.1.0.1/24], routes: [default via 10.1.0.254]}
  r: {kind: router, addresses: {e0: 10.1.0.254/24, e1: 10.2.0.254/24}}
  b: {addresses: [10.2.0.1/24], routes: [default via 10.2.0.254]}
links:
  - {endpoints: ["a:e0", "r:e0"], rate: 100mbit, delay: 5ms, via: relay}
  - {endpoints: ["r:e1", "b:e0"], rate: 100mbit, pps: {police: 20kpps}, delay: 5ms}
END
# sent NODE DEVICE: packets that it has sent.
sent() {
	on "$1" cat "/sys/class/net/$2/statistics/tx_packets"
}

# devices SRC DST [OPTION]: "NODE DEVICE" of each hop that sends, there and back.
devices() {
	vpclab path "$lab:$1" "$2" --json "${@:3}" | jq -r '
		(.hops + .hops_back)[] | select(.device_out) | "\(.node) \(.device_out)"'
}

# goes SRC DST ADDRESS [OPTION]: ten pings there and back pass each device of the path.
goes() {
	local node device before=() after i=0 missed='' list
	list=$(devices "$1" "$2" "${@:4}")
	while read -r node device; do
		before+=("$(sent "$node" "$device")")
	done <<<"$list"
	run on "$1" ping -c 10 -i 0.05 -W 3 -q "$3"
	has "$1 → $2 ${4:-}: all arrive" "$output" " 10 received"
	while read -r node device; do
		after=$(sent "$node" "$device")
		[ $((after - before[i++])) -ge 10 ] || missed+=" $node:$device"
	done <<<"$list"
	is "$1 → $2 ${4:-}: by the $i devices of the path" "$missed" ""
}

# least SRC ADDRESS MILLISECONDS: no answer comes earlier.
least() {
	run on "$1" ping -c 5 -i 0.05 -W 3 -q "$2"
	is "$1 → $2: never earlier than $3 ms" \
		"$(awk -F'[=/ ]+' -v least="$3" '/^rtt/ { print ($6 >= least) }' <<<"$output")" 1
}

lab_up ways "$work/ways.yaml" || finish
goes sum each 10.0.0.11
goes each sum 10.0.0.10
goes sum each fd00::b --ipv6
goes a b 10.2.0.1
goes b a 10.1.0.1
least sum 10.0.0.11 4
least a 10.2.0.1 20

# Many flows come into several slots of the vNIC's shaper; what a ping sends stays in one.
slots() {
	on h1 tc -s class show dev sum-cap | awk '
		/^class htb 1:10[0-3] / { slot = 1 }
		slot && /Sent/ { slot = 0; print $4 }'
}
slots_before=$(slots)
on sum ping -c 20 -i 0.01 -q 10.0.0.11 >/dev/null
is "a ping is one flow each way" "$(paste <(echo "$slots_before") <(slots) |
	awk '$2 - $1 >= 20 { used++ } $2 - $1 > 0 && $2 - $1 < 15 { strays++ }
	END { print (used >= 1 && used <= 2), strays + 0 }')" "1 0"
slots_before=$(slots)
on sum python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for port in range(20000, 20064):
    s.sendto(b"x", ("10.0.0.11", port))'
is "64 flows use all slots" "$(paste <(echo "$slots_before") <(slots) |
	awk '$2 > $1 { used++ } END { print used + 0 }')" 4

# Five connections at once, whoever opens them.
connections='
import socket
held = []
for i in range(8):
    c = socket.socket()
    c.settimeout(0.3)
    try:
        c.connect(("10.0.0.12", 7000))
        held.append(c)
    except OSError:
        c.close()
print(len(held))'
on few python3 -c '
import socket, sys
s = socket.socket()
s.bind(("", 7000))
s.listen(20)
print("ready", flush=True)
sys.stdin.read()' < <(sleep 10) >"$work/ready" &
server=$!
for _ in $(seq 50); do
	grep -q ready "$work/ready" && break
	sleep 0.1
done
is "five connections, no more" "$(on sum python3 -c "$connections")" 5
kill $server 2>/dev/null
wait $server 2>/dev/null
lab_down
finish
