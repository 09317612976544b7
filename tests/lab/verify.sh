#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# verify: the judge on trial. A tool that really sends traffic (liar.pl) tells each kind of lie on
# purpose: each is caught and named by its kind; told honestly, the same is true on every trial.
# timeout: 900
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need jq perl

cp "$top/tests/lab/liar.pl" "$work/liar"
chmod 755 "$work/liar"

# tool LIE: an adapter of its own for it, $work/LIE.yaml.
tool() {
	cat >"$work/$1.yaml" <<-END
		version: 1
		name: $1
		find: {program: $work/liar, version: {args: [--version], match: 'liar (?<version>[\d.]+)'}}
		tests:
		  udp_stream:
		    server: &server {argv: [$work/liar, -s, "{port}", $1], ready: {listen: tcp}}
		    client: {argv: [$work/liar, udp_stream, $1, "{server.address}", "{port}", "{duration.s}", "{rate.bps}", "{size}"]}
		    reads:
		      - {metric: goodput, from: client.json, path: goodput, unit: bit/s}
		      - {metric: goodput, from: client.json, path: "intervals[*]", unit: bit/s, series: true, headline: false}
		      - {metric: loss, from: client.json, path: loss, unit: "%"}
		      - {metric: sent, from: client.json, path: sent, unit: count}
		      - {metric: received, from: client.json, path: received, unit: count}
		      - {metric: duplicated, from: client.json, path: duplicated, unit: count}
		      - {metric: reordered, from: client.json, path: reordered, unit: count}
		  udp_rr: &rr
		    server: *server
		    client: {argv: [$work/liar, udp_rr, $1, "{server.address}", "{port}", "{duration.s}"]}
		    reads:
		      - {metric: latency_mean, from: client.json, path: latency_mean, unit: ms}
		      - {metric: latency_p99, from: client.json, path: latency_p99, unit: ms}
		      - {metric: latency_p999, from: client.json, path: latency_p999, unit: ms}
		      - {metric: transactions, from: client.json, path: transactions, unit: /sec}
		  udp_latency:
		    <<: *rr
		    client: {argv: [$work/liar, udp_latency, $1, "{server.address}", "{port}", "{duration.s}", "{rate.pps}"]}
		  tcp_stream:
		    server: *server
		    client: {argv: [$work/liar, tcp_stream, $1, "{server.address}", "{port}", "{duration.s}"]}
		    reads:
		      - {metric: packets, from: client.json, path: packets, unit: /sec}
	END
}

# trial NAME: from standard input, without the lines that all have.
trial() {
	{
		printf 'version: 1\nname: %s\n' "$1"
		cat
	} >"$work/trial-$1.yaml"
}

# try TRIAL LIE…: each on the trial; the results in $result.
try() {
	tried=$1
	result='{"results": []}'
	shift
	more "$@"
}

# more LIE…: (again) on the trial that was tried last; replaces what was known of them.
more() {
	local lie found args=(verify --trials "$work/trial-$tried.yaml" --json -q -j 2 --keep "$work/kept")
	for lie; do
		[ -e "$work/$lie.yaml" ] || tool "$lie"
		args+=(--tool "$work/$lie.yaml")
	done
	found=$("$VPCLAB" "${args[@]}" 2>"$work/errors")
	status=$?
	jq -e .results >/dev/null <<<"$found" || tap_result "$tried gives a result" "$(cat "$work/errors")"
	result=$(jq -c --argjson more "$found" '([$more.results[].tool]) as $new | .results |= [.[] | select([.tool] - $new != [])] + $more.results' <<<"$result")
}

# Where others take the CPUs, the fake's own clock is late, and neither truth nor kind is sharp.
busy() {
	awk -v n="$(nproc)" '{ exit !($1 > 1.5 * n) }' /proc/loadavg
}

# says LIE ABOUT: what is said of it, "judgement kind".
says() {
	jq -r --arg t "$1" --arg a "$2" \
		'[.results[] | select(.tool == $t) | .answers[] | select(.about == $a) | .judgement + " " + .kind] | join(", ")' <<<"$result"
}

# texts LIE: all that is said of it, for who reads why a test failed.
texts() {
	output=$(jq -r --arg t "$1" '.results[] | select(.tool == $t) | .answers[] | .about + ": " + .judgement + ": " + .text' <<<"$result")
}

# caught NAME LIE ABOUT KIND [JUDGEMENT]
caught() {
	local tries=0
	while [ "$(says "$2" "$3")" != "${5:-lie} $4" ] && busy && [ $((tries++)) -lt 2 ]; do
		more "$2"
	done
	texts "$2"
	case $(says "$2" "$3") in
	inconclusive*) tap_skip "$1" "the machine was too busy to accuse" ;;
	*) is "$1" "$(says "$2" "$3")" "${5:-lie} $4" ;;
	esac
}

honest_says() {
	jq -r '[.results[] | select(.tool == "honest") | .answers[].judgement] | unique | join(" ")' <<<"$result"
}

# acquitted TRIAL: all that the honest one says is true, and at least one thing is said.
acquitted() {
	local tries=0
	while [ "$(honest_says)" != true ] && busy && [ $((tries++)) -lt 2 ]; do
		more honest
	done
	texts honest
	case $(honest_says) in
	inconclusive | "inconclusive true") tap_skip "told honestly on $1: true" "the machine was too busy" ;;
	*) is "told honestly on $1: true" "$(honest_says)" true ;;
	esac
}

stream='test: udp_stream, rate: 5mbit, size: 1000, duration: 2s'

trial clean <<END
link: {rate: 50mbit, queue: 50ms}
via: router
ask: {$stream}
truth: {goodput: counted, loss: 0, duplicated: 0, reordered: 0}
tolerance: {goodput: 3.5%}
exit: success
ends_within: 6s
END
try clean honest unit bytes window percent intervals crash late broken empty status host hang
is "faults: status 1" "$status" 1
acquitted clean
caught "2^20 for 10^6" unit goodput wrong-unit
caught "bytes for bits" bytes goodput wrong-unit
caught "bytes over the time of the whole run" window goodput wrong-window
caught "a loss of 140 %" percent "loss within 0 and 100 %" wrong-denominator
caught "intervals that do not make the total" intervals "intervals make the total" disagrees
caught "it is ended by a signal" crash crash crash crash
caught "it ends seconds late" late end late-end hang
caught "it does not end" hang end hang hang
caught "JSON that ends in the middle" broken output broken-output
caught "status 0 and no figure" empty goodput no-result
caught "status 1 and nothing wrong" status exit wrong-exit "wrong exit"
caught "drops of its own socket called the path's" host loss host-loss
is "what a faulty tool printed is kept, and the evidence" \
	"$(jq -r .tool "$work/kept/clean-bytes/result.json") $(jq -r '.goodput < 1e6' "$work/kept/clean-bytes/client.stdout")" "bytes true"
if [ "$(id -u)" = 0 ] && command -v tcpdump >/dev/null; then
	has "… and the headers of its packets" "$(tcpdump -nr "$work/kept/clean-bytes.pcap" udp 2>/dev/null | sed -n 5p)" "UDP, length 1000"
else
	tap_skip "… and the headers of its packets" "not root, or tcpdump is not here"
fi
is "… of no honest one" "$(ls -d "$work"/kept/*-honest 2>/dev/null)" ""

trial overload <<END
link: {rate: 10mbit, queue: 50ms}
via: router
ask: {test: udp_stream, rate: 20mbit, size: 1000, duration: 2s}
truth: {goodput: counted, loss: counted}
tolerance: {goodput: 5%, loss: 2%}
END
try overload honest sender loss
acquitted overload
caught "the sender's figure" sender goodput wrong-side
caught "half of all is lost, and nothing said" loss loss hidden-loss

trial tail <<END
link: {mtu: 1500}
via: router
before:
  - {node: n, run: [nft, "table ip t { chain c { type filter hook forward priority 0; ip protocol udp ip daddr 10.9.0.1 limit rate over 1/hour burst 500 packets counter drop; }; }"]}
ask: {$stream}
truth: {loss: counted}
tolerance: {loss: 1%}
END
try tail honest gaps
acquitted tail
caught "gaps only, and the last packets never came" gaps loss hidden-loss

trial copies <<END
link: {ab: {loss: 3%, duplication: 3%}, via: relay}
ask: {$stream}
truth: {loss: counted, duplicated: counted}
tolerance: {loss: 0.2%, duplicated: 2}
END
try copies honest copies
acquitted copies
caught "copies that count as packets" copies loss hidden-duplicates
caught "… and are not told" copies duplicated hidden-duplicates

trial order <<END
link: {ab: {delay: 5ms, reordering: 5%}, via: relay}
ask: {$stream}
truth: {reordered: counted, loss: 0}
tolerance: {reordered: 5}
END
try order honest order
acquitted order
caught "what came out of order is not told" order reordered hidden-reordering

trial half <<END
link: {ab: {delay: 9ms}, ba: {delay: 1ms}, via: relay}
ask: {test: udp_rr, size: 64, response_size: 64, duration: 2s}
truth: {latency_mean: 10ms, latency_p999: none}
tolerance: {latency_mean: 15%}
END
try half honest half digits
acquitted half
caught "half of a round trip" half latency_mean half-round-trip
caught "99.9 % of two hundred answers" digits latency_p999 unsupported-digits

trial freeze <<END
link: {delay: 1ms, via: relay}
ask: {test: udp_latency, size: 64, rate: 500pps, duration: 3s}
events: [{at: 1s, freeze: 500ms}]
truth: {latency_p99: 470ms}
tolerance: {latency_p99: 12%}
END
try freeze honest omission
acquitted freeze
caught "a closed loop while all stands still" omission latency_p99 coordinated-omission

trial loss <<END
link: {ab: {delay: 5ms, loss: 10%}, ba: {delay: 5ms}, via: relay}
ask: {test: udp_rr, size: 64, response_size: 64, duration: 2s}
truth: {latency_mean: 10ms}
tolerance: {latency_mean: 60%}
END
try loss honest stall
acquitted loss
caught "the first loss ends the exchange" stall latency_mean stopped-at-loss

trial policer <<END
link: {rate: 50mbit}
via: router
before:
  - {node: n, run: [nft, "table ip t { chain c { type filter hook forward priority 0; ip protocol udp ip daddr 10.9.0.1 limit rate over 5000/second burst 50 packets counter drop; }; }"]}
ask: {$stream}
truth: {loss: 0, goodput: predicted}
tolerance: {loss: 2%, goodput: 6%}
END
try policer honest bursts fallback
acquitted policer
caught "bursts that a policer drops" bursts loss bursts
caught "half of the rate that was asked for" fallback goodput silent-fallback

trial writes <<END
link: {rate: 100mbit}
via: router
ask: {test: tcp_stream, size: 1, duration: 2s}
truth: {packets: counted}
tolerance: {packets: 40%}
END
try writes honest writes
acquitted writes
caught "writes of a byte called packets" writes packets hidden-coalescing

trial pieces <<END
link: {ab: {loss: 3%}, via: relay}
ask: {test: udp_stream, rate: 5mbit, size: 8000, duration: 2s}
truth: {loss: counted, received: counted}
tolerance: {loss: 1%}
END
try pieces pieces
caught "datagrams of many fragments" pieces loss fragment-loss
caught "… called packets" pieces received wrong-packet-unit

trial nobody <<END
link: {rate: 50mbit}
no_server: true
ask: {$stream}
exit: failure
END
try nobody honest exit
acquitted nobody
caught "status 0 although nobody answers" exit exit wrong-exit "wrong exit"

# ---- the command ----

verify() { run vpclab verify --trials "$work/trial-clean.yaml" -q "$@"; }
verify --tool "$work/empty.yaml" --baseline "$work/known" --update-baseline
is "a baseline is written: status" "$status" 0
has "… by name" "$(cat "$work/known")" $'empty\tclean\tgoodput\tno-result'
verify --tool "$work/empty.yaml" --baseline "$work/known"
is "what it has is no failure" "$status" 0
sed -i 's/no-result/wrong-side/' "$work/known"
verify --tool "$work/empty.yaml" --baseline "$work/known"
is "another kind of fault is one" "$status" 1
has "… and told to be new" "$output" "NEW"
sed "s|program: $work/liar|package: {debian: liars}, program: $work/none|" "$work/honest.yaml" >"$work/none.yaml"
verify --tool "$work/none.yaml"
is "a tool that is not here is skipped" "$status" 0
has "… with what to install" "$output" "the package liars"
sed 's/udp_rr/udp_r/' "$work/honest.yaml" >"$work/bad.yaml"
verify --tool "$work/bad.yaml"
is "an adapter that is wrong: status" "$status" 2
sed 's/loss: 0/los: 0/' "$work/trial-clean.yaml" >"$work/trial-bad.yaml"
fails_with 2 "a trial that is wrong: status" vpclab verify --tool "$work/honest.yaml" --trials "$work/trial-bad.yaml"
has "… told with its place and a suggestion" "$output" "did you mean 'loss'?"
fails_with 2 "a trial that there is not" vpclab verify --tool "$work/honest.yaml" --trials claen
has "… is told with a suggestion" "$output" "did you mean 'clean'?"
fails_with 2 "a baseline to be written wants a file" vpclab verify --update-baseline

fails_with 0 "all kinds are explained" vpclab verify --explain all
kinds=$(sed -n 's/^\([a-z-]*\): .*/\1/p' <<<"$output")
is "… each with a paragraph" "$(for kind in $kinds; do
	vpclab verify --explain "$kind" | wc -l | awk '$1 < 4 { print "short" }'
done)$(wc -l <<<"$kinds" | awk '$1 < 24 { print $1 }')" ""
fails_with 2 "a kind that there is not" vpclab verify --explain wrong-sid
has "… is told with a suggestion" "$output" "did you mean 'wrong-side'?"

# A closing of the first trial is waited for, then Ctrl-C.
"$VPCLAB" verify --trials "$work/trial-tail.yaml" --trials "$work/trial-clean.yaml" --tool "$work/honest.yaml" \
	--tool "$work/hang.yaml" --json >"$work/partial.json" 2>"$work/errors" &
pid=$!
for ((i = 0; i < 200; i++)); do
	grep -q 'tail on honest' "$work/errors" && break
	sleep 0.1
done
sleep 1
kill -INT "$pid"
wait "$pid"
is "interrupted: status" "$?" 3
is "… what is there is told" "$(jq -c '[.interrupted, .results[0].judgement, .results[3].judgement]' "$work/partial.json")" '[true,"true","skip"]'
is "… and no lab is left" "$(vpclab ls --json | jq -c '[.labs[].name | select(startswith("trial-'"$pid"'"))]')" "[]"
finish
