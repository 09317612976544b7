#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# life: a lab from up to down, as a person types it: look, enter, check; two at once, the same name
# twice, names that are long, and what a crash left behind.
# timeout: 180
# beside: its deadlines are far
# It damages run directories, so as root it has a /run of its own: other labs are not disturbed.
if [ "$(id -u)" = 0 ] && [ -z "${LIFE_INSIDE:-}" ]; then
	export LIFE_INSIDE=1
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare -m bash -c 'mount -t tmpfs -o mode=755 tmpfs /run && exec bash "$0"' "$0"
fi
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq ip

# field LAB KEY: what `ls` says of a lab that is up.
field() {
	vpclab ls --json | jq -r --arg name "$1" --arg key "$2" '.labs[] | select(.name == $name) | .[$key]'
}

# gone LAB: not listed, and no run directory.
gone() {
	is "$1: not listed" "$(field "$1" name)" ""
	is "$1: no run directory" "$(ls -d /run/vpclab/"$1" /tmp/vpclab-"$(id -u)"/"$1" \
		"${XDG_RUNTIME_DIR:-/none}"/vpclab/"$1" 2>/dev/null)" ""
}

# one lab
lab_up life flat || { finish; }
is "ls: the lab" "$(field "$lab" name)" "$lab"
is "ls: nodes" "$(field "$lab" nodes)" "$(vpclab plan flat --json | jq '[.operations[] | select(.op == "netns")] | length')"
supervisor=$(field "$lab" pid)
passes "ls: the pid is the supervisor's" test -d "/proc/$supervisor"
passes "check" vpclab check "$lab"
passes "inspect" vpclab inspect "$lab"
has "inspect names the client's address" "$output" 10.0.0.10
has "inspect shows bursts and queues" "$output" "1 Gbit/s l1, exact, burst "

# what inspect, the lab's plan and the kernel say of a shaper is one
shaper=$(vpclab plan "$lab" --json | jq -c 'first(.operations[] | select(.op == "tbf") | [.burst_bytes, .limit_bytes])')
is "inspect and plan of the lab: burst and queue" "$(vpclab inspect "$lab" --json | jq -c \
	--argjson s "$shaper" 'any(.links[] | .ab, .ba | objects; [.burst_bytes, .queue_bytes] == $s)')" true
fails_with 2 "plan --set of a lab that no file is named as" vpclab plan "$lab" --set a=b

passes "exec: true" on client true
fails_with 7 "exec: the command's own status" on client sh -c 'exit 7'
fails_with 137 "exec: killed by a signal, as a shell says it" on client sh -c 'kill -9 $$'
fails_with 2 "exec: no such program" on client no-such-program
run on nosuch true
is "exec: no such node" "$status" 2
is "exec: standard input" "$(echo through | vpclab exec "$lab:client" -- cat)" through
is "exec: errors stay apart" "$(on client sh -c 'echo no >&2; echo yes' 2>/dev/null)" yes
is "exec: /sys is the node's" "$(on client ls /sys/class/net | tr '\n' ' ')" "eth0 lo "
run on client sh -c 'cat /proc/[0-9]*/comm 2>/dev/null | sort -u'
has "exec: the lab's processes are there" "$output" "vpclab-lab"
hasnt "exec: others are not, as this script itself" "$output" "$(cat /proc/$$/comm)"
is "exec: PID 1 is the supervisor" "$(on client cat /proc/1/comm)" vpclab-lab
# shellcheck disable=SC2016 # for the inner shell
is "exec: variables" "$(on client sh -c 'echo $VPCLAB_LAB $VPCLAB_NODE')" "$lab client"
is "exec: the directory stays" "$(cd /usr && "$VPCLAB" exec "$lab:client" -- pwd)" /usr
is "exec: ip netns finds the nodes" "$(on client ip netns exec server hostname)" "$(hostname)"
passes "exec: node to node" on client ping -c 1 -W 2 10.0.0.11

# a second of the same name, a second beside it
first=$lab
run vpclab up flat --name "$first"
is "up again: no error" "$status" 0
is "up again: the same lab" "$(field "$first" pid)" "$supervisor"
lab_up beside flat
passes "two labs with the same addresses: one" vpclab exec "$first:client" -- ping -c 1 -W 2 10.0.0.11
passes "two labs with the same addresses: the other" on client ping -c 1 -W 2 10.0.0.11
fails_with 2 "which lab? is asked" vpclab exec client -- true
lab_down
gone "$lab"
passes "the first is still there" vpclab exec "$first:client" -- true
run vpclab check "${first%?}x"
has "a lab's name misspelt" "$output" "did you mean"
passes "down" vpclab down "$first"
gone "$first"
is "down returns when the processes are gone" "$(ls -d "/proc/$supervisor" 2>/dev/null)" ""

# two at the same time under one name: one lab, and no error that is not about that
lab=race-$$
labs+=("$lab")
vpclab up flat --name "$lab" >"$work/one" 2>&1 &
vpclab up flat --name "$lab" >"$work/two" 2>&1
two=$?
wait $!
one=$?
is "a race of two: one lab" "$(vpclab ls --json | jq --arg n "$lab" '[.labs[] | select(.name == $n)] | length')" 1
case $one$two in
00 | 01 | 10) tap_result "a race of two: statuses" ;;
*) tap_result "a race of two: statuses" "$one $two"$'\n'"$(cat "$work/one" "$work/two")" ;;
esac
passes "a race of two: the lab is whole" vpclab check "$lab"
lab_down

# many at once: one builds, the others wait for it
lab=crowd-$$
labs+=("$lab")
for ((i = 1; i <= 12; i++)); do
	vpclab up flat --name "$lab" >"$work/crowd.$i" 2>&1 || echo "$i: $?" >>"$work/crowd.failed" &
done
wait
is "a crowd: no one fails" "$(cat "$work/crowd.failed" 2>/dev/null)" ""
is "a crowd: one has built it" "$(cat "$work"/crowd.[0-9]* | grep -c ' up in ')" 1
is "a crowd: the others say so" "$(cat "$work"/crowd.[0-9]* | grep -c 'already up')" 11
lab_down

# names
long=$(printf 'n%.0s' {1..100})
lab=$long
labs+=("$long")
passes "a name of 100 bytes: up" vpclab up flat --name "$long"
passes "a name of 100 bytes: exec" vpclab exec "$long:client" -- true
passes "a name of 100 bytes: down" vpclab down "$long"
gone "$long"
fails_with 2 "a name of 201 bytes" vpclab up flat --name "$long${long}x"
for name in ../up a/b 'a b' .dot -dash ''; do
	run vpclab up flat --name="$name"
	is "a bad name: '$name'" "$status" 2
done

# what a crash leaves does not block
lab_up stale flat
dir=$(ls -d /run/vpclab/"$lab" /tmp/vpclab-"$(id -u)"/"$lab" "${XDG_RUNTIME_DIR:-/none}"/vpclab/"$lab" 2>/dev/null)
is "one run directory" "$(wc -w <<<"$dir")" 1
is "the run directory is private" "$(stat -c %a "$dir")" 700
kill -9 "$(jq .watcher.pid "$dir/state.json")" "$(jq .supervisor.pid "$dir/state.json")"
fails_with 2 "after a crash of all: not there" vpclab check "$lab"
passes "after a crash of all: up" vpclab up flat --name "$lab"
passes "after a crash of all: check" vpclab check "$lab"
lab_down
mkdir -p "${dir%/*}/$lab"
chmod 700 "${dir%/*}"
echo '{"version": 1, "status": "running", "name": "'"$lab"'", "supervisor": {"pid": 1, "start_ticks": 1, "boot_id": "x"}}' \
	>"${dir%/*}/$lab/state.json"
is "a directory of another boot is not listed" "$(field "$lab" name)" ""
gone "$lab"

mkdir -p "${dir%/*}/$lab/sub/sub"
chmod 700 "${dir%/*}" "${dir%/*}/$lab"
is "a stale directory with others in it" "$(field "$lab" name)" ""
gone "$lab"

# leaves PID: within 10 s
leaves() {
	# shellcheck disable=SC2317 # `passes` calls it
	timeout 10 tail -s 0.02 --pid="$1" -f /dev/null
}

# Ctrl-Z on what runs inside does not keep the lab up
lab_up stopped flat
set -m
"$VPCLAB" exec "$lab:client" -- sleep 600 &
set +m
until on server sh -c 'cat /proc/[0-9]*/comm' 2>/dev/null | grep -qx sleep; do :; done
kill -STOP -- -$!
lab_down
wait $! 2>/dev/null
is "a stopped exec: says how its program ended" $? 137
gone "$lab"

# a state that cannot be read, or is not there any more
for damage in cut empty other fifo; do
	lab_up "damaged-$damage" flat
	state=${dir%/*}/$lab/state.json
	supervisor=$(jq .supervisor.pid "$state")
	case $damage in
	cut) head -c 100 "$state" >"$work/cut" && cp "$work/cut" "$state" ;;
	empty) : >"$state" ;;
	other) sed -i "s/\"name\": .*/\"name\": \"x\",/" "$state" ;;
	fifo) mkfifo "$state.new" && mv "$state.new" "$state" ;; # never without a state
	esac
	run timeout 10 "$VPCLAB" ls
	is "$damage: ls: status" "$status" 1
	has "$damage: ls: how to end it" "$output" "vpclab down $lab"
	fails_with 1 "$damage: exec" timeout 10 "$VPCLAB" exec "$lab:client" -- true
	fails_with 1 "$damage: up" timeout 10 "$VPCLAB" up flat --name "$lab"
	lab_down
	passes "$damage: its processes have ended" leaves "$supervisor"
	gone "$lab"
done
for loss in state directory; do
	lab_up "lost-$loss" flat
	state=${dir%/*}/$lab/state.json
	supervisor=$(jq .supervisor.pid "$state")
	case $loss in
	state) rm "$state" ;;
	directory) rm -rf "${state%/*}" ;;
	esac
	passes "lost $loss: the lab ends" leaves "$supervisor"
	passes "lost $loss: down" vpclab down "$lab"
	gone "$lab"
done

# what was ignored stays ignored
lab_up nohup flat
is "exec: SIGHUP ignored outside is ignored inside" \
	"$(trap '' HUP; vpclab exec "$lab:client" -- sh -c 'kill -HUP $$; echo alive')" alive
nohup "$VPCLAB" exec "$lab:client" -- sh -c "echo >$work/ready; read -r line; echo \$line" \
	< <(until [ -e "$work/hup" ]; do :; done; echo through) >"$work/nohup" 2>&1 &
until [ -e "$work/ready" ]; do :; done
kill -HUP $!
touch "$work/hup"
wait $!
has "exec under nohup outlives SIGHUP" "$(cat "$work/nohup")" through
lab_down

# few descriptors: an error that says so, never "no lab is up"
lab_up few flat
# shellcheck disable=SC2317 # called by 'run'
few() {
	(ulimit -n 8 && vpclab "$@")
}
for command in ls "exec $lab:client -- true" "check $lab" "up flat --name $lab-2"; do
	# shellcheck disable=SC2086 # one word each
	run few $command
	is "8 descriptors: ${command%% *}: status" "$status" 1
	has "8 descriptors: ${command%% *}: why" "$output" "Too many open files"
done

# a node without Open vSwitch finds none, not even the machine's
if command -v ovs-vsctl >/dev/null; then
	# shellcheck disable=SC2016 # for the inner shell
	run on client sh -c 'test ! -e "$OVS_RUNDIR" && ovs-vsctl --timeout=5 show'
	has "ovs-vsctl where there is no Open vSwitch" "$output" "/run/ovs/client/db.sock"
else
	tap_skip "ovs-vsctl where there is no Open vSwitch" "it is not here"
fi
lab_down

# limits, in a user namespace that has them: the reason and its status
limited=$work/limited
mkdir -m 700 "$limited"
# within LIMIT VALUE COMMAND: vpclab there, after `up` where COMMAND is not that
# shellcheck disable=SC2016,SC2317 # for the inner shell; called by 'run'
within() {
	XDG_RUNTIME_DIR=$limited unshare -Urm bash -c '
		mount -t tmpfs tmpfs /run || exit 9
		case $4 in up*) ;; *) "$1" up flat --name limit >/dev/null || exit 8 ;; esac
		echo "$3" >"/proc/sys/user/$2" || exit 9
		"$1" $4; status=$?
		"$1" down limit >/dev/null
		exit $status' - "$VPCLAB" "$@"
}
if unshare -Urm true 2>/dev/null; then
	run within max_net_namespaces 4 "up flat --name limit"
	is "few network namespaces: status" "$status" 4
	has "few network namespaces: why" "$output" "sysctl user.max_net_namespaces"
	is "few network namespaces: said once" "$(grep -o "namespace [a-z0-9]*:" <<<"$output" | wc -l)" 1
	fails_with 4 "no mount namespace: up" within max_mnt_namespaces 0 "up flat --name limit"
	passes "no mount namespace: exec goes on" within max_mnt_namespaces 1 "exec limit:client -- true"
else
	tap_skip "limits of namespaces" "no user namespaces here"
fi
if [ "$(id -u)" = 0 ] && command -v capsh >/dev/null; then
	passes "without CAP_NET_RAW: up" capsh --drop=cap_net_raw -- -c "'$VPCLAB' up flat --name life-$$"
	passes "without CAP_NET_RAW: down" vpclab down "life-$$"
	labs+=("sub-$$")
	# shellcheck disable=SC2016 # for the inner shell
	passes "processes alone in /proc: up, exec, down" unshare -m bash -c '
		mount -t proc -o subset=pid proc /proc && "$1" up flat --name "$2" &&
			"$1" exec "$2:client" -- true && "$1" down "$2"' - "$VPCLAB" "sub-$$"
else
	tap_skip "without CAP_NET_RAW, or with processes alone in /proc" "needs root and capsh"
fi

# a daemon that hangs
if command -v ovs-vswitchd >/dev/null; then
	mkdir "$work/bin"
	printf '#!/bin/sh\nexec sleep 600\n' >"$work/bin/ovs-vswitchd"
	chmod +x "$work/bin/ovs-vswitchd"
	began=$SECONDS
	PATH=$work/bin:$PATH run vpclab up flat-ovs --name "hang-$$"
	has "a daemon that hangs: said" "$output" "ovs-vswitchd: it did not finish in time"
	is "a daemon that hangs: at most 15 s" "$((SECONDS - began <= 15)) $((status != 0))" "1 1"
	gone "hang-$$"
else
	tap_skip "a daemon that hangs" "Open vSwitch is not here"
fi

# names that are not there
fails_with 0 "down: a lab that is not up" vpclab down nosuch
fails_with 2 "down: no name" vpclab down ''
for command in check inspect; do
	fails_with 2 "$command: a lab that is not up" vpclab $command nosuch
done

# a lab that cannot be built leaves nothing
cat >"$work/bad.yaml" <<'YAML'
version: 1
name: bad
nodes: {a: {kind: machine}}
links: [{endpoints: ["a:eth0", "b:eth0"]}]
YAML
lab=bad-$$
fails_with 2 "a bad topology" vpclab up "$work/bad.yaml" --name "$lab"
gone "$lab"
finish
