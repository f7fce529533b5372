#!/bin/bash
# A default route of IPv6, over a device that drops all. The kernel makes one of
# these at boot.

set -e
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
ip link set dummy0 up
ip -6 addr add fd00::1/64 dev dummy0
ip -6 route add default dev dummy0
