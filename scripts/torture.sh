#!/usr/bin/env bash
# Runs the random sequences of test/model, the random tests and the faults of PostgreSQL of test/faults, and the floods of
# test/security, for TORTURE each (10m by default; test/model per engine). It prints the seed first; SEED=number
# repeats the choices of a run, though not its timing. Arguments are flags of go test.
set -euo pipefail
cd "$(dirname "$0")/.."
export COURSEBRIDGE_TORTURE="${TORTURE:-10m}"
export COURSEBRIDGE_SEED="${SEED:-$(od -An -tu4 -N4 /dev/urandom | tr -d ' ')}"
printf 'SEED=%s TORTURE=%s\n' "$COURSEBRIDGE_SEED" "$COURSEBRIDGE_TORTURE"
TEST_FLAGS="-timeout=60m -run=^Test(Random|Mirrors|Employees|Floods|Failover|ReadReplica|FourReplicas|ConnectionsCut|PostgresOnAFull) $*" exec scripts/test.sh ./test/model ./test/faults ./test/security
