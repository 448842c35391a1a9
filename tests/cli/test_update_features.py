"""poise update of data with item features: these stay, and the model is that of a training on the merged data."""
import random

import pytest

from conftest import run
from updating import same_as_trained, write

FULL = ("--model", "full-rank", "--lambda", 8, "--tolerance", 1e-10)
MODELS = {
    "unconstrained": FULL,
    "zero diagonal": (*FULL, "--zero-diagonal", "--feature-weight", 3),
    "weighted": (*FULL, "--alpha", 4),
    "weighted, zero diagonal": (*FULL, "--alpha", 0.5, "--zero-diagonal", "--feature-weight", 0.2),
    "item-oriented": (*FULL, "--weighting", "item-oriented", "--alpha", 2),
    "weak": ("--model", "ease", "--lambda", 1e-4, "--tolerance", 1e-13),
    "ignored": (*FULL, "--feature-weight", 0),
}


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """300 users, 40 items, and 4 more that have features alone."""
    folder = tmp_path_factory.mktemp("described")
    draw = random.Random(5)
    rows = [(f"u{user}", f"i{item}", 1) for user in range(300) for item in draw.sample(range(40), 8)]
    write(folder / "train.csv", [row for k, row in enumerate(rows) if k % 5])
    write(folder / "test.csv", rows[::5])
    lines = [f"i{k},kind {k % 4},{1 + k % 3}" for k in range(44)]
    (folder / "features.csv").write_text("item,feature,value\n" + "\n".join(lines) + "\n")
    run("prepare", folder / "train.csv", "--split", "given", "--test", folder / "test.csv", "--item-features", folder / "features.csv",
        "--out", folder / "data")
    # New users and old ones; a cold item gets its first users, and an item comes that nobody knew.
    new = [(user, f"i{draw.randrange(40)}", 1) for user in ("new0", "new1", "u3", "u7") for _ in range(6)]
    write(folder / "new.csv", [*new, ("new0", "i41", 1), ("u3", "i41", 1), ("new1", "fresh", 1)])
    first = (folder / "train.csv").read_text().split("\n")[1].split(",")
    (folder / "remove.csv").write_text(f"user,item\n{first[0]},{first[1]}\n")
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_an_update_is_a_training(poise, described, tmp_path, name):
    data = described / "data"
    poise("train", data, *MODELS[name], "--keep-inverse", "--out", tmp_path / "m")
    logs = ("--log", described / "new.csv", "--remove", described / "remove.csv")
    updated = poise("update", tmp_path / "m", data, *logs, "--out-data", tmp_path / "d", "--json").json
    again = updated["update"]["refitted"]
    assert ("every new row" in again) if name == "item-oriented" else (again is None or (name == "weak" and "float64" in again))
    same_as_trained(updated, tmp_path / "m", tmp_path / "d", tmp_path, MODELS[name])
    before, after = (poise("info", folder, "--json").json for folder in (data, tmp_path / "d"))
    assert after["features"] == before["features"] == 4 and after["cold_items"] == before["cold_items"] - 1
    if name == "zero diagonal":  # the next one, and what explanations say
        more = write(tmp_path / "more.csv", [("u9", "i42", 1), ("u9", "fresh", 1)])
        updated = poise("update", tmp_path / "m", tmp_path / "d", "--log", more, "--out-data", tmp_path / "d", "--json").json
        assert updated["update"]["refitted"] is None and updated["updates"] == 2
        same_as_trained(updated, tmp_path / "m", tmp_path / "d", tmp_path, MODELS[name])
        because = poise("recommend", tmp_path / "m", "--items", "i0,i4", "-k", 1, "--explain", "--json").json["recommendations"][0]["because"]
        assert all("features" in each for each in because)


def test_the_inverse_is_of_the_features_too(poise, described, tmp_path):
    """With and without --keep-inverse the model is the same, and features make it another."""
    data = described / "data"
    for name, flags in (("plain", ()), ("kept", ("--keep-inverse",)), ("without", ("--feature-weight", 0))):
        poise("train", data, *FULL, "--zero-diagonal", *flags, "--out", tmp_path / name)
    items = ("--items", "i1,i2", "-k", 10, "--json")
    plain, kept, without = (poise("recommend", tmp_path / name, *items).out for name in ("plain", "kept", "without"))
    assert kept == plain != without


def test_items_that_are_held_out(poise, described, tmp_path):
    run("prepare", described / "train.csv", "--split", "cold-items", "--item-features", described / "features.csv", "--out", tmp_path / "d")
    poise("train", tmp_path / "d", *FULL, "--out", tmp_path / "m")
    refused = poise("update", tmp_path / "m", tmp_path / "d", "--log", described / "new.csv", code=2)
    assert "held out" in refused.err and "train again" in refused.err
