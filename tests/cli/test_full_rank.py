"""Training and using full-rank models from the command line."""
import pytest


@pytest.fixture
def ease(poise, data, tmp_path):
    poise("train", data, "--model", "full-rank", "--zero-diagonal", "--lambda", 5, "--out", tmp_path / "ease")
    return tmp_path / "ease"


def test_explanations_add_up(poise, ease):
    result = poise("recommend", ease, "--items", "i1,i2,i3", "--explain", "--json").json["recommendations"]
    assert result
    for row in result:
        assert {because["item"] for because in row["because"]} == {"i1", "i2", "i3"}
        parts = [because["contribution"] for because in row["because"]]
        assert parts == sorted(parts, reverse=True)
        assert sum(parts) == pytest.approx(row["score"], rel=1e-5, abs=1e-7)


def test_similar(poise, ease):
    result = poise("similar", ease, "--item", "i1", "-k", 4, "--json").json
    assert result["item"] == "i1" and len(result["similar"]) == 4
    assert "i1" not in [row["item"] for row in result["similar"]]
    poise("similar", ease, "--item", "nonsense", code=3)


def test_same_bytes_for_any_thread_count(poise, tmp_path):
    poise("synth", "--like", "demo", "--out", tmp_path / "data")
    for route in (["--alpha", 1], ["--alpha", 2], ["--alpha", 2, "--memory-limit", "64M"]):
        seen = set()
        for threads in (1, 2):
            poise("train", tmp_path / "data", "--model", "full-rank", "--lambda", 20, *route, "--out", tmp_path / "model",
                  "--threads", threads)
            seen.add((tmp_path / "model").read_bytes())
        assert len(seen) == 1


def test_keep_top(poise, tmp_path, data):
    result = poise("train", data, "--model", "full-rank", "--lambda", 5, "--keep-top", 4, "--out", tmp_path / "sparse", "--json").json
    assert result["kept"]["entries"] <= 4 * poise("info", data, "--json").json["items"]
    assert set(result["kept"]["validation"]["ndcg@100"]) == {"all", "kept"}
    whole = poise("train", data, "--model", "full-rank", "--lambda", 5, "--out", tmp_path / "whole", "--json").json
    assert whole["objective"] < result["objective"] < whole["observed_weight"]
    difference = result["objective"] - whole["objective"]
    assert result["certificate"]["absolute"] == pytest.approx(difference + whole["certificate"]["absolute"], rel=1e-9)
    assert result["certificate"]["worst_column"] is None
    assert poise("evaluate", tmp_path / "sparse", data, "--json").json["users"] > 0


def test_too_large_for_the_memory_limit(poise, tmp_path):
    poise("synth", "--like", "ml-20m", "--scale", "0.01", "--out", tmp_path / "data")
    error = poise("train", tmp_path / "data", "--model", "full-rank", "--out", tmp_path / "model", "--memory-limit", "200M", code=4).err
    assert "would fit" in error
    assert not (tmp_path / "model").exists()


def test_without_an_exponent_nothing_changes(poise, tmp_path, data):
    for flags in (["--zero-diagonal"], ["--alpha", 3], ["--dropout", 0.2, "--weighting", "item-oriented", "--alpha", 2],
                  ["--keep-top", 4]):
        plain = poise("train", data, "--model", "full-rank", "--lambda", 5, *flags, "--out", tmp_path / "plain", "--json").json
        poise("train", data, "--model", "full-rank", "--lambda", 5, *flags, "--lambda-exponent", 0, "--out", tmp_path / "zero")
        assert plain["lambda_exponent"] == 0
        assert (tmp_path / "plain").read_bytes() == (tmp_path / "zero").read_bytes(), flags
        # As files from before there was an exponent, a plain model's has none.
        assert "lambda-exponent" not in poise("info", tmp_path / "plain", "--json").json["options"]


def test_the_exponent_is_kept(poise, tmp_path, data):
    flags = ["--model", "full-rank", "--lambda", 5, "--alpha", 2]
    trained = poise("train", data, *flags, "--lambda-exponent", 0.5, "--out", tmp_path / "half", "--json").json
    plain = poise("train", data, *flags, "--out", tmp_path / "plain", "--json").json
    assert trained["lambda_exponent"] == 0.5 and trained["converged"]
    assert trained["objective"] != pytest.approx(plain["objective"], rel=1e-6)
    info = poise("info", tmp_path / "half", "--json").json
    assert info["options"]["lambda-exponent"] == "0.5" and info["report"]["lambda_exponent"] == 0.5
    assert "--lambda-exponent 0.5" in poise("info", tmp_path / "half").out
    (tmp_path / "options.toml").write_text("lambda-exponent = 0.5\n")
    poise("train", data, *flags, "--config", tmp_path / "options.toml", "--out", tmp_path / "config")
    assert (tmp_path / "config").read_bytes() == (tmp_path / "half").read_bytes()
    sparse = poise("train", data, *flags, "--lambda-exponent", 0.5, "--keep-top", 4, "--out", tmp_path / "sparse", "--json").json
    checked = poise("certify", tmp_path / "sparse", data, "--json").json
    assert checked["objective"] == pytest.approx(sparse["objective"], rel=1e-9) and sparse["objective"] > trained["objective"]


@pytest.mark.parametrize("flags", [
    ["--lambda", 0], ["--lambda", -1], ["--dropout", 1], ["--alpha", 0], ["--weighting", "none", "--alpha", 2],
    ["--tolerance", 0], ["--keep-top", 0], ["--weighting", "guess"], ["--lambda-exponent", "nan"], ["--lambda-exponent", "inf"],
    ["--lambda-exponent", 1000], ["--lambda-exponent", -5], ["--lambda-exponent", "half"],
])
def test_bad_flags(poise, tmp_path, data, flags):
    poise("train", data, "--model", "full-rank", *flags, "--out", tmp_path / "model", code=2)


def test_popularity_takes_no_lambda(poise, tmp_path, data):
    poise("train", data, "--model", "popularity", "--lambda", 3, "--out", tmp_path / "model", code=2)
