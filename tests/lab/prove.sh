#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# prove: `vpclab check --prove` finds that links are what they say, and finds out when one is not:
# rates changed by hand behind its back. Where the machine was the limit there is nothing to say: a
# skip, with the evidence; a proof never fails because of it.
# timeout: 400
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq tc

# proof FILTER: of the proofs in $output, those that the filter selects, one a line.
proof() {
	jq -c ".proofs[] | select($1)" <<<"$output"
}

# proves NAME [LAB]: all pass, or were not probed, or the machine was the limit and says so.
proves() {
	run vpclab check "${2:-$lab}" --prove -q --json
	if [ "$status" = 3 ]; then
		is "$1: nothing fails" "$(proof '.verdict == "fail"')" ""
		is "$1: each that is inconclusive says why" \
			"$(proof '.verdict == "inconclusive" and (.why // "") == ""')" ""
		tap_skip "$1" "$(jq -r '[.proofs[] | select(.verdict == "inconclusive") | .why][0]' <<<"$output")"
	else
		is "$1" "$status" 0
	fi
}

# rates and bases, and what a proof looks like
cat >"$work/plain.yaml" <<'END'
version: 1
name: plain
nodes:
  a: {kind: machine, addresses: [10.0.1.1/24], routes: [default via 10.0.1.254]}
  r: {kind: router, addresses: {eth1: 10.0.1.254/24, eth2: 10.0.2.254/24}}
  b: {kind: machine, addresses: [10.0.2.1/24], routes: [default via 10.0.2.254]}
links:
  - {endpoints: ["a:eth1", "r:eth1"]}
  - {endpoints: ["r:eth2", "b:eth1"], rate: 100mbit, basis: l2, queue: 20ms}
END
lab_up prove-plain "$work/plain.yaml" || finish
run vpclab up "$work/plain.yaml" --name "$lab" --prove -q
is "up --prove: right, or the machine was the limit" "${status/3/0}" 0
has "up --prove: says what came of it" "$output" "links proven: "
proves "plain"
is "plain: both directions of the one limited link" \
	"$(jq -r '[.proofs[] | .link + " " + .direction + " " + .what] | join(", ")' <<<"$output")" \
	"r-b r→b rate, r-b b→r rate"
is "plain: asked in bits a second, by the link's basis" \
	"$(jq -c '[.proofs[] | [.asked == 100000000, .unit, .basis]] | unique' <<<"$output")" \
	'[[true,"bps","l2"]]'
is "plain: nothing is above the rate" "$(proof '.error_share > 0.003')" ""
run vpclab check "$lab" --prove -q
has "a table" "$output" "link or cap"
has "a line that sums it up" "$output" "links proven: "
run vpclab check "$lab" --prove
has "progress" "$output" "proving r-b r→b"

# a link that is not what it says
on r tc qdisc change dev eth2 root tbf rate 110mbit burst 125000 limit 250000
run vpclab check "$lab" --prove -q --json
if [ -n "$(proof '.direction == "r→b" and .verdict == "inconclusive"')" ]; then
	tap_skip "too fast by a tenth" "$(proof '.direction == "r→b"' | jq -r .why)"
else
	is "too fast by a tenth: status" "$status" 1
	is "too fast by a tenth: the one direction fails, with the error" "$(
		proof '.verdict == "fail" and .error_share > 0.003 and .error_share < 0.11' |
			jq -r .direction)" "r→b"
fi
on r tc qdisc change dev eth2 root tbf rate 99mbit burst 125000 limit 250000
run vpclab check "$lab" --prove -q --json
if [ -n "$(proof '.direction == "r→b" and .verdict == "inconclusive"')" ]; then
	tap_skip "too slow by a hundredth" "$(proof '.direction == "r→b"' | jq -r .why)"
else
	is "too slow by a hundredth: fails" "$(proof '.direction == "r→b"' | jq -r .verdict)" fail
fi
# The right rate by the wrong basis.
on r tc qdisc change dev eth2 root tbf rate 100mbit burst 125000 limit 250000 overhead 24 mpu 84
run vpclab check "$lab" --prove -q --json
is "the wrong basis does not pass" "$(proof '.direction == "r→b" and .verdict == "pass"')" ""
# No frame arrives.
on wires tc qdisc add dev b-eth1 root pfifo limit 0 2>/dev/null || on b ip link set dev eth1 down
run vpclab check "$lab" --prove -q
is "a link that is cut" "$status" 1
lab_down

# slow ones, as the shape of a modem
lab_up prove-slow flat --set fabric.nic.rate=256kbit
proves "256 kbit/s"
is "256 kbit/s: four directions" "$(jq '.proofs | length' <<<"$output")" 4
lab_down

# all kinds of caps
cat >"$work/caps.yaml" <<'END'
version: 1
name: caps
hosts: {h1: {}}
networks: {net: {type: flat, cidr: 10.0.0.0/24}}
vms:
  pps: {host: h1, network: net, vnic: {pps: 5kpps}}
  police: {host: h1, network: net, vnic: {police: 20mbit, direction: egress}}
  sum: {host: h1, network: net, vnic: {rate: 20mbit, direction: sum}}
  queues: {host: h1, network: net, vnic: {rate: 40mbit, queues: {count: 4, rate_each: 10mbit}, direction: egress}}
  credit: {host: h1, network: net, vnic: {rate: {base: 10mbit, burst: 30mbit, credit: 1s}, direction: egress}}
END
if lab_up prove-caps "$work/caps.yaml"; then
	proves "caps"
	is "caps: what was probed" "$(jq -r '[.proofs[] | .link + " " + .what + " " + .direction] | join("; ")' <<<"$output")" \
		"pps vNIC packets tx; pps vNIC packets rx; police vNIC rate, policed tx; sum vNIC rate tx; sum vNIC rate rx; sum vNIC rate sum; queues vNIC rate tx; queues vNIC rate of one flow tx; credit vNIC burst rate tx; credit vNIC base rate tx"
	lab_down
fi

# what no probe can tell in its time, or at no machine's speed, is said, soon, and fails nobody
cat >"$work/edges.yaml" <<'END'
version: 1
name: edges
nodes: {a: {}, b: {}}
links:
  - {endpoints: ["a:slow", "b:slow"], pps: 1pps}
  - {endpoints: ["a:tiny", "b:tiny"], rate: 8bit}
  - {endpoints: ["a:deep", "b:deep"], police: {rate: 1mbit, burst: 1TiB}}
  - {endpoints: ["a:fast", "b:fast"], rate: 200gbit}
  - {endpoints: ["a:pps", "b:pps"], pps: 50Mpps}
  - {endpoints: ["a:trace", "b:trace"], trace: one.trace}
END
echo 5 >"$work/one.trace"
if lab_up prove-edges "$work/edges.yaml"; then
	run vpclab check "$lab" --prove -q --json
	is "edges: nothing fails" "$(proof '.verdict == "fail"')" ""
	is "edges: what is too slow or too deep is not probed" \
		"$(proof '.asked <= 1000000 and (.what | test("trace") | not)' | jq -r .verdict | sort -u)" \
		skip
	is "edges: what is too fast is inconclusive, at the first try" \
		"$(proof '.asked > 1000000' | jq -c '[.verdict, .tries]' | sort -u)" '["inconclusive",1]'
	is "edges: a trace of one opportunity is seen many times" "$(
		proof '(.what | test("trace")) and .verdict == "pass"
			and (.error_share < -0.05 or .error_share > 0.05)')" ""
	lab_down
fi

# what happens on the way
cat >"$work/way.yaml" <<'END'
version: 1
name: way
nodes:
  a: {kind: machine, addresses: [10.0.0.1/24]}
  b: {kind: machine, addresses: [10.0.0.2/24]}
  c: {kind: machine, addresses: [10.0.1.1/24]}
  d: {kind: machine, addresses: [10.0.1.2/24]}
links:
  - endpoints: ["a:eth0", "b:eth0"]
    rate: 50mbit
    ab: {delay: 10ms, loss: {every: 100}, black_hole: 1400}
    ba: {delay: 2ms, loss: 1%, duplication: 2%, reordering: 3%, corruption: 1%}
  - endpoints: ["c:eth0", "d:eth0"]
    ab: {flap: {up: 300ms, down: 100ms}}
    ba: {delay: 1ms, loss: {after: 300}}
END
if lab_up prove-way "$work/way.yaml"; then
	proves "on the way"
	is "on the way: what is exact is exact" "$(
		jq -c '[.proofs[] | select(.what | test("every|after|hole")) | [.what, .asked == .got]]' <<<"$output")" \
		'[["loss, every",true],["black hole above",true],["loss, after",true]]'
	is "on the way: who did it" "$(
		jq -r '[.proofs[] | select(.what != "rate") | .engine] | unique | .[]' <<<"$output")" relay
	# A probe uses up nothing: the loss behind 300 packets is as far away as before.
	run vpclab check "$lab" --prove -q --json
	is "on the way: a proof leaves the link as it was" \
		"$(proof '.what == "loss, after"' | jq -c '[.got == 300, .verdict]')" '[true,"pass"]'
	lab_down
fi

# as an ordinary user
user_tree
cp "$work/plain.yaml" "$work/user/plain.yaml"
chmod 644 "$work/user/plain.yaml"
if as_user "$work/user/bin/vpclab" up "$work/user/plain.yaml" --name prove-user >/dev/null 2>&1; then
	run as_user "$work/user/bin/vpclab" check prove-user --prove -q --json
	case $status in
	3) tap_skip "an ordinary user" "$(jq -r '[.proofs[] | select(.verdict == "inconclusive") | .why][0]' <<<"$output")" ;;
	*) is "an ordinary user" "$status" 0 ;;
	esac
	as_user "$work/user/bin/vpclab" down prove-user >/dev/null
else
	tap_skip "an ordinary user" "this user may not make a lab"
fi

# a scenario proves its links first, and fails when one is wrong
cat >"$work/proven.yaml" <<END
version: 1
name: proven-$$
topology: $work/plain.yaml
repeat: {min: 1, max: 1}
paths:
  there: {from: a, to: b}
measure:
  stream: {test: tcp_stream, duration: 300ms, warmup: 100ms}
END
run vpclab run "$work/proven.yaml" -o "$work/out"
has "a scenario: the lab's line tells" "$output" "links"
is "a scenario: its report has the proofs" "$(jq '.proofs | length' "$work/out/report.json")" 2
has "a scenario: JUnit has a case for them" "$(<"$work/out/junit.xml")" 'name="links are what they say"'
finish
