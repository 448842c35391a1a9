"""`poise search --report`: the study's page and tables for one model."""
import json
import pathlib

import pytest

from conftest import run, shop_log
from test_search import untimed
from studying import FILES, METRICS, identity, score, study

HELPS = ("helps", "hurts", "makes no measurable difference")


class Report:
    def __init__(self, folder, result):
        self.folder = folder
        self.result = result
        self.json = json.loads(self.text("results.json"))

    def text(self, name):
        return (self.folder / name).read_text()

    @property
    def rows(self):
        return [row for row in self.json["rows"] if row["model"] != "popularity"]


@pytest.fixture
def report(shop, tmp_path):
    """A search with a report and a journal of its own; one thread, for the problems are small."""
    def call(*flags, data=shop, journal="journal", out="report", **kwargs):
        result = run("search", data, "--journal", tmp_path / journal, "--threads", 1, "--json", *flags, "--report", tmp_path / out, **kwargs)
        return Report(tmp_path / out, result) if result.code == 0 else result
    return call


@pytest.fixture(scope="module")
def untested(tmp_path_factory):
    """Data with a validation part and a test part in which there is nothing to find."""
    folder = tmp_path_factory.mktemp("untested")
    header, *rows = shop_log(7).splitlines()
    (folder / "validation.csv").write_text("\n".join([header, *rows[::7]]) + "\n")
    (folder / "train.csv").write_text("\n".join([header, *(row for k, row in enumerate(rows) if k % 7)]) + "\n")
    (folder / "test.csv").write_text(f"{header}\nu0,unheard-of,1\n")
    run("prepare", folder / "train.csv", "--split", "given", "--validation", folder / "validation.csv", "--test", folder / "test.csv",
        "--out", folder / "untested")
    return folder / "untested"


@pytest.mark.parametrize("search, model", [(["--model", "ease"], "ease"), (["--model", "edlae"], "edlae"), (["--model", "wmf", "--rank", 3], "wmf")])
def test_is_the_study_of_that_model(report, shop, tmp_path, search, model):
    found = report(*search, "--rounds", 1000) if model == "wmf" else report(*search)
    assert sorted(path.name for path in found.folder.iterdir()) == FILES
    whole = study(shop, tmp_path / "study", "--grid", "best", "--models", model, "--ranks", 3).json
    for name in ("rows", "pairs", "points", "profiles", "against_popularity", "against_best", "conclusions", "data", "metrics", "complete"):
        assert untimed(found.json[name]) == untimed(whole[name]), name
    assert found.json["complete"] and {row["kind"] for row in found.rows} == {"unweighted", "weighted", "down-weighted"}
    for name in ("tables.md", "results.csv", "tables.tex"):
        assert found.text(name) == (tmp_path / "study" / name).read_text()
    assert "A search by Poise" in found.text("report.html") and "A study by Poise" not in found.text("report.html")


def test_says_what_the_search_says(report, poise, shop, tmp_path):
    plain = poise("search", shop, "--journal", tmp_path / "plain", "--threads", 1, "--model", "ease", "--json")
    found = report("--model", "ease", "--out", tmp_path / "model")
    assert untimed(found.result.json) == untimed(plain.json)
    best = found.result.json["best"]
    row = next(row for row in found.rows if row["best_on_validation"])  # exact models: the search's figures are the final ones
    assert (row["lambda"], row["alpha"], row["test"], row["validation"]) == (best["lambda"], best["alpha"], best["test"], best["validation"])
    assert poise("evaluate", tmp_path / "model", shop, "--json").json["metrics"] == row["test"]
    assert f"report written to {found.folder / 'report.html'}" in found.result.err
    # Again from the journal: nothing is trained, and all of it is the same.
    entries = (tmp_path / "journal").read_bytes()
    again = report("--model", "ease", out="again")
    assert (tmp_path / "journal").read_bytes() == entries
    assert all(again.text(name) == found.text(name) for name in ("tables.md", "tables.tex", "results.csv"))


def test_text_on_stdout_is_the_search_s(poise, shop, tmp_path):
    flags = ["search", shop, "--journal", tmp_path / "journal", "--threads", 1, "--model", "full-rank", "--alpha", 1]
    plain = poise(*flags).out.splitlines()
    found = poise(*flags, "--report", tmp_path / "report").out.splitlines()
    assert found[:-1] == plain[:-1], "but for the time"
    page = (tmp_path / "report" / "report.html").read_text()
    assert "<dt>--alpha</dt><dd>1</dd>" in page and "<dt>--model</dt><dd>full-rank</dd>" in page and "<dt>--lambda</dt>" not in page


def test_ranks_and_weightings_have_rows_of_their_own(report):
    found = report("--model", "wmf", "--rank", "2,4", "--weighting", "constant,log", "--lambda", "1,100")
    rows = {(row["rank"], row["weighting"], row["kind"]): row for row in found.rows}
    kinds = {"constant": ["unweighted", "weighted", "down-weighted"], "log": ["unweighted", "weighted"]}
    assert set(rows) == {(rank, weighting, kind) for rank in (2, 4) for weighting in kinds for kind in kinds[weighting]}
    points = found.result.json["points"]
    for (rank, weighting, kind), row in rows.items():
        tried = [point for point in points if (point["rank"], point["weighting"]) == (rank, weighting)]
        assert any((point["lambda"], point["alpha"]) == (row["lambda"], row["alpha"]) for point in tried)
        assert (row["alpha"] == {"constant": 1, "log": 0}[weighting]) == (kind == "unweighted")
        drawn = [point for point in found.json["points"] if identity(point) == identity(row) and point["weighting"] == weighting]
        assert len(drawn) == len(tried) and {point["kind"] for point in drawn} == set(kinds[weighting])
    assert len(found.json["points"]) == len(points)
    # That of the search stands among the rows, if not always as the best of the trained ones.
    best = found.result.json["best"]
    assert [row["test"] for row in found.rows if all(row[key] == best[key] for key in ("rank", "weighting", "alpha", "lambda"))] == [best["test"]]
    tables = found.text("tables.md")
    assert "2. WMF, log weights" in tables and "## Rank 4" in tables and "## Rank 2" in tables
    assert "weights it is their slope" in found.text("report.html")
    assert {line.split(",")[-5] for line in found.text("results.csv").splitlines()[1:]} == {"constant", "log", ""}


def test_weights_without_an_unweighted_point(report):
    found = report("--model", "full-rank", "--weighting", "inverse-popularity", "--gamma", "0.25,1", "--alpha", "1,5", "--lambda", 30)
    assert [row["kind"] for row in found.rows] == ["weighted"] and not found.json["pairs"]
    assert found.rows[0]["gamma"] == found.result.json["best"]["gamma"] and "| gamma |" in found.text("tables.md")
    assert not found.text("tables.md").startswith("# Weighting")


def test_of_a_fixed_grid(report):
    found = report("--model", "wmf", "--rank", "2,4", "--grid", "paper", "--lambda", "1,30", "--alpha", "1,2", "--refine", 1)
    assert len(found.json["points"]) == len(found.result.json["points"])
    for rank in (2, 4):
        rows = {row["kind"]: row for row in found.rows if row["rank"] == rank}
        assert set(rows) == {"unweighted", "weighted"}
        for kind, row in rows.items():
            tried = [point for point in found.json["points"] if point["rank"] == rank and point["kind"] == kind]
            highest = max(tried, key=score)
            assert (row["lambda"], row["alpha"]) == (highest["lambda"], highest["alpha"])


def test_without_a_test_part(report, untested):
    found = report("--model", "ease", "--lambda", "5,500", data=untested)
    assert len(found.rows) == 3 and all(row["test"] == {} and row["final"] for row in found.json["rows"])
    assert found.json["pairs"] == [] and found.json["against_popularity"] == [] and found.json["conclusions"] == []
    assert "test" not in found.result.json["best"]
    tables, page = found.text("tables.md"), found.text("report.html")
    assert tables.startswith("# What validation chose, with no test users to confirm it\n")
    best = max(found.rows, key=score)
    assert f"with nDCG@100 {score(best):.3f}" in tables and "on the validation users." in tables
    for text in (tables, page, found.text("tables.tex")):
        assert not any(word in text.split("<main>")[0].split("<header>")[-1] for word in HELPS)
        assert "est users' mean" not in text and "ver the test users" not in text
    assert "\u2191" not in tables and "\u2193" not in tables and "**0" not in tables and "Less popularity" not in page
    for row in found.rows:
        for metric in METRICS:
            assert f"{row['validation'][metric]['mean']:.3f}" in tables
    assert 'id="popularity-bins"' not in page and 'href="#pairs"' not in page
    assert {tuple(line.split(",")[11:13]) for line in found.text("results.csv").splitlines()[1:]} == {("", "")}


def test_out_of_points(report):
    found = report("--model", "full-rank", "--points", 10)
    assert not found.json["complete"] and found.json["missing"] == found.result.json["missing"]
    assert [search["state"] for search in found.json["unfinished"]] == ["searching"]
    assert found.rows and all(row["final"] and row["test"] for row in found.rows)
    assert not any(pair["complete"] for pair in found.json["pairs"])
    tables = found.text("tables.md")
    assert "Time or points ran out in the search of Full rank." in tables and "(0." not in tables
    assert not any(f"Weighting {word}" in found.text(name) for name in FILES for word in HELPS)


def test_a_rank_that_was_done_when_points_ran_out(report):
    """Its rows are those of a complete search."""
    flags = ["--model", "wmf", "--rank", "2,3,4", "--lambda", "1,100"]
    whole = report(*flags, out="whole")
    some = report(*flags, "--points", len(whole.result.json["points"]) - 1)
    left = {int(point["rank"]) for point in some.json["missing"]}
    assert 0 < len(left) < 3 and {search["rank"] for search in some.json["unfinished"]} == left
    chosen = lambda found: untimed([{**row, "best_on_validation": 0} for row in found.rows if row["rank"] not in left])  # noqa: E731
    assert chosen(some) == chosen(whole) and all(row["search"]["complete"] for row in some.rows if row["rank"] not in left)
    assert {pair["rank"] for pair in some.json["pairs"] if pair["complete"]} >= {2, 3, 4} - left


def test_out_of_time(report, tmp_path):
    whole = report("--model", "ease", out="whole report", journal="whole")
    none = report("--model", "ease", "--time-limit", "0s", out="none report", journal="none")
    assert not none.json["complete"] and none.rows == [] and none.result.json["best"] is None
    assert [search["state"] for search in none.json["unfinished"]] == ["not begun"] and none.json["missing"]
    assert none.text("tables.md").startswith("# Not complete: nothing can be said about weighting yet")
    header, *entries = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    # All points and no rows: the last entry is that of the rows.
    for count, state in ((len(entries) - 1, "not trained"), (len(entries) // 2, "searching")):
        (tmp_path / "journal").write_bytes(header + b"".join(entries[:count]))
        some = report("--model", "ease", "--time-limit", "0s")
        assert not some.json["complete"] and [search["state"] for search in some.json["unfinished"]] == [state]
        assert some.rows and all(not row["final"] and row["test"] == {} and row["validation"] for row in some.rows)
        assert some.json["pairs"] == [] and len(some.json["points"]) == count
        if state == "not trained":
            assert [(row["lambda"], row["alpha"]) for row in some.rows] == [(row["lambda"], row["alpha"]) for row in whole.rows]
            assert len(some.json["missing"]) == len(whole.rows)
        assert not any(f"eighting {word}" in some.text(name) for name in FILES for word in HELPS)
        ended = report("--model", "ease", out="ended")
        for name in ("tables.md", "tables.tex", "results.csv"):
            assert ended.text(name) == whole.text(name)


def test_a_folder_that_cannot_be_written(report, tmp_path):
    (tmp_path / "report").write_text("a file")
    report("--model", "ease", code=4)
    assert (tmp_path / "report").read_text() == "a file" and not (tmp_path / "journal").exists()
    assert pathlib.Path(tmp_path / "report").is_file()
