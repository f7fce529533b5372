#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the fuzz targets, each for a while, and says what was found. `make fuzz`
# builds them and calls it. Prints TAP.
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
export ASAN_OPTIONS=allocator_may_return_null=1

# one TARGET: its output is in a log, its exit status that of the fuzzer.
one() {
	local seed

	mkdir -p "$dir/corpus-$1" "$dir/seeds-$1"
	for seed in "$here/corpus/$1"/*.b64; do
		base64 -d "$seed" >"$dir/seeds-$1/$(basename "$seed" .b64)"
	done
	"$dir/fuzz_$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-max_len=65536 -artifact_prefix="$dir/$1-" -print_final_stats=1 \
		"$dir/corpus-$1" "$dir/seeds-$1" >"$dir/$1.log" 2>&1
}

declare -A pids
for target; do
	while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
	one "$target" &
	pids[$target]=$!
done

failed=0 count=0
echo "TAP version 13"
for target; do
	count=$((count + 1))
	log=$dir/$target.log
	if wait "${pids[$target]}"; then
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
