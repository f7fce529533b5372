# Front door of the repository: every target is one line that calls a script.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# A command for the guest goes there as it was typed: make expands nothing in
# it, and no other make gets to see it.
unexport CMD APPEND
MAKEOVERRIDES :=
export VERSION KERNEL CONFIG TREE CPUS MEM TIMEOUT ACCEL KIMAGE EXTRA OUT LOG NOPARAMS JOBS

.PHONY: help setup fetch apply build verify patches shell vm demo test test-full bench export clean distclean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  VERSION=7.2 or KERNEL=/path/to/linux select another kernel, CONFIG=debug another configuration."

setup: ## install what is needed of Debian packages
	@scripts/setup

fetch: ## get the kernel source to build/linux-VERSION
	@scripts/setup fetch
	@scripts/fetch

apply: fetch ## bring build/work-VERSION to kernel + series
	@scripts/series apply

build: fetch ## build the patched kernel, its selftests and the guest for it
	@scripts/setup build
	@scripts/build

patches: ## regenerate the patches from repository and work tree [PATCH=name]
	@scripts/series refresh $(PATCH)

verify: fetch ## check that patches and repository agree, and apply
	@scripts/series verify

export: ## write the series as mail [DIR=outgoing SOB="Name <mail>"]
	@scripts/series export "$(or $(DIR),build/outgoing)" $(if $(SOB),--sob "$(SOB)")

shell: build ## boot the patched kernel and give a shell in it
	@scripts/vm

vm: export VM_CMD = $(value CMD)
vm: export VM_APPEND = $(value APPEND)
vm: build ## run one command in it: make vm CMD='…' [APPEND='kernel parameters' CPUS=2 MEM=1024 TIMEOUT=300]
	@CMD=$$VM_CMD APPEND=$$VM_APPEND scripts/vm || { s=$$?; echo "vm: exit status $$s" >&2; exit $$s; }

demo: ## show a leak being found, from nothing to the verdict
	@scripts/demo

test: ## run all tests, or some: T='boot series'
	@tests/run $(T)

test-full: ## run all tests, those that compile further kernels included
	@FULL=1 tests/run

bench: fetch ## count what tracking costs, in instructions, and compare [CONFIG=bench]
	@scripts/setup build
	@tests/bench/leaktrend

clean: ## remove objects and results, keep sources and the compiler cache
	rm -rf build/*/out-* build/test build/vm build/bench

distclean: ## remove everything that was fetched or built
	rm -rf build
