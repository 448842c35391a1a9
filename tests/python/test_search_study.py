"""poise.search and poise.study against the program's."""
import json

import pytest
from conftest import run_program

import poise


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("search") / "demo"
    run_program("synth", "--like", "demo", "--scale", "0.25", "--out", path)
    return path


@pytest.fixture(scope="module")
def demo():
    return poise.split(poise.synth("demo", scale=0.25))


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key != "seconds"}
    return [without_times(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("source", ["folder", "memory"])
def test_search(folder, demo, tmp_path, source):
    data = poise.Dataset.from_file(folder) if source == "folder" else demo
    expected = run_program(
        "search", folder, "--model", "full-rank", "--zero-diagonal", "--lambda", "1,100", "--alpha", "1,2", "--refine", "1", "--grid", "paper",
        "--journal", tmp_path / "program.journal", "--out", tmp_path / "program.model",
    )
    found = poise.search(
        data, poise.EASE(), regularization=[1, 100], alpha=[1, 2], grid="paper", refine=1, journal=tmp_path / "journal", show_progress=False
    )
    assert without_times(found.results) == without_times(expected)
    assert found.complete and len(found.table) == len(found.points)
    assert {"lambda", "alpha", "validation ndcg@100", "validation ndcg@100 stderr"} <= set(found.table[0])
    found.best_model.save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == (tmp_path / "program.model").read_bytes()
    assert found.best_model.regularization == expected["best"]["lambda"]
    # Again from the journal: nothing is trained.
    tasks = []
    again = poise.search(
        data, poise.EASE(), regularization=[1, 100], alpha=[1, 2], grid="paper", refine=1, journal=tmp_path / "journal", show_progress=False,
        callback=lambda task, done, total: tasks.append(task),
    )
    assert without_times(again.results) == without_times(expected) and "searching" not in tasks


@pytest.mark.parametrize("exponents", [[0.5, 1], [0, 3]])
def test_search_of_the_exponent(folder, tmp_path, exponents):
    expected = run_program(
        "search", folder, "--model", "ease", "--lambda", "10,100", "--alpha", "1", "--no-expand", "--grid", "paper",
        "--lambda-exponent", ",".join(map(str, exponents)), "--journal", tmp_path / "journal",
    )
    start = poise.EASE(regularization_exponent=2)
    found = poise.search(
        poise.Dataset.from_file(folder), start, regularization=[10, 100], alpha=[1], regularization_exponent=exponents,
        expand=False, grid="paper", show_progress=False,
    )
    assert without_times(found.results) == without_times(expected)
    assert {point["lambda_exponent"] for point in found.points} == set(exponents)
    assert found.best_model.regularization_exponent == expected["best"]["lambda_exponent"]
    assert 0 not in exponents or found.best_model.regularization_exponent == 0, "3 is far too steep"
    found.best_model.save(tmp_path / "best")
    assert poise.load(tmp_path / "best").regularization_exponent == expected["best"]["lambda_exponent"]


def test_exponents_that_mean_nothing(demo):
    for value in (float("nan"), 1e3):
        with pytest.raises(ValueError, match="regularization_exponent"):
            poise.EASE(regularization_exponent=value).fit(demo, show_progress=False)


def test_search_of_low_rank(folder, tmp_path):
    expected = run_program(
        "search", folder, "--model", "wmf", "--rank", "4,8", "--lambda", "1,10", "--alpha", "5", "--no-expand", "--grid", "paper",
        "--weighting", "constant,item-oriented", "--journal", tmp_path / "journal",
    )
    found = poise.search(
        poise.Dataset.from_file(folder), poise.WMF(), factors=[4, 8], regularization=[1, 10], alpha=[5],
        weighting=["constant", "item-oriented"], grid="paper", expand=False, show_progress=False,
    )
    assert without_times(found.results) == without_times(expected)
    assert found.best_model.factors == expected["best"]["rank"]


def test_search_by_profiles(folder, demo, tmp_path):
    flags = ["search", folder, "--model", "ease", "--journal", tmp_path / "journal"]
    expected = run_program(*flags)
    found = poise.search(demo, poise.EASE(), show_progress=False)
    assert without_times(found.results) == without_times(expected)
    assert found.complete and [profile["kind"] for profile in found.profiles] == ["unweighted", "weighted", "down-weighted"]
    assert found.best_model.alpha == expected["best"]["alpha"]
    some = poise.search(demo, poise.EASE(), points=5, show_progress=False)
    assert not some.complete and len(some.points) == 5 and some.missing and some.best_model is not None
    assert without_times(some.results) == without_times(run_program(*flags, "--points", "5"))
    free = poise.search(demo, poise.FullRank(zero_diagonal=True), alpha=[1], dropout="auto", points=30, show_progress=False)
    assert free.best_model.dropout == free.best["dropout"] and len({point["dropout"] for point in free.points}) >= 3
    with pytest.raises(ValueError, match="auto"):
        poise.search(demo, poise.EASE(), regularization="auto")
    with pytest.raises(ValueError, match="auto"):
        poise.search(demo, poise.FullRank(), dropout="auto", grid="paper")
    with pytest.warns(UserWarning, match="fixed grids"):
        poise.search(demo, poise.EASE(), regularization=[100], alpha=[1], refine=1, show_progress=False)


def test_search_ends_in_time(demo):
    found = poise.search(demo, poise.EASE(), time_limit="0s", show_progress=False)
    assert not found.complete and found.best_model is None and len(found.results["missing"]) > 0


def test_search_refusals(demo):
    with pytest.raises(ValueError, match="no validation part"):
        poise.search(poise.synth("demo"), poise.EASE(), show_progress=False)
    with pytest.raises(ValueError, match="EASE has no factors"):
        poise.search(demo, poise.EASE(), factors=[3])
    with pytest.raises(ValueError, match="no parameters"):
        poise.search(demo, poise.Popularity())
    with pytest.raises(ValueError, match="not a time"):
        poise.search(demo, poise.EASE(), time_limit="soon")
    with pytest.raises(ValueError, match="grid"):
        poise.search(demo, poise.EASE(), grid="wide")


def test_a_journal_that_cannot_be_written(demo, tmp_path):
    with pytest.raises(OSError, match="journal"):
        poise.search(demo, poise.EASE(), regularization=[10], alpha=[1], journal=tmp_path / "no" / "journal", show_progress=False)


def test_study(folder, tmp_path):
    run_program("study", folder, "--out", tmp_path / "program", "--ranks", "5", "--models", "wmf,ease", "--grid", "paper",
                "--no-expand")
    study = poise.study(
        poise.Dataset.from_file(folder), ranks=[5], models="wmf,ease", grid="paper", expand=False, show_progress=False
    )
    study.save(tmp_path / "python")
    for name in ("results.csv", "tables.md", "tables.tex"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name
    ours, theirs = (json.loads((tmp_path / who / "results.json").read_text()) for who in ("python", "program"))
    assert without_times(ours) == without_times(theirs)
    assert study.complete and study.markdown.startswith("# Weighting") and study.html.startswith("<!")
    assert len(study.table) == 5 and len(study.pairs) == 6
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(study.table)
    assert set(frame["model"]) == {"wmf", "full-rank", "popularity"}
    assert frame["test ndcg@100"].between(0.3, 0.6).all()


def test_study_of_data_in_memory(folder, demo):
    """The same figures under another name, whatever the data lie in."""
    on_disk = poise.study({"x": poise.Dataset.from_file(folder)}, ranks=[], models="ease", grid="paper", expand=False, show_progress=False)
    in_memory = poise.study({"x": demo}, ranks=[], models="ease", grid="paper", expand=False, show_progress=False)
    assert in_memory.csv == on_disk.csv
    with pytest.raises(ValueError, match="name one for each"):
        poise.study({"x": demo}, compare_paper=["msd", "netflix"])


def test_a_study_that_runs_out_of_time(demo, tmp_path):
    """What is there: of nothing, popularity; of a journal that has all points and rows of one model, that model."""
    ask = lambda **options: poise.study({"x": demo}, ranks=[], grid="paper", expand=False, show_progress=False, **options)  # noqa: E731
    none = ask(models="ease", time_limit=0)
    assert not none.complete and none.missing and [row["model"] for row in none.table] == ["popularity"]
    assert none.unfinished[0]["state"] == "not begun" and "not complete" in repr(none)
    journal = tmp_path / "journal"
    ask(models="ease", journal=journal)
    some = ask(models="ease,edlae", journal=journal, time_limit=0)
    assert not some.complete and [row["final"] for row in some.table if row["model"] == "full-rank"] == [True, True]
    assert [search["model"] for search in some.unfinished] == ["full-rank/dropout"]
    some.save(tmp_path / "study")
    assert (tmp_path / "study" / "report.html").read_text() == some.html and some.markdown.startswith("# Not complete: so far")
    assert ask(models="ease,edlae", journal=journal).csv == ask(models="ease,edlae").csv


@pytest.mark.parametrize("source", ["folder", "memory"])
def test_a_search_with_a_report(folder, demo, tmp_path, source):
    run_program("search", folder, "--model", "wmf", "--rank", "4,8", "--lambda", "1,100", "--weighting", "constant,item-oriented",
                "--journal", tmp_path / "program.journal", "--report", tmp_path / "program")
    # Its name in the tables is that of its folder; what was never in one is called data.
    data = poise.Dataset.from_file(folder) if source == "folder" else demo
    poise.search(data, poise.WMF(), factors=[4, 8], regularization=[1, 100], weighting=["constant", "item-oriented"],
                 report=tmp_path / "python", show_progress=False)
    name = "demo" if source == "folder" else "data"
    files = sorted(path.name for path in (tmp_path / "python").iterdir())
    assert files == ["report.html", "results.csv", "results.json", "tables.md", "tables.tex"]
    ours, theirs = (json.loads((tmp_path / who / "results.json").read_text()) for who in ("python", "program"))
    assert [each["name"] for each in ours["data"]] == [name]
    renamed = json.loads(json.dumps(ours).replace(f'"data": "{name}"', '"data": "demo"').replace(f'"name": "{name}"', '"name": "demo"'))
    assert without_times(renamed) == without_times(theirs)
    if source == "folder":
        for name in ("results.csv", "tables.md", "tables.tex"):
            assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name


def test_a_report_that_cannot_be_written(demo, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError):
        poise.search(demo, poise.EASE(), report=tmp_path / "file", show_progress=False)
