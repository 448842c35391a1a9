"""poise update: a model of old rows plus new ones is that of a training on both."""
import json
import random
import resource
import shutil

import pytest

from conftest import run
from updating import given_split, metrics, same_as_trained, write

FULL = ("--model", "full-rank", "--lambda", 8)
# Of iterated columns a metric of few users shows errors far within the usual tolerance, of a training as of an update.
EXACT = ("--tolerance", 1e-9)
# So exact that rounding does not decide which of two items of nearly the same score comes first, with any of OpenBLAS' kernels.
TO_THE_BIT = ("--tolerance", 1e-13)
DIRECT = {
    "unconstrained": FULL,
    "zero diagonal": (*FULL, "--zero-diagonal"),
    "weighted": (*FULL, "--alpha", 4, *EXACT),
    "weighted, zero diagonal": (*FULL, "--alpha", 0.5, "--zero-diagonal", *EXACT),
    "by value": (*FULL, "--weighting", "log", "--alpha", 2, "--zero-diagonal", *EXACT),
    "weak": ("--model", "full-rank", "--lambda", 1e-4, "--zero-diagonal"),
    "weak, weighted": ("--model", "full-rank", "--lambda", 1e-4, "--alpha", 3, "--zero-diagonal", *EXACT),
}
COUNTED = {
    "dropout": (*FULL, "--dropout", 0.3),
    "exponent": (*FULL, "--zero-diagonal", "--lambda-exponent", 0.5),
    "user-oriented": (*FULL, "--weighting", "user-oriented", "--alpha", 2),
    "item-oriented": (*FULL, "--weighting", "item-oriented", "--alpha", 2),
    "inverse-popularity": (*FULL, "--weighting", "inverse-popularity", "--alpha", 2, "--zero-diagonal"),
}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return given_split(tmp_path_factory.mktemp("given")) / "data"


def new_rows(path, users, seed=3, new_items=3):
    """A log of these many users, half of them new, and of some items that nobody had."""
    draw = random.Random(seed)
    rows = []
    for k in range(users):
        user = f"new{seed}-{k}" if k % 2 else f"u{draw.randrange(240)}"
        names = [f"i{draw.randrange(60)}" for _ in range(8)] + [f"fresh{seed}-{draw.randrange(new_items)}"] * (k < 12)
        rows += [(user, name, draw.randrange(1, 5)) for name in names]
    return write(path, rows)


def some_pairs(data, path, share, seed=5):
    """A file with some of the training pairs."""
    lines = (data.parent / "train.csv").read_text().split("\n")[1:-1]
    pairs = sorted({tuple(line.split(",")[:2]) for line in lines})
    chosen = random.Random(seed).sample(pairs, int(share * len(pairs)))
    path.write_text("user,item\n" + "".join(f"{user},{item}\n" for user, item in chosen))
    return path, len(chosen)


@pytest.mark.parametrize("users", [1, 8])
@pytest.mark.parametrize("name", DIRECT)
def test_an_update_is_a_training(poise, given, tmp_path, name, users):
    poise("train", given, *DIRECT[name], "--keep-inverse", "--out", tmp_path / "m")
    log = new_rows(tmp_path / "new.csv", users)
    removed, count = some_pairs(given, tmp_path / "remove.csv", 0.002)
    updated = poise("update", tmp_path / "m", given, "--log", log, "--remove", removed, "--out-data", tmp_path / "d", "--json").json
    how = updated["update"]
    assert how["removed"] == count and not how["lambda_kept"]
    if "weak" in name:  # new items with few users bring the condition beyond float32
        assert how["refitted"] is None or "float64" in how["refitted"]
    else:
        assert how["refitted"] is None and how["rank"] > users
    assert how["new_items"] == (1 if users == 1 else 3) and how["new_users"] == users // 2
    same_as_trained(updated, tmp_path / "m", tmp_path / "d", tmp_path, DIRECT[name])


@pytest.mark.parametrize("name", ["zero diagonal", "weighted"])
def test_many_users(poise, tmp_path, name):
    """A seventh of all users at once: the share that 5 000 are of 35 000."""
    poise("synth", "--like", "demo", "--seed", 4, "--out", tmp_path / "log.csv")
    head, *lines = (tmp_path / "log.csv").read_text().split("\n")[:-1]
    later = [int(line.split(",")[0]) % 7 == 0 for line in lines]
    for part, wanted in (("old.csv", False), ("new.csv", True)):
        (tmp_path / part).write_text("\n".join([head, *(line for line, late in zip(lines, later) if late == wanted)]) + "\n")
    poise("prepare", tmp_path / "old.csv", "--out", tmp_path / "data")
    poise("train", tmp_path / "data", *DIRECT[name], "--keep-inverse", "--out", tmp_path / "m")
    updated = poise("update", tmp_path / "m", tmp_path / "data", "--log", tmp_path / "new.csv", "--out-data", tmp_path / "d", "--json").json
    assert updated["update"]["new_users"] > 300 and updated["update"]["refitted"] is None
    same_as_trained(updated, tmp_path / "m", tmp_path / "d", tmp_path, DIRECT[name])


@pytest.mark.parametrize("name", ["zero diagonal", "weighted, zero diagonal", "weak"])
def test_fifty_in_a_row(poise, given, tmp_path, name):
    """Each goes on from the last; rounding that adds up is seen by the certificate, and then the model is trained again."""
    flags = (*DIRECT[name], *(TO_THE_BIT if name == "weak" else ()))
    poise("train", given, *flags, "--keep-inverse", "--out", tmp_path / "m")
    shutil.copytree(given, tmp_path / "d")
    direct = 0
    for day in range(50):
        log = new_rows(tmp_path / "new.csv", 3, seed=day, new_items=1 if day % 10 else 2)
        updated = poise("update", tmp_path / "m", tmp_path / "d", "--log", log, "--out-data", tmp_path / "d", "--json").json
        assert updated["converged"] and updated["certificate"]["worst_column"] <= 1e-6
        direct += updated["update"]["refitted"] is None
    assert direct >= 25
    same_as_trained(updated, tmp_path / "m", tmp_path / "d", tmp_path, flags)


@pytest.mark.parametrize("name", COUNTED)
def test_what_depends_on_counts(poise, given, tmp_path, name):
    """Trained again by default, with the reason; --keep-lambda proves the objective of the earlier counts instead."""
    poise("train", given, *COUNTED[name], "--keep-inverse", "--out", tmp_path / "m")
    log = new_rows(tmp_path / "new.csv", 15)
    again = poise("update", tmp_path / "m", given, "--log", log, "--out", tmp_path / "a", "--out-data", tmp_path / "d", "--json")
    assert "every new row changes every column" in again.json["update"]["refitted"] and "trained again" in again.err
    same_as_trained(again.json, tmp_path / "a", tmp_path / "d", tmp_path, COUNTED[name])
    kept = poise("update", tmp_path / "m", given, "--log", log, "--out", tmp_path / "k", "--keep-lambda", "--json")
    assert kept.json["update"]["lambda_kept"] and kept.json["update"]["refitted"] is None and "stays that of the last training" in kept.err
    assert kept.json["converged"] and kept.json["certificate"]["worst_column"] <= 1e-6
    assert kept.json["objective"] != pytest.approx(again.json["objective"], rel=1e-9), "another Lambda or other weights"
    # Rows at a time or at once, and in between: the same frozen problem.
    lines = log.read_text().split("\n")[:-1]
    for part in (lines[1:60], lines[60:]):
        (tmp_path / "part.csv").write_text("\n".join([lines[0], *part]) + "\n")
        data = given if part is not lines[60:] and not (tmp_path / "steps").exists() else tmp_path / "steps"
        model = tmp_path / "m" if data == given else tmp_path / "s"
        steps = poise("update", model, data, "--log", tmp_path / "part.csv", "--keep-lambda", "--out", tmp_path / "s", "--out-data",
                      tmp_path / "steps", "--json").json
    if "fresh" not in "".join(lines[60:]) or name == "user-oriented":  # else a new item's count is that of its first day
        assert steps["objective"] == pytest.approx(kept.json["objective"], rel=1e-6)
    assert "--keep-lambda" in poise("certify", tmp_path / "s", tmp_path / "steps", code=3).err
    later = poise("update", tmp_path / "s", tmp_path / "steps", "--log", new_rows(tmp_path / "n", 2, 9), "--out-data", tmp_path / "l", "--json").json
    assert later["update"]["refitted"] and poise("certify", tmp_path / "s", tmp_path / "l", "--json").json["converged"]


def test_without_the_inverse(poise, given, tmp_path):
    """It is trained again once, and goes on from then."""
    poise("train", given, *FULL, *TO_THE_BIT, "--out", tmp_path / "m")
    first = poise("update", tmp_path / "m", given, "--log", new_rows(tmp_path / "1", 4, 1), "--out-data", tmp_path / "d", "--json")
    assert "without --keep-inverse" in first.json["update"]["refitted"] and "without --keep-inverse" in first.err
    second = poise("update", tmp_path / "m", tmp_path / "d", "--log", new_rows(tmp_path / "2", 4, 2), "--out-data", tmp_path / "d", "--json").json
    assert second["update"]["refitted"] is None and second["updates"] == 1
    same_as_trained(second, tmp_path / "m", tmp_path / "d", tmp_path, (*FULL, *TO_THE_BIT))


def test_more_rows_than_a_refit_takes(poise, given, tmp_path):
    poise("train", given, *FULL, "--keep-inverse", "--out", tmp_path / "m")
    updated = poise("update", tmp_path / "m", given, "--log", new_rows(tmp_path / "new.csv", 200), "--json").json
    assert "take more operations than a new inverse" in updated["update"]["refitted"]


def test_counts_and_what_is_said(poise, given, tmp_path):
    poise("train", given, *FULL, "--keep-inverse", "--out", tmp_path / "m")
    train = (given.parent / "train.csv").read_text().split("\n")[1].split(",")
    target = (given.parent / "test.csv").read_text().split("\n")[1].split(",")
    log = write(tmp_path / "new.csv", [train, ("u1", "i-new", 1), ("u1", "i-new", 2), target, ("nobody", "i1", 1)])
    (tmp_path / "remove.csv").write_text("user,item\nu1,unknown\n")
    said = poise("update", tmp_path / "m", given, "--log", log, "--remove", tmp_path / "remove.csv", "--out", tmp_path / "n", "--json")
    assert {key: value for key, value in said.json["update"].items() if isinstance(value, int) and not isinstance(value, bool)} == {
        "log_rows": 5, "added": 2, "known": 1, "duplicates": 1, "held_out": 1, "removed": 0, "not_there": 1, "new_users": 1,
        "changed_users": 2, "new_items": 1, "rank": said.json["update"]["rank"], "kept_columns": 0,
            "described_items": 0, "described_before": 0, "unknown_features": 0}
    assert "merged data are not written" in said.err
    text = poise("update", tmp_path / "m", given, "--log", log, "--remove", tmp_path / "remove.csv", "--out", tmp_path / "n").out
    for words in ("2 interactions added", "1 were in the data already", "1 rows of the log repeat", "of held-out users, or targets", "were not there"):
        assert words in text.replace("  ", " ").replace("            ", ""), words


def test_held_out_users_stay_so(poise, shop, tmp_path):
    """With the split by users, rows of held-out users change nothing that is measured."""
    poise("train", shop, *FULL, "--keep-inverse", "--out", tmp_path / "m")
    log = write(tmp_path / "new.csv", [(f"u{k}", "i3", 1) for k in range(240)])
    updated = poise("update", tmp_path / "m", shop, "--log", log, "--out-data", tmp_path / "d", "--json").json["update"]
    before, after = (poise("info", folder, "--json").json for folder in (shop, tmp_path / "d"))
    held_out = before["test"]["users"] + before["validation"]["users"]
    assert updated["held_out"] == held_out and updated["added"] + updated["known"] == 240 - held_out
    assert after["test"] == before["test"] and after["validation"] == before["validation"]


def test_threads_and_devices_give_the_same_bytes(poise, given, tmp_path):
    log = new_rows(tmp_path / "new.csv", 20)
    for name in ("zero diagonal", "weighted", "weak"):
        poise("train", given, *DIRECT[name], "--keep-inverse", "--out", tmp_path / "m")
        files = []
        for threads in (1, 3):
            out = tmp_path / f"m{threads}"
            poise("update", tmp_path / "m", given, "--log", log, "--out", out, "--out-data", tmp_path / f"d{threads}", "--threads", threads)
            files.append([path.read_bytes() for path in (out, tmp_path / f"m{threads}.inverse", tmp_path / f"d{threads}" / "data.poise")])
        assert files[0] == files[1]


def listing(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_damaged_inverse(poise, given, tmp_path):
    poise("train", given, *FULL, "--alpha", 3, "--keep-inverse", "--out", tmp_path / "m")
    log = new_rows(tmp_path / "new.csv", 4)
    inverse = tmp_path / "m.inverse"
    whole = inverse.read_bytes()
    before = listing(tmp_path)
    for at in (20, len(whole) // 2, len(whole) - 1):
        inverse.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        assert "m.inverse" in poise("update", tmp_path / "m", given, "--log", log, code=3).err
    inverse.write_bytes(whole[:-8])
    poise("update", tmp_path / "m", given, "--log", log, code=3)
    inverse.unlink()
    assert "is missing" in poise("update", tmp_path / "m", given, "--log", log, code=3).err
    poise("train", given, *FULL, "--alpha", 2, "--keep-inverse", "--out", tmp_path / "other")
    shutil.copy(tmp_path / "other.inverse", inverse)
    assert "another model" in poise("update", tmp_path / "m", given, "--log", log, code=3).err
    shutil.copy(tmp_path / "m", inverse)
    assert "is no kept inverse" in poise("update", tmp_path / "m", given, "--log", log, code=3).err
    inverse.write_bytes(whole)
    (tmp_path / "other").unlink(), (tmp_path / "other.inverse").unlink()
    assert listing(tmp_path) == before


def test_a_full_disk_leaves_everything(poise, given, tmp_path):
    """Whichever of the files does not fit."""
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copytree(given, folder / "d")
    poise("train", given, *FULL, "--alpha", 3, "--keep-inverse", "--out", folder / "m")
    log = new_rows(tmp_path / "new.csv", 6)
    poise("update", folder / "m", folder / "d", "--log", log, "--out", tmp_path / "n", "--out-data", tmp_path / "nd")
    sizes = [path.stat().st_size for path in (tmp_path / "n", tmp_path / "n.inverse", tmp_path / "nd" / "data.poise")]
    before = listing(folder)
    for limit in (0, *(size - 1 for size in sizes)):
        for out in ("d", "new"):
            poise("update", folder / "m", folder / "d", "--log", log, "--out-data", folder / out, code=4,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            assert listing(folder) == before and not (folder / "new").exists(), (limit, out)


@pytest.mark.parametrize("flags, code, words", [
    ((), 2, "nothing to update"),
    (("--remove", "R", "--columns", "user,item"), 2, "--columns says how to read --log"),
    (("--log", "EMPTY"), 3, "no data row"),
    (("--log", "LOG", "--keep-above", 100), 3, "has no row to add"),
    (("--log", "LOG", "--remove", "UNKNOWN"), 3, "user 'stranger' of the rows to remove is not in the data"),
    (("--log", "missing.csv"), 3, "missing.csv"),
    (("--log", "LOG", "--remove", "missing.csv"), 3, "missing.csv"),
    (("--log", "LOG", "--out-data", "LOG"), 4, "not a folder"),
    (("--log", "PLAIN"), 3, "the data have values and the log has none"),
])
def test_wrong_use(poise, given, tmp_path, flags, code, words):
    poise("train", given, *FULL, "--keep-inverse", "--out", tmp_path / "m")
    files = {"LOG": new_rows(tmp_path / "new.csv", 3), "EMPTY": write(tmp_path / "empty.csv", []), "R": tmp_path / "r.csv",
             "UNKNOWN": tmp_path / "u.csv", "PLAIN": tmp_path / "plain.csv"}
    files["R"].write_text("user,item\nu1,i1\n")
    files["UNKNOWN"].write_text("user,item\nstranger,i1\n")
    files["PLAIN"].write_text("user,item\nu1,i1\n")
    before = listing(tmp_path)
    assert words in poise("update", tmp_path / "m", given, *[files.get(flag, flag) for flag in flags], code=code).err
    assert listing(tmp_path) == before


def test_what_does_not_go_together(poise, given, shop, tmp_path):
    poise("train", given, *FULL, "--keep-inverse", "--out", tmp_path / "m")
    log = new_rows(tmp_path / "new.csv", 3)
    assert "trained on other data" in poise("update", tmp_path / "m", shop, "--log", log, code=3).err
    poise("train", given, *FULL, "--keep-top", 3, "--out", tmp_path / "cut")
    assert "--keep-top" in poise("update", tmp_path / "cut", given, "--log", log, code=2).err
    for flags in (("--neighbours", 4), ("--keep-top", 4)):
        assert "--keep-inverse" in poise("train", given, *FULL, *flags, "--keep-inverse", "--out", tmp_path / "x", code=2).err
    assert "--keep-inverse" in poise("train", given, "--model", "wmf", "--keep-inverse", "--out", tmp_path / "x", code=2).err
    everything, _ = some_pairs(given, tmp_path / "all.csv", 1)
    assert "no row is left" in poise("update", tmp_path / "m", given, "--remove", everything, code=3).err


def test_what_training_writes(poise, given, tmp_path):
    """The model's B is the same with and without the file beside it, and training says how large that is."""
    plain = poise("train", given, *FULL, "--zero-diagonal", "--out", tmp_path / "plain", "--json").json
    kept = poise("train", given, *FULL, "--zero-diagonal", "--keep-inverse", "--out", tmp_path / "kept", "--json")
    assert "kept.inverse takes" in kept.err and "float64" in kept.err
    assert kept.json["objective"] == plain["objective"] and "kept_inverse" not in plain
    items = ("--items", "i1,i2", "--json")
    assert poise("recommend", tmp_path / "kept", *items).out == poise("recommend", tmp_path / "plain", *items).out
    assert (tmp_path / "kept.inverse").stat().st_size < 3000, "an unweighted model's inverse follows from B"
    report = json.loads(poise("info", tmp_path / "kept", "--json").out)["report"]
    assert report["kept_inverse"] == kept.json["kept_inverse"]


def test_dislikes_and_cuts_in_time_are_prepared_again(tmp_path):
    rows = [(f"u{k % 12}", f"i{k % 7}", 1 + k % 5, 1_600_000_000 + 86_400 * k) for k in range(84)]
    log = tmp_path / "log.csv"
    log.write_text("user,item,value,time\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    more = write(tmp_path / "more.csv", [("u1", "i2", 4)])
    filters = ("--min-user-items", 1)
    prepared = {
        "disliked": ("--keep-above", 2, "--dislike-below", 2, "--split", "none"),
        "in-time": ("--columns", "user,item,value,time", "--split", "time", "--test-from", "20%"),
        "plain": ("--split", "none"),
    }
    for name, flags in prepared.items():
        data, model = tmp_path / name, tmp_path / f"{name}.model"
        run("prepare", log, *flags, *filters, "--out", data)
        run("train", data, *FULL, "--keep-inverse", "--out", model)
        before = model.read_bytes()
        extra = ("--dislike-below", 3) if name == "plain" else ()
        result = run("update", model, data, "--log", more, *extra, code=2)
        assert "train again" in result.err
        assert model.read_bytes() == before
