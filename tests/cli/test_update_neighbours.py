"""poise update of models with --neighbours: the bytes of a training on the merged data."""
import json
import random
import shutil

import pytest

from conftest import run
from updating import write

MODEL = ("--model", "full-rank", "--lambda", 3, "--neighbours", 5)
KINDS = {
    "unconstrained": MODEL,
    "zero diagonal": (*MODEL, "--zero-diagonal"),
    "weighted": (*MODEL, "--alpha", 3, "--zero-diagonal"),
    "by value": (*MODEL, "--weighting", "log", "--alpha", 2),
}
COUNTED = {
    "dropout": (*MODEL, "--dropout", 0.3),
    "user-oriented": (*MODEL, "--weighting", "user-oriented", "--alpha", 2),
}
GROUPS = 12  # of items that no user mixes


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grouped")
    draw = random.Random(1)
    rows = [(f"u{user}", f"g{user % GROUPS}-{item}", draw.randrange(1, 5))
            for user in range(40 * GROUPS) for item in draw.sample(range(14), 6)]
    held = draw.sample(range(len(rows)), len(rows) // 6)
    write(folder / "train.csv", [row for k, row in enumerate(rows) if k not in set(held)])
    write(folder / "test.csv", [rows[k] for k in held])
    run("prepare", folder / "train.csv", "--split", "given", "--test", folder / "test.csv", "--out", folder / "data")
    return folder / "data"


def same_bytes(updated, model, data, folder, flags):
    trained = run("train", data, *flags, "--out", folder / "again", "--json").json
    assert updated["converged"]
    assert updated["objective"] == pytest.approx(trained["objective"], rel=1e-12)
    assert updated["observed_weight"] == pytest.approx(trained["observed_weight"])
    assert updated["certificate"]["explained_share"] == pytest.approx(trained["certificate"]["explained_share"], rel=1e-9)
    assert tensors(model) == tensors(folder / "again")
    before, after = (run("evaluate", each, data, "--json").json["metrics"] for each in (model, folder / "again"))
    assert before == after
    assert run("certify", model, data, "--json").json["converged"]


def tensors(path):
    """The bytes of B and of the ids."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + length])
    return {name: content[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]]
            for name, entry in header.items() if name not in ("__metadata__", "checksums")}


@pytest.mark.parametrize("name", KINDS)
def test_columns_that_nothing_changed_are_kept(poise, grouped, tmp_path, name):
    """A new user, a new item, a longer and a shorter row, all in two of the groups."""
    poise("train", grouped, *KINDS[name], "--out", tmp_path / "m")
    log = write(tmp_path / "new.csv", [("new", f"g3-{k}", 2) for k in range(4)] + [("new", "g3-fresh", 1), ("u7", "g7-1", 1), ("u7", "g7-9", 3)])
    removed = tmp_path / "remove.csv"
    first = next(line.split(",") for line in (grouped.parent / "train.csv").read_text().split("\n") if line.startswith("u3,"))
    removed.write_text(f"user,item\n{first[0]},{first[1]}\n")
    updated = poise("update", tmp_path / "m", grouped, "--log", log, "--remove", removed, "--out-data", tmp_path / "d", "--json")
    how = updated.json["update"]
    assert how["refitted"] is None and how["new_items"] == 1 and how["removed"] == 1
    assert how["kept_columns"] >= 100, "of 169, ten groups of 14 have nothing to do with these rows"
    assert "columns were solved again" in updated.err
    same_bytes(updated.json, tmp_path / "m", tmp_path / "d", tmp_path, KINDS[name])


@pytest.mark.parametrize("name", ["zero diagonal", "weighted"])
@pytest.mark.parametrize("users", [1, 200])
def test_many_users_and_many_updates(poise, grouped, tmp_path, name, users):
    poise("train", grouped, *KINDS[name], "--out", tmp_path / "m")
    shutil.copytree(grouped, tmp_path / "d")
    draw = random.Random(users)
    for day in range(5):
        rows = [(f"day{day}-{user}", f"g{draw.randrange(GROUPS)}-{draw.randrange(16)}", 1) for user in range(users) for _ in range(3)]
        updated = poise("update", tmp_path / "m", tmp_path / "d", "--log", write(tmp_path / "new.csv", rows), "--out-data", tmp_path / "d", "--json").json
        assert updated["update"]["refitted"] is None and updated["converged"]
    assert updated["updates"] == 5
    same_bytes(updated, tmp_path / "m", tmp_path / "d", tmp_path, KINDS[name])


@pytest.mark.parametrize("name", COUNTED)
def test_what_depends_on_counts(poise, grouped, tmp_path, name):
    poise("train", grouped, *COUNTED[name], "--out", tmp_path / "m")
    updated = poise("update", tmp_path / "m", grouped, "--log", write(tmp_path / "new.csv", [("new", "g3-1", 1), ("new", "g3-2", 1)]),
                    "--out-data", tmp_path / "d", "--json")
    assert "every new row changes every column" in updated.json["update"]["refitted"]
    assert updated.json["update"]["kept_columns"] == 0 and "trained again" in updated.err
    same_bytes(updated.json, tmp_path / "m", tmp_path / "d", tmp_path, COUNTED[name])
