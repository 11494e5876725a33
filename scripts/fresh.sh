#!/usr/bin/env bash
# Checks that the generated files are what their sources give: generates in a copy and compares. The working tree stays
# as it is, so that this also tells the truth about one with changes.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$work/was"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar --null --files-from=- --create --file=- | tar --extract --directory="$work/was"
cp -a "$work/was" "$work/is"
"$work/is/scripts/generate.sh" "$@" >&2
find "$work/is" -name node_modules -prune -exec rm -rf {} +

if ! (cd "$work" && diff --recursive --brief was is); then
  echo "Generated files are not fresh: run make generate." >&2
  exit 1
fi
