# Pinned tools. Generators are pinned by go.mod, beside the runtime that their code needs.
export GOLANGCI_LINT := v2.14.0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
BINARY := bin/coursebridge
# What the short run leaves out: other programs are needed, or patience.
LONG := /test/(browser|faults|load)(/|$$)

.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## serve on a SQLite file in this directory
	go run ./cmd/coursebridge serve

.PHONY: demo
demo: ## serve a throw-away company with people, courses and live learners
	go run ./cmd/coursebridge demo

.PHONY: build
build: ## build bin/coursebridge, static, with its version
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BINARY) ./cmd/coursebridge

.PHONY: test
test: ## everything, on both engines; sets up all it needs
	@scripts/test.sh

.PHONY: test-short
test-short: ## what needs only Go: SQLite, no browser, under a minute
	@env -u COURSEBRIDGE_TEST_POSTGRES -u COURSEBRIDGE_TEST_FULL \
		go test -short $$(go list ./... | grep -Ev '$(LONG)')

.PHONY: test-race
test-race: ## the program's own packages under the race detector (needs a C compiler)
	@RACE=1 scripts/test.sh ./cmd/... ./internal/...

.PHONY: lint
lint: ## linters, the house's rules, the contract, freshness of generated files
	@scripts/lint.sh

.PHONY: generate
generate: ## write generated code and assets anew (assets need npm)
	@scripts/generate.sh

.PHONY: fresh
fresh: ## check that generated files are fresh, in a copy
	@scripts/fresh.sh

.PHONY: bench
bench: ## measure, on SQLite and a durable PostgreSQL (BENCH=name picks)
	@scripts/bench.sh

.PHONY: screenshots
screenshots: ## pictures of every page into SCREENSHOTS_DIR
	SCREENSHOTS_DIR=$(or $(SCREENSHOTS_DIR),$(CURDIR)/screenshots) go test -count=1 -run '^TestScreenshots$$' ./test/browser

.PHONY: fuzz
fuzz: ## every fuzz target for a while (FUZZTIME, 20s)
	@scripts/fuzz.sh

.PHONY: pg
pg: ## start a PostgreSQL for this tree and print its address; eval "$(make pg)" takes it
	@scripts/pg.sh up

.PHONY: pg-stop
pg-stop: ## stop it and forget its data
	@scripts/pg.sh down

.PHONY: clean
clean: pg-stop ## remove what was built
	rm -rf bin screenshots
