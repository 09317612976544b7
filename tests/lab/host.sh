#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# host: a lab leaves the host as it found it: after up and down, after a run, as root and as an
# ordinary user; and while it is up only its own processes and run directory are there.
# timeout: 300
# beside: its deadlines are far
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ip jq nft sysctl

user_tree
mine=$work/user/bin/vpclab

# round WHO CMD…: CMD runs vpclab; the host must be the same before, and after up, exec and down.
round() {
	local who=$1 lab=host-$$
	shift
	host_snapshot "$work/before"
	passes "$who: up" "$@" up zstack --name "$lab"
	passes "$who: exec" "$@" exec "$lab:client" -- true
	passes "$who: check" "$@" check "$lab"
	host_snapshot "$work/during"
	has "$who: the supervisor is there while a lab is up" "$(our_processes)" "vpclab-lab "
	is "$who: no link, address, route, rule or mount of the host changes while a lab is up" \
		"$(sed '/^== processes/,$d' "$work/during")" \
		"$(sed '/^== processes/,$d' "$work/before")"
	is "$who: no sysctl of the host changes while a lab is up" \
		"$(comm -23 "$work/before.sysctl" "$work/during.sysctl")" ""
	passes "$who: down" "$@" down "$lab"
	host_snapshot "$work/after"
	same_host "$who: the host is as before" "$work/before" "$work/after"
}

labs+=("host-$$")
if [ "$(id -u)" = 0 ]; then
	round root "$VPCLAB"
fi
round user as_user "$mine"

cat >"$work/user/short.yaml" <<'YAML'
version: 1
name: short
topology: share/vpclab/topologies/zstack.yaml
repeat: {min: 1, max: 1}
paths:
  direct: {from: client, to: direct}
measure:
  rr: {test: tcp_rr, duration: 300ms}
YAML
host_snapshot "$work/before"
run as_user "$mine" run "$work/user/short.yaml" -o "$work/user/home/out"
case $status in
0 | 3) tap_result "user: run" ;;
*) tap_result "user: run" "$output" ;;
esac
host_snapshot "$work/after"
same_host "user: the host is as before a run" "$work/before" "$work/after"
finish
