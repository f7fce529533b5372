# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# record, on a directory that changes as debugfs does.

fake=$SCRATCH/debugfs

# show COPY: from now on it is this moment. A link is changed in one step, so no
# round is seen half, unless a test wants that.
show() {
	ln -s "$1" "$SCRATCH/next"
	mv -T "$SCRATCH/next" "$fake"
}

# wait_for COMMAND…: ten seconds at most, under valgrind a minute.
wait_for() {
	local i

	for ((i = 0; i < (${#WRAP[@]} ? 600 : 100); i++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

# rounds FILE: the numbers of those in it.
rounds() {
	"${BUILT}tests/mklog" --rounds "$1" 2>&1 | xargs
}

has_rounds() {
	[[ $(rounds "$1") == "$2" ]]
}

says() {
	grep -q "$1" "$SCRATCH/rec.err"
}

# begin ARGUMENT…: record in the background, as PID.
begin() {
	"${WRAP[@]}" "$TOOL" record --debugfs "$fake" "$@" >"$SCRATCH/rec.out" 2>"$SCRATCH/rec.err" &
	PID=$!
}

# finish [SIGNAL]: end it; its status is in RC, what it said in OUT and ERR.
finish() {
	kill -"${1:-TERM}" "$PID"
	RC=0
	wait "$PID" 2>/dev/null || RC=$?
	OUT=$(<"$SCRATCH/rec.out")
	ERR=$(<"$SCRATCH/rec.err")
	[[ $RC != 99 ]] || not_ok "valgrind has nothing to say: $ERR"
}

# Rounds in quick succession, so that it looks often.
for i in 01 02 03 04 05 06 07 08 09 10 11 12; do
	cp -r "$DATA/leak/$i" "$SCRATCH/$i"
	sed -i 's/^interval_ms: .*/interval_ms: 1000/' "$SCRATCH/$i/leaktrend/status"
	[[ ! -e $SCRATCH/$i/leaktrend/interval_ms ]] || echo 1000 >"$SCRATCH/$i/leaktrend/interval_ms"
done

# --- rounds

file=$SCRATCH/rounds.lt
show "$SCRATCH/01"
begin -o "$file"
succeeds "record: the round that has just ended" wait_for has_rounds "$file" 1
show "$SCRATCH/02"
succeeds "record: the next" wait_for has_rounds "$file" "1 2"
sleep 0.5
show "$SCRATCH/04"
succeeds "record: one that comes later" wait_for has_rounds "$file" "1 2 4"
is "record: none twice" "1 2 4" "$(rounds "$file")"
tool record -o "$file" --debugfs "$fake"
failed "record: two at once" 'another leaktrend is recording to it'
finish INT
is "record: SIGINT ends it" "0 " "$RC $ERR"
like "record: says what it has done" "$OUT" "^$file: 3 rounds in .*, [0-9.]+ KiB$"

begin -o "$file"
show "$SCRATCH/05"
wait_for has_rounds "$file" "1 2 4 5"
finish
is "record: goes on with a file, without a round that is there" "0 1 2 4 5" "$RC $(rounds "$file")"
tool sites -f "$file" --json
recorded=$(python3 -c 'import json, sys
print([sorted(s.items()) for s in json.load(sys.stdin)["sites"] if s.pop("stack", 0) and [s.pop(k, 0) for k in ("trend",)]])' <<<"$OUT")
tool sites --debugfs "$SCRATCH/05" --json
copied=$(python3 -c 'import json, sys
print([sorted(s.items()) for s in json.load(sys.stdin)["sites"] if s.pop("stack", 0) and [s.pop(k, 0) for k in ("trend",)]])' <<<"$OUT")
is "record: what is recorded is what was there" "$copied" "$recorded"

rm "$file"
show "$SCRATCH/12"
begin -o "$file"
wait_for has_rounds "$file" 12
finish
tool trends -f "$file"
unlike "record: every stack is there" "$OUT" '\? \('
is "record: suspects have their evidence" "$(tool suspects --debugfs "$SCRATCH/12"; grep -c '^   held' <<<"$OUT")" \
	"$(tool suspects -f "$file"; grep -c '^   held' <<<"$OUT")"

# --- its bounds

tool record -o "$file" --debugfs "$fake" --for 1
is "record: --for ends it" 2 "$RC"
like "record: that there was no round is an error, and what to do" "$ERR" \
	'no round was recorded: none ended in 1.*s, and they take 1\.0 s each; record for longer, or'
is "record: a file that was there before stays" 12 "$(rounds "$file")"
cp -r "$SCRATCH/12" "$SCRATCH/zero"
sed -i 's/^rounds: .*/rounds: 0/' "$SCRATCH/zero/leaktrend/status"
show "$SCRATCH/zero"
tool record -o "$SCRATCH/none.lt" --debugfs "$fake" --for 1
is "record: a file without a round is not left behind" "2 no" "$RC $([[ -e $SCRATCH/none.lt ]] && echo yes || echo no)"

rm "$file"
show "$SCRATCH/01"
begin -o "$file" --interval 3
wait_for has_rounds "$file" 1
show "$SCRATCH/02"
sleep 0.5
show "$SCRATCH/03"
wait_for has_rounds "$file" "1 3"
finish
is "record: --interval leaves rounds out" "1 3" "$(rounds "$file")"

# --- clear, standby, and files that cannot be read

rm "$file"
show "$SCRATCH/03"
begin -o "$file"
wait_for has_rounds "$file" 3
cp -r "$SCRATCH/03" "$SCRATCH/cleared"
echo 99 >"$SCRATCH/cleared/leaktrend/clear"
show "$SCRATCH/cleared"
succeeds "record: the same number after a clear is another round" wait_for has_rounds "$file" "3 3"
cp -r "$SCRATCH/cleared" "$SCRATCH/away"
sed -i 's/^state: on$/state: standby/' "$SCRATCH/away/leaktrend/status"
show "$SCRATCH/away"
sleep 1.5
show "$SCRATCH/cleared"
succeeds "record: standby is waited for" wait_for has_rounds "$file" "3 3 3"
cp -r "$SCRATCH/04" "$SCRATCH/bad"
sed -i '3s/ [0-9]*$/ x/' "$SCRATCH/bad/leaktrend/sites"
show "$SCRATCH/bad"
succeeds "record: what cannot be read is said" wait_for says 'sites:3: bad value'
show "$SCRATCH/05"
succeeds "record: and does not end it" wait_for has_rounds "$file" "3 3 3 5"
finish
is "record: a lost round is an error in the end" 2 "$RC"
like "record: it is said that it goes on" "$ERR" '^leaktrend: recording goes on; lost so far: 1 round$'
is "record: an error is said once" 1 "$(grep -c 'sites:3' <<<"$ERR")"

# A round that ends while it is read: the status is that of the next one, while
# sites is still being written.
mkdir "$SCRATCH/moving"
cp -r "$SCRATCH/06/." "$SCRATCH/moving"
rm "$SCRATCH/moving/leaktrend/sites"
mkfifo "$SCRATCH/moving/leaktrend/sites"
show "$SCRATCH/05"
begin -o "$SCRATCH/moving.lt"
wait_for has_rounds "$SCRATCH/moving.lt" 5
show "$SCRATCH/moving"
# The reader of the fifo is it; by then it has read the status of round 6.
timeout 60 bash -c "exec >'$SCRATCH/moving/leaktrend/sites'; cp '$SCRATCH/07/leaktrend/status' '$SCRATCH/moving/leaktrend/status'; cat '$SCRATCH/06/leaktrend/sites'"
timeout 60 bash -c "cat '$SCRATCH/07/leaktrend/sites' >'$SCRATCH/moving/leaktrend/sites'"
succeeds "record: a round that ends while it is read is read again" wait_for has_rounds "$SCRATCH/moving.lt" "5 7"
finish

# --- crash

rm "$file"
show "$SCRATCH/01"
begin -o "$file"
wait_for has_rounds "$file" 1
finish KILL
is "record: killed" 137 "$RC"
is "record: after that the file is whole" 1 "$(rounds "$file")"
printf '\xf1LT\nD and no more' >>"$file"
show "$SCRATCH/02"
begin -o "$file"
wait_for has_rounds "$file" "1 2"
finish
is "record: a torn tail is cut off, and that is said" "0 leaktrend: note: $file: the last 17 bytes were no whole round, and are cut off" \
	"$RC $ERR"
is "record: and what is before and behind it is there" "1 2" "$(rounds "$file")"

# Kills at random while rounds come fast: whatever is left can be read, and the
# rounds are in order.
rm "$file"
for i in 01 02 03 04 05 06 07 08 09 10 11 12; do
	show "$SCRATCH/$i"
	begin -o "$file"
	sleep "0.0$((RANDOM % 10))"
	{ finish KILL; } 2>/dev/null
done
show "$SCRATCH/12"
begin -o "$file"
ends_with() { [[ $(rounds "$1") == *$2 ]]; }
wait_for ends_with "$file" 12
finish
got=$(rounds "$file")
is "record: killed again and again, no round is wrong or twice" "$(tr ' ' '\n' <<<"$got" | sort -nu | xargs)" "$got"
tool suspects -f "$file"
is "record: and nothing is damaged" "0 " "$RC $ERR"

# --- full disk

rm "$file"
show "$SCRATCH/01"
(
	# In blocks of 1 KiB: room for the first round, not for many more.
	ulimit -f 8
	exec "${WRAP[@]}" "$TOOL" record --debugfs "$fake" -o "$file" >"$SCRATCH/rec.out" 2>"$SCRATCH/rec.err"
) &
PID=$!
wait_for has_rounds "$file" 1
cp -r "$SCRATCH/12" "$SCRATCH/large"
# Too much for what is left: names that do not compress.
awk 'NR == 1 { print; next } { line = $0 }
	END {
		$0 = line
		for (n = 0; n < 1000; n++) {
			$1 = n
			$5 = sprintf("c%d%d%d", rand() * 1e9, rand() * 1e9, rand() * 1e9)
			print
		}
	}' "$DATA/leak/12/leaktrend/sites" >"$SCRATCH/large/leaktrend/sites"
show "$SCRATCH/large"
succeeds "record: a full disk is said" wait_for says "cannot write $file: File too large"
is "record: and leaves no half round" 1 "$(rounds "$file")"
cp -r "$SCRATCH/01" "$SCRATCH/small"
sed -i 's/^rounds: .*/rounds: 13/' "$SCRATCH/small/leaktrend/status"
sed -i '3,$d' "$SCRATCH/small/leaktrend/sites"
: >"$SCRATCH/small/leaktrend/trends"
: >"$SCRATCH/small/leaktrend/suspects"
show "$SCRATCH/small"
succeeds "record: it goes on when there is room again" wait_for has_rounds "$file" "1 13"
finish
is "record: rounds were lost, so it ends with an error" 2 "$RC"
like "record: and says how many" "$ERR" '^leaktrend: 1 round could not be recorded$'
fails "record: a full disk at the beginning" 'cannot write /dev/full: it is no ordinary file|no ordinary file' \
	record --debugfs "$fake" -o /dev/full
if ((EUID == 0)) && mkdir "$SCRATCH/tiny" && mount -t tmpfs -o size=8k none "$SCRATCH/tiny" 2>/dev/null; then
	head -c 8192 /dev/zero >"$SCRATCH/tiny/fill"
	fails "record: no room at all" 'No space left' record --debugfs "$fake" -o "$SCRATCH/tiny/x.lt"
	is "record: and no file is left" fill "$(ls "$SCRATCH/tiny")"
	rm "$SCRATCH/tiny/fill"
	show "$SCRATCH/01"
	begin -o "$SCRATCH/tiny/x.lt"
	wait_for has_rounds "$SCRATCH/tiny/x.lt" 1
	show "$SCRATCH/large"
	wait_for says 'No space left'
	show "$SCRATCH/small"
	succeeds "record: a disk that was full" wait_for has_rounds "$SCRATCH/tiny/x.lt" "1 13"
	finish
	umount "$SCRATCH/tiny"
else
	skip "only root may mount a tmpfs" "record: a disk without room"
fi

# --- rotation

rm -f "$file"*
show "$SCRATCH/01"
begin -o "$file" --keep 2
wait_for has_rounds "$file" 1
for i in 02 03 12; do
	kill -HUP "$PID"
	show "$SCRATCH/$i"
	wait_for has_rounds "$file" $((10#$i))
done
finish
is "record: SIGHUP rotates" "12 / 3 / 2" "$(rounds "$file") / $(rounds "$file.1") / $(rounds "$file.2")"
is "record: --keep removes the oldest" "" "$(ls "$file.3" 2>/dev/null)"
is "record: files can be put together" "2 3 12" "$(cat "$file.2" "$file.1" "$file" >"$SCRATCH/all"; rounds "$SCRATCH/all")"
tool trends -f "$file"
unlike "record: a new file has all stacks" "$OUT" '\? \('

rm -f "$file"*
show "$SCRATCH/01"
begin -o "$file"
wait_for has_rounds "$file" 1
mv "$file" "$file.moved"
kill -HUP "$PID"
wait_for test -e "$file"
show "$SCRATCH/02"
wait_for has_rounds "$file" 2
finish
is "record: SIGHUP after another program has renamed it" "1 / 2 / no" \
	"$(rounds "$file.moved") / $(rounds "$file") / $([[ -e $file.1 ]] && echo yes || echo no)"

rm -f "$file"*
show "$SCRATCH/01"
begin -o "$file" --rotate 1K
for i in 01 02 03 04; do
	show "$SCRATCH/$i"
	wait_for has_rounds "$file" $((10#$i))
done
finish
is "record: --rotate" "4 3 2 1" "$(xargs <<<"$(for i in "" .1 .2 .3; do rounds "$file$i"; done)")"

# --- what it refuses

fails "record: no file named" 'record: it needs -o FILE; see' record --debugfs "$fake"
fails "record: to standard output" 'to a file only' record --debugfs "$fake" -o -
fails "record: a directory that is not there" 'cannot write .*: No such file' record --debugfs "$fake" -o "$SCRATCH/none/x"
cp /bin/sh "$SCRATCH/something"
fails "record: to something else" 'was not recorded by leaktrend' record --debugfs "$fake" -o "$SCRATCH/something"
succeeds "record: which stays as it was" cmp /bin/sh "$SCRATCH/something"
cp "$SCRATCH/01/leaktrend/sites" "$SCRATCH/precious"
fails "record: to a text" 'copy of a file of debugfs' record --debugfs "$fake" -o "$SCRATCH/precious"
succeeds "record: which stays as it was" cmp "$SCRATCH/01/leaktrend/sites" "$SCRATCH/precious"
fails "record: standby" 'standby, nothing is tracked' record --debugfs "$SCRATCH/away" -o "$SCRATCH/standby.lt"
fails "record: bad duration" '"1y" is no duration' record -o x --for 1y
is "record: no file after that" "" "$(ls "$SCRATCH/standby.lt" x 2>/dev/null)"

# --- progress

if command -v script >/dev/null; then
	rm -f "$file"*
	show "$SCRATCH/12"
	shown=$(script -qec "stty cols 60; $TOOL record --debugfs $fake -o $file --for 2" /dev/null </dev/null)
	like "record: progress on a terminal" "$shown" '1 round, .*suspects?, up to LIKELY_LEAK'
	longest=$(tr '\r' '\n' <<<"$shown" | sed 's/\x1b\[K//g' | grep -v "^$file" | wc -L)
	succeeds "record: a line of it fits the terminal" test "$longest" -lt 60
else
	skip "script is not installed" "record: progress on a terminal"
fi
