#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# hostile: tools that do what no tool should, and vpclab ended while one runs. What a tool prints is
# judged, and nothing it does makes vpclab fail, hang, fill the machine, write what is no JSON, or
# leave something behind.
# timeout: 300
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq perl iconv pgrep ip

# The mode is the first word; a client ends with a figure unless its mode says otherwise.
cat >"$work/tool" <<'END_TOOL'
#!/usr/bin/perl
use strict; use warnings; use IO::Socket::INET; use POSIX qw(setsid);
my ($mode, $what, $port) = @ARGV;
if ($mode eq '--version') { print "tool 1.0 \x1b[31m\n"; exit }
$| = 1;
my $long = 'WARNING ' x 1000000;
if ($what eq 's') {
	if ($mode eq 'mute') { open my $f, '>', "$0.mute" or die; close $f; sleep 60 }
	exit print STDERR "\xe2\x82\xac" x 99, "\n" if $mode eq 'refuses';
	my $s = IO::Socket::INET->new(LocalPort => $port, Listen => 5) or die "tool: $!\n";
	$SIG{$_} = 'IGNORE' for $mode eq 'stubborn' ? qw(INT TERM HUP) : ();
	if ($mode eq 'pours') { for (1 .. 9) { print STDERR $long } }
	while (1) { my $c = $s->accept or next; close $c }
}
my $figure = "goodput 5.0 Mbit/s\n";
my %prints = (
	nul => "\0\n$figure", binary => join('', map { chr } 0 .. 255) . "\n$figure", twice => "goodput 4 Mbit/s\n$figure",
	comma => "goodput 5,0 Mbit/s\n", nan => "goodput 5.0 Mbit/s\ngoodput nan Mbit/s\n", huge => "goodput 1e400 Mbit/s\n",
	letters => "goodput 5.0\xff\x1b[31m Mbit/s\n", oneline => "$long$figure", many => $figure x 1100000,
);
if (exists $prints{$mode}) { print $prints{$mode} }
elsif ($mode eq 'floods') { for (1 .. 9) { print $long } POSIX::_exit(0) }
elsif ($mode eq 'holds') { print $figure; if (!fork) { setsid; sleep 300 } }
elsif ($mode eq 'speaks') { print "goodput ", ($ENV{LC_ALL} =~ /^C/ ? '5.0' : '5,0'), " Mbit/s\n" }
elsif ($mode eq 'kills') { print $figure; kill 'KILL', -1 }
elsif ($mode eq 'breaks') { print $figure; system 'ip link del eth0' }
elsif ($mode =~ /^(sleeps|stays)$/) {
	fork; # a child that is in its way too
	open my $f, '>', "$0.$mode" or die; close $f;
	sleep($mode eq 'sleeps' ? 3 : 60);
	print $figure;
}
else { print $figure }
END_TOOL
chmod 755 "$work/tool"

# tools MODE…: an adapter of each, and the options that choose them in $chosen.
tools() {
	local mode
	chosen=()
	for mode; do
		chosen+=(--tool "$work/$mode.yaml")
		cat >"$work/$mode.yaml" <<-END
			version: 1
			name: $mode
			find: {program: $work/tool, version: {args: [--version], match: 'tool (?<version>.*)'}}
			tests:
			  udp_stream:
			    server: {argv: [$work/tool, $mode, s, "{port}"], ready: {listen: tcp}}
			    client: {argv: [$work/tool, $mode, c, "{rate.bps}", "{file}"]}
			    reads: [{metric: goodput, from: client.stdout, match: 'goodput (?<value>.*) (?<unit>Mbit/s)'}]
			    warnings: [WARNING]
		END
	done
}
cat >"$work/trial.yaml" <<END
version: 1
name: trial
link: {mtu: 1500}
ask: {test: udp_stream, rate: 5mbit, size: 1000, duration: 1s}
truth: {goodput: 5mbit}
END

# says TOOL: its judgement and what is said of its figure.
says() {
	jq -r --arg t "$1" '.results[] | select(.tool == $t) | ([.judgement] + ([.answers[] | .kind] | sort)) | join(" ")' "$work/result"
}

tools nul binary twice comma nan huge letters oneline many floods holds speaks breaks refuses stubborn pours
"$VPCLAB" verify "${chosen[@]}" --trials "$work/trial.yaml" --json -q -j 4 >"$work/result" 2>"$work/errors"
is "hostile tools: status" "$?" 1
output=$(cat "$work/errors"; jq -c '.results[] | [.tool, .inconclusive, .answers]' "$work/result")
is "a result of each, as JSON" "$(jq '.results | length' "$work/result")" 16
for mode in nul binary twice holds speaks stubborn pours; do
	is "$mode: the figure is read all the same" "$(says $mode)" "true none"
done
for mode in comma nan huge letters many; do
	is "$mode: no figure is made of it" "$(says $mode)" "lie no-result"
done
is "oneline: a warning is one, however often it is in a line" "$(says oneline)" "true none"
is "floods: what has no end is broken" "$(says floods)" "lie broken-output no-result"
is "breaks: what it did to its card accuses nobody" "$(says breaks)" "inconclusive"
has "refuses: its server's words are told" "$(jq -r '.results[] | select(.tool == "refuses") | .inconclusive' "$work/result")" "€€…"
is "a version is a line" "$(jq -r '.results[0].version' "$work/result" | tr -d ' -~\n')" ""
for format in junit tap text; do
	"$VPCLAB" verify --tool "$work/letters.yaml" --trials "$work/trial.yaml" -q -F $format >"$work/face" 2>&1
	is "… and every face of it is text: $format" "$(iconv -f UTF-8 -t UTF-8 "$work/face" 2>&1 | tr -d '[:print:]\n\200-\377')" ""
done
odd=$work/$(printf '\xff')
mkdir "$odd"
cp "$work/tool" "$odd/iperf3"
cp "$work/trial.yaml" "$odd/"
is "a path that is no UTF-8: the tool is listed" \
	"$(PATH=$odd:$PATH vpclab tool ls --json | jq '[.tools[] | select(.name == "iperf3")] | length')" 1
is "… and the trial" "$(vpclab verify --list --json --trials "$odd/trial.yaml" | jq '.trials | length')" 1

# ---- vpclab itself, ended or stopped while a tool runs ----

# begin MODE…: verify in the background, $pid; returns when the last tool runs.
begin() {
	local i
	tools "$@"
	rm -f "$work/tool.${*: -1}"
	"$VPCLAB" verify "${chosen[@]}" --trials "$work/trial.yaml" --json -q -j 4 >"$work/result" 2>"$work/errors" &
	pid=$!
	for ((i = 0; i < 300; i++)); do
		[ ! -e "$work/tool.${*: -1}" ] || return 0
		sleep 0.1
	done
	return 1
}

# left PID: what is left of it after at most 10 s.
left() {
	local i
	for ((i = 0; i < 100; i++)); do
		output=$(our_processes; pgrep -fa "$work/tool"; ls -d /run/vpclab/trial-"$1"-* "${XDG_RUNTIME_DIR:-/none}"/vpclab/trial-"$1"-* 2>/dev/null)
		[ -n "$output" ] || return 0
		sleep 0.1
	done
	echo "$output"
}

sed -i 's/^truth/ends_within: 5s\ntruth/' "$work/trial.yaml"
for try in 1 2 3; do # the stop may come before its end is waited for
	begin sleeps
	kill -STOP $pid
	sleep 7 # longer than the tool and what is left to it
	kill -CONT $pid
	wait $pid
	why=$(jq -r '.results[0].inconclusive' "$work/result")
	[ "$why" = null ] || break
done
echo "# stopped: try $try"
is "stopped and continued: no hang is seen" "$(jq -r '[.results[].answers[] | select(.kind != "none") | .kind] | join(" ")' "$work/result")" ""
has "… but why nothing is" "$why" "vpclab itself did not run for"
is "… and nothing is left" "$(left "$pid")" ""

for signal in TERM INT HUP; do
	begin stays mute
	SECONDS=0
	kill -$signal $pid
	wait $pid
	is "SIG$signal while a server is waited for: status" $? 3
	is "… at once" "$((SECONDS > 10 ? SECONDS : 0))" 0
	is "… the result is whole" "$(jq -c '[.interrupted, (.results | length)]' "$work/result")" "[true,2]"
	is "… and nothing is left" "$(left $pid)" ""
done
for mode in stays mute; do
	begin holds $mode
	kill -KILL $pid
	wait $pid 2>/dev/null
	is "killed while $mode: nothing is left" "$(left $pid)" ""
done
finish
