#!/usr/bin/env bash
# Generates clients from api/openapi.yaml with six generators, without options, and compiles what they write: TypeScript
# under strict settings, Go with go build and go vet. Needs npm and the Go proxy, and takes a few minutes, so make test
# does not run it. Run it after every change of the contract.
set -euo pipefail
cd "$(dirname "$0")/.."

OAPI_CODEGEN=v2.8.2
OGEN=v1.24.0

step() { printf '== %s\n' "$1"; }

contract=$PWD/api/openapi.yaml
cd api/clients
npm ci --no-audit --no-fund --silent
rm -rf out
mkdir -p out
step openapi-typescript && npx --no-install openapi-typescript "$contract" --output out/openapi-typescript.ts
step @hey-api/openapi-ts && npx --no-install openapi-ts --input "$contract" --output out/hey-api
step orval && npx --no-install orval --input "$contract" --output out/orval.ts
step swagger-typescript-api && npx --no-install swagger-typescript-api generate --path "$contract" --output out --name swagger-typescript-api.ts
step 'tsc --strict' && npx --no-install tsc --project .

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.com/clients 2>/dev/null
go get -tool "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@$OAPI_CODEGEN" "github.com/ogen-go/ogen/cmd/ogen@$OGEN"
mkdir oapi
step oapi-codegen && go tool oapi-codegen -package oapi "$contract" >oapi/api.gen.go
step ogen && go tool ogen --target ogen --package ogen "$contract" 2>&1 | grep -v canonical || true
[ -f ogen/oas_client_gen.go ]
step 'go build, go vet'
go mod tidy 2>/dev/null
go build ./...
go vet ./...
