"""The study with its default search, by profiles."""
import re
import subprocess
import time

import pytest

from conftest import PROGRAM
from studying import FILES, METRICS, identity, kind_of, score, study, trained_rows

FLAGS = ["--grid", "best", "--models", "full-rank,ease,edlae,wmf", "--ranks", "3"]


@pytest.fixture(scope="module")
def whole(shop, tmp_path_factory):
    return study(shop, tmp_path_factory.mktemp("best") / "study", *FLAGS)


def test_best_is_the_default(poise, shop, tmp_path):
    poise("study", shop, "--out", tmp_path / "study", "--models", "ease", "--threads", 1)
    assert "| --grid" not in (tmp_path / "study" / "tables.md").read_text()
    page = (tmp_path / "study" / "report.html").read_text()
    assert "<dt>--grid</dt><dd>best</dd>" in page and "<dt>--refine</dt>" not in page


def test_each_model_has_rows_of_three_kinds(whole):
    assert whole.files == sorted(FILES + ["study.journal"])
    results = whole.json
    kinds = {}
    for row in trained_rows(results):
        kinds.setdefault(identity(row), []).append(row["kind"])
        assert kind_of(row) == row["kind"] and row["search"]["complete"] and isinstance(row["search"]["interior"], bool)
    assert len(kinds) == 4 and all(kind == ["unweighted", "weighted", "down-weighted"] for kind in kinds.values())
    assert all(pair["complete"] for pair in results["pairs"])
    assert {row["dropout"] > 0 for row in results["rows"] if row["model"] == "full-rank/dropout"} == {True}


def test_profiles(whole):
    results = whole.json
    rows = {(*identity(row), row["kind"]): row for row in trained_rows(results)}
    assert [(*identity(profile), profile["kind"]) for profile in results["profiles"]] == list(rows)
    for profile in results["profiles"]:
        row = rows[(*identity(profile), profile["kind"])]
        assert (profile["alpha"], profile["lambda"], profile["dropout"]) == (row["alpha"], row["lambda"], row["dropout"])
        points = [point for point in results["points"] if identity(point) == identity(row) and kind_of(point) == row["kind"]]
        alphas = [point["alpha"] for point in profile["curve"]]
        assert alphas == sorted({point["alpha"] for point in points})
        for point in profile["curve"]:
            assert point["mean"] == max(score(other) for other in points if other["alpha"] == point["alpha"])
            assert point["stderr"] > 0 and point["paired_stderr"] >= 0
        # What is flat to its edge is chosen inside of it, so the highest may be higher by a part of the noise.
        highest = max(point["mean"] for point in profile["curve"])
        assert highest - 0.01 <= next(point["mean"] for point in profile["curve"] if point["alpha"] == row["alpha"]) <= highest


def test_resuming_after_kills_changes_nothing(shop, whole, tmp_path):
    out = tmp_path / "study"
    journal = out / "study.journal"
    for moment in (3, 40, 90):
        process = subprocess.Popen(list(map(str, [PROGRAM, "study", shop, "--out", out, "--threads", 2, *FLAGS])),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < moment):
            time.sleep(0.001)
        process.kill()
        process.wait()
    resumed = study(shop, out, *FLAGS)
    for name in ("results.csv", "tables.md", "tables.tex"):
        assert resumed.text(name) == whole.text(name)


def test_incomplete_searches_say_nothing_about_weighting(shop, tmp_path):
    cut = study(shop, tmp_path / "study", "--grid", "best", "--models", "full-rank,ease", "--points", "20")
    results = cut.json
    assert all(not row["search"]["complete"] for row in trained_rows(results) if row["kind"] != "unweighted")
    assert results["pairs"] and not any(pair["complete"] for pair in results["pairs"])
    tables = cut.text("tables.md")
    assert not tables.startswith("# Weighting") and re.search("left out: (a|its) search is not complete", tables)
    assert "\u2191" not in tables.split("Test users' mean")[0] and "\u2193" not in tables.split("Test users' mean")[0]
    assert all("helps" not in conclusion["sentence"] and "hurts" not in conclusion["sentence"] for conclusion in results["conclusions"]
               if not conclusion["overall"])
    assert "search not complete" in tables and "search not complete" in cut.text("report.html")


def test_time_limit(shop, tmp_path):
    begun = study(shop, tmp_path / "study", "--grid", "best", "--models", "ease", "--time-limit", "0s", "--json")
    assert not begun.result.json["complete"] and begun.result.json["missing"]
    assert [search["state"] for search in begun.json["unfinished"]] == ["not begun"]
