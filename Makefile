# make demo        train a small bot, measure it, export it, play a deal with it   (about ten minutes)
# make test        the test suite            make lint    ruff and mypy
# make test-slow   the long comparisons      make bench   speed, in a table
#
# Everything happens in .venv, made here with plain venv and pip. On Linux, PyPI's torch is the CUDA build of
# several gigabytes; README.md says how to get the CPU build: set TORCH_INSTALL to a command that installs it.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
TORCH_INSTALL ?= $(PIP) install -c constraints.txt torch

.PHONY: demo test test-slow lint bench install clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(TORCH_INSTALL)
	$(PIP) install -c constraints.txt -e ".[train,onnx,aec,play,report,openspiel,torchrl,dev]"
	touch $@

demo: install
	$(BIN)/python -m training.demo

test: install
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: install
	$(BIN)/python -m pytest -n 2 -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install
	$(BIN)/paplu bench

clean:
	rm -rf $(VENV) build dist runs
