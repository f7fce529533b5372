#!/bin/bash
# Memory with holes half the size of the largest block of the page allocator:
# `clear` must forget the pages behind each of them, too. Prints how many pages
# are freed at the site that has most of it after that; those of a file that was
# there before must not be among them.

lt=/sys/kernel/debug/leaktrend
mkdir /big
mount -t tmpfs -o size=100% big /big
echo 86400000 >$lt/interval_ms
head -c 300M /dev/zero >/big/file
echo 1 >$lt/clear
rm /big/file
echo 1 >$lt/scan
awk 'NR > 1 && $10 > most { most = $10 } END { print most + 0 }' $lt/sites
