# shellcheck shell=bash
# For tests in the guest that need an ignore list. Sourced.

# ignore_load FILE: tells the kernel what a list as of leaktrend(1) ignore names, a
# function in each line, and behind a # why.
ignore_load() {
	local name

	while read -r name; do
		[[ -z $name ]] || echo "add $name" >/sys/kernel/debug/leaktrend/ignore ||
			die "cannot ignore $name"
	done < <(sed 's/[[:space:]]*#.*//' "$1")
}
