#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shapes: the cloud's shapes on Linux bridges obey their rules: ARP, translation, refusal, isolation.
# timeout: 400
# beside: packets pass or do not, however late
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=shapes.inc
. "$top/tests/lab/shapes.inc"
need jq iperf3 arping ping nft

for file in flat eip vpc zstack two-vpc; do
	run_shape $file
done
run_shape eip "${form_2018[@]}"
finish
