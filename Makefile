# SPDX-License-Identifier: Apache-2.0
# The front door: every target installs what is missing, builds, and does its job.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc)
# On a terminal ninja has one line that changes; elsewhere it only says what fails.
NINJA = $(if $(MAKE_TERMOUT),,-- --quiet)
# Two targets at once, each with its output in one piece; of them, what compiles gives way to tests,
# also to the one that compiles packages, which takes longest.
BESIDE = $(MAKE) --no-print-directory -j 2 --output-sync=target COMPILE='nice -n 15'

.PHONY: help setup build run tests test quick unit asan-tree asan tsan fuzz outside lint bench install dist deb tarball format clean

help:
	@echo 'make run        the 8-device demo on simulated devices, and its table'
	@echo 'make build      build/bin/ttmem, build/lib/libttmem.so and the examples'
	@echo 'make quick      build and unit tests: the inner loop'
	@echo 'make test       every test (sanitizers, fuzzing, installed tree, lint): about 34 minutes on 2 cores'
	@echo 'make bench      benchmarks, ratios in build/bench.json'
	@echo 'make install    into PREFIX=$(PREFIX)'
	@echo 'make deb        Debian packages, in build/packages; make tarball, make dist likewise'
	@echo 'make format     clang-format over all sources'

setup:
	@scripts/setup

# A preset is configured once; afterwards ninja sees by itself what changed.
build/build.ninja: | setup
	@cmake --preset release >/dev/null
build/%/build.ninja: | setup
	@cmake --preset $* >/dev/null

build: setup build/build.ninja
	@cmake --build build -j $(JOBS)

run: setup build/build.ninja
	@cmake --build build -j $(JOBS) --target ttmem_cli
	@scripts/run-demo

tests: setup build/build.ninja
	@cmake --build build -j $(JOBS) --target all ttmem_tests $(NINJA)

quick: unit
unit: tests
	@scripts/run-tests build -j $(JOBS) -L unit

outside: tests
	@scripts/run-tests build -j $$(($(JOBS) + 1)) -L outside

asan-tree: setup build/asan/build.ninja
	@$(COMPILE) cmake --build build/asan -j $(JOBS) --target all ttmem_tests $(NINJA)

asan: asan-tree
	@scripts/run-tests build/asan -j $(JOBS) -L 'unit|outside'

tsan: setup build/tsan/build.ninja
	@$(COMPILE) cmake --build build/tsan -j $(JOBS) --target ttmem_threads_test ttmem_tt_metal_test $(NINJA)
	@scripts/run-tests build/tsan -j $(JOBS) -R '^(Threads|ProcessorTest|ScopesTest)\.'

# In the tree of the sanitizers: what is compiled for one is compiled for both.
fuzz: setup build/asan/build.ninja
	@cmake --build build/asan -j $(JOBS) --target fuzz_targets make_corpus $(NINJA)
	@scripts/fuzz build/asan $(FUZZ_SECONDS)

lint: setup build/build.ninja build/asan/build.ninja
	@$(COMPILE) scripts/lint

# Tests from outside wait more than they work, all but the one that compiles packages: what compiles
# fills the gaps.
test: unit
	@$(BESIDE) outside asan-tree lint
	@$(BESIDE) asan tsan
	@$(MAKE) --no-print-directory fuzz
	@echo 'make test: everything passed'

bench: setup build/build.ninja
	@cmake --build build -j $(JOBS) --target ttmem_bench busy_chips crowd record_host adapter_host make_recording
	@scripts/bench

install: build
	@cmake --install build --prefix $(PREFIX)

# The source archive, the Debian packages, and a tarball for other distributions: in build/packages.
dist:
	@scripts/dist

deb: setup
	@scripts/deb

tarball: setup
	@scripts/tarball

format: setup
	@git ls-files '*.cpp' '*.hpp' '*.h' '*.c' | xargs clang-format -i

clean:
	rm -rf build
