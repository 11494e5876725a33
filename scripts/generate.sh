#!/usr/bin/env bash
# Regenerates all generated files: Go code from the templates, styles and scripts from their sources.
# Arguments select the parts: code, assets (both by default). Only the assets need npm.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- code assets

code() { go generate ./...; }

assets() {
  local manifest
  find . -name node_modules -prune -o -name package.json -print | sort | while read -r manifest; do
    grep -q '"build":' "$manifest" || continue
    (cd "$(dirname "$manifest")" && npm ci --no-audit --no-fund --silent && npm run --silent build)
  done
}

for part; do "$part"; done
