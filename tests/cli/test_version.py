"""VERSION is the version; the other places that name one agree."""
import pathlib
import re

from conftest import run

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_one_version():
    version = (ROOT / "VERSION").read_text().strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert run("--version").out == f"poise {version}\n"
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == version
    assert re.search(r"^## \S+ \((unreleased|\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M).start() < 20, "the first heading"
    assert re.search(r"^version: (\S+)", (ROOT / "CITATION.cff").read_text(), re.M)[1] == version
