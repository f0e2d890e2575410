# Each target makes .venv, installs what it needs with the tested versions, and does its job.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-engines fuzz lint format docs bench clean
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

docs: $(VENV)/installed-docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/installed-test
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) build dist docs/_build demo_output .pytest_cache .ruff_cache .hypothesis .coverage*
