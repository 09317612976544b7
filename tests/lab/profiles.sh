#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# profiles: profiles of vNICs as a person uses them: listed, shown, named in a topology; a lab keeps
# the files that its topology named.
# timeout: 120
# beside: what is measured is not looked at
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq

# Lists.
passes "profile ls" vpclab profile ls
has "profile ls: a provider, its profiles" "$output" "aliyun    226"
is "profile ls: every published row" \
	"$(vpclab profile ls --json | jq '[.providers[] | select(.provider != "measured").profiles] | add')" 787
passes "profile ls PROVIDER" vpclab profile ls tencent
has "profile ls PROVIDER: one a line" "$output" "tencent/S5.SMALL1"
is "profile ls --json: names that show takes" \
	"$(vpclab profile ls measured --json | jq -r '.profiles[] | select(.name == "measured/baidu").rate_bps')" 950000000
fails_with 2 "profile ls: an unknown provider" vpclab profile ls alyun
has "profile ls: suggests a provider" "$output" "did you mean 'aliyun'?"
fails_with 2 "profile: another verb" vpclab profile list
has "profile: says which verbs there are" "$output" "'list' is neither ls nor show"

# One.
passes "profile show" vpclab profile show aliyun/ecs.g7a.large
for part in "1 Gbit/s, 10 Gbit/s for 26 s" "900 kpps" "the sum of both directions" "2021-07-19" \
	"AlibabaCloudDocs/ecs"; do
	has "profile show: $part" "$output" "$part"
done
is "profile show --json: figures with units" \
	"$(vpclab profile show aliyun/ecs.g7a.large --json | jq -c '[.rate_bps, .burst_bps, (.credit_s == 26), .packets_per_s, .queues, .direction, .schema_version]')" \
	'[1000000000,10000000000,true,900000,2,"sum",1]'
fails_with 2 "profile show: a wrong name" vpclab profile show aliyun/ecs.g7a.lagre
has "profile show: suggests a name" "$output" "did you mean 'aliyun/ecs.g7a.large'?"
fails_with 2 "profile show: no name" vpclab profile show

# In a topology: one's own file is found beside it, before the shipped ones.
mkdir -p "$work/own/profiles"
cat >"$work/own/profiles/mine.yaml" <<'YAML'
version: 1
common: {source: me, direction: egress}
profiles:
  small: {rate: 20mbit, pps: 5kpps}
YAML
cat >"$work/own/lab.yaml" <<'YAML'
version: 1
scale: 1/2
hosts: {h1: {}}
networks: {net: {cidr: 10.0.0.0/24}}
vms:
  a: {network: net, profile: mine/small}
  b: {network: net}
YAML
passes "a profile beside the topology" vpclab validate "$work/own/lab.yaml"
sed 's/mine/mime/' "$work/own/lab.yaml" >"$work/own/mime.yaml"
fails_with 2 "a provider that does not exist" vpclab validate "$work/own/mime.yaml"
has "its place, and what is missing" "$output" \
	"mime.yaml:6:30: no profiles of 'mime': there is no file 'profiles/mime.yaml'"
sed 's,mine/small,alyun/x,' "$work/own/lab.yaml" >"$work/own/alyun.yaml"
fails_with 2 "a provider misspelt" vpclab validate "$work/own/alyun.yaml"
has "the provider that was meant" "$output" "did you mean 'aliyun'?"
cat >"$work/own/trace.yaml" <<'YAML'
version: 1
nodes: {a: {addresses: [10.0.0.1/24]}, b: {addresses: [10.0.0.2/24]}}
links:
  - {endpoints: ["a:eth1", "b:eth1"], ab: {trace: lte.trace}}
YAML
fails_with 2 "a trace that is not there" vpclab validate "$work/own/trace.yaml"
has "a missing trace: its place" "$output" "trace.yaml:4:51: no file 'lte.trace'"
printf '1\n5\n4\n' >"$work/own/lte.trace"
fails_with 2 "a trace that does not rise" vpclab validate "$work/own/trace.yaml"
has "a bad trace: its own line" "$output" "lte.trace:3:1: the times of a delivery trace must rise"
printf '1\n5\n9\n' >"$work/own/lte.trace"
passes "a trace beside the topology" vpclab validate "$work/own/trace.yaml"

# A lab needs the files no more once it is up, and a scenario finds them as well.
if lab_up profiles "$work/own/lab.yaml"; then
	passes "up again is the same lab" vpclab up "$work/own/lab.yaml" --name "$lab"
	sed -i 's/20mbit/30mbit/' "$work/own/profiles/mine.yaml"
	fails_with 2 "up of a changed profile is another" vpclab up "$work/own/lab.yaml" --name "$lab"
	mv "$work/own/profiles" "$work/own/away"
	passes "the file is gone: inspect" vpclab inspect "$lab"
	has "inspect: the profile's rate, scaled" "$output" "10 Mbit/s"
	passes "the file is gone: check" vpclab check "$lab"
	fails_with 2 "the file is gone: validate" vpclab validate "$work/own/lab.yaml"
	mv "$work/own/away" "$work/own/profiles"
	lab_down
fi
if lab_up trace "$work/own/trace.yaml"; then
	rm "$work/own/lte.trace"
	passes "the trace is gone: inspect" vpclab inspect "$lab"
	passes "the trace is gone: check" vpclab check "$lab"
	lab_down
fi
cat >"$work/own/run.yaml" <<'YAML'
version: 1
topology: lab.yaml
paths: {there: {from: a, to: b}}
measure: {rr: {test: tcp_rr, duration: 200ms, warmup: 500ms}}
repeat: {min: 1, max: 1}
YAML
passes "a scenario of such a topology" vpclab validate "$work/own/run.yaml"
run vpclab run -q "$work/own/run.yaml" -o "$work/out"
[ "$status" != 3 ] || status=0
is "a scenario of such a topology runs" "$status" 0
passes "the shipped vnic topology has its plan" vpclab plan vnic
finish
