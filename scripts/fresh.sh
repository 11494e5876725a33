#!/usr/bin/env bash
# Checks that the generated files match their sources: generates them in a copy of the working tree and compares. The
# working tree itself is not changed, uncommitted changes are included.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$work/before"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar --null --files-from=- --create --file=- | tar --extract --directory="$work/before"
cp -a "$work/before" "$work/after"
"$work/after/scripts/generate.sh" "$@" >&2
find "$work/after" -name node_modules -prune -exec rm -rf {} +

if ! (cd "$work" && diff --recursive --brief before after); then
  echo "Generated files are out of date: run make generate." >&2
  exit 1
fi
