#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# docs: what the documents say is so: README's session runs, commands and files that it names exist,
# and help, manual page and bash completion know the same commands and options.
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need man jq

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
hasnt "the manual page spells tests as one types them" "$page" "Udp_stream"
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
has "completion offers tools" " $(complete_words vpclab verify --tool soc) " " sockperf "
has "completion offers trials" " $(complete_words vpclab verify --trials rand) " " random-loss "
has "completion offers kinds of faults" " $(complete_words vpclab verify --explain wrong-s) " " wrong-side "
has "completion offers files" " $(complete_words vpclab verify --baseline "$top/READ") " " $top/README.md "
help=$(vpclab help trial)
mapfile -t keys < <(sed -n 's/^\([a-z_]*\):.*/\1/p' "$top"/scenarios/trials/*.yaml | sort -u)
is "every key of the shipped trials is in their help" \
	"$(for key in "${keys[@]}"; do grep -qw "$key" <<<"$help" || echo "$key"; done)" ""

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
ln -s bin "$work/user/build"
# A third of the file that the scenario sends nine times: the session is on trial here, not the link.
sed -i 's/file_size: 999999999/file_size: 333333333/' "$work/user/share/vpclab/scenarios/zstack.yaml"
exported=
mapfile -t session < <(awk '/^```/ { in_session = /^```console$/ } in_session && sub(/^[$] /, "")' README.md)
ran=0
for line in ${session[@]+"${session[@]}"}; do
	# What it sets holds for the lines after it; the program is in build/ there.
	case $line in export\ *) exported="$exported$line; "; continue ;; esac
	case $line in "vpclab "*) ;; *) continue ;; esac
	ran=$((ran + 1))
	run as_user bash -c "cd '$work/user' && $exported$line"
	# What the machine was too slow for is inconclusive, and no fault of README.
	case $line:$status in *"vpclab run"*:3 | *" --prove":3) status=0 ;; esac
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

# Its topologies can be built, and its scenario measures what it says: shorter, and a machine that is
# too slow for it is inconclusive.
for file in office dumbbell; do
	lab_up "docs-$file" "$work/$file.yaml" && lab_down
done
sed -e 's/duration: .s/duration: 500ms/' -e '$a repeat: {min: 2, max: 3}' "$work/run-office.yaml" \
	>"$work/short.yaml"
run vpclab run "$work/short.yaml"
[ "$status" != 3 ] || status=0
is "README.md: its scenario runs" "$status" 0

# The keys of the two languages: the schema, the help and the manual page know the same, and each is
# explained. (Unit tests hold the schemas against the parsers.)
for kind in topology scenario; do
	schema=topologies/schema.json
	[ $kind = topology ] || schema=scenarios/schema.json
	passes "help $kind" vpclab help $kind
	help=$output
	part=$(sed -n "/^${kind^^} FILES/,/^[A-Z][A-Z ]*$/p" <<<"$page" | tail -n +2)
	[ -n "$part" ] || part=$page
	mapfile -t keys < <(jq -r '[.. | .properties? // empty | keys_unsorted[]] | unique[]' $schema)
	is "$kind: the schema has keys" "$([ ${#keys[@]} -gt 20 ] && echo yes)" yes
	for key in "${keys[@]}"; do
		has "help $kind: $key" "$help" $'\n'"  $key "
		has "manual page, $kind files: $key" "$part" "   $key"
	done
	is "$kind: every key is explained" "$(jq -r '. as $root
		| .. | .properties? // empty | to_entries[]
		| select((.value.description // (.value["$ref"] // "" | split("/")[-1] as $n
			| $root["$defs"][$n].description)) == null) | .key' $schema)" ""
done

# The scenario reader knows every key of its schema (what is wrong with the values is another matter),
# and the schema every key of a measurement.
jq '[.properties, (.["$defs"].measurement.properties), (.["$defs"].repeat.properties),
	.properties.paths.additionalProperties.properties, .properties.compare.properties] |
	map(map_values("x")) | .[0] + {paths: {p: .[3]}, measure: {m: .[1]}, repeat: .[2], compare: .[4],
	version: 1}' scenarios/schema.json >"$work/keys.yaml"
run vpclab validate "$work/keys.yaml"
is "a scenario with every key: its values are wrong" "$status" 2
hasnt "a scenario with every key: all are known" "$output" "unknown key"
is "the schema has every key of a measurement" \
	"$(jq -r '.["$defs"].measurement.properties | keys[]' scenarios/schema.json)" \
	"$(sed -n 's/^    {"\([a-z_]*\)", .*VALUE_.*/\1/p' core/harness/measure.c | LC_ALL=C sort)"
finish
