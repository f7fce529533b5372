#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the fuzz targets one after the other, each for a while, and says what was
# found. `make fuzz` builds them and calls it. Prints TAP.
#
# usage: fuzz/run.sh DIR SECONDS [TARGET…]
# DIR has the programs, and gets a corpus and what makes them fail. The seeds are kept
# in base64, as a patch carries text only.

set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$1 seconds=$2
shift 2
if (($# == 0)); then
	set -- "$here"/fuzz_*.c
	set -- "${@##*/fuzz_}"
	set -- "${@%.c}"
fi
failed=0 count=0
export ASAN_OPTIONS=allocator_may_return_null=1
echo "TAP version 13"
for target; do
	count=$((count + 1))
	mkdir -p "$dir/corpus-$target" "$dir/seeds-$target"
	for seed in "$here/corpus/$target"/*.b64; do
		base64 -d "$seed" >"$dir/seeds-$target/$(basename "$seed" .b64)"
	done
	log=$dir/$target.log
	if "$dir/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-max_len=65536 -artifact_prefix="$dir/$target-" -print_final_stats=1 -verbosity=1 \
		"$dir/corpus-$target" "$dir/seeds-$target" >"$log" 2>&1; then
		echo "ok $count - fuzz $target: $(awk '/stat::number_of_executed_units/ { print $2 }' "$log") inputs"
	else
		failed=1
		echo "not ok $count - fuzz $target"
		grep -E 'ERROR|SUMMARY|Test unit written' "$log" | sed 's/^/# /'
		tail -n 30 "$log" >&2
	fi
done
echo "1..$count"
exit $failed
