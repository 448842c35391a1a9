"""A dense full-rank model trained by several processes: the model of one, but for rounding."""
import json
import os
import random
import signal
import struct
import subprocess

import numpy
import pytest

from conftest import PROGRAM, SIZES, environment, left_behind, mpirun, none_left, on_one_rank, run
from test_faults import process_of, wait_for

# A tolerance at which the columns of one process, too, order all items as the optimum does.
WEIGHTED = ["--lambda", 20, "--alpha", 4, "--tolerance", 1e-11]
MODELS = [["full-rank", "--lambda", 20], ["ease", "--lambda", 20], ["full-rank", *WEIGHTED], ["ease", *WEIGHTED],
          ["ease", "--lambda", 20, "--weighting", "log", "--alpha", 2, "--lambda-exponent", 0.5, "--tolerance", 1e-11],
          ["full-rank", "--lambda", 20, "--weighting", "item-oriented", "--alpha", 2, "--tolerance", 1e-11],
          ["edlae", "--lambda", 20, "--weighting", "user-oriented", "--alpha", 2, "--dropout", 0.3, "--tolerance", 1e-11]]


def prepared(folder, users, items, seed=3):
    """A log of so many users and items in five departments, prepared."""
    draw = random.Random(seed)
    rows = ["user,item,count"]
    for user in range(users):
        for _ in range(draw.randrange(8, 30)):
            department = user % 5 if draw.random() < 0.7 else draw.randrange(5)
            rows.append(f"u{user},i{department + 5 * min(int(draw.expovariate(10 / items)), items // 5 - 1)},{draw.randrange(1, 6)}")
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    run("prepare", folder / "log.csv", "--out", folder / "data")
    return folder / "data"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Enough items for several tiles a process, the last ones smaller."""
    return prepared(tmp_path_factory.mktemp("shop"), 900, 203)


def matrix(path):
    """B of a model file."""
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + length])
    first, last = header["B"]["data_offsets"]
    return numpy.frombuffer(raw[8 + length + first:8 + length + last], dtype="<f4").reshape(header["B"]["shape"])


def metrics(model, data):
    return {name: each["mean"] for name, each in run("evaluate", model, data, "--json").json["metrics"].items()}


def check(result, alone):
    assert result["ranks"] > 1 and len(result["peak_bytes_of_ranks"]) == result["ranks"]
    assert result["converged"] and alone["converged"] and result["certificate"]["worst_column"] <= 1e-6
    assert result["certificate"]["probability"] == alone["certificate"]["probability"]
    assert result["precision"] == alone["precision"] and abs(result["condition"] / alone["condition"] - 1) < 1e-2
    assert abs(result["objective"] - alone["objective"]) <= 1e-6 * alone["observed_weight"]


@pytest.mark.parametrize("model", MODELS, ids=lambda each: " ".join(map(str, each)))
def test_the_model_of_one_process(shop, tmp_path, model):
    arguments = ["train", shop, "--json", "--model", *model]
    alone = run(*arguments, "--out", tmp_path / "1").json
    expected = metrics(tmp_path / "1", shop)
    for size in SIZES[1:] if model[0] != "edlae" else [3]:
        result = mpirun(size, *arguments, "--out", tmp_path / f"{size}", mark=tmp_path).json
        check(result, alone)
        # The file is sound, and proven by one process from the data alone.
        certified = run("certify", tmp_path / f"{size}", shop, "--json").json
        assert certified["certificate"]["worst_column"] <= 1e-6
        for name, mean in metrics(tmp_path / f"{size}", shop).items():
            assert abs(mean - expected[name]) <= 1e-6
        assert numpy.abs(matrix(tmp_path / f"{size}") - matrix(tmp_path / "1")).max() <= 2e-3


def test_one_process_and_the_same_grid_give_the_same_bytes(shop, tmp_path):
    arguments = ["train", shop, "--model", "ease", *WEIGHTED, "--memory-limit", "2G", "--out"]
    run(*arguments, tmp_path / "alone")
    mpirun(1, *arguments, tmp_path / "one", mark=tmp_path)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "alone").read_bytes()
    for threads in (1, 2):
        mpirun(3, *arguments, tmp_path / f"three{threads}", "--threads", threads, mark=tmp_path)
    assert (tmp_path / "three1").read_bytes() == (tmp_path / "three2").read_bytes()
    # At W = 1 the weighted solver's answer is the closed form.
    mpirun(3, "train", shop, "--model", "ease", "--lambda", 20, "--out", tmp_path / "closed", mark=tmp_path)
    mpirun(3, "train", shop, "--model", "ease", "--lambda", 20, "--alpha", 1, "--out", tmp_path / "unit", mark=tmp_path)
    assert numpy.array_equal(matrix(tmp_path / "closed"), matrix(tmp_path / "unit"))


def test_ill_conditioned_in_float64(tmp_path):
    """More items than users."""
    data = prepared(tmp_path, 60, 150)
    for model in (["ease", "--lambda", 1e-4], ["full-rank", "--lambda", 1e-4, "--alpha", 3]):
        arguments = ["train", data, "--json", "--model", *model]
        alone = run(*arguments, "--out", tmp_path / "1").json
        assert alone["precision"] == "float64"
        for size in (2, 3):
            check(mpirun(size, *arguments, "--out", tmp_path / f"{size}", mark=tmp_path).json, alone)


def test_a_singular_system_ends_all(tmp_path):
    """Duplicate items and a lambda that float64 cannot add to their counts."""
    (tmp_path / "log.csv").write_text("user,item\n" + "".join(f"u{u},i{i}\n" for u in range(40) for i in range(12)))
    run("prepare", tmp_path / "log.csv", "--out", tmp_path / "data")
    arguments = ["train", tmp_path / "data", "--model", "ease", "--lambda", 1e-25, "--out", tmp_path / "model"]
    sentence = run(*arguments, code=5).err.split("(")[0]
    for size in SIZES[1:]:
        assert mpirun(size, *arguments, code=5, mark=tmp_path).sentence.split("(")[0] in sentence
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("model", [["ease", "--lambda", 20], ["full-rank", *WEIGHTED]], ids=lambda each: each[0])
def test_only_the_largest_entries_are_kept(shop, tmp_path, model):
    arguments = ["train", shop, "--json", "--keep-top", 12, "--model", *model]
    alone = run(*arguments, "--out", tmp_path / "1").json
    expected = metrics(tmp_path / "1", shop)
    for size in SIZES[1:]:
        result = mpirun(size, *arguments, "--out", tmp_path / f"{size}", mark=tmp_path).json
        assert result["kept"]["entries"] == alone["kept"]["entries"]
        assert result["certificate"]["absolute"] == pytest.approx(alone["certificate"]["absolute"], rel=1e-3)
        for part in ("all", "kept"):
            assert abs(result["kept"]["validation"]["ndcg@100"][part] - alone["kept"]["validation"]["ndcg@100"][part]) <= 1e-6
        for name, mean in metrics(tmp_path / f"{size}", shop).items():
            assert abs(mean - expected[name]) <= 1e-6


def test_fewer_items_than_processes(tmp_path):
    (tmp_path / "log.csv").write_text("user,item\n" + "".join(f"u{u},i{(u + k) % 5}\n" for u in range(30) for k in range(1 + u % 3)))
    run("prepare", tmp_path / "log.csv", "--out", tmp_path / "data", "--held-out-users", 2, "--min-user-items", 1)
    for model in (["ease"], ["full-rank", "--alpha", 3]):
        arguments = ["train", tmp_path / "data", "--json", "--lambda", 5, "--model", *model]
        alone = run(*arguments, "--out", tmp_path / "1").json
        check(mpirun(4, *arguments, "--out", tmp_path / "4", mark=tmp_path).json, alone)
        assert numpy.abs(matrix(tmp_path / "4") - matrix(tmp_path / "1")).max() <= 1e-4


def test_errors_of_one_process_end_all(shop, tmp_path):
    train = f"{PROGRAM} train %s --model ease --lambda 5 --out {tmp_path}/model"
    script = on_one_rank(tmp_path, 1, train % "/no/such/data", train % shop)
    assert "rank 1 on" in mpirun(3, program=[script], code=3, mark=tmp_path).sentence
    arguments = ["train", shop, "--model", "ease", "--lambda", 5]
    assert mpirun(3, *arguments, "--out", tmp_path / "no" / "folder" / "model", code=4, mark=tmp_path).sentence
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("rank", [0, 2])
def test_a_process_that_is_killed_ends_the_job(shop, tmp_path, rank):
    process = subprocess.Popen(["mpirun", "-n", "3", PROGRAM, "train", shop, "--model", "full-rank", "--lambda", "1", "--alpha", "900",
                                "--tolerance", "1e-12", "--out", tmp_path / "model"],
                               env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(left_behind(tmp_path)) == 3 and process_of(rank, tmp_path), process)
    os.kill(process_of(rank, tmp_path), signal.SIGKILL)
    process.communicate(timeout=900)
    assert process.returncode != 0
    assert none_left(tmp_path)
    assert not (tmp_path / "model").exists()


def test_features_are_learnt_by_one_process_alone(tmp_path):
    prepared(tmp_path, 200, 60)
    features = tmp_path / "features.csv"
    features.write_text("item,department\n" + "".join(f"i{i},d{i % 5}\n" for i in range(60)))
    run("prepare", tmp_path / "log.csv", "--item-features", features, "--out", tmp_path / "featured")
    train = ("train", tmp_path / "featured", "--model", "ease", "--lambda", 20, "--out", tmp_path / "model")
    refused = mpirun(2, *train, code=2)
    assert "--feature-weight" in refused.sentence and not (tmp_path / "model").exists()
    mpirun(2, *train, "--feature-weight", 0)
