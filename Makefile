# SPDX-License-Identifier: Apache-2.0
# The entry point for users and developers. A target installs and builds what it needs.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc)
# On a terminal ninja shows its progress on one line; elsewhere --quiet shows only warnings and
# errors.
NINJA = $(if $(MAKE_TERMOUT),,-- --quiet)
# Makes two targets at once, and prints the output of each target in one piece. COMPILE gives the
# compilers a lower priority than the tests. The longest test compiles packages. Its priority is
# also low, but higher than that of the compilers.
BESIDE = $(MAKE) --no-print-directory -j 2 --output-sync=target COMPILE='nice -n 15'

# Without COMPILE, targets are made one after the other, even with -j, because two targets at once
# could both call apt. Only $(BESIDE) sets COMPILE.
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

# Install the packages of all sections of scripts/packages.txt, or of one section.
setup:
	@scripts/setup build lint unit tidy bench package test
setup-%:
	@scripts/setup $*

# Configure a preset once, and again when CMakePresets.json changes. Ninja notices all other
# changes.
build/build.ninja: CMakePresets.json | setup-build
	@cmake --preset release >/dev/null
build/%/build.ninja: CMakePresets.json | setup-build setup-unit
	@cmake --preset $* >/dev/null
# Adds the tests to the release tree. A second tree would compile the tool again.
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

# scripts/lint reads files that cmake writes. If a CMakeLists.txt has changed, cmake runs again
# first.
lint: setup-lint setup-build build/build.ninja
	@cmake --build build --target build.ninja >/dev/null
	@scripts/lint

# Reads the compile commands of the sanitizers' tree, which is compiled with clang.
tidy: setup-tidy asan-configured
	@$(COMPILE) scripts/tidy build/asan

asan-configured: setup-build setup-unit build/asan/build.ninja
	@cmake --build build/asan --target build.ninja >/dev/null

tests: tree-with-tests
	@cmake --build build -j $(JOBS) --target all ttmem_tests $(NINJA)

# The unit tests of the release build, which users get. `make quick` tests a debug build.
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

# Uses the sanitizers' tree, so that `make asan` and `make fuzz` share compiled files.
fuzz: setup build/asan/build.ninja
	@cmake --build build/asan -j $(JOBS) --target fuzz_targets make_corpus $(NINJA)
	@scripts/fuzz build/asan $(FUZZ_SECONDS)

# Most tests from outside wait more than they compute. The compilers therefore run at the same time.
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

# Write the source archive, the Debian packages, and a tarball for other distributions into
# build/packages.
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
