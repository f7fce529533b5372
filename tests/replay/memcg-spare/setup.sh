#!/bin/bash
# The memory controller in a hierarchy of cgroups of the first version. Each
# threshold waits for RCU: not as long as usual.

set -e
echo 1 >/sys/kernel/rcu_expedited
mkdir /memory
mount -t cgroup -o memory memory /memory
