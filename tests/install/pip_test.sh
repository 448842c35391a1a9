#!/bin/sh
# Installs the package with pip, as its users do without a network, into a new environment, and uses it from there:
# pip_test.sh SOURCE.
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
# From a copy: pip builds inside the folder that it is given.
(cd "$source" && git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf -) | (mkdir "$work/source" && tar -C "$work/source" -xf -)
cd "$work"
"$work/venv/bin/pip" install --quiet --no-index --no-build-isolation --no-deps "$work/source"
rm -rf "$work/source"
env -u PYTHONPATH "$work/venv/bin/python" - <<'PY'
import importlib.metadata
import pathlib

import poise

assert "venv" in poise.__file__, poise.__file__
assert importlib.metadata.version("poise") == poise.__version__
folder = pathlib.Path(poise.__file__).parent
assert (folder / "py.typed").exists() and (folder / "_poise.pyi").exists()
files = [str(file) for file in importlib.metadata.files("poise")]
assert not any(name.endswith((".a", ".hpp", ".cmake")) for name in files), files
data = poise.split(poise.synth("demo"))
model = poise.EASE(regularization=50).fit(data)
print(poise.__version__, poise.evaluate(model, data.test)["metrics"]["ndcg@100"])
assert poise.evaluate(model, data.test)["metrics"]["ndcg@100"]["mean"] > 0.45
PY
echo "pip install works"
