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

# In order, also with -j, as two at once would both want apt. Only $(BESIDE) makes two at once.
ifndef COMPILE
.NOTPARALLEL:
endif

.PHONY: help setup build run tree-with-tests tests test quick unit asan-configured asan-tree asan tsan fuzz outside packages \
  outside-all lint tidy bench install dist deb tarball format clean

help:
	@echo 'make run        the 8-device demo on simulated devices, and its table'
	@echo 'make build      build/bin/ttmem, build/lib/libttmem.so and the examples'
	@echo 'make install    into PREFIX=$(PREFIX), stripped, with debug symbols beside'
	@echo
	@echo 'make quick      unit tests in build/dev: the inner loop, under a minute after a change'
	@echo 'make lint       format, licence lines, includes: some seconds; make tidy runs clang-tidy'
	@echo 'make outside    tests of the installed tree; make packages tests the packages'
	@echo 'make asan tsan fuzz   sanitizers and fuzzing'
	@echo 'make test       all of these: about 34 minutes on 2 cores'
	@echo
	@echo 'make bench      benchmarks, ratios in build/bench.json'
	@echo 'make deb        Debian packages, in build/packages; make tarball, make dist likewise'
	@echo 'make format     clang-format over all sources'
	@echo 'make setup      installs what all of these need (scripts/packages.txt)'

# Each target installs what it needs: one section of scripts/packages.txt, or several.
setup:
	@scripts/setup build lint unit tidy bench package test
setup-%:
	@scripts/setup $*

# A preset is configured once; afterwards ninja sees by itself what changed.
build/build.ninja: CMakePresets.json | setup-build
	@cmake --preset release >/dev/null
build/%/build.ninja: CMakePresets.json | setup-build setup-unit
	@cmake --preset $* >/dev/null
# Tests are added to the tree that is there: nothing is compiled twice.
tree-with-tests: setup build/build.ninja
	@grep -qs TTMEM_TESTS:BOOL=ON build/CMakeCache.txt || cmake --preset test >/dev/null

build: setup-build build/build.ninja
	@cmake --build build -j $(JOBS)

run: setup-build build/build.ninja
	@cmake --build build -j $(JOBS) --target ttmem_cli
	@scripts/run-demo

install: build
	@scripts/install build $(PREFIX)

quick: setup-build setup-unit build/dev/build.ninja
	@cmake --build build/dev -j $(JOBS) --target ttmem_cli ttmem_tests $(NINJA)
	@scripts/run-tests build/dev -j $(JOBS) -L unit

# Both read what cmake wrote: it runs again if a CMakeLists.txt has changed.
lint: setup-lint setup-build build/build.ninja
	@cmake --build build --target build.ninja >/dev/null
	@scripts/lint

# Reads the compile commands of the sanitizers' tree, because they are clang's.
tidy: setup-tidy asan-configured
	@$(COMPILE) scripts/tidy build/asan

asan-configured: setup-build setup-unit build/asan/build.ninja
	@cmake --build build/asan --target build.ninja >/dev/null

tests: tree-with-tests
	@cmake --build build -j $(JOBS) --target all ttmem_tests $(NINJA)

# As `make quick`, of what users get.
unit: tests
	@scripts/run-tests build -j $(JOBS) -L unit

outside: tests
	@scripts/run-tests build -j $$(($(JOBS) + 1)) -L outside

packages: tests
	@scripts/run-tests build -L packages

outside-all: tests
	@scripts/run-tests build -j $$(($(JOBS) + 1)) -L 'outside|packages'

asan-tree: setup asan-configured
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

# Tests from outside wait more than they work, all but the one that compiles packages: what compiles
# fills the gaps.
test: lint
	@$(MAKE) --no-print-directory unit
	@$(BESIDE) outside-all asan-tree tidy
	@$(BESIDE) asan tsan
	@$(MAKE) --no-print-directory fuzz
	@echo 'make test: everything passed'

bench: setup-build setup-bench build/build.ninja
	@grep -qs TTMEM_BENCH:BOOL=ON build/CMakeCache.txt || cmake --preset release -DTTMEM_BENCH=ON >/dev/null
	@cmake --build build -j $(JOBS) --target ttmem_bench busy_chips crowd record_host adapter_host make_recording
	@scripts/bench

# The source archive, the Debian packages, and a tarball for other distributions: in build/packages.
dist:
	@scripts/dist

deb: setup-build setup-package
	@scripts/deb

tarball: setup-build setup-package build/build.ninja
	@scripts/tarball

format: setup-lint
	@git ls-files '*.cpp' '*.hpp' '*.h' '*.c' | xargs clang-format -i

clean:
	rm -rf build
