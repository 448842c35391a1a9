"""Runs `poise study` for tests, and reads what it wrote."""
import json
import os

import pytest

from conftest import run

FILES = ["report.html", "results.csv", "results.json", "tables.md", "tables.tex"]
METRICS = ["recall@20", "recall@50", "ndcg@100"]
FLAGS = ["--ranks", "3,500", "--grid", "extended", "--refine", "1"]


class Study:
    def __init__(self, folder, result=None):
        self.folder = folder
        self.result = result

    def text(self, name):
        return (self.folder / name).read_text()

    @property
    def json(self):
        return json.loads(self.text("results.json"))

    @property
    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


def study(data, out, *flags, threads=1, **kwargs):
    """A study of a fixed grid, unless it says otherwise. One thread, for the problems are small; more of them wait without turning,
    so that a busy machine does not stall."""
    flags = flags if "--grid" in flags else ["--grid", "paper", *flags]
    data = data if isinstance(data, list) else [data]
    kwargs["env"] = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    return Study(out, run("study", *data, "--out", out, "--threads", threads, *flags, **kwargs))


@pytest.fixture(scope="module")
def whole(shop, tmp_path_factory):
    """A study of everything that ran through."""
    return study(shop, tmp_path_factory.mktemp("whole") / "study", *FLAGS)


def identity(row):
    return row["data"], row["model"], row["zero_diagonal"], row["rank"]


def kind_of(point):
    return "unweighted" if point["alpha"] == 1 else "weighted" if point["alpha"] > 1 else "down-weighted"


def score(entry, metric="ndcg@100"):
    return entry["validation"][metric]["mean"]


def train_flags(row):
    """The flags of `poise train` for a row."""
    family, _, variant = row["model"].partition("/")
    flags = ["--model", family, "--lambda", row["lambda"], "--alpha", row["alpha"]]
    if family == "full-rank":
        flags += ["--dropout", row["dropout"], "--lambda-exponent", row["lambda_exponent"]]
        return flags + (["--zero-diagonal"] if row["zero_diagonal"] else [])
    return flags + ["--rank", row["rank"], "--rounds", 1000] + (["--regularizer", variant] if variant else [])


def trained_rows(results):
    return [row for row in results["rows"] if row["model"] != "popularity"]


def table_rows(markdown, heading):
    """The cells of the table under a heading."""
    lines = markdown.split(f"## {heading}\n")[1].strip().split("\n")
    table = [line for line in lines[:next((k for k, line in enumerate(lines) if not line.startswith("|")), len(lines))]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
