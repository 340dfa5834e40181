# The targets a person needs; `make help` lists them. All binaries go to bin/, all generated files are checked in.
SHELL := /usr/bin/env bash -o pipefail
BIN := $(CURDIR)/bin
LAB_FLAGS ?=
# The directory of the lab, also for lab-down, which takes no other flags.
LAB_DIR ?= .lab
VERSION ?= v2.0.0
# Where clusters get the manager's image from, as in host/team. The default is a host that nobody can have, so what is released without
# one is complete but for the place of its image: `REGISTRY=... make release image-push` says one and pushes there.
REGISTRY ?= registry.example
# The URL of the folder with releases, from which krew gets the kubectl plugin.
DOWNLOADS ?= https://downloads.example
export KUBEBUILDER_ASSETS := $(BIN)/envtest
export PATH := $(BIN):$(PATH)
# Binaries, the release and tests are compiled in the same way, so that the libraries of Kubernetes are compiled once for all of them.
# The linker drops debug information in any case; not to generate it saves a sixth of the CPU time.
export CGO_ENABLED := 0
COMPILE_FLAGS := -trimpath -gcflags=all=-dwarf=false
export GOFLAGS := $(strip $(filter-out $(COMPILE_FLAGS),$(GOFLAGS)) $(COMPILE_FLAGS))

# Modules with code of their own: the provider, the lab beside it, what makes releases, what compares with recordings of Azure, and what has
# Prometheus evaluate alerts and dashboard. hack/site makes the documentation site.
MODULES := . sim lab hack/release hack/site test/e2e test/recordings test/signals test/installation sim/conformance
PACKAGES := ./api/... ./cmd/... ./hack/... ./internal/... ./test/...

.DEFAULT_GOAL := help
.PHONY: help tools build generate templates format lint verify envtest test golden lab lab-down image image-push release clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

tools: ## Build the pinned tools that are missing in bin/ (the first time takes some minutes)
	@hack/tools/build.sh $(BIN)

build: ## Build the manager, the simulated Azure and the lab
	@hack/tools/check-go.sh
	@mkdir -p $(BIN)
	go build -ldflags '-X main.version=$(VERSION)' -o $(BIN)/ ./cmd/manager ./cmd/adopt ./cmd/kubectl-capz
	cd sim && go build -ldflags '-X main.version=$(VERSION)' -o $(BIN)/ ./cmd/azuresim
	cd lab && go build -ldflags '-X main.version=$(VERSION)' -o $(BIN)/lab .

generate: ## Generate deepcopy functions, CRDs, RBAC, webhook manifests, notes on AKS properties, the reference and pictures
	@hack/tools/build.sh $(BIN) controller-gen
	go run ./hack/armschema
	go run ./hack/immutable api/v1beta1
	controller-gen object paths=./api/...
	controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	go run ./hack/formerversions config/crd/bases
	go run ./hack/maxima config/crd/bases internal/plan/maxima/zz_generated.maxima.go
	if [ -d internal/setup ]; then controller-gen rbac:roleName=system-manager-role paths=./internal/... output:rbac:dir=config/rbac; fi
	go test ./internal/webhook -run TestManifests -update
	cd hack/site && go run ./pictures
	go test ./test/reference -run TestPages -update
	cd sim && go test ./cmd/azuresim -run TestReference -update
	cd lab && go test ./command -run TestReference -update

templates: ## Render the flavors of self-managed clusters from templates/flavors
	@hack/tools/build.sh $(BIN) kustomize
	@cd templates/flavors; for flavor in */; do flavor=$${flavor%/}; case $$flavor in base|class|components|identity) continue;; esac; \
	kustomize build $$flavor >../cluster-template-$$flavor.yaml || exit 1; done; mv ../cluster-template-default.yaml ../cluster-template.yaml; \
	mv ../cluster-template-clusterclass-default.yaml ../clusterclass-default.yaml

format: ## Format Go code
	gofmt -w $(MODULES)

lint: ## golangci-lint, which has gofmt, go vet and staticcheck, with .golangci.yml
	@hack/tools/build.sh $(BIN) golangci-lint
	@for module in $(MODULES); do (cd $$module && golangci-lint run --max-issues-per-linter=0 --max-same-issues=0 ./...) || exit 1; done

verify: generate templates lint ## Generated files are up to date, code is clean
	@git diff --exit-code -- api config docs templates internal/plan/aks/armschema internal/plan/maxima internal/arm/types || { echo "generated files are out of date: commit what make generate templates wrote"; exit 1; }
	@hack/tools/vuln/check.sh $(BIN) $(MODULES)

envtest: lab-tools ## The directory with etcd, kube-apiserver and kubectl for tests against a real API server
	@echo $(KUBEBUILDER_ASSETS)

# Linking is what building a test costs most, and nobody debugs these binaries: without symbols and DWARF it takes three fifths of the time.
TEST_FLAGS := -ldflags=-s

# The stories in the lab wait more than they compute, so the other modules are tested beside them. Processes that live for a
# minute or two collect garbage rarely: tests in virtual time take a fifth less CPU time with 1600 than with 300. The limit is for the few
# with large heaps. A lab has a dozen processes, and several labs run side by side, so their heaps have to be smaller.
test: export GOGC := $(or $(GOGC),1600)
test: export GOMEMLIMIT := $(or $(GOMEMLIMIT),2GiB)
LAB_GOGC := $(or $(GOGC),300)
test: ARCHITECTURES = $(shell go env GOARCH)
test: lab-tools ccm build release ## Run all tests, with the stories in the lab; ends with the slowest packages
	go run ./hack/slowest -at-once 2 \
		'cd lab && GOGC=$(LAB_GOGC) go test $(TEST_FLAGS) -timeout 55m ./...' \
		'go test $(TEST_FLAGS) -timeout 30m $(PACKAGES)' \
		'cd sim && go test $(TEST_FLAGS) -timeout 20m ./...' \
		'cd hack/release && go test $(TEST_FLAGS) -timeout 20m ./...' \
		'cd hack/site && go test $(TEST_FLAGS) -count=1 . ./pictures' \
		'cd test/e2e && go test $(TEST_FLAGS) -timeout 20m ./... && GOGC=$(LAB_GOGC) go run . run --cheap --nodes 3' \
		'cd test/recordings && go test $(TEST_FLAGS) ./...' \
		'cd test/signals && go test $(TEST_FLAGS) -timeout 20m ./...' \
		'cd test/installation && go test $(TEST_FLAGS) -timeout 20m ./...' \
		'cd sim/conformance && go test $(TEST_FLAGS) ./...'

# Of how many rows one is tried, of all stories, and how many sequences of specs each life has. 1 and 200 take about 35 minutes.
RELIABILITY_EVERY ?= 2
RELIABILITY_SEQUENCES ?= 60
# How many orders of requests and events each life is explored with, and the first seed: each day has others, and a failure names its seed.
RELIABILITY_SEEDS ?= 10
RELIABILITY_SEED ?= $(shell date +%Y%m%d)00

.PHONY: reliability
reliability: ## Kill the manager at its calls, edit what is in Azure, and change specs again and again: 20 minutes of what make test tries a little of
	go test $(TEST_FLAGS) -timeout 600m -v ./test/reliability -every $(RELIABILITY_EVERY) -seed $(RELIABILITY_SEED) -seeds $(RELIABILITY_SEEDS)
	go test $(TEST_FLAGS) -timeout 600m -v ./test/transitions -rapid.checks $(RELIABILITY_SEQUENCES)

# The fleet of make fleet.
FLEET_CLUSTERS ?= 200
FLEET_MACHINES ?= 5
FLEET_SUBSCRIPTIONS ?= 4
FLEET_WORKERS ?= 10

.PHONY: fleet
fleet: ## Count the requests and reconciliations of a fleet in virtual time, as make test does for a small one
	go test $(TEST_FLAGS) -timeout 600m -v ./test/virtual/fleet -run TestFleet -clusters $(FLEET_CLUSTERS) -machines $(FLEET_MACHINES) \
		-subscriptions $(FLEET_SUBSCRIPTIONS) -workers $(FLEET_WORKERS)

# How long each fuzz target runs.
FUZZ_TIME ?= 1m

.PHONY: fuzz azure-roles
fuzz: ## Run each fuzz target for FUZZ_TIME; what fails stays in its testdata/fuzz, to be committed with the mend
	@set -e; grep -rl --include=*_test.go '^func Fuzz' $(wildcard cmd internal sim test) | while read -r file; do \
	grep -oE '^func Fuzz[A-Za-z0-9]+' $$file | cut -c6- | while read -r target; do \
	echo "$$target in $$(dirname $$file)"; cd $(CURDIR)/$$(dirname $$file) && go test . -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ_TIME); done; done

azure-roles: ## Rewrite templates/azure-roles from what the stories of each feature set call
	go test ./test/flavors/rights -run TestRoles -update

golden: ## Rewrite the golden files of the plans and of converted manifests
	go test ./internal/plan ./internal/plan/aks ./internal/plan/pool ./internal/aksengine -update

# What the lab and the other tests run; the other tools are for developing.
LAB_TOOLS := kustomize etcd kubectl clusterctl capi-core capi-kubeadm-bootstrap capi-kubeadm-control-plane kube-controller-manager kube-apiserver

.PHONY: site site-test
site: ## Build the documentation site to out/site; open out/site/index.html in a browser
	cd hack/site && go run . -root '$(CURDIR)' -out '$(CURDIR)/out/site' -version '$(VERSION)'

site-test: ## Test the documentation site in Chromium, which is installed on Debian if it is missing
	hack/tools/chromium.sh
	cd hack/site && go test $(TEST_FLAGS) -count=1 -timeout 10m ./...

.PHONY: lab-tools ccm
lab-tools:
	@hack/tools/build.sh $(BIN) $(LAB_TOOLS)

ccm: ## Build cloud-provider-azure's controller manager (takes minutes), to run against clusters of the lab
	@hack/tools/build.sh $(BIN) cloud-controller-manager

.PHONY: programs programs-test
programs: ## Build the azuredisk CSI driver and Terraform's provider azapi (takes minutes), which programs-test runs
	@hack/tools/build.sh $(BIN) azurediskplugin terraform-provider-azapi

programs-test: programs ## Run the azuredisk CSI driver and Terraform, which has to be installed, beside a cluster in the simulated Azure
	go test $(TEST_FLAGS) -tags programs -timeout 20m ./test/programs/unmodified

lab: ## Start a management cluster and a workload cluster on a simulated Azure
	@hack/tools/check-go.sh
	@$(MAKE) --no-print-directory -j2 lab-tools build
	@$(MAKE) --no-print-directory release ARCHITECTURES=$$(go env GOARCH)
	$(BIN)/lab up --dir $(LAB_DIR) $(LAB_FLAGS)

lab-down: ## Stop the lab
	@[ ! -x $(BIN)/lab ] || $(BIN)/lab down --dir $(LAB_DIR)

# What make bench measures, and how: any flag of lab bench. The default takes a quarter of an hour, most of which is waiting for Azure.
BENCH ?= default aks default-hour aks-hour
BENCH_FLAGS ?=

.PHONY: bench
bench: ## Measure what the scenarios in BENCH cost; out/bench.json and out/bench.html have the figures
	@$(MAKE) --no-print-directory -j2 lab-tools build
	@$(MAKE) --no-print-directory release ARCHITECTURES=$$(go env GOARCH)
	$(BIN)/lab bench $(BENCH) --json out/bench.json --html out/bench.html $(BENCH_FLAGS)

# Which specs of Cluster API run, with which flavors, and how many at once: any flag of the command in test/e2e.
E2E_CLOUD ?= lab
E2E_FLAGS ?=
# With E2E_CLOUD=azure: the subscription that pays.
E2E_SUBSCRIPTION ?=

.PHONY: e2e e2e-sweep
# The flags are checked before programs are built, which takes minutes.
E2E_ARGUMENTS = --cloud $(E2E_CLOUD) --subscription '$(E2E_SUBSCRIPTION)' $(E2E_FLAGS)
# Clusters on a subscription get the image of make image-push, which is for all architectures, so the components have to name that one.
E2E_RELEASE = release $(if $(filter azure,$(E2E_CLOUD)),,ARCHITECTURES=$$(go env GOARCH))
e2e: ## Run the end-to-end specs of Cluster API in a lab, or with E2E_CLOUD=azure on a subscription
	@$(if $(and $(filter azure,$(E2E_CLOUD)),$(filter registry.example registry.example/%,$(REGISTRY))),$(error REGISTRY is $(REGISTRY), \
	which has no image. Push the image with make image-push REGISTRY=HOST/FOLDER, and add the same REGISTRY to make e2e))
	@cd test/e2e && go run . check $(E2E_ARGUMENTS)
	@$(MAKE) --no-print-directory -j2 lab-tools build
	@$(MAKE) --no-print-directory $(E2E_RELEASE)
	cd test/e2e && go run . run $(E2E_ARGUMENTS)

e2e-sweep: ## Delete the resource groups that an aborted run of end-to-end specs left on E2E_SUBSCRIPTION; E2E_FLAGS has its --run
	cd test/e2e && go run . sweep --subscription '$(E2E_SUBSCRIPTION)' $(E2E_FLAGS)

RELEASE = cd hack/release && go run . -root $(CURDIR) -version '$(VERSION)' -registry '$(REGISTRY)' -architectures '$(ARCHITECTURES)' -downloads '$(DOWNLOADS)'

image: ## Build the manager's image for all architectures to out/image, an OCI image layout
	@hack/tools/check-go.sh
	@$(RELEASE) image

image-push: image ## Push the image to REGISTRY
	@$(RELEASE) push

release: ## Write the image, and the clusterctl repository that names it by digest, to out/
	@hack/tools/build.sh $(BIN) kustomize
	@$(RELEASE) folder

clean: lab-down ## Remove binaries and labs
	@for dir in .lab .lab-*; do \
	[ -e $$dir ] || continue; \
	if [ -x $(BIN)/lab ]; then $(BIN)/lab down --dir $$dir || exit 1; \
	elif ls $$dir/run/*.json >/dev/null 2>&1; then echo "The lab in $$dir may run, and $(BIN)/lab is missing, which stops it. Build it with make build." >&2; exit 1; fi; done
	rm -rf bin out .lab .lab-*
