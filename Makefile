# Thin names over tools/ and the CMake presets; `make help` lists them.
JOBS ?= $(shell nproc)
# Many tests wait for a process or a clock.
TEST_JOBS ?= $(shell expr 2 '*' $(JOBS))
RELEASE := build/release
PREFIX ?= /usr/local
DEMO_RUN := build/demo
SCRIPTS := .ci/run tools/bootstrap tools/build-wheel tools/demo tools/fuzz tools/gen-rule-docs tools/gen-stubs tools/python-env \
	tools/python-package tests/fake_device/run tests/libtorch/run tests/package/run tests/xgboost_cpp/run
CXX_FILES = $(shell git ls-files '*.h' '*.cc')

# What one build folder has compiled, the compiler's cache gives to the others.
export CCACHE_NOHASHDIR := 1
export CCACHE_BASEDIR := $(CURDIR)

.DEFAULT_GOAL := help
.PHONY: help build install demo test test-cpp bench wheel lint format asan tsan fuzz soak clean bootstrap configured

help: ## Show this list.
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

bootstrap:
	@tools/bootstrap build

# tools/bootstrap may have removed the build folder, so this looks after it has run.
configured: bootstrap
	@test -f $(RELEASE)/build.ninja || cmake --preset release

build: configured ## Build the command line: build/release/bin/smdebug.
	cmake --build --preset release -j $(JOBS) --target smdebug_program

install: configured ## Install command line, C++ library and headers below PREFIX (/usr/local).
	cmake --build --preset release -j $(JOBS) --target smdebug_program smdebug_shared
	cmake --install $(RELEASE) --component devel --prefix $(PREFIX)

demo: configured ## Train a network that goes wrong, with a rule that stops it; then with the fix.
	JOBS=$(JOBS) tools/demo $(RELEASE) $(DEMO_RUN)

TEST_GROUPS := torch113 xgb17 xgboost browser
ENVIRONMENTS := build torch reftorch ref tb xgb recipes torch113 xgb17 refxgb

test: configured ## Build and run every test: C++, then Python.
	@tools/bootstrap shells || echo 'the tests that need them are skipped'
	@echo 'making the Python environments meanwhile; see build/python-env.log'
	@(for group in $(TEST_GROUPS); do tools/bootstrap $$group; done; tools/python-env $(ENVIRONMENTS)) \
	  >build/python-env.log 2>&1 & environments=$$!; \
	  $(MAKE) --no-print-directory test-cpp; code=$$?; \
	  if kill -0 $$environments 2>/dev/null; then \
	    echo 'waiting for the Python environments; so far:'; \
	    tail -n +1 -f --pid=$$environments build/python-env.log; \
	  fi; exit $$code
	tools/test-python $(RELEASE) $(TEST_PYTHON_OPTIONS)

test-cpp: configured ## Build and run the C++ tests alone.
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -j $(TEST_JOBS)

bench: bootstrap ## Measure beside smdebug 1.0; writes build/bench/report.json.
	cmake --preset bench
	cmake --build --preset bench -j $(JOBS) --target benchmarks
	tools/bootstrap xgb17
	tools/python-env ref torch reftorch xgb17 refxgb
	tools/python-package torch
	tools/python-package xgb17
	tests/libtorch/run $(CURDIR)/build/bench $(CURDIR)/build/bench/libtorch \
	  "$$(.venv-torch/bin/python -c 'import torch; print(torch.utils.cmake_prefix_path)')" libtorch_bench
	bench/compare.py --build build/bench

wheel: bootstrap ## Build the Python package for others: build/wheel/*.whl, tried in a clean environment.
	tools/build-wheel

lint: ## Check formatting, clang-tidy, ruff, mypy and shellcheck.
	@tools/bootstrap build lint
	@tools/python-env tools
	clang-format --dry-run -Werror $(CXX_FILES)
	shellcheck $(SCRIPTS)
	.venv-tools/bin/ruff format --check .
	.venv-tools/bin/ruff check .
	.venv-tools/bin/mypy
	tools/check_layers.py
	cmake --preset tidy
	cmake --build --preset tidy -j $(JOBS) -- -k 0

format: ## Rewrite the files as `make lint` wants them.
	@tools/bootstrap build lint
	@tools/python-env tools
	clang-format -i $(CXX_FILES)
	.venv-tools/bin/ruff format .
	.venv-tools/bin/ruff check --fix .

asan: bootstrap ## Run the C++ tests under address and undefined-behaviour sanitizers.
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(TEST_JOBS)

tsan: bootstrap ## Run the C++ tests under the thread sanitizer.
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan -j $(TEST_JOBS)

fuzz: ## Fuzz what reads files, FUZZ_SECONDS (60) for each input.
	@tools/bootstrap build lint
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)
	tools/fuzz build/fuzz

soak: configured ## Kill jobs SMDEBUG_KILLS (1000) times at random moments, in used folders.
	cmake --build --preset release -j $(JOBS) --target crash_test
	SMDEBUG_KILLS=$${SMDEBUG_KILLS:-1000} $(RELEASE)/bin/crash_test --gtest_filter='KillLoopTest.*'

clean: ## Remove what was built; environments stay.
	rm -rf build
