"""Columns of a model with neighbours, shared among processes: the file of one."""
import pytest

from conftest import PROGRAM, SIZES, mpirun, on_one_rank, run

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
    assert "--checkpoint" in mpirun(2, *arguments, "--checkpoint", tmp_path / "parts", code=2, mark=tmp_path).sentence
    assert "--device cuda" in mpirun(2, *arguments, "--device", "cuda", code=2, mark=tmp_path).sentence
    assert mpirun(2, *arguments[:-1], tmp_path / "no" / "folder" / "model", code=4, mark=tmp_path).sentence
    train = f"{PROGRAM} train %s --model ease --lambda 5 --neighbours 7 --out {tmp_path}/model"
    script = on_one_rank(tmp_path, 1, train % "/no/such/data", train % shop)
    assert "rank 1 on" in mpirun(3, program=[script], code=3, mark=tmp_path).sentence
    assert not (tmp_path / "model").exists()
