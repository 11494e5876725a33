#!/usr/bin/env bash
# Upgrades two replicas behind HAProxy, under load, from the programs of earlier commits to this one. A request that fails
# fails it. Arguments are commits; the default is the last one before a schema named the oldest program that may run on it.
# RUNS repeats each upgrade (3 times by default).
set -euo pipefail
cd "$(dirname "$0")/.."

readonly first=1b9465b
[ $# -gt 0 ] || set -- "$first"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for commit in "$@"; do
  if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
    echo "upgrade.sh: this copy of the repository has no history with $commit, so there is no older program to upgrade from" >&2
    echo "upgrade.sh: run it in a full clone (git fetch --unshallow)" >&2
    exit 1
  fi
  mkdir -p "$work/$commit"
  git archive "$commit" | tar -x -C "$work/$commit"
  (cd "$work/$commit" && go build -buildvcs=false -o "$work/$commit.program" ./cmd/coursebridge)
  printf 'upgrade.sh: from %s\n' "$(git log -1 --format='%h of %cs' "$commit")"
  COURSEBRIDGE_TEST_OLD_PROGRAM="$work/$commit.program" \
    TEST_FLAGS="-v -count=${RUNS:-3} -run=^TestRollingUpgradeBehindHAProxy$" scripts/test.sh ./test/faults
done
