#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# account: where packets went, to the packet: on links of every arrangement, under floods and TCP,
# as root and as an ordinary user; and `vpclab top`.
# timeout: 500
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

# Machines: a router's own queue, a middle, a policer, a relay with everything it can lose.
cat >"$work/machines.yaml" <<'YAML'
version: 1
name: account
nodes:
  a: {kind: machine, addresses: {eth1: 10.0.1.1/24, eth2: 10.0.3.1/24, eth3: 10.0.4.1/24,
                                  eth4: 10.0.5.1/24},
      routes: [10.0.2.0/24 via 10.0.1.254]}
  r: {kind: router, addresses: {eth1: 10.0.1.254/24, eth2: 10.0.2.254/24}}
  b: {kind: machine, addresses: [10.0.2.1/24], routes: [default via 10.0.2.254]}
  c: {kind: machine, addresses: [10.0.3.2/24]}
  d: {kind: machine, addresses: [10.0.4.2/24]}
  e: {kind: machine, addresses: [10.0.5.2/24]}
links:
  - endpoints: ["a:eth1", "r:eth1"]
  - {endpoints: ["r:eth2", "b:eth1"], rate: 20mbit}
  - {endpoints: ["a:eth2", "c:eth1"], rate: 30mbit, pps: {police: 2kpps}}
  - {endpoints: ["a:eth3", "d:eth1"], rate: 20mbit, delay: 5ms, loss: 2%, duplication: 2%,
     reordering: 1%, black_hole: 1000}
  - {endpoints: ["a:eth4", "e:eth1"], rate: 20mbit, delay: 20ms}
YAML

# VMs: a cap each way, one for the sum, a policer, queues, connections.
cat >"$work/vms.yaml" <<'YAML'
version: 1
name: account
hosts: {h1: {nic: {rate: 100mbit}}, h2: {nic: {rate: 100mbit}}}
networks: {net: {type: flat, cidr: 10.0.0.0/24}}
vms:
  x: {host: h1, network: net, vnic: {rate: 50mbit, pps: 5kpps, direction: sum}}
  y: {host: h1, network: net, vnic: {rate: 20mbit, pps: {police: 3kpps}}}
  z: {host: h2, network: net, vnic: {rate: 40mbit, pps: 8kpps, queues: {count: 4, pps_each: 2kpps}}}
YAML

# closes NAME LAB: each direction of each link of an idle lab, and their sums.
closes() {
	local holes
	holes=$("${program[@]}" check "$2" | grep -E 'unexplained|more than entered')
	is "$1: no hole" "$holes" ""
	is "$1: entered = left + lost + waiting - twice" "$("${program[@]}" inspect "$2" --json | jq -c '
		[.account.links[] | select(.entered_packets != .left_packets + .waiting_packets -
			.duplicated_packets + ([.lost[].packets] | add // 0)) | .name]')" '[]'
}

# follows NAME LAB:FROM TO TEST…: what a measurement says of its own packets.
follows() {
	local name=$1
	shift
	"${program[@]}" measure "$@" --duration 600ms --warmup 100ms --json >"$work/m.json" 2>"$work/m.err"
	is "$name: all is told" "$(jq -c '.account | [.unexplained_packets, .why]' "$work/m.json") \
$(<"$work/m.err")" '[0,null] '
	[ "$3" = udp_stream ] || return 0
	is "$name: sent = delivered + lost" "$(jq -c '.account |
		.sent_packets - .delivered_packets == ([.lost[] | select(.of == "data").packets] |
			add // 0) - .lost_others_packets - .duplicated_packets or .duplicated_packets > 0' \
		"$work/m.json")" true
}

# cause NAME CAUSE WHERE: the measurement before lost packets so.
cause() {
	is "$1: lost by $2 at $3" "$(jq -c --arg c "$2" --arg w "$3" 'any(.account.lost[];
		.cause == $c and (.where | startswith($w)) and .packets > 0)' "$work/m.json")" true
}

# arrangements WHO PREFIX: by `program`, whoever runs it.
arrangements() {
	local who=$1 name=$2
	"${program[@]}" up "$3/machines.yaml" --name "$name-m" >/dev/null 2>"$work/up.err"
	is "$who: up" "$? $(<"$work/up.err")" "0 "
	[ "$who" != root ] || labs+=("$name-m" "$name-v")
	follows "$who: a router's queue" "$name-m:a" b udp_stream
	cause "$who: a router's queue" queue r:eth2
	follows "$who: TCP through it" "$name-m:a" b tcp_stream
	follows "$who: a policer" "$name-m:a" c udp_stream --size 300
	cause "$who: a policer" police wires:a-eth2
	follows "$who: a relay" "$name-m:a" d udp_stream --size 300
	cause "$who: a relay" loss "relay a-d"
	follows "$who: a black hole" "$name-m:a" d udp_stream --size 1200
	cause "$who: a black hole" black_hole "relay a-d"
	follows "$who: the ends' first words are still on the way" "$name-m:a" e udp_stream -r 10mbit
	local n
	n=$("${program[@]}" inspect "$name-m" --json | jq '.account.links[] |
		select(.name == "a-e" and .direction == "ab") | .entered_packets')
	has "$who: fate sums up its log" "$("${program[@]}" fate "$name-m:a-e" -n 1)" \
		"a→b: $n packets: $n passed"
	follows "$who: TCP through the relay" "$name-m:a" d tcp_rr
	closes "$who: machines" "$name-m"
	"${program[@]}" down "$name-m" >/dev/null 2>&1

	"${program[@]}" up "$3/vms.yaml" --name "$name-v" >/dev/null 2>"$work/up.err"
	is "$who: VMs: up" "$? $(<"$work/up.err")" "0 "
	follows "$who: one cap for both ways" "$name-v:x" z udp_stream --size 500
	cause "$who: one cap for both ways" queue h1:x-cap
	follows "$who: a vNIC's policer" "$name-v:y" z udp_stream --size 500
	cause "$who: a vNIC's policer" police h1:y-tap
	follows "$who: queues of a vNIC" "$name-v:z" x udp_stream --size 500 --streams 4
	cause "$who: queues of a vNIC" queue "h2:z-out class 1:10"
	follows "$who: TCP between VMs" "$name-v:x" z tcp_stream
	follows "$who: TCP back" "$name-v:z" y tcp_stream
	closes "$who: VMs" "$name-v"
	"${program[@]}" down "$name-v" >/dev/null 2>&1
}

program=("$VPCLAB")
arrangements root "account-$$" "$work"

# ---- top ----

lab_up top topologies/dumbbell.yaml || finish
"$VPCLAB" measure "$lab:a" b udp_stream --duration 4s --size 1000 >/dev/null 2>&1 &
sleep 1.5
run_top() { "$VPCLAB" top "$lab" --interval 300ms "$@"; }
output=$(run_top -n 2)
is "top: a block an interval, not on a terminal" "$(grep -c '^node ' <<<"$output")" 2
has "top: the queue that drops" "$output" "qdisc"
has "top: queues" "$(run_top --once --queues)" "tbf 1:"
json=$(run_top -n 2 --json)
is "top --json: a line an interval" "$(jq -c '.interfaces | length > 0' <<<"$json")" $'true\ntrue'
is "top --json: drops by cause" "$(head -n 1 <<<"$json" | jq -c '[.interfaces[].drops] |
	any(.qdisc.pps > 0) and all(.nft.pps == 0)')" true
sar=$(run_top --once --sar --node r)
is "top --sar: sar's header" "$(sed -n 3p <<<"$sar" | cut -c 9-)" \
	"        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil"
is "top --sar: sar's rows" "$(grep -cE '^[0-9:]{8}  +(lo|eth1|eth2)( +[0-9]+\.[0-9]{2}){8}$' \
	<<<"$sar")" 3
has "top --sar: an average at the end" "$sar" "Average:         eth1"
fails_with 2 "top: a node that is not there" "$VPCLAB" top "$lab" --node nobody --once
wait
output=$(run_top --once)
has "top: idle interfaces are left out" "$output" "nothing moves"
has "top --all" "$(run_top --once --all)" "eth2"
lab_down

# ---- an ordinary user ----

user_tree
cp "$work"/machines.yaml "$work"/vms.yaml "$work/user/"
chmod -R a+rX "$work/user"/*.yaml
if as_user "$work/user/bin/vpclab" up "$work/user/machines.yaml" --name probe >/dev/null 2>&1; then
	as_user "$work/user/bin/vpclab" down probe >/dev/null 2>&1
	program=(as_user "$work/user/bin/vpclab")
	arrangements user account "$work/user"
else
	tap_skip "as an ordinary user" "this kernel gives users no namespaces"
fi
finish
