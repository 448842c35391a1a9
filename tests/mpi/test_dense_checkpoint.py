"""What a dense full-rank model's training has finished is kept: the next run, by any number of processes, goes on from there."""
import os
import shutil
import signal

import numpy
import pytest

from conftest import HANG, PROGRAM, mpirun, none_left, on_one_rank, run
from test_dense import WEIGHTED, check, matrix, metrics, prepared, shop  # noqa: F401
from test_faults import begin, process_of, sentences, wait_for

MODELS = {"closed": ["--model", "full-rank", "--lambda", 20], "zero diagonal": ["--model", "ease", "--lambda", 20],
          "weighted": ["--model", "full-rank", *WEIGHTED], "weighted zero diagonal": ["--model", "ease", *WEIGHTED]}
# Every column takes many iterations.
SLOW = ["--model", "ease", "--lambda", 1, "--alpha", 300, "--tolerance", 1e-9]


def trained(size, *arguments, **more):
    return run(*arguments, **more) if size == 1 else mpirun(size, *arguments, **more)


def stopped_by_a_full_disk(size, folder, limit, *arguments):
    """No file of the first process may be longer than this: the parts fit, the model does not."""
    (folder / "limited.sh").write_text(f'#!/bin/sh\nulimit -f {limit}\nexec {PROGRAM} "$@"\n')
    (folder / "limited.sh").chmod(0o755)
    script = on_one_rank(folder, 0, f'{folder}/limited.sh "$@"', f'{PROGRAM} "$@"') if size > 1 else folder / "limited.sh"
    # Shared memory is a file too.
    return mpirun(size, *arguments, program=[script], code=4, mark=folder, OMPI_MCA_btl="self,tcp")


@pytest.mark.parametrize("model", MODELS)
def test_the_model_of_a_run_that_nothing_interrupted(shop, tmp_path, model):  # noqa: F811
    """Everything is finished but the file: the next run reads the inverse and all columns."""
    arguments = ["train", shop, *MODELS[model], "--json", "--out", tmp_path / "model", "--checkpoint"]
    whole = {}
    for size in (1, 3):
        result = trained(size, *arguments, tmp_path / "unused").json
        assert not (tmp_path / "unused").exists()
        whole[size] = (result, (tmp_path / "model").read_bytes())
        (tmp_path / "model").rename(tmp_path / f"whole{size}")
    limit = (len(whole[1][1]) - 1) // 512
    expected = metrics(tmp_path / "whole1", shop)
    for size, others in ((1, (1, 2)), (3, (3, 1, 2))):
        kept = tmp_path / f"kept{size}"
        stopped_by_a_full_disk(size, tmp_path, limit, *arguments, kept)
        assert not (tmp_path / "model").exists()
        names = {path.name.split("-")[0] for path in kept.iterdir()}
        assert names == ({"inverse32", "columns32"} if "weighted" in model else {"inverse32"})
        for other in others if "zero" in model else others[:1]:
            copy = shutil.copytree(kept, tmp_path / f"kept{size}-{other}")
            result = trained(other, *arguments, copy)
            assert "were in" in result.err and not copy.exists()
            assert result.json["certificate"]["worst_column"] <= 1e-6
            if other == size:
                assert (tmp_path / "model").read_bytes() == whole[size][1]
                for key in ("certificate", "iterations", "condition", "iterated_columns", "direct_columns"):
                    assert result.json.get(key) == whole[size][0].get(key), key
            else:
                assert numpy.abs(matrix(tmp_path / "model") - matrix(tmp_path / "whole1")).max() <= 2e-3
                for name, mean in metrics(tmp_path / "model", shop).items():
                    assert abs(mean - expected[name]) <= 1e-6
            (tmp_path / "model").unlink()


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """Several blocks of columns for each of two processes."""
    return prepared(tmp_path_factory.mktemp("larger"), 900, 1280)


@pytest.mark.parametrize("size, others", [(1, ()), (2, (1, 3))])
def test_finished_blocks_of_killed_training_are_kept(larger, tmp_path, size, others):
    """One of the processes is killed, then one asked to stop; as many go on to the bytes of an undisturbed run, others to the promise."""
    arguments = ["train", larger, *SLOW, "--json", "--memory-limit", "2G", "--threads", 1, "--out"]
    whole = mpirun(size, *arguments, tmp_path / "whole", mark=tmp_path).json
    folder = tmp_path / "parts"
    arguments += [tmp_path / "model", "--checkpoint", folder]

    def columns():
        return len(list(folder.glob("columns32-*.part"))) if folder.exists() else 0

    def begun():
        """A run, and its last process, which is looked for first: blocks are solved in less time."""
        process = begin(size, *arguments)
        wait_for(lambda: process_of(size - 1, tmp_path), process)
        return process, process_of(size - 1, tmp_path)

    process, last = begun()
    wait_for(columns, process)
    os.kill(last, signal.SIGKILL)
    process.communicate(timeout=HANG)
    assert process.returncode != 0 and none_left(tmp_path) and not (tmp_path / "model").exists()
    before = columns()
    process, last = begun()
    wait_for(lambda: columns() > before, process)
    os.kill(last, signal.SIGTERM)
    error = process.communicate(timeout=HANG)[1]
    assert process.returncode == 130, error
    assert len(sentences(error)) == 1 and "interrupted" in sentences(error)[0]
    assert none_left(tmp_path) and not (tmp_path / "model").exists()

    expected = metrics(tmp_path / "whole", larger)
    for other in (*others, size):
        kept = shutil.copytree(folder, tmp_path / f"parts{other}")
        result = trained(other, *arguments[:-1], kept)
        assert "columns were in" in result.err and not kept.exists()
        assert result.json["certificate"]["worst_column"] <= 1e-6
        assert result.json["iterations"] == whole["iterations"] or other != size
        for name, mean in metrics(tmp_path / "model", larger).items():
            assert abs(mean - expected[name]) <= 1e-6
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


def test_in_float64(tmp_path):
    """The inverse is kept where float32 was not enough, and is not tried in float32 again."""
    data = prepared(tmp_path, 60, 150)
    arguments = ["train", data, "--json", "--model", "full-rank", "--lambda", 1e-4, "--alpha", 3, "--out", tmp_path / "model"]
    for size in (1, 2):
        trained(size, *arguments)
        whole = (tmp_path / "model").read_bytes()
        parts = tmp_path / f"parts{size}"
        blocking = parts / "columns64-0000000000.part"
        blocking.mkdir(parents=True)
        assert "columns64" in trained(size, *arguments, "--checkpoint", parts, code=3).err
        assert {path.name.split("-")[0] for path in parts.iterdir()} == {"inverse64", "columns64"}
        blocking.rmdir()
        result = trained(size, *arguments, "--checkpoint", parts)
        assert "the inverse" in result.err and result.json["precision"] == "float64"
        assert (tmp_path / "model").read_bytes() == whole


def test_what_is_damaged_or_of_another_model_is_refused(shop, tmp_path):  # noqa: F811
    arguments = ["train", shop, *MODELS["weighted"], "--out", tmp_path / "model"]
    run(*arguments)
    limit = ((tmp_path / "model").stat().st_size - 1) // 512
    (tmp_path / "model").unlink()
    parts = tmp_path / "parts"
    stopped_by_a_full_disk(2, tmp_path, limit, *arguments, "--checkpoint", parts)
    for size in (1, 2):
        assert "another model" in trained(size, *arguments, "--lambda-exponent", 0.5, "--checkpoint", parts, code=2).err
        for k, part in enumerate(sorted(parts.glob("*.part"))):
            whole = part.read_bytes()
            damages = [whole[:-1], whole[:len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1:], b""]
            for damaged in damages if size == 1 else [damages[k % len(damages)]]:
                part.write_bytes(damaged)
                err = trained(size, *arguments, "--checkpoint", parts, code=3).err
                assert part.name in err and "remove it" in err
            part.write_bytes(whole)
    # What is missing is computed again.
    next(parts.glob("inverse32-*")).unlink()
    mpirun(2, *arguments, "--checkpoint", parts, mark=tmp_path)
    assert not parts.exists()


def test_a_folder_that_cannot_be_made(shop, tmp_path):  # noqa: F811
    (tmp_path / "file").write_text("")
    for size in (1, 3):
        arguments = ["train", shop, *MODELS["closed"], "--out", tmp_path / "model", "--checkpoint", tmp_path / "file" / "parts"]
        assert "parts" in trained(size, *arguments, code=4).err
    assert not (tmp_path / "model").exists()
