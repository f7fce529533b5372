#!/usr/bin/env bash
# The boot test again, in a kernel that finds its own bugs: KASAN, lockdep,
# atomic-sleep checks, object debugging.

CONFIG=debug TIMEOUT=1800 exec bash "$(dirname "$0")/60-boot.sh"
