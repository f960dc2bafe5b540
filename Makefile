# Targets set up what they need: `make train` and `make test` work on a fresh checkout with Python 3.11 or newer.
# TORCH_INDEX_URL=URL adds a package index that carries CPU (or other) builds of torch.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3,$(shell command -v $(p) 2>/dev/null)))
# --no-compile: bytecode is made when first needed, which halves the set-up
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -q --no-compile $(if $(TORCH_INDEX_URL),--extra-index-url $(TORCH_INDEX_URL)) -c constraints.txt
# worksteal: neighbours, which share fixtures, stay in one worker; an idle worker takes from the other's end
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist worksteal --durations=10
ARGS ?=
# where it is set nothing below is ever kept, and every process compiles torch anew
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help train test test-slow check lint types quick format bench mutants docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.train: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'installing into $(VENV): minutes on a first run'
	$(PIP_INSTALL) -e '.[gnubg]'
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'installing into $(VENV): minutes on a first run'
	$(PIP_INSTALL) -e '.[gnubg,bgsage,wandb,tensorboard,onnx,serve,dev]'
	@touch $@ $(VENV)/.train

train: $(VENV)/.train ## set up, label positions, train a small net and measure it (ARGS="model=... trainer=..." for more)
	$(BIN)/python train.py $(ARGS)

test: lint ## set up, check and run the tests of seconds; says how long they took and which took longest
	@$(MAKE) --no-print-directory -j2 types quick

quick: $(VENV)/.test
	$(PYTEST) -m "not slow"

$(VENV)/.slow: $(VENV)/.test
	$(PIP_INSTALL) -e '.[ray]'
	@touch $@

test-slow: check $(VENV)/.slow ## every test, the ones of minutes and of Ray included
	$(PYTEST)

check: lint types ## lint and types

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/basedpyright --level error

format: $(VENV)/.test ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test ## speed of every hot path beside its bound
	$(BIN)/python -m benchmarks

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[docs]'
	@touch $@

docs: $(VENV)/.docs ## the documentation site, in site/ (open site/index.html)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean

mutants: $(VENV)/.test ## how many small faults the tests find: a sample, minutes (ARGS="--count 40 --seed 1 raccoon/play/dice.py")
	nice -n 5 $(BIN)/python -m benchmarks.mutants $(ARGS)

clean: ## remove the environment and caches; runs and label sets stay
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist site *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
