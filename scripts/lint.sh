#!/usr/bin/env bash
# Everything that reads the code without running it. Needs npm, for the linter of the contract and for the assets.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
  printf '== %s\n' "$1"
  shift
  "$@"
}

# Every package.json that has a lint script: the contract's linter, the checks of styles and scripts.
npm_lint() {
  local manifest
  find . -name node_modules -prune -o -name package.json -print | sort | while read -r manifest; do
    grep -q '"lint":' "$manifest" || continue
    (cd "$(dirname "$manifest")" && npm ci --no-audit --no-fund --silent && npm run --silent lint)
  done
}

# Every module: generators keep theirs, so that what they need stays out of the program's.
golangci() {
  local gomod
  find . -name node_modules -prune -o -name go.mod -print | sort | while read -r gomod; do
    (cd "$(dirname "$gomod")" &&
      go run "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$GOLANGCI_LINT" run ./...)
  done
}

step 'golangci-lint' golangci
step 'the house: imports, names, sizes' go test -count=1 ./test/house
step 'npm: the contract' npm_lint
step 'generated files are fresh' scripts/fresh.sh
