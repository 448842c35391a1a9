"""Searches and studies by several processes are those of one: the same points, models and tables, and a job that ended goes on."""
import json
import os
import signal
import subprocess

import pytest

from conftest import PROGRAM, SIZES, environment, left_behind, mpirun, none_left, run

# It is a part of the journal's header, and its default depends on the number of processes.
LIMIT = ["--memory-limit", "2G"]


def untimed(value):
    if isinstance(value, dict):
        return {key: untimed(entry) for key, entry in value.items() if key != "seconds"}
    return [untimed(entry) for entry in value] if isinstance(value, list) else value


def entries(journal):
    """What a journal holds, without times: key and value of each line but the first."""
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    return {line["key"]: untimed(line["value"]) for line in lines[1:]}


def same_search(alone, together):
    for result in (alone, together):
        for name in ("seconds", "ranks"):
            result.pop(name, None)
    return untimed(alone) == untimed(together)


SEARCHES = {
    "full rank": ["--model", "full-rank"],
    "edlae": ["--model", "edlae", "--points", 30],
    "wmf": ["--model", "wmf", "--rank", 5, "--points", 25],
    "awmf": ["--model", "awmf", "--rank", "4,6", "--regularizer", "dropout", "--points", 25],
    "data-weight-decay": ["--model", "data-weight-decay", "--rank", 5, "--points", 25],
    "grid": ["--model", "full-rank", "--grid", "paper", "--refine", 1],
    "weightings": ["--model", "full-rank", "--weighting", "constant,log", "--lambda", "1,10", "--alpha", "1,3", "--grid", "paper",
                   "--no-expand"],
}


@pytest.mark.parametrize("search", SEARCHES)
def test_the_search_of_one_process(shop, tmp_path, search):
    arguments = ["search", shop, *SEARCHES[search], *LIMIT, "--json"]
    alone = run(*arguments, "--journal", tmp_path / "1.journal", "--out", tmp_path / "1.model").json
    for size in SIZES[1:]:
        journal, model = tmp_path / f"{size}.journal", tmp_path / f"{size}.model"
        result = mpirun(size, *arguments, "--journal", journal, "--out", model, mark=tmp_path)
        assert result.json["ranks"] == size
        assert same_search(dict(alone), dict(result.json))
        assert model.read_bytes() == (tmp_path / "1.model").read_bytes()
        assert entries(journal) == entries(tmp_path / "1.journal")


def test_a_journal_serves_any_number_of_processes(shop, tmp_path):
    arguments = ["search", shop, "--model", "ease", *LIMIT, "--journal", tmp_path / "journal", "--json"]
    mpirun(3, *arguments, "--points", 9, mark=tmp_path)
    before = entries(tmp_path / "journal")
    assert len(before) >= 9
    alone = run("search", shop, "--model", "ease", *LIMIT, "--journal", tmp_path / "other", "--json").json
    assert same_search(alone, mpirun(2, *arguments, mark=tmp_path).json)
    assert same_search(alone, run(*arguments).json)
    assert before.items() <= entries(tmp_path / "journal").items()


def test_a_time_limit_ends_all(shop, tmp_path):
    result = mpirun(3, "search", shop, "--model", "ease", "--time-limit", "0s", "--journal", tmp_path / "journal", "--json", mark=tmp_path)
    assert result.json["complete"] is False and result.json["missing"]


STUDY = ["--models", "ease,full-rank,wmf,dropout", "--ranks", "4", "--points", 15, *LIMIT]


@pytest.fixture(scope="module")
def study(shop, tmp_path_factory):
    """The study of one process."""
    folder = tmp_path_factory.mktemp("study")
    run("study", shop, *STUDY, "--out", folder / "study")
    return folder / "study"


def assert_same_study(one, other):
    for name in ("results.csv", "tables.tex", "tables.md"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.mark.parametrize("size", SIZES)
def test_the_study_of_one_process(shop, study, tmp_path, size):
    mpirun(size, "study", shop, *STUDY, "--out", tmp_path / "study", mark=tmp_path)
    assert_same_study(study, tmp_path / "study")


def test_a_study_of_several_splits(shop, tmp_path):
    arguments = ["study", shop, "--models", "ease", "--points", 6, "--seeds", "1,2", *LIMIT]
    run(*arguments, "--out", tmp_path / "alone")
    mpirun(3, *arguments, "--out", tmp_path / "together", mark=tmp_path)
    for part in (".", "seed-1", "seed-2"):
        assert (tmp_path / "alone" / part / "results.csv").read_bytes() == (tmp_path / "together" / part / "results.csv").read_bytes()


@pytest.mark.parametrize("rank", ["first", "last"])
def test_a_rank_that_dies_costs_its_unfinished_points(shop, study, tmp_path, rank):
    process = subprocess.Popen(["mpirun", "-n", "3", PROGRAM, "study", shop, *map(str, STUDY), "--out", tmp_path / "study"],
                               env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / "study" / "study.journal"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 8:
        assert process.poll() is None
    chosen = min if rank == "first" else max
    os.kill(chosen(left_behind(tmp_path)), signal.SIGKILL)
    process.communicate(timeout=900)
    assert process.returncode != 0 and none_left(tmp_path)
    assert not (tmp_path / "study" / "results.csv").exists()
    kept = entries(journal)
    assert len(kept) >= 7
    mpirun(2, "study", shop, *STUDY, "--out", tmp_path / "study", mark=tmp_path)
    assert kept.items() <= entries(journal).items()
    assert_same_study(study, tmp_path / "study")
