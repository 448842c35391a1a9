"""Recommendations from the command line."""
import csv
import io

import pytest


@pytest.fixture
def counts(data, poise, tmp_path):
    """Training users of each item, counted from the exported split."""
    poise("prepare", tmp_path / "log.csv", "--out", tmp_path / "again", "--export-pro-sg", tmp_path / "pro_sg")
    ids = (tmp_path / "pro_sg" / "unique_sid.txt").read_text().split("\n")[:-1]
    result = dict.fromkeys(ids, 0)
    for line in (tmp_path / "pro_sg" / "train.csv").read_text().split("\n")[1:-1]:
        result[ids[int(line.split(",")[1])]] += 1
    return result


def ranked(counts, without=()):
    order = list(counts)
    return sorted((i for i in order if i not in without), key=lambda i: (-counts[i], order.index(i)))


def items_of(result):
    return [row["item"] for row in result["recommendations"]]


def test_most_popular_first_without_the_history(poise, model, counts):
    history = ranked(counts)[:3]
    result = poise("recommend", model, "--items", ",".join(history), "-k", 5, "--json").json
    assert items_of(result) == ranked(counts, history)[:5]
    assert [row["score"] for row in result["recommendations"]] == [counts[i] for i in items_of(result)]


def test_formats_agree(poise, model):
    as_json = poise("recommend", model, "--items", "i1", "--format", "json").json
    rows = list(csv.DictReader(io.StringIO(poise("recommend", model, "--items", "i1", "--format", "csv").out)))
    assert [r["item"] for r in rows] == items_of(as_json)
    table = poise("recommend", model, "--items", "i1").out.split("\n")
    assert [line.split()[1] for line in table if line] == items_of(as_json)


def test_history_exclude_only(poise, tmp_path, model, counts):
    order = ranked(counts)
    (tmp_path / "history").write_text(f"{order[0]}\r\n\n{order[0]}\n")
    (tmp_path / "exclude").write_text(f"{order[1]}\nnot an item\n")
    (tmp_path / "only").write_text("\n".join(order[:4]))
    result = poise("recommend", model, "--history", tmp_path / "history", "--exclude", tmp_path / "exclude", "--only",
                   tmp_path / "only", "--json")
    assert items_of(result.json) == order[2:4]
    assert "1 ids are not items" in result.err


def test_more_than_there_are(poise, model, counts):
    assert len(items_of(poise("recommend", model, "--items", "i1", "-k", 100000, "--json").json)) == len(counts) - 1


def test_errors(poise, tmp_path, model):
    assert "'nonsense'" in poise("recommend", model, "--items", "i1,nonsense", code=3).err
    poise("recommend", model, "--history", tmp_path / "missing", code=3)
    poise("recommend", model, "--history", tmp_path, code=3)
    poise("recommend", model, code=2)
    poise("recommend", model, "--items", "i1", "--history", "x", code=2)
    poise("recommend", model, "--items", "i1", "-k", "0", code=2)
