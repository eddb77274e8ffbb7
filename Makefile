# Everything that is done with this checkout. Needs Python 3.11 or later, make and a package index, nothing else.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
LISTINGS := data/hyperpav

DOCS := build/docs
RUN := build/notebooks

.PHONY: demo docs test test-all nightly test-oldest check format coverage bench models examples pictures notebooks test-notebooks clean

demo: $(VENV)/core
	$(BIN)/planner aliases pool $(LISTINGS)/pool-0-aliases.listing
	$(BIN)/planner aliases volume $(LISTINGS)/522A-0-aliases.listing

test: $(VENV)/test
	$(BIN)/python -m pytest -n $(JOBS)

# What is too long for every change: accuracy of pools against simulation, slow tests, notebooks, oldest releases.
nightly: $(VENV)/test
	$(BIN)/python -m tests.queueing.alias_pool.accuracy
	$(MAKE) test-all test-notebooks test-oldest

test-all: $(VENV)/test
	$(BIN)/python -m pytest -n $(JOBS) -m "slow or not slow"

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
	$(BIN)/sphinx-build -q -W --keep-going -j $(JOBS) -b html $(DOCS)/source $(DOCS)/html
	$(BIN)/python -m tests.docs.links $(DOCS)/html

clean:
	rm -rf $(VENV) $(VENV)-oldest build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

# A stamp a set of packages; installed again when what they are made from changed.
$(VENV)/core: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable .
	@touch $@

$(VENV)/test: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable '.[test]'
	@touch $@ $(VENV)/core

$(VENV)/notebook: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable '.[test,notebook]'
	@touch $@

$(VENV)/docs: $(VENV)/made setup.cfg pyproject.toml
	$(PIP) --editable '.[notebook,docs]'
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
