#!/bin/sh
# Installs the Debian packages that are missing: `install-packages.sh program` for the program, `build` for everything,
# `test` for the tests as well, `bench` for the benchmarks, `pip` for `pip install .`, `fuzz` for the fuzzers, `format`
# for the formatter, `docs` for the manual as pages, `deb` for Debian packages, `package` for their test. Says what it does or, without permission, which command to run by hand.
set -eu

program="g++ cmake ninja-build ccache pkg-config libopenblas-openmp-dev liblapacke-dev libcli11-dev libtomlplusplus-dev libfmt-dev
         nlohmann-json3-dev zlib1g-dev libzstd-dev libsqlite3-dev libxxhash-dev libboost-dev libjs-vega"
build="$program libopenmpi-dev openmpi-bin python3 python3-dev pybind11-dev python3-numpy python3-scipy"
test="$build libscalapack-openmpi-dev libgtest-dev libgmock-dev libbenchmark-dev libeigen3-dev python3-pytest python3-pandas python3-sklearn mypy zstd clang-format fish zsh man-db iproute2"
fuzz="$build clang libclang-rt-14-dev libomp-dev"

case "${1:-build}" in
  program) wanted=$program ;;
  build) wanted=$build ;;
  bench) wanted="$test wrk" ;;
  test) wanted="$test chromium" ;;
  pip) wanted="$build python3-pip python3-venv python3-skbuild python3-wheel" ;;
  fuzz) wanted=$fuzz ;;
  tidy) wanted="$test clang-tidy" ;;
  tsan) wanted="$test clang libclang-rt-14-dev libomp-dev" ;;
  format) wanted=clang-format ;;
  docs) wanted=mkdocs ;;
  deb) wanted="$build debhelper dh-python dpkg-dev fakeroot lintian mkdocs" ;;
  package) wanted=debootstrap ;;
  *) echo "usage: $0 [program|build|bench|test|pip|fuzz|tidy|tsan|format|docs|deb|package]" >&2; exit 2 ;;
esac

command -v dpkg-query >/dev/null || {
  echo "This is not a Debian system: please install the equivalents of:" $wanted >&2
  exit 0
}
missing=
for package in $wanted; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root=sudo
elif command -v sudo >/dev/null && [ -t 0 ]; then as_root=sudo
else
  echo "Missing packages, and neither root nor sudo to install them. Please run as root:" >&2
  echo "  apt-get install$missing" >&2
  exit 1
fi
echo "Installing missing packages:$missing"
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
  echo "apt-get could not install:$missing" >&2
  exit 1
}
