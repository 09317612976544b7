#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# replay.sh: runs each fuzz target over its corpus, tests/corpus/TARGET, and over the broken files of
# the same subject (tests/corpus/topology for topology_fuzz). Prints TAP, one line a target. Called by
# tests/run (suite corpus) with BUILD set; the targets are built by then.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
n=0 status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for source in "$top"/tests/fuzz/*_fuzz.c; do
	name=${source##*/} name=${name%.c}
	n=$((n + 1))
	set -- "$top/tests/corpus/$name"
	[ ! -d "${1%_fuzz}" ] || set -- "$1" "${1%_fuzz}"
	if "${BUILD:-$top/build}/tests/fuzz/$name" "$@" >"$log" 2>&1; then
		echo "ok $n - $name: $(grep -c '^ok' "$log") files"
	else
		echo "not ok $n - $name"
		tail -n 20 "$log" | sed 's/^/# /'
		status=1
	fi
done
echo "1..$n"
exit $status
