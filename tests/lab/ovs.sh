#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ovs: the same shapes on Open vSwitch obey the same rules as on Linux bridges, and check finds what
# somebody changed inside an instance.
# timeout: 600
# beside: packets pass or do not, however late
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=shapes.inc
. "$top/tests/lab/shapes.inc"
need jq iperf3 arping ping nft ovs-vswitchd

all_shapes() {
	local file scaled=(--set fabric.nic.rate=50mbit)
	for file in "$top"/topologies/*-ovs.yaml; do
		run_shape "$(basename "$file" .yaml)"
	done
	run_shape eip-ovs "${form_2018[@]}"
	run_shape two-vpc "${scaled[@]}" --set hosts.h1.bridge=ovs --set hosts.h2.bridge=ovs
	run_shape zstack "${scaled[@]}" --set hosts.h1.bridge=ovs --set hosts.h2.bridge=ovs \
		--set hosts.h3.bridge=ovs
}

# An emulated machine has no time for more than one of them.
if [ -n "${VPCLAB_SLOW:-}" ]; then
	run_shape vpc-ovs
else
	all_shapes
fi

# finds TEXT CMD…: after the command, run in h2, check tells a difference with that text.
finds() {
	local text=$1
	shift
	passes "$*" on h2 "$@"
	run vpclab check "$lab"
	is "check after $*" "$status" 1
	has "check after $*: what" "$output" "h2: Open vSwitch: $text"
}

# Each change is undone before the next, but the last ones, after which nothing is as planned.
changes() {
	local rule='priority=115,arp,in_port=web_o,arp_op=1'

	finds 'br-public: flow missing: priority=115,arp,in_port="web_o",arp_op=1 actions=drop' \
		ovs-ofctl --strict del-flows br-public "$rule"
	passes "the flow comes back" on h2 ovs-ofctl add-flow br-public "$rule,actions=drop"
	passes "its counters are no difference" vpclab check "$lab"
	finds 'br-public: flow not planned: table=3 priority=7,arp actions=drop' \
		ovs-ofctl add-flow br-public 'table=3,priority=7,arp,actions=drop'
	passes "the flow goes" on h2 ovs-ofctl del-flows br-public table=3
	finds 'bridge extra not planned' ovs-vsctl add-br extra -- set bridge extra \
		datapath_type=dummy
	finds 'port plain planned on br-public, is on extra' ovs-vsctl del-port plain -- \
		add-port extra plain
	passes "the port goes back" on h2 ovs-vsctl del-br extra -- add-port br-public plain
	finds 'port web_o planned on br-public, is missing' ovs-vsctl del-port web_o
	has "a flow that needs it" "$output" 'a flow needs port web_o, which is missing: priority=1'
	finds 'br-public: MAC planned 02:' ovs-vsctl set bridge br-public \
		'other-config:hwaddr="06:00:00:00:00:01"'
	finds 'br-public: datapath planned ' ovs-vsctl --no-wait set bridge br-public \
		datapath_type=other
	finds 'bridge br-public missing' ovs-vsctl --no-wait del-br br-public
	finds 'ovs-vsctl: unix:/run/ovs/h2/db.sock: database connection failed' \
		ovs-appctl -t ovsdb-server exit
}

if lab_up eip-ovs topologies/eip-ovs.yaml; then
	changes
	lab_down
fi
finish
