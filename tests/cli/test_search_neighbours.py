"""`poise search` and `poise study` with --neighbours: an axis that shares factorizations, rows of its own, no dense models where none fits."""
import json
import signal
import subprocess
import time

import pytest

from conftest import HANG, PROGRAM, run
from test_search import score, untimed
from studying import study, trained_rows

FLAGS = ("--model", "ease", "--neighbours", "3,8", "--threads", 1)


@pytest.fixture
def search(shop, tmp_path):
    def call(*flags, journal="journal", **kwargs):
        return run("search", shop, "--journal", tmp_path / journal, *flags, "--json", **kwargs)
    return call


@pytest.fixture(scope="module")
def found(shop, tmp_path_factory):
    folder = tmp_path_factory.mktemp("found")
    result = run("search", shop, "--journal", folder / "journal", *FLAGS, "--out", folder / "m", "--report", folder / "report", "--json").json
    return folder, result


def test_each_number_is_searched_as_if_it_were_alone(search, found):
    whole = found[1]
    assert whole["complete"] and {point["neighbours"] for point in whole["points"]} == {3, 8}
    assert whole["best"]["neighbours"] in (3, 8) and whole["best_unweighted"]["neighbours"] in (3, 8)
    for neighbours in (3, 8):
        alone = search("--model", "ease", "--neighbours", neighbours, journal=str(neighbours)).json
        assert untimed(alone["points"]) == [point for point in untimed(whole["points"]) if point["neighbours"] == neighbours]


def test_only_the_chosen_model_is_compared_with_dense_ones(poise, shop, found, tmp_path):
    folder, whole = found
    assert "explained_share" in whole["best"]["certificate"]
    assert not any("explained_share" in point["certificate"] for point in whole["points"])
    assert all(point["certificate"]["verified_columns"] == 60 for point in whole["points"])
    best = whole["best"]
    poise("train", shop, "--model", "ease", "--neighbours", best["neighbours"], "--lambda", best["lambda"], "--alpha", best["alpha"],
          "--out", tmp_path / "m")
    measured = poise("evaluate", tmp_path / "m", shop, "--on", "validation", "--json").json["metrics"]["ndcg@100"]["mean"]
    assert measured == score(best)
    assert poise("evaluate", folder / "m", shop, "--json").json["metrics"]["ndcg@100"]["mean"] == best["test"]["ndcg@100"]["mean"]


def test_journals(shop, found, tmp_path):
    """Killed in the middle, with few points at first, or done: the same command ends with the same points."""
    folder, whole = found
    again = run("search", shop, "--journal", folder / "journal", *FLAGS, "--json").json
    assert untimed(again["points"]) == untimed(whole["points"]) and again["best_unweighted"] == whole["best_unweighted"]
    journal = tmp_path / "journal"
    first = run("search", shop, "--journal", journal, *FLAGS, "--points", 5, "--json").json
    assert not first["complete"] and len(first["points"]) == 5 and first["missing"]
    with subprocess.Popen([PROGRAM, "search", shop, "--journal", journal, *map(str, FLAGS)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and journal.read_bytes().count(b"\n") < 12:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    resumed = run("search", shop, "--journal", journal, *FLAGS, "--json").json
    assert untimed(resumed["points"]) == untimed(whole["points"])


def test_fixed_grids_and_other_axes(search):
    result = search("--model", "full-rank", "--grid", "paper", "--no-expand", "--neighbours", "0,1,5,1000", "--lambda", "1,30", "--alpha", "1,4",
                    "--dropout", "0,0.3", "--lambda-exponent", "0.5").json
    points = result["points"]
    assert len(points) == 4 * 2 * 2 * 2
    at = {(point["neighbours"], point["lambda"], point["alpha"], point["dropout"]): point for point in points}
    for (neighbours, *rest), point in at.items():
        assert point["lambda_exponent"] == 0.5
        if neighbours == 0:  # more neighbours than there are items is all of them
            assert score(at[(1000, *rest)]) == pytest.approx(score(point), abs=1e-6)
            assert at[(1000, *rest)]["objective"] == pytest.approx(point["objective"], rel=1e-6)


def test_other_weightings_and_free_axes(search):
    result = search("--model", "edlae", "--neighbours", 6, "--weighting", "log,user-oriented", "--lambda-exponent", "auto", "--points", 40).json
    assert all(point["neighbours"] == 6 and point["dropout"] > 0 for point in result["points"])
    assert "explained_share" in result["best"]["certificate"]


@pytest.mark.parametrize("command", [
    ("search", "--model", "wmf", "--neighbours", "5"),
    ("search", "--model", "dropout", "--neighbours", "5,6"),
    ("search", "--model", "ease", "--neighbours", "-1"),
    ("search", "--model", "ease", "--neighbours", "auto"),
    ("study", "--models", "wmf", "--neighbours", "5"),
    ("study", "--models", "ease", "--neighbours", "0"),
    ("study", "--models", "ease", "--neighbours", "x"),
])
def test_what_does_not_fit(shop, tmp_path, command):
    name, *flags = command
    said = run(name, shop, *flags, *(("--out", tmp_path / "s") if name == "study" else ()), code=2).err
    assert "--neighbours" in said
    assert not (tmp_path / "s").exists()


def test_processors_only(shop, tmp_path):
    command = [PROGRAM, "search", shop, *map(str, FLAGS), "--journal", tmp_path / "j", "--device", "cuda"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
    assert process.returncode in (2, 4), "2 where there is a GPU, 4 where there is none"
    assert process.returncode == 4 or "on the processor alone" in process.stderr


def test_reports_have_a_row_for_each_number(found):
    folder, whole = found
    rows = [row for row in json.loads((folder / "report" / "results.json").read_text())["rows"] if row["model"] != "popularity"]
    assert sorted((row["neighbours"], row["kind"]) for row in rows) == sorted((k, kind) for k in (3, 8) for kind in
                                                                             ("unweighted", "weighted", "down-weighted"))
    for name in ("tables.md", "tables.tex", "report.html"):
        text = (folder / "report" / name).read_text()
        assert "zero diagonal, 3 neighbours" in text and "zero diagonal, 8 neighbours" in text


@pytest.fixture(scope="module")
def studied(shop, tmp_path_factory):
    return study(shop, tmp_path_factory.mktemp("study") / "study", "--grid", "best", "--models", "full-rank,ease,ease-nu", "--neighbours", "8,4,8")


def test_a_study_has_rows_for_each_number(studied):
    results = studied.json
    names = {(row["model"], row["zero_diagonal"], row["neighbours"]) for row in trained_rows(results)}
    plain = {("full-rank", False), ("full-rank", True), ("full-rank/lambda-exponent", True)}
    assert names == {(*each, neighbours) for each in plain for neighbours in (0, 4, 8)}
    for row in trained_rows(results):
        assert ("explained_share" in row["certificate"]) == (row["neighbours"] > 0)
    pairs = {(pair["model"], pair["zero_diagonal"], pair["neighbours"], pair["kind"]) for pair in results["pairs"]}
    assert pairs == {(*each, neighbours, kind) for each in plain for neighbours in (0, 4, 8) for kind in ("weighted", "down-weighted")}
    assert "| EASE, popularity-dependent lambda, 4 neighbours" in studied.text("tables.md")
    assert "| 5. Full rank  " in studied.text("tables.md") and "| Full rank, 8 neighbours" in studied.text("tables.md")
    header, *lines = studied.text("results.csv").splitlines()
    column = header.split(",").index("neighbours")
    assert {line.split(",")[column] for line in lines} == {"0", "4", "8", ""}
    assert "zero diag., nu, 4 neighbours" in studied.text("report.html")
    assert results["options"]["--neighbours"] == "8,4,8"


def test_a_search_is_the_study_of_that_row(search, studied):
    alone = search("--model", "ease", "--neighbours", 4).json
    row, = [row for row in trained_rows(studied.json) if row["zero_diagonal"] and row["model"] == "full-rank" and row["neighbours"] == 4
            and row["kind"] == "unweighted"]
    best = alone["best_unweighted"]
    assert (row["lambda"], row["alpha"]) == (best["lambda"], best["alpha"])
    assert row["validation"]["ndcg@100"]["mean"] == score(best)


def test_where_dense_models_do_not_fit_those_with_neighbours_are_studied(tmp_path):
    rows = ["user,item"] + [f"u{user},i{(user * 7 + k * k * 31 + (user % 13) * k) % 4500}" for user in range(1500) for k in range(12)]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    run("prepare", tmp_path / "log.csv", "--out", tmp_path / "data")
    flags = ("--models", "ease", "--grid", "paper", "--no-expand", "--memory-limit", "64M", "--out", tmp_path / "s")
    assert "--neighbours" in run("study", tmp_path / "data", *flags, code=4).err
    said = run("study", tmp_path / "data", *flags, "--neighbours", 20)
    assert "ease with all neighbours is left out" in said.err
    rows = json.loads((tmp_path / "s" / "results.json").read_text())["rows"]
    assert {row["neighbours"] for row in rows if row["model"] != "popularity"} == {20}


def test_over_seeds(shop, tmp_path):
    run("study", shop, "--models", "ease", "--neighbours", 5, "--points", 6, "--seeds", "1,2", "--threads", 1, "--out", tmp_path / "s")
    header, *lines = (tmp_path / "s" / "results.csv").read_text().splitlines()
    assert {line.split(",")[header.split(",").index("neighbours")] for line in lines} == {"0", "5", ""}
    assert "zero diagonal, 5 neighbours" in (tmp_path / "s" / "tables.md").read_text()
