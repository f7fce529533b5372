#!/bin/bash
# Collects in /out what page_owner's files look like and how they answer:
# tests/70-page_owner.sh compares a patched and an unpatched kernel by it.

cd /sys/kernel/debug || exit 1
stacks=page_owner_stacks

stat -c '%n %a %F' page_owner $stacks $stacks/* | sort >/out/files

# Something to see: page cache, processes, slab, freed and split pages.
for i in 1 2 3; do
	head -c 3000000 /dev/zero >/tmp/page_owner.$i
	find / -xdev >/dev/null 2>&1
done
rm /tmp/page_owner.2
echo 1 >/proc/sys/vm/compact_memory

# errno COMMAND…: how it ended.
answer() { printf '%s: ' "$1"; shift; if "$@" 2>/run/error; then echo ok; else sed 's/.*: //' /run/error; fi; }
write() { printf '%s' "$2" | dd of="$1" bs=4096 2>&1 >/dev/null | grep -v records >/run/error; if [ -s /run/error ]; then cat /run/error >&2; return 1; fi; }
{
	for f in page_owner $stacks/show_stacks $stacks/show_handles $stacks/show_stacks_handles; do
		answer "write x to $f" write "$f" x
		answer "write nothing to $f" write "$f" ''
	done
	for v in 0 1 4096 18446744073709551615 18446744073709551616 -1 x 0x10 ' 7'; do
		answer "count_threshold '$v'" write $stacks/count_threshold "$v"
		printf 'count_threshold reads %s\n' "$(cat $stacks/count_threshold)"
	done
	for w in mode=stack mode=handle mode=stack_handle mode=none mode= mode MODE=handle \
		mode=Handle 'mode =handle' nid=0 nid=1 nid=0-5000 nid= nid=x nid=-1 nid=0,0 \
		nid=0-0 'nid=0 nid=1' \
		'mode=handle nid=0' 'nid=0 mode=handle' 'mode=handle mode=none' 'mode=handle x' \
		'mode=handle,nid=0' ' ' $'\n' $'mode=handle\n' $'\t mode=stack\t nid=0\n\n' \
		"$(printf 'nid=0%20s' mode=handle)" "$(printf 'nid=0%200s' mode=handle)"; do
		answer "page_owner '$w'" write page_owner "$w"
	done
	chmod 644 $stacks/show_stacks && stat -c '%n %a' $stacks/show_stacks && chmod 400 $stacks/show_stacks
	answer "remove" rm $stacks/show_stacks
} >/out/answers 2>&1

echo 0 >$stacks/count_threshold
for f in show_stacks show_handles show_stacks_handles; do
	cat $stacks/$f >/out/$f
done
echo 50 >$stacks/count_threshold
for f in show_stacks show_handles show_stacks_handles; do
	cat $stacks/$f >/out/$f.50
done

# 2000 whole records. Not read by awk itself: a read shorter than a record fails.
records() { cat | awk '{ print } /^$/ && ++n == 2000 { exit }'; }
records <page_owner >/out/page_owner
for mode in stack handle stack_handle; do
	exec 3<>page_owner
	if echo "mode=$mode" >&3 2>/dev/null; then records <&3 >/out/page_owner.$mode; fi
	exec 3>&-
done

# The filter of an open file: set in parts, set anew, refused; what it does when the
# file is read on or elsewhere, and that other open files have their own.
# shape FD: what the next five records have.
shape() {
	dd bs=4096 count=5 <&"$1" 2>/dev/null | awk '
		/^Page allocated/ { n++ }
		/^ / { stacks = " stack" }
		/^handle: / { handles = " handle" }
		END { print n + 0, "records:" stacks handles }'
}
# set_filter FD TEXT
set_filter() {
	printf "write '%s': " "$2"
	if { printf '%s' "$2" >&"$1"; } 2>/run/error; then
		echo ok
	else
		sed 's/.*: //' /run/error
	fi
	shape "$1"
}
{
	exec 3<>page_owner
	shape 3
	for w in mode=handle nid=0 'mode=none' 'mode=stack nid=7' 'nid=0 mode=stack_handle' \
		'mode=stack x' 'mode=stack mode=handle'; do
		set_filter 3 "$w"
	done
	echo "another open file"
	exec 4<>page_owner
	shape 4
	set_filter 4 mode=stack_handle
	echo "the first"
	shape 3
	echo "after seeking forth, by 16384 pages"
	dd bs=4096 skip=4 count=1 <&3 2>/dev/null | sed -n 's/^PFN.*/a record/p'
	shape 3
	# The shell goes back by what it has read and does not need.
	echo "and back"
	read -r _ <&3
	shape 3
	exec 3>&-
	echo "the other, with the first closed"
	shape 4
	exec 4>&-
	exec 3<page_owner
	echo "opened again"
	shape 3
	exec 3>&-
} >/out/filters 2>&1

exec 3<page_owner
dd bs=512 count=1 <&3 2>/dev/null | head -n 1 >/out/short
exec 3>&-
