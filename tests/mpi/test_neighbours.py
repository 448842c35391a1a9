"""Columns of a model with neighbours, shared among processes: the file of one."""
import contextlib
import os
import shutil
import signal
import time

import pytest

from conftest import HANG, PROGRAM, SIZES, mpirun, none_left, on_one_rank, run
from test_faults import begin, process_of, sentences

MODELS = [["--lambda", 5], ["--lambda", 5, "--zero-diagonal"], ["--lambda", 3, "--alpha", 4, "--zero-diagonal"],
          ["--lambda", 3, "--weighting", "log", "--alpha", 2, "--lambda-exponent", 0.5],
          ["--lambda", 3, "--weighting", "user-oriented", "--alpha", 2], ["--lambda", 3, "--dropout", 0.3]]


@pytest.mark.parametrize("model", MODELS, ids=lambda each: " ".join(map(str, each)))
def test_the_file_of_one_process(shop, tmp_path, model):
    arguments = ["train", shop, "--model", "full-rank", *model, "--neighbours", 7, "--json"]
    alone = run(*arguments, "--out", tmp_path / "1").json
    for size in SIZES:
        result = mpirun(size, *arguments, "--out", tmp_path / f"{size}", mark=tmp_path).json
        assert result["ranks"] == size
        assert (tmp_path / f"{size}").read_bytes() == (tmp_path / "1").read_bytes()
        assert result["certificate"] == alone["certificate"] and result["objective"] == alone["objective"]


def test_features_of_items(tmp_path):
    rows = [f"u{user},i{(user * 7 + k * k) % 60}" for user in range(90) for k in range(6)]
    (tmp_path / "log.csv").write_text("\n".join(["user,item", *rows]) + "\n")
    (tmp_path / "features.csv").write_text("item,feature\n" + "".join(f"i{k},kind {k % 5}\n" for k in range(64)))
    run("prepare", tmp_path / "log.csv", "--split", "none", "--item-features", tmp_path / "features.csv", "--out", tmp_path / "data")
    arguments = ["train", tmp_path / "data", "--model", "ease", "--lambda", 5, "--feature-weight", 2, "--neighbours", 7]
    run(*arguments, "--out", tmp_path / "1")
    mpirun(3, *arguments, "--out", tmp_path / "3", mark=tmp_path)
    assert (tmp_path / "3").read_bytes() == (tmp_path / "1").read_bytes()


def test_all_neighbours_are_a_dense_model(shop, tmp_path):
    for flags in ([], ["--neighbours", 0]):
        mpirun(3, "train", shop, "--model", "ease", "--lambda", 5, *flags, "--out", tmp_path / f"{len(flags)}", mark=tmp_path)
    assert (tmp_path / "0").read_bytes() == (tmp_path / "2").read_bytes()


def test_neighbours_of_a_config_file(shop, tmp_path):
    (tmp_path / "config.toml").write_text("neighbours = 7\n")
    arguments = ["train", shop, "--model", "ease", "--lambda", 5]
    run(*arguments, "--neighbours", 7, "--out", tmp_path / "1")
    result = mpirun(3, *arguments, "--config", tmp_path / "config.toml", "--out", tmp_path / "3", mark=tmp_path)
    assert "runs in the first" not in result.err
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()


def test_what_several_processes_refuse(shop, tmp_path):
    arguments = ["train", shop, "--model", "ease", "--lambda", 5, "--neighbours", 7, "--out", tmp_path / "model"]
    assert "--device cuda" in mpirun(2, *arguments, "--device", "cuda", code=2, mark=tmp_path, CUDA_VISIBLE_DEVICES="0").sentence
    assert mpirun(2, *arguments[:-1], tmp_path / "no" / "folder" / "model", code=4, mark=tmp_path).sentence
    train = f"{PROGRAM} train %s --model ease --lambda 5 --neighbours 7 --out {tmp_path}/model"
    script = on_one_rank(tmp_path, 1, train % "/no/such/data", train % shop)
    assert "rank 1 on" in mpirun(3, program=[script], code=3, mark=tmp_path).sentence
    assert not (tmp_path / "model").exists()


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """4 500 items: five parts of a checkpoint, of which three processes solve one and two thirds each."""
    folder = tmp_path_factory.mktemp("wide")
    rows = [f"u{user},i{(user * 7 + k * k * 31 + (user % 13) * k) % 4500}" for user in range(3000) for k in range(12)]
    (folder / "log.csv").write_text("\n".join(["user,item", *rows]) + "\n")
    run("prepare", folder / "log.csv", "--split", "none", "--out", folder / "data")
    return folder / "data"


WIDE = ["--model", "ease", "--lambda", 2, "--neighbours", 100]


def test_finished_parts_of_killed_training_are_kept(wide, tmp_path):
    """Three begin and one of them is killed, two go on and are asked to stop, one without a launcher ends it."""
    slow = [*WIDE[:-1], 250]
    run("train", wide, *slow, "--out", tmp_path / "whole")
    folder = tmp_path / "parts"
    arguments = ["train", wide, *slow, "--threads", 1, "--out", tmp_path / "model", "--checkpoint", folder]

    def parts():
        return len(list(folder.glob("columns-*.part"))) if folder.exists() else 0

    def interrupted(size, number):
        """Whether the signal came before the end."""
        before = parts()
        process = begin(size, *arguments)
        pid = None
        while process.poll() is None and (pid is None or parts() == before):
            pid = pid or process_of(1, tmp_path)
            time.sleep(0.005)
        with contextlib.suppress(ProcessLookupError, TypeError):
            os.kill(pid, number)
        error = process.communicate(timeout=HANG)[1]
        assert none_left(tmp_path)
        if (tmp_path / "model").exists():
            return False
        assert process.returncode != 0
        if number == signal.SIGTERM:
            assert process.returncode == 130 and len(sentences(error)) == 1 and "interrupted" in error
        return True

    for _ in range(10):
        if interrupted(3, signal.SIGKILL) and interrupted(2, signal.SIGTERM):
            break
        (tmp_path / "model").unlink()
        shutil.rmtree(folder, ignore_errors=True)
    assert parts() > 0, "every training was done before it could be interrupted"
    result = run(*arguments)
    assert "columns were in" in result.err and not folder.exists()
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


def test_what_is_in_a_checkpoint_is_not_solved_again(wide, tmp_path):
    """A full disk of the first process: all parts fit, and the model does not. Any of them may then be missing, or damaged."""
    run("train", wide, *WIDE, "--out", tmp_path / "whole")
    folder = tmp_path / "parts"
    arguments = ["train", wide, *WIDE, "--out", tmp_path / "model", "--checkpoint", folder]
    (tmp_path / "limited.sh").write_text(f'#!/bin/sh\nulimit -f 2000\nexec {PROGRAM} "$@"\n')
    (tmp_path / "limited.sh").chmod(0o755)
    script = on_one_rank(tmp_path, 0, f'{tmp_path}/limited.sh "$@"', f'{PROGRAM} "$@"')
    mpirun(3, *arguments, program=[script], code=4, mark=tmp_path, OMPI_MCA_btl="self,tcp")
    names = [f"columns-{1024 * k:010}.part" for k in range(5)]
    assert sorted(path.name for path in folder.iterdir()) == names and not (tmp_path / "model").exists()
    assert "another model" in mpirun(2, *arguments, "--zero-diagonal", "--alpha", 2, code=2, mark=tmp_path).sentence
    (folder / names[1]).unlink()
    damaged = bytearray((folder / names[3]).read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (folder / names[3]).write_bytes(damaged)
    assert "2 452 columns were in" in mpirun(2, *arguments, mark=tmp_path).err
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes() and not folder.exists()
