# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# top: what is on the screen, in a terminal of tmux.

last=$DATA/leak/12
rows=24

fails "top: a pipe is no terminal" 'it takes a terminal' top --debugfs "$last"
fails "top: an interval that is none" 'from 1 second to a day' top -i 0

mux() { tmux -L "leaktrend$$" -f /dev/null "$@"; }

# screen PATTERN: waits until a line is like this; the screen is in OUT.
screen() {
	local i

	for ((i = 0; i < 100; i++)); do
		OUT=$(mux capture-pane -p 2>/dev/null)
		! grep -E -q -e "$1" <<<"$OUT" || return 0
		sleep 0.1
	done
	return 1
}

# shows NAME PATTERN
shows() {
	if screen "$2"; then
		ok "$1"
	else
		not_ok "$1"
		comment "no line like $2 on the screen:"
		comment "$OUT"
	fi
}

if ! command -v tmux >/dev/null; then
	skip "tmux is not installed" "top: the screen"
elif "$TOOL" top --debugfs "$last" 2>&1 </dev/null | grep -q 'built without ncurses'; then
	skip "built without ncurses" "top: the screen"
else
	cp -r "$last" "$SCRATCH/live"
	# What is left of the terminal afterwards is looked at, too.
	mux new-session -d -x 80 -y $rows "bash --norc"
	mux send-keys "PS1='ready> '; clear" Enter
	screen '^ready> $'
	mux send-keys "$TOOL top -i 1 --debugfs $SCRATCH/live; echo status \$?" Enter
	# It is drawn from above; the last line says that all is there.
	screen '^q quit '
	shows "top: the head" '^leaktrend  12 rounds  [0-9]+ sites  [0-9] suspects  by verdict$'
	like "top: the worst is first" "$(sed -n 3p <<<"$OUT")" "^LIKELY_LEAK +$LEAK_GROWTH +$LEAK_SIZE  .*  leaktrend_test_leak_a"
	like "top: its evidence" "$OUT" '^held    growth of '
	like "top: its stack" "$OUT" '^stack   leaktrend_test_leak_a\+0x'
	like "top: keys" "$(sed -n ${rows}p <<<"$OUT")" '^q quit '
	mux send-keys Down
	shows "top: the next site" "^site $(awk '/^site #/ { n++; gsub(/[#,]/, "", $2); if (n == 2) print $2 }' "$last/leaktrend/suspects"), "
	mux send-keys Enter
	screen '^NONE' && OUT=$(mux capture-pane -p)
	unlike "top: without detail" "$OUT" '^stack '
	mux send-keys s
	shows "top: another order" ' by growth'
	mux send-keys / 'lt_st*' Enter
	shows "top: a pattern" '  /lt_st\*$'
	is "top: and what it selects" 1 "$(grep -cE '^(LIKELY_LEAK|NONE|GROWING)' <<<"$(sleep 0.5; mux capture-pane -p)")"
	mux send-keys / Escape
	# Escape can begin a key: it is one by itself after a moment.
	sleep 1.5
	shows "top: no pattern" ' by growth$'
	# A new round.
	sed -i 's/^rounds: 12$/rounds: 13/' "$SCRATCH/live/leaktrend/status"
	shows "top: looks again" '^leaktrend  13 rounds'
	mux send-keys p
	shows "top: pauses" ' PAUSED$'
	sed -i 's/^rounds: 13$/rounds: 14/' "$SCRATCH/live/leaktrend/status"
	sleep 2
	OUT=$(mux capture-pane -p)
	like "top: and stays so" "$OUT" '^leaktrend  13 rounds'
	mux send-keys r
	shows "top: but looks when it is told to" '^leaktrend  14 rounds'
	mux send-keys p
	# What cannot be read for a moment is said, and what was known stays.
	mv "$SCRATCH/live/leaktrend/sites" "$SCRATCH/sites"
	shows "top: a file that is gone" 'cannot read .*/sites'
	mv "$SCRATCH/sites" "$SCRATCH/live/leaktrend/sites"
	shows "top: and is back" '^VERDICT'
	mux resize-window -x 40 -y 10
	shows "top: a small window" '^LIKELY_LEAK .* KiB  ▁$'
	is "top: has no more lines than that" 10 "$(mux capture-pane -p | wc -l)"
	mux resize-window -x 20 -y 4
	shows "top: too small a window" '^too small$'
	mux resize-window -x 80 -y $rows
	shows "top: a window that is large again" '^VERDICT +GROWTH'
	mux send-keys q
	shows "top: ends" '^status 0$'
	mux send-keys "clear; $TOOL top --debugfs $SCRATCH/live; echo status \$?; stty -a | grep -o '[-a-z]*icanon.* echo '" Enter
	screen '^VERDICT'
	pkill -TERM -f "^$TOOL top --debugfs $SCRATCH/live"
	shows "top: a signal ends it" '^status 0$'
	shows "top: and the terminal is as it was" '^icanon .* echo'
	mux send-keys "clear; TERM=nonsense $TOOL top --debugfs $SCRATCH/live; echo status \$?" Enter
	shows "top: a terminal that is not known" 'TERM=nonsense is no terminal'
	mux kill-server
fi
