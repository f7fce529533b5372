# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Whatever cannot be read has its own message that says what to do, exit status 2,
# and nothing on standard output.

last=$DATA/leak/12

# bad NAME COMMAND…: a copy in which COMMAND has been run.
bad() {
	local dir=$SCRATCH/$1

	cp -r "$last" "$dir"
	(cd "$dir/leaktrend" && "${@:2}")
	DIR=$dir
}

fails "no command" 'usage: leaktrend COMMAND'
fails "unknown command" 'no command "nonsense"; see leaktrend --help' nonsense
fails "an operand too many" 'takes no "x"' suspects x
fails "option without value" 'option -f needs a value' suspects -f
fails "bad kind" 'no kind "x"; there are slab, page' sites -k x
fails "bad verdict" 'no verdict "x"; there are NONE, ' sites -v growing,x
fails "bad size" '"8Q" is no size' sites -m 8Q
fails "size beyond 64 bits" 'is no size' sites -m 99999999999T
fails "bad sort key" 'no sort key' sites -s x
fails "top of nothing" 'would show nothing' sites -n 0
fails "bad --fail-on" 'no verdict of a suspect' check --fail-on none

# Where debugfs is not, or not for us. The kernel of the tests is not known.
fails "no such directory" 'neither debugfs nor a copy of it' status --debugfs "$SCRATCH/none"
mkdir "$SCRATCH/empty"
fails "a directory of something else" 'neither debugfs nor a copy of it' status --debugfs "$SCRATCH/empty"
bad off sh -c 'echo "state: off (boot with leaktrend=on or leaktrend=standby)" >status'
for command in status suspects trends sites check export collapse ignore; do
	fails "$command: off at boot" 'off on this machine until the next boot; boot it with' \
		"$command" --debugfs "$DIR"
done
bad standby sed -i 's/^state: on/state: standby/' status
for command in suspects trends sites check collapse; do
	fails "$command: standby" 'standby, nothing is tracked; switch it on with' "$command" --debugfs "$DIR"
done
bad version sed -i '1s/-v2 /-v3 /' sites
fails "sites of another version" 'of version 3, and this program knows version 2; use' sites --debugfs "$DIR"
bad foreign cp status sites
fails "sites is something else" 'sites:1: this is no header of sites' sites --debugfs "$DIR"
bad cut sh -c 'head -c -7 sites >x; mv x sites'
fails "sites is cut off" 'sites:[0-9]+: .*cut off here' sites --debugfs "$DIR"
bad line sed -i '5s/ [0-9]*$//' sites
fails "a line of sites is short" 'sites:5: the line has too few columns' sites --debugfs "$DIR"
bad word sed -i '5s/ [0-9]*$/ x/' sites
fails "a bad number in sites" 'sites:5: bad value of column "error_permille"' sites --debugfs "$DIR"
bad nosites rm sites
fails "sites is missing" 'cannot read .*/leaktrend/sites: No such file' sites --debugfs "$DIR"
bad block sh -c 'head -n 9 suspects >x; mv x suspects'
fails "suspects is cut off" 'suspects:9: the file ends within a block' suspects --debugfs "$DIR"
bad cleared sh -c 'echo "# cleared while this was read" >>sites'
tool sites --debugfs "$DIR"
like "a clear in between is said" "$RC $ERR" '^0 .*note: tracking was cleared'
fails "check: a clear in between" 'cleared while it was read; try again' check -v growing --debugfs "$DIR"

# Recorded files
fails "no such file" 'cannot open .*: No such file' suspects -f "$SCRATCH/none"
fails "a directory as file" 'is a directory; -f takes a recorded file' suspects -f "$SCRATCH"
fails "an empty file" 'the file is empty' suspects -f /dev/null
fails "a foreign file" 'was not recorded by leaktrend' suspects -f "$TOOL"
fails "a file of debugfs" 'a copy of a file of debugfs; -f takes' suspects -f "$last/leaktrend/sites"
head -c 5 "$RECORDED" >"$SCRATCH/begun"
fails "cut off in its first bytes" 'cut off in its first bytes' suspects -f "$SCRATCH/begun"
head -c 100 "$RECORDED" >"$SCRATCH/noround"
fails "cut off before the first round" 'has no round' suspects -f "$SCRATCH/noround"
sed '1s/LTREC1/LTREC9/' "$RECORDED" >"$SCRATCH/newer"
fails "of another version" 'another version of the format \(9\)' suspects -f "$SCRATCH/newer"
tool_stdin /dev/null suspects -f -
failed "empty standard input" 'standard input: the file is empty'

# Output
for command in export collapse; do
	fails "$command: a directory that is not there" 'cannot write .*: No such file' \
		"$command" --debugfs "$last" -o "$SCRATCH/none/x"
	"${WRAP[@]}" "$TOOL" "$command" --debugfs "$last" >/dev/full 2>"$SCRATCH/full"
	is "$command: a full disk" "2 leaktrend: cannot write standard output" \
		"$? $(grep -o ".*output" "$SCRATCH/full")"
done
tool export --debugfs "$SCRATCH/cut" -o "$SCRATCH/out.prom"
is "nothing is left of an output that failed" "2 " "$RC $(cd "$SCRATCH" && ls out.prom* 2>/dev/null)"

# Not root, as far as this user can be made so.
if ((EUID == 0)) && command -v setpriv >/dev/null; then
	cp -r "$last" "$SCRATCH/closed"
	chmod 755 "${SCRATCH%/*}" "$SCRATCH"
	chmod 700 "$SCRATCH/closed"
	run setpriv --reuid 65534 --clear-groups "$TOOL" status --debugfs "$SCRATCH/closed"
	failed "a copy that may not be read" 'Permission denied'
else
	skip "only root can become somebody else" "a copy that may not be read"
fi
