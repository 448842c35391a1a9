"""Low-rank models, their rows shared among processes: the file of one."""
import shutil

import pytest

from conftest import PROGRAM, SIZES, mpirun, on_one_rank, run

RANK = ["--rank", 12]
LOG = ["--weighting", "log", "--alpha", 2]
# Every family, unweighted and weighted: with each number of processes.
MODELS = [["wmf", "--lambda", 3], ["wmf", "--lambda", 3, "--alpha", 5], ["weight-decay", "--lambda", 5], ["weight-decay", "--lambda", 5, *LOG],
          ["dropout", "--lambda", 5], ["dropout", "--lambda", 5, "--alpha", 4], ["data-weight-decay", "--lambda", 5],
          ["data-weight-decay", "--lambda", 5, "--alpha", 4]]
# Other starts and weights, which take other routes.
OTHERS = [["wmf", "--lambda", 0.1, "--lambda-exponent", 0.7, *LOG], ["wmf", "--lambda", 3, "--alpha", 4, "--start", "random"],
          ["wmf", "--lambda", 3, "--weighting", "user-oriented", "--alpha", 2], ["weight-decay", "--lambda", 5, "--start", "random"],
          ["dropout", "--lambda", 5, "--weighting", "item-oriented", "--alpha", 2],
          ["data-weight-decay", "--lambda", 5, "--weighting", "user-oriented", "--alpha", 2]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Large enough for several tiles of users and of items; with the eigenpairs that one process stores beside it."""
    folder = tmp_path_factory.mktemp("data") / "demo"
    run("synth", "--like", "demo", "--scale", 0.5, "--values", "--out", folder)
    run("train", folder, "--model", "wmf", *RANK, "--lambda", 3, "--out", folder.parent / "model")
    return folder


@pytest.mark.parametrize("model", MODELS + OTHERS, ids=lambda each: " ".join(map(str, each)))
def test_the_file_of_one_process(demo, tmp_path, model):
    arguments = ["train", demo, "--model", *model, *RANK, "--rounds", 6, "--memory-limit", "2G", "--json"]
    alone = run(*arguments, "--out", tmp_path / "alone", "--trace", tmp_path / "alone.csv").json
    for size in SIZES if model in MODELS else [3]:
        result = mpirun(size, *arguments, "--threads", 1 + size % 2, "--out", tmp_path / f"{size}", "--trace", tmp_path / "trace.csv",
                        mark=tmp_path).json
        assert result["ranks"] == size and len(result.get("peak_bytes_of_ranks", [0])) == size
        assert (tmp_path / f"{size}").read_bytes() == (tmp_path / "alone").read_bytes()
        for key in ("certificate", "objective", "rounds", "iterations", "converged"):
            assert result[key] == alone[key], key
        rounds = [[line.rsplit(",", 1)[0] for line in (tmp_path / name).read_text().split("\n")] for name in ("alone.csv", "trace.csv")]
        assert rounds[0] == rounds[1]  # but for the seconds


def test_eigenpairs_are_computed_together_and_stored_once(demo, tmp_path):
    """Also where one host has stored them and others have not."""
    (stored,) = demo.glob("spectrum-*.poise")
    arguments = ["--model", "wmf", *RANK, "--lambda", 3, "--memory-limit", "2G", "--out"]
    run("train", demo, *arguments, tmp_path / "wanted")
    for rank in (None, 0, 1):
        hosts = []
        for k in range(3):
            hosts.append(tmp_path / f"{rank}-{k}")
            shutil.copytree(demo, hosts[k])
            if k != rank:
                (hosts[k] / stored.name).unlink()
        script = tmp_path / "on_each.sh"
        script.write_text(f'#!/bin/sh\nexec {PROGRAM} train {tmp_path}/{rank}-$OMPI_COMM_WORLD_RANK {" ".join(map(str, arguments))} {tmp_path}/{rank}\n')
        script.chmod(0o755)
        mpirun(3, program=[script], mark=tmp_path)
        assert (tmp_path / f"{rank}").read_bytes() == (tmp_path / "wanted").read_bytes()
        assert (hosts[0] / stored.name).read_bytes() == stored.read_bytes()
        assert [(host / stored.name).exists() for host in hosts] == [True, rank == 1, False]


def test_what_several_processes_refuse(shop, tmp_path):
    arguments = ["train", shop, "--model", "wmf", *RANK, "--out", tmp_path / "model"]
    sentence = mpirun(2, *arguments, "--device", "cuda", code=2, mark=tmp_path, CUDA_VISIBLE_DEVICES="0").sentence
    assert "--device cuda" in sentence and "1 GPU for 2 processes" in sentence
    train = f"{PROGRAM} train %s --model=dropout --rank 5 --out {tmp_path}/model"
    script = on_one_rank(tmp_path, 1, train % "/no/such/data", train % shop)
    assert "rank 1 on" in mpirun(3, program=[script], code=3, mark=tmp_path).sentence
    assert not (tmp_path / "model").exists()


def test_a_model_of_a_config_file_is_trained_by_the_first_process(shop, tmp_path):
    (tmp_path / "config.toml").write_text('model = "wmf"\nrank = 5\n')
    result = mpirun(2, "train", shop, "--config", tmp_path / "config.toml", "--out", tmp_path / "2", mark=tmp_path)
    assert "runs in the first of the 2 processes" in result.err
    run("train", shop, "--model", "wmf", "--rank", 5, "--out", tmp_path / "1")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
