#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill: kill -9 of anything that belongs to a lab, at random moments of up, down, run and in between,
# leaves no process, namespace, mount or file, and the host as it was.
#
# It runs in mount, PID and network namespaces of its own, which are "the host" here: there `ps`,
# `lsns` and `/run` show this test and its labs only, whatever else runs on the machine. The seed is
# printed; KILL_SEED=N repeats a run, KILL_ROUNDS=N makes it longer.
# timeout: 400
# beside: its moments are random, and its deadlines far
# shellcheck disable=SC2317 # round_up and its like are called by a name made of two
if [ -z "${KILL_INSIDE:-}" ]; then
	export KILL_INSIDE=1
	if [ "$(id -u)" = 0 ]; then
		exec unshare -mnpf --mount-proc bash "$0" "$@"
	fi
	exec unshare -rmnpf --mount-proc bash "$0" "$@"
fi
mount -t tmpfs tmpfs /run || exit 2
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq ip nft lsns ps sysctl pgrep

seed=${KILL_SEED:-20181101}
rounds=${KILL_ROUNDS:-50}
RANDOM=$seed
echo "# seed $seed, $rounds rounds"

cat >"$work/run.yaml" <<YAML
version: 1
name: kill
topology: $top/topologies/flat.yaml
repeat: {min: 1, max: 1}
paths:
  direct: {from: client, to: server}
measure:
  rr: {test: tcp_rr, duration: 300ms}
YAML

# others: processes that are not this script's own.
others() {
	ps -e -o stat=,pid=,comm= | awk '$1 !~ /^Z/ && $3 !~ /^(bash|ps|awk|sleep|jq|lsns|ls)$/ { print $2, $3 }'
}

picture() {
	host_snapshot "$1"
	{
		echo "== all namespaces"
		lsns -n -o NS,TYPE
		echo "== other processes"
		others
		echo "== files"
		find /run # the only place: it is root here
	} >>"$1"
}

# settled: what was killed takes a moment to go; at most 10 s.
settled() {
	local deadline=$((SECONDS + 10))
	while [ $SECONDS -lt $deadline ]; do
		[ -n "$(others)" ] || [ -e /run/vpclab ] || return 0
		read -rt 0.02 <> <(:) || :
	done
	return 1
}

pause_ms() {
	sleep "$(printf '0.%03d' "$1")"
}

# victim ROLE: the pid, or nothing.
victim() {
	local state=/run/vpclab/$lab/state.json
	case $1 in
	caller) echo "$caller" ;;
	watcher) pgrep -x vpclab-watch | head -1 ;;
	supervisor) pgrep -x vpclab-lab | head -1 ;;
	builder) pgrep -x vpclab-build | head -1 ;;
	inner) pgrep -x sleep -a | sed -n 's/ sleep 4242$//p' | head -1 ;;
	worker) pgrep -x vpclab -n ;;
	both) jq -r '.watcher.pid, .supervisor.pid | numbers' "$state" 2>/dev/null ;;
	esac
}

strike() {
	local pids
	pids=$(victim "$1")
	# shellcheck disable=SC2086 # one word each
	[ -n "$pids" ] && kill -9 $pids 2>/dev/null && echo >>"$work/strikes"
}

listed() {
	vpclab ls --json 2>/dev/null | jq -r '.labs[].name'
}

# What may stay after a kill of the caller is a whole lab that `up` had finished: it must be usable.
end_whole_lab() {
	[ -n "$(listed)" ] || return 0
	vpclab exec "$lab:client" -- true || echo "a lab that is listed cannot be entered"
	vpclab down "$lab" >/dev/null 2>&1 || echo "a lab that is listed cannot be taken down"
}

round_up() {
	"$VPCLAB" up flat --name "$lab" >"$work/out" 2>&1 &
	caller=$!
	pause_ms $((RANDOM % 60))
	strike "$1"
	wait "$caller"
}

round_steady() {
	vpclab up flat --name "$lab" >"$work/out" 2>&1 || echo "up: $(cat "$work/out")"
	"$VPCLAB" exec "$lab:client" -- sleep 4242 >"$work/exec" 2>&1 &
	caller=$!
	pause_ms $((RANDOM % 30))
	strike "$1"
	case $1 in
	caller | inner)
		strike caller
		wait "$caller"
		[ "$(listed)" = "$lab" ] || echo "the lab died with a program inside it"
		;;
	*)
		wait "$caller"
		# 137, or it came when the lab was gone.
		[ $? = 137 ] || grep -qE "there is no lab '$lab'|lab '$lab' has just ended" "$work/exec" || echo "exec did not say that its program was killed: $(cat "$work/exec")"
		;;
	esac
}

round_down() {
	vpclab up flat --name "$lab" >"$work/out" 2>&1 || echo "up: $(cat "$work/out")"
	"$VPCLAB" down "$lab" >"$work/out" 2>&1 &
	caller=$!
	pause_ms $((RANDOM % 100))
	strike "$1"
	wait "$caller"
}

round_run() {
	"$VPCLAB" run "$work/run.yaml" -o "$work/result" >"$work/out" 2>&1 &
	caller=$!
	pause_ms $((RANDOM % 700))
	strike "$1"
	[ "$1" = caller ] || strike caller
	wait "$caller"
}

phases=(up up steady down run)
declare -A victims=(
	[up]="caller watcher supervisor builder both"
	[steady]="caller watcher supervisor inner both"
	[down]="caller watcher supervisor both"
	[run]="caller watcher supervisor worker"
)

# no room for what a lab writes outside
mount -t tmpfs -o size=4k tmpfs /run
run vpclab up flat --name full
is "a full disk: status" "$status" 1
has "a full disk: said" "$output" "No space left on device"
settled
is "a full disk: nothing is left" "$(find /run -mindepth 1)$(others)" ""
umount /run

picture "$work/before"
lab=whole
run vpclab up flat --name "$lab"
is "without a kill: up" "$status" 0
run end_whole_lab
is "without a kill: enter and down" "$output" ""
settled
picture "$work/after"
is "without a kill: nothing is left" "$(diff "$work/before" "$work/after")" ""
caller=
for ((i = 1; i <= rounds; i++)); do
	lab=k$i
	phase=${phases[RANDOM % ${#phases[@]}]}
	read -ra choice <<<"${victims[$phase]}"
	who=${choice[RANDOM % ${#choice[@]}]}
	problems=$(
		RANDOM=$((seed + i))
		"round_$phase" "$who" 2>/dev/null
		# Both at once: nobody is left to tidy up, so the next command does.
		[ "$who" != both ] || vpclab ls >/dev/null
		[ "$phase" = run ] || end_whole_lab
		settled || echo "something is left after 10 s"
	)
	picture "$work/after"
	problems+=$(diff "$work/before" "$work/after"
		comm -3 "$work/before.sysctl" "$work/after.sysctl")
	tap_result "round $i: kill -9 of $who during $phase" "$problems"
done
strikes=$(wc -l <"$work/strikes")
echo "# $strikes kills found their process"
passes "most kills found their process" test "$strikes" -gt $((rounds / 2))
finish
