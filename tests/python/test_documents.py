"""Docstrings, examples and types."""
import ast
import doctest
import importlib
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import HANG, SOURCE

import poise
from poise import _kernels, _poise

MODULES = [f"poise.{path.stem}" for path in sorted(pathlib.Path(poise.__file__).parent.glob("_*.py")) if path.stem != "__init__"]
EXAMPLES = sorted((SOURCE / "examples").glob("*.py"))


@pytest.mark.parametrize("name", ["poise", *MODULES])
def test_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_everything_public_is_documented():
    for name in poise.__all__:
        item = getattr(poise, name)
        if name.startswith("__"):
            continue
        assert item.__doc__, name
        for member in dir(item) if isinstance(item, type) and item.__module__.startswith("poise") else ():
            if not member.startswith("_") and callable(getattr(item, member)) and name not in ("NumericalError", "Explanation"):
                if not issubclass(item, Warning):
                    assert getattr(item, member).__doc__, f"{name}.{member}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(path, tmp_path):
    out = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=HANG, cwd=tmp_path)
    assert out.returncode == 0, out.stderr
    assert out.stdout.count("\n") > 5


def test_there_are_examples():
    assert len(EXAMPLES) >= 2


def mypy(cache, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    folder = pathlib.Path(poise.__file__).parents[1]
    if folder.name not in ("dist-packages", "site-packages"):  # where mypy looks by itself
        environment["MYPYPATH"] = str(folder)
    return subprocess.run(
        ["/usr/bin/python3", "-m", "mypy", "--config-file", str(SOURCE / "pyproject.toml"), "--cache-dir", str(cache), *map(str, arguments)],
        capture_output=True, text=True, timeout=HANG, env=environment, cwd=SOURCE,
    )


def test_types(tmp_path):
    """The examples, and the package itself, strictly."""
    out = mypy(tmp_path, *EXAMPLES)
    assert out.returncode == 0, out.stdout
    out = mypy(tmp_path, "--strict", SOURCE / "python" / "poise")
    assert out.returncode == 0, out.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import poise\npoise.EASE(regularisation=3)\npoise.load(3).recommend()\n")
    out = mypy(tmp_path, wrong)
    assert out.returncode == 1 and "regularisation" in out.stdout and out.stdout.count("error:") >= 3


@pytest.mark.parametrize("module", [_poise, _kernels], ids=lambda module: module.__name__)
def test_stubs_are_complete(module):
    """Every function, class and member of the extension modules has its types, and nothing else has."""
    stub = ast.parse((SOURCE / "python" / "poise" / (module.__name__.rpartition(".")[2] + ".pyi")).read_text())

    def declared(body):
        found = {each.name for each in body if isinstance(each, (ast.FunctionDef, ast.ClassDef))}
        return found | {each.target.id for each in body if isinstance(each, ast.AnnAssign)}

    def defined(item):
        return {name for name in vars(item) if not name.startswith("_") or name in ("__version__", "__init__")}

    assert declared(stub.body) == defined(module)
    for each in stub.body:
        if isinstance(each, ast.ClassDef) and each.name != "NumericalError":
            members = {name for name in vars(getattr(module, each.name)) if not name.startswith("_")}
            assert declared(each.body) - {"__init__"} == members, each.name


@pytest.mark.parametrize("page", ["README.md", "docs/quick-start.md", "docs/tutorial-python.md", "docs/python.md"])
def test_blocks_run(page, tmp_path):
    """The blocks of a page, one after another."""
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / page).read_text(), re.S)
    assert blocks
    out = subprocess.run([sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True, timeout=HANG, cwd=tmp_path)
    assert out.returncode == 0, out.stderr
