"""Slips in names are answered with the name that was meant."""
import pytest


def test_a_slip_in_a_required_flag_is_named(poise, data, tmp_path):
    error = poise("train", data, "--modle", "wmf", "--out", tmp_path / "m", code=2).err
    assert "there is no --modle" in error and "did you mean '--model'?" in error


@pytest.mark.parametrize("arguments, meant", [
    (("trian",), "train"),
    (("help", "reccomend"), "recommend"),
    (("--hlep",), "--help"),
    (("doctor", "--thread", "2"), "--threads"),
    (("doctor", "--thread=2"), "--threads"),
    (("train", "x", "--model", "wmf", "--out", "y", "--lamda", "3"), "--lambda"),
    (("train", "x", "--model", "wmf", "--out", "y", "-lambda", "3"), "--lambda"),
    (("recommend", "x", "--itmes", "a"), "--items"),
    (("train", "x", "--model", "full_rank", "--out", "y"), "full-rank"),
    (("train", "x", "--model", "eaze", "--out", "y"), "ease"),
    (("train", "x", "--model", "wmf", "--out", "y", "--weighting", "lineer"), "linear"),
    (("train", "x", "--model", "awmf", "--out", "y", "--regularizer", "droput"), "dropout"),
    (("prepare", "x", "--out", "y", "--format", "movie-lens"), "movielens"),
    (("prepare", "x", "--out", "y", "--split", "user"), "users"),
    (("evaluate", "x", "y", "--on", "tset"), "test"),
    (("evaluate", "x", "y", "--metrics", "recall@20,ndgc@100"), "ndcg"),
    (("search", "x", "--model", "wmf", "--weighting", "constant,lgo"), "log"),
    (("search", "x", "--model", "wmf", "--metric", "recal@5"), "recall"),
    (("study", "x", "--out", "y", "--models", "ease,edlea"), "edlae"),
    (("study", "x", "--out", "y", "--compare-paper", "ml20m"), "ml-20m"),
    (("doctor", "--device", "cdua"), "cuda"),
])
def test_did_you_mean(poise, arguments, meant):
    error = poise(*arguments, code=2).err
    assert f"did you mean '{meant}'?" in error and error.count("\n") == 1


def test_no_wild_guesses(poise, tmp_path):
    for arguments in (("frobnicate",), ("doctor", "--frobnicate"), ("doctor", "--device", "abacus")):
        assert "did you mean" not in poise(*arguments, code=2).err
    (tmp_path / "typo.toml").write_text("thraeds = 2\n")
    assert "did you mean 'threads'?" in poise("doctor", "--config", tmp_path / "typo.toml", code=2).err
