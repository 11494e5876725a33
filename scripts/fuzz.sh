#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (20s by default). go test accepts only one target of one package at a time.
set -euo pipefail
cd "$(dirname "$0")/.."

{ grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . || true; } | sort | while IFS=: read -r file func; do
  go test -run '^$' -fuzz "^${func#func }\$" -fuzztime "${FUZZTIME:-20s}" "$(dirname "$file")" </dev/null
done
