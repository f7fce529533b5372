#!/usr/bin/env bash
# What can be found without running anything: shellcheck on all shell scripts;
# kernel-doc, compiler warnings (W=1), sparse and the kernel's coccinelle rules
# on what the series adds or edits. For edited files of the kernel only findings
# that the unpatched kernel does not have count.

. "$(dirname "$0")/lib.sh"
scratch_dir
select_kernel
lock bisect-tree

# --- shell

while read -r f; do
	check "shellcheck: $f" shellcheck -x "$f"
done < <(
	printf '%s\n' scripts/lib.sh scripts/apt.sh tests/lib.sh
	find scripts tests .ci -type f \( -name '*.sh' -o ! -name '*.*' \) 2>/dev/null |
		while read -r f; do ! head -n 1 "$f" | grep -E '^#!.*[/ ](ba|da|)sh' >/dev/null || echo "$f"; done
)

# --- C

# The last step of the series, in the tree of the bisection.
export TREE=bisect
need "the series applies" scripts/series apply-to "$BUILD/bisect-$NAME"
need "the last step builds" env BUILD_ONLY=kernel scripts/build
select_build
patched=$SRC
patched_obj=$OBJ
need "the unpatched kernel builds" env TREE=base BUILD_ONLY=kernel scripts/build
TREE=base select_build
base_obj=$OBJ

# Scripts that the series adds source others of the kernel.
while read -r f; do
	check "shellcheck: $f" env -C "$patched" shellcheck -x "$f"
done < <(find tools -name '*.sh' 2>/dev/null)

mapfile -t added < <(find mm include tools -type f -name '*.[ch]' 2>/dev/null | sort)
mapfile -t edited < <(series_patches | sed "s|^|$ROOT/patches/|" | xargs -r git -C / apply --numstat 2>/dev/null |
	cut -f3 | sort -u | grep -E '^(mm|lib|kernel|fs|drivers)/.*\.c$' | while read -r f; do [[ ! -e $BASE/$f ]] || echo "$f"; done)
mapfile -t dirs < <(printf '%s\n' "${added[@]}" | sed -n 's|^\(mm/.*\)/[^/]*\.c$|\1/|p' | sort -u)
printf 'added: %s\nedited: %s\n' "${added[*]}" "${edited[*]}" >&2
check "there are added files to check" test "${#added[@]}" -gt 0

kdoc=$BASE/scripts/kernel-doc
for f in "${added[@]}"; do
	case $f in
	tools/*) ;;
	*) check "kernel-doc: $f" "$kdoc" -none -Werror "$f" ;;
	esac
done

check "compiler: no warning at W=1 in ${dirs[*]}" \
	kmake -C "$patched" O="$patched_obj" W=1 KCFLAGS=-Werror "${dirs[@]}"

sparse=$(scripts/sparse) || need "sparse builds" false
# sparse_findings TREE OBJ FILE…: without line numbers.
sparse_findings() {
	local src=$1 obj=$2 log=$SCRATCH/sparse

	shift 2
	kmake -C "$src" O="$obj" C=2 CHECK="$sparse" "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "make failed"; return; }
	grep -q 'CHECK ' "$log" || echo "sparse did not run"
	grep -E '(warning|error):' "$log" | sed -E 's/^(\.\.\/)?([^:]+):[0-9]+:[0-9]+:/\2:/' | sort
}
same "sparse: ${dirs[*]}" "" "$(sparse_findings "$patched" "$patched_obj" "${dirs[@]}")"
if ((${#edited[@]})); then
	objects=("${edited[@]/%.c/.o}")
	sparse_findings "$BASE" "$base_obj" "${objects[@]}" >"$SCRATCH/base"
	sparse_findings "$patched" "$patched_obj" "${objects[@]}" >"$SCRATCH/patched"
	same "sparse: nothing new in ${edited[*]}" "" "$(comm -13 "$SCRATCH/base" "$SCRATCH/patched")"
fi

# The kernel's own rules, one by one: "make coccicheck" as a whole stops at the
# first that needs an OCaml compiler.
for cocci in "$BASE"/scripts/coccinelle/*/*.cocci; do
	rule=${cocci#"$BASE"/scripts/coccinelle/}
	if ! grep -q '^virtual.*report' "$cocci"; then
		continue # a rule that only patches
	elif grep -q 'script:ocaml' "$cocci"; then
		skip "coccinelle: $rule" "needs an OCaml compiler"
		continue
	fi
	read -ra options < <(sed -nE 's|^// Options: *||p' "$cocci" | tr '\n' ' ')
	found=
	for d in "${dirs[@]}"; do
		found+=$(cd "$patched" && spatch -D report --no-show-diff --very-quiet --cocci-file "$cocci" --dir "$d" \
			"${options[@]}" -I include -I arch/x86/include -I "$patched_obj/include" 2>"$SCRATCH/spatch.err") ||
			found+="spatch: $(tail -n 3 "$SCRATCH/spatch.err")"
	done
	same "coccinelle: $rule" "" "$found"
done

# --- configuration

while read -r f; do
	missing=
	while read -r symbol; do
		grep -qxF "$symbol" tests/configs/x86_64.config || grep -qxF "$symbol" "$patched_obj/.config" || missing+=" $symbol"
	done < <(grep '^CONFIG' "$f")
	same "what $f asks for is in the test configuration" "" "$missing"
done < <(find mm tools -name .kunitconfig -o -path '*/selftests/*' -name config 2>/dev/null)
done_testing
