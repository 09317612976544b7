#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# docs: what the documents say is so: README's session runs, commands and files that it names exist,
# and help, manual page and bash completion know the same commands and options.
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need man

bin=$work/bin
mkdir -p "$bin"
ln -s "$VPCLAB" "$bin/vpclab"
export PATH=$bin:$PATH
unset -f vpclab

mapfile -t commands < <(vpclab help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
is "help lists commands" "$([ ${#commands[@]} -gt 10 ] && echo yes)" yes

# Manual page and completion against --help, option by option.
vpclab man >"$work/vpclab.1"
page=$(MANWIDTH=200 man -l "$work/vpclab.1" 2>/dev/null)
is "the manual page renders without warnings" "$(man --warnings -l "$work/vpclab.1" 2>&1 >/dev/null)" ""
vpclab completion >"$work/completion"
# shellcheck disable=SC1091 # made above
. "$work/completion"

# complete WORD…: what bash would offer for the last word, on one line.
complete_words() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_vpclab
	echo "${COMPREPLY[*]}"
}

is "completion offers all commands" "$(complete_words vpclab '')" "${commands[*]}"
for command in "${commands[@]}"; do
	help=$(vpclab "$command" --help)
	# From the section of this command up to the next one.
	section=$(sed -n "/^   vpclab $command\( \|\$\)/,/^   vpclab [a-z]/p" <<<"$page")
	offered=" $(complete_words vpclab "$command" --) "
	mapfile -t options < <(sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' <<<"$help")
	for option in "${options[@]}"; do
		[ "$option" = --help ] || has "manual page: $command $option" "$section" "$option"
		has "completion: $command $option" "$offered" " $option "
	done
	has "manual page: $command" "$page" "vpclab $command"
done
has "completion offers topologies" " $(complete_words vpclab up zst) " " zstack "
is "completion offers the words of an option" "$(complete_words vpclab plan --format '')" "text sh json"

# Every command and every file that a document names exists.
for document in README.md core/README.md emulator/README.md tests/README.md; do
	mapfile -t named < <(grep -oE '(`|^[$] )vpclab [a-z]+' "$document" | sed 's/.*vpclab //' | sort -u)
	for command in ${named[@]+"${named[@]}"}; do
		has "$document: vpclab $command exists" " ${commands[*]} " " $command "
	done
done
mapfile -t links < <(grep -oE '\]\([^)#:]+\)' README.md | tr -d ']()')
for link in ${links[@]+"${links[@]}"}; do
	is "README.md: $link exists" "$([ -e "$link" ] && echo yes)" yes
done

# README's session, command by command, as an ordinary user would type it.
user_tree
ln -s share/vpclab/topologies share/vpclab/scenarios "$work/user/"
mapfile -t session < <(awk '/^```/ { in_session = /^```console$/ } in_session && sub(/^[$] /, "")' README.md)
ran=0
for line in ${session[@]+"${session[@]}"}; do
	case $line in "vpclab "*) ;; *) continue ;; esac
	ran=$((ran + 1))
	run as_user env PATH="$work/user/bin:$PATH" bash -c "cd '$work/user' && $line"
	# A run that the machine was too slow for is inconclusive, and no fault of README.
	case $line:$status in *"vpclab run"*:3) status=0 ;; esac
	is "README.md: $line" "$status" 0
done
is "README.md has a session" "$([ $ran -gt 3 ] && echo yes)" yes

# The files that README shows are valid; a scenario finds its topology beside it.
awk -v dir="$work" '
	/^```/ { if (/^```yaml$/) file = dir "/block" ++n; else file = ""; next }
	file { print >file }
' README.md
for block in "$work"/block*; do
	file=$(sed -n 's/^name: //p' "$block").yaml
	! grep -q '^topology:' "$block" || file=run-$file
	cp "$block" "$work/$file"
	passes "README.md: $file is valid" vpclab validate "$work/$file"
done
finish
