#!/usr/bin/env bash
# Writes THIRD_PARTY_NOTICES.txt: every Go module and npm package that the program contains, with the text of its licence.
# npm packages are read from web/node_modules, or from the directory that WEB_MODULES names.
set -euo pipefail
cd "$(dirname "$0")/.."

web=${WEB_MODULES:-web/node_modules}
[ -d "$web" ] || (cd web && npm ci --no-audit --no-fund --silent)

# notice NAME VERSION DIRECTORY prints the licences of one dependency.
notice() {
  local file
  printf '\n%s\n%s %s\n%s\n' "$line" "$1" "$2" "$line"
  for file in "$3"/*; do
    case "$(basename "$file" | tr '[:lower:]' '[:upper:]')" in
      LICENSE-LOGO*) ;;
      LICENSE* | LICENCE* | COPYING* | NOTICE*) [ -f "$file" ] && { printf '\n'; tr -d '\r' <"$file"; } ;;
    esac
  done
}

modules() {
  local os
  for os in linux darwin; do
    GOOS=$os go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/coursebridge
  done | LC_ALL=C sort -u
}

line=$(printf '%80s' '' | tr ' ' '-')
{
  echo 'coursebridge contains the following software. make notices writes this file.'
  modules | while read -r name version directory; do notice "$name" "$version" "$directory"; done
  for name in @fontsource-variable/inter daisyui htmx.org swagger-ui-dist tailwindcss uplot; do
    version=$(sed -n "s|.*\"$name\": \"\(.*\)\".*|\1|p" web/package.json)
    notice "$name" "$version" "$web/$name"
  done
} >THIRD_PARTY_NOTICES.txt
