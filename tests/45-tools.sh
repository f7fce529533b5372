#!/usr/bin/env bash
# The tool, tools/mm/leaktrend: builds with gcc and clang, with and without ncurses,
# static, and in a kernel tree; its own tests, the same under valgrind, a short run
# of its fuzzers; cppcheck and shellcheck. All of it outside of the checkout.

. "$(dirname "$0")/lib.sh"
scratch_dir
need "what this takes is installed" scripts/setup toolchecks
src=tools/mm/leaktrend
before=$(git status --porcelain --ignored -- "$src")

# build NAME VARIABLE=VALUE…: a build of its own; any warning is an error.
build() {
	local name=$1

	shift
	check "builds $name" make -s -C "$src" O="$SCRATCH/$name" EXTRA_CFLAGS=-Werror "$@" all
}

build gcc
contains "with ncurses there is top" "$("$SCRATCH/gcc/leaktrend" top 2>&1 </dev/null)" 'takes a terminal'
build plain NCURSES=0
contains "without ncurses it says so" "$("$SCRATCH/plain/leaktrend" top 2>&1 </dev/null)" 'built without ncurses'
same "without ncurses no library is missed" "" "$(readelf -d "$SCRATCH/plain/leaktrend" | grep -E 'NEEDED.*(ncurses|tinfo)')"
build clang CC=clang
build static STATIC=1
same "a static one needs no libraries" "" "$(readelf -d "$SCRATCH/static/leaktrend" | grep NEEDED)"

tap check < <(make -s -C "$src" O="$SCRATCH/gcc" EXTRA_CFLAGS=-Werror check)
tap valgrind < <(make -s -C "$src" O="$SCRATCH/gcc" EXTRA_CFLAGS=-Werror check VALGRIND=1)
tap fuzz < <(make -s -j2 -C "$src" O="$SCRATCH/fuzz" FUZZ_SECONDS=20 fuzz)

# The list of commands is made by the linker, between two symbols that are one array;
# and an err that is only written to is no use of what it was.
check "cppcheck" cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability,performance \
	"--suppress=comparePointers:$src/main.c" --suppress=ctuuninitvar --suppress=missingIncludeSystem \
	-D_GNU_SOURCE -DHAVE_NCURSES=1 -I "$src" \
	"$src"/*.c "$src"/tests/*.c "$src"/fuzz/*.c
while read -r f; do
	check "shellcheck: $f" shellcheck -x "$f"
done < <(find "$src" -name '*.sh' -o -name '*.bash')

# In a kernel tree, as a target of tools/mm.
select_kernel
lock bisect-tree
need "the series applies" scripts/series apply-to "$BUILD/bisect-$NAME"
mkdir "$SCRATCH/kernel"
check "make -C tools/mm leaktrend" make -s -C "$BUILD/bisect-$NAME/tools/mm" O="$SCRATCH/kernel" leaktrend
contains "which makes the tool" "$("$SCRATCH/kernel/leaktrend" --version)" '^leaktrend [0-9]'

same "nothing is left in the checkout" "$before" "$(git status --porcelain --ignored -- "$src")"
done_testing
