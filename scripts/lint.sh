#!/usr/bin/env bash
# Runs all checks that read the code without running it. npm is needed for the contract's linter and for the assets.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
  printf '== %s\n' "$1"
  shift
  "$@"
}

# npm_lint runs the lint script of every package.json: the contract's linter and the checks of styles and scripts.
npm_lint() {
  local manifest
  find . -name node_modules -prune -o -name package.json -print | sort | while read -r manifest; do
    grep -q '"lint":' "$manifest" || continue
    (cd "$(dirname "$manifest")" && npm ci --no-audit --no-fund --silent && npm run --silent lint)
  done
}

step 'golangci-lint' go run "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$GOLANGCI_LINT" run ./...
step 'test/house: imports, names, wording, sizes' go test -count=1 ./test/house
step 'npm: the contract' npm_lint
step 'generated files are up to date' scripts/fresh.sh
