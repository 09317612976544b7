#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ovs: the same shapes on Open vSwitch obey the same rules as on Linux bridges.
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=shapes.inc
. "$top/tests/lab/shapes.inc"
need jq iperf3 arping ping tcpdump ovs-vswitchd

for file in "$top"/topologies/*-ovs.yaml; do
	run_shape "$(basename "$file" .yaml)"
done
finish
