"""A study whose time runs out: tables of what is there, and the same end as one that was not interrupted. What a study had time for
is what its journal has, so that no test needs a clock: a journal that was cut, and no time for more."""
import json

import pytest

from conftest import shop_log
from test_search import untimed
from studying import FILES, identity, kind_of, score, study, trained_rows

FLAGS = ["--grid", "best", "--models", "wmf,full-rank,ease", "--ranks", "3"]
TABLES = ("tables.md", "tables.tex", "results.csv")


@pytest.fixture(scope="module")
def whole(shop, tmp_path_factory):
    return study(shop, tmp_path_factory.mktemp("time") / "study", *FLAGS)


def entries_of(found):
    header, *entries = (found.folder / "study.journal").read_bytes().splitlines(keepends=True)
    rows = [k for k, line in enumerate(entries) if b'"rows\\":' in line]
    return header, entries, rows


def cut(data, whole, folder, count, *flags):
    """The study with the first entries of a journal, and no time."""
    header, entries, _ = entries_of(whole)
    folder.mkdir(exist_ok=True)
    (folder / "study.journal").write_bytes(header + b"".join(entries[:count]))
    return study(data, folder, *flags, "--time-limit", "0s", "--json")


def row_key(row):
    return (*identity(row), row["kind"])


def test_tables_of_what_is_there(shop, whole, tmp_path):
    _, entries, rows = entries_of(whole)
    assert len(rows) == 3
    final = {row_key(row): row for row in trained_rows(whole.json)}
    for count in (rows[0] + 1, rows[0] + 20, rows[1], rows[1] + 1, rows[2]):
        some = cut(shop, whole, tmp_path / f"study {count}", count, *FLAGS)
        results = some.json
        assert some.files == sorted(FILES + ["study.journal"])
        assert some.result.json == results and not results["complete"]
        assert len((some.folder / "study.journal").read_bytes().splitlines()) == count + 1, "nothing was trained"
        states = {(search["model"], search["zero_diagonal"]): search["state"] for search in results["unfinished"]}
        done = sum(place < count for place in rows)
        assert ("wmf", False) not in states and len(states) == 3 - done
        for row in trained_rows(results):
            if (row["model"], row["zero_diagonal"]) not in states:
                # As in the study that ran through.
                assert row["final"] and row["search"]["complete"]
                assert untimed({**row, "best_on_validation": 0}) == untimed({**final[row_key(row)], "best_on_validation": 0})
                continue
            assert not row["final"] and row["test"] == {} and not row["best_on_validation"]
            points = [point for point in results["points"] if identity(point) == identity(row) and kind_of(point) == row["kind"]]
            assert score(row) <= max(map(score, points))
            assert states[row["model"], row["zero_diagonal"]] == ("not trained" if row["search"]["complete"] and count in rows else "searching")
        # What is not final is compared with nothing.
        assert {row_key(pair) for pair in results["pairs"]} == {row_key(row) for row in trained_rows(results)
                                                               if row["final"] and row["kind"] != "unweighted"}
        assert all(row_key(row) in final for row in results["against_popularity"] + results["against_best"])
        begun = {identity(row) for row in trained_rows(results)}
        assert {identity(search) for search in results["unfinished"] if search["state"] == "not begun"} == \
            {identity(row) for row in trained_rows(whole.json)} - begun
        assert results["missing"] and all({"model", "lambda", "alpha"} <= set(point) for point in results["missing"])


def test_what_it_says(shop, whole, tmp_path):
    _, _, rows = entries_of(whole)
    some = cut(shop, whole, tmp_path / "study", rows[0] + 20, *FLAGS)
    tables = some.text("tables.md")
    assert tables.startswith("# Not complete: so far ")
    assert "Time or points ran out in the searches of Full rank; Full rank, zero diagonal." in tables
    assert "unweighted, search not complete" in tables and "(0." in tables
    for name in ("tables.tex", "report.html"):
        assert "search not complete" in some.text(name) and "Time or points ran out" in some.text(name)
    full = [conclusion for conclusion in some.json["conclusions"] if conclusion["rank"] is None]
    assert full == [], "no sentence about rows that are not final"
    text = study(shop, tmp_path / "study", *FLAGS, "--time-limit", "0s").result.out
    assert text.startswith(tables) and "next would be" in text and "full-rank: lambda" in text
    first = cut(shop, whole, tmp_path / "first", rows[0] + 1, *FLAGS)
    assert "Not begun: Full rank; Full rank, zero diagonal." in first.text("tables.md")


def test_goes_on_to_the_same_end(shop, whole, tmp_path):
    _, entries, rows = entries_of(whole)
    for count in (0, rows[0] + 5, rows[1]):
        cut(shop, whole, tmp_path / "study", count, *FLAGS)
        ended = study(shop, tmp_path / "study", *FLAGS)
        assert ended.json["complete"] and "unfinished" not in ended.json and "missing" not in ended.json
        for name in TABLES:
            assert ended.text(name) == whole.text(name), name
        assert untimed(ended.json) == untimed(whole.json)


def test_data_that_was_not_begun(poise, shop, whole, tmp_path):
    (tmp_path / "log.csv").write_text(shop_log(8))
    poise("prepare", tmp_path / "log.csv", "--out", tmp_path / "other")
    header, entries, _ = entries_of(whole)
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.journal").write_bytes(header + b"".join(entries))
    both = study([shop, tmp_path / "other"], folder, *FLAGS, "--time-limit", "0s")
    results = both.json
    assert [data["name"] for data in results["data"]] == ["shop"]
    assert untimed(results["rows"]) == untimed(whole.json["rows"])
    assert {(search["data"], search["state"]) for search in results["unfinished"]} == {("other", "not begun")}
    assert "WMF, rank 3 on other" in both.text("tables.md") and "other: 3 searches" not in both.result.err


def test_points_that_run_out_are_not_complete_either(shop, tmp_path):
    found = study(shop, tmp_path / "study", "--grid", "best", "--models", "ease", "--points", "12", "--json")
    assert not found.result.json["complete"] and all(row["final"] and row["test"] for row in trained_rows(found.json))
    assert [search["state"] for search in found.json["unfinished"]] == ["searching"]
    assert json.loads(found.text("results.json"))["missing"]
