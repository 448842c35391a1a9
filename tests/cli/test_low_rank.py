"""Training and using low-rank models from the command line."""
import csv

import pytest

AWMF = ["--model", "awmf", "--rank", 4, "--lambda", 3]
WMF = ["--model", "wmf", "--rank", 4, "--lambda", 1]
MODELS = [AWMF, AWMF + ["--regularizer", "dropout"], AWMF[:-1] + [0.5, "--regularizer", "data-weight-decay"], WMF,
          WMF[:-1] + [0.01, "--lambda-exponent", 1]]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("weighting", [[], ["--alpha", 3], ["--weighting", "linear", "--alpha", 1]])
def test_train_and_use(poise, data, tmp_path, model, weighting):
    out = tmp_path / "low"
    trained = poise("train", data, *model, *weighting, "--out", out, "--json").json
    assert trained["model"] == model[1] and trained["rank"] == 4
    assert ("regularizer" in trained) == (model[1] == "awmf")
    assert trained["converged"]
    assert 0 < trained["objective"] < trained["observed_weight"]
    assert set(trained["certificate"]) == {"absolute", "relative", "sampled", "verified_columns", "probability"}
    assert 0 <= trained["certificate"]["relative"] < 1e-4
    assert trained["seconds"]["total"] > 0 and trained["peak_bytes"] > 0
    assert poise("evaluate", out, data, "--json").json["metrics"]["ndcg@100"]["mean"] > 0
    rows = poise("recommend", out, "--items", "i1,i2,i3", "--explain", "--json").json["recommendations"]
    assert rows
    for row in rows:
        assert {because["item"] for because in row["because"]} == {"i1", "i2", "i3"}
        assert sum(because["contribution"] for because in row["because"]) == pytest.approx(row["score"], rel=1e-4, abs=1e-6)
    near = poise("similar", out, "--item", "i1", "-k", 4, "--json").json["similar"]
    assert len(near) == 4 and "i1" not in [row["item"] for row in near]
    info = poise("info", out, "--json").json
    assert info["model"] == model[1] and info["options"]["rank"] == "4"
    assert info["report"]["objective"] == trained["objective"] and "seconds" not in info["report"]


@pytest.mark.parametrize("model", MODELS[:1] + MODELS[3:4])
def test_unweighted_is_closed_form_and_weighted_has_a_trace(poise, data, tmp_path, model):
    assert poise("train", data, *model, "--out", tmp_path / "m", "--json").json["rounds"] == 0
    trained = poise("train", data, *model, "--alpha", 4, "--trace", tmp_path / "trace.csv", "--out", tmp_path / "m", "--json").json
    rows = list(csv.DictReader((tmp_path / "trace.csv").open()))
    assert list(rows[0]) == ["round", "objective", "iterations", "seconds"]
    assert [int(row["round"]) for row in rows] == list(range(len(rows)))
    objectives = [float(row["objective"]) for row in rows]
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in zip(objectives, objectives[1:]))
    assert objectives[-1] == pytest.approx(trained["objective"], rel=1e-5)
    assert trained["rounds"] == len(rows) - 1 > 0
    limited = poise("train", data, *model, "--alpha", 4, "--rounds", 1, "--out", tmp_path / "m", "--json").json
    assert limited["rounds"] <= 1


@pytest.mark.parametrize("regularizer", ["weight-decay", "dropout"])
@pytest.mark.parametrize("penalty", [30, 100])
def test_the_trace_ends_where_the_model_is(poise, data, tmp_path, regularizer, penalty):
    trained = poise("train", data, "--model", "awmf", "--regularizer", regularizer, "--rank", 4, "--lambda", penalty, "--alpha", 2,
                    "--trace", tmp_path / "trace.csv", "--out", tmp_path / "m", "--threads", 1, "--json").json
    *_, last = csv.DictReader((tmp_path / "trace.csv").open())
    assert float(last["objective"]) == pytest.approx(trained["objective"], rel=1e-6)
    assert trained["certificate"]["relative"] < 1e-5


def test_rounds_go_on_until_there_is_nothing_to_gain(poise, shop, tmp_path):
    for rank in (2, 4):
        trained = poise("train", shop, "--model", "awmf", "--regularizer", "data-weight-decay", "--rank", rank, "--lambda", 100,
                        "--alpha", 5, "--out", tmp_path / "m", "--threads", 1, "--json").json
        assert trained["converged"] and trained["rounds"] < 100


@pytest.mark.parametrize("model", MODELS[:1] + MODELS[3:4])
def test_random_start_depends_on_the_seed_alone(poise, data, tmp_path, model):
    def train(seed):
        poise("train", data, *model, "--alpha", 2, "--start", "random", "--rounds", 2, "--seed", seed, "--out", tmp_path / "m")
        return (tmp_path / "m").read_bytes()
    assert train(1) == train(1) != train(2)
    if "wmf" in model:  # asymmetric models precondition with eigenpairs
        assert not list(data.glob("spectrum-*")), "a random start needs no eigenpairs"


@pytest.mark.parametrize("model", MODELS[:4])
def test_random_start_reaches_the_closed_form(poise, data, tmp_path, model):
    closed = poise("train", data, *model, "--out", tmp_path / "m", "--json").json
    random = poise("train", data, *model, "--start", "random", "--rounds", 300, "--out", tmp_path / "m", "--json").json
    assert closed["rounds"] == 0 < random["rounds"]
    assert random["objective"] == pytest.approx(closed["objective"], rel=1e-4)


def test_same_bytes_for_any_thread_count_and_cache(poise, tmp_path):
    data = tmp_path / "data"
    poise("synth", "--like", "demo", "--scale", 0.1, "--out", data)
    for model in MODELS:
        for alpha in (1, 3):
            seen = set()
            for threads in (1, 2):
                for cache in data.glob("spectrum-*"):
                    cache.unlink()
                for _ in ("computed", "cached"):
                    poise("train", data, *model, "--alpha", alpha, "--rounds", 3, "--out", tmp_path / "m", "--threads", threads)
                    seen.add((tmp_path / "m").read_bytes())
            assert len(seen) == 1, (model, alpha)
    assert len(list(data.glob("spectrum-*"))) == 1


def test_a_damaged_cache_is_no_error(poise, data, tmp_path):
    poise("train", data, *AWMF, "--out", tmp_path / "first")
    (cache,) = data.glob("spectrum-*")
    cache.write_bytes(b"x")
    poise("train", data, *AWMF, "--out", tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert cache.stat().st_size > 1


def test_rank_above_the_number_of_items(poise, data, tmp_path):
    for model in ("awmf", "wmf"):
        for alpha in (1, 2):
            trained = poise("train", data, "--model", model, "--rank", 60, "--lambda", 1, "--alpha", alpha, "--out",
                            tmp_path / "m", "--json").json
            assert trained["rank"] == 60 and trained["live_directions"] <= 25
            assert poise("evaluate", tmp_path / "m", data, "--json").json["users"] > 0


def test_lambda_that_leaves_little_is_said(poise, data, tmp_path):
    result = poise("train", data, "--model", "wmf", "--rank", 60, "--lambda", 8, "--out", tmp_path / "m", "--json")
    alive = result.json["live_directions"]
    assert 0 < alive < 6 and f"leaves {alive} of 60 directions alive" in result.err
    assert "alive" not in poise("train", data, "--model", "wmf", "--rank", 4, "--lambda", 1, "--out", tmp_path / "m").err


def test_lambda_that_leaves_nothing(poise, data, tmp_path):
    for model in ("awmf", "wmf"):
        for alpha in (1, 2):
            result = poise("train", data, "--model", model, "--rank", 4, "--lambda", 1e9, "--alpha", alpha, "--out",
                           tmp_path / "m", "--json")
            trained = result.json
            assert "every score is 0" in result.err and "raise --rounds" not in result.err
            assert trained["converged"] and trained["live_directions"] == 0
            assert trained["objective"] == pytest.approx(trained["observed_weight"])
            rows = poise("recommend", tmp_path / "m", "--items", "i1", "--json").json["recommendations"]
            assert all(row["score"] == 0 for row in rows)
            assert poise("evaluate", tmp_path / "m", data, "--json").json["users"] > 0


@pytest.mark.parametrize("flags", [
    ["--model", "awmf", "--rank", 0], ["--model", "awmf", "--lambda", -1], ["--model", "awmf", "--regularizer", "ridge"],
    ["--model", "awmf", "--least-decrease", -1], ["--model", "wmf", "--least-decrease", -1],
    ["--model", "awmf", "--rounds", -1], ["--model", "awmf", "--tolerance", 0], ["--model", "awmf", "--start", "zero"],
    ["--model", "awmf", "--zero-diagonal"], ["--model", "awmf", "--dropout", 0.1], ["--model", "awmf", "--keep-top", 5],
    ["--model", "awmf", "--lambda-exponent", 1], ["--model", "awmf", "--weighting", "none", "--alpha", 2],
    ["--model", "wmf", "--regularizer", "dropout"], ["--model", "wmf", "--lambda", "nan"], ["--model", "wmf", "--zero-diagonal"],
    ["--model", "full-rank", "--rank", 5], ["--model", "full-rank", "--trace", "x.csv"], ["--model", "full-rank", "--rounds", 5],
    ["--model", "popularity", "--rank", 5], ["--model", "popularity", "--regularizer", "dropout"],
])
def test_flags_that_do_not_go_together(poise, data, tmp_path, flags):
    poise("train", data, *flags, "--out", tmp_path / "m", code=2)
    assert not (tmp_path / "m").exists()


def test_too_large_for_the_memory_limit(poise, tmp_path):
    poise("synth", "--like", "ml-20m", "--scale", 0.01, "--out", tmp_path / "data")
    for model in ("awmf", "wmf"):
        error = poise("train", tmp_path / "data", "--model", model, "--rank", 500, "--out", tmp_path / "m", "--memory-limit", "250M",
                      code=4).err
        assert "would fit" in error
    assert not (tmp_path / "m").exists()


def test_export_to_numpy(poise, data, tmp_path):
    numpy = pytest.importorskip("numpy")
    for model in (AWMF, WMF):
        poise("train", data, *model, "--out", tmp_path / "m")
        result = poise("export", tmp_path / "m", "--item-factors", tmp_path / "v.npy", "--item-ids", tmp_path / "ids.txt", "--json").json
        factors = numpy.load(tmp_path / "v.npy")
        assert factors.dtype == numpy.float32 and factors.flags.c_contiguous
        assert factors.shape == (result["items"], result["rank"]) == (25, 4)
        ids = (tmp_path / "ids.txt").read_text().splitlines()
        assert len(ids) == 25 and len(set(ids)) == 25
    # The nearest by cosine is what `similar` says of matrix factorization.
    norms = numpy.maximum(numpy.linalg.norm(factors, axis=1, keepdims=True), 1e-30)
    cosine = (factors / norms) @ (factors / norms).T
    item = ids.index("i1")
    cosine[item, item] = -2
    nearest = poise("similar", tmp_path / "m", "--item", "i1", "-k", 1, "--json").json["similar"][0]
    assert nearest["item"] == ids[int(cosine[item].argmax())]


def test_export_of_models_without_factors(poise, data, model, tmp_path):
    poise("export", model, "--item-factors", tmp_path / "v.npy", code=2)
    poise("train", data, "--model", "full-rank", "--out", tmp_path / "full")
    assert "item factors" in poise("export", tmp_path / "full", "--item-factors", tmp_path / "v.npy", code=2).err
    poise("export", data / "missing", "--item-factors", tmp_path / "v.npy", code=3)
    assert not (tmp_path / "v.npy").exists()
