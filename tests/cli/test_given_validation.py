"""A given split without a validation file: training rows choose, and what they choose is trained on all of them."""
import csv
import io
import json
import random

import pytest

from conftest import run, shop_log


def write(path, rows):
    path.write_text("user,item,count\n" + "".join(f"{user},{item},{count}\n" for user, item, count in rows))


def given_rows():
    """Training and test rows of a shop, no pair twice, every item in training."""
    draw = random.Random(5)
    rows = {(row[0], row[1]): row for row in csv.reader(shop_log(7).splitlines()[1:])}
    test = {pair for pair in rows if draw.random() < 0.2}
    known = {item for user, item in rows if (user, item) not in test}
    return [rows[pair] for pair in rows if pair not in test], [rows[pair] for pair in rows if pair in test and pair[1] in known]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    train, test = given_rows()
    write(folder / "train.csv", train)
    write(folder / "test.csv", test)
    run("prepare", folder / "train.csv", "--test", folder / "test.csv", "--split", "given", "--out", folder / "shop")
    return folder / "shop"


def search(given, tmp_path, *flags, **kwargs):
    return run("search", given, "--journal", tmp_path / "journal", "--threads", 1, *flags, **kwargs)


@pytest.mark.parametrize("model", [["--model", "ease"], ["--model", "awmf", "--rank", "3"]])
def test_the_chosen_point_is_trained_on_all_rows(poise, given, tmp_path, model):
    result = search(given, tmp_path, *model, "--alpha", "2", "--out", tmp_path / "found", "--json")
    assert "shop has no validation part: a tenth of each user's training rows" in result.err
    assert sum("validation part" in line for line in result.err.splitlines()) == 1
    train, test = given_rows()
    sizes = {}
    for user, _, _ in train:
        sizes[user] = sizes.get(user, 0) + 1
    assert result.json["validation_from_training"] == sum(max(1, (size + 5) // 10) for size in sizes.values() if size > 1)
    best = result.json["best"]
    flags = ["--lambda", best["lambda"], "--alpha", 2] + (["--rounds", 1000] if "awmf" in model else [])
    trained = poise("train", given, *model, *flags, "--out", tmp_path / "trained", "--threads", 1, "--json").json
    assert trained["objective"] == best["objective"]
    measured = [poise("evaluate", tmp_path / name, given, "--threads", 1, "--json").json for name in ("found", "trained")]
    assert measured[0]["metrics"] == measured[1]["metrics"] == best["test"]
    # What chose was not in training: the figure is that of a model that did not see it.
    assert best["validation"]["ndcg@100"]["mean"] < 0.9
    chosen = next(point for point in result.json["points"] if point["lambda"] == best["lambda"])
    tolerance = 0.02 if "awmf" in model else 0.0005  # searched less far than trained
    assert abs(best["validation"]["ndcg@100"]["mean"] - chosen["validation"]["ndcg@100"]["mean"]) <= tolerance


def test_seed_and_threads(given, tmp_path):
    flags = ["--model", "ease", "--alpha", "1", "--json"]
    one = search(given, tmp_path, *flags).json
    entries = (tmp_path / "journal").read_text().splitlines()
    # Again, by more threads: nothing is trained.
    again = run("search", given, "--journal", tmp_path / "journal", "--threads", 3, *flags).json
    assert {key: one[key] for key in ("best", "points")} == {key: again[key] for key in ("best", "points")}
    assert (tmp_path / "journal").read_text().splitlines() == entries
    two = search(given, tmp_path, *flags, "--seed", 2).json
    # Of a point that was cut and scored again there are two.
    keys = [json.loads(json.loads(line)["key"]) for line in (tmp_path / "journal").read_text().splitlines()[1:]]
    points = {(key["data"], json.dumps(key["point"])) for key in keys}
    assert len(points) == len(one["points"]) + len(two["points"]) and two["points"] != one["points"]


def test_points_of_a_given_validation_part_stay_apart(given, tmp_path):
    """The same training rows with a validation file: other data, in the same journal."""
    train, test = given_rows()
    write(tmp_path / "train.csv", train)
    write(tmp_path / "test.csv", test)
    run("prepare", tmp_path / "train.csv", "--test", tmp_path / "test.csv", "--validation", tmp_path / "test.csv", "--split", "given",
        "--out", tmp_path / "whole")
    derived = search(given, tmp_path, "--model", "ease", "--alpha", "1", "--json").json
    whole = run("search", tmp_path / "whole", "--journal", tmp_path / "journal", "--model", "ease", "--alpha", "1", "--json")
    assert "validation part" not in whole.err and "validation_from_training" not in whole.json
    assert whole.json["best"]["validation"] == whole.json["best"]["test"] and derived["best"] != whole.json["best"]


def test_study(poise, given, tmp_path):
    flags = ["--models", "ease,wmf", "--ranks", "3", "--threads", 1]
    result = poise("study", given, "--out", tmp_path / "study", *flags, "--json")
    assert result.err.count("shop has no validation part") == 1
    data = result.json["data"][0]
    assert data["validation_from_training"] > 0 and data["train_interactions"] == len(given_rows()[0])
    assert data["interactions"] == sum(map(len, given_rows()))
    assert data["checksum"] == poise("info", given, "--json").json.get("checksum", data["checksum"])
    for row in result.json["rows"]:
        if row["model"] == "popularity":
            continue
        model = ["--model", "ease"] if row["model"] == "full-rank" else ["--model", "wmf", "--rank", 3, "--rounds", 1000]
        poise("train", given, *model, "--lambda", row["lambda"], "--alpha", row["alpha"], "--out", tmp_path / "m", "--threads", 1)
        assert poise("evaluate", tmp_path / "m", given, "--threads", 1, "--json").json["metrics"] == row["test"]
    assert "There is no validation part" in (tmp_path / "study" / "tables.md").read_text()
    assert "There is no validation part" in (tmp_path / "study" / "report.html").read_text()
    text = (tmp_path / "study" / "results.csv").read_text()
    again = poise("study", given, "--out", tmp_path / "study", *flags)
    assert " 0 points to train" in again.err and (tmp_path / "study" / "results.csv").read_text() == text
    assert len(list(csv.DictReader(io.StringIO(text)))) == 3 * len(result.json["rows"])


def test_rows_that_cannot_choose(poise, tmp_path):
    (tmp_path / "train.csv").write_text("user,item\na,x\nb,y\nc,z\n")
    (tmp_path / "test.csv").write_text("user,item\na,y\n")
    poise("prepare", tmp_path / "train.csv", "--test", tmp_path / "test.csv", "--split", "given", "--out", tmp_path / "data")
    assert "no user has two" in poise("search", tmp_path / "data", "--model", "ease", code=3).err


@pytest.mark.parametrize("validation", [True, False])
def test_a_study_counts_as_prepare_does(tmp_path, validation):
    train, test = given_rows()
    # Somebody without training rows, and users of whom nothing is held out.
    test = [*[row for row in test if row[0] != test[0][0]], ("nobody", test[0][1], 1)]
    write(tmp_path / "train.csv", train)
    write(tmp_path / "test.csv", test)
    write(tmp_path / "validation.csv", train[:7])
    flags = ["--validation", tmp_path / "validation.csv"] if validation else []
    write(tmp_path / "train.csv", train[7:] if validation else train)
    prepared = run("prepare", tmp_path / "train.csv", "--test", tmp_path / "test.csv", *flags, "--split", "given", "--out", tmp_path / "data",
                   "--json").json
    run("study", tmp_path / "data", "--models", "ease", "--grid", "paper", "--no-expand", "--threads", 1, "--out", tmp_path / "study")
    found, = json.loads((tmp_path / "study" / "results.json").read_text())["data"]
    assert [found[key] for key in ("users", "items", "interactions")] == [prepared[key] for key in ("users", "items", "interactions")]
    assert [found["train_users"], found["train_interactions"]] == [prepared["train"]["users"], prepared["train"]["interactions"]]
    assert found["test_users"] == prepared["test"]["users"] < found["train_users"]
    if validation:
        assert found["validation_users"] == prepared["validation"]["users"] < found["train_users"]
