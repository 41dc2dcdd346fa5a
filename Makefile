# The project's commands; `make` alone lists them. Paths are relative, so that the folders may have any name.

# With LC_ALL=C, Python 3.11 cannot start from a folder whose name is not ASCII; with LC_ALL unset, it can.
ifneq ($(filter C POSIX,$(LC_ALL)),)
unexport LC_ALL
endif

# In this mode of Python no file in this folder and no variable can stand in for a module of the standard library.
EDITIONS = .venv/bin/python -I -m editions

# IN=zh gives the lab, the decks, the site and the student edition in Chinese.
SUFFIX = $(if $(IN),-$(IN))
LANGUAGE_OF = $(if $(IN),--language '$(IN)')

LESSONS ?= $(sort $(wildcard notebooks/*.ipynb notebooks/*/*.ipynb))

.PHONY: help setup jax lab test test-all soak mutants benchmark execute translations slides site student grade lock clean

help: ## lists these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## makes .venv, as all commands below do when they need it (PYTHON=... names the Python to use)
	@sh ./setup.sh

NO_JAX = $(wildcard .venv/lib/python3.10 .venv/lib/python3*/site-packages/mxnet)
WHY_NO_JAX = JAX needs Python 3.11 or newer, and NumPy 2, so it cannot be beside MXNet, which needs NumPy 1: \
	PYTHON=python3.13 make jax makes .venv anew, for the PyTorch track with JAX
jax: setup ## adds JAX to the PyTorch track, for one deeper notebook (where MXNet is: PYTHON=python3.13 make jax)
	$(if $(NO_JAX),@echo 'make jax: $(WHY_NO_JAX)' >&2; exit 1)
	.venv/bin/python -I -m pip install --disable-pip-version-check --quiet -r requirements-jax.txt

# The launcher makes Jupyter listen only on this machine, unless IP names another address, and always ask for a token.
OWN = my-lessons$(SUFFIX)
STORED = $(if $(IN),build/stored$(SUFFIX),notebooks)
OPENED = $(if $(filter stored,$(LESSONS)),$(STORED),$(OWN))
lab: setup ## opens your own copy of the lessons (LESSONS=stored: the originals, to present; IP=0.0.0.0 in a container)
	$(if $(filter $(OWN),$(OPENED)),$(EDITIONS) copies $(OWN) $(LANGUAGE_OF))
	$(if $(filter build/%,$(OPENED)),$(EDITIONS) stored $(STORED) $(LANGUAGE_OF))
	$(EDITIONS) lab $(OPENED) --ip "$(or $(IP),127.0.0.1)" $(LANGUAGE_OF) -- $(LAB_ARGS)

EVERYTHING = $(if $(ALL),--all)
NBGRADER = .venv/bin/uv pip install --quiet --python .venv --requirements pyproject.toml --extra nbgrader
test: setup ## runs what has changed of the tests, and of 16 notebooks without their exercises (ALL=1 runs all of it)
	.venv/bin/python -m pytest $(EVERYTHING) $(ARGS)

test-all: setup ## also runs the slow tests: exercises, the other notebooks, ablations, browsers (half an hour)
	$(if $(CI),$(NBGRADER))
	$(if $(CI),$(if $(NO_JAX),,$(MAKE) jax))
	.venv/bin/python -m pytest -m 'not weekly' $(EVERYTHING) $(ARGS)

soak: setup ## runs the lessons again and again, every fourth time with all cores busy (RUNS=20)
	.venv/bin/python tests/soak.py $(or $(RUNS),20)

mutants: setup ## changes the code, and lists what no test notices (hours; MODULES=... names some, SAMPLE=4 tries few)
	.venv/bin/uv pip install --quiet --python .venv --requirements pyproject.toml --extra mutants
	.venv/bin/python tests/mutants.py $(or $(SAMPLE),0) $(MODULES)

benchmark: setup ## races the helpers, their peers and the limits, and writes a page about it (ARGS=FOLDER: there)
	.venv/bin/python benchmarks/collect.py $(ARGS)

# Times and widgets would differ in every run, and stored widgets break previews, so text is stored in their place. What
# a cell prints in several pieces becomes one after the run; nbconvert's --coalesce-streams would join before it.
JOIN = nbconvert.preprocessors.CoalesceStreamsPreprocessor
execute: setup ## runs the lessons from fresh kernels and stores them (LESSONS=... names some)
	D2LHELPERS_WIDGETS=0 .venv/bin/python -m nbconvert --to notebook --execute --inplace \
		--NotebookExporter.preprocessors=$(JOIN) --ExecutePreprocessor.timeout=600 \
		--ExecutePreprocessor.record_timing=False --ExecutePreprocessor.store_widget_state=False $(LESSONS)

translations: setup ## finds what is new in English, for translators (IN=zh: Chinese, for lab, slides, site, student, grade)
	$(EDITIONS) translations

slides: setup ## makes a deck of every lesson in build/slides, which opens without a network (PDF=1: also PDFs)
	$(EDITIONS) slides build/slides$(SUFFIX) $(LANGUAGE_OF) $(if $(PDF),--pdf)

site: setup ## makes a site in build/site (PDF=1, EPUB=1: also as a book; REPOSITORY=owner/name: Binder, Colab, Kaggle)
	$(EDITIONS) site build/site$(SUFFIX) $(LANGUAGE_OF) --repository='$(REPOSITORY)' $(if $(PDF),--pdf) $(if $(EPUB),--epub)

student: setup ## makes an edition without solutions and outputs in build/student: assignments for nbgrader
	$(EDITIONS) student build/student$(SUFFIX) $(LANGUAGE_OF)

# The shell reads names of files from its environment, so that they may have quotes, and neither it nor make expands them.
NOTHING_SUBMITTED = name what was submitted
NOTHING_SUBMITTED-zh = 请写明交来的作业在哪里
grade: export SUBMITTED := $(or $(value SUBMISSIONS),$(value HANDED_IN))# the earlier name of SUBMISSIONS
grade: setup ## grades what students submitted (SUBMISSIONS=folder, or a zip file; LESSON=... grades one)
	$(if $(SUBMITTED),,$(error $(NOTHING_SUBMITTED$(SUFFIX)): make grade SUBMISSIONS=folder))
	$(EDITIONS) grade "$$SUBMITTED" $(if $(LESSON),--lesson "$$LESSON") $(LANGUAGE_OF) $(ARGS)

# "fewest" keeps one version of each package for Python 3.10 and 3.11, so CI's run with one of them holds for both. The
# PyTorch track's lock cannot do the same: no version of NumPy runs with both Python 3.10 and 3.14.
LOCK = .venv/bin/uv pip compile --quiet --universal --python-version 3.10 --no-python-downloads \
	--annotation-style line --custom-compile-command "make lock" $(ARGS) pyproject.toml
lock: setup ## compiles the three requirements files from pyproject.toml (ARGS=--upgrade takes the newest versions)
	$(LOCK) --extra mxnet --extra pytorch --extra lessons --extra test --fork-strategy fewest --output-file requirements.txt
	$(LOCK) --extra pytorch --extra lessons --extra test --output-file requirements-pytorch.txt
	$(LOCK) --extra pytorch --extra lessons --extra test --extra jax --output-file requirements-jax.txt

clean: ## removes .venv, build and the caches, never what you wrote
	rm -rf build .venv .pytest_cache .ruff_cache .hypothesis
	find . -name .git -prune -o -name __pycache__ -prune -exec rm -rf {} +
