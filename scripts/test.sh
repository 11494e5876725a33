#!/usr/bin/env bash
# Runs all tests, on both engines, with a browser and an office program, on a PostgreSQL server that it starts itself.
# The program's own packages run under the race detector; the black-box suites, which start the built program, do not.
#
# Arguments are packages (all by default). With packages or RACE set, there is one run: RACE=1 turns the race detector
# on for all of it, RACE=0 turns it off. TEST_FLAGS adds flags of go test.
# Several copies may run at the same time. However a copy ends, the processes that it started end with it.
set -euo pipefail
cd "$(dirname "$0")/.."

job="" server="" work=$(mktemp -d) files=""

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
  rm -rf "$work" "$files"
  exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# run starts a command in a process group of its own and waits for it in the background, so that a signal is handled at
# once and also reaches the browsers and servers that the tests have started.
run() {
  set -m
  "$@" </dev/null &
  job=$!
  set +m
  wait "$job"
}

# git, and so go build, refuses to work in a copy of the repository that belongs to another user.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-buildvcs=false"
# With this set, a test fails if something it needs is missing.
export COURSEBRIDGE_TEST_FULL=1

# What the tests write is in memory if there is plenty: databases, programs that they build, and what the processes of the
# browser share. Nothing there depends on a disk but the time that it takes. The work of the compiler stays on the disk,
# because it keeps the test program of every package.
if [ "$(scripts/memory.sh)" -ge 6 ]; then
  export GOTMPDIR=$work
  for left in /dev/shm/coursebridge-test.*; do # by copies that were killed
    owner=${left#*test.}
    [ ! -d "$left" ] || kill -0 "${owner%.*}" 2>/dev/null || rm -rf "$left"
  done
  files=$(mktemp -d "/dev/shm/coursebridge-test.$$.XXXXXX")
  chmod 755 "$files" # PostgreSQL's account enters it
  export TMPDIR=$files
fi

run scripts/packages.sh
run scripts/pg.sh start --owner $$ >"$work/server"
read -r server COURSEBRIDGE_TEST_POSTGRES <"$work/server"
export COURSEBRIDGE_TEST_POSTGRES

# The race detector needs a C compiler. The packages below work on memory that no code of ours shares, and are left out of
# it because they would take most of the time: SQLite, which is C translated to Go (237 s of processor time instead of 30 s
# for internal/publicapi), the hashing of passwords, what packs and searches text (33 s instead of 13 s for internal/sheet,
# 31 s instead of 9 s for the three longest tests of internal/cabinet), and what reads the arguments of commands (50 s
# instead of 47 s for cmd/coursebridge). A package that uses sync.Map must not be among them: the linker may take its copy
# of that code for the whole program, and then every use looks like a race.
unshared=(modernc.org/... golang.org/x/crypto/... golang.org/x/net/html/... github.com/alecthomas/kong/... regexp/... compress/flate bufio)
race=()
if command -v "$(go env CC)" >/dev/null; then
  race=(-race)
  for package in "${unshared[@]}"; do
    race+=("-gcflags=$package=-race=false")
  done
elif [ "${RACE:-}" = 1 ]; then
  echo 'test.sh: RACE=1 needs a C compiler (Debian: apt-get install gcc libc6-dev)' >&2
  exit 1
elif [ -z "${RACE:-}" ]; then
  echo 'test.sh: there is no C compiler, so the tests run without the race detector' >&2
fi

read -ra flags <<<"${TEST_FLAGS:-}"
# go vet runs below, with more checks than go test would run.
flags=(-count=1 -vet=off -timeout=20m "${flags[@]}")
if [ $# -eq 0 ] && [ -z "${RACE:-}" ]; then
  # Both groups run at once: neither keeps two processors busy by itself, the second because it waits for browsers and
  # servers. Its packages run one at a time. The longest packages are named first, so that none of them runs alone at
  # the end.
  longest=(./internal/store/storetest ./internal/service ./internal/cabinet ./cmd/... ./internal/publicapi ./internal/store/postgres)
  groups=("${flags[@]}" "${race[@]}" "${longest[@]}" ./api/... ./client/... ./internal/... -- "${flags[@]}" -p=1 ./scripts/... ./test/...)
else
  [ "${RACE:-0}" = 1 ] && flags+=("${race[@]}")
  groups=("${flags[@]}" "${@:-./...}")
fi

run go vet "${@:-./...}"
run go build -o "$work/tally" ./scripts/tally
run "$work/tally" "${groups[@]}"
