#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the tests of the tool and prints TAP. Needs no root, and no leaktrend in the
# kernel: the data was recorded. `make check` calls it.
#
# usage: tests/run.sh [NAME…]	those in test_NAME.sh and test_NAME.c only
#
# Environment: OUTPUT (where make has put the programs), VALGRIND=1, JOBS (at once).

set -u
cd "$(dirname "$0")" || exit 2
. ./lib.sh

BUILT=${OUTPUT:-$PWD/../}
TOOL=${BUILT}leaktrend
COUNT=0
FAILED=0
WRAP=()
DAY=1440
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm
unset COLUMNS NO_COLOR

if [[ -n ${VALGRIND:-} ]]; then
	command -v valgrind >/dev/null || { echo "run.sh: valgrind is not installed" >&2; exit 2; }
	WRAP=(valgrind -q --error-exitcode=99 --leak-check=full
	      "--errors-for-leak-kinds=definite,possible")
	# A day takes too long there; some rounds show the same mistakes.
	DAY=4
fi
[[ -x $TOOL ]] || { echo "run.sh: there is no $TOOL; use make check" >&2; exit 2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
DATA=$scratch/data
./data.sh "$DATA" || exit 2

# What the kernel says of the leak in the last of these rounds, and as the tool has to
# show it, for a pattern.
# shellcheck disable=SC2034 # for the tests
{
	sites=$DATA/leak/12/leaktrend/sites
	read -r LEAK LEAK_STACK LEAK_OUTSTANDING LEAK_BYTES growth error < <(
		awk '$6 == "LIKELY_LEAK" { print $1, $4, $7, $8, $15, $16 }' "$sites")
	LEAK_SIZE=$(awk -v n="$LEAK_BYTES" 'BEGIN { printf "%.1f KiB", n / 1024 }')
	LEAK_GROWTH=$(awk -v n="$growth" 'BEGIN { printf "\\+%.1f MiB/h", n / 1048576 }')
	LEAK_ERROR=$((error / 10)).$((error % 10))
	NR_SUSPECTS=$(grep -c '^site #' "$DATA/leak/12/leaktrend/suspects")
}

RECORDED=$scratch/recorded
"${BUILT}tests/mklog" "$RECORDED" "$DATA"/leak/* "$DATA/orphan" || exit 2

# number <CASES: as ours, whatever numbers they have.
number() {
	local line

	while IFS= read -r line; do
		case $line in
		"ok "*" # SKIP "*)
			line=${line#* - }
			skip "${line#* # SKIP }" "${line% # SKIP *}"
			;;
		"ok "*) ok "${line#*- }" ;;
		"not ok "*) not_ok "${line#*- }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
}

# program NAME: a test in C. It ends as its cases do.
program() {
	local before=$FAILED rc=0

	"${WRAP[@]}" "${BUILT}tests/test_$1" "$DATA" "$SCRATCH" "$DAY" >"$SCRATCH/.tap" \
		2>"$SCRATCH/.err" </dev/null || rc=$?
	number <"$SCRATCH/.tap"
	if ((rc != (FAILED > before))); then
		not_ok "$1: ends with status $rc"
		comment "$(<"$SCRATCH/.err")"
	fi
}

wanted() {
	local name

	(($# > 1)) || return 0
	for name in "${@:2}"; do [[ $name != "$1" ]] || return 0; done
	return 1
}

# one FILE: a test; its cases are numbered later. Says at the end that it got there.
one() {
	local file=$1

	SCRATCH=$scratch/$file
	echo "# $file"
	if [[ $file == *.c ]]; then
		program "$name"
	else
		# shellcheck source=/dev/null
		. "./$file"
	fi
	echo "# end"
}

# Tests wait a lot, and do not get into each other's way.
jobs=${JOBS:-$(nproc)}
echo "TAP version 13"
files=()
for file in test_*.c test_*.sh; do
	name=${file#test_}
	name=${name%.*}
	wanted "$name" "$@" || continue
	files+=("$file")
	mkdir "$scratch/$file"
	while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
	one "$file" >"$scratch/$file.tap" &
done
wait
for file in "${files[@]}"; do
	number < <(sed '$d' "$scratch/$file.tap")
	[[ $(tail -n 1 "$scratch/$file.tap") == "# end" ]] || not_ok "$file: ends before its end"
done
echo "1..$COUNT"
echo "# $((COUNT - FAILED)) passed, $FAILED failed"
((COUNT && !FAILED))
