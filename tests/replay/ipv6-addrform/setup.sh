#!/bin/bash
# Only a router may join an anycast group that is not of its own networks.

echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
