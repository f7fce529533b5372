#!/bin/bash
# The memory controller in a hierarchy of cgroups of the first version.

set -e
mkdir /memory
mount -t cgroup -o memory memory /memory
