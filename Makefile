# make demo   installs what is missing, builds, and shows Poise at work on generated data
# make test   installs what is missing, builds, and runs every test
# make build  builds the release program at build/release/bin/poise and the Python package at build/release/python
#
# make deb    builds the Debian packages, at build/deb
#
# Also: package-test (the packages in a clean Debian), property (certificates against dense algebra, 1 000 cases), pip-test, bench, bench-check,
# cuda-check, fuzz, hostile (hostile clients against a server with sanitizers), format, tidy, tsan, docs (the manual as pages), clean. With CUDA=1 build, test and bench include
# the GPU backend, at the same paths; it needs CUDA's nvcc.

SHELL := /bin/sh
POISE := build/release/bin/poise
FUZZ_SECONDS ?= 60
WITH_CUDA := -DPOISE_CUDA=$(if $(filter 1 on ON yes,$(CUDA)),ON,OFF)
SOURCES = $(shell git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh')

.PHONY: build demo deb package-test test property pip-test bench bench-check cuda-check fuzz hostile format format-check tidy tsan docs clean

build:
	@scripts/install-packages.sh build
	@cmake --preset release -DPOISE_UNITY=ON -DPOISE_BUILD_TESTS=OFF -DPOISE_BUILD_BENCH=OFF -DPOISE_BUILD_PYTHON=ON $(WITH_CUDA)
	@cmake --build --preset release

# The program alone, at the place and with the objects of `make build`.
demo:
	@scripts/install-packages.sh program
	@cmake --preset release -DPOISE_UNITY=ON -DPOISE_BUILD_TESTS=OFF -DPOISE_BUILD_BENCH=OFF -DPOISE_BUILD_PYTHON=OFF $(WITH_CUDA)
	@cmake --build --preset release --target poise_program
	@scripts/demo.sh $(POISE)

deb:
	@scripts/install-packages.sh deb
	@scripts/deb.sh

package-test: deb
	@scripts/install-packages.sh package
	@tests/install/package_test.sh "$(CURDIR)"

test: format-check
	@scripts/install-packages.sh test
	@scripts/cuda-check.sh
	@echo "== release: every test"
	@cmake --preset release -DPOISE_BUILD_TESTS=ON -DPOISE_UNITY=ON -DPOISE_BUILD_BENCH=ON -DPOISE_BUILD_PYTHON=ON $(WITH_CUDA)
	@cmake --build --preset release
	@ctest --preset release
	@echo "== AddressSanitizer and UndefinedBehaviorSanitizer: library and tests"
	@cmake --preset asan
	@cmake --build --preset asan
	@ctest --preset asan

property:
	@scripts/install-packages.sh test
	@cmake --preset release -DPOISE_BUILD_TESTS=ON $(WITH_CUDA)
	@cmake --build --preset release --target poise_tests
	@POISE_PROPERTY_CASES=1000 OMP_WAIT_POLICY=passive build/release/bin/poise_tests --gtest_filter='CertificateProperty.*'

pip-test:
	@scripts/install-packages.sh pip
	@tests/install/pip_test.sh "$(CURDIR)"

bench:
	@scripts/install-packages.sh bench
	@cmake --preset release -DPOISE_BUILD_TESTS=OFF -DPOISE_BUILD_BENCH=ON -DPOISE_BUILD_PYTHON=ON $(WITH_CUDA)
	@cmake --build --preset release
	@build/release/bin/poise_bench

bench-check:
	@scripts/install-packages.sh bench
	@cmake --preset release -DPOISE_BUILD_TESTS=OFF -DPOISE_BUILD_BENCH=ON $(WITH_CUDA)
	@cmake --build --preset release
	@/usr/bin/python3 bench/check.py build/release/bin

docs:
	@scripts/install-packages.sh docs
	@mkdocs build --strict --quiet
	@echo "The manual: build/docs/index.html"

cuda-check:
	@scripts/install-packages.sh build
	@scripts/cuda-check.sh

fuzz:
	@scripts/install-packages.sh fuzz
	@cmake --preset fuzz
	@cmake --build --preset fuzz
	@scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS)

# The hostile clients against a server that is built with AddressSanitizer and UndefinedBehaviorSanitizer; a small quarantine, so that memory tells.
hostile:
	@scripts/install-packages.sh test
	@cmake --preset asan -B build/asan-program -DPOISE_BUILD_APP=ON -DPOISE_BUILD_TESTS=OFF -DPOISE_BUILD_PYTHON=OFF
	@cmake --build build/asan-program --target poise_program
	@ASAN_OPTIONS=quarantine_size_mb=4 POISE=$(CURDIR)/build/asan-program/bin/poise POISE_TEST_DATA=build OMP_WAIT_POLICY=passive \
	  /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/cli/test_serve_hostile.py tests/cli/test_serve_bytes.py

format:
	@scripts/install-packages.sh format
	@test -n "$(SOURCES)" || { echo "no sources: this has to run in a git checkout" >&2; exit 1; }
	@clang-format -i $(SOURCES)

format-check:
	@scripts/install-packages.sh format
	@test -n "$(SOURCES)" || { echo "no sources: this has to run in a git checkout" >&2; exit 1; }
	@clang-format --dry-run -Werror $(SOURCES)

tidy:
	@scripts/install-packages.sh tidy
	@cmake --preset tidy
	@cmake --build --preset tidy

tsan:
	@scripts/install-packages.sh tsan
	@cmake --preset tsan
	@cmake --build --preset tsan
	@OMP_TOOL_LIBRARIES=$$(ls /usr/lib/llvm-14/lib/libarcher.so) TSAN_OPTIONS=ignore_noninstrumented_modules=1 ctest --preset tsan

clean:
	@rm -rf build
