#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run: `vpclab run` and `vpclab measure` as a person types them: statuses, files, progress, an
# interrupt, an ordinary user. Small rates, so that a busy machine is seldom the limit; where it is,
# status 3 with the evidence is right too.
# timeout: 300
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

# scenario NAME EXPECTATION: a file in $work that measures 10 Mbit/s.
scenario() {
	cat >"$work/$1.yaml" <<YAML
version: 1
name: $1
topology: $top/topologies/flat.yaml
set: {fabric.nic.rate: 10mbit, fabric.nic.basis: l2}
repeat: {min: 2, max: 2}
paths:
  there: {from: client, to: server}
measure:
  stream: {test: tcp_stream, duration: 1s, warmup: 300ms}
expect:
  - $2
YAML
}

# status_is NAME WANTED FILE: that status, or 3 where the file's evidence is the machine.
status_is() {
	if [ "$status" = 3 ] && jq -e '.expectations[0].evidence // "" | test("machine was the limit")' \
		"$3" >/dev/null; then
		tap_skip "$1" "$(jq -r '.expectations[0].evidence' "$3")"
	else
		is "$1" "$status" "$2"
	fi
}

labs_left() {
	vpclab ls --json | jq -r --arg name "$1" '[.. | .name? // empty | select(startswith($name))] | length'
}

scenario holds "stream of there within 3% of predicted"
run vpclab run "$work/holds.yaml" -o "$work/out"
status_is "an expectation that holds" 0 "$work/out/report.json"
has "progress without a terminal is a line a step" "$output" "there stream, run 1 of at most 2"
hasnt "no bar without a terminal" "$output" $'\r'
has "the table has the prediction" "$output" "predicted    Mbit/s   9.6"
is "the report's schema" "$(jq -r .schema "$work/out/report.json")" vpclab-result/1
is "both counters agree" \
	"$(jq -c '[.measurements[].paths[].runs[].counted.truths] | unique' "$work/out/report.json")" '["agree"]'
is "the wire carried what the model says, within 1 %, or less on a busy machine" "$(jq '
	[.measurements[].paths[] | .predicted.goodput_bps as $p | .runs[] |
		.counted.goodput_bps / $p - 1 < 0.01] | all' "$work/out/report.json")" true
has "JUnit has the expectation" "$(<"$work/out/junit.xml")" \
	'<testcase name="stream of there within 3% of predicted" classname="holds"'
is "no lab is left" "$(labs_left holds)" 0

scenario fails "stream of there at least 20mbit"
run vpclab run -q "$work/fails.yaml" -o "$work/out"
status_is "an expectation that fails" 1 "$work/out/report.json"
hasnt "quiet: no progress" "$output" "run 1 of at most"

scenario misspelt "steam of there at least 20mbit"
fails_with 2 "a scenario with a mistake" vpclab run "$work/misspelt.yaml"
has "its place and a suggestion" "$output" "misspelt.yaml:11:5: 'steam' is not a measurement of this scenario; did you mean 'stream'?"

# An interrupt: the lab goes, the partial result is there.
scenario interrupted "stream of there at least 1mbit"
sed -i 's/duration: 1s/duration: 60s/' "$work/interrupted.yaml"
mkfifo "$work/progress"
"$VPCLAB" run "$work/interrupted.yaml" -o "$work/out" >"$work/interrupted.txt" 2>"$work/progress" &
pid=$!
while read -r line; do
	case $line in
	*"run 1 of"*) kill -INT $pid ;;
	esac
done <"$work/progress"
wait $pid
is "an interrupt: inconclusive" $? 3
has "an interrupt: says so" "$(<"$work/interrupted.txt")" "interrupted: what follows is partial"
is "an interrupt: no lab is left" "$(labs_left interrupted)" 0

# The supervisor is killed in the middle: nothing was measured, so nothing holds.
scenario killed "stream of there at least 1mbit"
sed -i 's/duration: 1s/duration: 60s/' "$work/killed.yaml"
sed '/^expect/,$d; s/^name: .*/name: killed-bare/' "$work/killed.yaml" >"$work/killed-bare.yaml"
for name in killed killed-bare; do
	"$VPCLAB" run "$work/$name.yaml" -o "$work/out" >"$work/killed.txt" 2>"$work/progress" &
	pid=$!
	while read -r line; do
		case $line in
		*"run 1 of"*)
			kill -KILL "$(vpclab ls --json | jq -r --arg name "$name-$pid" \
				'.. | objects | select(.name? == $name) | .pid')"
			;;
		esac
	done <"$work/progress"
	wait $pid
	is "$name: an error" $? 1
	is "$name: the report says so" "$(jq -r .verdict "$work/out/report.json")" error
	has "$name: the table has the reason" "$(<"$work/killed.txt")" "error           stream of there: "
	has "$name: so has JUnit" "$(<"$work/out/junit.xml")" '<error message="'
	is "$name: what was not measured is inconclusive" \
		"$(jq -c '[.expectations[].verdict] - ["inconclusive"]' "$work/out/report.json")" "[]"
done

# Two paths to one receiver: what the run before left in the queues is not counted with the next.
cat >"$work/shared.yaml" <<YAML
version: 1
name: shared
topology: $top/topologies/zstack.yaml
set: {fabric.nic.rate: 50mbit}
repeat: {min: 2, max: 2}
paths:
  name: {from: client, to: eip(vpc-eip)}
  address: {from: client, to: 192.0.2.60}
measure:
  flood: {test: udp_stream, size: 1400, duration: 500ms, warmup: 100ms}
  default: {test: udp_stream, duration: 500ms, warmup: 100ms}
YAML
run vpclab run -q "$work/shared.yaml" -o "$work/out"
is "two paths to one receiver: both counters agree" "$(jq -c '
	[.measurements[].paths[].runs[].counted | [.truths, .why]] | unique' "$work/out/report.json")" \
	'[["agree",null]]'
is "the size that is not given is the same for engine and truth" "$(jq -c '
	[.measurements[1].paths[] | .predicted.payload_bytes, .runs[].engine.size] | unique' \
	"$work/out/report.json")" "[1422]"
has "where packets were lost" "$output" "h1:nic's"

# A path that the topology has no way for.
sed 's/to: server/to: flat-eip/; s/flat.yaml/zstack.yaml/' "$work/holds.yaml" >"$work/noway.yaml"
for command in run validate; do
	fails_with 2 "$command: no way" vpclab $command "$work/noway.yaml"
	has "$command: where and why" "$output" \
		"noway.yaml:7:29: no way from client to flat-eip: no route to 10.10.0.10 at client; reach it by eip(flat-eip)"
	hasnt "$command: before building" "$output" building
done

# A terminal that closes says so twice.
sed 's/name: interrupted/name: hangup/' "$work/interrupted.yaml" >"$work/hangup.yaml"
"$VPCLAB" run "$work/hangup.yaml" -o "$work/out" >"$work/hangup.txt" 2>"$work/progress" &
pid=$!
while read -r line; do
	case $line in
	*"run 1 of"*) kill -HUP $pid && kill -HUP $pid ;;
	esac
done <"$work/progress"
wait $pid
is "two hangups: the partial result is reported" $? 3
has "two hangups: says so" "$(<"$work/hangup.txt")" "interrupted: what follows is partial"
sed -i 's/duration: 60s/duration: 300ms/' "$work/hangup.yaml"
nohup "$VPCLAB" run "$work/hangup.yaml" -o "$work/out" >"$work/hangup.txt" 2>"$work/progress" &
pid=$!
while read -r line; do
	case $line in
	*"run 1 of"*) kill -HUP $pid ;;
	esac
done <"$work/progress"
wait $pid
is "nohup: not interrupted" "$(jq .interrupted "$work/out/report.json")" false

# The folder is tried before anything is built.
fails_with 2 "-o ''" vpclab run "$work/holds.yaml" -o ''
hasnt "-o '': before building" "$output" building
fails_with 1 "-o FILE" vpclab run "$work/holds.yaml" -o "$work/holds.yaml"
has "-o FILE: says so" "$output" "holds.yaml': Not a directory"
hasnt "-o FILE: before building" "$output" building

# One that fails does not stop those behind it.
scenario nowhere "stream of there at least 1mbit"
sed -i "s,$top/topologies/flat.yaml,$work/none.yaml," "$work/nowhere.yaml"
run vpclab run -q "$work/nowhere.yaml" "$work/fails.yaml" -o "$work/both"
has "the first of two fails: said" "$output" "nowhere.yaml:3:11: "
is "the first of two fails: the second is measured" \
	"$(jq -r .scenario.name "$work/both/fails/report.json")" fails

fails_with 2 "a topology is not a scenario" vpclab run topologies/flat.yaml
has "a topology is not a scenario: says so" "$output" "is a topology, not a scenario"
fails_with 2 "a scenario is not a topology" vpclab plan scenarios/zstack.yaml
has "a scenario is not a topology: names it" "$output" "is a scenario; its topology is scenarios/../topologies/zstack.yaml"

# As an ordinary user.
user_tree
cp "$work/holds.yaml" "$work/user/holds.yaml"
sed -i "s,$top/topologies,share/vpclab/topologies," "$work/user/holds.yaml"
chmod a+r "$work/user/holds.yaml"
run as_user "$work/user/bin/vpclab" run -q "$work/user/holds.yaml" -o "$work/user/home/out"
status_is "an ordinary user: an expectation that holds" 0 "$work/user/home/out/report.json"
is "an ordinary user: both counters agree" "$(jq -c '
	[.measurements[].paths[].runs[].counted.truths] | unique' "$work/user/home/out/report.json")" '["agree"]'

# measure
lab_up measure topologies/flat.yaml --set fabric.nic.rate=10mbit || finish
passes "measure" vpclab measure "$lab:client" server tcp_stream --duration 500ms
has "measure: the prediction" "$output" "h1 uplink, 10 Mbit/s l1, 1448 of 1538 bytes"
has "measure: the counters" "$output" "nft and device agree"
server=$(on server ip -4 -o addr show dev eth0 | awk '{sub("/.*", "", $4); print $4}')
passes "measure --json" vpclab measure "$lab:client" server udp_rr --duration 300ms --json
is "measure --json: the median" "$(jq '.engine.latency_ns.p50 > 0' <<<"$output")" true
fails_with 2 "measure: an endpoint misspelt" vpclab measure "$lab:clint" server tcp_rr
has "measure: suggests" "$output" "did you mean 'client'?"
fails_with 2 "measure: a test misspelt" vpclab measure "$lab:client" server tcp_r
passes "measure: an address is the endpoint that has it" \
	vpclab measure "$lab:client" "$server" udp_stream --duration 300ms --warmup 100ms
has "measure: the size that is not given is the path's" "$output" "1472 of 1538 bytes"
has "measure: where packets were lost" "$output" "h1:nic's queue"
has "measure: and nothing else" "$output" "nothing unexplained"
hasnt "measure: no −0.00" "$output" "−0.00"
"$VPCLAB" measure "$lab:client" server tcp_rr >"$work/measure.txt" 2>&1 &
pid=$!
until grep -q "SigCgt:.*[4567cdef]...$" "/proc/$pid/status" 2>/dev/null || ! kill -0 $pid 2>/dev/null; do :; done
kill -TERM $pid
wait $pid
is "measure: an early TERM" $? 3
has "measure: an early TERM: says so" "$(<"$work/measure.txt")" interrupted
lab_down
lab_up machines topologies/dumbbell.yaml
words=$(sed '1!d; s/^[^:]*: //; s/ up in .*//' <<<"$output")
lab_down
cat >"$work/machines.yaml" <<YAML
version: 1
topology: $top/topologies/dumbbell.yaml
paths: {there: {from: a, to: b}}
measure: {rr: {test: tcp_rr, duration: 200ms, warmup: 500ms}}
repeat: {min: 1, max: 1}
YAML
run vpclab run -q "$work/machines.yaml" -o "$work/out"
has "up and run count nodes in the same words" "$(tr -s ' \n' ' ' <<<"$output")" "nothing left · $words"
finish
