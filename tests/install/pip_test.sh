#!/bin/sh
# Makes a wheel with pip, installs it into a new environment, as its users do without a network, and uses it from there:
# pip_test.sh SOURCE. Built with the flags of the release build, so that ccache has the library already.
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work" "$source/_skbuild" "$source/python/poise.egg-info"' EXIT
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_SLOPPINESS=pch_defines,time_macros CMAKE_ARGS=-DPOISE_WERROR=ON \
  "$work/venv/bin/pip" wheel --quiet --no-index --no-build-isolation --no-deps --wheel-dir "$work" "$source"
"$work/venv/bin/pip" install --quiet --no-index --no-deps "$work"/poise-*.whl
cd "$work"
env -u PYTHONPATH "$work/venv/bin/python" - <<'PY'
import importlib.metadata
import pathlib

import poise

assert "venv" in poise.__file__, poise.__file__
assert importlib.metadata.version("poise") == poise.__version__
folder = pathlib.Path(poise.__file__).parent
requirements = importlib.metadata.requires("poise")
assert not any("<" in each for each in requirements), requirements  # every NumPy
assert (folder / "py.typed").exists() and (folder / "_poise.pyi").exists()
files = [str(file) for file in importlib.metadata.files("poise")]
assert not any(name.endswith((".a", ".hpp", ".cmake")) for name in files), files
data = poise.split(poise.synth("demo"))
model = poise.EASE(regularization=50).fit(data)
figures = poise.evaluate(model, data.test)["metrics"]["ndcg@100"]
print("poise", poise.__version__, "installed; EASE on the demo data:", figures)
assert figures["mean"] > 0.45
PY
