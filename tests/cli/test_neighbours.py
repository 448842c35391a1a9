"""poise train --neighbours: exact on its support, its share of the dense optimum, files, flags, checkpoints."""
import resource
import signal
import subprocess
import time

import pytest

from conftest import HANG, PROGRAM

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
    assert "--neighbours 5" in poise("certify", tmp_path / "m", shop, code=3).err


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
    (("--model", "ease", "--checkpoint", "there"), "--neighbours"),
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


def part_of(wide, tmp_path):
    """A checkpoint of some parts: of training that was killed."""
    folder = tmp_path / "checkpoint"
    command = [PROGRAM, "train", str(wide), *map(str, WIDE), "--out", str(tmp_path / "m"), "--checkpoint", str(folder), "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not list(folder.glob("columns-*.part")):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    return folder


def test_killed_and_resumed(poise, wide, tmp_path):
    poise("train", wide, *WIDE, "--out", tmp_path / "whole")
    folder = part_of(wide, tmp_path)
    killed = folder.exists()
    resumed = poise("train", wide, *WIDE, "--out", tmp_path / "m", "--checkpoint", folder)
    if killed:
        assert "columns were in" in resumed.err
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert not folder.exists(), "what was finished is not needed any more"


def test_a_checkpoint_of_another_model_is_refused(poise, wide, tmp_path):
    folder = part_of(wide, tmp_path)
    if not folder.exists():
        pytest.skip("training was done before it could be killed")
    said = poise("train", wide, *WIDE, "--alpha", 2, "--out", tmp_path / "m2", "--checkpoint", folder, code=2).err
    assert "--checkpoint" in said and "another" in said


def test_a_damaged_part_is_made_again(poise, wide, tmp_path):
    poise("train", wide, *WIDE, "--out", tmp_path / "whole")
    folder = part_of(wide, tmp_path)
    if not folder.exists():
        pytest.skip("training was done before it could be killed")
    part = sorted(folder.glob("columns-*.part"))[0]
    bytes_of_part = bytearray(part.read_bytes())
    bytes_of_part[len(bytes_of_part) // 2] ^= 1
    part.write_bytes(bytes_of_part)
    poise("train", wide, *WIDE, "--out", tmp_path / "m", "--checkpoint", folder)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_full_disk_loses_nothing(poise, wide, tmp_path):
    poise("train", wide, *WIDE, "--out", tmp_path / "whole")
    folder = tmp_path / "checkpoint"
    command = [PROGRAM, "train", wide, *map(str, WIDE), "--out", tmp_path / "m", "--checkpoint", folder]
    # Parts are smaller than this, and the model is not. Python ignores the signal, and so does its child here.
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))
    process = subprocess.run(command, capture_output=True, text=True, timeout=HANG, preexec_fn=limit, restore_signals=False)
    assert process.returncode == 4, process.stderr
    assert len(list(folder.glob("columns-*.part"))) == 5
    assert not (tmp_path / "m").exists()
    resumed = poise("train", wide, *WIDE, "--out", tmp_path / "m", "--checkpoint", folder)
    assert "columns were in" in resumed.err
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
