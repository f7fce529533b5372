#!/usr/bin/env bash
# scripts/vm and "make vm" do what scripts build upon: output comes byte for
# byte and apart from the kernel's messages, the exit status is the command's,
# quoting survives, a guest that dies or hangs is told from one that fails.

# shellcheck disable=SC2016 # it is the guest that shall expand

. "$(dirname "$0")/lib.sh"
scratch_dir
export TREE=base TAIL=5
unset CMD APPEND
need "the unpatched kernel builds" scripts/build

# guest COMMAND: sets out, err and rc.
guest() {
	rc=0
	CMD=$1 scripts/vm >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null || rc=$?
	out=$(<"$SCRATCH/out") err=$(<"$SCRATCH/err")
}

guest 'echo to stdout; echo to stderr >&2; exit 37'
same "stdout is the command's, and nothing else" "to stdout" "$out"
same "stderr is the command's, and nothing else" "to stderr" "$err"
same "the exit status is the command's" 37 "$rc"
guest 'true'
same "success is success" 0 "$rc"
same "no output is no output" "" "$out$err"
guest 'printf "a\r\nb\t\001\377\n\n"; printf end'
same "bytes come as they are" "$(printf 'a\r\nb\t\001\377\n\nend' | od -c)" "$(od -c <"$SCRATCH/out")"
guest 'head -c 3000000 /dev/zero | tr "\0" x'
same "a lot of output comes in full" 3000000 "$(wc -c <"$SCRATCH/out")"
guest "echo 'single \$HOME' \"double \$((6*7))\" \`echo backtick\` # comment
echo second \\\\ line"
same "quotes, dollars, hashes and newlines survive" $'single $HOME double 42 backtick\nsecond \\ line' "$out"
guest 'echo x >/dev/stderr; echo y >/dev/stdout'
same "/dev/stdout and /dev/stderr can be opened" $'y\nx' "$out"$'\n'"$err"
guest 'sleep 1000 & echo left behind'
same "a process left behind does not keep the guest" "0 left behind" "$rc $out"
APPEND="leaktrend_test_word=1" guest 'cat /proc/cmdline'
contains "default and extra kernel parameters" "$out" 'page_owner=on leaktrend=on.*leaktrend_test_word=1'
NOPARAMS=1 guest 'cat /proc/cmdline'
same "NOPARAMS=1 leaves the default ones out" "" "$(grep -e leaktrend= -e page_owner= "$SCRATCH/out")"
CPUS=3 MEM=700 guest 'nproc; awk "/MemTotal/ { print (\$2 > 600000 && \$2 < 716800) }" /proc/meminfo'
same "CPUS= and MEM=" $'3\n1' "$out"

mkdir -p "$SCRATCH/extra/etc" "$SCRATCH/back"
echo from host >"$SCRATCH/extra/etc/extra"
EXTRA=$SCRATCH/extra OUT=$SCRATCH/back guest 'mkdir /out/sub; { cat /etc/extra; echo from guest; } >/out/sub/file'
same "files go in and come back" $'from host\nfrom guest' "$(cat "$SCRATCH/back/sub/file")"

LOG=$SCRATCH/log guest 'echo c >/proc/sysrq-trigger; sleep 100'
same "a panic: status 125" 125 "$rc"
contains "a panic: said" "$err" "^vm: the guest's kernel panicked"
contains "a panic: the log is kept" "$(cat "$SCRATCH/log")" 'Kernel panic - not syncing: sysrq triggered crash'
contains "a panic: the log's end is shown" "$err" 'end Kernel panic|</TASK>|Kernel Offset'
guest 'reboot -f'
same "a guest that goes away: status 125" 125 "$rc"
contains "a guest that goes away: said" "$err" '^vm: the guest ended without a status'
TIMEOUT=8 guest 'while :; do :; done'
same "a hang: status 124" 124 "$rc"
contains "a hang: said" "$err" '^vm: time is up'
KIMAGE=/nonexistent guest true
same "no kernel image: status 2" 2 "$rc"
contains "no kernel image: says what to do" "$err" 'no kernel /nonexistent; build it'
QEMU_ARGS=-nonesuch guest true
same "QEMU does not start: status 2" 2 "$rc"

# Two at once.
(CMD='sleep 1; echo one' scripts/vm >"$SCRATCH/one" 2>&1) &
(CMD='sleep 1; echo two' scripts/vm >"$SCRATCH/two" 2>&1) &
wait
same "two guests at a time" "one two" "$(cat "$SCRATCH/one") $(cat "$SCRATCH/two")"

# Through make, which has an own idea of dollars, hashes and quotes.
out=$(make -s vm CMD='echo "$HOME" '"'\$(shell echo no) #1'"' $((40 + 2)) \\ # none
echo "$(echo two)"; exit 3' 2>"$SCRATCH/err") && rc=0 || rc=$?
same "make vm: the command arrives as typed" $'/root $(shell echo no) #1 42 \\\ntwo' "$out"
same "make vm: failure is make's status 2" 2 "$rc"
contains "make vm: the real status is said" "$(cat "$SCRATCH/err")" '^vm: exit status 3'
done_testing
