"""Features of items, from a file to lists with items that nobody has."""
import random

import pytest

from conftest import run


def rows():
    draw = random.Random(5)
    return [(f"u{u}", f"i{i}") for u in range(150) for i in draw.sample(range(40), 8)]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.csv"
    path.write_text("user,item\n" + "".join(f"{u},{i}\n" for u, i in rows()))
    return path


@pytest.fixture(scope="module")
def features(log):
    path = log.with_name("features.csv")
    lines = [f"i{k},kind {k % 4},{1 + k % 3}" for k in range(44)]  # i40 to i43 are in no row
    path.write_text("item,feature,value\n" + "\n".join(lines) + "\n")
    return path


def test_prepare_reads_and_counts(log, features, tmp_path):
    plain = run("prepare", log, "--out", tmp_path / "plain", "--json").json
    assert "features" not in plain
    report = run("prepare", log, "--item-features", features, "--out", tmp_path / "data", "--json").json
    assert (report["features"], report["items_with_features"], report["cold_items"]) == (4, 44, 4)
    assert report["items"] == plain["items"] + 4
    assert report["interactions"] == plain["interactions"]
    info = run("info", tmp_path / "data", "--json").json
    assert info["features"] == 4 and info["cold_items"] == 4
    text = run("prepare", log, "--item-features", features, "--out", tmp_path / "again").out
    assert "4 features of 44 items; 4 items have no training row" in text
    assert (tmp_path / "data/data.poise").read_bytes() == (tmp_path / "again/data.poise").read_bytes()


def test_filtered_items_are_not_cold_items(log, features, tmp_path):
    common = ("--min-item-users", 29, "--out", tmp_path / "data")
    kept = run("prepare", log, *common, "--json").json
    report = run("prepare", log, *common, "--item-features", features, "--json").json
    assert report["unknown_feature_items"] == kept["filtered_items"] > 0
    assert report["items"] == kept["items"] + 4


@pytest.mark.parametrize("line, problem", [("i1,red,nan", "the value 'nan'"), ("i1,red,-2", "the value '-2'"),
                                           ("i1,red", "2 fields"), (",red,1", "no item id"), ("i1,,1", "no feature")])
def test_bad_lines_have_numbers(log, tmp_path, line, problem):
    path = tmp_path / "bad.csv"
    path.write_text(f"item,feature,value\ni0,red,1\n{line}\ni2,red,1\n")
    result = run("prepare", log, "--item-features", path, "--out", tmp_path / "data", code=3)
    assert f"{path}:3: {problem}" in result.err
    assert not (tmp_path / "data").exists()
    report = run("prepare", log, "--item-features", path, "--skip-bad-lines", "--out", tmp_path / "data", "--json").json
    assert report["skipped_lines"] == 1 and report["items_with_features"] == 2


def test_a_flipped_bit_is_found(log, features, tmp_path):
    run("prepare", log, "--item-features", features, "--out", tmp_path / "data")
    path = tmp_path / "data/data.poise"
    content = bytearray(path.read_bytes())
    content[-3] ^= 4
    path.write_bytes(content)
    run("info", tmp_path / "data", code=3)


def test_update_says_that_it_cannot(log, features, tmp_path):
    run("prepare", log, "--out", tmp_path / "plain")
    run("train", tmp_path / "plain", "--model", "ease", "--lambda", 20, "--out", tmp_path / "model")
    run("prepare", log, "--item-features", features, "--out", tmp_path / "data")
    more = tmp_path / "more.csv"
    more.write_text("user,item\nu1,i2\n")
    run("update", tmp_path / "model", tmp_path / "data", "--log", more, "--out", tmp_path / "new", code=3)
