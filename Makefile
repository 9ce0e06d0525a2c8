# Every target sets up what it needs in .venv; Python 3.11+ and make are all it takes.
#   make demo     learn the embedded digits with each rule (about a minute after the install)
#   make test     lint, types and tests
#   make bench    speed and memory, as ratios taken in one run
#   make reproduce  the paper's tables and figures, ours beside them (hours; goes on where it was stopped)
#   make lint     form and types only

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

# Real data sets: KENYON_DATA where it is set, else ./data, filled where a copy of the sets lies beside the checkout.
DATA := $(abspath $(or $(KENYON_DATA),data))
SETS := $(wildcard ../shared/data/unpack)
export KENYON_DATA := $(DATA)

.PHONY: setup demo test bench reproduce lint data clean
.DELETE_ON_ERROR:

$(VENV)/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

$(VENV)/all: $(VENV)/core
	$(PIP) --editable ".[backbones,baselines,data,plot,ray,river,search,test]" imagecodecs
	touch $@

setup: $(VENV)/all

data: $(VENV)/all
	@mkdir -p $(DATA)
	@$(if $(SETS),$(BIN)/python $(SETS) $(DATA),echo "No copy of the real data sets here: 'kenyon data download' fetches them.")

demo: $(VENV)/core
	$(BIN)/python examples/split_digits.py

lint: $(VENV)/all
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check --quiet src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

test: lint data
	$(BIN)/python -m pytest -n 2 --dist loadfile

bench: data
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/split_mnist.py
	$(BIN)/python benchmarks/loop.py
	$(BIN)/python benchmarks/baselines.py

reproduce: data
	$(BIN)/kenyon reproduce --out runs --results docs/results

clean:
	rm -rf $(VENV) build dist src/*.egg-info
