#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Lays the recorded data out in a directory, as it was in debugfs: files of blocks end
# with an empty line there, which a patch may not have.
#
# usage: data.sh DIR

set -e
mkdir -p "$1"
cp -r "$(dirname "$0")"/data/. "$1"
find "$1" \( -name suspects -o -name trends -o -name show_trends \) -exec sed -i '$s/$/\n/' {} +
