# `make demo` and `make test` do everything on a fresh machine: python3, a C compiler and the package index are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
LINTERS := $(VENV)/.linters
SOURCES := setup.py $(shell find csrc qrt/_seam -name '*.[ch]' -o -name '*.def' -o -name flags -o -name '*.p[yx][xdi]')
BUILT := build/.built

.PHONY: build demo test test-oracle lint format bench bench-peers clean

build: $(BUILT)

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "setuptools>=77" "Cython>=3.1" "numpy>=2.0"
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[test]"
	mkdir -p $(@D) $(dir $(BUILT))
	touch $@ $(BUILT)

$(LINTERS): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group lint
	touch $@

# The editable installation has just built everything; later changes of the C code are built in place.
$(BUILT): $(INSTALLED) $(SOURCES)
	@if test -n "$$(find $(SOURCES) -newer $@)"; then set -x; $(BIN)/python setup.py --quiet build_ext --inplace; fi
	@touch $@

demo: build
	$(BIN)/python -m examples.digits.demo

test: build
	$(BIN)/python -m pytest

# Against real software: fails where it cannot be installed.
test-oracle: build
	$(BIN)/python -m pip install --quiet --group oracle
	QRT_REQUIRE_ORACLE=1 $(BIN)/python -m pytest tests/oracle tests/reference tests/docs tests/ir tests/passes tests/ops/test_elementwise_runner.py

lint: build $(LINTERS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest qrt._seam._core qrt._seam.calls
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(shell find csrc -name '*.[ch]')

format: $(LINTERS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(shell find csrc -name '*.[ch]')

bench: build
	$(BIN)/python -m pytest benches --benchmark-only

# Beside other runtimes, which live in an environment of their own. PEERS is the harness that times them.
PEERS ?= ../shared/bench/peers.py
PEERS_VENV ?= .venv-peers

$(PEERS_VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install --quiet --upgrade pip
	$(PEERS_VENV)/bin/python -m pip install --quiet --group peers
	touch $@

bench-peers: build $(PEERS_VENV)/.installed
	$(PEERS_VENV)/bin/python benches/performance.py --harness $(PEERS)

clean:
	rm -rf build dist *.egg-info
	find qrt -name '*.so' -delete -o -name '__pycache__' -prune -exec rm -rf {} +
