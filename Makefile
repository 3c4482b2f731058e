# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# `make help` lists the targets. Debian, Go and make are all that has to be there:
# what else is needed is built from pinned Go modules or installed as Debian packages.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# With sudo in a clone of one's own, git refuses to look at a folder of somebody else, and
# go, which asks git for the version, does not build.
export GIT_CONFIG_COUNT := 1
export GIT_CONFIG_KEY_0 := safe.directory
export GIT_CONFIG_VALUE_0 := $(CURDIR)

# Everything is built in one way, so that nothing is compiled twice: as the image needs it, and without
# paths of this clone, so that the next clone finds it in Go's cache. The tag leaves out a second way to
# Google's store, with which nobody speaks and which makes the programs a fifth larger. What vet would
# look at in each go test, golangci-lint looks at in `make lint`.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(shell go env GOFLAGS) -trimpath -tags=disable_grpc_modules -vet=off)

OUT := $(CURDIR)/_out
LAB := $(OUT)/bin/lab
# The modules of this repository. The tools' modules hold no code of ours.
MODULES := . lab test test/monitoring cmd/kubectl-etcd

NODES ?= 3
IMAGE := ghcr.io/etcd-operator/etcd-operator:dev
IMAGE_TAR ?= $(OUT)/images/etcd-operator.tar
# The same image for this machine's architecture only, which is built in half the time.
LAB_IMAGE_TAR := $(OUT)/images/lab/etcd-operator.tar
# ($(shell) does not see exported variables.)
GIT := git -c safe.directory=$(CURDIR)
VERSION ?= $(shell $(GIT) describe --tags --always --dirty 2>/dev/null || echo dev)
GIT_SHA ?= $(shell $(GIT) rev-parse --short HEAD 2>/dev/null || echo unknown)
# More arguments for the go test of the test-* targets, such as TEST_ARGS='-run Walkthrough -v'.
TEST_ARGS ?=

##@ See it
.PHONY: demo demo-down help
demo: ## A real Kubernetes on this machine, the operator in it, and all that can happen to an etcd cluster (NODES=3; DEMO=short ends with the first put; RECORD=docs/pictures/demo.svg draws it)
	@hack/need-root.sh "run the demo"
	@$(MAKE) $(LAB) lab-image
	@$(if $(filter short,$(DEMO)),,go -C test build -o $(OUT)/bin/demo ./demo)
	@hack/demo.sh $(LAB) $(LAB_IMAGE_TAR) $(NODES) $(if $(filter short,$(DEMO)),,$(OUT)/bin/demo)

demo-down: lab-down ## End the demo and leave nothing behind

help: ## This text
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z0-9-]+:.*## / {gsub(/\$$\$$/, "$$", $$2); printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Test it
.PHONY: test test-unit test-fuzz test-sim test-mutants test-conform test-api test-e2e chaos soak fuzz bench verify lint vuln
test: ## verify, lint, test-unit, test-fuzz, test-api, test-e2e in this order, test-sim beside the last two; stops at the first failure
	@hack/stages.sh verify lint test-unit beside:test-sim test-fuzz test-api test-e2e

verify: ## Generated code, formatting and module files are current
	hack/verify.sh

lint: ## golangci-lint, go vet among it, over all modules
	hack/lint.sh $(MODULES)

vuln: ## Known vulnerabilities in what the code calls, by govulncheck, where its database can be reached
	hack/vuln.sh $(MODULES)

# What needs more than a unit test: the simulation, an API server, a lab.
SIMULATION := '/internal/sim/\(stories\|explore\)$$'
WITH_API_SERVER := '/lab/\(apiserver\|volumes\)$$'
ON_A_LAB := '/labtest$$\|/e2e\|/chaos$$'

test-unit: ## Unit tests; no root, nothing to build first
	go test $(TEST_ARGS) $$(go list ./... | grep -v $(SIMULATION))
	go -C lab test $(TEST_ARGS) $$(go -C lab list ./... | grep -v -e $(WITH_API_SERVER) -e $(ON_A_LAB))
	go -C cmd/kubectl-etcd test $(TEST_ARGS) ./...

test-fuzz: ## Each fuzz target of Go's for a moment (FUZZ_BRIEFLY=20000x); `make fuzz` for longer
	hack/fuzz.sh $(FUZZ_BRIEFLY) $(MODULES)

# How many random schedules, and every which one of all pairs of crash points with all pairs of
# fates: 16 plays each pair of effects once, 1 plays all of them. Each pair once takes as long as
# all the rest together, so that a sample of them is played by default.
SCHEDULES ?= 100000
PAIRS ?= 256
# With how many of the four lags of caches each crash point is played: 4 for all, in twice the time.
LAGS ?= 2
# How many cases of generated specs, each with one change or several.
CASES ?= 1200
# One of how many runs in which two versions take turns is played.
TURN ?= 32
SOAK ?= 1h
FUZZ ?= 10m
# How many inputs `make test` gives to each fuzz target: about a minute in all. A time would be up at any moment, which
# go test takes for a failure now and then.
FUZZ_BRIEFLY ?= 20000x
SEED ?= 1
# In its own folder go test shows what the simulation prints.
EXPLORE := cd internal/sim/explore && go test -count=1
SPECS := cd test/specs && go test -count=1
TURNS := cd internal/sim/turns && go test -count=1 -overlay=$(CURDIR)/_out/before/overlay.json

test-sim: ## The operator with simulated Kubernetes and etcds, in virtual time (SCHEDULES=100000, LAGS=2, PAIRS=256, CASES=1200, TURN=32)
	go test $(TEST_ARGS) $$(go list ./... | grep $(SIMULATION) | grep -v /explore$$)
	$(EXPLORE) -timeout 60m $(TEST_ARGS) -args -every 1 -lags $(LAGS) -pairs $(PAIRS) -schedules $(SCHEDULES)
	$(SPECS) -timeout 60m $(TEST_ARGS) -args -cases $(CASES)
	hack/before.sh unpack
	$(TURNS) -timeout 60m $(TEST_ARGS) -args -each $(TURN)

soak: ## Random schedules of the simulation for a long time (SOAK=1h, SEED=1)
	$(EXPLORE) -timeout 0 -run TestRandom $(TEST_ARGS) -args -soak $(SOAK) -seed $(SEED)

fuzz: ## Specs made from the schema in the simulation, then each fuzz target of Go's, for a long time (FUZZ=10m, SEED=1)
	$(SPECS) -timeout 0 $(TEST_ARGS) -args -fuzz $(FUZZ) -seed $(SEED)
	hack/fuzz.sh $(FUZZ) $(MODULES)

# How many mutants are run at the same time.
MUTANTS ?= 2
test-mutants: ## Deliberate faults in the operator, each of which the simulation, or a test of the walls, has to catch (MUTANTS=2 at a time)
	go run ./internal/sim/mutants -j $(MUTANTS)
	go run ./internal/sim/mutants -j 1 -walls

# So many sequences that are compared at the same time leave two cores room for etcd's timing.
PLAYERS ?= 24
SEQUENCES ?= 2000
test-conform: ## The simulation's model of etcd against etcd 3.5, 3.6 and 3.7 (SEQUENCES=2000)
	cd test/simconform && go test -count=1 -timeout 6h -parallel $(PLAYERS) $(TEST_ARGS) -args -sequences $(SEQUENCES) -seed $(SEED)

test-api: ## Tests against a real API server without nodes, and real stores; no root
	go -C lab test -timeout 40m $(TEST_ARGS) $$(go -C lab list ./... | grep $(WITH_API_SERVER))
	go -C test test -timeout 40m $(TEST_ARGS) $$(go -C test list ./... | grep -v $(ON_A_LAB))
	go -C test/monitoring test -timeout 40m $(TEST_ARGS) ./...

test-e2e: ## Tests on the lab: real nodes, real pods (root)
	@hack/need-root.sh "run the tests on the lab"
	@$(MAKE) lab-image
	go -C lab test -timeout 20m -count=1 $(TEST_ARGS) ./labtest
	# They wait more than they work: more of them at once than there are processors.
	go -C test test -timeout 60m -count=1 -p 1 -parallel 4 $(TEST_ARGS) ./e2e/...
	$(BREAK) $(TEST_ARGS) -args -chaos $(or $(CHAOS),3m) -seed $(SEED)

# It breaks nodes and the API server: nothing else may run on the lab beside it.
BREAK := cd test/chaos && go test -count=1 -timeout 0
chaos: ## Faults at random on the lab while clients use clusters (CHAOS=10m, SEED=1; root)
	@hack/need-root.sh "break things on the lab"
	@$(MAKE) lab-image
	$(BREAK) $(TEST_ARGS) -args -chaos $(or $(CHAOS),10m) -seed $(SEED)

bench: ## What is promised in figures, measured; wants the machine for itself (root)
	@hack/need-root.sh "measure on the lab"
	@$(MAKE) lab-image
	go -C test test -timeout 60m -count=1 -p 1 -run '^$$' -bench . -benchtime 1x $(TEST_ARGS) ./backup ./e2e

##@ Build it
.PHONY: generate images plugin docs docs-serve pictures release
generate: ## Deepcopy, CRDs, the Go client and docs/reference from api/v1beta2
	hack/generate.sh

images: ## The operator's image for amd64 and arm64 as _out/images/etcd-operator.tar
	hack/images.sh "$(IMAGE)" "$(OUT)/images/etcd-operator.tar" "$(VERSION)" "$(GIT_SHA)" amd64 arm64

plugin: ## kubectl etcd for Linux, macOS and Windows, and its krew manifest, in _out/plugin
	hack/plugin.sh "$(OUT)/plugin" "$(VERSION)" "$(GIT_SHA)"

# The image carries the release's name, so that install.yaml and the chart lead to it.
release: ## Everything that a release consists of, in _out/release (VERSION=v1.2.3)
	@rm -rf "$(OUT)/release" && hack/release.sh "$(VERSION)" "$(OUT)/release" >/dev/null
	hack/images.sh "$(IMAGE:%:dev=%):$(VERSION)" "$(OUT)/images/release/etcd-operator.tar" "$(VERSION)" "$(GIT_SHA)" amd64 arm64
	cp "$(OUT)/images/release/etcd-operator.tar" "$(OUT)"/images/release/*.spdx.json "$(OUT)/release/"
	hack/plugin.sh "$(OUT)/images/release/plugin" "$(VERSION)" "$(GIT_SHA)"
	cp "$(OUT)"/images/release/plugin/*_$(VERSION)_*.tar.gz "$(OUT)/images/release/plugin/etcd.yaml" "$(OUT)/release/"
	hack/release.sh "$(VERSION)" "$(OUT)/release"

docs: ## The site with all pages, in _out/site; search included, nothing from elsewhere. The first time it installs its generator with npm
	hack/docs.sh "$(OUT)/site"

docs-serve: ## The same, and serve it on this machine
	hack/docs.sh "$(OUT)/site" serve

pictures: ## The golden outputs of kubectl etcd and the pictures of them in docs/pictures, from the simulation
	go -C cmd/kubectl-etcd test ./internal/scenes -count=1 -args -update

.PHONY: lab-image
lab-image:
	hack/images.sh "$(IMAGE)" "$(LAB_IMAGE_TAR)" "$(VERSION)" "$(GIT_SHA)" $$(go env GOARCH)

##@ The lab: a real Kubernetes on this machine (root); `_out/bin/lab --help` has more
.PHONY: lab-up lab-down lab-status lab-kubeconfig lab-load lab-logs lab-node lab-pod lab-power-cut
lab-up: $(LAB) ## Start it, or finish what an interrupted start began (NODES=3)
	$(LAB) up --nodes $(NODES)

lab-down: $(LAB) ## End it and leave nothing behind
	$(LAB) down

lab-status: $(LAB) ## What runs, and what is cut off
	$(LAB) status

lab-kubeconfig: $(LAB) ## Print the path of its kubeconfig: export KUBECONFIG=$$(make lab-kubeconfig)
	@$(LAB) kubeconfig

lab-load: $(LAB) ## Load an image into every node (IMAGE_TAR=...)
	$(LAB) load "$(IMAGE_TAR)"

lab-logs: $(LAB) ## Print the log of COMPONENT=kube-apiserver, COMPONENT=node1-kubelet, ...
	@$(LAB) logs "$(COMPONENT)"

lab-node: $(LAB) ## DO=cut, heal, kill or start, N=2: cut node 2 off, connect it, kill it, start it
	$(LAB) node "$(DO)" "$(N)"

lab-pod: $(LAB) ## DO=cut or heal, POD=namespace/name: cut a pod off, connect it
	$(LAB) pod "$(DO)" "$(POD)"

lab-power-cut: $(LAB) ## Everything off at once; lab-up brings it back
	$(LAB) power-cut

# Go's own cache knows whether the lab has to be built again.
.PHONY: $(LAB)
$(LAB):
	@go -C lab build -o $@ ./cmd/lab
