#!/bin/bash
# The guest's part of a replay: drives one leak, and lets a detector look on.
#
#   guest.sh leaky NAME SECONDS   leaktrend, until the leak is found, or so long
#   guest.sh fixed NAME SECONDS   leaktrend, so long
#   guest.sh peersA|peersB NAME    other detectors, before and after
#
# Leaves in /out what was seen. The directory of the replay is /replay/NAME.

lt=/sys/kernel/debug/leaktrend
mode=$1 name=$2 limit=${3:-}
# To the kernel's log, too, should there be no way to the host.
die() { echo "$name: $*" | tee /dev/kmsg >&2; exit 2; }
cd "/replay/$name" || exit 2
trap '[[ ! -e finish.sh ]] || bash ./finish.sh' EXIT
# shellcheck source=/dev/null
. ./about
# shellcheck source=../peers.sh
. /replay/peers.sh
# shellcheck source=../guest/ignore.sh
. /root/ignore.sh
: "${functions:?}" "${count:?}" "${helpers:=}" "${rate:=100}"

now() { cut -d . -f 1 /proc/uptime; }

# blocks FILE "FUNCTION…": the blocks of leaks in whose stack one of these is; of
# all leaks without.
blocks() {
	awk -v want="$2" '
		function put() {
			if (hit && leak)
				printf "%s\n", block
			block = ""
			hit = want == ""
			leak = in_stack = 0
		}
		BEGIN { n = split(want, w, " "); put() }
		/^site / { put() }
		/^status *: (LIKELY_LEAK|ORPHANED)/ { leak = 1 }
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

[[ ! -e setup.sh ]] || bash ./setup.sh || die "the guest cannot be prepared"

# Some of them the compiler may have inlined, but if none is there under its name,
# nothing would ever be found.
for f in $functions; do
	! grep -qE " [tT] $f(\.|$)" /proc/kallsyms || known=1
done
[[ -n ${known:-} ]] || die "the kernel has none of: $functions"

case $mode in
leaky | fixed)
	# The defaults 120 times as fast: a minute is half a second, an hour is
	# 30 seconds, and 8 MiB an hour are 64 KiB in 30 seconds.
	echo 500 >$lt/interval_ms
	echo 30000 >$lt/min_age_ms
	echo 64K >$lt/min_bytes
	echo "$rate" >$lt/sample_rate
	ignore_load ../ignore.list
	echo 1 >$lt/clear
	first=$(<$lt/scan) start=$(now)
	./drive 100000000 2>/out/drive & driver=$!
	while :; do
		cat $lt/suspects >/out/suspects
		seconds=$(($(now) - start)) rounds=$(($(<$lt/scan) - first))
		blocks /out/suspects "$functions" >/out/blocks
		[[ -d /proc/$driver ]] || { cat /out/drive >&2; die "the driver ended"; }
		[[ $mode == fixed || ! -s /out/blocks ]] || break
		((seconds < limit)) || break
		sleep 1
	done
	kill "$driver"
	blocks /out/suspects "" >/out/leaks
	cat $lt/status >/out/status
	cat $lt/trends >/out/trends
	cat $lt/ignore >/out/ignored
	echo "$seconds" >/out/seconds
	echo "$rounds" >/out/rounds
	;;
peersA | peersB)
	# Once before, for what the first time allocates and keeps.
	./drive 8 || die "the driver failed"
	sleep 1
	peers_before /out/peers
	./drive "$count" || die "the driver failed"
	sleep 1
	peers_after /out/peers
	peers_reports /out/peers
	peers_verdict /out/peers "$functions" "$helpers" >/out/verdicts
	;;
*)
	echo "usage: guest.sh leaky|fixed NAME SECONDS | peersA|peersB NAME" >&2
	exit 2
	;;
esac
