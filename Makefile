# Everything a change needs. `make check` before a commit; `.ci/run` is the
# whole gate. Nothing is installed outside this folder: tools go to bin/.
# Variables given on the command line reach the scripts; these defaults do not.

FUZZTIME ?= 10s
MUTANTS  ?= 50
SEED     ?= 1
BENCH    ?= .
CALLS    ?= 100000
SUITE    ?=

.DEFAULT_GOAL := help
.PHONY: help check nightly debt test race lint fmt fuzz bench bench-journal bench-million bench-precision bench-long bench-fleet scale bench-hook bench-mcp mutate soak release image docs stories tools proto

help: ## show this help
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check: ## the quick part of the gate: house, lint, build, tests without and with real programs, laws, docs, modules
	@.ci/run house lint unit system laws docs modules

# From its commit on, the gate runs what changed.
nightly: ## the whole gate in full size; renews docs/evidence/nightly.json
	@[ -z "$$(git status --porcelain)" ] || { echo "commit first: a nightly run is of a commit"; exit 1; }
	@NIGHTLY=1 .ci/run && cp .cache/nightly.json docs/evidence/nightly.json

debt: ## write into .ci/debt what shrank
	@go test -count=1 -run '^TestHouse$$' . -lower

test: ## all tests, without the race detector
	@go test ./... && go -C lab test ./...

race: ## all tests, with the race detector
	@go test -race ./... && go -C lab test -race ./...

lint: bin/golangci-lint ## format and static checks, in every module
	@.ci/each-module "$(CURDIR)/bin/golangci-lint" run ./...

fmt: bin/gofumpt ## format everything
	@bin/gofumpt -w $$(git ls-files '*.go')

fuzz: ## run each fuzz target for FUZZTIME (10s)
	@.ci/fuzz "$(FUZZTIME)"

bench: ## compare with other policy engines, run the benchmarks of kernel and policy that match BENCH (all), then time both hooks of a tool call beside those of others, and a command in a box
	@go -C lab/bench run . -seed $(SEED)
	@go test -run '^$$' -bench '$(BENCH)' -benchmem ./kernel ./policy
	@mkdir -p .cache/hook
	@CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o .cache/hook/ ./cmd/floodmark ./cmd/floodmark-hook ./cmd/floodmark-box
	@CGO_ENABLED=0 go -C lab/bench run ./hook -seed $(SEED) -felt 100 -programs ../../.cache/hook

bench-journal: ## whole decisions beside prebuilt rows, bare INSERTs and a raw file, on SQLite and PostgreSQL
	@go -C lab/bench/journal run . -seed $(SEED)

# It writes 7 GB to .cache and takes a quarter of an hour.
bench-million: ## a node that knows 10,000, 100,000 and a million sessions: memory, warm, cold, first answer
	@go build -o bin/floodmark ./cmd/floodmark
	@go -C lab/bench/journal run . -seed $(SEED) -million 10000,100000,1000000

bench-precision: ## decisions with a megabyte of content seen, warm and cold, its bytes on disk, secrets, command lines; renews docs/evidence/precision.json
	@go -C lab/bench/journal run . -seed $(SEED) -precision -json ../../../docs/evidence/precision.json

bench-long: ## one session of CALLS (100000) calls of a coding agent: decisions, memory and disk at 1,000, 10,000 and the end; renews docs/evidence/long.json
	@go -C lab/bench/journal run . -seed $(SEED) -long $(CALLS) -json ../../../docs/evidence/long.json

# Eight PostgreSQL servers of Debian's packages on this machine, which it starts and stops.
# With QUICK=1 it takes a minute or two and renews nothing.
bench-fleet: ## whole decisions with a synchronous replica, on one, two and four databases; renews docs/evidence/fleet-bench.json and all that scale does
	@go -C lab/bench/journal run . -seed $(SEED) -fleet $(if $(QUICK),-quick,-rounds 13 -json ../../../docs/evidence/fleet-bench.json)
	@$(if $(QUICK),:,$(MAKE) --no-print-directory scale)

scale: ## simulate fleets from one to a million decisions a second by what bench-fleet measured; renews docs/evidence/scale.json, its picture, and the figures in docs/scale.md and docs/guide/capacity.md
	@go -C lab/bench run ./fleet

# Built as released. The monitor it starts for the first call lives in a namespace of its own.
bench-hook: ## one hook call beside starting an empty program, and the first call that starts the monitor; renews docs/evidence/hook.json
	@mkdir -p .cache/hook
	@CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o .cache/hook/ ./cmd/floodmark ./cmd/floodmark-hook
	@CGO_ENABLED=0 go -C lab/bench run ./hook -seed $(SEED) -programs ../../.cache/hook -json ../../docs/evidence/hook.json

bench-mcp: ## one call of a server's tool through the gateway beside the same call without it; renews docs/evidence/mcp-bench.json
	@mkdir -p .cache/hook
	@CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o .cache/hook/ ./cmd/floodmark
	@CGO_ENABLED=0 go -C lab/bench build -o ../../.cache/hook/bench-mcp ./mcp
	@.cache/hook/bench-mcp -seed $(SEED) -programs .cache/hook -json docs/evidence/mcp-bench.json

mutate: ## break the code in MUTANTS (50) places chosen by SEED (1); do the tests notice?
	@go -C lab run ./mutate -n $(MUTANTS) -seed $(SEED)

soak: ## a long run of SUITE=mutate, protection, coding, coding-live, week, bench, service, undo, asking, fleet, laptops, mcp, shell, pushes, mirror, agents, bombs, coverage, order, breaks (these renew docs/evidence), release, newcomer, deploy, fuzz or race
	@.ci/soak "$(SUITE)"

release: bin/goreleaser ## archives, packages, checksums, SBOMs of this commit for Linux and macOS, into dist/
	@.ci/release

image: ## the container image of this commit, without a container engine, into dist/
	@mkdir -p dist && go -C tools/deploy run ./image -o "$(CURDIR)/dist/floodmark_image.tar"

docs: ## renew generated pages, then check the links in all pages
	@go generate ./...
	@go test -run '^TestPages' .

# Compared with the last release; before the first one, with the last nightly run. Compared
# with the last commit, no change that was committed would be seen.
proto: bin/buf ## check the description of the API: its manner, and that no caller breaks
	@bin/buf lint api
	@bin/buf format api --diff --exit-code
	@bin/buf breaking api --against ".git#subdir=api,ref=$$(git describe --tags --abbrev=0 2>/dev/null || sed -n 's/^ *"commit": "\([0-9a-f]*\)",*$$/\1/p' docs/evidence/nightly.json 2>/dev/null | grep . || echo HEAD)"

stories: ## rewrite the journals of the stories, then read the diff
	@go test ./internal/story -update
	@git --no-pager diff --stat -- stories

tools: bin/golangci-lint bin/gofumpt ## build the pinned tools into bin/

# The stamp is the pinned versions: other versions, another build.
bin/golangci-lint bin/gofumpt &: tools/go.mod tools/go.sum
	@echo "building the tools pinned in tools/go.mod (minutes, once)"
	@mkdir -p bin && cd tools && go build -trimpath -ldflags='-s -w' -o ../bin/ tool
	@touch bin/golangci-lint bin/gofumpt

bin/buf: tools/proto/go.mod tools/proto/go.sum
	@echo "building buf, pinned in tools/proto/go.mod (minutes, once)"
	@mkdir -p bin && cd tools/proto && go build -trimpath -ldflags='-s -w' -o ../../bin/ github.com/bufbuild/buf/cmd/buf
	@touch bin/buf

bin/goreleaser bin/cyclonedx-gomod &: tools/release/go.mod tools/release/go.sum
	@echo "building goreleaser, pinned in tools/release/go.mod (minutes, once)"
	@mkdir -p bin && cd tools/release && go build -trimpath -ldflags='-s -w' -o ../../bin/ tool
	@touch bin/goreleaser bin/cyclonedx-gomod
