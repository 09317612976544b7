#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# path_check: what it finds of a path is what the topology says: path MTU told by ICMP and not told,
# hops, an elastic address and a VPC's tunnel, classes that a router clears, a NAT that forgets.
# timeout: 240
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq nft ping

# look NAME ARGUMENT…: path_check of $lab; what it found goes to $found.
look() {
	local name=$1
	shift
	vpclab measure "$@" --json >"$work/found.json" 2>"$work/found.err"
	found=$(jq .engine.detail "$work/found.json")
	is "$name: the server answers" "$(jq .reached <<<"$found")" true
}

# finds NAME FILTER WANTED: in $found.
finds() {
	output=$found
	is "$1" "$(jq -c "$2" <<<"$found")" "$3"
}

routed() { # FILE FIRST SECOND THIRD: what the three links from a over r1 and r2 to b have
	cat >"$1" <<END
version: 1
nodes:
  a: {addresses: [10.0.1.1/24, "fd01::1/64"], routes: [default via 10.0.1.254, "default via fd01::254"]}
  r1: {kind: router, addresses: {e0: [10.0.1.254/24, "fd01::254/64"], e1: [10.0.9.1/24, "fd09::1/64"]}, routes: [10.0.2.0/24 via 10.0.9.2, "fd02::/64 via fd09::2"]}
  r2: {kind: router, addresses: {e0: [10.0.9.2/24, "fd09::2/64"], e1: [10.0.2.254/24, "fd02::254/64"]}, routes: [10.0.1.0/24 via 10.0.9.1, "fd01::/64 via fd09::1"]}
  b: {addresses: [10.0.2.1/24, "fd02::1/64"], routes: [default via 10.0.2.254, "default via fd02::254"]}
links:
  - {endpoints: ["a:e0", "r1:e0"]$2}
  - {endpoints: ["r1:e1", "r2:e0"]$3}
  - {endpoints: ["r2:e1", "b:e0"]$4}
END
}

# --- a smaller MTU in the middle, told as it should be
routed "$work/told.yaml" "" ", mtu: 1400" ""
lab_up told "$work/told.yaml" || finish
look "a small MTU" "$lab:a" b path_check
finds "a small MTU: both ways, by ICMP" '.mtu | map_values([.mtu, .limit, .black_hole])' \
	'{"forward":[1400,"icmp",false],"back":[1400,"icmp",false]}'
finds "a small MTU: who told it" '.mtu.forward.told' '[{"size":1500,"mtu":1400,"from":"10.0.1.254"}]'
finds "the hops" '.hops | map([.hop, .address, .reached])' \
	'[[1,"10.0.1.254",false],[2,"10.0.9.2",false],[3,"10.0.2.1",true]]'
finds "as many routers there as back" .distance '{"forward":2,"back":2,"symmetric":true}'
finds "nothing is translated" '.translations | [.source, .destination]' '[false,false]'
finds "classes stay" '.dscp | all(.dscp == .arrived and .dscp == .returned)' true
finds "what the metric reads" .path_mtu 1400
# A router without a link-local address cannot ask for a neighbour on another's behalf (RFC 4861, 7.2.2:
# the question comes from an address of its own device), so it has to know them before.
for neighbours in "r1 fd09::2" "r2 fd02::1" "r2 fd09::1" "r1 fd01::1"; do
	# shellcheck disable=SC2086 # two words
	set -- $neighbours
	on "$1" ping -6 -q -c 1 -W 2 "$2" >/dev/null
done
look "IPv6" "$lab:a" b path_check --ipv6
finds "IPv6: path MTU" '.mtu.forward | [.mtu, .limit, .told[0].from]' '[1400,"icmp","fd01::254"]'
finds "IPv6: hops" '.hops | map(.address)' '["fd01::254","fd09::2","fd02::1"]'

# --- a router that clears the class, one way; one that lowers no class is not blamed
on r1 nft -f - <<'END'
table inet clear {
	chain forward {
		type filter hook forward priority 0;
		oifname "e1" ip dscp ef ip dscp set cs0
		oifname "e1" ip dscp cs7 drop
	}
}
END
look "a class that is cleared" "$lab:a" b path_check --script '{"dscp": [0, 46, 26, 56]}'
finds "a class that is cleared, one that is dropped" '.dscp | map([.dscp, .arrived, .returned])' \
	'[[0,0,0],[46,0,46],[26,26,26],[56,null,null]]'
finds "only what was asked for" 'keys' '["dscp","reached"]'

# --- ICMP that does not get through: what arrives decides
on r1 nft -f - <<'END'
table inet silence {
	chain output {
		type filter hook output priority 0;
		icmp type destination-unreachable drop
		icmpv6 type packet-too-big drop
	}
}
END
look "no ICMP" "$lab:a" b path_check --script mtu
finds "no ICMP: found all the same, and named" \
	'.mtu.forward | [.mtu, .limit, .black_hole, .vanished, .told]' '[1400,"black_hole",true,1401,[]]'
finds "no ICMP: the other router still tells" '.mtu.back | [.mtu, .limit]' '[1400,"icmp"]'
lab_down

# --- a link that swallows what is large; behind one that tells
routed "$work/hole.yaml" "" ", mtu: 1400" ", ab: {black_hole: 1300}"
lab_up hole "$work/hole.yaml" || finish
look "a black hole" "$lab:a" b path_check --script mtu
finds "a black hole behind a small MTU" \
	'.mtu.forward | [.mtu, .limit, .vanished, (.told | map(.mtu))]' '[1300,"black_hole",1301,[1400]]'
finds "a black hole has one way" '.mtu.back | [.mtu, .limit]' '[1400,"icmp"]'
lab_down

# --- losses are no black hole
routed "$work/lossy.yaml" ", loss: 8%, seed: 3" ", mtu: 1400" ""
lab_up lossy "$work/lossy.yaml" || finish
look "a path that loses 8 % each way" "$lab:a" b path_check --script mtu
finds "losses of all sizes are no black hole" '.mtu | map_values([.mtu, .limit])' \
	'{"forward":[1400,"icmp"],"back":[1400,"icmp"]}'
lab_down

# --- a cloud: a VM behind an elastic address, in a tunnel
lab_up zstack topologies/zstack.yaml || finish
look "an elastic address" "$lab:client" "eip(vpc-eip)" path_check
finds "an elastic address: what was asked and where it arrived" '.translations
	| [.source, .destination, (.asked | split(" ")[0]), (.arrived_at | split(" ")[0])]' \
	'[false,true,"192.0.2.60","10.20.0.10"]'
finds "a tunnel: the path's MTU, told there; the VM's own back" \
	'.mtu | map_values([.mtu, .limit])' '{"forward":[1450,"icmp"],"back":[1450,"device"]}'
finds "one router" .distance '{"forward":1,"back":1,"symmetric":true}'
lab_down

# --- a NAT that forgets after three seconds
cat >"$work/nat.yaml" <<'END'
version: 1
nodes:
  a: {addresses: [10.0.1.1/24], routes: [default via 10.0.1.254]}
  nat: {kind: router, addresses: {e0: 10.0.1.254/24, e1: 10.0.2.254/24}}
  b: {addresses: [10.0.2.1/24]}
links:
  - endpoints: ["a:e0", "nat:e0"]
  - endpoints: ["nat:e1", "b:e0"]
END
lab_up nat "$work/nat.yaml" || finish
on nat nft -f - <<'END'
table ip nat {
	chain out {
		type nat hook postrouting priority 100;
		oifname "e1" masquerade
	}
}
END
if on nat sysctl -qw net.netfilter.nf_conntrack_udp_timeout=3 \
	net.netfilter.nf_conntrack_udp_timeout_stream=3 2>"$work/sysctl.err"; then
	look "a NAT" "$lab:a" b path_check --script \
		'{"translations": true, "idle": {"from": "500ms", "to": "16s"}}'
	finds "a NAT: the server sees another source" '.translations
		| [.source, .destination, (.seen_as | split(" ")[0])]' '[true,false,"10.0.2.254"]'
	# Conntrack counts in whole seconds since the last packet.
	finds "a NAT: how long it remembers" \
		'.idle | [.survived_s >= 2 and .survived_s <= 4, .expired_s > 2.9 and .expired_s <= 5, .alive]' \
		'[true,true,true]'
else
	tap_skip "a NAT that forgets" "its times cannot be set: $(<"$work/sysctl.err")"
fi
lab_down

# --- words
fails_with 2 "a check misspelt" vpclab engine path_check --script mtu,hop
has "suggests" "$output" "unknown check 'hop'; did you mean 'hops'?"
fails_with 2 "no JSON" vpclab engine path_check --script '{"mtu"'
has "says so" "$output" "script: no JSON"
fails_with 2 "a class that is none" vpclab engine path_check --script '{"dscp": [64]}'
fails_with 2 "a time without unit" vpclab engine path_check --script '{"idle": {"from": 3}}'
fails_with 2 "more streams" vpclab engine path_check --streams 2
finish
