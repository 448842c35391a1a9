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


def prepared_with_further(described, tmp_path, name, further):
    """A model, and its update with further features; checks that it is a training on the merged data."""
    (tmp_path / "further.csv").write_text(further)
    data = described / "data"
    run("train", data, *MODELS[name], "--keep-inverse", "--out", tmp_path / "m")
    updated = run("update", tmp_path / "m", data, "--log", described / "new.csv", "--remove", described / "remove.csv", "--item-features",
                  tmp_path / "further.csv", "--out-data", tmp_path / "d", "--json").json
    same_as_trained(updated, tmp_path / "m", tmp_path / "d", tmp_path, MODELS[name])
    return updated["update"]


@pytest.mark.parametrize("name", MODELS)
def test_new_items_have_features(poise, described, tmp_path, name):
    further = "item,feature,value\nfresh,kind 1,2\nfresh,kind 3,1\ncold,kind 2,1\nodd,never seen,1\ni3,kind 0,5\nfresh,never seen,1\n"
    made = prepared_with_further(described, tmp_path, name, further)
    assert made["refitted"] is None or name in ("item-oriented", "weak")
    assert (made["described_items"], made["described_before"], made["unknown_features"], made["new_items"]) == (2, 1, 2, 2)
    after = poise("info", tmp_path / "d", "--json").json
    assert after["features"] == 4 and after["items_with_features"] == 46 and after["items"] == 46 and after["cold_items"] == 4
    if name in ("ignored", "item-oriented", "weak"):
        return
    ranked = poise("recommend", tmp_path / "m", "--items", "i2,i6,i10", "-k", 46, "--json").json["recommendations"]
    scores = {each["item"]: each["score"] for each in ranked}
    assert scores["cold"] != 0 and "odd" not in scores  # of kind 2, like the history


def test_many_new_items_of_few_features(poise, described, tmp_path):
    """Each feature's row stands for them, before and after, not two rows for each item."""
    further = "item,feature\n" + "".join(f"more{k},kind {k % 4}\n" for k in range(30))
    made = prepared_with_further(described, tmp_path, "weighted, zero diagonal", further)
    users, diagonals, of_features = 2 + 2 * 3, 31, 2 * 4  # two new users and three others, 31 new items, four features
    assert made["described_items"] == made["new_items"] - 1 == 30 and made["rank"] == users + diagonals + of_features


def test_features_alone_and_twice(poise, described, tmp_path):
    data, flags = described / "data", MODELS["zero diagonal"]
    poise("train", data, *flags, "--keep-inverse", "--out", tmp_path / "m")
    (tmp_path / "f.csv").write_text("item,feature\na,kind 1\nb,kind 2\n")
    poise("update", tmp_path / "m", data, "--item-features", tmp_path / "f.csv", "--out-data", tmp_path / "d")
    updated = poise("update", tmp_path / "m", tmp_path / "d", "--item-features", tmp_path / "f.csv", "--log", write(tmp_path / "l", [("x", "a", 1)]),
                    "--out-data", tmp_path / "d", "--json").json
    assert updated["update"]["described_before"] == 2 and updated["update"]["described_items"] == 0 and updated["update"]["new_items"] == 0
    same_as_trained(updated, tmp_path / "m", tmp_path / "d", tmp_path, flags)


def test_columns_are_read_by_their_names(poise, tmp_path):
    """A single further item of a table of columns: a text that is known counts, and a number goes to its range."""
    draw = random.Random(2)
    write(tmp_path / "log.csv", [(f"u{user}", f"i{item}", 1) for user in range(80) for item in draw.sample(range(30), 6)])
    (tmp_path / "f.csv").write_text("item,genre,year\n" + "".join(f"i{k},{'drama|war' if k % 2 else 'comedy'},{1970 + k}\n" for k in range(30)))
    poise("prepare", tmp_path / "log.csv", "--item-features", tmp_path / "f.csv", "--out", tmp_path / "data")
    poise("train", tmp_path / "data", *FULL, "--keep-inverse", "--out", tmp_path / "m")
    (tmp_path / "new.csv").write_text("item,genre,year\nnext,war|musical,1999\n")
    updated = poise("update", tmp_path / "m", tmp_path / "data", "--item-features", tmp_path / "new.csv", "--out-data", tmp_path / "d", "--json").json
    assert updated["update"]["described_items"] == 1 and updated["update"]["unknown_features"] == 1
    (tmp_path / "only.txt").write_text("next\n")
    why = poise("recommend", tmp_path / "m", "--items", "i27,i29", "--only", tmp_path / "only.txt", "--explain", "--json")
    best = next(each for each in why.json["recommendations"] if each["item"] == "next")
    assert {each["item"]: each["features"] for each in best["because"]} == {"i27": ["genre=war", "year=1997..1999"], "i29": ["genre=war", "year=1997..1999"]}


def test_what_features_cannot_do(poise, described, tmp_path):
    run("prepare", described / "train.csv", "--out", tmp_path / "plain")
    poise("train", tmp_path / "plain", "--model", "ease", "--out", tmp_path / "m")
    refused = poise("update", tmp_path / "m", tmp_path / "plain", "--item-features", described / "features.csv", code=2)
    assert "no features of items" in refused.err and "--item-features" in refused.err
    assert "--item-features" in poise("update", tmp_path / "m", tmp_path / "plain", code=2).err


@pytest.mark.parametrize("flags", [("--zero-diagonal", "--feature-weight", 3), ("--alpha", 4)])
def test_a_model_with_neighbours_has_the_bytes_of_a_training(poise, described, tmp_path, flags):
    data = described / "data"
    model = ("--model", "full-rank", "--lambda", 8, "--neighbours", 6, *flags)
    trained = poise("train", data, *model, "--out", tmp_path / "m", "--json").json
    checked = poise("certify", tmp_path / "m", data, "--json").json
    assert checked["converged"] and checked["certificate"]["explained_share"] == trained["certificate"]["explained_share"]
    poise("train", data, *model, "--out", tmp_path / "threads", "--threads", 3)
    assert (tmp_path / "threads").read_bytes() == (tmp_path / "m").read_bytes()
    (tmp_path / "f.csv").write_text("item,feature,value\nfresh,kind 1,2\nfresh,kind 3,1\ncold,kind 2,1\n")
    updated = poise("update", tmp_path / "m", data, "--log", described / "new.csv", "--item-features", tmp_path / "f.csv", "--out-data", tmp_path / "d",
                    "--json").json
    assert updated["update"]["refitted"] is None and updated["update"]["described_items"] == 2
    again = poise("train", tmp_path / "d", *model, "--out", tmp_path / "again", "--json").json
    assert updated["objective"] == pytest.approx(again["objective"], rel=1e-12)
    assert updated["certificate"]["explained_share"] == pytest.approx(again["certificate"]["explained_share"])
    ask = ("--items", "i2,i6,i10", "-k", 46, "--json")
    assert poise("recommend", tmp_path / "m", *ask).out == poise("recommend", tmp_path / "again", *ask).out
    (tmp_path / "one.csv").write_text("user,item,count\nsomebody,cold,1\n")
    assert poise("update", tmp_path / "m", tmp_path / "d", "--log", tmp_path / "one.csv", "--out-data", tmp_path / "d", "--json").json["update"]["kept_columns"] > 10


def test_features_and_neighbours_are_searched_together(poise, described, tmp_path):
    run("prepare", described / "train.csv", "--item-features", described / "features.csv", "--out", tmp_path / "d", "--held-out-users", 40)
    found = poise("search", tmp_path / "d", "--model", "ease", "--lambda", 8, "--alpha", 1, "--grid", "paper", "--no-expand", "--feature-weight", "0,5",
                  "--neighbours", "3,6", "--json").json
    assert sorted((point["neighbours"], point.get("feature_weight", 1)) for point in found["points"]) == [(3, 0), (3, 5), (6, 0), (6, 5)]
    for point in found["points"]:
        poise("train", tmp_path / "d", "--model", "ease", "--lambda", 8, "--neighbours", point["neighbours"], "--feature-weight",
              point.get("feature_weight", 1), "--out", tmp_path / "m")
        mean = poise("evaluate", tmp_path / "m", tmp_path / "d", "--on", "validation", "--json").json["metrics"]["ndcg@100"]["mean"]
        assert point["validation"]["ndcg@100"]["mean"] == pytest.approx(mean, abs=1e-9)


def test_low_rank_models_take_up_new_items_without_features(poise, described, tmp_path):
    poise("train", described / "data", "--model", "wmf", "--rank", 3, "--alpha", 3, "--lambda", 2, "--out", tmp_path / "m")
    (tmp_path / "f.csv").write_text("item,feature\nfresh,kind 1\ncold,kind 2\n")
    updated = poise("update", tmp_path / "m", described / "data", "--log", described / "new.csv", "--item-features", tmp_path / "f.csv",
                    "--out-data", tmp_path / "d", "--json").json
    assert updated["update"]["warm"] and updated["update"]["new_items"] == 2
    assert poise("info", tmp_path / "m", "--json").json["items"] == 46 == poise("info", tmp_path / "d", "--json").json["items"]
