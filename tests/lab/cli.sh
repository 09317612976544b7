#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cli: the program as a person types it: statuses, messages, help, JSON, standard input.
# timeout: 180
# beside: it reads what the program says
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

# json NAME CMD…: prints one valid JSON object with a schema version.
json() {
	local name=$1
	shift
	run "$@"
	is "$name: JSON with a schema version" \
		"$("$@" 2>/dev/null | jq -r 'if type == "object" then .schema_version else "no object" end' 2>&1)" 1
}

cat >"$work/bad.yaml" <<'YAML'
version: 1
name: bad
hosts: {h1: {}}
netwroks:
  n: {type: flat, cidr: 10.0.0.0/24}
YAML

# usage
fails_with 2 "no command" vpclab
has "no command says what to do" "$output" "vpclab help"
fails_with 2 "unknown command" vpclab valdate x
has "unknown command suggests" "$output" "vpclab: unknown command 'valdate'; did you mean 'validate'?"
fails_with 2 "unknown option" vpclab plan --fromat sh zstack
has "unknown option suggests" "$output" "vpclab plan: unknown option '--fromat'; did you mean '--format'?"
fails_with 2 "missing operand" vpclab plan
has "missing operand shows usage" "$output" "usage: vpclab plan [OPTION]… FILE"
fails_with 2 "missing --" vpclab exec client ping
has "missing -- says so" "$output" "put '--' before the command to run"
fails_with 2 "shipped topology misspelt" vpclab plan zstck
has "shipped topology suggests" "$output" "did you mean 'zstack'?"
fails_with 2 "missing file" vpclab plan "$work/none.yaml"
passes "version" vpclab --version
has "version names the program" "$output" "vpclab "

# help
passes "help" vpclab help
overview=$output
passes "--help is help" vpclab --help
is "--help is help: same text" "$output" "$overview"
mapfile -t commands < <(sed -n 's/^  \([a-z]*\)  .*/\1/p' <<<"$overview")
for command in "${commands[@]}"; do
	passes "$command --help" vpclab "$command" --help
	has "$command --help shows its usage" "$output" "Usage: vpclab $command"
done

# files
fails_with 2 "validate a bad file" vpclab validate "$work/bad.yaml"
has "a bad file: place and suggestion" "$output" "bad.yaml:4:1: unknown key 'netwroks'"
has "a bad file: the number of problems" "$output" "1 problem"
fails_with 2 "validate several files" vpclab validate "$work/none.yaml" "$work/bad.yaml" zstack
has "several files: the missing one" "$output" "none.yaml: no file"
has "several files: the bad one" "$output" "bad.yaml:4:1:"
has "several files: all problems are counted" "$output" "2 problems"
fails_with 2 "up with a bad file" vpclab up "$work/bad.yaml"
has "up with a bad file: place" "$output" "bad.yaml:4:1:"
json "validate --json of a bad file" vpclab validate --json "$work/bad.yaml"
is "validate --json: the line" "$(vpclab validate --json "$work/bad.yaml" | jq '.problems[0].line')" 4
is "validate --json: in the text's order" \
	"$(vpclab validate --json tests/corpus/topology/habits.yaml | jq -r '.problems[] | "\(.line):\(.column): \(.text)"')" \
	"$(vpclab validate tests/corpus/topology/habits.yaml | sed -n 's/^[^:]*habits.yaml://p')"
for file in topologies/*.yaml scenarios/*.yaml; do
	passes "validate $file" vpclab validate "$file"
done
mkdir "$work/dir"
mkfifo "$work/pipe"
fails_with 2 "a directory as FILE" vpclab validate "$work/dir"
has "a directory as FILE is named" "$output" "dir' is a directory, not a file"
fails_with 2 "a pipe as FILE" timeout 10 "$VPCLAB" validate "$work/pipe"
has "a pipe as FILE is named" "$output" "pipe' is a named pipe, not a file"
fails_with 2 "a device as FILE" timeout 30 "$VPCLAB" validate /dev/zero
# shellcheck disable=SC2016 # for the inner shell
for command in validate plan; do
	fails_with 2 "$command: standard input closed" sh -c '"$0" "$1" - <&-' "$VPCLAB" $command
done
has "plan: standard input closed: said" "$output" "standard input is closed"
passes "a shell's <( )" vpclab validate <(cat topologies/flat.yaml)
fails_with 2 "engine: nothing on standard input" vpclab engine </dev/null
has "engine: nothing on standard input: said" "$output" "standard input is empty"
fails_with 2 "engine: a time without a unit" vpclab engine tcp_rr -d 1
has "engine: a time without a unit: what to write" "$output" "write 1s"
fails_with 2 "engine: no streams" vpclab engine tcp_rr -n 0
run vpclab engine tcp_rr -a 192.0.2.77 -d 100ms -w 0
is "engine: an error is printed once" "$(grep -c . <<<"$output")" 1
options() {
	vpclab "$1" --help | grep -oE -- '^ *(-., )?--(duration|warmup|interval|streams|size|response-size|rate|packets|file-size|count|congestion) .*'
}
is "engine and measure have the same options" "$(options engine)" "$(options measure)"
is "standard input: the same plan" "$(vpclab plan - <topologies/zstack.yaml | md5sum)" \
	"$(vpclab plan topologies/zstack.yaml | md5sum)"
is "a shipped name: the same plan" "$(vpclab plan zstack | md5sum)" \
	"$(vpclab plan topologies/zstack.yaml | md5sum)"
fails_with 2 "standard input with a mistake" vpclab validate - <"$work/bad.yaml"
has "standard input: its name in messages" "$output" "standard input:4:1:"
json "plan --json" vpclab plan zstack --json
passes "plan --format sh" vpclab plan zstack --format sh
printf '%s\n' "$output" >"$work/plan.sh"
passes "plan --format sh is a POSIX script" sh -n "$work/plan.sh"
run sh "$work/plan.sh" true
if [ "$status" = 0 ]; then
	has "plan --format sh builds the lab" "$output" "The lab is up."
else
	hasnt "plan --format sh does not say that the lab is up when it is not" "$output" "The lab is up"
fi
vpclab plan flat-ovs --format sh --datapath dummy >"$work/ovs.sh"
has "plan --datapath" "$(<"$work/ovs.sh")" "ovs_datapath dummy"
if command -v ovs-vswitchd >/dev/null && [ ! -e /sys/module/openvswitch ]; then
	vpclab plan flat-ovs --format sh >"$work/ovs.sh"
	run timeout 60 sh "$work/ovs.sh" true
	is "a script without its datapath fails" "$status" 1
	has "a script without its datapath says so" "$output" "Open vSwitch cannot make"
	hasnt "a script without its datapath is not up" "$output" "The lab is up"
	vpclab plan flat-ovs --format sh --datapath netdev >"$work/ovs.sh"
	passes "a script with the userspace datapath" timeout 60 sh "$work/ovs.sh" \
		ip netns exec client ping -c 1 -W 5 10.0.0.11
else
	tap_skip "a script without its datapath" "no Open vSwitch, or its module is loaded"
fi
run vpclab graph eip --format dot
has "graph: an EIP and its VM" "$output" ' [label="EIP 192.0.2.50", style=dashed];'
has "graph: the outside of an EIP's namespace" "$output" ' [label="192.0.2.50/24"];'
for format in text dot mermaid; do
	passes "graph --format $format" vpclab graph zstack --format $format
	has "graph --format $format draws the client" "$output" client
done
passes "path in a file" vpclab path topologies/zstack.yaml:client 'eip(vpc-eip)'
has "path shows the translation" "$output" "DNAT 192.0.2.60"
json "path --json" vpclab path zstack:client direct --json
fails_with 2 "path to nowhere" vpclab path zstack:client dirct
has "path to nowhere suggests" "$output" "did you mean 'direct'?"
run vpclab doctor
tap_result "doctor" "$(case $status in 0 | 4) ;; *) echo "$status: $output" ;; esac)"
json "doctor --json" vpclab doctor --json
json "version --json" vpclab version --json
json "ls --json" vpclab ls --json

# labs
fails_with 2 "exec in no lab" vpclab exec "none-$$:client" -- true
passes "down of no lab is no error" vpclab down "none-$$"
if lab_up cli zstack; then
	has "up says what is up" "$output" "3 hosts, 4 VMs"
	has "up says what to do next" "$output" "vpclab exec $lab:client -- …"
	passes "up again is no error" vpclab up zstack --name "$lab"
	has "up again says so" "$output" "already up"
	json "up again --json" vpclab up zstack --name "$lab" --json
	fails_with 2 "another topology under the name" vpclab up flat --name "$lab"
	has "another topology: what to do" "$output" "vpclab down $lab"
	passes "ls" vpclab ls
	has "ls shows the lab" "$output" "$lab"
	json "inspect --json" vpclab inspect "$lab" --json
	passes "inspect" vpclab inspect "$lab"
	has "inspect shows the limit" "$output" "1 Gbit/s l1"
	passes "check" vpclab check "$lab"
	json "check --json" vpclab check "$lab" --json
	passes "graph of the lab" vpclab graph "$lab"
	passes "path in the lab" vpclab path "$lab:client" direct

	fails_with 7 "exec gives the command's status" on client sh -c 'exit 7'
	# shellcheck disable=SC2016 # for the shell inside
	fails_with 137 "exec gives 128 + signal" on client sh -c 'kill -9 $$'
	fails_with 2 "exec of an unknown node" on clent true
	has "exec of an unknown node suggests" "$output" "did you mean 'client'?"
	fails_with 2 "exec of an unknown command" on client "no-such-command-$$"
	is "exec passes standard input on" "$(echo hello | on client cat)" hello
	is "exec keeps the streams apart" "$(on client sh -c 'echo out; echo err >&2' 2>/dev/null)" out
	is "exec keeps empty arguments" "$(on client printf '<%s>' a '' 'b c')" "<a><><b c>"
	is "exec sees only the node" "$(on client sh -c 'ls /sys/class/net | tr "\n" " "')" "eth0 lo "
	# shellcheck disable=SC2016 # for the shell inside
	is "shell reads commands" "$(echo 'echo $((6 * 7))' | SHELL=/bin/sh vpclab shell "$lab:client")" 42
	passes "ip netns exec works inside" on client ip netns exec direct true
	on h1 ip link set dev lo down
	fails_with 1 "check sees a change" vpclab check "$lab"
	on h1 ip link set dev lo up
	json "down --json" vpclab down "$lab" --json
	fails_with 2 "exec after down" on client true
fi
finish
