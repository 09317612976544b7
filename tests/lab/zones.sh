#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# zones: link-local addresses with a zone (RFC 4007), fe80::b%eth1: each family of tests, in a lab and
# between ends that a listener serves; two devices behind which two machines have the same address; and
# what is said where the zone is unknown or missing.
# timeout: 240
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq od

cat >"$work/lab.yaml" <<'END'
version: 1
nodes:
  a: {kind: machine, addresses: {eth1: [10.8.0.1/24, "fe80::a1/64"], eth2: [10.9.0.1/24, "fe80::a2/64"]}}
  b: {kind: machine, addresses: {eth1: [10.8.0.2/24, "fe80::b/64"]}}
  c: {kind: machine, addresses: {eth1: [10.9.0.2/24, "fe80::b/64"]}}
  r: {kind: router, addresses: {eth1: fd00:7::1/64}}
  d: {kind: machine, addresses: {eth1: [fd00:7::2/64, "fe80::d/64"]}}
links:
  - {endpoints: ["a:eth1", "b:eth1"]}
  - {endpoints: ["a:eth2", "c:eth1"]}
  - {endpoints: ["d:eth1", "r:eth1"]}
END
lab_up zones "$work/lab.yaml" || finish
passes "two devices with a network of link-local addresses each are as planned" vpclab check "$lab"

brief() { # TEST: options for a short run of it
	case $1 in
	udp_stream | udp_maerts | udp_bidir | udp_multicast | udp_latency) echo --packets 500pps ;;
	throughput) echo --file-size 1MB ;;
	esac
	echo --duration 500ms --warmup 100ms --json
}

# over NAME ARGUMENT…: a measurement with a valid result whose flows go to fe80::b.
over() {
	local name=$1
	shift
	run "$@"
	is "$name" "$(jq -c '.engine // .pairs[0].engine // . | [.invalid, (.flows[0].remote | startswith("fe80::")
		or startswith("ff15::")), (.pps > 0 or .goodput_bps > 0 or .latency_ns.count > 0)]' <<<"$output" 2>&1)" \
		'[null,true,true]'
}

for test in tcp_stream tcp_maerts tcp_bidir tcp_sendfile tcp_rr tcp_crr tcp_cc throughput pairs \
	udp_stream udp_maerts udp_bidir udp_multicast udp_rr udp_latency; do
	# shellcheck disable=SC2046 # options
	over "$test over a zone" vpclab measure "$lab:a" fe80::b%eth1 $test $(brief $test)
done
# shellcheck disable=SC2046
for zone in eth1 eth2; do
	before=$(on a cat /sys/class/net/$zone/statistics/tx_packets)
	over "tcp_rr behind $zone" vpclab measure "$lab:a" fe80::b%$zone tcp_rr $(brief tcp_rr)
	is "tcp_rr behind $zone: goes there" \
		$(($(on a cat /sys/class/net/$zone/statistics/tx_packets) - before > 50)) 1
done
mac=$(on r cat /sys/class/net/eth1/address)
IFS=: read -r -a m <<<"$mac"
made=$(printf 'fe80::%02x%s:%sff:fe%s:%s%s' $((16#${m[0]} ^ 2)) "${m[1]}" "${m[2]}" "${m[3]}" "${m[4]}" "${m[5]}")
# shellcheck disable=SC2046
over "an address that the kernel made from a MAC" vpclab measure "$lab:d" "$made%eth1" tcp_rr $(brief tcp_rr)
# shellcheck disable=SC2046
over "udp_rr, the client bound to its own link-local address" vpclab measure "$lab:a" fe80::b%eth1 \
	udp_rr --client-address fe80::a1 $(brief udp_rr)
# shellcheck disable=SC2046
over "tcp_crr, the client bound to its address and zone" vpclab measure "$lab:a" fe80::b%eth1 \
	tcp_crr --client-address fe80::a1%eth1 $(brief tcp_crr)
# shellcheck disable=SC2046
over "tcp_rr, both ends bound to a device" vpclab measure "$lab:a" fe80::b%eth1 \
	tcp_rr --bind-device eth1 $(brief tcp_rr)

refused() { # NAME WHAT ARGUMENT…: exit status 2, and says WHAT
	local name=$1 what=$2
	shift 2
	fails_with 2 "$name" "$@"
	has "$name: it says so" "$output" "$what"
}
refused "an unknown zone" "a has no device 'eth9'" vpclab measure "$lab:a" fe80::b%eth9 tcp_rr
refused "nobody there" "nobody has fe80::99%eth1 behind a:eth1" \
	vpclab measure "$lab:a" fe80::99%eth1 tcp_rr
refused "no zone" "fe80::b is link-local: behind which device of a is it? Write fe80::b%DEVICE" \
	vpclab measure "$lab:a" fe80::b tcp_rr
refused "a zone of what is not link-local" "only a link-local address" \
	vpclab measure "$lab:a" 10.8.0.2%eth1 tcp_rr
refused "another device than the zone" "is not behind the device 'eth1'" \
	vpclab measure "$lab:a" fe80::b%eth1 tcp_rr --client-address fe80::a2%eth2 --bind-device eth1

# --- ends that a listener serves
head -c 32 /dev/urandom | od -An -tx1 >"$work/key"
chmod 600 "$work/key"
: >"$work/listening"
on b "$VPCLAB" engine --listen 10.8.0.2:0 --key "$work/key" >"$work/listening" 2>&1 &
listener=$!
for ((i = 0; i < 100 && !$(grep -c listening "$work/listening"); i++)); do
	sleep 0.05
done
end=tls://10.8.0.2:$(sed 's/.*://' "$work/listening")
for test in tcp_stream udp_stream tcp_rr udp_rr tcp_crr udp_latency; do
	# shellcheck disable=SC2046
	over "$test to a listener over a zone" on a "$VPCLAB" measure local "$end" $test --key "$work/key" \
		--address fe80::b%eth1 $(brief $test)
done
refused "a listener, no zone" "fe80::b is link-local: behind which device is it?" \
	on a "$VPCLAB" measure local "$end" tcp_rr --key "$work/key" --address fe80::b
refused "a listener, an unknown zone" "there is no device 'eth7' here" \
	on a "$VPCLAB" measure local "$end" tcp_rr --key "$work/key" --address fe80::b%eth7
# shellcheck disable=SC2046
over "one machine's own address" on a "$VPCLAB" engine tcp_rr --address fe80::a1%eth1 $(brief tcp_rr)
kill "$listener"
wait "$listener" 2>/dev/null
lab_down
finish
