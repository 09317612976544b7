#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# install: an installed tree works from anywhere without the checkout, and uninstalling leaves nothing.
# timeout: 120
# beside: it copies files and reads them
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need make man

into=$work/into
BUILD=${BUILD:-$top/build}
[ "$VPCLAB" = "$BUILD/vpclab" ] || skip_all "the program under test is not the one that make installs"

passes "make install" make BUILD="$BUILD" DESTDIR="$into" PREFIX=/usr install
is "the program is executable" "$([ -x "$into/usr/bin/vpclab" ] && echo yes)" yes
installed=$work/moved/bin/vpclab
mv "$into/usr" "$work/moved"

# From a directory that has no topologies of its own, moved away from where it was installed.
cd / || exit 2
is "a shipped topology: the same plan" "$("$installed" plan zstack | md5sum)" \
	"$("$VPCLAB" plan "$top/topologies/zstack.yaml" | md5sum)"
passes "a shipped scenario finds its topology" "$installed" validate zstack
has "completion knows the shipped scenarios" "$("$installed" completion scenario)" zstack
has "the manual page is the program's" "$(man -l "$work/moved/share/man/man1/vpclab.1" 2>/dev/null)" \
	"vpclab up"
passes "the completion is bash" bash -n "$work/moved/share/bash-completion/completions/vpclab"
cd "$top" || exit 2

mv "$work/moved" "$into/usr"
passes "make uninstall" make BUILD="$BUILD" DESTDIR="$into" PREFIX=/usr uninstall
is "uninstalling leaves nothing" "$(find "$into" -mindepth 1)" ""
finish
