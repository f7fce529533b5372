# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# confirm: what kmemleak says of suspects, in a copy that has its file.

copy=$SCRATCH/copy
cp -r "$DATA/leak/12" "$copy"

# object FRAME…: as kmemleak lists one.
object() {
	printf 'unreferenced object 0xffff888003abc%03d (size 64):\n' $((RANDOM % 1000))
	printf '  comm "kthread", pid 42, jiffies 4294%06d\n' $((RANDOM % 100000))
	printf '  hex dump (first 32 bytes):\n    00 01 02 03 04 05 06 07  ................\n'
	printf '  backtrace (crc 0):\n'
	printf '    %s\n' "$@"
}

fails "confirm: a kernel without kmemleak" 'there is no .*/kmemleak; it takes a kernel with CONFIG_DEBUG_KMEMLEAK' \
	confirm --debugfs "$copy"

{
	for _ in 1 2 3; do
		object "__kmalloc_cache_noprof+0x2f0/0x400" "leaktrend_test_leak_a+0x99/0x160 [leaktrend_test]" \
			"lt_step+0x1/0x2 [leaktrend_test]" "lt_thread_fn+0x1/0x2 [leaktrend_test]" "kthread+0x1/0x2"
	done
	# Another function, and the same one from elsewhere.
	object "__kmalloc_cache_noprof+0x2f0/0x400" "other+0x99/0x160" "lt_step+0x1/0x2" "kthread+0x1/0x2"
	object "__kmalloc_cache_noprof+0x2f0/0x400" "leaktrend_test_leak_a+0x99/0x160 [leaktrend_test]" \
		"lt_other+0x1/0x2 [leaktrend_test]" "kthread+0x1/0x2"
} >"$copy/kmemleak"
tool confirm --debugfs "$copy" --verdict likely_leak
is "confirm: exit status" 0 "$RC"
like "confirm: the suspect" "$OUT" '^LIKELY_LEAK  leaktrend_test_leak_a \[leaktrend_test\]$'
like "confirm: objects by their path" "$OUT" '^   kmemleak     lists 3 objects of this path$'
like "confirm: what that means" "$OUT" '^   so           lost: nothing points to them'
tool confirm --debugfs "$copy" --json -v likely_leak
is "confirm: JSON" 3 "$(json 'd["sites"][0]["kmemleak_objects"]')"

# Older kernels print the address before the name.
sed -i 's/^    \([a-z_]*+0x\)/    [<00000000aabbccdd>] \1/' "$copy/kmemleak"
tool confirm --debugfs "$copy" -v likely_leak
like "confirm: of an older kernel" "$OUT" 'lists 3 objects'

: >"$copy/kmemleak"
tool confirm --debugfs "$copy" -v likely_leak
like "confirm: none is lost" "$OUT" '^   so           still reachable, or too young'
object "__kmalloc_cache_noprof+0x2f0/0x400" "leaktrend_test_leak_a+0x1/0x2" "lt_step+0x1/0x2" \
	"lt_thread_fn+0x1/0x2" "kthread+0x1/0x2" >"$copy/kmemleak"
tool confirm --debugfs "$copy" -v likely_leak
like "confirm: a single one may be a mistake" "$OUT" '^   so           one may be a stray value'
head -c 150 "$copy/kmemleak" >"$copy/kmemleak.cut"
mv "$copy/kmemleak.cut" "$copy/kmemleak"
tool confirm --debugfs "$copy" -v likely_leak
like "confirm: a file that is cut off" "$RC $OUT" '^0 LIKELY'
tool confirm --debugfs "$DATA/leak/01"
is "confirm: nothing to ask" "0 there are no suspects to confirm" "$RC $OUT"
fails "confirm: too long a wait" 'an hour at most' confirm --wait 99999
fails "confirm: a wait that is no number" 'wait' confirm --wait x
fails "confirm: recorded files have no objects" 'no option' confirm -f "$RECORDED"
