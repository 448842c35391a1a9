"""The program on a GPU: the same models as on the processor, and the same bytes every time."""
import json
import os
import random
import shutil
import subprocess

import pytest

from conftest import DATA, HANG, PROGRAM, REFERENCE, reference_data, run

# The rounds of weighted low-rank models end while some directions still move by what decides single hits among 400 users: to
# be compared, they have to arrive.
ARRIVE = ["--least-decrease", 1e-14, "--tolerance", 1e-13, "--rounds", 2000]
MODELS = [
    ["--model", "popularity"],
    ["--model", "full-rank", "--lambda", 100],
    ["--model", "full-rank", "--lambda", 100, "--zero-diagonal"],
    ["--model", "full-rank", "--lambda", 50, "--alpha", 5],
    ["--model", "full-rank", "--lambda", 50, "--alpha", 5, "--zero-diagonal", "--dropout", 0.3],
    ["--model", "full-rank", "--lambda", 100, "--zero-diagonal", "--lambda-exponent", 0.5],
    ["--model", "full-rank", "--lambda", 50, "--alpha", 5, "--lambda-exponent", 1, "--dropout", 0.2],
    ["--model", "full-rank", "--lambda", 100, "--weighting", "log", "--alpha", 2],
    ["--model", "full-rank", "--lambda", 100, "--weighting", "column", "--alpha", 2],
    ["--model", "awmf", "--rank", 20, "--lambda", 10, "--alpha", 5, *ARRIVE],
    ["--model", "awmf", "--rank", 20, "--lambda", 10, "--alpha", 2, "--regularizer", "dropout", *ARRIVE],
    ["--model", "awmf", "--rank", 20, "--lambda", 10, "--alpha", 2, "--regularizer", "data-weight-decay", *ARRIVE],
    ["--model", "awmf", "--rank", 20, "--lambda", 10],
    ["--model", "wmf", "--rank", 20, "--lambda", 5, "--alpha", 10, *ARRIVE],
    ["--model", "wmf", "--rank", 20, "--lambda", 0.1, "--alpha", 10, "--lambda-exponent", 0.5, "--start", "random", *ARRIVE],
]


OWN, SHARED = ("long-tail", "bundle"), ("online-retail", "online-retail-head")


def reference_models(name):
    """The models of a data set's reference.json as flags; none without the data."""
    file = (REFERENCE if name in OWN else DATA) / name / "reference.json"
    if not file.exists():
        return []
    reference = json.loads(file.read_text())
    models = []
    for family in ("full_rank", "awmf", "wmf"):
        for entry in reference[family]:
            flags = ["--model", family.replace("_", "-")]
            for key in ("rank", "lambda", "alpha", "regularizer", "weighting", "dropout", "lambda_exponent"):
                if entry.get(key):
                    flags += ["--" + key.replace("_", "-"), entry[key]]
            if entry.get("zero_diagonal"):
                flags.append("--zero-diagonal")
            models.append(flags + (ARRIVE if family != "full_rank" else []))
    return models


REFERENCE_MODELS = [(name, flags) for name in (*OWN, *SHARED) for flags in reference_models(name)]


@pytest.fixture(scope="module")
def data_of(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")

    def prepared(name):
        if not (folder / name).exists():
            run("prepare", reference_data(name) / "pro_sg", "--out", folder / name)
        return folder / name

    return prepared


def name_of(flags):
    return " ".join(str(flag).lstrip("-") for flag in flags[1:]) if isinstance(flags, list) else flags


def with_values(flags):
    """Which data have what these flags ask for."""
    return "online-retail-head" if "column" in flags else "online-retail"


@pytest.mark.parametrize(("name", "flags"), [(with_values(flags), flags) for flags in MODELS] + REFERENCE_MODELS, ids=name_of)
def test_like_the_processor(tmp_path, data_of, name, flags):
    prepared = data_of(name)
    trained, metrics = {}, {}
    for device in ("cpu", "cuda"):
        model = tmp_path / device
        trained[device] = run("train", prepared, *flags, "--device", device, "--out", model, "--json").json
        assert trained[device]["device"] == device
        for evaluated_on in ("cpu", "cuda"):
            result = run("evaluate", model, prepared, "--device", evaluated_on, "--json").json
            assert result["device"] == evaluated_on
            metrics[device, evaluated_on] = {name: value["mean"] for name, value in result["metrics"].items()}
    for key, values in metrics.items():
        for name, value in values.items():
            assert value == pytest.approx(metrics["cpu", "cpu"][name], abs=1e-4), (key, name)
    if flags[1] != "popularity":
        assert trained["cuda"]["objective"] == pytest.approx(trained["cpu"]["objective"], rel=1e-5)
        assert trained["cuda"]["converged"] == trained["cpu"]["converged"]
    if flags[1] == "full-rank":
        assert trained["cuda"]["certificate"]["worst_column"] <= 1e-6


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun is not installed")
@pytest.mark.parametrize("flags", [flags for flags in MODELS if flags[1] == "full-rank" and "column" not in flags], ids=name_of)
def test_dense_models_of_several_processes(tmp_path, data_of, flags):
    """They share a GPU here, which is named once for each."""
    prepared = data_of("long-tail")
    alone = run("train", prepared, *flags, "--device", "cpu", "--out", tmp_path / "alone", "--json").json
    expected = run("evaluate", tmp_path / "alone", prepared, "--json").json["metrics"]
    launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "3", PROGRAM]
    models = []
    for k in range(2):
        train = [*launch, "train", prepared, *flags, "--device", "cuda", "--out", tmp_path / f"model{k}", "--json"]
        result = subprocess.run([str(each) for each in train], capture_output=True, text=True, timeout=HANG,
                                env={**os.environ, "CUDA_VISIBLE_DEVICES": "0,0,0"})
        assert result.returncode == 0, result.stderr
        trained = json.loads(result.stdout)
        assert trained["device"] == "cuda" and trained["ranks"] == 3 and trained["converged"]
        assert trained["certificate"]["worst_column"] <= 1e-6
        assert trained["objective"] == pytest.approx(alone["objective"], rel=1e-5)
        models.append((tmp_path / f"model{k}").read_bytes())
    assert models[0] == models[1]
    for name, each in run("evaluate", tmp_path / "model0", prepared, "--json").json["metrics"].items():
        assert each["mean"] == pytest.approx(expected[name]["mean"], abs=1e-4), name


@pytest.mark.parametrize("name", ["long-tail", "online-retail"])
@pytest.mark.parametrize("flags", MODELS, ids=name_of)
def test_the_same_bytes_twice(tmp_path, data_of, name, flags):
    prepared = data_of(name if name in OWN else with_values(flags))
    outputs = []
    for k, threads in enumerate((1, 4)):
        model = tmp_path / f"model{k}"
        run("train", prepared, *flags, "--device", "cuda", "--threads", threads, "--out", model)
        run("evaluate", model, prepared, "--device", "cuda", "--threads", threads, "--per-user", tmp_path / f"users{k}.csv")
        outputs.append((model.read_bytes(), (tmp_path / f"users{k}.csv").read_bytes()))
    assert outputs[0][0] == outputs[1][0], "models differ"
    assert outputs[0][1] == outputs[1][1], "evaluations differ"


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """Ratings of users of five tastes, low ones as dislikes; items of the same taste share a feature."""
    folder, draw = tmp_path_factory.mktemp("rated"), random.Random(7)
    rows = ["user,item,rating"]
    for user in range(600):
        for item in draw.sample(range(150), 25):
            own = item % 5 == user % 5 or draw.random() < 0.2
            rows.append(f"u{user},i{item},{draw.choice((4, 5)) if own else draw.choice((1, 2, 3))}")
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n")
    features = [f"i{item},taste {item % 5},{1 + item % 3}" for item in range(160)]
    (folder / "features.csv").write_text("\n".join(["item,feature,value", *features]) + "\n")
    common = ("prepare", folder / "ratings.csv", "--keep-above", 3.5, "--held-out-users", 100)
    run(*common, "--dislike-below", 2.5, "--out", folder / "disliked")
    run(*common, "--item-features", folder / "features.csv", "--out", folder / "features")
    return folder


@pytest.mark.parametrize("flags", [
    ["--model", "full-rank", "--lambda", 20],
    ["--model", "ease", "--lambda", 20, "--alpha", 3],
    ["--model", "awmf", "--rank", 8, "--lambda", 5, *ARRIVE],
    ["--model", "awmf", "--rank", 8, "--lambda", 5, "--alpha", 4, "--regularizer", "dropout", *ARRIVE],
    ["--model", "wmf", "--rank", 8, "--lambda", 5, "--alpha", 10, *ARRIVE],
], ids=name_of)
def test_dislikes_like_the_processor(tmp_path, rated, flags):
    trained = both_devices(tmp_path, rated / "disliked", [*flags, "--alpha-negative", 6])
    assert trained["cpu"]["alpha_negative"] == trained["cuda"]["alpha_negative"] == 6


@pytest.mark.parametrize("flags", [
    ["--model", "full-rank", "--lambda", 20],
    ["--model", "ease", "--lambda", 20],
    ["--model", "ease", "--lambda", 20, "--alpha", 3],
    ["--model", "full-rank", "--lambda", 20, "--weighting", "column", "--alpha", 2],
], ids=name_of)
def test_features_like_the_processor(tmp_path, rated, flags):
    trained = both_devices(tmp_path, rated / "features", [*flags, "--feature-weight", 5])
    assert trained["cuda"]["certificate"]["worst_column"] <= 1e-6
    assert trained["cuda"]["feature_weight"] == 5


def both_devices(folder, data, flags):
    """What training says on either device; the models agree."""
    trained, metrics = {}, {}
    for device in ("cpu", "cuda"):
        trained[device] = run("train", data, *flags, "--device", device, "--out", folder / device, "--json").json
        result = run("evaluate", folder / device, data, "--device", device, "--json").json
        metrics[device] = {name: value["mean"] for name, value in result["metrics"].items()}
    assert trained["cuda"]["objective"] == pytest.approx(trained["cpu"]["objective"], rel=1e-5)
    assert trained["cuda"]["converged"] == trained["cpu"]["converged"]
    assert metrics["cuda"] == pytest.approx(metrics["cpu"], abs=1e-4)
    return trained


def test_search_on_the_gpu(tmp_path, shop):
    results = {}
    for device in ("cpu", "cuda"):
        results[device] = run("search", shop, "--model", "full-rank", "--lambda", "1,10,100", "--alpha", "1,5", "--no-expand",
                              "--device", device, "--journal", tmp_path / f"{device}.journal", "--json").json
        assert results[device]["device"] == device
    assert len(results["cpu"]["points"]) == len(results["cuda"]["points"]) == 6
    for a, b in zip(results["cpu"]["points"], results["cuda"]["points"]):
        assert (a["lambda"], a["alpha"]) == (b["lambda"], b["alpha"])
        assert a["objective"] == pytest.approx(b["objective"], rel=1e-5)
        assert a["validation"]["ndcg@100"]["mean"] == pytest.approx(b["validation"]["ndcg@100"]["mean"], abs=1e-4)
    # The points of one device are not mixed with those of the other.
    refused = run("search", shop, "--model", "full-rank", "--lambda", "1,10,100", "--alpha", "1,5", "--no-expand",
                  "--device", "cpu", "--journal", tmp_path / "cuda.journal", code=3)
    assert "device" in refused.err


def test_recommendations(tmp_path, shop):
    run("train", shop, "--model", "full-rank", "--lambda", 10, "--out", tmp_path / "model")
    lists = [run("recommend", tmp_path / "model", "--items", "i1,i2", "-k", 10, "--format", "json", "--device", device).json
             for device in ("cpu", "cuda")]
    on_cpu, on_gpu = (each["recommendations"] for each in lists)
    assert len(on_cpu) == len(on_gpu) == 10
    for a, b in zip(on_cpu, on_gpu):
        assert a["score"] == pytest.approx(b["score"], abs=1e-5)


def test_doctor_shows_the_gpu():
    cuda = run("doctor", "--json").json["cuda"]
    assert cuda["built"] and cuda["devices"][0]["memory_bytes"] >= cuda["devices"][0]["free_bytes"] > 0
    assert cuda["devices"][0]["name"] in run("doctor").out


def test_little_work_stays_on_the_processor(tmp_path, shop):
    trained = run("train", shop, "--model", "full-rank", "--out", tmp_path / "model", "--json")
    assert trained.json["device"] == "cpu" and "too small" in trained.err
