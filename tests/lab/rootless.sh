#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rootless: labs of an ordinary user: the same shapes, apart from everybody else's, no more rights
# than the user has, and nothing left by kill -9.
# timeout: 240
# beside: its deadlines are far
# shellcheck disable=SC2317 # functions that `passes` calls
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq ip ping setpriv

user_tree
mine=$work/user/bin/vpclab
user() {
	as_user "$mine" "$@"
}
# uid the labs of `user` belong to
uid=$(as_user id -u)
lab=rootless-$$

run user doctor --json
if [ "$(jq -r '.features[] | select(.feature == "namespaces") | .available' <<<"$output")" != true ]; then
	skip_all "this system keeps ordinary users from namespaces"
fi
is "doctor: labs can run" "$status" 0

passes "up" user up zstack --name "$lab"
passes "check" user check "$lab"
passes "an EIP answers" user exec "$lab:client" -- ping -c 1 -W 3 192.0.2.50
is "inside, the user is root" "$(user exec "$lab:client" -- id -u)" 0
is "outside, it is the user" "$(ps -o uid= -p "$(user ls --json | jq '.labs[0].pid')" | tr -d ' ')" "$uid"
if [ "$(as_user cat /etc/shadow 2>/dev/null | wc -c)" = 0 ]; then
	run user exec "$lab:client" -- cat /etc/shadow
	is "root of a lab may read no more than the user" "$status" 1
fi
run user exec "$lab:client" -- sh -c 'echo 1 >/proc/sys/kernel/panic'
is "root of a lab may not set the kernel's sysctls" "$((status != 0))" 1
is "the run directory" "$(ls "$work/user/run/vpclab")" "$lab"

# bait_state PID: a state.json that says that PID is the supervisor of a lab.
bait_state() {
	local fields
	read -ra fields < <(sed 's/.*) //' "/proc/$1/stat")
	jq -n --argjson pid "$1" --argjson start "${fields[19]}" --arg boot "$(cat /proc/sys/kernel/random/boot_id)" \
		'{version: 1, status: "running", name: "bait", userns: true, pid: $pid,
		supervisor: {pid: $pid, start_ticks: $start, boot_id: $boot}}'
}

# one name, two users
if [ "$(id -u)" = 0 ]; then
	labs+=("$lab")
	passes "root: a lab of the same name" vpclab up flat --name "$lab"
	is "root sees its own" "$(vpclab ls --json | jq --arg n "$lab" '[.labs[] | select(.name == $n)] | length')" 1
	is "the user sees its own" "$(user ls --json | jq '.labs | length')" 1
	passes "root: down" vpclab down "$lab"
	passes "the user's is still there" user exec "$lab:client" -- true
else
	tap_skip "one name, two users" "needs root"
fi

# where there is no XDG_RUNTIME_DIR
bare() {
	as_user env -u XDG_RUNTIME_DIR "$mine" "$@"
}
base=/tmp/vpclab-$uid
if [ -e "$base" ]; then
	tap_skip "without XDG_RUNTIME_DIR" "$base exists"
else
	passes "without XDG_RUNTIME_DIR: up" bare up flat --name "bare-$$"
	is "without XDG_RUNTIME_DIR: private" "$(stat -c '%u %a' "$base")" "$uid 700"
	passes "without XDG_RUNTIME_DIR: down" bare down "bare-$$"
	is "without XDG_RUNTIME_DIR: nothing left" "$(ls -d "$base" 2>/dev/null)" ""
	if [ "$(id -u)" = 0 ]; then
		# what another user prepared: a held lab whose state names a process of the other's
		mkdir -m 755 "$base" "$base/bait"
		sleep 600 &
		bait=$!
		bait_state "$bait" >"$base/bait/state.json"
		flock "$base/bait" sleep 600 &
		holder=$!
		until ! flock -n "$base/bait" true; do :; done
		is "another user's directory: ls" "$(bare ls --json | jq '.labs | length')" 0
		fails_with 2 "another user's directory: exec" bare exec bait:client -- true
		run bare down bait
		is "another user's directory: down" "$status $output" "0 bait: not up"
		run bare down --all
		passes "another user's directory: nobody was killed" kill -0 "$bait"
		kill "$bait" $(pgrep -P "$holder") "$holder"
		rm -r "$base/bait"
		run bare up flat --name "bare-$$"
		is "a directory that another user prepared: refused" "$status" 1
		has "a directory that another user prepared: why" "$output" "belongs to user 0"
		rmdir "$base"
	fi
fi
# the user's own directory, whose state names a process that is no lab: never entered, never killed
mkdir -p "$work/user/run/vpclab/bait"
# shellcheck disable=SC2016 # for the inner shell
as_user sh -c 'echo $$ >"$HOME/pid"; exec sleep 600' &
until bait=$(cat "$work/user/home/pid" 2>/dev/null) && [ "$(cat "/proc/$bait/comm")" = sleep ]; do :; done
bait_state "$bait" >"$work/user/run/vpclab/bait/state.json"
chmod -R u=rwX,go= "$work/user/run/vpclab/bait"
[ "$(id -u)" != 0 ] || chown -R "$uid:$uid" "$work/user/run/vpclab/bait"
flock "$work/user/run/vpclab/bait" sleep 600 &
holder=$!
until ! flock -n "$work/user/run/vpclab/bait" true; do :; done
fails_with 2 "a state that names any process: exec" user exec bait:client -- true
user down bait >/dev/null 2>&1 &
ending=$!
kill $(pgrep -P "$holder") "$holder"
wait "$ending"
passes "a state that names any process: it is not killed" kill -0 "$bait"
kill "$bait"
passes "down" user down "$lab"
is "nothing left in the run directory" "$(ls -A "$work/user/run")" ""

# gone PID…: at most 10 s.
gone() {
	local pid
	for pid; do
		timeout 10 tail -s 0.02 --pid="$pid" -f /dev/null || return 1
	done
}
for who in watcher supervisor both; do
	user up flat --name "$lab" >/dev/null 2>&1
	state=$work/user/run/vpclab/$lab/state.json
	watcher=$(jq .watcher.pid "$state")
	supervisor=$(jq .supervisor.pid "$state")
	case $who in
	watcher) kill -9 "$watcher" ;;
	supervisor) kill -9 "$supervisor" ;;
	both) kill -9 "$watcher" "$supervisor" ;;
	esac
	passes "kill -9 of the $who: all processes end" gone "$watcher" "$supervisor"
	[ $who != both ] || user ls >/dev/null 2>&1
	is "kill -9 of the $who: no file is left" "$(ls -A "$work/user/run")" ""
done

# Open vSwitch without any right to /dev/net/tun
if command -v ovs-vswitchd >/dev/null; then
	passes "Open vSwitch: up" user up flat-ovs --name "$lab"
	has "Open vSwitch: what ran is recorded" \
		"$(jq -c .plan_choices "$work/user/run/vpclab/$lab/state.json")" ovs_datapath
	passes "Open vSwitch: check" user check "$lab"
	passes "Open vSwitch: ping" user exec "$lab:client" -- ping -c 1 -W 3 10.0.0.11
	passes "Open vSwitch: programs without options" user exec "$lab:h1" -- ovs-vsctl show
	passes "Open vSwitch: down" user down "$lab"
else
	tap_skip "Open vSwitch" "ovs-vswitchd is not here"
fi
finish
