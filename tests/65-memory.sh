#!/usr/bin/env bash
# Memory comes and goes, and the count of pages stays right: huge pages, ranges of
# CMA, memory that is plugged, filled, set offline and taken away, pages that are
# taken out of use. Once with page_owner, whose numbers ours must be, and once
# without, where every page is sampled.

# shellcheck disable=SC2317 # some functions are called by their names only
. "$(dirname "$0")/lib.sh"
scratch_dir
unset CMD APPEND
export CONFIG=x86_64
need "the patched kernel builds" scripts/build

# MiB: what the machine has, and what is plugged.
MEMORY=384 PLUGGED=256

# ask COMMAND ARGUMENTS: of QEMU's monitor.
ask() { printf '{"execute": "%s", "arguments": {%s}}\n' "$1" "${2:-}" >&"$monitor"; }

# machine NAME PARAMETERS: runs the guest's part, and does what it asks for.
machine() {
	local name=$1 dimm='"id": "dimm"' reader monitor line rc

	dir=$SCRATCH/$name
	mkdir -p "$dir"
	mkfifo "$dir/monitor.in" "$dir/monitor.out"
	exec {monitor}<>"$dir/monitor.in"
	cat "$dir/monitor.out" >"$dir/answers" &
	reader=$!
	ask qmp_capabilities

	# The monitor's name is relative: it has no blanks then.
	NOPARAMS=1 APPEND="hugepages=4 cma=64M leaktrend.elder_rounds=1 $2" \
		MEM=$MEMORY,slots=2,maxmem=2G OUT=$dir LOG=$dir/log CMD='bash /root/memory.sh' \
		QEMU_ARGS="-object memory-backend-ram,id=plugged,size=${PLUGGED}M
			-chardev pipe,id=monitor,path=${dir#"$ROOT"/}/monitor
			-mon chardev=monitor,mode=control" \
		scripts/vm | while IFS= read -r line; do
		case $line in
		"host: plug") ask device_add "$dimm"', "driver": "pc-dimm", "memdev": "plugged"' ;;
		"host: unplug") ask device_del "$dimm" ;;
		*) printf '%s\n' "$line" >&2 ;;
		esac
	done
	rc=${PIPESTATUS[0]}
	exec {monitor}>&-
	kill "$reader" 2>/dev/null
	wait "$reader" 2>/dev/null
	same "$name: the guest's part ran" 0 "$rc"
	same "$name: the machine did as the guest asked" "" "$(grep '"error"' "$dir/answers")"
	same "$name: no splat in the kernel log" "" "$(splats "$dir/log")"
}

# fact NAME: what the guest found.
fact() { sed -n "s/^$1 //p" "$dir/facts"; }

# Columns of leaktrend/sites.
CLASS=3 OUTSTANDING=7 FREES=10

# field SNAP SITE COLUMN
field() {
	awk -v id="$2" -v column="$3" '$1 == id && $2 == "page" { v = $column }
		END { print v == "" ? 0 : v }' "$dir/$1.3.sites"
}

# changes FROM TO: "number site class" of the sites that have more or fewer pages.
changes() {
	awk -v o=$OUTSTANDING -v c=$CLASS '$2 != "page" { next }
		FNR == NR { n[$1] = -$o; what[$1] = $c; next }
		{ n[$1] += $o; what[$1] = $c }
		END { for (i in n) if (n[i]) print n[i], i, what[i] }' \
		"$dir/$1.3.sites" "$dir/$2.3.sites"
}

# one_grew NAME FROM TO NUMBER: one site got so many pages, and no other. It is
# left in $site.
one_grew() {
	site=$(changes "$2" "$3" | awk -v want="$4" '$1 == want { print $2 }')
	if [[ $site =~ ^[0-9]+$ ]]; then
		ok "$1"
	else
		echo "Pages, site and class of what changed most:" >&2
		changes "$2" "$3" | sed 's/^-*/& /' | sort -k2,2rn | head | sed 's/ //' >&2
		site=-1
		not_ok "$1"
	fi
}

# handles FILE: "handle pages" of page_owner's stacks.
handles() {
	awk '/^handle: / { handle = $2 } /^nr_base_pages: / { print handle, $2 }' "$dir/$1"
}

# differing SNAP TRY: page_owner's handles that have another number of pages in
# sites or none, and how many were compared, as "compared N". What changed
# meanwhile is left out.
differing() {
	local -A site=() after=()
	local id kind stack out compared=0

	while read -r id kind _ stack _ _ out _; do
		[[ $kind != page ]] || site[$((stack))]=$out
	done <"$dir/$1.$2.sites"
	while read -r id out; do after[$id]=$out; done < <(handles "$1.$2.after")
	while read -r id out; do
		[[ ${after[$id]:-} == "$out" ]] || continue
		compared=$((compared + 1))
		[[ ${site[$id]:-} == "$out" ]] || echo "handle $id: $out, site ${site[$id]:-none}"
	done < <(handles "$1.$2.before")
	echo "compared $compared"
}

# agrees SNAP: what differs each time, and of how few handles that is known.
agrees() {
	local try compared all

	for try in 1 2 3; do
		differing "$1" "$try" >"$dir/differing.$try"
		compared=$(sed -n 's/^compared //p' "$dir/differing.$try")
		all=$(grep -c '^handle: ' "$dir/$1.$try.before")
		((compared > 100 && compared * 10 > all * 8)) ||
			echo "only $compared of $all handles held still"
	done
	sed 's/:.*//' "$dir"/differing.? | grep '^handle' | sort | uniq -c |
		awk '$1 == 3 { print $2, $3 }' |
		while read -r line; do grep -h "^$line:" "$dir/differing.3"; done
}

# absurd SNAP: sites with numbers that cannot be.
absurd() {
	local try

	for try in 1 2 3; do
		awk -v max=$(((MEMORY + PLUGGED) * 256)) '
			/^# leaktrend-sites-v2 / { headers++; next }
			NF != 16 { print "not 16 columns: " $0; next }
			{ for (i = 7; i <= 14; i++) if ($i !~ /^[0-9]+$/) bad = 1 }
			$2 == "page" {
				if ($7 > max || $11 > max || $12 > max)
					bad = 1
				if ($8 != $7 * 4096 || $9 < $10)
					bad = 1
				sum += $7
			}
			bad { print; bad = 0 }
			END {
				if (sum > max)
					print sum, "pages of all sites"
				if (headers != 1)
					print "no header of leaktrend-sites-v2"
			}' \
			"$dir/$1.$try.sites"
	done
}

# young SNAP: sites where nothing happened for two rounds, and that do not count
# all of their pages as older than one.
young() {
	awk '$2 != "page" { next }
		FILENAME != last { file++; last = FILENAME }
		file < 3 { seen[file, $1] = $7 " " $10; next }
		seen[1, $1] == seen[2, $1] && seen[2, $1] == $7 " " $10 && $12 != $7' \
		"$dir/$1.1.sites" "$dir/$1.2.sites" "$dir/$1.3.sites"
}

# uncounted SNAP: pages that are in use but not counted. What was there before the
# page allocator, and what hooks cannot see.
uncounted() {
	local used counted

	used=$(awk '$1 == "managed" { n += $2 }
		/pages free/ { n -= $3 }
		$1 == "count:" { n -= $2 }
		END { print n }' "$dir/$1.zones")
	counted=$(awk '/^pages_(kernel|user|page_table|slab): / { n += $2 } END { print n }' \
		"$dir/$1.status")
	echo $((used - counted))
}

# lost FROM…: snaps with other than so many pages uncounted as there were at the
# first of them, by more than what always is on its way.
lost() {
	local first now snap

	first=$(uncounted "$1")
	for snap; do
		now=$(uncounted "$snap")
		((now - first < 256 && first - now < 256)) ||
			echo "$snap: $((now - first)) more than at $1 are used and not counted"
	done
}

# done_all FACT…: these commands worked.
done_all() {
	local f

	for f; do [[ $(fact "$f") == "done" ]] || echo "$f: $(fact "$f")"; done
}

# steps: what each step did, by the sites that it concerns.
steps() {
	local name=$1 site

	same "$name: huge pages at boot, more, none" "4 20 0" \
		"$(fact huge.boot) $(fact huge.more) $(fact huge.none)"
	site=$(awk '$2 == "page" && $3 == "user" && $7 == 2048 { print $1 }' "$dir/boot.3.sites")
	check "$name: 4 huge pages of boot are a site of class user" test -n "$site"
	same "$name: none of them is left" 0 "$(field huge.none "${site:--1}" $OUTSTANDING)"
	one_grew "$name: 16 huge pages more are one site" boot huge 8192
	same "$name: huge pages are of class user" user "$(field huge "$site" $CLASS)"
	same "$name: none of those is left" "0 8192" \
		"$(field huge.none "$site" $OUTSTANDING) $(field huge.none "$site" $FREES)"
	same "$name: a huge page was taken out of use" "" "$(done_all huge.soft)"

	same "$name: a range of CMA was allocated and freed" "1000 0" \
		"$(fact cma.used) $(fact cma.unused)"
	same "$name: CMA did not fail" "" "$(done_all cma.alloc cma.free)"
	one_grew "$name: the range is one site" huge.none cma 1000
	same "$name: the range is of class kernel" kernel "$(field cma "$site" $CLASS)"
	same "$name: nothing of the range is left" 0 "$(field cma.none "$site" $OUTSTANDING)"

	same "$name: memory was plugged and used" "" \
		"$(done_all hot.plug hot.online hot.file hot.less)"
	check "$name: most of the plugged memory was in use" test "$(fact hot.movable)" -ge 51200
	one_grew "$name: the file in it is one site" hot.online hot.file 51200
	same "$name: a file is of class user" user "$(field hot.file "$site" $CLASS)"
	same "$name: what was cut off it is freed" "20480 30720" \
		"$(field hot.less "$site" $OUTSTANDING) $(field hot.less "$site" $FREES)"
	same "$name: the memory was set offline" "" "$(done_all hot.offline)"
	same "$name: what has moved stays with its site" "20480 30720" \
		"$(field hot.offline "$site" $OUTSTANDING) $(field hot.offline "$site" $FREES)"
	same "$name: the memory was used again, under load" "" \
		"$(done_all again.online again.file again.less)"
	same "$name: the site is right after load" "15360 61440" \
		"$(field again.less "$site" $OUTSTANDING) $(field again.less "$site" $FREES)"
	same "$name: the memory was unplugged, under load" "done 0" \
		"$(fact again.unplug) $(fact again.movable)"
	same "$name: what has moved under load stays with its site" "15360 61440" \
		"$(field again.gone "$site" $OUTSTANDING) $(field again.gone "$site" $FREES)"
	same "$name: tracking is cleared and switched while memory comes and goes" "" \
		"$(done_all clear.{plug,online,file,clear,off,eject,gone,again})"

	same "$name: pages were taken out of use" "" \
		"$(done_all poison.{soft,hard,plug,online,free,offline})"
	contains "$name: a page was moved for that" "$(fact poison.moved)" '^[0-9]+$'
	check "$name: to another place" test "$(fact poison.moved)" != "$(fact poison.pfn)"
	same "$name: and kept its content" intact "$(cat "$dir/victim")"
	same "$name: KiB out of use" 16 "$(fact poison.corrupted)"
}

# after_each COMMAND: what it says about each step.
after_each() {
	local snap

	while read -r snap; do
		"$1" "$snap" | sed "s/^/$snap: /"
	done <"$dir/snaps"
}

# unseen SNAP: what the tracker says it has not seen.
unseen() { grep -E '^(dropped_|missed_)[a-z]+: ' "$dir/$1.status" | grep -v ': 0$'; }

# invariants NAME: what is so after every step.
invariants() {
	check "$1: all steps were recorded" test "$(wc -l <"$dir/snaps")" -eq 17
	same "$1: no site has absurd numbers" "" "$(after_each absurd)"
	same "$1: every page has its age" "" "$(after_each young)"
	same "$1: nothing was dropped, no free was missed" "" "$(after_each unseen)"
}

machine page_owner "page_owner=on leaktrend=on"
steps page_owner
invariants page_owner
same "page_owner: sites have page_owner's numbers" "" "$(after_each agrees)"
contains "page_owner: it is said that the numbers are exact" "$(cat "$dir/end.status")" \
	'^pages_counted: exact$'
mapfile -t snaps <"$dir/snaps"
same "page_owner: no pages are lost" "" "$(lost "${snaps[@]}")"

# With the descriptions of its pages in the plugged memory, for a change.
machine sampled "leaktrend=on leaktrend.sample_rate=1 leaktrend.max_overhead=0 memory_hotplug.memmap_on_memory=1"
steps sampled
invariants sampled
contains "sampled: it is said that the numbers are estimates" "$(cat "$dir/end.status")" \
	'^pages_counted: sampled$'
mapfile -t snaps < <(sed '/^clear/,$d' "$dir/snaps")
same "sampled: no pages are lost" "" "$(lost "${snaps[@]}")"
# What was there when tracking was cleared is not known any more, and goes.
mapfile -t snaps < <(sed -n '/^clear.gone/,$p' "$dir/snaps")
same "sampled: no pages are lost after that" "" "$(lost "${snaps[@]}")"

# Of 300 MiB some 500 pages lie behind each hole.
# shellcheck disable=SC2016 # the dollar is the kernel's
holes=$(printf ',2M$0x%s000000' 4 5 6 7 8 9 a c)
freed=$(NOPARAMS=1 MEM=512 APPEND="leaktrend=on leaktrend.sample_rate=1 leaktrend.max_overhead=0 memmap=${holes#,}" \
	LOG=$SCRATCH/holes.log CMD='bash /root/holes.sh' scripts/vm)
same "holes: the guest ran" 0 $?
contains "holes: there are some" "$(cat "$SCRATCH/holes.log")" 'user-defined physical RAM map'
check "holes: pages behind them are forgotten ($freed freed at one site)" test "$freed" -lt 2000
same "holes: no splat" "" "$(splats "$SCRATCH/holes.log")"
done_testing
