# The project's commands; `make` alone lists them. Paths are relative, so that the folder's own may hold anything.

LESSONS ?= $(sort $(wildcard notebooks/*.ipynb notebooks/*/*.ipynb))

.PHONY: help setup lab test execute lock clean

help: ## lists these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## makes .venv, which the others do too (PYTHON=... names the Python to make it with)
	@sh ./setup.sh

# The address is said here so that no Jupyter setting of the user's opens the lessons to the network; the first page is
# said as a URL so that the one printed leads there too, where no browser opens. Root, as in containers, must be allowed.
lab: setup ## opens the lessons in JupyterLab (LAB_ARGS=... adds options)
	.venv/bin/python -m jupyterlab --ServerApp.ip=127.0.0.1 --ServerApp.root_dir=. \
		--LabApp.default_url=/lab/tree/notebooks/00-start-here.ipynb \
		$(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_ARGS)

test: setup ## runs every test and every lesson (ARGS=... adds options)
	.venv/bin/python -m pytest $(ARGS)

# Times and the state of widgets would make every run differ, and the latter breaks previews.
execute: setup ## runs the lessons from fresh kernels and stores them (LESSONS=... names some)
	.venv/bin/python -m nbconvert --to notebook --execute --inplace --ExecutePreprocessor.timeout=600 \
		--ExecutePreprocessor.record_timing=False --ExecutePreprocessor.store_widget_state=False $(LESSONS)

# "fewest" keeps one version of each package for Python 3.10 and 3.11: CI's run on one of them speaks for both.
lock: setup ## compiles requirements.txt from pyproject.toml (ARGS=--upgrade takes the newest)
	.venv/bin/uv pip compile --quiet --universal --python-version 3.10 --no-python-downloads --all-extras \
		--fork-strategy fewest --annotation-style line --custom-compile-command "make lock" \
		--output-file requirements.txt $(ARGS) pyproject.toml

clean: ## removes .venv and the caches, never what you wrote
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
	find d2lhelpers tests notebooks -name __pycache__ -prune -exec rm -rf {} +
