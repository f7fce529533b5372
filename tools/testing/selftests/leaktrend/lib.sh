# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2119,SC2120
#
# What the leaktrend selftests share. Sourced, never run.
#
# A test calls lt_require first: it skips when something is missing, loads the
# test module and puts tracking into a known state: on, rate 1 whatever it
# costs, rounds only when written to "scan". Whatever was changed is put back on exit.

DIR="$(dirname "$(readlink -f "$0")")"
# shellcheck source=../kselftest/ktap_helpers.sh
source "${DIR}"/../kselftest/ktap_helpers.sh

# Errors are told by their messages.
export LC_ALL=C

DEBUGFS=/sys/kernel/debug
LT=$DEBUGFS/leaktrend
MOD=$DEBUGFS/leaktrend_test
KFENCE=/sys/module/kfence/parameters/sample_interval
TUNABLES="sample_rate interval_ms min_rounds min_bytes min_age_ms elder_rounds stack_depth
max_sites max_overhead"
# Longer than any test runs.
NEVER_MS=86400000
# The last job and site read.
JOB='' J_state='' J_allocs=0 J_frees=0 J_held=0 J_lost=0 J_bytes=0 J_errors=0 J_ms=0
J_pages=0 J_page_allocs=0 J_page_frees=0
S_sites=0 S_outstanding=0 S_bytes=0 S_allocs=0 S_frees=0 S_cache='' S_verdict='' S_stack_id=''
S_low=0 S_elders=0 S_generations=0 S_growth=0 S_error=0 S_kind='' S_class=''

ERRNO=''

declare -A SAVED
LOADED=
RESTORE=
LOG_MARK="${0##*/} begins: $$ $RANDOM"
JOBS_STARTED=0

skip_all() {
	ktap_skip_all "$*"
	exit "$KSFT_SKIP"
}

# ---- State of the tracker ----

# status_get KEY
status_get() {
	sed -n "s/^$1: //p" "$LT/status"
}

# set_tunable NAME VALUE; bails out when it is refused, no test works then.
set_tunable() {
	echo "$2" >"$LT/$1" || ktap_exit_fail_msg "cannot set $1 to $2"
}

# scan [N]: run N rounds.
scan() {
	local n

	for ((n = ${1:-1}; n > 0; n--)); do
		echo 1 >"$LT/scan" || ktap_exit_fail_msg "cannot run a round"
	done
}

clear_all() {
	echo 1 >"$LT/clear" || ktap_exit_fail_msg "cannot clear"
}

# shellcheck disable=SC2317,SC2329 # called by the trap
lt_restore() {
	local t

	if [ -n "$LOADED" ]; then
		echo all >"$MOD/stop"
		rmmod leaktrend_test
	fi
	[ -n "$RESTORE" ] || return
	for t in $TUNABLES; do
		echo "${SAVED[$t]}" >"$LT/$t"
	done
	echo clear >"$LT/ignore"
	echo "${SAVED[enable]}" >"$LT/enable"
	[ -z "${SAVED[kfence]}" ] || echo "${SAVED[kfence]}" >"$KFENCE"
}

# insert NAME [PARAMETER]...: a module, the one beside the tests or what modprobe finds.
insert() {
	insmod "$DIR/test_modules/$1.ko" "${@:2}" 2>/dev/null || modprobe "$@" 2>/dev/null
}

# load_module [PARAMETER]...: the module that does jobs.
load_module() {
	[ ! -d "$MOD" ] || rmmod leaktrend_test ||
		skip_all "an old leaktrend_test cannot be unloaded"
	insert leaktrend_test "$@" || return 1
	LOADED=1
}

unload_module() {
	rmmod leaktrend_test || return 1
	LOADED=
}

# lt_require: everything a test needs, or one skip that says what is missing.
lt_require() {
	local t

	ktap_print_header
	[ "$(id -u)" -eq 0 ] || skip_all "must run as root"
	grep -q " $DEBUGFS debugfs " /proc/mounts || skip_all "no debugfs"
	[ -r "$LT/status" ] || skip_all "no leaktrend (CONFIG_LEAKTREND)"
	case "$(status_get state)" in
	on | standby) ;;
	*) skip_all "leaktrend is off (boot with leaktrend=on or leaktrend=standby)" ;;
	esac
	load_module || skip_all "no module leaktrend_test"

	echo "$LOG_MARK" >/dev/kmsg
	for t in $TUNABLES enable; do
		SAVED[$t]=$(cat "$LT/$t")
	done
	# Objects of KFENCE are not tracked; figures would be off by a few.
	[ ! -w "$KFENCE" ] || SAVED[kfence]=$(cat "$KFENCE")
	RESTORE=1
	trap lt_restore EXIT
	[ -z "${SAVED[kfence]}" ] || echo 0 >"$KFENCE"

	echo clear >"$LT/ignore"
	set_tunable interval_ms $NEVER_MS
	set_tunable sample_rate 1
	# Or else it is not the rate in force.
	set_tunable max_overhead 0
	echo 1 >"$LT/enable" || ktap_exit_fail_msg "cannot enable tracking"
	clear_all
}

# wait_for SECONDS COMMAND...: until the command is true, or false after that time.
wait_for() {
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# write_errno FILE TEXT [OPTION]: sets ERRNO to the name of the error that one write of
# TEXT and a newline gives, or to "ok". Option -n: without the newline.
write_errno() {
	local message

	# The shell would write several lines one by one.
	# shellcheck disable=SC2086 # an option or nothing
	case $2 in
	*$'\n'*) message=$(dd of="$1" bs=64k 2>&1 <<<"$2") && { ERRNO=ok; return; } ;;
	*) message=$({ echo $3 "$2" >"$1"; } 2>&1) && { ERRNO=ok; return; } ;;
	esac
	case $message in
	*"Invalid argument"*) ERRNO=EINVAL ;;
	*"out of range"*) ERRNO=ERANGE ;;
	*"No such device"*) ERRNO=ENODEV ;;
	*"No such file"*) ERRNO=ENOENT ;;
	*"File exists"*) ERRNO=EEXIST ;;
	*"No space left"*) ERRNO=ENOSPC ;;
	*) ERRNO=${message##*: } ;;
	esac
}

# splats: lines of the kernel's log since the test began that say something broke.
splats() {
	dmesg | sed -n "/$LOG_MARK/,\$p" |
		grep -E -e 'WARNING:|BUG:|Oops|INFO: (task|rcu)|blocked for more|Bad page' \
			-e 'refcount_t:|KASAN|KCSAN|general protection'
}

# ---- Jobs of the module ----

# job_start WORD...: starts a job and sets JOB to its number.
job_start() {
	local name

	JOBS_STARTED=$((JOBS_STARTED + 1))
	name=t$$_$JOBS_STARTED
	JOB=
	echo "name=$name $*" >"$MOD/start" || return 1
	JOB=$(sed -n "s/^id=\([0-9]*\) name=$name .*/\1/p" "$MOD/jobs")
	[ -n "$JOB" ]
}

# job_read ID: sets J_state, J_allocs, J_frees, J_held, J_lost, J_bytes, J_errors, J_ms,
# J_pages, J_page_allocs, J_page_frees.
job_read() {
	local line word

	line=$(grep "^id=$1 " "$MOD/jobs") || return 1
	for word in $line; do
		printf -v "J_${word%%=*}" %s "${word#*=}"
	done
}

job_wait() { echo "$1" >"$MOD/wait"; }
job_stop() { echo "$1" >"$MOD/stop"; }
job_free() { echo "$1" >"$MOD/free"; }

# job_has ID KEY MINIMUM: true once the figure has reached the minimum.
# shellcheck disable=SC2317,SC2329 # called by wait_for
job_has() {
	local v

	job_read "$1" || return 1
	v=J_$2
	((${!v} >= $3))
}

# ---- Sites ----

# sites_in FILE FUNCTION [OTHER]: numbers of the sites in the blocks of FILE whose
# allocating function is FUNCTION and, with OTHER, whose stack goes through OTHER.
# The objects with which the module pushes out kfree_rcu() do not count.
sites_in() {
	awk -v site_func="$2" -v other="$3" '
		function done() {
			if (site != "" && first == site_func && !fill && (other == "" || through))
				print site
			site = ""
		}
		/^site #/ {
			done()
			site = $2
			gsub(/[#,]/, "", site)
			first = ""; frames = fill = through = 0
			next
		}
		/^stack trace:/ { frames = 1; next }
		frames && /^ / {
			name = $1
			sub(/\+.*/, "", name)
			if (first == "")
				first = name
			if (name == "leaktrend_test_fill")
				fill = 1
			if (name == other)
				through = 1
		}
		END { done() }' "$LT/$1"
}

# sites_through FILE KIND FUNCTION [OTHER]: numbers of the sites of that kind (slab or
# page) in the blocks of FILE whose stack goes through FUNCTION and, with OTHER, through
# OTHER, or, with !OTHER, not. The first frames of pages are the page allocator's. FILE
# is one of leaktrend's, or, with a slash, a copy of one.
sites_through() {
	local file=$1 expect=1

	[[ $file = */* ]] || file=$LT/$file
	[[ $4 != !* ]] || expect=0
	awk -v kind="$2" -v site_func="$3" -v other="${4#!}" -v expect=$expect '
		function done() {
			if (site != "" && ours && (other == "" || through == expect))
				print site
			site = ""
		}
		/^site #/ {
			done()
			site = $2
			gsub(/[#,]/, "", site)
			ours = frames = through = 0
			next
		}
		/^kind    : / { if ($3 != kind) site = ""; next }
		/^stack trace:/ { frames = 1; next }
		frames && /^ / {
			name = $1
			sub(/\+.*/, "", name)
			if (name == site_func)
				ours = 1
			if (name == other)
				through = 1
		}
		END { done() }' "$file"
}

# site_block SITE [FILE]: the block of a site.
site_block() {
	awk -v site="#$1," '/^site #/ { on = $2 == site } /^$/ { on = 0 } on' "$LT/${2:-trends}"
}

# site_read SITES: sets S_sites (how many of them there are) and S_outstanding, S_bytes,
# S_allocs, S_frees (sums), and of the last one S_cache, S_verdict, S_stack_id,
# S_low, S_elders, S_generations, S_growth, S_error, S_kind, S_class.
site_read() {
	local values

	values=$(awk -v list="${1//$'\n'/ }" '
		BEGIN {
			split(list, a)
			for (i in a)
				want[a[i]] = 1
			cache = verdict = stack = kind = class = "-"
		}
		NR == 1 {
			for (i = 3; i <= NF; i++)
				col[$i] = i - 2
			next
		}
		$col["site"] in want {
			n++
			outstanding += $col["outstanding"]
			bytes += $col["bytes"]
			allocs += $col["allocs"]
			frees += $col["frees"]
			cache = $col["cache"]
			verdict = $col["verdict"]
			stack = $col["stack_id"]
			low = $col["low"]
			elders = $col["elders"]
			generations = $col["generations"]
			growth = $col["growth_bytes_h"]
			error = $col["error_permille"]
			kind = $col["kind"]
			class = $col["class"]
		}
		END {
			printf("%d %.0f %.0f %.0f %.0f %s %s %s %.0f %.0f %d %.0f %d %s %s\n",
			       n, outstanding,
			       bytes, allocs, frees, cache, verdict, stack, low, elders,
			       generations, growth, error, kind, class)
		}' "$LT/sites")
	read -r S_sites S_outstanding S_bytes S_allocs S_frees S_cache S_verdict S_stack_id \
		S_low S_elders S_generations S_growth S_error S_kind S_class <<<"$values"
}

# object_size CACHE: bytes that an object takes in its slab.
object_size() {
	awk -v cache="$1" '$1 == cache { print $4 }' /proc/slabinfo
}

# ---- Results ----

# A test consists of expectations; one that is not met fails it.
WHY=

# unmet TEXT: notes it; one thing that breaks can leave hundreds unmet.
unmet() {
	if [ ${#WHY} -lt 300 ]; then
		WHY+="${WHY:+; }$1"
	else
		WHY="${WHY%; and more}; and more"
	fi
}

# want WHAT GOT EXPECTED
want() {
	[ "$2" = "$3" ] && return
	unmet "$1 is '$2', not '$3'"
	return 1
}

# want_true WHAT COMMAND...
want_true() {
	local what=$1

	shift
	"$@" && return
	unmet "$what"
	return 1
}

# want_write FILE TEXT ERROR|ERROR... [OPTION]: what one write must give, see write_errno.
want_write() {
	write_errno "$1" "$2" "$4"
	case "|$3|" in
	*"|$ERRNO|"*) return ;;
	esac
	want "writing '${2:0:30}' to ${1##*/}" "$ERRNO" "$3"
}

# want_value FILE VALUE: what the first line of the file must be.
want_value() {
	local value=

	read -r value <"$1"
	want "${1##*/}${3:+ $3}" "$value" "$2"
}

# unsound: lines of "sites" with figures that no count can have.
unsound() {
	awk 'NR == 1 {
		for (i = 3; i <= NF; i++) {
			if ($i == "outstanding")
				first = i - 2
			if ($i == "oldest_ms")
				last = i - 2
		}
		next
	}
	{
		for (i = first; i <= last; i++)
			if ($i !~ /^[0-9]+$/ || length($i) > 15) {
				print
				next
			}
	}' "$LT/sites"
}

# dropped: how many samples leaktrend had no room for. skipped_nested is not among
# them: what is allocated for a sample (by page_owner, for one) is never a test's.
dropped() {
	local k sum=0

	for k in memory stack sites; do
		sum=$((sum + $(status_get "dropped_$k")))
	done
	echo $sum
}

# result NAME: pass or fail by what has been wanted since the last one.
result() {
	if [ -z "$WHY" ]; then
		ktap_test_pass "$1"
	else
		ktap_print_msg "$1: $WHY"
		ktap_test_fail "$1"
	fi
	WHY=
}

# The last test of most: what the kernel has logged since they began.
test_log() {
	local lines

	lines=$(splats)
	want "the kernel's log" "$lines" ""
	result "nothing broke"
}
