"""The protocol's split, draw for draw, against NumPy itself and against published digests."""
import csv
import hashlib
import io
import json
import random
import subprocess

import pytest

import liang
from conftest import reference_data


def random_log(seed, users, items, ids):
    generator = random.Random(seed)
    rows = []
    for u in range(users):
        for _ in range(generator.randint(3, 15)):
            rows.append((ids(generator.randrange(users)), f"item {min(generator.randrange(items), generator.randrange(items))}"))
    generator.shuffle(rows)
    return rows


@pytest.mark.parametrize("name, ids", [
    ("numbers", lambda k: str(k * 13 - 50)),
    ("decimals", lambda k: f"{k}.0"),
    ("text", lambda k: f"user {k}"),
    ("mixed", lambda k: str(k) if k % 9 else f"x{k}"),
    ("unicode", lambda k: "äöü日本語"[k % 6] + str(k)),
])
@pytest.mark.parametrize("held_out, seed, share, min_user_items, min_item_users", [
    (20, 98765, 0.2, 5, 3),
    (7, 3, 0.35, 5, 3),
    (7, 3, 0.35, 0, 30),  # leaves users without any item, who are dropped though no least number is asked for
])
def test_equals_numpy(poise, tmp_path, name, ids, held_out, seed, share, min_user_items, min_item_users):
    rows = random_log(name + str(seed), 150, 80, ids)
    (tmp_path / "log.csv").write_text("user,item\n" + "".join(f"{u},{i}\n" for u, i in rows))
    result = poise("prepare", tmp_path / "log.csv", "--out", tmp_path / "data", "--held-out-users", held_out, "--seed", seed,
                   "--target-share", share, "--min-user-items", min_user_items, "--min-item-users", min_item_users,
                   "--export-pro-sg", tmp_path / "pro_sg", "--json").json
    expected, outside = liang.split(rows, held_out, seed, share, min_user_items, min_item_users)
    assert liang.read_exported(tmp_path / "pro_sg") == expected
    assert result["outside_catalogue"] == outside
    assert result["duplicates"] == len(rows) - len(set(rows))
    assert result["interactions"] == sum(len(v) for k, v in expected.items() if k.endswith(".csv"))
    assert result["test"]["users"] == result["validation"]["users"] == held_out
    if min_user_items == 0:
        assert result["users"] < len({u for u, _ in rows})


def test_export_reads_back_the_same(poise, tmp_path, log):
    first = poise("prepare", log, "--out", tmp_path / "a", "--export-pro-sg", tmp_path / "pro_sg", "--export-values", "--json").json
    second = poise("prepare", tmp_path / "pro_sg", "--out", tmp_path / "b", "--export-pro-sg", tmp_path / "again",
                   "--export-values", "--json").json
    for name in ("users", "items", "interactions", "train", "validation", "test"):
        assert first[name] == second[name]
    for path in (tmp_path / "pro_sg").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_a_part_without_targets_is_said(poise, tmp_path, log):
    result = poise("prepare", log, "--out", tmp_path / "data", "--target-share", 0.001)
    for part in ("validation", "test"):
        assert f"no user of the {part} part has anything to find" in result.err
    assert "--target-share" in poise("search", tmp_path / "data", "--model", "ease", code=3).err
    assert "anything to find" not in poise("prepare", log, "--out", tmp_path / "data").err


def raw_online_retail():
    path = reference_data("online-retail/online_retail.csv.zst")
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout.decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.shared_data
def test_online_retail_digests_and_counts(poise, tmp_path):
    folder = reference_data("online-retail")
    expected = json.loads((folder / "liang_split.json").read_text())
    command = expected["command"].split()[2:]
    places = {"online_retail.csv.zst": folder / "online_retail.csv.zst", "DIR": tmp_path / "pro_sg", "DATA": tmp_path / "data"}
    result = poise("prepare", *[places.get(word, word) for word in command], "--json").json
    for name, file in expected["files"].items():
        content = (tmp_path / "pro_sg" / name).read_bytes()
        assert content.count(b"\n") == file["lines"], name
        assert hashlib.sha256(content).hexdigest() == file["sha256"], name
    for key in ("users", "items", "interactions", "outside_catalogue"):
        assert result[key] == expected[key]

    # The same counts a second way: Python's csv module and sets.
    rows = raw_online_retail()
    empty = [r for r in rows if not r["CustomerID"] or not r["StockCode"]]
    named = [r for r in rows if r["CustomerID"] and r["StockCode"]]
    bought = [(r["CustomerID"], r["StockCode"]) for r in named if float(r["Quantity"]) > 0]
    assert result["empty_ids"] == len(empty)
    assert result["below_threshold"] == len(named) - len(bought)
    assert result["duplicates"] == len(bought) - len(set(bought))
    assert result["skipped_lines"] == 0
    left = result["interactions"] + result["outside_catalogue"]
    assert result["filtered_interactions"] == len(set(bought)) - left
    assert result["filtered_users"] == len({user for user, _ in bought}) - result["users"]
    assert result["density"] == pytest.approx(result["interactions"] / (result["users"] * result["items"]))
    files, outside = liang.split(bought, 400)
    assert liang.read_exported(tmp_path / "pro_sg") == files
    assert outside == result["outside_catalogue"]
    for part in ("train", "validation", "test"):
        size = sum(len(v) for k, v in files.items() if k.startswith(part))
        assert result[part]["interactions"] == size


def test_given_split(poise, tmp_path):
    """One line for each user; the figures a second time in plain Python."""
    draw = random.Random(9)
    train = {u: draw.sample(range(30), draw.randint(2, 9)) for u in range(40)}
    test = {u: [i for i in draw.sample(range(30), 4) if i not in train[u]] for u in range(0, 40, 3)}
    for name, lists in (("train.txt", train), ("test.txt", test)):
        (tmp_path / name).write_text("".join(" ".join(map(str, [u, *items])) + "\n" for u, items in lists.items()))
    result = poise("prepare", tmp_path / "train.txt", "--test", tmp_path / "test.txt", "--format", "adjacency", "--split", "given",
                   "--out", tmp_path / "data", "--json").json
    catalogue = list(dict.fromkeys(item for items in train.values() for item in items))
    targets = {u: [i for i in items if i in catalogue] for u, items in test.items()}
    assert (result["users"], result["items"]) == (40, len(catalogue))
    assert result["train"]["interactions"] == sum(map(len, train.values()))
    assert result["test"]["interactions"] == sum(map(len, targets.values()))
    assert result["validation"] is None
    # A user of the test file finds its training history when evaluated.
    poise("train", tmp_path / "data", "--model", "popularity", "--out", tmp_path / "model")
    found = poise("evaluate", tmp_path / "model", tmp_path / "data", "--recall-denominator", "targets", "--metrics", "recall@5",
                  "--json").json
    count = {item: sum(item in items for items in train.values()) for item in catalogue}
    ranked = sorted(catalogue, key=lambda item: (-count[item], catalogue.index(item)))
    recalls = []
    for user, wanted in targets.items():
        if wanted:
            recalls.append(len(set([i for i in ranked if i not in train[user]][:5]) & set(wanted)) / len(wanted))
    assert found["users"] == len(recalls)
    assert found["metrics"]["recall@5"]["mean"] == pytest.approx(sum(recalls) / len(recalls))


@pytest.mark.shared_data
def test_gowalla_given_split(poise, tmp_path):
    folder = reference_data("gowalla")
    result = poise("prepare", folder / "train.txt.zst", "--test", folder / "test.txt.zst", "--format", "adjacency", "--split",
                   "given", "--out", tmp_path / "data", "--json").json
    assert (result["users"], result["items"]) == (29858, 40981)
    assert result["train"]["interactions"] == 810128
    assert result["test"]["interactions"] == 217242
    assert result["validation"] is None
    # A user of the test file finds its training history when evaluated.
    poise("train", tmp_path / "data", "--model", "popularity", "--out", tmp_path / "model")
    evaluation = poise("evaluate", tmp_path / "model", tmp_path / "data", "--recall-denominator", "targets", "--json").json
    assert evaluation["users"] == result["test"]["users"]
