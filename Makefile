# Every target sets up what it needs in .venv; Python 3.11+ and make are all it takes.
#   make demo     learn the embedded digits with each rule (about a minute after the install)
#   make test     lint, types and the fast tests (minutes, install included)
#   make test-all everything: all extras, real data sets, browser, Ray, C builds, kills, lowest versions
#   make test-browser  the pages, in Chromium
#   make test-lowest  the core's tests with the lowest versions that pyproject.toml declares
#   make test-logs  the logs to MLflow and Weights & Biases, against the real packages
#   make docs     the documentation as a site in site/, every example run
#   make bench    speed and memory, as ratios taken in one run
#   make reproduce  the paper's tables and figures, ours beside them (hours; goes on where it was stopped)
#   make fuzz     hostile files by the thousand, from a seed (FUZZ_CASES=20000 of each kind, FUZZ_SEED=0)
#   make kills    runs, searches and sweeps killed at random moments and started again (KILLS=1000)
#   make wheels   wheels for Linux, macOS and Windows, compiled here by Zig, into dist/
#   make lint     form, types and directions of imports only

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile --constraint constraints.txt
LOWEST := .venv-lowest
LOGS := .venv-logs
# A test process for each processor that this command may use.
PROCESSES ?= $(shell nproc 2> /dev/null || echo 2)
SPREAD := -n $(PROCESSES) --dist worksteal
CODE := src tests benchmarks examples tools

# Real data sets: KENYON_DATA where it is set, else ./data, filled where a copy of the sets lies beside the checkout.
DATA := $(abspath $(or $(KENYON_DATA),data))
SETS := $(wildcard ../shared/data/unpack)
export KENYON_DATA := $(DATA)

# Bytecode is written where it is first needed, not at the install, whatever the surroundings say.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup demo test test-all test-browser test-lowest test-logs docs bench reproduce fuzz kills wheels lint data clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	touch $@

$(VENV)/test: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable ".[data,plot,test,lint]"
	touch $(VENV)/core $@

# What the copies of the data sets are unpacked with, beside the rest of the install.
$(VENV)/codecs: $(VENV)/core
	$(PIP) imagecodecs
	touch $@

$(VENV)/all: $(VENV)/test $(VENV)/codecs
	$(PIP) --editable ".[test-all]"
	touch $@

setup: $(VENV)/all

data: $(VENV)/codecs
	@mkdir -p $(DATA)
	@$(if $(SETS),$(BIN)/python $(SETS) $(DATA),echo "No copy of the real data sets here: 'kenyon data download' fetches them.")

demo: $(VENV)/core
	$(BIN)/python examples/split_digits.py

lint: $(VENV)/test
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check --quiet $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

test: lint
	$(BIN)/python -m pytest $(SPREAD)

test-all: lint test-lowest $(VENV)/all data
	$(BIN)/python -m pytest -m "" $(SPREAD)

test-browser: $(VENV)/test
	$(PIP) selenium
	$(BIN)/python -m pytest -q -m browser

# What needs PyTorch, Ray, River or DeepHyper has bounds of its own; here are the core, the data sets and the pictures.
$(LOWEST)/done: pyproject.toml tools/lowest.py
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python tools/lowest.py data plot test > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet \
	  --constraint $(LOWEST)/constraints.txt --editable ".[data,plot,test]"
	touch $@

test-lowest: $(LOWEST)/done
	$(LOWEST)/bin/python -m pytest $(SPREAD)

# MLflow and Weights & Biases are large, and bring servers along, so they have an environment of their own.
$(LOGS)/done: pyproject.toml constraints-logs.txt
	test -x $(LOGS)/bin/python || $(PYTHON) -m venv $(LOGS)
	$(LOGS)/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints-logs.txt \
	  --editable ".[mlflow,wandb,tensorboard,test]"
	touch $@

test-logs: $(LOGS)/done
	$(LOGS)/bin/python -m pytest tests/lab/watchers

$(VENV)/docs: $(VENV)/all
	$(PIP) --editable ".[docs]"
	touch $@

docs: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

bench: $(VENV)/all data
	$(BIN)/python benchmarks/first_use.py
	$(BIN)/python benchmarks/binding.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/windows.py
	$(BIN)/python benchmarks/split_mnist.py
	$(BIN)/python benchmarks/loop.py
	$(BIN)/python benchmarks/sweeps.py
	$(BIN)/python benchmarks/server.py
	$(BIN)/python benchmarks/baselines.py

reproduce: $(VENV)/all data
	$(BIN)/kenyon reproduce --out runs --results docs/results

FUZZ_CASES ?= 20000
FUZZ_OPERATIONS ?= 100000
FUZZ_SEED ?= 0
fuzz: $(VENV)/all
	PYTHONPATH=tools $(BIN)/python -m fuzz --cases $(FUZZ_CASES) --seed $(FUZZ_SEED)
	PYTHONPATH=tests $(BIN)/python tests/operations.py --operations $(FUZZ_OPERATIONS) --seed $(FUZZ_SEED)
	PYTHONPATH=tools $(BIN)/python tools/fuzz_buffers.py --runs $(FUZZ_CASES) --seed $(FUZZ_SEED)

# A thousand of them take about an hour on two processors.
KILLS ?= 1000
kills: $(VENV)/all
	PYTHONPATH=tools $(BIN)/python tools/kills.py --kills $(KILLS)

$(VENV)/wheels: $(VENV)/core
	$(PIP) build ziglang
	touch $@

wheels: $(VENV)/wheels
	$(BIN)/python tools/wheels.py

clean:
	rm -rf $(VENV) $(LOWEST) $(LOGS) site build dist src/*.egg-info
