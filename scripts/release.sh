#!/usr/bin/env bash
# Builds a release into dist/: archives for linux and darwin on amd64 and arm64, Debian packages, SBOMs and SHA256SUMS.
# With --check it builds twice, the second time from a copy in another directory with an empty build cache, and compares
# every byte. VERSION and PLATFORMS (linux/amd64,darwin/arm64) can be set.
set -euo pipefail
cd "$(dirname "$0")/.."

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
VERSION=${VERSION:-$(git describe --tags --always --dirty)}
export SOURCE_DATE_EPOCH
flags=(-version "$VERSION")
[ -z "${PLATFORMS:-}" ] || flags+=(-platforms "$PLATFORMS")

rm -rf dist
go run ./scripts/release "${flags[@]}" -out dist
(cd dist && sha256sum --check --quiet SHA256SUMS && ls -l)
[ "${1:-}" = --check ] || exit 0

work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
mkdir "$work/copy"
git ls-files -z | tar --null --files-from=- --create --file=- | tar --extract --directory="$work/copy"
(cd "$work/copy" && GOCACHE="$work/cache" TZ=Asia/Kathmandu go run ./scripts/release "${flags[@]}" -out "$work/dist")
diff --recursive --brief dist "$work/dist"
echo "Both builds of $VERSION are equal, byte by byte."
