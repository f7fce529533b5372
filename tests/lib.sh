# shellcheck shell=bash
# What the tests share. A test is a script that prints one line per case, "ok 1
# - name", "not ok …" or "ok 1 - name # SKIP why", explains itself on stderr and
# ends with done_testing. tests/run reads that. Sourced, never run.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
. scripts/lib.sh
PROG=${0##*/}
TAP_COUNT=0
TAP_FAILED=0

ok() {
	TAP_COUNT=$((TAP_COUNT + 1))
	printf 'ok %d - %s\n' "$TAP_COUNT" "$*"
}

not_ok() {
	TAP_COUNT=$((TAP_COUNT + 1))
	TAP_FAILED=$((TAP_FAILED + 1))
	printf 'not ok %d - %s\n' "$TAP_COUNT" "$*"
}

# skip NAME WHY
skip() {
	TAP_COUNT=$((TAP_COUNT + 1))
	printf 'ok %d - %s # SKIP %s\n' "$TAP_COUNT" "$1" "$2"
}

# check NAME COMMAND…: passes when the command does.
check() {
	local name=$1

	shift
	if "$@" >&2; then ok "$name"; else not_ok "$name"; fi
}

# same NAME EXPECTED ACTUAL: two texts.
same() {
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		diff -u --label expected --label actual <(printf '%s\n' "$2") <(printf '%s\n' "$3") >&2
		not_ok "$1"
	fi
}

# contains NAME TEXT PATTERN: an extended regular expression finds a line.
contains() {
	if grep -E -e "$3" <<<"$2" >/dev/null; then
		ok "$1"
	else
		printf 'no line matches %s in:\n%s\n' "$3" "$2" >&2
		not_ok "$1"
	fi
}

# need NAME COMMAND…: a step without which the test cannot go on.
need() {
	local name=$1

	shift
	"$@" >&2 || { not_ok "$name"; done_testing; }
}

# done_testing: the plan, and the end.
done_testing() {
	printf '1..%d\n' "$TAP_COUNT"
	exit $((TAP_FAILED > 0))
}

# scratch_dir: a directory of this test, removed at its end.
scratch_dir() {
	mkdir -p "$BUILD/test"
	SCRATCH=$(mktemp -d "$BUILD/test/${PROG%.sh}.XXXXXX")
	trap 'rm -rf "$SCRATCH"' EXIT
}

# scratch_repo: a copy of the repository's own files, with a build directory of
# its own that borrows the kernel source.
scratch_repo() {
	scratch_dir
	REPO=$SCRATCH/repo
	mkdir -p "$REPO/build/state"
	cp -a Makefile .gitignore scripts "$REPO/"
	mkdir "$REPO/tests"
	cp -a tests/configs "$REPO/tests/"
	export WORK_COPY=-l
	git -C "$REPO" init -q
	git -C "$REPO" config user.name "A Tester"
	git -C "$REPO" config user.email tester@localhost
}

# borrow_source: the kernel source for a scratch repository.
borrow_source() {
	select_kernel
	[[ -f $BASE/Makefile ]] || scripts/fetch
	ln -s "$BASE" "$REPO/build/linux-$NAME"
	cp "$STATE/linux-$NAME.id" "$REPO/build/state/"
}

# splats LOG: the lines of a kernel log that no test may cause.
splats() {
	grep -nE 'WARNING:|BUG[: ]|Oops|general protection|Call Trace|UBSAN:|KASAN:|KFENCE:|INFO: (task|rcu|possible|inconsistent|trying)|suspicious RCU|stack-protector|(soft|hard) lockup|refcount_t:|list_(add|del) corruption|ODEBUG:|bad: scheduling|scheduling while atomic|sleeping function called|new suspected memory leaks' "$1"
}

# tap PREFIX <RESULTS: the cases of a program that prints TAP, as cases of this test; what
# else it prints is an explanation. So is a case missing from its plan, or all of them.
tap() {
	local line planned='' n=0

	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "*) n=$((n + 1)) ;;
		1..*) planned=${line#1..} ;;
		*) say "$line" ;;
		esac
		case $line in
		"ok "*" # SKIP "*)
			line=${line#* - }
			skip "$1: ${line% # SKIP *}" "${line#* # SKIP }"
			;;
		"ok "*) ok "$1: ${line#*- }" ;;
		"not ok "*) not_ok "$1: ${line#*- }" ;;
		esac
	done
	check "$1: all cases ran" test "$n" -gt 0 -a "${planned:-none}" = "$n"
}

# original_sort DIR: page_owner_sort of the unpatched kernel, as DIR/old, and as
# DIR/mended one that sorts as --sort says: in the original this is overwritten by the
# default, which one line mends.
original_sort() {
	local source=$BASE/tools/mm/page_owner_sort.c

	need "the original page_owner_sort builds" "${CC:-gcc}" -O2 -w -o "$1/old" "$source"
	sed 's/^\tcase COMP_NO_FLAG:$/&\n\t\tif (sc.size)\n\t\t\tbreak;/' "$source" >"$1/mended.c"
	need "--sort of the original is mended" test "$(diff "$source" "$1/mended.c" | grep -c '^>')" = 2
	need "the mended one builds" "${CC:-gcc}" -O2 -w -o "$1/mended" "$1/mended.c"
}

# ktap FILE PREFIX: the cases of a kselftest run, which nests the results of a
# test program as comments: "# ok 1 name" in it, "ok 1 selftests: t: prog" after
# it. Every one becomes a case here; so does a plan that was not kept, at either
# level.
ktap() {
	local kind name

	while read -r kind name; do
		case $kind in
		pass) ok "$2: $name" ;;
		fail) not_ok "$2: $name" ;;
		skip) skip "$2: ${name%% # SKIP*}" "${name#* # SKIP}" ;;
		esac
	done < <(awk '
		function result(line, where) {
			bad = line ~ /^not ok/
			sub(/^(not )?ok [0-9]+ *(- )?/, "", line)
			if (line ~ /# SKIP/)
				print "skip", where line
			else
				print bad ? "fail" : "pass", where line
		}
		/^# (not )?ok [0-9]+/ { n++; inner[n] = substr($0, 3); next }
		/^# 1\.\.[0-9]+/ { plan = substr($2, 4) + 0; plans++; next }
		/^(not )?ok [0-9]+ / {
			top++
			prog = $0
			sub(/^(not )?ok [0-9]+ selftests: */, "", prog)
			sub(/ *#.*/, "", prog)
			for (i = 1; i <= n; i++)
				result(inner[i], prog ": ")
			if ($0 !~ /# SKIP/ && (plans != 1 || plan != n))
				print "fail", prog ": planned " plan + 0 " results, gave " n + 0
			result($0, "")
			n = plan = plans = 0
		}
		/^1\.\.[0-9]+/ { want = substr($1, 4) + 0 }
		END {
			if (!want || want != top)
				print "fail", "planned " want + 0 " programs, " top + 0 " ended"
		}' "$1")
}

# kunit LOG PREFIX: the cases of all suites in a kernel log. A suite that began
# and has no result is a failure, so is a log without any.
kunit() {
	local kind name

	while read -r kind name; do
		case $kind in
		pass) ok "$2: $name" ;;
		fail) not_ok "$2: $name" ;;
		skip) skip "$2: ${name%% # SKIP*}" "${name#* # SKIP}" ;;
		esac
	done < <(tr -d '\r' <"$1" | sed -E 's/^\[ *[0-9.]+\] //' | awk '
		function result(line, where) {
			bad = line ~ /^not ok/
			sub(/^(not )?ok [0-9]+ *(- )?/, "", line)
			if (line ~ /# SKIP/)
				print "skip", where line
			else
				print bad ? "fail" : "pass", where line
		}
		/^    # Subtest: / { suite = $3; began++; plan = n = 0; next }
		/^    1\.\.[0-9]+/ { plan = substr($1, 4) + 0; next }
		suite != "" && /^    (not )?ok [0-9]+ / { n++; result(substr($0, 5), suite ": "); next }
		suite != "" && /^(not )?ok [0-9]+ / {
			if (!plan || plan != n)
				print "fail", suite ": planned " plan + 0 " cases, ran " n + 0
			if ($0 ~ /^not/)
				print "fail", suite ": the suite"
			suite = ""
			ended++
		}
		END {
			if (!began || began != ended)
				print "fail", began + 0 " suites began, " ended + 0 " ended"
		}')
}
