# Pinned tools. Generators are pinned by go.mod, together with the runtime that their code needs.
export GOLANGCI_LINT := v2.14.0
GOVULNCHECK := v1.1.4

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
BINARY := bin/coursebridge
# LONG matches the packages that test-short leaves out: they need other programs, or minutes.
LONG := /test/(browser|clients|faults|load)(/|$$)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## serve on an SQLite file in this directory
	go run ./cmd/coursebridge serve

.PHONY: demo
demo: ## serve a temporary company with people, courses and simulated learners
	go run ./cmd/coursebridge demo

.PHONY: build
build: ## build bin/coursebridge, statically linked, with its version
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BINARY) ./cmd/coursebridge

.PHONY: release
release: ## build dist/: archives, Debian packages, SBOMs and checksums for every platform (PLATFORMS selects some)
	@scripts/release.sh

.PHONY: release-check
release-check: ## build the release twice, the second time elsewhere and without a cache, and compare all bytes
	@scripts/release.sh --check

.PHONY: test
test: ## run all tests on both engines; installs what it needs
	@scripts/test.sh

.PHONY: test-short
test-short: ## run the tests that need only Go (SQLite, no browser), in about a minute
	@env -u COURSEBRIDGE_TEST_POSTGRES -u COURSEBRIDGE_TEST_FULL \
		go test -short $$(go list ./... | grep -Ev '$(LONG)')

.PHONY: test-race
test-race: ## run all tests under the race detector, the black-box suites too (needs a C compiler)
	@RACE=1 scripts/test.sh

.PHONY: test-pooler
test-pooler: ## run the suites of the store and of both APIs with PgBouncer in front of PostgreSQL
	@COURSEBRIDGE_TEST_POOLER=1 RACE=0 TEST_FLAGS=-run=/postgres scripts/test.sh \
		./internal/store/storetest ./internal/publicapi ./internal/platformapi

.PHONY: test-upgrade
test-upgrade: ## replace two replicas of an older commit (FROM) by this program, under load (needs the history)
	@scripts/upgrade.sh $(FROM)

.PHONY: torture
torture: ## run the random tests for TORTURE (10m); SEED repeats a run
	@scripts/torture.sh

.PHONY: lint
lint: ## run the linters, the checks of test/house and of the contract, and look for stale generated files
	@scripts/lint.sh

.PHONY: vulncheck
vulncheck: ## compare the dependencies with Go's vulnerability database (needs vuln.go.dev)
	go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK) ./...

.PHONY: generate
generate: ## regenerate code and assets (assets need npm)
	@scripts/generate.sh

.PHONY: fresh
fresh: ## check, in a copy, that generated files are up to date
	@scripts/fresh.sh

.PHONY: contract-clients
contract-clients: ## generate clients from the contract with six generators, compile them, and call every operation (needs npm)
	@scripts/contract-clients.sh

.PHONY: notices
notices: ## write THIRD_PARTY_NOTICES.txt, the licences of what the program contains (needs npm)
	@scripts/notices.sh

.PHONY: bench
bench: ## run the benchmarks on SQLite and a durable PostgreSQL (BENCH=pattern selects some, BENCH_FORM is short or full)
	@scripts/bench.sh

.PHONY: screenshots
screenshots: ## write screenshots of every page to SCREENSHOTS_DIR
	COURSEBRIDGE_TEST_FULL=1 SCREENSHOTS_DIR=$(or $(SCREENSHOTS_DIR),$(CURDIR)/screenshots) go test -count=1 -timeout=30m -run '^TestScreenshots$$' ./test/browser

.PHONY: screenshot
screenshot: ## write the pictures of the README and the documentation to docs/pictures (needs Chromium)
	COURSEBRIDGE_TEST_FULL=1 PICTURES_DIR=$(CURDIR)/docs/pictures go test -count=1 -run "^TestPictures$$" ./test/browser

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (20s)
	@scripts/fuzz.sh

.PHONY: pg
pg: ## start a private PostgreSQL and print its address; eval "$(make pg)" sets it
	@scripts/pg.sh up

.PHONY: pg-stop
pg-stop: ## stop that PostgreSQL and delete its data
	@scripts/pg.sh down

.PHONY: clean
clean: pg-stop ## remove everything that was built
	rm -rf bin dist screenshots
