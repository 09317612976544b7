#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool: adapters of other people's tools: the skeleton filled in for a toy of thirty lines works, broken
# ones are told where, and of those that come along, the tools that are here are read.
# timeout: 180
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq perl

# A toy in thirty lines: sends datagrams for a while, and says how many of them the server counted.
mkdir -p "$work/bin"
cat >"$work/bin/toy" <<'END'
#!/usr/bin/perl
use strict; use warnings; use IO::Socket::INET; use Time::HiRes qw(time sleep);
if (@ARGV == 1 && $ARGV[0] eq '--version') { print "toy 1.5\n"; exit }
if ($ARGV[0] eq '-s') {
	my $s = IO::Socket::INET->new(LocalPort => $ARGV[1], Proto => 'udp') or die "toy: $!\n";
	my ($n, $data) = (0, '');
	$SIG{INT} = sub { exit };
	while (defined(my $from = $s->recv($data, 65536))) {
		if ($data =~ /^end/) { $s->send($n); $n = 0 } else { $n++ }
	}
}
my ($host, $port, $seconds, $gap, $size) = @ARGV;
my $s = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Proto => 'udp') or die "toy: $!\n";
my ($sent, $begin) = (0, time);
while (time < $begin + $seconds) {
	$s->send('x' x $size);
	$sent++;
	sleep($begin + $sent * $gap / 1e6 - time) if $begin + $sent * $gap / 1e6 > time;
}
sleep 0.2;
my ($counted, $tries) = ('', 3);
while ($tries-- && $counted eq '') {
	$s->send('end');
	local $SIG{ALRM} = sub { die "no answer\n" };
	eval { alarm 1; $s->recv($counted, 64); alarm 0 };
}
if ($counted eq '') { print STDERR "toy: no answer\n"; exit 3 }
printf "sent %d received %d rate %.1f kbit/s\n", $sent, $counted, $counted * $size * 8 / $seconds / 1e3;
END
chmod +x "$work/bin/toy"
PATH=$PATH:$work/bin

cat >"$work/toy.yaml" <<'END'
version: 1
name: toy
find: {program: toy, version: {args: [--version], match: 'toy (?<version>[\d.]+)'}}
tests:
  udp_stream:
    server: {argv: [toy, -s, "{port}"], ready: {listen: udp}}
    client: {argv: [toy, "{server.address}", "{port}", "{duration.s}", "{gap.us}", "{size}"]}
    reads:
      - {metric: goodput, from: client.stdout, match: 'rate (?<value>[\d.]+) (?<unit>kbit/s)'}
      - {metric: received, from: client.stdout, match: 'received (?<value>\d+)'}
END
fails_with 0 "a dozen lines describe a toy" vpclab tool check "$work/toy.yaml"
has "… with one test" "$output" "no mistakes, 1 test"$'\n'
has "… and it is found, with its version" "$output" "version 1.5"
run vpclab tool try "$work/toy.yaml" --json
is "tried: status" "$status" 0
is "its figures are read, in our units" "$(jq -c '[.tests[0].reads[] | .metric, .value > 100000 or .value > 100]' <<<"$output")" \
	'["goodput",true,"received",true]'

sed "s/toy (?<version>/toy (?<version/" "$work/toy.yaml" >"$work/bad.yaml"
fails_with 2 "an expression that does not compile" vpclab tool check "$work/bad.yaml"
has "… is told with its place" "$output" "bad.yaml:3:"
sed 's/{gap.us}/{gap.uss}/' "$work/toy.yaml" >"$work/bad.yaml"
fails_with 2 "a placeholder that there is not" vpclab tool check "$work/bad.yaml"
has "… is told with a suggestion" "$output" "did you mean '{gap."
sed 's/udp_stream:/udp_steam:/' "$work/toy.yaml" >"$work/bad.yaml"
fails_with 2 "a test of an unknown name" vpclab tool check "$work/bad.yaml"
has "… is told with a suggestion" "$output" "5:3: unknown test 'udp_steam'; did you mean 'udp_stream'?"
sed 's/(?<value>\\d+)/\\d+/' "$work/toy.yaml" >"$work/bad.yaml"
fails_with 2 "an expression without a capture" vpclab tool check "$work/bad.yaml"
sed "s/find: {program: toy/find: {package: {debian: toy-tools}, program: toyy/" "$work/toy.yaml" >"$work/bad.yaml"
fails_with 4 "a tool that is not here" vpclab tool try "$work/bad.yaml"
has "… is told with its package" "$output" "package toy-tools"
sed 's/received (?/got (?/' "$work/toy.yaml" >"$work/bad.yaml"
fails_with 1 "a figure that is not found" vpclab tool try "$work/bad.yaml"
has "… is told, with all that the tool printed" "$output" "sent "
sed 's/argv: \[toy, -s, /argv: [toy, -s, "x", /' "$work/toy.yaml" >"$work/bad.yaml"
run vpclab tool try "$work/bad.yaml"
has "a server that does not listen is told" "$output" "the server of toy"

sed "\$ a known_faults: [{id: a, kind: hiden-loss, versions: 1...2, reference: x}]" "$work/toy.yaml" >"$work/bad.yaml"
fails_with 2 "a known fault of no kind and no version" vpclab tool check "$work/bad.yaml"
has "… its kind is told with a suggestion" "$output" "did you mean 'hidden-loss'?"
has "… its versions are told with their place" "$output" "versions: '1...2' is none of all"
sed 's/argv: \[toy, -s/argv: [toyserver, -s/' "$work/toy.yaml" >"$work/bad.yaml"
run vpclab tool check "$work/bad.yaml"
has "another program that is not here is told before it is run" "$output" "its server starts toyserver, which is not here"
sed 's/find: {program: toy/find: {program: nosuchtoy/' "$work/toy.yaml" >"$work/bad.yaml"
run vpclab tool check "$work/bad.yaml"
has "a tool that is not here, of no package" "$output" "nosuchtoy is not here, and its adapter names no package"

# A program beside its adapter, as in somebody's checkout: found from wherever it is asked for.
sed 's|find: {program: toy|find: {program: ./bin/toy|' "$work/toy.yaml" >"$work/beside.yaml"
run env PATH=/usr/bin:/bin "$VPCLAB" tool try "$work/beside.yaml" --json
is "a program is found beside its adapter" "$status $(jq -c '.tests[0].status' <<<"$output")" "0 0"
run env -C "$work" PATH=/usr/bin:/bin "$(realpath "$VPCLAB")" tool check beside.yaml
has "… also by a relative path" "$output" "$work/bin/toy, version 1.5"

mkdir "$work/empty"
ln -s "$top/scenarios" "$work/empty/scenarios"
printf '#!/bin/sh\n' >"$work/empty/ping"
run env -C "$work/empty" "$(realpath "$VPCLAB")" tool show ping
has "a file that is called as an adapter hides none" "$output" "name: ping"
run vpclab tool show skeleton
is "the skeleton is shown to be copied" "$output" "$(cat "$top/scenarios/tools/skeleton.yaml")"

# The toy on a trial of one's own, whose topology lies beside it; nobody answers, and it calls
# that a success by its status.
mkdir "$work/mine"
cat >"$work/mine/pair.yaml" <<'END'
version: 1
name: pair
nodes:
  a: {kind: machine, addresses: [10.0.1.1/24]}
  b: {kind: machine, addresses: [10.0.1.2/24]}
links: [{endpoints: ["a:eth0", "b:eth0"]}]
END
cat >"$work/mine/alone.yaml" <<'END'
version: 1
name: alone
title: Nobody <answers>
topology: pair.yaml
from: a
to: b
no_server: true
ask: {test: udp_stream, rate: 1mbit, size: 1000, duration: 500ms}
exit: failure
END
sed '$ a \    exit: {3: ok}' "$work/toy.yaml" >"$work/proud.yaml"
verify() { run vpclab verify -q --tool "$work/proud.yaml" --trials "$work/mine/alone.yaml" "$@"; }
verify --list --json
is "a trial is listed as JSON" "$(jq -c '.trials[] | [.name, .title, .core, .tests]' <<<"$output")" '["alone","Nobody <answers>",false,["udp_stream"]]'
verify --trials "$work/mine/alone.yaml" --baseline "$work/known" --update-baseline --json --keep "$work/kept"
if [ "$(jq -r '.results[0].judgement' <<<"$output")" = inconclusive ]; then
	tap_skip "faults in JUnit and TAP" "$(jq -r '[.results[0] | .inconclusive, .answers[].text] | map(values) | join("; ")' <<<"$output")"
else
	is "what it says by its status is called wrong" "$(jq -r '.results[0].judgement' <<<"$output")" "wrong exit"
	is "a trial that is named twice runs once" "$(jq '.results | length' <<<"$output")" 1
	has "what it printed is kept" "$(cat "$work/kept/alone-toy/client.stderr")" "toy: "
	verify --format junit -o "$work/fresh.xml"
	is "a fault fails" "$status" 1
	has "… in JUnit" "$(cat "$work/fresh.xml")" '<failure type="wrong-exit"'
	verify --format junit -o "$work/known.xml" --baseline "$work/known"
	is "one that the baseline has does not" "$status" 0
	has "… in JUnit either" "$(cat "$work/known.xml")" 'failures="0"'
	if command -v xmllint >/dev/null; then
		passes "both are XML" xmllint --noout "$work/fresh.xml" "$work/known.xml"
	else
		tap_skip "both are XML" "xmllint is not here"
	fi
	verify --format tap --baseline "$work/known"
	has "… and is to be done in TAP" "$output" "not ok 1 - toy on alone # TODO known"
fi

run vpclab tool ls --json
is "all adapters that come along are listed" "$(jq '.tools | length >= 9' <<<"$output")" true
run vpclab tool try iperf3 --json
is "iperf3 is read: everything asked for is there" \
	"$status $(jq -c '[.tests[].reads[] | select(.value == null) | .metric]' <<<"$output")" "0 []"
run vpclab tool try ping --json
is "ping is read" "$status $(jq -c '[.tests[].reads[] | select(.value == null) | .metric]' <<<"$output")" "0 []"
finish
