# Each target makes .venv, installs what it needs with the tested versions, and does its job.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-engines test-browser test-oldest test-newest fuzz lint format typecheck docs bench results-pages release-check clean
.DEFAULT_GOAL := test

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras; a changed pyproject.toml or constraints.txt installs anew.
$(VENV)/installed-%: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e ".[$*]"
	@touch $@

demo: $(VENV)/installed-all
	$(BIN)/python examples/plot_demo.py

test: $(VENV)/installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term $(ARGS)

# dask is tested with the rest; Ray and Spark, which are large, here. Spark needs Java 17.
test-engines: $(VENV)/installed-test $(VENV)/installed-ray $(VENV)/installed-spark
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/test_engines.py tests/test_recipes.py

# Pages in a headless Chromium, which has to be there (apt-get install chromium).
test-browser: $(VENV)/installed-test-browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/browser $(ARGS)

# The same tests with the oldest versions that pyproject.toml admits, and with the newest there are.
# Each has an environment of its own; `make test-oldest ARGS=tests/graph` runs a part.
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet -c constraints-oldest.txt -e ".[test,parquet]"
	OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n 2 --dist worksteal $(ARGS)

# The newest torch for Linux is gigabytes of CUDA; `make test-newest TORCH=torch==2.13.0` takes another.
TORCH ?= torch
test-newest:
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager "$(TORCH)" -e ".[test,parquet]"
	OMP_NUM_THREADS=1 .venv-newest/bin/python -m pytest -n 2 --dist worksteal $(ARGS)

# Tens of thousands of drawn inputs and damaged files; each part prints how many. FUZZ=10 and
# FUZZ_FILES=1000 are shorter.
FUZZ       ?= 30
FUZZ_FILES ?= 10000
fuzz: $(VENV)/installed-test
	OMP_NUM_THREADS=1 SKLEARN_MRMP_FUZZ=$(FUZZ) $(BIN)/python -m pytest -q tests/properties
	for script in tests/fuzz/fuzz_*.py; do \
		OMP_NUM_THREADS=1 $(BIN)/python $$script --count $(FUZZ_FILES) || exit 1; done

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The hints are consistent, and serve somebody who writes code with them. That they are those of
# the code is for tests/hints/test_type_hints.py.
typecheck: $(VENV)/installed-typecheck
	$(BIN)/python -m mypy

docs: $(VENV)/installed-docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/installed-test
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

# The tables and pictures of README and docs that are made from CSV files in docs/results.
results-pages: $(VENV)/installed-all
	$(BIN)/python -m sklearn_mrmp results --csv docs/results/results.csv --write --picture docs/images/results_ranks.png
	$(BIN)/python benchmarks/paper_table.py
	$(BIN)/python benchmarks/pareto.py --plot

# Builds what would be published, looks into it, and uses it in an empty environment.
release-check: $(VENV)/installed-release
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) .venv-oldest .venv-newest build dist docs/_build demo_output .pytest_cache .ruff_cache .hypothesis .coverage*
