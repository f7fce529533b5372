# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Completion of leaktrend(8) for bash. Commands and options are those that the tool
# itself tells in its --help, so there is no list of them here to become wrong.

# _leaktrend_options TOOL COMMAND: a line per option, "--name" or "-n", and behind
# it what the help calls its value.
_leaktrend_options() {
	"$1" "$2" --help 2>/dev/null |
		sed -nE '/^options:/,$ s/^ {2}((-[A-Za-z]), | {4})(--[a-z-]+)( [A-Z]+)?( .*)?$/\3\4\n\2\4/p' |
		grep '^-'
}

# _leaktrend_value NAME: candidates for a value.
_leaktrend_value() {
	local words='' list=''

	case $1 in
	FILE | OUT | BASE | NEW)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	DIR)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	KIND) words="slab page" ;;
	CLASS)
		words="kernel reclaimable user page_table slab"
		list=1
		;;
	VERDICT)
		words="orphaned likely_leak growing cache_growth settled"
		[[ $prev == *fail-on || $prev == -e ]] || list=1
		;;
	KEY) words="verdict growth bytes outstanding age elders function site" ;;
	WHAT) [[ $command != collapse ]] || words="bytes outstanding growth" ;;
	esac
	if [[ $list && $cur == *,* ]]; then
		mapfile -t COMPREPLY < <(compgen -P "${cur%,*}," -W "$words" -- "${cur##*,}")
	else
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	fi
}

_leaktrend() {
	local tool=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev='' command='' value

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "--help --version $("$tool" --help 2>/dev/null |
			sed -nE '/^commands:/,/^$/ s/^ {2}([a-z]+) .*/\1/p')" -- "$cur")
		return
	fi
	command=${COMP_WORDS[1]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	# bash takes "--sort=by" for three words.
	if [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $cur == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 1]}
		cur=
	fi
	value=$(_leaktrend_options "$tool" "$command" | awk -v opt="$prev" '$1 == opt { print $2 }')
	if [[ $value ]]; then
		_leaktrend_value "$value"
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_leaktrend_options "$tool" "$command" |
			awk '{ print $1 }')" -- "$cur")
	elif [[ $command == ignore ]] && ((COMP_CWORD == 2)); then
		mapfile -t COMPREPLY < <(compgen -W "list add remove load save" -- "$cur")
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -F _leaktrend leaktrend
