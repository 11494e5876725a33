#!/usr/bin/env bash
# Runs the benchmarks on SQLite and on a private PostgreSQL that writes to disk as in production. Arguments are packages
# (the load suite, the store, the dispatcher and the encoding of answers by default). BENCH selects benchmarks by name,
# BENCH_FLAGS adds flags of go test.
# The figures of the load suite are printed as one table and written to bench/latest.json, which is not committed: figures are
# those of one machine.
#
# BENCH_FORM=short takes about three minutes on a quiet machine: growth at 1,000,000 assignments, bulks and a mixed load, on
# PostgreSQL. BENCH_FORM=full takes about half an hour: every benchmark of the load suite once, growth at 5,000,000 assignments
# and five minutes of mixed load.
#
# To compare with another version, check it out elsewhere and run
#   COURSEBRIDGE_BENCH_OTHER=/path/to/checkout BENCH=Compare make bench
# which runs the same requests on both programs alternately and prints the ratios, by wall and by processor time.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- ./test/load/... ./internal/store ./internal/delivery ./internal/publicapi ./api/v1

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
mkdir -p bench
export COURSEBRIDGE_BENCH_RESULT="$PWD/bench/latest.json"
if [ "${BENCH_FORM:-}" = short ]; then
  BENCH=${BENCH:-'^Benchmark(Growth|BulkPostgres|Mixed)$'}
fi
if [ -n "${BENCH_FORM:-}" ]; then
  BENCH_FLAGS="-benchtime=1x ${BENCH_FLAGS:-}"
fi
read -ra flags <<<"${BENCH_FLAGS:-}"
go test -run '^$' -bench "${BENCH:-.}" -benchmem -timeout=2h "${flags[@]}" "$@"
