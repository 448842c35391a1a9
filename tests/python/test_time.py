"""Splits in time: poise.split, Dataset.from_file and from_dataframe against the program."""
import datetime
import random

import numpy as np
import pytest
from conftest import run_program

import poise
from test_search_study import without_times

CUT = 1_300_000_000
DAY = 86400
QUIET = {"show_progress": False}


@pytest.fixture(scope="module")
def rows():
    draw = random.Random(4)
    return [(f"u{k % 60}", f"i{min(int(draw.expovariate(0.1)), 30)}", draw.randrange(1, 6), CUT + draw.randrange(-90 * DAY, 30 * DAY)) for k in range(1500)]


@pytest.fixture(scope="module")
def log(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("time") / "log.csv"
    path.write_text("user,item,count,timestamp\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def saved(data, folder):
    data.save(folder)
    return (folder / "data.poise").read_bytes()


@pytest.mark.parametrize("keywords, flags", [
    ({"test_from": CUT}, ["--test-from", CUT]),
    ({"test_from": "10%", "min_item_users": 4, "k_core": True}, ["--test-from", "10%", "--min-item-users", 4, "--k-core"]),
    ({"test_from": datetime.datetime(2011, 3, 13, 7), "validation_from": "none", "test_to": datetime.date(2011, 4, 1)},
     ["--test-from", "2011-03-13T07:00", "--validation-from", "none", "--test-to", "2011-04-01"]),
    ({"test_from": np.datetime64(CUT, "s"), "validation_from": "2011-03-01"}, ["--test-from", CUT, "--validation-from", "2011-03-01"]),
])
def test_split_in_time_as_the_program_does(log, tmp_path, keywords, flags):
    expected = run_program("prepare", log, "--split", "time", *flags, "--out", tmp_path / "data")
    data = poise.split(poise.Dataset.from_file(log, times=True, **QUIET), "time", **keywords)
    assert saved(data, tmp_path / "again") == (tmp_path / "data" / "data.poise").read_bytes()
    at_once = poise.Dataset.from_file(log, split="time", **keywords, **QUIET)
    assert saved(at_once, tmp_path / "once") == (tmp_path / "data" / "data.poise").read_bytes()
    assert data.kind == "time" and data.cuts == {key: expected[key] for key in ("validation_from", "test_from", "test_to")}
    assert data.counts["repeats"] == expected["repeats"] > 0
    loaded = poise.Dataset.load(tmp_path / "data", **QUIET)
    assert loaded.cuts == data.cuts and (loaded.test.held_out != data.test.held_out).nnz == 0


def test_last_items(log, tmp_path):
    run_program("prepare", log, "--split", "last", "--holdout", 2, "--out", tmp_path / "data")
    data = poise.Dataset.from_file(log, split="last", holdout=2, **QUIET)
    assert saved(data, tmp_path / "again") == (tmp_path / "data" / "data.poise").read_bytes()
    assert data.kind == "last" and data.cuts == {} and data.test.held_out.sum(axis=1).max() > 0


def test_from_a_frame(rows, log, tmp_path):
    pandas = pytest.importorskip("pandas")
    expected = saved(poise.Dataset.from_file(log, split="time", test_from=CUT, **QUIET), tmp_path / "file")
    frame = pandas.DataFrame(rows, columns=["user", "item", "count", "time"])
    moments = pandas.to_datetime(frame["time"], unit="s")
    columns = [frame["time"], frame["time"] * 1000, moments, moments.dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata"), moments.dt.strftime("%Y-%m-%dT%H:%M:%SZ")]
    for k, column in enumerate(columns):
        data = poise.Dataset.from_dataframe(frame.assign(time=column), value="count", time="time")
        assert saved(poise.split(data, "time", test_from=CUT), tmp_path / str(k)) == expected
    with pytest.raises(ValueError, match="lacks the time"):
        poise.Dataset.from_dataframe(frame.assign(time=moments.where(frame.index > 0)), time="time")
    with pytest.raises(ValueError, match="day/month"):
        poise.Dataset.from_dataframe(frame.assign(time="1/2/2011"), time="time")
    with pytest.raises(ValueError, match="no column 'when'"):
        poise.Dataset.from_dataframe(frame, time="when")


@pytest.mark.parametrize("kind, keywords, message", [
    ("time", {}, "needs test_from"),
    ("time", {"test_from": "1/2/2011"}, "year first"),
    ("time", {"test_from": "2030-01-01"}, "at or after test_from 2030-01-01"),
    ("time", {"test_from": CUT, "test_to": "5%"}, "test_to takes a time"),
    ("time", {"test_from": CUT, "time_unit": "h"}, "time_unit has to be"),
    ("last", {"holdout": 0}, "at least 1"),
    ("first", {}, "kind has to be"),
])
def test_errors(log, kind, keywords, message):
    data = poise.Dataset.from_file(log, times=True, **QUIET)
    with pytest.raises(ValueError, match=message):
        poise.split(data, kind, **keywords)


def test_data_without_times(log):
    with pytest.raises(ValueError, match="no times"):
        poise.split(poise.Dataset.from_file(log, **QUIET), "time", test_from=CUT)
    with pytest.raises(ValueError, match="no times"):
        poise.split(poise.synth("demo", scale=0.1), "last")
    with pytest.raises(TypeError, match="test_from"):
        poise.Dataset.from_file(log, test_from=CUT, **QUIET)


def test_study_over_cuts(log, tmp_path):
    cuts = [CUT - 30 * DAY, CUT - 15 * DAY, CUT]
    run_program("prepare", log, "--split", "time", "--test-from", ",".join(map(str, cuts)), "--out", tmp_path / "shop")
    flags = ["--models", "ease", "--grid", "paper", "--no-expand", "--over-cuts"]
    expected = run_program("study", *(tmp_path / "shop" / f"cut-{k}" for k in (1, 2, 3)), "--out", tmp_path / "study", *flags)
    data = poise.Dataset.from_file(log, times=True, **QUIET)
    parts = [poise.split(data, "time", test_from=cut, test_to=end) for cut, end in zip(cuts, cuts[1:] + [None])]
    grid = {"grid": "paper", "expand": False, "models": "ease", **QUIET}
    found = poise.study({"shop": parts[0], "b": parts[1], "c": parts[2]}, over_cuts=True, **grid)
    ours, theirs = without_times(found.results), without_times(expected)
    assert ours["rows"] == theirs["rows"] and ours["pairs"] == theirs["pairs"] and ours["splits"] == theirs["splits"]
    assert list(found.splits) == [1, 2, 3]
    with pytest.raises(ValueError, match="order of time"):
        poise.study(parts[::-1], over_cuts=True, **grid)
    with pytest.raises(ValueError, match="neither seeds"):
        poise.study(parts, over_cuts=True, seeds=[1], **grid)
