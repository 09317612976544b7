#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# remote: real machines as ends: nodes of a lab with an sshd each, reached from a third node by ssh;
# listeners; what is said when ssh does not get in, the program is not there, or is another one.
# timeout: 240
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq ssh ssh-keygen
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || skip_all "sshd is not here"

daemons=()
stop_daemons() {
	local pid
	for pid in ${daemons[@]+"${daemons[@]}"}; do
		kill "$pid" 2>/dev/null
	done
	daemons=()
}
trap 'stop_daemons; cleanup' EXIT

cat >"$work/remote.yaml" <<'END'
version: 1
nodes:
  a: {addresses: [10.9.0.1/24, "fd09::1/64"]}
  b: {addresses: [10.9.0.2/24, "fd09::2/64"]}
  c: {addresses: [10.9.0.3/24, "fd09::3/64"]}
  sw: {kind: switch}
links:
  - {endpoints: ["a:e0", "sw:a"]}
  - {endpoints: ["b:e0", "sw:b"]}
  - {endpoints: ["c:e0", "sw:c"], rate: 50mbit}
END

# Keys, and configurations that look at no file of this machine's.
ssh-keygen -q -t ed25519 -N '' -f "$work/host" 2>"$work/err" || skip_all "no keys: $(<"$work/err")"
ssh-keygen -q -t ed25519 -N '' -f "$work/user_key"
ssh-keygen -q -t ed25519 -N '' -f "$work/stranger"
for address in 10.9.0.1 10.9.0.2 10.9.0.3 fd09::1; do
	echo "$address $(cut -d' ' -f1,2 "$work/host.pub")"
done >"$work/known"
cat >"$work/sshd_config" <<END
Port 22
HostKey $work/host
PidFile none
AuthorizedKeysFile $work/user_key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
END
# What login scripts may print before a program speaks.
# shellcheck disable=SC2016 # the other end's shell expands it
{
	cat "$work/sshd_config"
	echo 'ForceCommand echo "Welcome to b"; echo; eval "$SSH_ORIGINAL_COMMAND"'
} >"$work/sshd_b"
ssh_config() {
	cat <<-END
		Host *
		  IdentityFile $1
		  IdentitiesOnly yes
		  UserKnownHostsFile $2
		  GlobalKnownHostsFile /dev/null
		  LogLevel ERROR
	END
}
ssh_config "$work/user_key" "$work/known" >"$work/ssh"
ssh_config "$work/stranger" "$work/known" >"$work/ssh_stranger"
ssh_config "$work/user_key" "$work/nothing" >"$work/ssh_unknown"
printf 'Host named\n  HostName 10.9.0.2\n' | cat - "$work/ssh" >"$work/ssh_names"
printf '#!/bin/sh\necho vpclab 0.0.1\n' >"$work/other"
chmod 755 "$work/other"

# daemon NODE CMD…: runs in the node until the end of the test.
daemon() {
	on "$1" "${@:2}" >"$work/daemon-$1-${#daemons[@]}.log" 2>&1 &
	daemons+=($!)
}
# measured ARGUMENT…: from node c; sets status, output is standard output, "$work/err" the rest.
measured() {
	output=$(on c "$VPCLAB" measure "$@" --json --duration 1s --warmup 200ms 2>"$work/err")
	status=$?
}
far=(--ssh-config "$work/ssh" --remote-program "$VPCLAB")

lab_up remote "$work/remote.yaml" || finish
for node in a c; do
	daemon $node sh -c "mkdir -p /run/sshd && exec $sshd -D -e -f $work/sshd_config"
done
daemon b sh -c "mkdir -p /run/sshd && exec $sshd -D -e -f $work/sshd_b"
for _ in 1 2 3 4 5 6 7 8 9 10; do
	on c ssh -F "$work/ssh" 10.9.0.1 true 2>"$work/err" && break
	sleep 0.3
done
if ! on c ssh -F "$work/ssh" 10.9.0.1 true 2>"$work/err"; then
	tap_skip "all by ssh" "sshd takes no login in a lab of this user: $(cat "$work/err" "$work"/daemon-a-*.log | tr '\n' ' ')"
	stop_daemons
	lab_down
	finish
fi

measured ssh://10.9.0.1 ssh://10.9.0.2 tcp_stream "${far[@]}"
is "ssh to ssh: measured" "$status$(<"$work/err")" 0
is "ssh to ssh: it says that nothing else confirms it" \
	"$(jq -r '.counted.truths + ": " + .counted.why' <<<"$output")" \
	"unknown: no counters: the ends are real machines, and nothing but the two engines confirms the figures"
is "ssh to ssh: data went from a to b" "$(jq -r '.engine.flows[0] | .local + " " + .remote' <<<"$output")" \
	"10.9.0.1 10.9.0.2"
is "ssh to ssh: one machine, so one clock" "$(jq '.engine.clock_error_ns' <<<"$output")" 0
is "ssh to ssh: the receiver got what was sent" \
	"$(jq '.engine.goodput_bps > 1e6 and .engine.goodput_bps < .engine.sent_bps * 1.2' <<<"$output")" true

measured ssh://10.9.0.1 local udp_stream --packets 1kpps "${far[@]}"
is "ssh to local: measured, by the address that the client sees" \
	"$status $(jq -r '.engine.flows[0].remote' <<<"$output")" "0 10.9.0.3"
is "ssh to local: all that was sent came" \
	"$(jq '.engine.lost == 0 and .engine.server.packets > 0 and .engine.server.packets == .engine.client.packets' <<<"$output")" true
measured local ssh://10.9.0.1 tcp_maerts "${far[@]}"
is "local to ssh: data came back through c's 50 Mbit/s" "$status" 0
measured local ssh://10.9.0.1 tcp_stream "${far[@]}"
is "local to ssh: as the link of 50 Mbit/s carries" \
	"$status $(jq '.engine.goodput_bps / 47.07e6 | . > 0.9 and . < 1.02' <<<"$output")" "0 true"
measured ssh://10.9.0.1 ssh://named tcp_rr --ssh-config "$work/ssh_names" --remote-program "$VPCLAB"
is "a name of ssh's configuration" "$status $(jq -r '.engine.flows[0].remote' <<<"$output")" "0 10.9.0.2"
measured local ssh://10.9.0.1 tcp_rr "${far[@]}" --address fd09::1
is "another address for the data" "$status $(jq -r '.engine.flows[0].remote' <<<"$output")" "0 fd09::1"

# A machine with a clock of its own: here, one of a time namespace, 5,000 s ahead.
if on a unshare -T --monotonic 5000 true 2>/dev/null; then
	daemon a unshare -T --monotonic 5000 sh -c "exec $sshd -D -e -p 2200 -f $work/sshd_config"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		on c ssh -F "$work/ssh" -p 2200 10.9.0.1 true 2>"$work/err" && break
		sleep 0.3
	done
	measured ssh://10.9.0.1:2200 ssh://10.9.0.2 udp_stream --packets 1kpps "${far[@]}"
	is "clocks of their own: measured" "$status$(<"$work/err")" 0
	is "clocks of their own: how far they may be off is said" \
		"$(jq '.engine.clock_error_ns | . > 0 and . < 20e6' <<<"$output")" true
	is "clocks of their own: all of the window came" \
		"$(jq '.engine.lost == 0 and .engine.server.packets == .engine.client.packets' <<<"$output")" true
	measured ssh://10.9.0.1:2200 ssh://10.9.0.1:2200 tcp_rr "${far[@]}"
	is "both ends by one clock that is not ours" "$status $(jq '.engine.pps > 100' <<<"$output")" "0 true"
else
	tap_skip "clocks of their own" "no time namespaces for this user"
fi

measured ssh://10.9.0.1,ssh://10.9.0.2 local udp_stream --packets 500pps "${far[@]}" --address 10.9.0.3
is "two clients, one server: each, and their sum" \
	"$status $(jq -r '[(.pairs | length), .total.pairs, (.total.pps / ([.pairs[].engine.sent_pps] | add) | . > 0.95 and . < 1.05)] | join(" ")' <<<"$output")" \
	"0 2 2 true"

# hit NODE PATTERN SIGNAL: those of this test's lab, by their network namespace.
hit() {
	local dir net
	net=$(on "$1" readlink /proc/self/ns/net)
	for dir in /proc/[0-9]*; do
		[ "$(readlink "$dir/ns/net" 2>/dev/null)" = "$net" ] || continue
		tr '\0' ' ' <"$dir/cmdline" 2>/dev/null | grep -q -e "$2" || continue
		kill "-$3" "${dir#/proc/}"
	done
}
# cut_short NAME NODE PATTERN SIGNAL: a run of 20 s in which something is hit after 3.
cut_short() {
	local begin=$SECONDS pid
	on c "$VPCLAB" measure ssh://10.9.0.1 ssh://10.9.0.2 tcp_stream "${far[@]}" --json \
		--duration 20s --interval 200ms >"$work/cut.json" 2>"$work/err" &
	pid=$!
	sleep 3
	hit "$2" "$3" "$4"
	wait "$pid"
	status=$?
	output=$(<"$work/cut.json")
	is "$1: exit status 3" "$status" 3
	is "$1: marked, with the reason" "$(jq -r '(.engine.invalid | length > 10) and .engine.partial' <<<"$output")" true
	is "$1: what was measured until then is there" "$(jq '.engine.intervals | length >= 3' <<<"$output")" true
	is "$1: it ends soon" "$([ $((SECONDS - begin)) -lt 16 ] && echo yes)" yes
}
cut_short "a worker is killed" a '^[^ ]*vpclab engine --stdio' KILL
cut_short "the server's worker is killed" b '^[^ ]*vpclab engine --stdio' KILL
cut_short "the control channel dies" c '^ssh .*10.9.0.1 ' KILL
cut_short "it is told to end" c 'vpclab measure' TERM

# A listener, for a machine without ssh: with a key, and for the machine itself without.
for key in key other_key; do
	(umask 077 && od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n' >"$work/$key")
done
daemon b "$VPCLAB" engine --listen 10.9.0.2:7000 --key "$work/key"
for _ in 1 2 3 4 5 6 7 8 9 10; do
	on b sh -c 'ss -Hltn sport = 7000 2>/dev/null | grep -q .' && break
	sleep 0.3
done
measured ssh://10.9.0.1 tls://10.9.0.2:7000 tcp_stream "${far[@]}" --key "$work/key"
is "ssh to a listener: measured" "$status$(<"$work/err")" 0
is "ssh to a listener: data went from a to b" \
	"$(jq -r '.engine.flows[0] | .local + " " + .remote' <<<"$output")" "10.9.0.1 10.9.0.2"
measured tls://10.9.0.2:7000 local udp_stream --packets 500pps --key "$work/key" --address 10.9.0.3
is "a listener to local: measured" "$status $(jq '.engine.lost' <<<"$output")" "0 0"

# wrong NAME WANTED ARGUMENT…: an error with that in it.
wrong() {
	measured "${@:3}"
	is "$1: an error" "$([ "$status" != 0 ] && [ "$status" != 3 ] && echo yes)" yes
	has "$1: in words" "$(<"$work/err")" "$2"
}
wrong "no program there" "no program '/nowhere/vpclab' there; install it, or say where it is with --remote-program" \
	ssh://10.9.0.1 local tcp_rr --ssh-config "$work/ssh" --remote-program /nowhere/vpclab
wrong "another version there" "has vpclab 0.0.1, and this is vpclab" \
	ssh://10.9.0.1 local tcp_rr --ssh-config "$work/ssh" --remote-program "$work/other"
wrong "a key that is not let in" "Permission denied" \
	ssh://10.9.0.1 local tcp_rr --ssh-config "$work/ssh_stranger"
wrong "an unknown host" "its host key is not known here; connect once by hand" \
	ssh://10.9.0.1 local tcp_rr --ssh-config "$work/ssh_unknown"
wrong "another key" "10.9.0.2:7000" tls://10.9.0.2:7000 local tcp_rr --key "$work/other_key" --address 10.9.0.3
wrong "no listener" "10.9.0.2:7001" tls://10.9.0.2:7001 local tcp_rr --key "$work/key" --address 10.9.0.3
wrong "a listener whose port is not said" "tls:// takes HOST:PORT" tls://10.9.0.2 local tcp_rr
wrong "nobody listens" "Connection refused" ssh://10.9.0.1:2222 local tcp_rr "${far[@]}"
wrong "a shell's characters in the program" "only letters, digits" \
	ssh://10.9.0.1 local tcp_rr --ssh-config "$work/ssh" --remote-program 'vpclab;id'
wrong "no such scheme" "is no end: ssh://" http://10.9.0.1 local tcp_rr
wrong "half a lab" "is a real machine and" ssh://10.9.0.1 "b" tcp_rr
wrong "a test that is none" "did you mean" ssh://10.9.0.1 local tcp_rx

stop_daemons
lab_down
finish
