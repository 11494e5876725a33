#!/usr/bin/env bash
# Runs the benchmarks on SQLite and on a private PostgreSQL that writes to disk as in production. Arguments are packages
# (the load suite, the store, its caches, the dispatcher and the encoding of answers by default). BENCH selects benchmarks by name,
# BENCH_FLAGS adds flags of go test.
# The figures of the load suite are printed as one table and written to bench/latest.json, which is not committed: figures are
# those of one machine. A verdict that names a time in brackets would be another one by the other time.
#
# BENCH_FORM=short takes three minutes on a quiet machine once the program is built: growth to 500,000 assignments with fewer
# requests, bulks and 15 seconds of mixed load. BENCH_FORM=full takes half an hour: growth to 5,000,000 assignments, five minutes
# of mixed load, bulks, point reads and provisioning against references, 16 writers with and without kept totals, webhooks. Both
# are on PostgreSQL; with BENCH they set only sizes and times. Without a form everything runs on both engines, for more than
# an hour: growth to 1,000,000 assignments (500,000 on SQLite), a minute of mixed load, reports, imports and pages of the cabinet.
#
# To compare with another version, check it out elsewhere and run
#   COURSEBRIDGE_BENCH_OTHER=/path/to/checkout BENCH=Compare make bench
# which runs the same requests on both programs alternately and prints the ratios, by wall and by processor time. Webhooks are
# sent by both programs at the same time.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${BENCH_FORM:-}" in
  short) BENCH=${BENCH:-'^Benchmark(Growth|BulkPostgres|Mixed)$/^postgres$'} ;;
  full) BENCH=${BENCH:-'^Benchmark(Growth|Mixed|BulkPostgres|Employee|Provision|KeptTotals|Drain|Latency)$/^(postgres|row|whole)$'} ;;
  '') ;;
  *)
    echo "BENCH_FORM is short or full, not $BENCH_FORM" >&2
    exit 1
    ;;
esac
if [ -n "${BENCH_FORM:-}" ]; then
  BENCH_FLAGS="-benchtime=1x ${BENCH_FLAGS:-}"
  [ $# -gt 0 ] || set -- ./test/load/...
fi
[ $# -gt 0 ] || set -- ./test/load/... ./internal/store ./internal/service ./internal/delivery ./internal/publicapi ./api/v1

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
read -ra flags <<<"${BENCH_FLAGS:-}"
go test -run '^$' -bench "${BENCH:-.}" -benchmem -timeout=2h "${flags[@]}" "$@"
