# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of the tool share. A test is a file test_NAME.sh that run.sh
# sources, with the tool as $TOOL, copies of debugfs in $DATA, a recorded file of
# those in $DATA/leak and then $DATA/orphan as $RECORDED, and a directory of its own
# as $SCRATCH. It calls ok, is, like and so on, a line of TAP each.

# Runs the tool: what it prints is in OUT and ERR, its exit status in RC. One that
# should have refused must not go on for ever.
tool() {
	run timeout 300 "${WRAP[@]}" "$TOOL" "$@"
}

# run COMMAND…: the same of any command.
run() {
	RC=0
	"$@" >"$SCRATCH/.out" 2>"$SCRATCH/.err" </dev/null || RC=$?
	got
}

# tool_stdin FILE ARGUMENT…: with standard input from a pipe.
tool_stdin() {
	local file=$1

	shift
	RC=0
	# shellcheck disable=SC2002 # a pipe is what is wanted
	cat "$file" | "${WRAP[@]}" "$TOOL" "$@" >"$SCRATCH/.out" 2>"$SCRATCH/.err" || RC=$?
	got
}

got() {
	OUT=$(<"$SCRATCH/.out")
	ERR=$(<"$SCRATCH/.err")
	# This is what valgrind is told to end with.
	[[ $RC != 99 ]] || not_ok "valgrind has nothing to say: $ERR"
}

ok() {
	COUNT=$((COUNT + 1))
	printf 'ok %d - %s\n' "$COUNT" "$*"
}

not_ok() {
	COUNT=$((COUNT + 1))
	FAILED=$((FAILED + 1))
	printf 'not ok %d - %s\n' "$COUNT" "$*"
}

# skip WHY NAME
skip() {
	COUNT=$((COUNT + 1))
	printf 'ok %d - %s # SKIP %s\n' "$COUNT" "$2" "$1"
}

comment() {
	local line

	while IFS= read -r line; do printf '# %s\n' "$line"; done <<<"$*"
}

# is NAME EXPECTED ACTUAL
is() {
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		not_ok "$1"
		comment "expected: $2"
		comment "but it is: $3"
	fi
}

# like NAME TEXT PATTERN: an extended regular expression finds a line.
like() {
	if grep -E -q -e "$3" <<<"$2"; then
		ok "$1"
	else
		not_ok "$1"
		comment "no line like $3 in:"
		comment "$2"
	fi
}

# unlike NAME TEXT PATTERN
unlike() {
	if grep -E -q -e "$3" <<<"$2"; then
		not_ok "$1"
		comment "there is a line like $3 in:"
		comment "$2"
	else
		ok "$1"
	fi
}

# succeeds NAME COMMAND…
succeeds() {
	local name=$1

	shift
	if "$@" >"$SCRATCH/.check" 2>&1; then
		ok "$name"
	else
		not_ok "$name"
		comment "$(<"$SCRATCH/.check")"
	fi
}

# fails NAME PATTERN ARGUMENT…: the tool ends with 2, says this and prints nothing.
fails() {
	local name=$1 pattern=$2

	shift 2
	tool "$@"
	failed "$name" "$pattern"
}

# failed NAME PATTERN: the same of what ran before.
failed() {
	if [[ $RC == 2 && -z $OUT ]] && grep -E -q -e "$2" <<<"$ERR"; then
		ok "$1"
	else
		not_ok "$1"
		comment "exit status $RC; on stderr, where $2 should be:"
		comment "$ERR"
		comment "on stdout, where nothing should be:"
		comment "$OUT"
	fi
}

# json EXPRESSION: of OUT, as Python sees it.
json() {
	python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1" \
		<<<"$OUT"
}

# columns TEXT: of the longest line.
columns() {
	wc -L <<<"$1"
}
