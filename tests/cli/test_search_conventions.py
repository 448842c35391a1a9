"""Flags, JSON, determinism and silence of train, search and study: what scripts rely on."""
import json

import pytest

# A search and a study that are small enough to be run several times.
SEARCH = ("--model", "ease", "--grid", "paper", "--lambda", "1,30", "--alpha", "1,2", "--no-expand")
STUDY = ("--models", "ease,wmf", "--ranks", "4", "--grid", "paper", "--no-expand", "--points", "3")


@pytest.mark.parametrize("arguments", [
    *((command, "x", "--model", "wmf", *rest, *flags) for command, rest in (("train", ("--out", "y")), ("search", ())) for flags in (
        ("--lambda", "lots"), ("--lambda", "-1"), ("--alpha", "nan"), ("--alpha", "-1"), ("--rank", "0"), ("--rank", "2.5"), ("--rank", ""),
        ("--weighting", "heavy"), ("--rounds", "-1"), ("--least-decrease", "-1"), ("--start", "over"), ("--tolerance", "0"), ("--epsilon", "0"),
        ("--gamma", "-1"), ("--clip", "x"), ("--dropout", "0.5"), ("--zero-diagonal",), ("--regularizer", "dropout"), ("--out", ""))),
    ("search", "x", "--model", "popularity"),
    ("search", "x", "--model", "full-rank", "--lambda", "1,x"),
    ("search", "x", "--model", "full-rank", "--dropout", "auto,0.5"),
    ("search", "x", "--model", "full-rank", "--dropout", "auto", "--grid", "paper"),
    ("search", "x", "--model", "full-rank", "--weighting", "none", "--alpha", "2"),
    *((command, "x", *rest, *flags) for command, rest in (("search", ("--model", "ease")), ("study", ("--out", "y"))) for flags in (
        ("--grid", "fine"), ("--metric", "speed@5"), ("--metrics", "recall"), ("--recall-denominator", "all"), ("--refine", "-1"),
        ("--refine", "21"), ("--time-limit", "soon"), ("--points", "0"), ("--tolerance", "-1"), ("--journal", ""))),
    ("study", "x"),
    ("study", "x", "--out", ""),
    ("study", "x", "--out", "y", "--ranks", "0"),
    ("study", "x", "--out", "y", "--models", "ease,psychic"),
    ("study", "x", "--out", "y", "--compare-paper", "lastfm"),
    ("study", "x", "--out", "y", "--seeds", "-1"),
])
def test_bad_flags(poise, arguments):
    assert len(poise(*arguments, code=2).err) < 350, "a sentence"


def test_json_keys_of_searches_and_studies(poise, tmp_path, data):
    found = poise("search", data, *SEARCH, "--journal", tmp_path / "journal", "--out", tmp_path / "m", "--json").json
    assert set(found) == {"complete", "best", "best_unweighted", "best_weighted", "best_down_weighted", "points", "scorings", "scorings_spared",
                          "seconds", "device"}
    point = {"lambda", "alpha", "weighting", "neighbours", "dropout", "lambda_exponent", "validation", "objective", "certificate", "iterations", "rounds",
             "converged", "seconds"}
    assert len(found["points"]) == 4 and all(set(each) == point for each in found["points"])
    trained = poise("train", data, "--model", "ease", "--out", tmp_path / "n", "--json").json
    assert set(found["best"]) == set(trained) - {"seconds", "peak_bytes", "bytes_before_training", "expected_bytes", "device"} | {"validation", "test"}
    studied = poise("study", data, *STUDY, "--out", tmp_path / "study", "--json").json
    assert set(studied) >= {"complete", "rows", "pairs", "points", "conclusions", "options", "data", "metrics", "version", "seconds"}
    assert len(studied["rows"]) > 3
    files = {"tables.md", "tables.tex", "results.csv", "results.json", "report.html", "study.journal"}
    assert {each.name for each in (tmp_path / "study").iterdir()} == files
    assert json.loads((tmp_path / "study" / "results.json").read_text())["rows"] == studied["rows"]


def test_searches_and_studies_do_not_depend_on_threads(poise, tmp_path, data):
    seen = set()
    for threads in (1, 3):
        folder = tmp_path / str(threads)
        poise("search", data, *SEARCH, "--journal", tmp_path / f"{threads}.journal", "--out", tmp_path / f"{threads}.model", "--threads", threads)
        poise("study", data, *STUDY, "--out", folder, "--threads", threads)
        seen.add(((tmp_path / f"{threads}.model").read_bytes(), (folder / "results.csv").read_bytes(), (folder / "tables.md").read_bytes()))
    assert len(seen) == 1


def test_quiet(poise, tmp_path, data):
    assert poise("search", data, *SEARCH, "--journal", tmp_path / "journal", "--quiet").err == ""
    assert poise("study", data, *STUDY, "--out", tmp_path / "study", "--quiet").err == ""
