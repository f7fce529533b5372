#!/usr/bin/env bash
# People's scripts read page_owner's files, and page_owner_sort what comes out of
# them: a patched kernel must look like an unpatched one to both, with the
# tracker on and off. Compared are the files, their modes, how they answer
# writes, what an open file's filter does, and the form of every line, with
# numbers, symbols and the like blotted out. With the tracker there are two more
# files, and no other change. Of page_owner_sort, whose own test is another
# (page_owner_sort), it is the output for all options on what the kernel wrote.

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

# files RUN: what there must be.
files() {
	local more=(page_owner_stacks/show_{suspects,trends})

	{
		cat "$SCRATCH/base/files"
		[[ $1 == off ]] || printf '%s 400 regular empty file\n' "${more[@]}"
	} | sort
}

# strays RUN: handles that show_stacks_handles has more than once; those of
# show_handles, which was read before, that it does not have, for stacks stay;
# stacks of show_stacks that are no handle's; records of page_owner with another
# stack than there (many have one from early in the boot that is nowhere shown).
strays() {
	(cd "$SCRATCH/$1" && awk '
		/^handle: / { handle = $2 }
		/^ / { stack = stack $0 "\n" }
		FILENAME == "show_stacks_handles" && /^$/ {
			if (handle in stacks)
				print "twice: handle " handle
			stacks[handle] = stack
			known[stack]
		}
		FILENAME == "show_handles" && /^$/ && !(handle in stacks) {
			print "without a stack: handle " handle
		}
		FILENAME == "show_stacks" && /^$/ && !(stack in known) {
			print "without a handle:"
			printf "%s", stack
		}
		FILENAME == "page_owner.stack_handle" && /^$/ && handle in stacks {
			compared++
			if (stacks[handle] != stack)
				print "two stacks: handle " handle
		}
		/^$/ { stack = handle = "" }
		END { if (compared < 100) print "only " compared + 0 " records compared" }' \
		show_stacks_handles show_handles show_stacks page_owner.stack_handle)
}

for run in base patched standby off; do
	same "$run: stacks and handles agree" "" "$(strays $run)"
	check "$run: there are handles" \
		test "$(grep -c '^handle: ' "$SCRATCH/$run/show_handles")" -gt 50
done

for run in patched standby off; do
	same "$run: files" "$(files $run)" "$(cat "$SCRATCH/$run/files")"
	for f in answers filters; do
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
contains "a filter was set" "$(cat "$SCRATCH/base/filters")" '^5 records: handle$'
contains "and was gone in another open file" \
	"$(sed '1,/^opened again/d' "$SCRATCH/base/filters")" '^5 records: stack$'
check "there is something to compare" test "$(grep -c '^ ' "$SCRATCH/base/page_owner")" -gt 2000

# --- page_owner_sort, the same dump through both builds of it

patched_sort=$WORK/out-x86_64/bin/page_owner_sort
original_sort "$SCRATCH"
base_sort=$SCRATCH/mended
# The original takes what is said of memory cgroups and migration for a part of the stack.
dump=$SCRATCH/dump
grep -vE '^(Charged|Page has been migrated|Slab cache page)' "$SCRATCH/base/page_owner" >"$dump"
pid=$(sed -nE 's/.* pid ([0-9]+),.*/\1/p' "$dump" | sort | uniq -c | sort -rn | awk 'NR == 2 { print $2 }')

# What is said meanwhile is another matter, and the original takes no page for one of
# the slab allocator.
sort_with() {
	local tool=$1 out=$SCRATCH/sorted rc=0

	shift
	rm -f "$out"
	"$tool" "$@" "$dump" "$out" >"$SCRATCH/said" 2>&1 || rc=$?
	echo "status $rc"
	[[ ! -s $out ]] || sed 's/, allocated by .*//' "$out"
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
-d -m
-x
--nonsense
--help
--pid
--pid $pid
--pid 1,2,$pid
--pid 1, --sort pid
--pid x
--pid 1,x
--pid 99999999999999999999
--pi $pid
--tgid $pid
--tgid 1,2,$pid
--tgid x
--name bash
--name bash,find,init
--name nobody
--pid $pid --tgid $pid
--pid $pid --name bash,find
--tgid 1,2,$pid --name bash,find -m
--cull stacktrace
--cull st
--cull pid
--cull p
--cull tgid
--cull tg
--cull comm
--cull name
--cull n
--cull txt
--cull alloc_ts
--cull pid,stacktrace
--cull pid,nonsense
--cull nonsense
--cull pid --cull tgid
--sort pid
--sort p
--sort -tgid
--sort tg
--sort +name
--sort n
--sort stacktrace
--sort -st
--sort txt
--sort T
--sort alloc_ts
--sort -at
--sort -times
--sort comm,stacktrace
--sort name,-pid,+st
--sort pid --sort -alloc_ts
--sort nonsense
--sort pid,nonsense
--sort -pid -m
--pid $pid --cull stacktrace --sort -times
--pid $pid --cull stacktrace --sort -pid
--name bash,find --cull name,stacktrace -m
END
for cull in st st,p,tg,n; do
	same "page_owner_sort --cull=$cull leaves out memory cgroups and migration" \
		"$("$patched_sort" "--cull=$cull" "$dump" -)" "$("$patched_sort" "--cull=$cull" "$SCRATCH/base/page_owner" -)"
done
for run in base patched; do
	records=$(grep -c '^Page allocated' "$SCRATCH/$run/page_owner")
	"$patched_sort" "$SCRATCH/$run/page_owner" - >"$SCRATCH/sorted"
	same "page_owner_sort reads all of the $run kernel's records" "$records" \
		"$(awk '/^[0-9]+ times, / { n += $1 } END { print n + 0 }' "$SCRATCH/sorted")"
	check "page_owner_sort finds stacks that several pages of the $run kernel have" \
		grep -qE '^[0-9]{2,} times, [0-9]{2,} pages' "$SCRATCH/sorted"
	check "page_owner_sort finds slabs of the $run kernel" grep -q 'allocated by SLAB' "$SCRATCH/sorted"
	same "page_owner_sort takes the $run kernel's records from a pipe" "$(<"$SCRATCH/sorted")" \
		"$("$patched_sort" - - < <(cat "$SCRATCH/$run/page_owner"))"
done
for f in show_stacks show_handles show_stacks_handles; do
	same "page_owner_sort reads $f" "$(grep -c '^$' "$SCRATCH/patched/$f")" \
		"$("$patched_sort" -m "$SCRATCH/patched/$f" - | awk '/ times, / { n += $1 } END { print n + 0 }')"
done
done_testing
