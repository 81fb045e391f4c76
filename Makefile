# The only door: `make` lists what is behind it.  Python 3.11 or newer, git and make are all that has to be there.

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
UV := $(shell uv --version >/dev/null 2>&1 && command -v uv || echo .tools/bin/uv)
MANIFESTS := pyproject.toml uv.lock $(wildcard libs/*/pyproject.toml services/*/pyproject.toml)

export UV_PYTHON_DOWNLOADS := never
export UV_PYTHON_PREFERENCE := only-system

.DEFAULT_GOAL := help
.PHONY: help setup up test check contracts bench chaos check-night

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.synced ## install everything that uv.lock names; leaves .venv/bin/headway

up: setup ## run the whole platform with its sample (ARGS="APP --port 8080" for your own)
	@exec $(BIN)/headway up $(ARGS)

check: setup ## lint, format, types, layers, sizes, contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest tests/architecture $(ARGS)

test: setup ## every test but those of `make check` (ARGS="-k name" for some)
	$(BIN)/pytest -n $(WORKERS) --ignore=tests/architecture -m "not chaos" $(ARGS)

contracts: setup ## write contracts/ again from the code
	$(BIN)/python -m tests.architecture.generated

bench: setup ## the benchmarks, as JSON
	UV="$(UV)" $(BIN)/python -m benchmarks $(ARGS)

chaos: setup ## kill and check (ARGS="--seed 7" replays one scenario)
	$(BIN)/pytest tests/chaos -m chaos $(ARGS)

check-night: check test bench chaos ## everything, slow parts included, and ten times the examples
	HEADWAY_NIGHT=1 $(BIN)/pytest -n $(WORKERS) tests/core

.venv/.synced: $(MANIFESTS) | python $(filter .tools/%,$(UV))
	UV_PYTHON="$(PYTHON)" $(UV) sync --frozen
	@touch $@

.PHONY: python
python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Headway needs Python 3.11 or newer and $(PYTHON) is $$($(PYTHON) -V 2>&1); name another: make PYTHON=python3.12 ..."; exit 1; }

# Debian's bare python3 has neither ensurepip nor pip: root may add them, anyone else is told what to install.
.tools/bin/uv: | python
	@rm -rf .tools; echo "installing uv into .tools/"; \
	in_venv() { $(PYTHON) -m venv .tools >/dev/null 2>&1 && .tools/bin/python -m pip install --quiet uv; }; \
	in_folder() { rm -rf .tools && $(PYTHON) -m pip install --quiet --target .tools uv 2>/dev/null; }; \
	with_apt() { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv >/dev/null && rm -rf .tools && in_venv; }; \
	in_venv || in_folder || with_apt || { rm -rf .tools; echo "uv could not be installed: install uv, or python3-venv, and try again"; exit 1; }
