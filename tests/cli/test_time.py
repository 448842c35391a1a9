"""Splits in time: what is after a cut never reaches a model, and every command takes such data."""
import json
import random
import sqlite3
import struct

import pytest

from conftest import run
from studying import FILES, study

DAY = 86400
CUT = 1_300_000_000
CUT_TEXT = "2011-03-13T07:06:40Z"


def events(seed=1):
    """Rows (user, item, count, time) of a year: 200 users, 48 items in four departments, of which each user changes once."""
    draw = random.Random(seed)
    rows = []
    for user in range(200):
        change = CUT + draw.randrange(-200, 100) * DAY
        for _ in range(draw.randrange(10, 40)):
            time = CUT + draw.randrange(-280 * DAY, 80 * DAY)
            department = (user + (time > change)) % 4 if draw.random() < 0.8 else draw.randrange(4)
            rows.append((f"u{user}", f"i{department * 12 + min(int(draw.expovariate(0.3)), 11)}", draw.randrange(1, 6), time))
    return rows


def write(path, rows, header="user,item,count,timestamp"):
    path.write_text("\n".join([header] + [",".join(map(str, row)) for row in rows]) + "\n")
    return path


def prepare(log, out, *flags, **kwargs):
    return run("prepare", log, "--out", out, "--split", "time", "--test-from", CUT, *flags, "--json", **kwargs).json


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("time")
    prepare(write(folder / "log.csv", events()), folder / "shop")
    return folder / "shop"


def tensors(path):
    """The tensors of a file by name, without the checksums, which cover metadata that name the data, too."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    return {
        name: content[8 + length :][entry["data_offsets"][0] : entry["data_offsets"][1]]
        for name, entry in header.items()
        if name not in ("__metadata__", "checksums")
    }


def futures(rows):
    """Other logs that agree with this one before the cut; what follows contradicts it."""
    draw = random.Random(5)
    past = [row for row in rows if row[3] < CUT]
    later = [row for row in rows if row[3] >= CUT]
    yield "removed", past + later[:1]
    yield "other values", [row if row[3] < CUT else (row[0], row[1], 5 * row[2] + 1000, row[3]) for row in rows]
    yield "other items", [row if row[3] < CUT else (row[0], f"i{47 - int(row[1][1:])}", 1, CUT) for row in rows]
    shuffled = later[:]
    draw.shuffle(shuffled)
    yield "first and shuffled", [(user, item, count, CUT + draw.randrange(10**6)) for user, item, count, _ in shuffled] + past
    flood = [(f"new{k}", f"i{k % 3}", 9, CUT + k) for k in range(3000)]
    yield "a flood", flood + rows + [(f"u{k}", f"i{47 - k % 48}", 9, CUT + k) for k in range(200)]


MODELS = [
    ("--model", "ease", "--alpha", 3, "--weighting", "log"),
    ("--model", "full-rank", "--alpha", 2, "--weighting", "inverse-popularity"),
    ("--model", "ease", "--neighbours", 8),
    ("--model", "wmf", "--rank", 4, "--rounds", 5, "--weighting", "linear", "--alpha", 2),
    ("--model", "popularity"),
]


def test_nothing_after_the_cut_reaches_a_model(data, tmp_path):
    flags = ["--min-user-items", 3, "--min-item-users", 40, "--k-core"]
    rows = events()
    first = prepare(write(tmp_path / "log.csv", rows), tmp_path / "data", *flags)
    assert first["filtered_interactions"] > 0 and first["test"]["interactions"] > 200 and first["repeats"] > 0

    def trained(folder):
        for model in MODELS:
            run("train", folder, *model, "--out", tmp_path / "model", "--quiet", "--threads", 1)
            yield tensors(tmp_path / "model"), run("evaluate", tmp_path / "model", folder, "--on", "validation", "--json").json["metrics"]

    def searched(folder):
        result = run("search", folder, "--model", "ease", "--json", "--quiet", "--threads", 1).json["best"]
        return {key: result[key] for key in ("lambda", "alpha", "validation")}

    expected = list(trained(tmp_path / "data")), searched(tmp_path / "data"), tensors(tmp_path / "data" / "data.poise")
    for what, other in futures(rows):
        result = prepare(write(tmp_path / "other.csv", other), tmp_path / "other", *flags)
        assert result["train"] == first["train"] and result["validation"] == first["validation"], what
        found = tensors(tmp_path / "other" / "data.poise")
        changed = [name for name in found if found[name] != expected[2][name]]
        assert all(name.startswith("test.") for name in changed), what
        assert bool(changed) == (what != "first and shuffled"), what
        assert (list(trained(tmp_path / "other")), searched(tmp_path / "other")) == expected[:2], what
    # The other way round: one row before the cut is seen, so that the comparison can fail.
    prepare(write(tmp_path / "other.csv", rows + [("u1", "i2", 1, CUT - 200 * DAY)]), tmp_path / "other", *flags)
    assert list(trained(tmp_path / "other")) != expected[0]


def test_parts_by_a_slow_program(data):
    first = {}
    for user, item, _, time in events():
        first[user, item] = min(time, first.get((user, item), time))
    times = sorted(time for _, _, _, time in events() if time < CUT)
    validation = times[len(times) - round(len(times) / 10)]
    training = {pair for pair, time in first.items() if time < validation}
    users = {user for user, _ in training if sum(one == user for one, _ in training) >= 5}
    training = {pair for pair in training if pair[0] in users}
    items = {item for _, item in training}
    info = run("info", data, "--json").json
    assert info["split"] == "time" and info["test_from"] == CUT_TEXT
    assert info["train"] == {"users": len(users), "interactions": len(training)}
    targets = {(user, item) for (user, item), time in first.items() if time >= CUT and item in items}
    history = {}
    for (user, item), time in first.items():
        history[user] = history.get(user, 0) + (time < CUT and item in items)
    targets = {pair for pair in targets if history[pair[0]] >= 5}
    assert info["test"]["interactions"] == len(targets)


def test_all_commands_take_the_data(data, tmp_path):
    run("train", data, "--model", "ease", "--out", tmp_path / "model", "--quiet")
    test = run("evaluate", tmp_path / "model", data, "--json", "--per-user", tmp_path / "users.csv").json
    run("train", data, "--model", "popularity", "--out", tmp_path / "popular", "--quiet")
    popular = run("evaluate", tmp_path / "popular", data, "--json").json
    assert test["users"] > 100 and test["metrics"]["ndcg@100"]["mean"] > popular["metrics"]["ndcg@100"]["mean"]
    assert len((tmp_path / "users.csv").read_text().split("\n")) >= test["users"]
    assert run("recommend", tmp_path / "model", "--items", "i1,i2", "--json").json["recommendations"]
    result = study(data, tmp_path / "study", "--models", "ease")
    assert set(FILES) <= set(result.files)
    text = run("info", data).out
    assert "split: time" in text and f"test from {CUT_TEXT}" in text
    assert "no seed can draw again" in run("study", data, "--seeds", "1,2", "--out", tmp_path / "seeds", code=3).err
    assert run("certify", tmp_path / "model", data, "--json").json


def same_rows(log, tmp_path, expected, *flags):
    prepare(log, tmp_path / "again", "--columns", "user,item,count,timestamp", *flags)
    assert (tmp_path / "again" / "data.poise").read_bytes() == expected


def test_all_formats_give_the_same_bytes(data, tmp_path):
    rows = events()
    expected = (data / "data.poise").read_bytes()
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(dict(zip(("user", "item", "count", "timestamp"), row))) + "\n" for row in rows))
    same_rows(tmp_path / "log.jsonl", tmp_path, expected)
    with sqlite3.connect(tmp_path / "log.db") as made:
        made.execute("create table log (user, item, count, timestamp)")
        made.executemany("insert into log values (?, ?, ?, ?)", rows)
    same_rows(tmp_path / "log.db", tmp_path, expected, "--query", "select * from log order by rowid")
    reordered = [(time * 1000, user, count, item) for user, item, count, time in rows]
    same_rows(write(tmp_path / "ms.csv", reordered, "timestamp,user,count,item"), tmp_path, expected)
    import datetime

    texts = [row[:3] + (datetime.datetime.fromtimestamp(row[3], datetime.timezone(datetime.timedelta(hours=row[3] % 5 - 2))).isoformat(),) for row in rows]
    same_rows(write(tmp_path / "iso.csv", texts), tmp_path, expected)
    prepare(write(tmp_path / "iso.csv", rows), tmp_path / "threads", "--threads", 1)
    assert (tmp_path / "threads" / "data.poise").read_bytes() == expected
    run("prepare", tmp_path / "iso.csv", "--split", "time", "--test-from", CUT_TEXT, "--out", tmp_path / "date")
    assert (tmp_path / "date" / "data.poise").read_bytes() == expected


def test_netflix_and_movielens(tmp_path):
    ratings = [(user, item, 4 + (user + item) % 2, 10957 + (7 * user + item) % 100) for user in range(30) for item in range(12)]
    day = __import__("datetime").date(1970, 1, 1)
    delta = __import__("datetime").timedelta
    netflix = "".join(f"{item}:\n" + "".join(f"{u},{r},{day + delta(days=t)}\n" for u, i, r, t in ratings if i == item) for item in range(12))
    (tmp_path / "mv_1.txt").write_text(netflix)
    flags = ["--split", "time", "--test-from", "2000-03-01", "--min-user-items", 2, "--json"]
    first = run("prepare", tmp_path / "mv_1.txt", "--out", tmp_path / "netflix", *flags)
    assert "lines 'user,rating,date'" in first.err and first.json["test"]["interactions"] > 0
    (tmp_path / "ratings.dat").write_text("".join(f"{u}::{i}::{r}::{t * DAY}\n" for u, i, r, t in sorted(ratings, key=lambda row: row[1])))
    second = run("prepare", tmp_path / "ratings.dat", "--out", tmp_path / "movielens", *flags)
    assert "movielens" in second.err
    assert (tmp_path / "netflix" / "data.poise").read_bytes() == (tmp_path / "movielens" / "data.poise").read_bytes()


def test_last(tmp_path):
    log = write(tmp_path / "log.csv", events())
    result = run("prepare", log, "--split", "last", "--holdout", 2, "--out", tmp_path / "data", "--json").json
    assert result["test"]["interactions"] <= 2 * result["test"]["users"] and result["test"]["users"] > 150
    assert result["validation"]["interactions"] > 300 and "test_from" not in result
    again = run("prepare", log, "--split", "last", "--holdout", 2, "--out", tmp_path / "again", "--threads", 1, "--json").json
    assert again == result and (tmp_path / "again" / "data.poise").read_bytes() == (tmp_path / "data" / "data.poise").read_bytes()
    run("train", tmp_path / "data", "--model", "ease", "--out", tmp_path / "model", "--quiet")
    assert run("evaluate", tmp_path / "model", tmp_path / "data", "--json").json["users"] > 150


@pytest.mark.parametrize("flags, code, part", [
    (["--split", "time"], 2, "needs --test-from"),
    (["--split", "last", "--test-from", "2011-01-01"], 2, "--split time"),
    (["--test-from", "2011-01-01"], 2, "--split time"),
    (["--holdout", "2"], 2, "--split last"),
    (["--time-unit", "ms"], 2, "--split time or last"),
    (["--split", "time", "--test-from", "01/02/2011"], 2, "year first"),
    (["--split", "time", "--test-from", "110%"], 2, "--test-from"),
    (["--split", "time", "--test-from", "2011"], 2, "2011-01-01"),
    (["--split", "time", "--test-from", "10%,20%"], 2, "takes a time"),
    (["--split", "time", "--test-from", "2011-01-01,2011-01-01T00:00Z"], 2, "twice"),
    (["--split", "time", "--test-from", "2011-01-01", "--test-to", "5%"], 2, "--test-to"),
    (["--split", "time", "--test-from", "2011-01-01", "--validation-from", "2011-02-01"], 2, "--validation-from"),
    (["--split", "time", "--test-from", "2021-01-01"], 2, "the latest is of 2011-"),
    (["--split", "time", "--test-from", "1969-01-01"], 2, "the earliest is of 2010-"),
    (["--split", "time", "--test-from", "10%", "--seed", 3], 2, "--seed"),
    (["--split", "time", "--test-from", "10%", "--held-out-users", 3], 2, "--held-out-users"),
    (["--split", "time", "--test-from", "10%", "--columns", "user,item"], 0, ""),
    (["--split", "time", "--test-from", "10%", "--columns", "user,item,,count", "--time-unit", "s"], 0, ""),
    (["--split", "time", "--test-from", "10%", "--columns", "user,item,,"], 2, "--columns"),
    (["--split", "time", "--test-from", "10%", "--columns", "user,item,count,item"], 2, "given twice"),
    (["--split", "last", "--holdout", 0], 2, "--holdout"),
    (["--split", "last", "--holdout", 2147483647], 2, "no user has more"),
    (["--split", "last", "--export-pro-sg", "x"], 2, "--export-pro-sg"),
])
def test_flags(tmp_path, flags, code, part):
    log = write(tmp_path / "log.csv", events())
    result = run("prepare", log, "--out", tmp_path / "data", *flags, code=code)
    assert part in result.err and (tmp_path / "data").exists() == (code == 0)


def test_bad_times(tmp_path):
    write(tmp_path / "log.csv", [("a", "x", 1, CUT), ("b", "x", 1, "12/31/2010 08:26")])
    flags = ["--split", "time", "--test-from", "10%", "--out", tmp_path / "data"]
    assert f"{tmp_path / 'log.csv'}:3: the time '12/31/2010 08:26' can be read" in run("prepare", tmp_path / "log.csv", *flags, code=3).err
    write(tmp_path / "log.csv", [("a", "x", 1, CUT), ("b", "x", 1, 1000 * CUT)])
    assert "--time-unit" in run("prepare", tmp_path / "log.csv", *flags, code=3).err
    (tmp_path / "log.csv").write_text("user,item\na,x\n")
    assert "--columns" in run("prepare", tmp_path / "log.csv", *flags, code=2).err


@pytest.fixture(scope="module")
def over_cuts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuts")
    log = write(folder / "log.csv", events())
    cuts = [CUT - 60 * DAY, CUT - 30 * DAY, CUT]
    prepared = run("prepare", log, "--out", folder / "shop", "--split", "time", "--test-from", ",".join(map(str, reversed(cuts))), "--test-to",
                   CUT + 30 * DAY, "--json").json["cuts"]
    data = [folder / "shop" / f"cut-{k}" for k in (1, 2, 3)]
    return folder, prepared, data, study(data, folder / "study", "--grid", "best", "--models", "ease,wmf", "--ranks", "3", "--over-cuts")


def test_cuts_of_a_log(over_cuts, tmp_path):
    folder, prepared, data, _ = over_cuts
    assert [cut["folder"] for cut in prepared] == [str(each) for each in data]
    assert [cut["test_to"] for cut in prepared[:2]] == [cut["test_from"] for cut in prepared[1:]]
    assert prepared[2]["test_from"] == CUT_TEXT and prepared[0]["train"]["interactions"] < prepared[1]["train"]["interactions"]
    alone = prepare(folder / "log.csv", tmp_path / "alone", "--test-to", CUT + 30 * DAY)
    assert {**alone, "folder": prepared[2]["folder"]} == prepared[2]
    assert (tmp_path / "alone" / "data.poise").read_bytes() == (data[2] / "data.poise").read_bytes()


def test_study_over_cuts(over_cuts):
    _, prepared, data, result = over_cuts
    assert result.files == sorted(FILES + ["study.journal", "cut-1", "cut-2", "cut-3"])
    each = [json.loads((result.folder / f"cut-{k}" / "results.json").read_text()) for k in (1, 2, 3)]
    whole = result.json
    assert [split["test_from"] for split in whole["splits"]] == [cut["test_from"] for cut in prepared]
    row = next(row for row in whole["rows"] if row["model"] == "wmf" and row["kind"] == "unweighted")
    found = [next(r for r in one["rows"] if (r["model"], r["kind"]) == ("wmf", "unweighted"))["test"]["ndcg@100"]["mean"] for one in each]
    assert row["test"]["ndcg@100"]["by_split"] == pytest.approx(found, abs=1e-12)
    assert row["test"]["ndcg@100"]["mean"] == pytest.approx(sum(found) / 3, abs=1e-12)
    assert row["data"] == "shop" and whole["rows"][0]["splits"] == 3
    assert "cut in time at 2011-01" in result.text("tables.md") and CUT_TEXT in result.text("report.html")
    assert "(cuts 2011-" in result.text("tables.tex")


def test_study_over_cuts_errors(over_cuts, shop, tmp_path):
    _, _, data, _ = over_cuts
    flags = ["--models", "ease", "--over-cuts", "--out", tmp_path / "study"]
    assert "at least two" in run("study", data[0], *flags, code=2).err
    assert "order of time" in run("study", data[1], data[0], *flags, code=3).err
    assert "hold the same data" in run("study", data[0], data[0], *flags, code=2).err
    assert "--split users" in run("study", shop, data[0], *flags, code=3).err
    assert "--seeds" in run("study", *data, *flags, "--seeds", "1", code=2).err


def test_a_cut_that_fails_leaves_nothing(tmp_path):
    log = write(tmp_path / "log.csv", events())
    flags = ["--split", "time", "--test-from", f"{CUT},2021-01-01", "--out", tmp_path / "cuts"]
    assert "no row of the log is at or after" in run("prepare", log, *flags, code=2).err
    assert not (tmp_path / "cuts").exists()


def test_dislikes_after_the_cut_are_not_known_before_it(tmp_path):
    flags = ("--keep-above", 1.5, "--dislike-below", 1.5, "--validation-from", "none", "--min-user-items", 1)
    rows = events()
    report = prepare(write(tmp_path / "log.csv", rows), tmp_path / "data", *flags)
    liked = {(user, item) for user, item, count, time in rows if count > 1 and time < CUT}
    disliked = {(user, item) for user, item, count, time in rows if count == 1 and time < CUT} - liked
    users, items = ({pair[k] for pair in liked} for k in (0, 1))
    later = {(user, item) for user, item, count, time in rows if count > 1 and time >= CUT}
    known = {(user, item) for user, item in disliked if user in users and item in items}
    testers = {user for user, _ in later} & users
    assert report["train"]["dislikes"] == len(known) > 100
    assert report["test"]["dislikes"] == len({pair for pair in known if pair[0] in testers})
    # What is liked after it was disliked is no target: a model that knows the dislike never recommends it.
    targets = {(user, item) for user, item in later - liked if user in users and item in items}
    assert report["disliked_targets"] == len(targets & known) > 0
    assert report["test"]["interactions"] == len(targets - known)

    before = {name: value for name, value in tensors(tmp_path / "data" / "data.poise").items() if name.startswith(("train", "items"))}
    for name, other in futures(rows):
        prepare(write(tmp_path / "other.csv", other + [("u0", "i0", 5, CUT)]), tmp_path / name, *flags)
        after = tensors(tmp_path / name / "data.poise")
        assert {key: after[key] for key in before} == before, name

    last = run("prepare", tmp_path / "log.csv", "--out", tmp_path / "last", "--split", "last", *flags[:4], code=2)
    assert "--dislike-below" in last.err
