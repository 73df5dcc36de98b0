# `make help` lists the targets. `make demo` and `make test` need Go and nothing else.

GO       ?= go
TOOL      = $(GO) tool -modfile=tools/go.mod
FUZZTIME ?= 30s
BENCH    ?= .
VERSION   = $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

# One static binary. The version in it is the commit, which the go command stamps where git is present.
BUILD = CGO_ENABLED=0 $(GO) build -buildvcs=auto -trimpath -ldflags '-s -w'

.DEFAULT_GOAL := help
.PHONY: help build demo test check fmt vet lint tidy arch race fuzz bench dist vuln clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/autonomy
	$(BUILD) -o bin/autonomy ./cmd/autonomy

demo: build ## watch two teammates work down an example board
	./bin/autonomy demo

test: ## run all tests; needs only Go
	CGO_ENABLED=0 $(GO) test -timeout 20m ./...

check: fmt vet lint tidy arch race ## everything that must be green before a change goes in

fmt: ## list files that are not formatted
	@bad=$$($(TOOL) gofumpt -l .); \
	if [ -n "$$bad" ]; then echo "not formatted by gofumpt:"; echo "$$bad"; exit 1; fi

vet: ## go vet
	$(GO) vet ./...

lint: ## staticcheck
	$(TOOL) staticcheck ./...

tidy: ## go.mod says what is used
	$(GO) mod tidy -diff

arch: ## the rules of the house
	CGO_ENABLED=0 $(GO) test ./internal/archtest

# Every process under the race detector sleeps for a second at its end unless told, and the tests start many.
race: ## run all tests under the race detector; needs a C compiler
	@if command -v "$$($(GO) env CC)" >/dev/null 2>&1; then \
		GORACE="$${GORACE:-atexit_sleep_ms=10}" CGO_ENABLED=1 $(GO) test -race -timeout 20m ./...; \
	else \
		echo "There is no C compiler ($$($(GO) env CC)), and the race detector needs one."; \
		echo "The tests run without it: data races are NOT checked. Install gcc or clang for the full check."; \
		CGO_ENABLED=0 $(GO) test -timeout 20m ./...; \
	fi

fuzz: ## fuzz every target for FUZZTIME (30s)
	@set -e; for dir in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n 1 dirname | sort -u); do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | cut -c 6- | sort -u); do \
			echo "== $$dir $$target"; \
			CGO_ENABLED=0 $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$dir; \
		done; \
	done

bench: ## run the benchmarks that match BENCH (.) and print one table
	@mkdir -p bin; \
	CGO_ENABLED=0 $(GO) test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem ./... > bin/bench.txt || { cat bin/bench.txt; exit 1; }; \
	awk -f tools/bench.awk bin/bench.txt

dist: ## build dist/ for Linux and macOS on amd64 and arm64
	@set -e; for platform in $(PLATFORMS); do \
		out=dist/autonomy-$(VERSION)-$$(echo $$platform | tr / -); \
		echo "$$out"; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(BUILD) -o $$out ./cmd/autonomy; \
	done; \
	cd dist && (sha256sum autonomy-$(VERSION)-* 2>/dev/null || shasum -a 256 autonomy-$(VERSION)-*) > SHA256SUMS

vuln: ## look for known vulnerabilities; needs the network
	$(TOOL) govulncheck ./...

clean: ## remove what was built
	rm -rf bin dist
