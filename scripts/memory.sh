#!/usr/bin/env bash
# Prints how many GB the files of tests may take in /dev/shm: what is free there, but at most half of the memory that is
# left to this machine or container. Prints 0 where that is unknown.
set -euo pipefail

free=$(df --output=avail --block-size=1G /dev/shm 2>/dev/null | tail -n 1) || free=0
left=$(awk '/^MemAvailable:/ { print int($2 / 1024 / 1024) }' /proc/meminfo 2>/dev/null) || left=0
limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null) || limit=max
if [ "$limit" != max ]; then
  container=$(((limit - $(cat /sys/fs/cgroup/memory.current)) >> 30))
  [ "$container" -ge "$left" ] || left=$container
fi
half=$((left / 2))
echo $((free < half ? free : half))
