#!/usr/bin/env bash
# Runs the benchmarks on SQLite and on a private PostgreSQL that writes to disk as in production. Arguments are packages
# (the load suite, the store and the dispatcher by default). BENCH selects benchmarks by name, BENCH_FLAGS adds flags of go test.
#
# To compare with another version, check it out elsewhere and run
#   COURSEBRIDGE_BENCH_OTHER=/path/to/checkout BENCH=Compare make bench
# which runs the same requests on both programs alternately and prints the ratios, by wall and by processor time.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- ./test/load/... ./internal/store ./internal/delivery

server="" note=$(mktemp)
finish() {
  [ -z "$server" ] || scripts/pg.sh stop "$server"
  rm -f "$note"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

scripts/pg.sh start --durable --owner $$ >"$note"
read -r server COURSEBRIDGE_TEST_POSTGRES <"$note"
export COURSEBRIDGE_TEST_POSTGRES COURSEBRIDGE_TEST_FULL=1
read -ra flags <<<"${BENCH_FLAGS:-}"
go test -run '^$' -bench "${BENCH:-.}" -benchmem -timeout=2h "${flags[@]}" "$@"
