"""poise certify: what is proven of a saved full-rank model, from the data alone."""
import json
import subprocess

import pytest

from conftest import PROGRAM

MODELS = {
    "ease": ("--zero-diagonal", "--lambda", 20),
    "unconstrained": ("--lambda", 5),
    "weighted": ("--lambda", 10, "--alpha", 4),
    "weighted, zero diagonal": ("--lambda", 10, "--alpha", 0.5, "--zero-diagonal"),
    "item-oriented, dropout": ("--lambda", 3, "--weighting", "item-oriented", "--alpha", 3, "--dropout", 0.2),
    "lambda by popularity": ("--lambda", 10, "--lambda-exponent", 0.5, "--zero-diagonal"),
    "lambda by rarity, weighted, dropout": ("--lambda", 10, "--lambda-exponent", -0.5, "--alpha", 3, "--dropout", 0.2),
    "weak": ("--lambda", 1e-4, "--zero-diagonal"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_trained_model_is_certified_as_training_did(poise, data, tmp_path, name):
    trained = poise("train", data, "--model", "full-rank", *MODELS[name], "--out", tmp_path / "m", "--json").json
    checked = poise("certify", tmp_path / "m", data, "--json").json
    assert trained["converged"] and checked["converged"] and checked["missing_columns"] == 0
    assert set(checked["certificate"]) == {"absolute", "relative", "worst_column", "sampled", "verified_columns", "probability"}
    assert checked["certificate"]["probability"] >= 0.999999999
    assert not checked["certificate"]["sampled"]
    assert checked["certificate"]["worst_column"] <= 1e-6
    assert checked["objective"] == pytest.approx(trained["objective"], rel=1e-9)
    assert checked["observed_weight"] == pytest.approx(trained["observed_weight"])
    assert checked["objective_error"] == 0, "small data are measured whole"


def test_what_it_says(poise, data, tmp_path):
    train = poise("train", data, "--model", "ease", "--out", tmp_path / "m").out
    certify = poise("certify", tmp_path / "m", data).out
    for text in (train, certify):
        assert "proven to be above its minimum by at most" in text and "of the explained weight" in text
        assert "but for a chance of 1e-09" in text
    assert "every column is within it" in certify


def test_only_the_largest_entries(poise, data, tmp_path):
    trained = poise("train", data, "--model", "ease", "--keep-top", 3, "--out", tmp_path / "m", "--json").json
    checked = poise("certify", tmp_path / "m", data, "--json").json
    assert not checked["converged"] and checked["missing_columns"] > 0
    assert checked["objective"] == pytest.approx(trained["objective"], rel=1e-9)
    # training knows the excess from two objectives; probes bound it from above
    assert checked["certificate"]["absolute"] >= 0.999 * trained["certificate"]["absolute"]
    assert checked["certificate"]["absolute"] <= 6 * trained["certificate"]["absolute"]


def test_what_cannot_be_certified(poise, data, tmp_path):
    poise("train", data, "--model", "wmf", "--rank", 2, "--out", tmp_path / "wmf")
    assert "only full-rank models" in poise("certify", tmp_path / "wmf", data, code=3).err
    poise("train", data, "--model", "ease", "--out", tmp_path / "m")
    poise("synth", "--like", "demo", "--scale", 0.2, "--seed", 9, "--out", tmp_path / "other")
    assert "trained on other data" in poise("certify", tmp_path / "m", tmp_path / "other", code=3).err


@pytest.mark.parametrize("flags, code, word", [
    (("--lambda", "1e300"), 2, "--lambda"),
    (("--lambda", "1e-300"), 2, "--lambda"),
    (("--alpha", "1e30"), 5, "--alpha"),
])
def test_extremes_end_with_a_sentence(poise, data, tmp_path, flags, code, word):
    failed = poise("train", data, "--model", "full-rank", *flags, "--out", tmp_path / "m", code=code)
    assert word in failed.err and "raise --lambda" not in failed.err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("diagonal", [(), ("--zero-diagonal",)])
@pytest.mark.parametrize("values", [("1e30", "1", "1e-30"), ("1e30", "1e28"), ("1e-30", "2e-30"), ("1e-30", "1")])
def test_values_beyond_reason_end_with_a_sentence(poise, tmp_path, values, diagonal):
    """A figure is honest or not given: weights that float32 or float64 cannot tell apart are refused."""
    rows = [f"u{u},i{(7 * u + 3 * k) % 20},{values[(u + k) % len(values)]}" for u in range(90) for k in range(5)]
    (tmp_path / "log.csv").write_text("user,item,value\n" + "\n".join(rows) + "\n")
    poise("prepare", tmp_path / "log.csv", "--out", tmp_path / "data")
    failed = poise("train", tmp_path / "data", "--model", "full-rank", *diagonal, "--weighting", "column",
                   "--out", tmp_path / "m", code=5)
    assert "weight" in failed.err and "--alpha" in failed.err
    assert not (tmp_path / "m").exists()


def test_what_misses_the_tolerance_is_told_with_its_figures(poise, data, tmp_path):
    """Both the result on stdout and exit code 5: a script can take either."""
    trained = poise("train", data, "--model", "ease", "--alpha", 1e8, "--lambda", 10, "--tolerance", 1e-15,
                    "--out", tmp_path / "m", "--json").json
    assert not trained["converged"] and trained["certificate"]["relative"] > 0
    process = subprocess.run([PROGRAM, "certify", tmp_path / "m", data, "--json"], capture_output=True, text=True)
    checked = json.loads(process.stdout)
    assert process.returncode == 5 and not checked["converged"] and checked["missing_columns"] > 0
    assert process.stderr.strip().split("\n")[-1].startswith("poise: ")
    assert checked["objective"] == pytest.approx(trained["objective"], rel=1e-6)
