#!/bin/bash
# Memory comes and goes: huge pages, contiguous ranges, plugged memory, pages that
# are taken out of use. Leaves in /out what the kernel says after each step, for
# tests/65-memory.sh. What only the host can do is asked of it by a line
# "host: plug" or "host: unplug".

lt=/sys/kernel/debug/leaktrend
handles=/sys/kernel/debug/page_owner_stacks/show_handles
[ -e $handles ] || handles=/dev/null
memory=/sys/devices/system/memory
cma=/sys/kernel/debug/cma/reserved
acpi=/sys/bus/acpi/devices

say() { echo "$(cut -d ' ' -f 1 /proc/uptime) $*" >&2; }

# fact NAME VALUE
fact() { printf '%s %s\n' "$1" "$2" >>/out/facts; }

# snap NAME: what page_owner says, what we say, and what page_owner says then. Reading
# takes pages, too: so this shell reads it all, and frees nothing before it has. Three
# times, since something always happens in between.
snap() {
	local i before sites after

	for i in 1 2 3; do
		echo 1 >$lt/scan
		exec 3<$handles 4<$lt/sites 5<$handles
		mapfile -t before <&3
		mapfile -t sites <&4
		mapfile -t after <&5
		printf '%s\n' "${before[@]}" >"/out/$1.$i.before"
		printf '%s\n' "${sites[@]}" >"/out/$1.$i.sites"
		printf '%s\n' "${after[@]}" >"/out/$1.$i.after"
		exec 3<&- 4<&- 5<&-
	done
	echo 1 >/proc/sys/vm/stat_refresh
	cat $lt/status >"/out/$1.status"
	cat /proc/zoneinfo >"/out/$1.zones"
	echo "$1" >>/out/snaps
	say "$1"
}

# try NAME COMMAND…: a fact is whether it worked.
try() {
	local name=$1

	shift
	if "$@" 2>/tmp/error; then fact "$name" "done"; else fact "$name" "$(cat /tmp/error)"; fi
}

# put FILE TEXT
put() { printf '%s\n' "$2" >"$1"; }

# until_true COMMAND…: within a minute.
until_true() {
	local n=0

	until "$@"; do
		n=$((n + 1))
		[ $n -lt 600 ] || { echo "not within 60 s: $*" >&2; return 1; }
		usleep 100000
	done
}

blocks() { (cd $memory && echo memory[0-9]*); }

# --- Huge pages

fact huge.boot "$(cat /proc/sys/vm/nr_hugepages)"
snap boot
echo 20 >/proc/sys/vm/nr_hugepages
fact huge.more "$(cat /proc/sys/vm/nr_hugepages)"
snap huge

# flagged PATTERN FIRST COUNT: the last page whose flags (16 hex digits) match.
flagged() {
	local line

	line=$(dd if=/proc/kpageflags bs=8 skip="$2" count="$3" 2>/dev/null | od -A n -v -t x8 -w8 |
		grep -n "$1" | tail -n 1)
	echo $(($2 - 1 + ${line%%:*}))
}
# HUGE, and the head of a compound page. Nobody uses it.
pfn=$(flagged '[2367abef][89a-f]...$' 0 98304)
try huge.soft put $memory/soft_offline_page $((pfn << 12))
snap huge.soft
echo 0 >/proc/sys/vm/nr_hugepages
fact huge.none "$(cat /proc/sys/vm/nr_hugepages)"
snap huge.none

# --- A contiguous range

try cma.alloc put $cma/alloc 1000
fact cma.used "$(cat $cma/used)"
snap cma
try cma.free put $cma/free 1000
fact cma.unused "$(cat $cma/used)"
snap cma.none

# --- Memory is plugged, used, and taken away

old=$(blocks)
there() { [ "$(blocks | wc -w)" -ge $(($(echo "$old" | wc -w) + 2)) ]; }
gone() { [ "$(blocks)" = "$old" ]; }

# state WORD: of all the new memory.
state() {
	local m

	for m in $new; do put "$memory/$m/state" "$1" || return; done
}

# movable: pages in use in the zone of the new memory.
movable() {
	awk '/^Node/ { zone = $4 }
		zone == "Movable" && /pages free/ { free = $3 }
		zone == "Movable" && $1 == "managed" { print $2 - free }' /proc/zoneinfo
}

mkdir /hot
mount -t tmpfs -o size=90% hot /hot

echo "host: plug"
try hot.plug until_true there
new=$(blocks | tr ' ' '\n' | grep -vxF "$(echo "$old" | tr ' ' '\n')")
fact hot.blocks "$(echo "$new" | wc -l)"
try hot.online state online_movable
snap hot.online
# Its pages have a call path of their own.
try hot.file fallocate -l 200M /hot/file
fact hot.movable "$(movable)"
snap hot.file
try hot.less truncate -s 80M /hot/file
snap hot.less
try hot.offline state offline
snap hot.offline

# The same again, under load, which ends when it is told to, not in between.
storm() {
	while [ -e /tmp/storm ]; do
		dd if=/dev/zero of="/thp/$1" bs=1M count=12 2>/dev/null
		truncate -s 5M "/thp/$1"
		bash -c 'x=$(head -c 3000000 /dev/zero | tr "\0" x)'
		find /sys/devices /proc/self >/dev/null 2>&1
		echo 1 >/proc/sys/vm/compact_memory
		rm "/thp/$1"
	done
}
begin_storm() { touch /tmp/storm; storm 1 & storm1=$!; storm 2 & storm2=$!; }
end_storm() { rm /tmp/storm; wait $storm1 $storm2; }

mkdir /thp
mount -t tmpfs -o huge=always,size=40M thp /thp
echo always >/sys/kernel/mm/transparent_hugepage/enabled

begin_storm
try again.online state online_movable
try again.file fallocate -l 180M /hot/file
try again.less truncate -s 60M /hot/file
end_storm
snap again.less
echo "host: unplug"
begin_storm
try again.unplug until_true gone
end_storm
fact again.movable "$(movable)"
snap again.gone

# All is forgotten while there is new memory, and while there is not.
echo "host: plug"
try clear.plug until_true there
try clear.online state online_movable
try clear.file fallocate -l 120M /hot/file
try clear.clear put $lt/clear 1
snap clear.on
try clear.off put $lt/enable 0
for d in "$acpi"/PNP0C80:*; do
	[ ! -e "$d/physical_node" ] || try clear.eject put "$d/eject" 1
done
try clear.gone until_true gone
try clear.again put $lt/enable 1
rm /hot/file
snap clear.gone

# --- Pages are taken out of use

mkfifo /tmp/ready /tmp/go
# Holds memory, and tells whether that is still what it was.
cat >/tmp/victim <<'END'
x=$(printf %0400000d 0)
before=$(printf %s "$x" | md5sum)
echo ready >/tmp/ready
read -r _ </tmp/go
[ "$(printf %s "$x" | md5sum)" != "$before" ] || echo intact
END
bash /tmp/victim >/out/victim & victim=$!
read -r _ </tmp/ready

# own_pages PID: "index pfn" of the anonymous pages that only it has mapped.
own_pages() {
	local range mode inode first last v

	while read -r range mode _ _ inode _; do
		[[ $mode == rw-p && $inode == 0 ]] || continue
		first=$((0x${range%-*} >> 12)) last=$((0x${range#*-} >> 12))
		dd if="/proc/$1/pagemap" bs=8 skip=$first count=$((last - first)) 2>/dev/null |
			od -A n -v -t x8 -w8 | while read -r v; do
			v=$((0x$v))
			((v >= 0 || !(v >> 56 & 1))) || echo "$first $((v & ((1 << 55) - 1)))"
			((++first))
		done
	done <"/proc/$1/maps"
}
own_pages $victim >/tmp/pages
fact poison.pages "$(wc -l </tmp/pages)"
read -r index pfn < <(sed -n 20p /tmp/pages)
fact poison.pfn "$pfn"
try poison.soft put $memory/soft_offline_page $((pfn << 12))
fact poison.moved "$(own_pages $victim | awk -v i="$index" '$1 == i { print $2 }')"
echo go >/tmp/go
wait $victim
snap poison.soft

bash /tmp/victim >/dev/null & victim=$!
read -r _ </tmp/ready
read -r _ pfn < <(own_pages $victim | sed -n 20p)
try poison.hard put $memory/hard_offline_page $((pfn << 12))
kill $victim 2>/dev/null
wait $victim 2>/dev/null
echo "host: plug"
try poison.plug until_true there
try poison.online state online_movable
first=${new%%[[:space:]]*}
# BUDDY. The last is the last to be allocated.
pfn=$(flagged '[4-7c-f]..$' $((${first#memory} * 32768)) 32768)
try poison.free put $memory/hard_offline_page $((pfn << 12))
fact poison.corrupted "$(awk '/^HardwareCorrupted:/ { print $2 }' /proc/meminfo)"
snap poison.hard
try poison.offline state offline
snap end
