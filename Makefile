# The verbs of this repository, the same for people and for CI.
#
#   make install  kexbench and its dashboard, into this checkout: services/.venv/bin/kexbench
#   make run      build what is needed, measure the quickstart spec, serve the dashboard
#   make test     what needs no cluster, builds no library and takes seconds a test; half an hour on two CPUs
#   make test-all that, the worker under sanitizers and fuzzed, what builds libraries from their sources or takes longer,
#                 and as root what needs a cluster; an hour and more on two CPUs
#   make test-faults  a service through hundreds of seeded faults: processes killed, disks full, files damaged; then the
#                 answers of random stores; takes long, FAULTS="--first 17 --seeds 1" repeats one
#   make test-charts  the Helm chart alone: lint, unit tests, every example rendered and validated; needs Go, part of
#                 make test-all
#   make test-infra   what users prepare clusters with: parsed, linted, evaluated; needs Go, part of make test-all
#   make test-thorough  what builds libraries and a web server from their sources, or takes ten seconds and more a test;
#                 part of make test-all
#   make test-long    what takes longest: answers with and without summaries and on two replicas, services killed at more
#                 places, simulations, libraries and web servers that take longest to build, more inputs of the
#                 worker; before a release, and after a change of what they test
#   make test-libraries  every TLS library and web server that is built from sources, measured and held against the
#                 worker's contract, with those that only test-long has
#   make kits     build every tracked version of every library; minutes each, what is built already is kept
#   make bench    what measuring costs and what it can detect, and planning at scale; an hour, BENCH=--quick for
#                 less, BENCH="--only builds" for one section; as root with a simulated cluster, which the first time
#                 compiles for a quarter of an hour; writes docs/results/benchmarks.md
#   make bisect-real  a bisection of OpenSSL's sources with a planted slower commit, and one with none; a quarter of an
#                 hour of building and measuring; BISECT="--seed 2" plants elsewhere
#   make try-ci   the examples for a library's CI, on real sources with planted changes: a slower one, one that costs
#                 nothing, one that does not compile; half an hour of building and counting; TRY_CI=openssl tries a part
#   make scorecard  how good detection is, beside the methods of others; half an hour to an hour of measuring, resampling
#                 and building, SCORECARD=--quick for less; writes docs/results/scorecard.md and the figures that the
#                 API serves, docs/results/scorecards
#   make articles  measures the articles' specs in an hour, and writes docs/results/articles.md
#   make beside   paths by the worker, by a plain loop and by curl, on an idle machine as root; BESIDE=--quick for less
#   make locks    atomic operations of a handshake by version, beside what threads lose; writes docs/results/locks-and-atomics.md
#   make starts   starts of processes by the worker and by a plain program; STARTS=--quick for less
#   make merkle   the bytes of certificate chains beside Merkle tree certificates
#   make docs     the documentation as a site, in build/html of docs/site, with its links checked; under a minute
#   make test-docs    that, and its pages read by a real browser in three widths; part of make test-all
#   make outdated parts that have a newer version: Python, npm, Go, images; infra/parts/exceptions.yaml has what stays
#   make audit    known vulnerabilities of parts, from the databases of Python, npm and Go; both need Go. CONTRIBUTING.md
#                 has the options for mirrors and the exit statuses
#   make check    formatters, linters, types and contracts, in under two minutes
#   make format   let the formatters rewrite
#   make golden   accept texts that tests found changed: moves each *.actual over its golden file
#   make screenshots  the picture of the dashboard, of a real run, to docs/results; four minutes
#   make generate rewrite the generated files that are checked in
#   make devcluster      a real Kubernetes with Argo Workflows on this machine, until Ctrl-C; as root
#   make test-cluster    the tests that need one, as root; part of make test-all but for those that wait longest; the
#                 first time compiles for a quarter of an hour
#   make test-clickhouse  the tests of the store on a real ClickHouse server: infra/clickhouse/README.md
#   make images   the images, brought to a kind cluster (KIND_CLUSTER=NAME) or a registry (REGISTRY=HOST/PATH);
#                 IMAGES=--help says more; needs Docker, Podman or nerdctl
#   make packages-cross  what kits for aarch64 are made and proven with here; make test-long installs it too
#
# KEXBENCH_NO_SERVE=1 make run stops after the table. KEXBENCH_YES=1 lets sudo install packages unasked.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

BOOTSTRAP := infra/bootstrap
VENV := services/.venv
LINTED := . ../infra/devcluster ../infra/parts ../infra/release ../charts/tools ../docs/site
SITE := docs/site
BIN := $(VENV)/bin
CORES := $(shell nproc)
DEVCLUSTER := PYTHONPATH=infra $(BIN)/python -m devcluster
ABOUT_PARTS = uv=$$($(BOOTSTRAP)/uv.sh) && tools=$$(infra/tools/build.sh) && \
	PYTHONPATH=infra $(BIN)/python -m parts.$@ --uv "$$uv" --tools "$$tools" $(PARTS)
# Where this is set, each of the hundreds of processes of a test run would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE
# What each of them says comes together, when it has ended.
SIDE_BY_SIDE := --jobs=$(CORES) --output-sync=recurse
SAY := @printf '\033[1m== %s\033[0m\n'

.PHONY: root starts install run test test-worker test-frontend test-all test-charts test-docs test-infra test-thorough test-long test-libraries test-faults outdated audit kits bench bisect-real try-ci scorecard articles beside locks merkle docs check check-types check-services \
	check-worker check-frontend format golden generate screenshots packages-run \
	packages-kits packages-check packages-test packages-cross packages-bench packages-faults packages-cluster devcluster devcluster-binaries \
	test-cluster test-clickhouse images python frontend clean

install: packages-run python frontend
	@case " $(MAKECMDGOALS) " in *" install "*) \
		echo "installed; next: source $(BIN)/activate && kexbench run bench-specs/quickstart.yaml";; esac

run: install
	$(SAY) "measuring bench-specs/quickstart.yaml"
	@status=0; $(BIN)/kexbench run bench-specs/quickstart.yaml || status=$$?; \
	if [ "$${KEXBENCH_NO_SERVE:-}" = 1 ] || [ $$status -gt 1 ]; then exit $$status; fi; \
	exec $(BIN)/kexbench serve

test: packages-run packages-check packages-test python frontend check
	@$(MAKE) $(SIDE_BY_SIDE) test-worker test-frontend
	$(SAY) "services: Python tests, and a real run in a real browser"
	@cd services && .venv/bin/pytest --durations=20 --durations-min=10 -m "not (charts or cluster or docs or infra or builds or thorough or long)"

test-worker:
	$(SAY) "worker: C tests"
	@$(MAKE) --silent -C workers/handshake test

test-frontend:
	$(SAY) "frontend: unit tests"
	@cd frontend && npm test --silent

test-all: test packages-kits
	@$(MAKE) $(SIDE_BY_SIDE) test-charts test-infra test-docs
	$(SAY) "worker: the same under sanitizers, and what reads bytes is fuzzed"
	@$(MAKE) --silent -j$(CORES) -C workers/handshake sanitize sanitize-threads fuzz
	@$(MAKE) --silent -j$(CORES) -C workers/bfe test sanitize fuzz
	@$(MAKE) --silent -j$(CORES) -C workers/handshake bfe bfe-sanitize bfe-fuzz
	@if [ "$$(id -u)" = 0 ]; then $(MAKE) packages-cluster devcluster-binaries && $(MAKE) --jobs=2 test-thorough test-cluster CLUSTER_TESTS="cluster and not long"; \
		else $(MAKE) test-thorough && echo "The cluster's tests need root and were left out: sudo make test-cluster"; fi

test-thorough: packages-kits packages-test python frontend
	$(SAY) "services: libraries and a web server built from their sources, and what takes long"
	@cd services && .venv/bin/pytest -rs --durations=20 --durations-min=20 -m "(builds or thorough) and not long"

test-long: packages-kits packages-cross packages-bench packages-test python frontend
	$(SAY) "services: what takes longest"
	@cd services && .venv/bin/pytest -rs --durations=20 --durations-min=20 -m "long and not cluster"
	$(SAY) "worker: four times as many inputs"
	@$(MAKE) --silent -j$(CORES) -C workers/bfe fuzz FUZZ_TIMES=4
	@$(MAKE) --silent -j$(CORES) -C workers/handshake fuzz bfe-fuzz FUZZ_TIMES=4

test-libraries: packages-kits packages-cross python frontend
	$(SAY) "worker: with libraries built from published sources"
	@cd services && .venv/bin/pytest -rs -m builds tests/runner tests/kits

test-charts: python
	$(SAY) "chart: lint, unit tests, every example rendered and validated"
	@tools=$$(charts/tools/build.sh) && $$tools/helm lint --strict --quiet charts/kexbench && \
		$$tools/helm-unittest --strict charts/kexbench
	@cd services && .venv/bin/pytest -m charts -n 0 tests/charts

test-infra: python frontend
	$(SAY) "infra: Argo's installation, node pools in the clouds, Compose, releases"
	@cd services && .venv/bin/pytest -m infra -n 0 tests/infra

test-docs: docs packages-test frontend
	$(SAY) "documentation: the site in a real browser"
	@cd services && .venv/bin/pytest -m docs -n 0 tests/e2e/test_documentation.py

test-faults: packages-run packages-faults python
	$(SAY) "faults: nothing acknowledged is lost, doubled or false"
	@cd services && .venv/bin/python -m tests.faults $(FAULTS)
	@[ -n "$(FAULTS)" ] || { cd services && KEXBENCH_TEST_SEEDS=10 .venv/bin/pytest --dist load -m "thorough or long" tests/api/test_same_answers.py tests/api/test_one_verdict.py; }

outdated: python frontend/node_modules/.package-lock.json
	@$(ABOUT_PARTS)

audit: python frontend/node_modules/.package-lock.json
	@$(ABOUT_PARTS)

kits: packages-run packages-kits python
	@$(BIN)/kexbench kits add --tracked

bench: packages-run packages-kits packages-bench packages-test python frontend
	@$(MAKE) --silent -C workers/handshake plain
	@cd services && PYTHONPATH=../infra .venv/bin/python -m bench --plain ../workers/handshake/build/plain_openssl $(BENCH)

bisect-real: packages-run packages-kits python
	$(SAY) "a slower commit is planted"
	@cd services && .venv/bin/python -m bench.bisection $(BISECT)
	$(SAY) "none is"
	@cd services && .venv/bin/python -m bench.bisection --without-step $(BISECT)

try-ci: packages-run packages-kits packages-test python
	@cd services && .venv/bin/python -m bench.in_ci $(TRY_CI)

scorecard: packages-run packages-kits python
	@cd services && .venv/bin/python -m bench.scorecard $(SCORECARD)

articles: packages-run packages-kits python
	@$(BIN)/kexbench run bench-specs/articles/*.yaml
	@cd services && .venv/bin/python -m bench.articles

beside: packages-run packages-kits packages-bench python
	@$(MAKE) --silent -C workers/handshake plain-path BACKEND=fake
	@cd services && .venv/bin/python -m bench.beside ../workers/handshake/build/fake/plain_path $(BESIDE)

locks: packages-run packages-kits python
	@cd services && .venv/bin/python -m bench.locks $(LOCKS)

starts: packages-run packages-kits packages-bench python
	@$(MAKE) --silent -C workers/handshake plain-start
	@cd services && .venv/bin/python -m bench.starts ../workers/handshake/build $(STARTS)

merkle: packages-run packages-kits python
	@cd services && .venv/bin/python -m bench.merkle

# The generator has an environment of its own: neither kexbench nor its tests need it.
docs: python
	$(SAY) "documentation: staged, built, checked"
	@uv=$$($(BOOTSTRAP)/uv.sh) && cd services && UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=$(CURDIR)/$(SITE)/.venv \
		"$$uv" sync --system-certs --quiet --locked --only-group docs --python "$$(python3 -c 'import sys; print(sys.executable)')"
	@rm -rf $(SITE)/build && PYTHONPATH=$(SITE) $(BIN)/python -m sitemaker stage $(SITE)/build
	@$(SITE)/.venv/bin/sphinx-build --fail-on-warning --nitpicky --quiet --jobs auto --conf-dir $(SITE) \
		--doctree-dir $(SITE)/build/cache $(SITE)/build/source $(SITE)/build/html
	@PYTHONPATH=$(SITE) $(BIN)/python -m sitemaker check $(SITE)/build/html && echo "$(SITE)/build/html/index.html"

devcluster-binaries: python
	@$(DEVCLUSTER) binaries

devcluster: root packages-cluster python frontend
	@exec env $(DEVCLUSTER) up

CLUSTER_TESTS ?= cluster

test-cluster: root packages-cluster python frontend
	$(SAY) "services: a real cluster"
	@cd services && .venv/bin/pytest -rs -m "$(CLUSTER_TESTS)" -n 0 tests/cluster

CLICKHOUSE ?= http://kexbench:kexbench@127.0.0.1:8123
CLICKHOUSE_ENGINES ?= ReplacingMergeTree ReplicatedReplacingMergeTree

test-clickhouse: packages-run python
	@cd services && for engine in $(CLICKHOUSE_ENGINES); do \
		echo "$$engine"; \
		KEXBENCH_TEST_CLICKHOUSE=$(CLICKHOUSE) KEXBENCH_TEST_STORE_ENGINE=$$engine \
			.venv/bin/pytest -m "not builds" -n 0 -k server tests/store || exit 1; \
	done

images: frontend
	@infra/images/make.sh $(IMAGES)

# Namespaces, mounts and control groups are made.
root:
	@[ "$$(id -u)" = 0 ] || { echo "This needs root: sudo make $(MAKECMDGOALS)" >&2; exit 1; }

check: packages-check python frontend/node_modules/.package-lock.json
	@$(MAKE) $(SIDE_BY_SIDE) check-types check-services check-worker check-frontend
	@cd services && .venv/bin/python checks/sentences.py src ../frontend/src

check-types:
	$(SAY) "services: types"
	@cd services && .venv/bin/mypy && .venv/bin/mypy ../charts/tools/*.py ../infra/release/*.py

check-services:
	$(SAY) "services: format, lint, import contract"
	@cd services && .venv/bin/ruff format --check --quiet $(LINTED) && \
		.venv/bin/ruff check --quiet --config pyproject.toml $(LINTED)
	@cd services && .venv/bin/lint-imports --no-logo

check-worker:
	$(SAY) "worker: format"
	@$(MAKE) --silent -C workers/handshake format-check
	@$(MAKE) --silent -C workers/bfe format-check

check-frontend:
	$(SAY) "frontend: format, lint, types"
	@cd frontend && npm run --silent check

format: packages-check python frontend/node_modules/.package-lock.json
	$(MAKE) -C workers/handshake format
	$(MAKE) -C workers/bfe format
	cd services && .venv/bin/ruff format --config pyproject.toml $(LINTED) && \
		.venv/bin/ruff check --fix --config pyproject.toml $(LINTED)
	cd frontend && npx biome check --write

generate: python
	$(BIN)/kexbench schema bench-specs/schema
	$(MAKE) -C workers/handshake golden
	$(BIN)/python charts/tools/document.py charts/kexbench bench-specs/libraries.yaml
	PYTHONPATH=$(SITE) $(BIN)/python -m sitemaker man services/kexbench.1

screenshots: packages-run packages-kits packages-test python frontend
	@scratch=$$(mktemp -d) && export KEXBENCH_HOME=$$scratch KEXBENCH_PORT=8399 && \
		$(BIN)/kexbench run bench-specs/debian-releases.yaml >/dev/null && \
		{ $(BIN)/kexbench serve & service=$$!; trap 'kill $$service; wait $$service || true; rm -r $$scratch' EXIT; } && \
		curl --silent --fail --retry 60 --retry-connrefused --retry-delay 1 --output /dev/null \
			http://127.0.0.1:8399/api/v1/health && \
		cd frontend && KEXBENCH_URL=http://127.0.0.1:8399 npm exec -- node scripts/screenshots.mjs ../docs/results

golden:
	@find services/tests bench-specs -name '*.actual' -print -exec sh -c 'mv "$$1" "$${1%.actual}"' _ {} \;

packages-run:
	@$(BOOTSTRAP)/system-packages.sh $(BOOTSTRAP)/packages-run.txt

packages-kits:
	@$(BOOTSTRAP)/system-packages.sh $(BOOTSTRAP)/packages-kits.txt

packages-check:
	@$(BOOTSTRAP)/system-packages.sh $(BOOTSTRAP)/packages-check.txt

packages-test:
	@$(BOOTSTRAP)/system-packages.sh $(BOOTSTRAP)/packages-test.txt

# To make kits for aarch64 on a machine of another architecture; on aarch64 itself they are not needed.
packages-cross:
	@[ "$$(uname -m)" = aarch64 ] || $(BOOTSTRAP)/system-packages.sh $(BOOTSTRAP)/packages-cross.txt

packages-bench:
	@$(BOOTSTRAP)/system-packages.sh $(BOOTSTRAP)/packages-bench.txt

packages-faults:
	@$(BOOTSTRAP)/system-packages.sh $(BOOTSTRAP)/packages-faults.txt

packages-cluster:
	@$(BOOTSTRAP)/system-packages.sh $(BOOTSTRAP)/packages-cluster.txt

# uv decides itself whether anything is to be done, in a fraction of a second, as long as it is told the interpreter
# itself: with the path of a shim it would replace the environment each time. It trusts what the system trusts, so that
# a mirror or proxy with a certificate of its own works.
python: packages-run
	@[ -d $(VENV) ] || printf '\033[1m== %s\033[0m\n' "installing Python packages"
	@uv=$$($(BOOTSTRAP)/uv.sh) && cd services && \
		UV_PYTHON_DOWNLOADS=never "$$uv" sync --system-certs --quiet --locked --extra local --extra traces --extra login --python "$$(python3 -c 'import sys; print(sys.executable)')"

frontend: frontend/dist/index.html

frontend/dist/index.html: frontend/node_modules/.package-lock.json bench-specs/schema/openapi.json bench-specs/schema/vocabulary.json $(shell find frontend/src frontend/public frontend/index.html frontend/vite.config.ts frontend/tsconfig.json -type f -not -path '*/generated/*' 2>/dev/null)
	$(SAY) "building the dashboard"
	@cd frontend && npm run --silent build && touch dist/index.html

frontend/node_modules/.package-lock.json: frontend/package-lock.json
	$(SAY) "installing npm packages"
	@cd frontend && npm ci --silent --no-audit --no-fund && touch node_modules/.package-lock.json

clean:
	rm -rf $(VENV) frontend/node_modules frontend/dist $(SITE)/.venv $(SITE)/build
	$(MAKE) -C workers/handshake clean
