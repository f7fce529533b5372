#!/usr/bin/env bash
# How good the verdicts are: one run of the matrix of leaks and of growth that is
# none, at a rate of 100. All seeds, a rate of 1, and the other detectors are what
# tests/quality does when it is called by hand.

. "$(dirname "$0")/lib.sh"
unset CMD APPEND CONFIG
need "the patched kernel builds" scripts/build
rate=100
table=$(tests/quality --seeds "${SEED:-1}" --rates "$rate" --without-peers --require 0.9)
same "rate $rate: recall of 0.9 or more, and no false alarm" 0 $?
printf '%s\n' "$table" >&2
run=build/quality/rate$rate-seed${SEED:-1}
same "rate $rate: all leaks were there" 25 "$(awk '!/^#/ && $1 !~ /^N/ && $6 > 0' "$run/truth" | wc -l)"

# What the judge is worth: without any verdict it finds nothing, and with one
# on growth that is none it sees that.
mkdir -p "$run.none"
cp "$run"/{run,truth,events,trends,status} "$run.none/"
sed 's/^status  : .*/status  : GROWING/' "$run/suspects" >"$run.none/suspects"
python3 tests/quality.py --require 0.9 "$run.none" >/dev/null 2>&1
same "rate $rate: no verdict is not good enough" 1 $?
sed 's/leaktrend_test_leak_b+/scn_ramp+/' "$run/suspects" >"$run.none/suspects"
contains "rate $rate: a false alarm is one" \
	"$(python3 tests/quality.py "$run.none")" '^ N2 ramp +1/1 '
rm -rf "$run.none"
done_testing
