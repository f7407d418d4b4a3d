# The commands to remember. Each does all of its own set-up in .venv; a second call is quick.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PY := .venv/bin/python
export PATH := $(CURDIR)/.node/bin:$(PATH)

help: ## list the commands
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## install, start everything, and watch a policy learn in the browser
	@scripts/setup.sh demo
	@exec $(PY) manage.py up --demo

test: ## run what CI runs: every cheap test, and the expensive ones about what has changed (ARGS=tests/kernels)
	@scripts/setup.sh dev
	@scripts/test.sh $(ARGS)

test-long: ## run every test at full strength, loud ones alone, and note costs and what passed (ARGS=tests/kernels)
	@scripts/setup.sh dev
	@scripts/test.sh long $(ARGS)

test-repeat: ## run make test's tests 20 times and keep each result (ARGS="--times 3 --beside 1 --page docs/development/testing.md")
	@scripts/setup.sh dev
	@$(PY) -m tests.suite.repeat $(ARGS)

check: ## run what your change touches, nearest first, in under two minutes (BASE=HEAD~3)
	@scripts/setup.sh dev
	@BASE=$(BASE) $(PY) -m tests.suite.check

test-gpu: ## run what needs a GPU on one; each test says in words where there is none
	@scripts/setup.sh dev
	@$(PY) -m pytest tests/gpu -m gpu -rs

test-cluster: ## kill, cut off, slow and add nodes of a cluster, each in a network of its own (ARGS="--loopback added": one case, there)
	@scripts/setup.sh dev
	@$(PY) -m tests.cluster $(ARGS)

lint: ## run every static check, side by side: style, types, contracts, dead code, dependencies, security
	@scripts/setup.sh dev
	@$(PY) -m scripts.lint $(ARGS)

openapi: ## write frontend/openapi.json from the platform's code
	@scripts/setup.sh dev
	@$(PY) manage.py spectacular --format openapi-json --file frontend/openapi.json

lock: ## compile requirements/*.lock from pyproject.toml; nothing is upgraded unless asked, see scripts/lock.sh
	@scripts/setup.sh dev
	@scripts/lock.sh $(ARGS)

bench: ## measure speed as ratios in one run
	@scripts/setup.sh dev
	@$(PY) -m tests.bench

bench-learner: ## measure the learner's step, its memory and the kernels alone
	@scripts/setup.sh dev
	@$(PY) -m tests.bench learner memory saving kernels gpu

bench-recipes: ## train every recipe on two tasks, and broken methods beside right ones, and write the pages
	@scripts/setup.sh dev
	@$(PY) -m tests.bench.recipes

architectures: ## put every architecture through a whole loop (ARGS=--whole: a run on Ray), and write its page
	@scripts/setup.sh dev
	@$(PY) -m tests.architectures $(ARGS)

bundle: ## make one archive from which make demo works without a network (ARGS="--accelerator cuda")
	@scripts/setup.sh demo
	@$(PY) scripts/bundle.py build $(ARGS)

pictures: ## take the pictures of the console anew, in an installation of their own
	@scripts/setup.sh dev
	@$(PY) -m tests.pictures

docs: ## write the method reference and the simulated clusters, and draw the rooms from the code
	@scripts/setup.sh dev
	@$(PY) scripts/write_method_reference.py
	@$(PY) scripts/write_simulation_page.py
	@$(PY) scripts/draw_rooms.py

.PHONY: help demo test test-long test-repeat check test-gpu test-cluster lint openapi lock bundle bench bench-learner bench-recipes architectures pictures docs
