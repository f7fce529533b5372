#!/usr/bin/env bash
# Every step of the series builds, with the tracker configured in and out, so
# that a bisection may stop anywhere. Step 0 is the unpatched kernel, which
# other tests boot for comparison. Only the last step is packed and booted, by
# other tests.

. "$(dirname "$0")/lib.sh"
select_kernel
lock bisect-tree

need "step 0: the unpatched kernel builds" env TREE=base scripts/build
ok "step 0: the unpatched kernel builds"

export TREE=bisect
tree=$BUILD/bisect-$NAME
steps=$(series_patches | wc -l)

# build_step CONFIG: kernel only; warnings count, as the series must add none.
# shellcheck disable=SC2317 # called by check
build_step() {
	BUILD_ONLY=kernel CONFIG=$1 scripts/build >&2 || return
	! grep -E '(^|/)(mm|include|lib)/[^ ]*: warning: ' "$tree/out-$1/build.log" >&2
}

((steps)) || not_ok "the series has patches"

# Objects of the unpatched kernel are where both configurations start: paths in
# them are relative, and the tree's files are those they were built from.
if ((steps)) && [[ ! -f $tree/out-off/vmlinux || ! -f $tree/out-x86_64/vmlinux ]]; then
	need "step 0: a tree of its own" scripts/series apply-to "$tree" 0
	for config in off x86_64; do
		rm -rf "$tree/out-$config"
		cp -a --reflink=auto "$BASE/out-x86_64" "$tree/out-$config"
		rm -f "$tree/out-$config/.configured"
	done
fi
for ((i = 1; i <= steps; i++)); do
	patch=$(series_patches | sed -n "${i}p")
	need "step $i: $patch applies" scripts/series apply-to "$tree" "$i"
	check "step $i: builds with LEAKTREND=y: $patch" build_step x86_64
	check "step $i: builds with LEAKTREND=n: $patch" build_step off
done
done_testing
