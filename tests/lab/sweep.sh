#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# sweep: `vpclab measure --sweep` and `--repeat`: points, faces, exit statuses, mistakes, Ctrl-C.
# timeout: 240
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=two.inc
. "$(dirname "$0")/two.inc"
need jq

link sweep "rate: 20mbit" || finish
brief=(--duration 200ms --warmup 300ms)

# many ARGUMENT…: standard output in $work/out, standard error in $work/err, sets status.
many() {
	vpclab measure "$lab:client" server "$@" "${brief[@]}" >"$work/out" 2>"$work/err"
	status=$?
}

many udp_stream --sweep size=100,200 --sweep rate_packets=100pps..400pps*2 --json
is "nested: status" "$status $(tail -n 1 "$work/err")" "0 point 6 of 6: size=200 rate_packets=400pps"
is "nested: the last turns fastest" "$(jq -c '[.points[].at | [.size, .rate_packets]]' "$work/out")" \
	'[["100","100pps"],["100","200pps"],["100","400pps"],["200","100pps"],["200","200pps"],["200","400pps"]]'
is "nested: specifications are those of the points" \
	"$(jq -c '[.points[].spec | .size, .rate_pps]' "$work/out")" \
	'[100,100,100,200,100,400,200,100,200,200,200,400]'
is "nested: schema" "$(jq .schema_version "$work/out")" 1
is "nested: figures have their units" \
	"$(jq '[.points[].metrics | .pps_pps.n, .goodput_bps.n, .loss_share.n] | all(. == 1)' "$work/out")" true
# More can be offered than arrives, never less.
is "nested: a figure belongs to its point" "$(jq '[.points[] |
	.metrics.goodput_bps.mean / .metrics.pps_pps.mean / 8 / .spec.size - 1 | fabs < 0.001] | all' \
	"$work/out")" true

many tcp_rr --sweep msg_size:1:1K:*32 --csv --quiet
is "qperf's way: status" "$status$(<"$work/err")" 0
is "csv: as many values in each row as heads" "$(awk -F, '{ print NF }' "$work/out" | sort -u | wc -l)" 1
is "csv: a row a point" "$(cut -d, -f1 "$work/out" | tr '\n' ' ')" "size 1 32 1024 "
is "csv: units in the heads" "$(head -n 1 "$work/out" | tr , '\n' | grep -cx 'p50_ns\|tps_tps\|runs\|error')" 4

# What cannot be reached is no result, and says so: a percentile is known to 1/512 at best.
many tcp_rr --repeat 99.9%,0.01%,3 --json
is "a target that was not reached: status 3" "$status" 3
is "not reached: all runs are there" \
	"$(jq -c '[.points[0].runs, .points[0].settled, (.points[0].metrics.p50_ns.runs | length)]' "$work/out")" \
	'[3,false,3]'
is "not reached: a mean of percentiles is no surer than their histogram" \
	"$(jq '.points[0].metrics.p50_ns | .half_width >= .mean / 600' "$work/out")" true
many tcp_rr --repeat 50%,100%
is "reached: status 0" "$status" 0
has "reached: the interval stands beside the mean" "$(<"$work/out")" "±"
many tcp_stream --repeat 95%,50% --sweep size=1000,2000 --json
is "both: each point is repeated" "$(jq -c '[.points[].runs >= 3]' "$work/out")" "[true,true]"

wrong() { # NAME WORDS ARGUMENT…
	many "${@:3}"
	is "$1: status 2" "$status" 2
	has "$1: says why" "$(<"$work/err")" "$2"
}
wrong "unknown key" "did you mean 'size'?" tcp_rr --sweep sizee=1,2
wrong "no values" "write it like size=1,64,512" tcp_rr --sweep size
wrong "paced" "rate_bps: tcp_rr goes as fast as it can" tcp_rr --sweep rate=1mbit,2mbit
wrong "target" "write it like 99%,2.5%" tcp_rr --repeat 99
wrong "face" "print text, json or csv" tcp_rr --repeat 99%,5% --format netperf
run vpclab measure "$lab:client" server,server tcp_rr --sweep size=1,2
is "several pairs: status 2" "$status" 2

# Ctrl-C: what is known is printed, and no labs are touched.
"$VPCLAB" measure "$lab:client" server tcp_rr --sweep size=1..1000+1 --duration 300ms --warmup 0 --json \
	>"$work/out" 2>"$work/err" &
pid=$!
for _ in {1..300}; do
	grep -q "point 3 " "$work/err" && break
	sleep 0.1
done
kill -INT $pid
wait $pid
is "interrupted: status 3" "$?" 3
is "interrupted: what was measured is there" \
	"$(jq '.interrupted and (.points | length >= 2 and length < 100)' "$work/out")" true

lab_down
finish
