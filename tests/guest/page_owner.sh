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
	for w in mode=stack mode=handle mode=stack_handle mode=none mode= nid=0 nid=1 nid=0-5000 nid= nid=x 'mode=handle nid=0' 'mode=handle x'; do
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
exec 3<page_owner
dd bs=512 count=1 <&3 2>/dev/null | head -n 1 >/out/short
exec 3>&-
