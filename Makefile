# Everything that is done with this checkout. Needs Python 3.11 or later, make and a package index, nothing else.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
# What is imported is compiled then, and kept: to compile every package first takes longer than to install them.
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
unexport PYTHONDONTWRITEBYTECODE
LISTINGS := data/hyperpav
# Tests of a file stay together, since they share what it computes; notebooks have a target of their own.
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -p no:nbmake

DOCS := build/docs
RUN := build/notebooks
LOCK := requirements.lock
PYTHONS ?= python3.11 python3.12 python3.13
FUZZ_SECONDS ?= 60
PORT ?= 8000

.PHONY: answers audit fuzz lock mutants sbom test-wheel
.PHONY: demo docs docs-serve test test-all nightly test-oldest check format coverage bench models examples pictures notebooks test-notebooks clean

demo: $(VENV)/core
	$(BIN)/planner aliases pool $(LISTINGS)/pool-0-aliases.listing
	$(BIN)/planner aliases volume $(LISTINGS)/522A-0-aliases.listing

# The law of every public function, every command and every kind of bad input once: what to run before a commit.
test: $(VENV)/test
	FUZZ_EXAMPLES=5 $(PYTEST) --hypothesis-profile=brief -m "not long and not slow"

# Every case of them, simulations, fuzzing and pinned answers: what CI runs.
test-all: $(VENV)/test
	$(PYTEST)

# What is too long for every change: accuracy of pools against simulation, slow tests, notebooks, oldest releases.
nightly: $(VENV)/test
	$(BIN)/python -m tests.queueing.alias_pool.accuracy
	FUZZ_EXAMPLES=20000 $(BIN)/python -m pytest -n $(JOBS) tests/fuzz
	FUZZ_EXAMPLES=500 $(PYTEST) --hypothesis-profile=nightly -m "slow or not slow"
	$(MAKE) answers mutants audit test-notebooks test-oldest

# A wheel, installed into a fresh environment of each Python, and the tests without the code beside them.
test-wheel: $(VENV)/test
	rm -rf build/wheel && mkdir -p build/wheel
	$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir build/wheel .
	for python in $(PYTHONS); do $(BIN)/python -m tests.wheel $$python build/wheel/*.whl || exit 1; done

# Damaged files and odd numbers, counted; the byte-level readers also led by coverage, where atheris has a release.
fuzz: $(VENV)/test
	$(BIN)/python -m tests.fuzz.count --keep --inputs 1000000 --seconds $(FUZZ_SECONDS)
	$(PIP) --editable '.[test,fuzz]' && $(BIN)/python -m tests.fuzz.guided --seconds $(FUZZ_SECONDS)

# Counts that are answered: a million of servers, ten thousand of aliases, each held against its target.
answers: $(VENV)/test
	$(BIN)/python -m tests.fuzz.answers --servers 1000000 --aliases 10000

# Changes of the code that the tests must notice; takes an hour or two.
mutants: $(VENV)/test
	$(BIN)/python -m tests.mutants --count 300

# Pins every package of the tests, notebooks and docs with its hash, for every Python that they support.
lock: $(VENV)/audit
	$(BIN)/uv pip compile setup.cfg --universal --generate-hashes --python-version 3.11 --extra test --extra notebook --extra docs \
	  --no-emit-index-url --no-header --quiet --output-file $(LOCK)

# Known holes in what is pinned; needs the network.
audit: $(VENV)/audit
	$(BIN)/pip-audit --require-hashes --disable-pip --requirement $(LOCK)

# What is pinned, as a bill of materials in CycloneDX.
sbom: $(VENV)/audit
	mkdir -p build
	$(BIN)/cyclonedx-py requirements $(LOCK) --pyproject pyproject.toml --output-format JSON --output-file build/sbom.json

# With the oldest release of each package that setup.cfg admits; their own warnings do not count.
test-oldest: $(VENV)/made
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[test]' \
	  $$(sed -n '/^install_requires/,/^$$/s/^ *\(.*\)>=/\1==/p' setup.cfg)
	$(VENV)-oldest/bin/python -m pytest -n $(JOBS) -W default

check: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

coverage: $(VENV)/test
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage report

bench: $(VENV)/bench
	OMP_NUM_THREADS=1 $(BIN)/python tests/bench/queueing_speed.py
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.bench.bench_alias_pool
	OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m tests.bench.bench_monitor 70
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.bench.bench_readers 100
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.bench.bench_page

# Writes the shipped model files again; git shows whether anything changed.
models: $(VENV)/core
	$(BIN)/python -c "from pathlib import Path; from planner.published import write_left_out, write_models; \
	  write_models(Path('models')); write_left_out(Path('models/left-out'))"

# Runs the commands of README.md and docs/ and writes what they print below them; a test holds that they agree.
examples: $(VENV)/test
	$(BIN)/python -m tests.examples

# Draws the pictures of README.md and docs/ again, and keeps what they show beside them, which a test compares; look at
# them before you commit them.
pictures: $(VENV)/test
	$(BIN)/python -m tests.pictures

notebooks: $(VENV)/notebook
	$(BIN)/jupyter lab notebooks

# From a wheel, outside of the checkout; what they print is kept for the site, so they run once for both.
test-notebooks: $(RUN)/done

$(RUN)/done: $(VENV)/notebook $(shell find notebooks planner models data -type f -not -name '*.pyc')
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.run_notebooks $(RUN) $(JOBS)
	@touch $@

# The documentation site: pages, reference and notebooks with their output; a warning is an error. Open $(DOCS)/html/index.html.
docs: $(VENV)/docs $(RUN)/done
	rm -rf $(DOCS)
	$(BIN)/python docs/gather.py $(DOCS)/source $(RUN)
	$(BIN)/sphinx-build -q -W --keep-going -b html $(DOCS)/source $(DOCS)/html
	$(BIN)/python -m tests.docs.links $(DOCS)/html

# The same site in a browser, at http://localhost:8000 (PORT=8001 where that is taken).
docs-serve: docs
	$(BIN)/python -m http.server --bind localhost --directory $(DOCS)/html $(PORT)

clean:
	rm -rf $(VENV) $(VENV)-oldest build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

# A stamp a set of packages; installed again when what they are made from changed.
$(VENV)/core: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable .
	@touch $@

# In CI every package is the one of the lock, held by its hash, all at once; elsewhere the newest that setup.cfg admits.
ifeq ($(CI),true)
# uv takes seconds for what takes pip a minute; where it has no release, or does not reach the index, pip does it.
$(VENV)/test: LOCKED = --require-hashes --requirement $(LOCK)
$(VENV)/test: $(VENV)/made setup.cfg pyproject.toml $(LOCK)
	{ $(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python \
	  $${PIP_INDEX_URL:+--index-url "$$PIP_INDEX_URL"} $(LOCKED); } || $(PIP) $(LOCKED)
	$(PIP) --editable '.[test,notebook,docs]'
	@touch $@ $(VENV)/core

$(VENV)/notebook $(VENV)/docs: $(VENV)/test
	@touch $@
else
$(VENV)/test: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable '.[test]'
	@touch $@ $(VENV)/core

$(VENV)/notebook: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable '.[test,notebook]'
	@touch $@

$(VENV)/docs: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable '.[notebook,docs]'
	@touch $@
endif

$(VENV)/audit: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable '.[audit]'
	@touch $@

$(VENV)/bench: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable '.[test,bench]'
	@touch $@

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or later is needed, and $(PYTHON) is not: name one, as in make PYTHON=python3.12"; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) -m venv is missing: install the package python3-venv (Debian, Ubuntu) or a full Python 3.11"; \
	  exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@
