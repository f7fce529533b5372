#!/bin/bash
# The guest's part of a replay: drives one leak, and lets a detector look on.
#
#   guest.sh leaktrend NAME SECONDS   until the verdict, or for so many seconds
#   guest.sh peers NAME               the other detectors, before and after
#
# Leaves in /out what was seen. The directory of the replay is /replay/NAME.

lt=/sys/kernel/debug/leaktrend
mode=$1 name=$2 limit=${3:-}
cd "/replay/$name" || exit 2
# shellcheck source=/dev/null
. ./about
# shellcheck source=../peers.sh
. /replay/peers.sh
: "${functions:?}" "${count:?}" "${helpers:=}" "${rate:=100}"

now() { cut -d ' ' -f 1 /proc/uptime; }

# blocks FILE: the blocks of likely leaks in whose stack one of the functions is.
blocks() {
	awk -v want="$functions" '
		function put() {
			if (hit && likely)
				printf "%s\n", block
			block = ""
			hit = likely = in_stack = 0
		}
		BEGIN { n = split(want, w, " ") }
		/^site / { put() }
		/^status *: LIKELY_LEAK/ { likely = 1 }
		/^stack trace:/ { in_stack = 1 }
		in_stack && /^ / {
			f = $1
			sub(/\+0x.*/, "", f)
			sub(/\..*/, "", f)
			for (i = 1; i <= n; i++)
				if (f == w[i])
					hit = 1
		}
		NF { block = block $0 "\n" }
		END { put() }' "$1"
}

[[ ! -e setup.sh ]] || bash ./setup.sh || { echo "$name: the guest cannot be prepared" >&2; exit 2; }

# Some of them the compiler may have inlined, but if none is there under its name,
# nothing would ever be found.
for f in $functions; do
	! grep -qE " [tT] $f(\.|$)" /proc/kallsyms || known=1
done
[[ -n ${known:-} ]] || { echo "$name: the kernel has none of: $functions" >&2; exit 2; }

case $mode in
leaktrend)
	echo 500 >$lt/interval_ms
	echo 64K >$lt/min_bytes
	echo 2000 >$lt/min_age_ms
	echo "$rate" >$lt/sample_rate
	echo 1 >$lt/clear
	start=$(now)
	./drive 100000000 2>/out/drive & driver=$!
	while :; do
		cat $lt/suspects >/tmp/suspects
		blocks /tmp/suspects >/out/blocks
		seconds=$(awk -v a="$start" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')
		[[ ! -s /out/blocks && ${seconds%.*} -lt $limit ]] || break
		[[ -d /proc/$driver ]] || { cat /out/drive >&2; echo "$name: the driver ended" >&2; exit 2; }
		sleep 0.5
	done
	kill "$driver"
	cp /tmp/suspects /out/suspects
	cat $lt/status >/out/status
	cat $lt/trends >/out/trends
	echo "$seconds" >/out/seconds
	sed -n 's/^rounds: //p' /out/status >/out/rounds
	;;
peers)
	# Once before, for what the first time allocates and keeps.
	./drive 8 || exit 2
	sleep 1
	peers_before /out/peers
	./drive "$count" || exit 2
	sleep 1
	peers_after /out/peers
	peers_verdict /out/peers "$functions" "$helpers" >/out/verdicts
	for d in slub_debug allocinfo page_owner; do
		[[ ! -e /out/peers/$d.after ]] || peers_growth /out/peers $d | head -n 20 >/out/top.$d
	done
	[[ ! -e /out/peers/kmemleak ]] || peers_kmemleak /out/peers | head -n 20 >/out/top.kmemleak
	;;
*)
	echo "usage: guest.sh leaktrend NAME SECONDS | peers NAME" >&2
	exit 2
	;;
esac
