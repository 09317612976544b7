#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# trials: trials of one's own: events at any link or node of any topology happen, are counted where they
# are, and are refused, before the tool runs, where there is no such place; a DSCP is seen on the wire.
# timeout: 240
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq openssl

mkdir "$work/bin"
ln -s "$VPCLAB" "$work/bin/vpclab"
PATH=$work/bin:$PATH

cat >"$work/chain.yaml" <<'END'
version: 1
name: chain
nodes:
  a: {kind: machine, addresses: [10.1.0.1/24], routes: [default via 10.1.0.254]}
  r: {kind: router, addresses: {eth0: 10.1.0.254/24, eth1: 10.2.0.254/24}, routes: [10.3.0.0/24 via 10.2.0.253]}
  s: {kind: router, addresses: {eth0: 10.2.0.253/24, eth1: 10.3.0.254/24}, routes: [10.1.0.0/24 via 10.2.0.254]}
  b: {kind: machine, addresses: [10.3.0.1/24], routes: [default via 10.3.0.254]}
links:
  - {endpoints: ["a:eth0", "r:eth0"]}
  - {endpoints: ["r:eth1", "s:eth0"], rate: 50mbit, queue: 50ms}
  - {endpoints: ["s:eth1", "b:eth0"]}
END

# trial NAME EVENT [MORE]: on the chain.
trial() {
	cat >"$work/$1.yaml" <<-END
		version: 1
		name: $1
		topology: $work/chain.yaml
		from: a
		to: b
		ask: {test: udp_stream, rate: 5mbit, size: 1000, duration: 3s}
		events: [$2]
		truth: {loss: counted}
		tolerance: {loss: 1%}
	END
	trials+=(--trials "$work/$1.yaml")
}

# of NAME JQ: of that trial's result.
of() {
	jq -r --arg t "$1" ".results[] | select(.trial == \$t) | $2" "$work/result.json"
}

# lost NAME TITLE LEAST: the counters at both ends of the way saw that share missing, in per cent.
lost() {
	local share
	share=$(of "$1" '(1 - .evidence.arrived_packets / .evidence.sent_packets) * 100 | floor')
	output=$(of "$1" '.inconclusive, .answers[].text')
	is "$2" "$([ "${share:-0}" -ge "$3" ] && [ "$share" -le 90 ] && echo there || echo "$share %")" there
}

trials=()
trial first '{at: 1s, link: a-r, cut: true, for: 1s}'
trial middle '{at: 1s, link: r-s, cut: true, for: 1s}'
trial last '{at: 1s, link: "b:eth0", cut: true, for: 1s}'
trial node '{at: 1s, node: s, cut: true, for: 1s}'
trial slower '{at: 1s, link: r-s, rate: 1mbit}'
run vpclab verify --tool vpclab -j 2 -q --json "${trials[@]}" -o "$work/result.json"
lost first "a cut of the first link of a way: what is sent is counted, and does not arrive" 5
lost middle "… of one in the middle" 5
lost last "… of the last, named by its end: what it drops has not arrived" 5
lost node "… of all links of a node" 5
lost slower "a link that becomes slower, by keys of a schedule" 20
is "no event failed to happen" "$(jq -c '[.results[].inconclusive // "" | select(contains("event"))]' "$work/result.json")" "[]"

# A tool that is asked for a DSCP and does something else with the number.
sed 's/^name: vpclab/name: deaf/; s/--dscp, /--seed, /' scenarios/tools/vpclab.yaml >"$work/deaf.yaml"
run vpclab verify --tool vpclab --tool "$work/deaf.yaml" --trials dscp --trials dscp-tcp -q --json -o "$work/result.json"
marks() {
	output=$(jq -r '.results[].answers[].text' "$work/result.json")
	is "$1" "$(jq -r --arg t "$2" '[.results[] | select(.tool == $t) | .answers[] | select(.about == "dscp") | .judgement + " " + .kind] | unique | join(", ")' "$work/result.json")" "$3"
}
marks "a DSCP that was asked for is on the wire, IPv4's and IPv6's" vpclab "true none"
marks "… or it is a lie" deaf "lie silent-fallback"

trials=()
trial nowhere '{at: 1s, link: r-x, cut: true}'
trial nobody '{at: 1s, node: x, cut: true}'
trial key '{at: 1s, link: r-s, rat: 1mbit}'
trial frozen '{at: 1s, link: r-s, freeze: 1s}'
run vpclab verify --tool vpclab -j 2 -q --json "${trials[@]}" -o "$work/result.json"
is "no event, no verdict" "$(jq -c '[.results[].judgement] | unique' "$work/result.json")" '["inconclusive"]'
has "a link that there is not, with its place and a suggestion" "$(of nowhere .inconclusive)" "nowhere.yaml:7:10: event: there is no link 'r-x' in 'chain'; did you mean 'r-s'?"
has "a node that there is not" "$(of nobody .inconclusive)" "there is no node 'x'"
has "a key that a link has not, with a suggestion" "$(of key .inconclusive)" "did you mean 'rate'?"
has "standing still wants a relay" "$(of frozen .inconclusive)" "via: relay"
trial which '{at: 1s, cut: true}'
fails_with 2 "which of several" vpclab verify --tool vpclab --trials "$work/which.yaml"
has "… is asked where it is read" "$output" "which.yaml:7:10: which 'link'?"
finish
