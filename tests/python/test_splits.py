"""poise.study over several splits, and searches on given splits without a validation part, against the program's."""
import random

import pytest
from conftest import run_program

import poise
from test_search_study import without_times

FLAGS = ["--models", "ease", "--ranks", "4", "--seeds", "1,2,3", "--grid", "paper", "--no-expand"]
GRID = {"grid": "paper", "expand": False, "show_progress": False}


@pytest.fixture(scope="module")
def demo():
    return poise.split(poise.synth("demo", scale=0.25))


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A given split without a validation part."""
    folder = tmp_path_factory.mktemp("given")
    draw = random.Random(3)
    pairs = sorted({(user, user % 3 * 10 + min(int(draw.expovariate(0.3)), 29)) for user in range(90) for _ in range(16)})
    for name, keep in (("train", lambda k: k % 4 != 1), ("test", lambda k: k % 4 == 1)):
        rows = "".join(f"u{user},i{item}\n" for k, (user, item) in enumerate(pairs) if keep(k))
        (folder / f"{name}.csv").write_text("user,item\n" + rows)
    run_program("prepare", folder / "train.csv", "--test", folder / "test.csv", "--split", "given", "--out", folder / "data")
    return folder / "data"


def test_study_over_splits(demo, tmp_path):
    run_program("synth", "--like", "demo", "--scale", "0.25", "--out", tmp_path / "demo")
    expected = run_program("study", tmp_path / "demo", "--out", tmp_path / "study", *FLAGS)
    found = poise.study({"demo": demo}, models="ease", ranks=[4], seeds=[1, 2, 3], **GRID)
    assert found.complete and repr(found) == "<poise.StudyResult: 3 rows over 3 splits>"
    ours, theirs = without_times(found.results), without_times(expected)
    assert ours["rows"] == theirs["rows"] and ours["pairs"] == theirs["pairs"] and ours["splits"] == theirs["splits"]
    assert ours["conclusions"] == theirs["conclusions"] and found.markdown == (tmp_path / "study" / "tables.md").read_text()
    assert list(found.splits) == [1, 2, 3] and len(found.splits[2].points) > 10 and not found.points
    assert found.splits[2].csv == (tmp_path / "study" / "seed-2" / "results.csv").read_text()
    row = found.table[0]
    assert {"test ndcg@100", "test ndcg@100 spread"} <= set(row) and not any(isinstance(value, (list, dict)) for value in row.values())
    found.save(tmp_path / "saved")
    for name in ("results.csv", "tables.md", "seed-1/results.csv", "seed-3/tables.md"):
        assert (tmp_path / "saved" / name).read_text() == (tmp_path / "study" / name).read_text()
    assert (tmp_path / "saved" / "seed-1" / "report.html").exists() and (tmp_path / "saved" / "report.html").exists()


def test_one_seed(demo):
    found = poise.study(demo, models="ease", ranks=[], seeds=[98765], **GRID)
    plain = poise.study(demo, models="ease", ranks=[], **GRID)
    assert found.splits[98765].csv == plain.csv and found.table[0]["test ndcg@100 spread"] is None and not plain.splits


@pytest.mark.parametrize("seeds, message", [([1, 1], "1 twice"), ([], "no seed"), (["x"], "not a whole number"), ([-1], "out of range"),
                                            ([2**32], "out of range")])
def test_bad_seeds(demo, seeds, message):
    with pytest.raises(ValueError, match=message):
        poise.study(demo, models="ease", seeds=seeds, show_progress=False)


def test_data_that_no_seed_splits():
    with pytest.raises(ValueError, match="no seed can draw again"):
        poise.study(poise.synth("demo", scale=0.25), models="ease", seeds=[1], show_progress=False)


def test_search_of_a_given_split(given, tmp_path):
    data = poise.Dataset.from_file(given)
    expected = run_program("search", given, "--model", "ease", "--journal", tmp_path / "journal", "--out", tmp_path / "program")
    found = poise.search(data, poise.EASE(), show_progress=False)
    assert without_times(found.results) == without_times(expected) and found.results["validation_from_training"] > 0
    found.best_model.save(tmp_path / "python")
    assert (tmp_path / "python").read_bytes() == (tmp_path / "program").read_bytes()
    other = poise.search(data, poise.EASE(random_state=7), show_progress=False)
    assert other.points != found.points


def test_study_of_a_given_split(given, tmp_path):
    expected = run_program("study", given, "--models", "ease", "--out", tmp_path / "study")
    found = poise.study(poise.Dataset.from_file(given), models="ease", show_progress=False)
    assert without_times(found.results)["rows"] == without_times(expected)["rows"]
    assert found.results["data"][0]["validation_from_training"] > 0
