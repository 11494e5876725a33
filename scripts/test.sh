#!/usr/bin/env bash
# Runs every test there is, on both engines, with the browser and the office program, on a PostgreSQL of its own.
# Arguments are packages (all by default). RACE=1 adds the race detector, TEST_FLAGS any flags of go test.
# Copies of it may run side by side; whatever ends it, its processes end with it.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- ./...

job="" server="" work=$(mktemp -d)

finish() {
  local status=$?
  trap '' INT TERM HUP
  if [ -n "$job" ] && kill -TERM -- "-$job" 2>/dev/null; then
    for _ in {1..50}; do
      kill -0 -- "-$job" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL -- "-$job" 2>/dev/null || true
  fi
  [ -z "$server" ] || scripts/pg.sh stop "$server"
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# In a process group of its own, and waited for in the background: so a signal is acted on at once, and takes the
# browsers and servers that the tests have started with it.
run() {
  set -m
  "$@" </dev/null &
  job=$!
  set +m
  wait "$job"
}

# A copy of the repository that belongs to another user makes git, and so go build, refuse.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-buildvcs=false"
# Tests fail where something they need is missing, rather than make do without.
export COURSEBRIDGE_TEST_FULL=1

run scripts/packages.sh
run scripts/pg.sh start --owner $$ >"$work/server"
read -r server COURSEBRIDGE_TEST_POSTGRES <"$work/server"
export COURSEBRIDGE_TEST_POSTGRES

run go vet "$@"
run go build -o "$work/tally" ./scripts/tally
read -ra flags <<<"${TEST_FLAGS:-}"
[ -z "${RACE:-}" ] || flags+=(-race)
# go vet has run above, on more than go test would have it look at.
run "$work/tally" -count=1 -vet=off -timeout=9m "${flags[@]}" "$@"
