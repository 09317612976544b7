#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tap.sh: one test result after another in TAP; the checks in ci/ and the tests in tests/lab source it.
# Not a program of its own.

tap_count=0
tap_bad=0

# tap_result NAME [PROBLEMS]: passed when there are no problems; else their lines follow.
tap_result() {
	tap_count=$((tap_count + 1))
	if [ -z "${2:-}" ]; then
		echo "ok $tap_count - $1"
	else
		tap_bad=$((tap_bad + 1))
		echo "not ok $tap_count - $1"
		printf '# %s\n' "${2//$'\n'/$'\n'# }"
	fi
}

# tap_skip NAME REASON
tap_skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# tap_done: the plan; gives 1 when something was not ok.
tap_done() {
	echo "1..$tap_count"
	[ $tap_bad = 0 ]
}
