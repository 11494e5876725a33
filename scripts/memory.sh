#!/usr/bin/env bash
# Prints how many GB the files of tests may take in /dev/shm: what is free there, but at most half of the memory that is
# left to this machine or container. Prints 0 where that is unknown.
set -euo pipefail

free=$(df --output=avail --block-size=1G /dev/shm 2>/dev/null | tail -n 1) || free=0
left=$(awk '/^MemAvailable:/ { print int($2 / 1024 / 1024) }' /proc/meminfo 2>/dev/null) || left=0
# The second pair belongs to cgroups' first version, where no limit is a huge number.
for pair in memory.max:memory.current memory/memory.limit_in_bytes:memory/memory.usage_in_bytes; do
  limit=$(cat "/sys/fs/cgroup/${pair%:*}" 2>/dev/null) || continue
  [ "$limit" != max ] || continue
  container=$(((limit - $(cat "/sys/fs/cgroup/${pair#*:}")) >> 30))
  [ "$container" -ge "$left" ] || left=$container
done
half=$((left / 2))
echo $((free < half ? free : half))
