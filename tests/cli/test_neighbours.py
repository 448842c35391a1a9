"""poise train --neighbours: exact on its support, its share of the dense optimum, files, flags, checkpoints."""
import resource
import signal
import subprocess
import time

import numpy
import pytest

from conftest import HANG, PROGRAM
from large_catalogue import read_model, write_model

EASE = ("--model", "ease", "--lambda", 5)


def train(poise, data, model, *flags):
    return poise("train", data, *EASE, *flags, "--out", model, "--json").json


def test_all_neighbours_are_the_dense_model(poise, shop, tmp_path):
    for flags in ((), ("--alpha", 3), ("--lambda-exponent", 0.5), ("--weighting", "user-oriented", "--alpha", 2)):
        dense = train(poise, shop, tmp_path / "dense", *flags)
        all_items = train(poise, shop, tmp_path / "all", *flags, "--neighbours", 1000)
        assert all_items["objective"] == pytest.approx(dense["objective"], rel=1e-6)
        low, high = all_items["certificate"]["explained_share"]
        assert low == pytest.approx(1, abs=1e-6) and high == pytest.approx(1, abs=1e-6)
        scores = [poise("evaluate", tmp_path / name, shop, "--json").json["metrics"] for name in ("dense", "all")]
        for metric, value in scores[0].items():
            assert scores[1][metric]["mean"] == pytest.approx(value["mean"], abs=1e-6)


def test_what_is_reported(poise, shop, tmp_path):
    few = train(poise, shop, tmp_path / "few", "--neighbours", 4)
    dense = train(poise, shop, tmp_path / "dense")
    assert few["neighbours"] == 4 and dense["neighbours"] == 0
    certificate = few["certificate"]
    assert few["converged"] and certificate["worst_column"] <= 1e-10 and certificate["verified_columns"] == 60
    low, high = certificate["explained_share"]
    explained = few["observed_weight"] - few["objective"]
    best = dense["observed_weight"] - dense["objective"]
    assert low - 1e-6 <= explained / best <= high + 1e-6 and low > 0.5
    assert certificate["explained_share_level"] == 1 and certificate["explained_share_proven"] == low
    assert "explained_share" not in dense["certificate"]
    text = poise("train", shop, *EASE, "--neighbours", 4, "--out", tmp_path / "few").out
    assert "of what the best dense model would" in text and "validation ndcg@100" in text
    validation = poise("evaluate", tmp_path / "few", shop, "--on", "validation", "--json").json["metrics"]["ndcg@100"]["mean"]
    assert few["validation"]["ndcg@100"] == pytest.approx(validation)
    info = poise("info", tmp_path / "few").out
    assert "neighbours" in info


def test_the_model_is_used_as_any_other(poise, shop, tmp_path):
    train(poise, shop, tmp_path / "m", "--neighbours", 5)
    recommended = poise("recommend", tmp_path / "m", "--items", "i1,i2", "-k", 3, "--explain", "--json").json
    assert len(recommended["recommendations"]) == 3
    assert len(poise("similar", tmp_path / "m", "--item", "i1", "-k", 3, "--json").json["similar"]) == 3
    assert len(poise("info", tmp_path / "m", "--json").json["options"]) > 3


CERTIFIED = [("--neighbours", 6), ("--neighbours", 1, "--alpha", 0.4), ("--neighbours", 9, "--alpha", 3, "--lambda-exponent", 0.5),
             ("--neighbours", 1000, "--weighting", "item-oriented", "--alpha", 2)]


@pytest.mark.parametrize("flags", CERTIFIED)
def test_certify(poise, shop, tmp_path, flags):
    trained = train(poise, shop, tmp_path / "m", *flags)
    checked = poise("certify", tmp_path / "m", shop, "--json").json
    assert checked["converged"] and checked["missing_columns"] == 0
    assert checked["objective"] == trained["objective"] and checked["observed_weight"] == trained["observed_weight"]
    assert checked["certificate"] == trained["certificate"]
    text = poise("certify", tmp_path / "m", shop).out
    assert "on these neighbours proven to be above its minimum" in text and "of what the best dense model would" in text


def test_certify_trusts_nothing_that_was_saved(poise, shop, tmp_path):
    """An entry that is off, one that is missing, and one that is no neighbour's."""
    def refused(model):
        process = subprocess.run([PROGRAM, "certify", model, shop], capture_output=True, text=True, timeout=HANG)
        assert process.returncode == 5, process.stderr
        return process
    train(poise, shop, tmp_path / "m", "--neighbours", 6)
    metadata, tensors = read_model(tmp_path / "m")
    for name, change in (("off", lambda values: values * (1 + 0.01 * (numpy.arange(len(values)) == 7))),
                         ("missing", lambda values: values * (numpy.arange(len(values)) != 7))):
        write_model(tmp_path / name, metadata, {**tensors, "B.values": change(tensors["B.values"]).astype("<f4")})
        assert "1 columns are not proven" in refused(tmp_path / name).stderr
    rows, offsets = tensors["B.indices"].copy(), tensors["B.offsets"]
    row = next(r for r in range(60) if offsets[r + 1] > offsets[r] and rows[offsets[r + 1] - 1] < 59)
    rows[offsets[row + 1] - 1] = 59
    write_model(tmp_path / "elsewhere", metadata, {**tensors, "B.indices": rows})
    process = refused(tmp_path / "elsewhere")
    assert "columns are not proven" in process.stderr and "with no proof" in process.stdout


def test_same_bytes_for_any_threads(poise, shop, tmp_path):
    models = []
    for threads in (1, 2, 3):
        train(poise, shop, tmp_path / "m", "--neighbours", 5, "--alpha", 2, "--threads", threads)
        models.append((tmp_path / "m").read_bytes())
    assert models[0] == models[1] == models[2]


@pytest.mark.parametrize("flags, said", [
    (("--model", "ease", "--neighbours", 5, "--keep-top", 3), "--keep-top does not go with --neighbours"),
    (("--model", "wmf", "--neighbours", 5), "--neighbours"),
    (("--model", "popularity", "--neighbours", 5), "--neighbours"),
    (("--model", "ease", "--neighbours", -1), "--neighbours"),
    (("--model", "ease", "--neighbours", 1.5), "--neighbours"),
    (("--model", "popularity", "--checkpoint", "there"), "--checkpoint"),
])
def test_flags_that_do_not_fit(poise, shop, tmp_path, flags, said):
    assert said in poise("train", shop, *flags, "--out", tmp_path / "m", code=2).err
    assert not (tmp_path / "m").exists()


def test_processors_only(poise, shop, tmp_path):
    command = [PROGRAM, "train", shop, *map(str, EASE), "--neighbours", "5", "--device", "cuda", "--out", tmp_path / "m"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
    assert process.returncode in (2, 4), "2 where there is a GPU, 4 where there is none"
    assert process.returncode == 4 or "--device cuda does not go with --neighbours" in process.stderr
    assert train(poise, shop, tmp_path / "m", "--neighbours", 5, "--device", "auto")["device"] == "cpu"


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """4 500 items: several parts of a checkpoint."""
    folder = tmp_path_factory.mktemp("wide")
    rows = ["user,item"]
    for user in range(3000):
        for k in range(12):
            rows.append(f"u{user},i{(user * 7 + k * k * 31 + (user % 13) * k) % 4500}")
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    subprocess.run([PROGRAM, "prepare", folder / "log.csv", "--split", "none", "--out", folder / "data"], check=True, capture_output=True)
    return folder / "data"


WIDE = ("--model", "ease", "--lambda", 2, "--neighbours", 40)


def test_where_dense_does_not_fit_neighbours_are_named(poise, wide, tmp_path):
    said = poise("train", wide, "--model", "ease", "--memory-limit", "64M", "--out", tmp_path / "m", code=4).err
    assert "--neighbours" in said and "100 of them an item would take about" in said


@pytest.fixture(scope="module")
def whole(wide):
    """The model's bytes, where nothing happens to its training."""
    subprocess.run([PROGRAM, "train", wide, *map(str, WIDE), "--out", wide.parent / "whole"], check=True, capture_output=True)
    return (wide.parent / "whole").read_bytes()


def kept(wide, tmp_path):
    """The checkpoint of training whose disk is full when all five parts are written, and the model is not."""
    folder = tmp_path / "checkpoint"
    command = [PROGRAM, "train", wide, *map(str, WIDE), "--out", tmp_path / "m", "--checkpoint", folder]
    # Parts are smaller than this, and the model is not. Python ignores the signal, and so does its child here.
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))
    process = subprocess.run(command, capture_output=True, text=True, timeout=HANG, preexec_fn=limit, restore_signals=False)
    assert process.returncode == 4, process.stderr
    assert len(list(folder.glob("columns-*.part"))) == 5 and not (tmp_path / "m").exists()
    return folder


def test_killed_and_resumed(poise, wide, whole, tmp_path):
    """Wherever it is killed; most often once some parts are there."""
    folder = tmp_path / "checkpoint"
    command = [PROGRAM, "train", str(wide), *map(str, WIDE), "--out", str(tmp_path / "m"), "--checkpoint", str(folder), "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not list(folder.glob("columns-*.part")):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    killed = folder.exists()
    resumed = poise("train", wide, *WIDE, "--out", tmp_path / "m", "--checkpoint", folder)
    if killed:
        assert "columns were in" in resumed.err
    assert (tmp_path / "m").read_bytes() == whole
    assert not folder.exists(), "what was finished is not needed any more"


def test_a_checkpoint_of_another_model_is_refused(poise, wide, tmp_path):
    folder = kept(wide, tmp_path)
    said = poise("train", wide, *WIDE, "--alpha", 2, "--out", tmp_path / "m2", "--checkpoint", folder, code=2).err
    assert "--checkpoint" in said and "another" in said


def test_a_damaged_part_is_made_again(poise, wide, whole, tmp_path):
    folder = kept(wide, tmp_path)
    part = sorted(folder.glob("columns-*.part"))[0]
    bytes_of_part = bytearray(part.read_bytes())
    bytes_of_part[len(bytes_of_part) // 2] ^= 1
    part.write_bytes(bytes_of_part)
    resumed = poise("train", wide, *WIDE, "--out", tmp_path / "m", "--checkpoint", folder)
    assert "3 476 columns were in" in resumed.err
    assert (tmp_path / "m").read_bytes() == whole


def test_a_full_disk_loses_nothing(poise, wide, whole, tmp_path):
    folder = kept(wide, tmp_path)
    resumed = poise("train", wide, *WIDE, "--out", tmp_path / "m", "--checkpoint", folder)
    assert "4 500 columns were in" in resumed.err
    assert (tmp_path / "m").read_bytes() == whole


def test_a_user_of_the_whole_catalogue(poise, tmp_path):
    """20 000 items in one history count like any other; a few columns against ridge regressions of their own."""
    items, lam, k = 20_000, 3.0, 8
    draw = numpy.random.default_rng(4)
    histories = [numpy.arange(items)] + [numpy.unique(base + draw.integers(0, 40, 6)) % items for base in draw.integers(0, items, 6000)]
    (tmp_path / "log.csv").write_text("user,item\n" + "".join(f"u{u},{i}\n" for u, history in enumerate(histories) for i in history.tolist()))
    poise("prepare", tmp_path / "log.csv", "--split", "none", "--out", tmp_path / "data")
    trained = poise("train", tmp_path / "data", "--model", "ease", "--lambda", lam, "--neighbours", k, "--out", tmp_path / "m", "--json").json
    assert trained["converged"] and trained["certificate"]["worst_column"] < 1e-10
    _, tensors = read_model(tmp_path / "m")
    offsets = tensors["item_id_offsets"].tolist()
    text = tensors["item_ids"].tobytes().decode()
    ids = [int(text[begin:end]) for begin, end in zip(offsets[:-1], offsets[1:])]
    place = {item: at for at, item in enumerate(ids)}
    assert len(ids) == items
    rows = numpy.repeat(numpy.arange(items), numpy.diff(tensors["B.offsets"]))
    users = [set(map(place.get, history.tolist())) for history in histories]
    counts = numpy.bincount([item for history in users for item in history], minlength=items)
    for j in (0, 777, items - 1):
        common = numpy.zeros(items)
        for history in users:
            if j in history:
                common[list(history)] += 1
        weight = common ** 2 / (counts + lam)
        weight[j] = -1
        support = numpy.argsort(-weight, kind="stable")[:k]
        gram = numpy.array([[sum(a in history and b in history for history in users) for a in support] for b in support], float)
        expected = numpy.zeros(items)
        expected[support] = numpy.linalg.solve(gram + lam * numpy.eye(k), common[support])
        found = numpy.zeros(items)
        column = tensors["B.indices"] == j
        found[rows[column]] = tensors["B.values"][column]
        numpy.testing.assert_allclose(found, expected, atol=1e-6)
