# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What is installed, and that manual page and completion tell what the tool does.

top=$PWD/..
# It is asked for help only, which test_view does as well.
# shellcheck disable=SC2034 # of lib.sh
WRAP=()

# options COMMAND: long ones of its help, with what it calls their values.
options() {
	tool "$1" --help
	sed -nE 's/^ {2}(-[A-Za-z],| {3}) --([a-z-]+)( [A-Z]+)? .*/\2\3/p' <<<"$OUT"
}

tool --help
mapfile -t commands < <(sed -nE '/^commands:/,/^$/ s/^ {2}([a-z]+) .*/\1/p' <<<"$OUT")

# --- manual page

# section COMMAND: of the page, with the common options if it says it takes them.
section() {
	local text

	text=$(sed -n "/^\\.SS $1\$/,/^\\.S[SH]/p" "$top/leaktrend.8")
	printf '%s\n' "$text"
	[[ $text != *"common options"* ]] || sed -n '/^\.SS Common options/,/^\.S[SH] [A-Z][A-Z]/p' "$top/leaktrend.8"
}

for command in "${commands[@]}"; do
	page=$(section "$command" | sed 's/\\-/-/g')
	missing=
	[[ $page ]] || missing=" (there is no section)"
	while read -r option value; do
		[[ $option != help ]] || continue
		grep -qE -- "--$option( |$|${value:+=[^A-Z]*$value})" <<<"$page" || missing+=" --$option"
	done < <(options "$command")
	is "man: $command with its options" "" "$missing"
done
if command -v mandoc >/dev/null; then
	# The date of a page has no form of its own there.
	is "man: mandoc has nothing to say" "" "$(mandoc -Tlint -Wstyle "$top/leaktrend.8" 2>&1)"
else
	skip "mandoc is not installed" "man: mandoc has nothing to say"
fi
if command -v groff >/dev/null; then
	is "man: groff has nothing to say" "" "$(groff -man -ww -z "$top/leaktrend.8" 2>&1)"
else
	skip "groff is not installed" "man: groff has nothing to say"
fi

# --- completion

# complete_words WORD…: what is offered for the last of them.
complete_words() {
	bash -c '
		compopt() { :; }
		. "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_leaktrend
		printf "%s\n" "${COMPREPLY[@]}"' - "$top/leaktrend.bash" "$TOOL" "$@" | LC_ALL=C sort | xargs
}

is "completion: commands" "$(printf '%s\n' --help --version "${commands[@]}" | LC_ALL=C sort | xargs)" \
	"$(complete_words "")"
for command in "${commands[@]}"; do
	is "completion: options of $command" "$(options "$command" | sed -E 's/^([a-z-]+).*/--\1/' | LC_ALL=C sort | xargs)" \
		"$(complete_words "$command" --)"
	refused=
	while read -r option value; do
		case $value in
		KIND | CLASS | KEY | VERDICT | WHAT)
			# Each that is offered is one that the tool takes.
			for word in $(complete_words "$command" "--$option" ""); do
				tool "$command" "--$option" "$word" --help
				[[ $RC == 0 ]] || refused+=" $option=$word: $ERR"
			done
			;;
		esac
	done < <(options "$command")
	is "completion: values of $command" "" "$refused"
done
is "completion: letters" "-f" "$(complete_words status -f)"
is "completion: behind an equals sign" "bytes" "$(complete_words sites --sort = b)"
is "completion: the next of a list" "growing,likely_leak" "$(complete_words sites -v growing,l)"
is "completion: what is to be done with the ignore list" "list load" "$(complete_words ignore l)"
is "completion: files" "$top/leaktrend.8 $top/leaktrend.bash" \
	"$(complete_words sites -f "$top/leaktrend." | tr ' ' '\n' | grep -E '\.(8|bash)$' | xargs)"

# --- make install

run make -C "$top" --no-print-directory O="$BUILT" DESTDIR="$SCRATCH/root" prefix=/usr install
is "install: exit status" 0 "$RC"
is "install: what is there" \
	"./sbin/leaktrend ./share/bash-completion/completions/leaktrend ./share/leaktrend/ignore.list ./share/man/man8/leaktrend.8" \
	"$(cd "$SCRATCH/root/usr" 2>/dev/null && find . -type f | LC_ALL=C sort | xargs)"
run "$SCRATCH/root/usr/sbin/leaktrend" --version
like "install: the tool runs" "$OUT" '^leaktrend [0-9]'
cp -r "$DATA/leak/12" "$SCRATCH/list"
: >"$SCRATCH/list/leaktrend/ignore"
tool ignore load "$SCRATCH/root/usr/share/leaktrend/ignore.list" --debugfs "$SCRATCH/list"
is "install: the list is one that can be loaded" 0 "$RC"
