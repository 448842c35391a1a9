"""Processes that are killed, stopped or interrupted: how the job ends, and how it goes on."""
import os
import signal
import subprocess
import time

import pytest

from conftest import HANG, PROGRAM, environment, left_behind, mpirun, none_left, rank_of, run

# They take as many rounds as they may.
MODELS = {"wmf": ["--model", "wmf", "--lambda", 5], "awmf": ["--model", "weight-decay", "--lambda", 5]}
ENDLESS = ["--alpha", 20, "--rank", 40, "--least-decrease", 0, "--memory-limit", "2G", "--rounds", 1000000]
LONG = [*ENDLESS[:-1], 25]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "demo"
    run("synth", "--like", "demo", "--scale", 0.5, "--out", folder)
    return folder


@pytest.fixture(scope="module")
def whole(demo):
    """Models of one process that nothing disturbed."""
    bytes_of = {}
    for name, model in MODELS.items():
        run("train", demo, *model, *LONG, "--out", demo.parent / name)
        bytes_of[name] = (demo.parent / name).read_bytes()
    return bytes_of


def begin(size, *arguments):
    return subprocess.Popen(["mpirun", "-n", str(size), PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=environment())


def wait_for(condition, process):
    for _ in range(100 * HANG):
        if condition():
            return
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)
    raise AssertionError("nothing happened")


def process_of(rank, mark):
    for pid in left_behind(mark):
        try:
            if rank_of(pid) == rank:
                return pid
        except (OSError, KeyError):  # it ends, or has not begun
            pass
    return None


def sentences(text):
    return [line for line in text.split("\n") if line.startswith("poise: ")]


@pytest.mark.parametrize("name", MODELS)
def test_rounds_of_killed_training_are_kept(demo, whole, tmp_path, name):
    """By any number of processes: three begin, two go on, and at last one without a launcher."""
    arguments = ["train", demo, *MODELS[name], *LONG, "--out", tmp_path / "model", "--checkpoint", tmp_path / "rounds"]
    saved = tmp_path / "rounds" / "rounds.part"
    process = begin(3, *arguments)
    wait_for(saved.exists, process)
    os.kill(process_of(1, tmp_path), signal.SIGKILL)
    process.communicate(timeout=HANG)
    assert process.returncode != 0 and none_left(tmp_path) and not (tmp_path / "model").exists()
    before = saved.read_bytes()

    process = begin(2, *arguments)
    wait_for(lambda: saved.exists() and saved.read_bytes() != before, process)
    os.kill(process_of(1, tmp_path), signal.SIGTERM)
    error = process.communicate(timeout=HANG)[1]
    assert process.returncode == 130, error
    assert len(sentences(error)) == 1 and "interrupted" in sentences(error)[0]
    assert none_left(tmp_path)

    result = run(*arguments)
    assert "rounds were in" in result.err
    assert (tmp_path / "model").read_bytes() == whole[name]
    assert not (tmp_path / "rounds").exists()


def test_a_checkpoint_of_another_model_is_refused(demo, tmp_path):
    arguments = ["train", demo, *MODELS["wmf"], *LONG, "--out", tmp_path / "model", "--checkpoint", tmp_path / "rounds"]
    process = begin(2, *arguments)
    wait_for((tmp_path / "rounds" / "rounds.part").exists, process)
    os.kill(process_of(0, tmp_path), signal.SIGTERM)
    process.communicate(timeout=HANG)
    assert process.returncode == 130 and none_left(tmp_path)
    assert "another" in mpirun(2, *arguments, "--lambda-exponent", 0.5, code=2, mark=tmp_path).sentence


@pytest.mark.parametrize("stopped", [0, 2])
def test_a_silent_rank_ends_the_job(demo, tmp_path, stopped):
    arguments = ["train", demo, *MODELS["wmf"], *ENDLESS, "--out", tmp_path / "model", "--rank-timeout", 2]
    process = begin(3, *arguments, "--checkpoint", tmp_path / "rounds")
    wait_for((tmp_path / "rounds" / "rounds.part").exists, process)
    os.kill(process_of(stopped, tmp_path), signal.SIGSTOP)
    error = process.communicate(timeout=HANG)[1]
    assert process.returncode == 4, error
    assert [line for line in sentences(error) if f"rank {stopped} on" in line and "silent for 2 s" in line], error
    assert none_left(tmp_path) and not (tmp_path / "model").exists()


def test_ranks_that_compute_are_not_silent(demo, tmp_path):
    """Nor is one whose own timeout is shorter than its work."""
    mpirun(3, "train", demo, *MODELS["awmf"], *LONG, "--out", tmp_path / "model", "--rank-timeout", 1, mark=tmp_path)
    assert "--rank-timeout" in mpirun(2, "train", demo, *MODELS["wmf"], "--out", tmp_path / "no", "--rank-timeout", 0, code=2).sentence
