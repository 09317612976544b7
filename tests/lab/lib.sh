#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh: what the lab tests share: labs with names of their own, assertions that print TAP, running
# as an ordinary user, and a picture of the host to compare. Each tests/lab/*.sh sources it first.
#
# A test ends with `finish`. Whatever happens, its labs are taken down and its files removed.

set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../../ci/tap.sh
. "$top/ci/tap.sh"
cd "$top" || exit 2

VPCLAB=${VPCLAB:-${BUILD:-$top/build}/vpclab}
work=$(mktemp -d)
chmod 711 "$work"
labs=()

cleanup() {
	local lab
	for lab in ${labs[@]+"${labs[@]}"}; do
		"$VPCLAB" down "$lab" >/dev/null 2>&1
	done
	[ ! -x "$work/user/bin/vpclab" ] || as_user "$work/user/bin/vpclab" down --all >/dev/null 2>&1
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

finish() {
	tap_done
	exit
}

# skip_all REASON: nothing of this file can run here.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

need() {
	local program
	for program; do
		command -v "$program" >/dev/null || skip_all "$program is not here"
	done
}

# vpclab ARGUMENT…: the program under test.
vpclab() {
	"$VPCLAB" "$@"
}

# lab_up NAME FILE [OPTION]…: sets $lab to a name that no other test uses, and builds it. One TAP line.
lab_up() {
	lab=$1-$$
	labs+=("$lab")
	run vpclab up "$2" --name "$lab" "${@:3}"
	is "$1: up" "$status" 0
	return "$status"
}

lab_down() {
	run vpclab down "$lab"
	is "${lab%-*}: down" "$status" 0
}

# on NODE CMD…: inside a node of $lab.
on() {
	local node=$1
	shift
	vpclab exec "$lab:$node" -- "$@"
}

# run CMD…: sets $status, and $output to what it printed (both streams).
run() {
	output=$("$@" 2>&1)
	status=$?
}

# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		tap_result "$1"
	else
		tap_result "$1" "got:    $2"$'\n'"wanted: $3"$'\n'"output: ${output:-}"
	fi
}

# has NAME TEXT PART
has() {
	case $2 in
	*"$3"*) tap_result "$1" ;;
	*) tap_result "$1" "not in it: $3"$'\n'"$2" ;;
	esac
}

# hasnt NAME TEXT PART
hasnt() {
	case $2 in
	*"$3"*) tap_result "$1" "in it: $3"$'\n'"$2" ;;
	*) tap_result "$1" ;;
	esac
}

# passes NAME CMD…: status 0. fails_with STATUS NAME CMD…: that status.
passes() {
	fails_with 0 "$@"
}
fails_with() {
	local wanted=$1 name=$2
	shift 2
	run "$@"
	is "$name" "$status" "$wanted"
}

# as_user CMD…: as a user who is not root, with a home of its own and $work/user/bin/vpclab.
user_id=$((40000 + $$ % 20000)) # not that of a test beside this one
as_user() {
	local become=()
	[ "$(id -u)" != 0 ] ||
		become=(setpriv --reuid "$user_id" --regid "$user_id" --clear-groups --inh-caps=-all)
	${become[@]+"${become[@]}"} \
		env HOME="$work/user/home" XDG_RUNTIME_DIR="$work/user/run" USER=vpclab "$@"
}

# user_tree: a copy of the program and its files that an ordinary user may read.
user_tree() {
	local share=$work/user/share/vpclab
	mkdir -p "$work/user/bin" "$work/user/home" "$work/user/run" "$share"
	cp "$VPCLAB" "$work/user/bin/vpclab"
	cp -R topologies scenarios "$share/"
	chmod 700 "$work/user/run"
	[ "$(id -u)" != 0 ] || chown -R $user_id:$user_id "$work/user"
}

# Processes of the program under test that this test has started (its children inherit the variable;
# other tests and labs may run beside it), and what namespaces they are in.
export VPCLAB_TEST_RUN=$work
our_processes() {
	local dir exe
	for dir in /proc/[0-9]*; do
		exe=$(readlink "$dir/exe") || continue
		case $exe in
		"$(realpath "$VPCLAB")" | "$work"/*)
			tr '\0' '\n' <"$dir/environ" | grep -qxF "VPCLAB_TEST_RUN=$work" || continue
			echo "$(<"$dir/comm") $(readlink "$dir"/ns/* | sort -u | tr '\n' ' ')"
			;;
		esac
	done 2>/dev/null
}

# host_snapshot FILE: what a lab must not change, in an order that stays.
host_snapshot() {
	{
		echo "== links"
		ip -j -d link show | jq -S .
		echo "== addresses"
		ip -j addr show | jq -S 'del(.. | .valid_life_time?, .preferred_life_time?)'
		echo "== routes and rules"
		for family in -4 -6; do
			ip $family -o route show table all | sed 's/ expires [0-9]*sec//' | sort
			ip $family rule show
		done
		echo "== rules"
		nft list ruleset 2>&1
		echo "== mounts"
		cut -d' ' -f3- /proc/self/mountinfo
		echo "== namespaces in files"
		ls /run/netns /var/run/netns 2>/dev/null
		echo "== processes, their namespaces, and run directories"
		our_processes
		ls -d /run/vpclab/*-$$ "$work"/user/run/vpclab/* 2>/dev/null
	} >"$1" 2>&1
	sysctl -a --pattern '^net\.' 2>/dev/null | grep -v nf_conntrack_count | sort >"$1.sysctl"
}

# same_host NAME BEFORE AFTER. Keys that a freshly loaded kernel module brings are not a change.
same_host() {
	local difference
	difference=$(
		diff "$2" "$3"
		comm -23 "$2.sysctl" "$3.sysctl" | sed 's/^/sysctl changed or gone: /'
	)
	tap_result "$1" "$difference"
}
