#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ovs: the same shapes on Open vSwitch obey the same rules as on Linux bridges.
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=shapes.inc
. "$top/tests/lab/shapes.inc"
need jq iperf3 arping ping nft ovs-vswitchd

for file in "$top"/topologies/*-ovs.yaml; do
	run_shape "$(basename "$file" .yaml)"
done
scaled=(--set fabric.nic.rate=50mbit)
run_shape two-vpc "${scaled[@]}" --set hosts.h1.bridge=ovs --set hosts.h2.bridge=ovs
run_shape zstack "${scaled[@]}" --set hosts.h1.bridge=ovs --set hosts.h2.bridge=ovs \
	--set hosts.h3.bridge=ovs
finish
