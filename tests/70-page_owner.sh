#!/usr/bin/env bash
# People's scripts read page_owner's files, and page_owner_sort what comes out of
# them: a patched kernel must look like an unpatched one to both, with the
# tracker on and off. Compared are the files, their modes, how they answer
# writes, and the form of every line, with numbers, symbols and the like blotted
# out; of page_owner_sort the output for every option.

. "$(dirname "$0")/lib.sh"
scratch_dir
unset CMD APPEND
select_kernel
need "the unpatched kernel builds" env TREE=base scripts/build
need "the patched kernel builds" scripts/build

# collect NAME TREE PARAMETERS
collect() {
	mkdir -p "$SCRATCH/$1"
	NOPARAMS=1 APPEND=$3 TREE=$2 OUT=$SCRATCH/$1 CMD='bash /root/page_owner.sh' scripts/vm >&2
	same "$1: the guest's part ran" 0 $?
}

# form FILE: the kinds of lines in it.
form() {
	sed -E -e 's/ [^ ]+\+0x[0-9a-f]+\/0x[0-9a-f]+( \[[a-z0-9_]+\])?$/ SYMBOL/' \
		-e 's/ 0x[0-9a-f]{8,}$/ SYMBOL/' \
		-e 's/0x[0-9a-f]+\([^)]*\)/FLAGS/g' \
		-e 's/(tgid [0-9]+) \(.*\), ts/\1 (COMM), ts/' \
		-e 's/type [A-Za-z]+/type TYPE/g' \
		-e 's/^(Page has been migrated, last migrate reason: ).*/\1REASON/' \
		-e 's/^Charged (to|through) .*$/CHARGED/' \
		-e 's/0x[0-9a-f]+/HEX/g' -e 's/[0-9]+/N/g' "$1" | sort -u
}

# Lines that a record may or may not have.
may_be() { grep -vxE 'Page has been migrated, last migrate reason: REASON|CHARGED|Slab cache page'; }

collect base base "page_owner=on"
collect patched work "page_owner=on leaktrend=on"
collect standby work "page_owner=on leaktrend=standby"
collect off work "page_owner=on"

for run in patched standby off; do
	for f in files answers; do
		same "$run: $f" "$(cat "$SCRATCH/base/$f")" "$(cat "$SCRATCH/$run/$f")"
	done
	same "$run: the same kinds of output" "$(ls "$SCRATCH/base")" "$(ls "$SCRATCH/$run")"
	for f in "$SCRATCH"/base/{page_owner*,show_*,short}; do
		name=${f##*/}
		same "$run: form of $name" "$(form "$f" | may_be)" "$(form "$SCRATCH/$run/$name" | may_be)"
	done
	same "$run: records in page_owner" "$(grep -c '^Page allocated' "$SCRATCH/base/page_owner")" \
		"$(grep -c '^Page allocated' "$SCRATCH/$run/page_owner")"
	same "$run: count_threshold hides the small" "" \
		"$(awk '/^nr_base_pages: / && $2 < 50' "$SCRATCH/$run/show_stacks.50")"
	check "$run: count_threshold leaves the large" grep -q '^nr_base_pages: ' "$SCRATCH/$run/show_stacks.50"
done
check "there is something to compare" test "$(grep -c '^ ' "$SCRATCH/base/page_owner")" -gt 2000

# --- page_owner_sort, the same dump through both builds of it

base_sort=$BASE/out-x86_64/bin/page_owner_sort
patched_sort=$WORK/out-x86_64/bin/page_owner_sort
dump=$SCRATCH/base/page_owner
pid=$(sed -nE 's/.* pid ([0-9]+),.*/\1/p' "$dump" | sort | uniq -c | sort -rn | awk 'NR == 2 { print $2 }')

sort_with() {
	local tool=$1 out=$SCRATCH/sorted rc=0

	shift
	rm -f "$out"
	"$tool" "$@" "$dump" "$out" >"$SCRATCH/said" 2>&1 || rc=$?
	# Its own path and measurements are not the point.
	echo "status $rc"
	sed -E "s|$tool|page_owner_sort|g" "$SCRATCH/said"
	[[ ! -f $out ]] || cat "$out"
}

while read -r line; do
	read -ra options <<<"$line"
	same "page_owner_sort ${line:-without options}" \
		"$(sort_with "$base_sort" "${options[@]}")" "$(sort_with "$patched_sort" "${options[@]}")"
done <<END

-a
-m
-n
-p
-P
-s
-t
-am
-d
--pid $pid
--pid 1,2,$pid
--pid x
--tgid $pid
--name bash
--name bash,find,init
--cull stacktrace
--cull pid
--cull tgid
--cull comm
--cull allocator
--cull pid,stacktrace
--cull nonsense
--sort pid
--sort -times
--sort +ator,-pid
--sort comm,stacktrace
--sort alloc_ts
--sort nonsense
--pid $pid --cull stacktrace --sort -times
END
same "page_owner_sort -h" "$("$base_sort" -h 2>&1 | sed 1d)" "$("$patched_sort" -h 2>&1 | sed 1d)"
dump=/nonexistent
same "page_owner_sort without input" "$(sort_with "$base_sort")" "$(sort_with "$patched_sort")"
: >"$SCRATCH/empty"
dump=$SCRATCH/empty
same "page_owner_sort of nothing" "$(sort_with "$base_sort")" "$(sort_with "$patched_sort")"
done_testing
