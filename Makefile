# Everything here works on a machine that has Python 3.11 or newer and make, and nothing else.
# The environment lives in .venv; delete it to start afresh. PYTHON=/path/to/python chooses one.
.POSIX:

RUN = .venv/bin
PYTHON = python3 python3.13 python3.12 python3.11
FLOOR_PYTHON = python3.11
WORKERS = 2
MINUTES = 60

# Installs this package with the extras named in $$extra and then touches the target. Prints the
# name of each package as it is fetched. Wheels only, so that nothing is ever compiled.
INSTALL = rm -f $@; printf 'Installing jaxsolve[%s] into .venv:' "$$extra"; \
	{ $(RUN)/python -m pip install --no-input --disable-pip-version-check $$wheels \
	    --editable ".[$$extra]" && touch $@; } | \
	while read -r word name rest; do \
	    case "$$word $$name $$rest" in \
	        Collecting*|Processing*) \
	            name=$$(basename "$$name"); name=$${name%%-[0-9]*}; \
	            printf ' %s' "$${name%%[!A-Za-z0-9_.-]*}" ;; \
	        'Building wheel for '*started) printf ' (compiling)' ;; \
	        'Installing collected'*) printf '\nUnpacking ...\n' ;; \
	    esac; \
	done; test -f $@

help:
	@echo 'make demo       solve Leduc poker: a curve, its picture and a policy in runs/leduc'
	@echo 'make test       the default suite: a test of every claim, in minutes'
	@echo 'make test-slow  the other tests: larger games, more samples, the studies'
	@echo 'make test-long  those that take longest, and more cases of slow ones; make ci leaves them out'
	@echo 'make test-floors  the default suite with the lowest versions allowed (Python 3.11)'
	@echo 'make env        the development environment in .venv'
	@echo 'make lint       ruff: rules and format'
	@echo 'make types      mypy'
	@echo 'make format     rewrite the code to the format that lint expects'
	@echo 'make notebooks  check that notebook pairs agree, and execute them'
	@echo 'make write-notebooks  write each notebook anew from its .py half, with outputs'
	@echo 'make docs       build the documentation into site/'
	@echo 'make devices    what programs compile to for an H100 and a TPU (4 GB of plug-ins)'
	@echo 'make bench      speed against OpenSpiel and LiteEFG (needs a C++17 compiler)'
	@echo 'make fuzz       faults found in MINUTES=60 of random games, inputs, kills and sanitizers'
	@echo 'make ci         what has to pass before a change lands'
	@echo 'make clean      remove what these targets made, except .venv, .venv-floors and runs/'

env: .venv/dev

demo: .venv/plot
	$(RUN)/jaxsolve solve leduc --solver pcfr+ --iterations 1000 --out runs/leduc
	@echo
	@echo 'Exploitability by iteration: runs/leduc/curve.csv'
	@echo 'The same as a picture:       runs/leduc/curve.png'
	@echo 'The average policy:          runs/leduc/policy.npz'

test: .venv/dev
	$(RUN)/python -m pytest -n $(WORKERS) --dist loadfile

test-slow: .venv/dev
	JAX_DEBUG_KEY_REUSE=0 $(RUN)/python -m pytest -n $(WORKERS) --dist loadfile --timeout 900 -m "slow and not long"

test-long: .venv/dev
	JAX_DEBUG_KEY_REUSE=0 $(RUN)/python -m pytest -n $(WORKERS) --dist loadfile --timeout 900 -m long

test-floors: .venv-floors/dev
	.venv-floors/bin/python -m pytest -n $(WORKERS) --dist loadfile -W ignore::DeprecationWarning

lint: .venv/dev
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: .venv/dev
	$(RUN)/mypy

format: .venv/dev
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

notebooks: .venv/dev
	@for n in notebooks/*.ipynb; do \
	    echo "$$n"; \
	    $(RUN)/jupytext --quiet --to py:percent --output - "$$n" | diff "$${n%.ipynb}.py" - || { \
	        echo "$$n and its .py differ: run make write-notebooks" >&2; exit 1; }; \
	done
	$(RUN)/python -m pytest -n $(WORKERS) --nbmake --nbmake-timeout=300 notebooks

write-notebooks: .venv/dev
	$(RUN)/python notebooks/execute.py

docs: .venv/dev
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --strict

devices: .venv/devices
	$(RUN)/jaxsolve devices

bench: .venv/bench
	$(RUN)/jaxsolve bench --against openspiel,liteefg

fuzz: .venv/dev
	$(RUN)/python -m experiments.reliability --minutes $(MINUTES)

ci:
	.ci/run

clean:
	rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find jaxsolve games experiments tests -name __pycache__ -exec rm -rf {} + 2>/dev/null || true

# The development environment holds everything that the demo needs.
.venv/dev: .venv/python pyproject.toml
	@extra=dev; wheels=--only-binary=:all:; $(INSTALL)
	@touch .venv/plot

.venv/plot: .venv/python pyproject.toml
	@extra=plot; wheels=--only-binary=:all:; $(INSTALL)

.venv/bench: .venv/python pyproject.toml
	@extra=bench,plot; wheels=; $(INSTALL)

.venv/devices: .venv/python pyproject.toml
	@extra=devices,plot; wheels=--only-binary=:all:; $(INSTALL)

# The oldest Python with the lowest versions that pyproject.toml allows, in an environment of their
# own. Old packages use what the newest ones below them deprecate: such warnings are no errors there.
.venv-floors/dev: pyproject.toml .ci/floors.py
	$(FLOOR_PYTHON) -m venv --clear .venv-floors
	.venv-floors/bin/python .ci/floors.py > .venv-floors/constraints.txt
	.venv-floors/bin/python -m pip install --quiet --no-input --disable-pip-version-check \
	    --only-binary=:all: --constraint .venv-floors/constraints.txt --editable '.[dev]'
	touch .venv-floors/dev

.venv/python:
	@found=; for c in $(PYTHON); do \
	    if "$$c" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        found=$$c; break; \
	    fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo 'jaxsolve needs Python 3.11 or newer, and found none in: $(PYTHON).' >&2; \
	    echo 'Install one, or name it: make PYTHON=/path/to/python3.12' >&2; \
	    exit 1; \
	fi; \
	"$$found" -m venv --clear .venv && touch .venv/python || { \
	    echo "$$found could not make a virtual environment; on Debian and Ubuntu:" >&2; \
	    echo 'install the package python3-venv' >&2; rm -rf .venv; exit 1; }

.NOTPARALLEL:
.PHONY: help env demo test test-slow test-long test-floors lint types format notebooks write-notebooks docs devices bench fuzz ci clean
