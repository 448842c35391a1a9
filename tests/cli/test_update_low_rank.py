"""poise update of low-rank models: rounds that begin at the earlier factors, or a training."""
import json
import random
import shutil

import pytest

from conftest import run
from updating import given_split, metrics, write

WEIGHTED = ("--rank", 4, "--lambda", 2, "--alpha", 3)
WARM = {
    "wmf": ("--model", "wmf", *WEIGHTED),
    "wmf, exponent": ("--model", "wmf", "--rank", 4, "--lambda", 0.05, "--lambda-exponent", 0.5),
    "wmf, random": ("--model", "wmf", *WEIGHTED, "--start", "random", "--seed", 3),
    "wmf, by value": ("--model", "wmf", *WEIGHTED, "--weighting", "log"),
    "weight decay": ("--model", "weight-decay", *WEIGHTED),
    "dropout": ("--model", "dropout", *WEIGHTED),
    "data/weight decay": ("--model", "data-weight-decay", *WEIGHTED),
}


@pytest.fixture(scope="module")
def shop_rows(tmp_path_factory):
    return given_split(tmp_path_factory.mktemp("given"))


def today(path, seed=1):
    """Two new users, one who was there, and an item that nobody had."""
    draw = random.Random(seed)
    users = [f"new{seed}-0", f"new{seed}-1", f"u{draw.randrange(240)}"]
    rows = [(user, f"i{draw.randrange(60)}", draw.randrange(1, 5)) for user in users for _ in range(7)]
    return write(path, [*rows, *((user, f"fresh{seed}", 2) for user in users)])


def update(model, folder, log, *flags):
    return run("update", model, folder, "--log", log, *flags, "--json")


@pytest.mark.parametrize("name", WARM)
def test_rounds_begin_at_the_earlier_factors(poise, shop_rows, tmp_path, name):
    """To an objective as low as a training's, or nearly: the problem is not convex."""
    data = shop_rows / "data"
    poise("train", data, *WARM[name], "--out", tmp_path / "m")
    log = today(tmp_path / "new.csv")
    warm = update(tmp_path / "m", data, log, "--out", tmp_path / "w", "--out-data", tmp_path / "d")
    how = warm.json["update"]
    assert how["warm"] and how["refitted"] is None and how["new_items"] == 1 and warm.json["updates"] == 1
    assert "rounds from the factors of the earlier model" in warm.err and "--refit" in warm.err
    trained = poise("train", tmp_path / "d", *WARM[name], "--out", tmp_path / "again", "--json").json
    assert warm.json["converged"] and warm.json["rounds"] > 0
    assert warm.json["objective"] <= trained["objective"] * (1 + 1e-3)
    assert warm.json["observed_weight"] == pytest.approx(trained["observed_weight"])
    assert warm.json["certificate"]["relative"] <= 1e-4
    assert metrics(tmp_path / "w", tmp_path / "d").keys() == metrics(tmp_path / "again", tmp_path / "d").keys()
    ranked = json.loads(poise("recommend", tmp_path / "w", "--items", "fresh1", "-k", 3, "--json").out)["recommendations"]
    assert ranked[0]["score"] > 0, "the new item has factors"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    run("synth", "--like", "demo", "--out", folder / "log.csv")
    run("prepare", folder / "log.csv", "--out", folder / "data")
    (folder / "new.csv").write_text("user,item\n" + "".join(f"{user},{item}\n" for user, items in (
        ("ann", (17, 23, "fresh")), ("bob", (5, 90, "fresh"))) for item in items))
    return folder


@pytest.mark.parametrize("flags", [
    ("--model", "wmf", "--rank", 16, "--lambda", 5, "--alpha", 5),
    ("--model", "wmf", "--rank", 32, "--lambda", 0.05, "--lambda-exponent", 0.5, "--alpha", 10),
    ("--model", "weight-decay", "--rank", 16, "--lambda", 20, "--alpha", 5),
    ("--model", "dropout", "--rank", 16, "--lambda", 20, "--alpha", 5),
    ("--model", "data-weight-decay", "--rank", 16, "--lambda", 5, "--alpha", 5),
], ids=lambda flags: " ".join(map(str, flags[1:4])))
def test_a_few_users_take_few_rounds(poise, demo, tmp_path, flags):
    """Two new users beside 1 920, and an item that nobody had."""
    poise("train", demo / "data", *flags, "--out", tmp_path / "m")
    warm = update(tmp_path / "m", demo / "data", demo / "new.csv", "--out-data", tmp_path / "d").json
    trained = poise("train", tmp_path / "d", *flags, "--out", tmp_path / "again", "--json").json
    assert warm["update"]["warm"] and warm["converged"] and 2 * warm["rounds"] <= trained["rounds"], (warm["rounds"], trained["rounds"])
    assert warm["objective"] <= trained["objective"] * (1 + 1e-4)


@pytest.mark.parametrize("name", ["wmf", "dropout"])
def test_what_is_trained_again(poise, shop_rows, tmp_path, name):
    """As asked: the bytes of a training's factors."""
    data = shop_rows / "data"
    poise("train", data, *WARM[name], "--out", tmp_path / "m")
    again = update(tmp_path / "m", data, today(tmp_path / "new.csv"), "--refit", "--out", tmp_path / "a", "--out-data", tmp_path / "d")
    assert "as asked" in again.json["update"]["refitted"] and not again.json["update"]["warm"] and "as asked" in again.err
    trained = poise("train", tmp_path / "d", *WARM[name], "--out", tmp_path / "again", "--json").json
    assert (again.json["objective"], again.json["rounds"]) == (trained["objective"], trained["rounds"])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize("flags, reason", [
    (("--model", "popularity"), "it has no factors"),
    (("--model", "wmf", "--rank", 4, "--lambda", 2), "closed form"),
    (("--model", "dropout", "--rank", 4, "--lambda", 2), "closed form"),
    (("--model", "weight-decay", "--rank", 60, "--lambda", 60, "--alpha", 3), "directions are dead"),
    (("--model", "wmf", "--rank", 60, "--lambda", 15, "--alpha", 3), "directions are dead"),
])
def test_models_without_rounds_to_go_on_with(poise, shop_rows, tmp_path, flags, reason):
    data = shop_rows / "data"
    poise("train", data, *flags, "--out", tmp_path / "m")
    updated = update(tmp_path / "m", data, today(tmp_path / "new.csv"), "--out-data", tmp_path / "d")
    assert reason in updated.json["update"]["refitted"] and reason in updated.err and not updated.json["update"]["warm"]
    poise("train", tmp_path / "d", *flags, "--out", tmp_path / "again")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize("name", ["wmf", "weight decay"])
def test_many_in_a_row(poise, shop_rows, tmp_path, name):
    """Ten days, then as low an objective as a training of all rows."""
    poise("train", shop_rows / "data", *WARM[name], "--out", tmp_path / "m")
    shutil.copytree(shop_rows / "data", tmp_path / "d")
    for day in range(10):
        updated = update(tmp_path / "m", tmp_path / "d", today(tmp_path / "new.csv", day), "--out-data", tmp_path / "d").json
        assert updated["converged"] and updated["update"]["warm"]
    assert updated["updates"] == 10
    trained = poise("train", tmp_path / "d", *WARM[name], "--out", tmp_path / "again", "--json").json
    assert updated["objective"] <= trained["objective"] * (1 + 1e-3)


def test_an_item_that_nobody_has_any_more(poise, shop_rows, tmp_path):
    poise("train", shop_rows / "data", *WARM["wmf"], "--out", tmp_path / "m")
    users = sorted({line.split(",")[0] for line in (shop_rows / "train.csv").read_text().split("\n") if ",i7," in line})
    (tmp_path / "gone.csv").write_text("user,item\n" + "".join(f"{user},i7\n" for user in users))
    updated = poise("update", tmp_path / "m", shop_rows / "data", "--remove", tmp_path / "gone.csv", "--out-data", tmp_path / "d", "--json").json
    assert updated["update"]["removed"] == len(users) and updated["update"]["warm"] and updated["converged"]
    scores = {row["item"]: row["score"] for row in poise("recommend", tmp_path / "m", "--items", "i1,i2", "-k", 60, "--json").json["recommendations"]}
    assert abs(scores["i7"]) < 1e-3, "all its entries are 0 now"


@pytest.mark.parametrize("name", ["wmf", "dropout", "data/weight decay"])
def test_threads_give_the_same_bytes(poise, shop_rows, tmp_path, name):
    poise("train", shop_rows / "data", *WARM[name], "--out", tmp_path / "m")
    log = today(tmp_path / "new.csv")
    for threads in (1, 3):
        update(tmp_path / "m", shop_rows / "data", log, "--out", tmp_path / f"m{threads}", "--threads", threads)
    assert (tmp_path / "m1").read_bytes() == (tmp_path / "m3").read_bytes()
