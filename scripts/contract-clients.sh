#!/usr/bin/env bash
# Generates clients from api/openapi.yaml with six generators, without options, and compiles what they write: TypeScript
# under strict settings, Go with go build and go vet. Two of them, @hey-api/openapi-ts and oapi-codegen, then call every
# operation of the running program. Also checks that the types of clients/typescript are fresh, and packs it. Needs npm
# and the Go proxy and takes a few minutes; run it after every change of the contract.
#
# If all of it passes, the digest of what was tried is written to api/clients/tried.sha256. With --if-changed the script
# does nothing while that digest holds, and otherwise runs the two walks only: this is what CI runs.
set -euo pipefail
cd "$(dirname "$0")/.."

OAPI_CODEGEN=v2.8.2
OGEN=v1.24.0

step() { printf '== %s\n' "$1"; }

# digest prints the digest of everything that the outcome depends on: the contract, the generators and the walks.
digest() {
  LC_ALL=C sha256sum api/openapi.yaml api/clients/{package-lock.json,tsconfig.json,narrow.ts,walk.ts} api/clients/testdata/walk/main.go \
    scripts/contract-clients.sh clients/typescript/package-lock.json clients/typescript/src/contract.ts | sha256sum | cut -d ' ' -f 1
}

# field NAME prints a field of the JSON object on standard input.
field() { node -pe "JSON.parse(require('fs').readFileSync(0))['$1']"; }

# program starts coursebridge on an empty database and sets the variables that the walks need.
program() {
  local company
  CGO_ENABLED=0 go build -o "$work/coursebridge" ./cmd/coursebridge
  export COURSEBRIDGE_DATABASE="sqlite://$work/walk.db" COURSEBRIDGE_JSON=true
  mkfifo "$work/started"
  "$work/coursebridge" serve --listen 127.0.0.1:0 --log-level warn >"$work/started" &
  server=$!
  COURSEBRIDGE_URL=http://$(head -n 1 "$work/started" | field address)
  company=$("$work/coursebridge" company create --name Acme --admin boss@acme.example | field companyId)
  COURSEBRIDGE_COURSE=$("$work/coursebridge" course add --company "$company" --name Basics --module One | field courseId)
  COURSEBRIDGE_TOKEN=$("$work/coursebridge" token create --company "$company" --name walk \
    --scope b2b_read --scope b2b_provision --scope b2b_assignment | field token)
  export COURSEBRIDGE_URL COURSEBRIDGE_COURSE COURSEBRIDGE_TOKEN
}

typescript_clients() {
  (
    cd api/clients
    npm ci --prefer-offline --no-audit --no-fund --silent
    rm -rf out
    mkdir -p out
    step @hey-api/openapi-ts
    npx --no-install openapi-ts --input "$contract" --output out/hey-api --silent
    step openapi-typescript
    npx --no-install openapi-typescript "$contract" --output out/openapi-typescript.ts
    if [ -z "$walks_only" ]; then
      step orval
      npx --no-install orval --input "$contract" --output out/orval.ts
      step swagger-typescript-api
      npx --no-install swagger-typescript-api generate --path "$contract" --output out --name swagger-typescript-api.ts
    fi
    step 'tsc --strict'
    npx --no-install tsc --project .
  )
  cmp api/clients/out/openapi-typescript.ts clients/typescript/src/contract.ts || {
    echo 'clients/typescript/src/contract.ts is out of date: run make generate.' >&2
    exit 1
  }
}

go_clients() {
  (
    export GOFLAGS=-mod=mod GOWORK=off
    mkdir -p "$work/clients/oapi"
    cp -r api/clients/testdata/walk "$work/clients/walk"
    cd "$work/clients"
    go mod init example.com/clients 2>/dev/null
    go get -tool "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@$OAPI_CODEGEN"
    step oapi-codegen
    go tool oapi-codegen -package oapi "$contract" >oapi/api.gen.go
    if [ -z "$walks_only" ]; then
      go get -tool "github.com/ogen-go/ogen/cmd/ogen@$OGEN"
      step ogen
      go tool ogen --target ogen --package ogen "$contract" 2>&1 | grep -v canonical || true
      [ -f ogen/oas_client_gen.go ]
    fi
    go mod tidy 2>/dev/null
    step 'go build, go vet'
    go build ./...
    go vet ./...
  )
}

pack() {
  (
    cd clients/typescript
    npm ci --prefer-offline --no-audit --no-fund --silent
    npm pack --silent --pack-destination "$work" | tail -n 1
    tar -tzf "$work"/coursebridge-client-*.tgz package/dist/index.js package/README.md
  )
}

walks_only="" tried=$(digest) # now: what changes during the run was not tried
if [ "${1:-}" = --if-changed ]; then
  if [ "$tried" = "$(cat api/clients/tried.sha256)" ]; then
    echo 'contract-clients: nothing has changed since all generators were tried'
    exit 0
  fi
  walks_only=yes
fi

contract=$PWD/api/openapi.yaml work=$(mktemp -d) server=""
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

typescript_clients
go_clients
program
step 'every operation'
node api/clients/out/compiled/walk.js
(cd "$work/clients" && GOFLAGS=-mod=mod GOWORK=off go run ./walk)
[ -z "$walks_only" ] || exit 0
step 'npm pack'
pack
echo "$tried" >api/clients/tried.sha256
