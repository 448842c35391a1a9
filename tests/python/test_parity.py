"""The same numbers, and the same bytes, as the program's."""
import json

import numpy as np
import pytest
from conftest import read_tensors, reference_data, run_program

import poise


def shared(*values):
    return pytest.param(*values, marks=pytest.mark.shared_data)


SETS = ["long-tail", "bundle", shared("online-retail"), shared("online-retail-head")]


@pytest.fixture(scope="module")
def prepare(tmp_path_factory):
    """Reference data, prepared by the program: its source and the folder."""
    made = {}

    def get(name):
        source = reference_data(name)
        if name not in made:
            made[name] = tmp_path_factory.mktemp("parity") / name
            run_program("prepare", source / "pro_sg", "--out", made[name])
        return source, made[name]

    return get


CASES = {
    "popularity": (poise.Popularity(), ["--model", "popularity"]),
    "ease": (poise.EASE(regularization=100), ["--model", "full-rank", "--zero-diagonal", "--lambda", "100"]),
    "edlae": (
        poise.EDLAE(regularization=50, dropout=0.3),
        ["--model", "full-rank", "--zero-diagonal", "--lambda", "50", "--dropout", "0.3"],
    ),
    "ease_exponent": (
        poise.EASE(regularization=100, regularization_exponent=0.5),
        ["--model", "full-rank", "--zero-diagonal", "--lambda", "100", "--lambda-exponent", "0.5"],
    ),
    "edlae_exponent": (
        poise.EDLAE(regularization=50, dropout=0.3, regularization_exponent=1, alpha=3),
        ["--model", "edlae", "--lambda", "50", "--dropout", "0.3", "--lambda-exponent", "1", "--alpha", "3"],
    ),
    "full_rank_weighted": (poise.FullRank(regularization=100, alpha=5), ["--model", "full-rank", "--lambda", "100", "--alpha", "5"]),
    "awmf_closed_form": (
        poise.AWMF(factors=32, regularization=20),
        ["--model", "awmf", "--rank", "32", "--lambda", "20"],
    ),
    "awmf_dropout": (
        poise.AWMF(factors=16, regularizer="dropout", regularization=50, alpha=2, iterations=3),
        ["--model", "awmf", "--regularizer", "dropout", "--rank", "16", "--lambda", "50", "--alpha", "2", "--rounds", "3"],
    ),
    "awmf_random": (
        poise.AWMF(factors=8, regularization=5, alpha=2, iterations=2, start="random", random_state=7),
        ["--model", "awmf", "--rank", "8", "--lambda", "5", "--alpha", "2", "--rounds", "2", "--start", "random", "--seed", "7"],
    ),
    "wmf": (
        poise.WMF(factors=16, regularization=0.05, regularization_exponent=1, alpha=10, iterations=5),
        ["--model", "wmf", "--rank", "16", "--lambda", "0.05", "--lambda-exponent", "1", "--alpha", "10", "--rounds", "5"],
    ),
    "wmf_until": (
        poise.WMF(factors=8, regularization=5, alpha=5, least_decrease=1e-3),
        ["--model", "wmf", "--rank", "8", "--lambda", "5", "--alpha", "5", "--least-decrease", "0.001"],
    ),
    "ease_log": (
        poise.EASE(regularization=100, weighting="log", alpha=2, epsilon=0.5),
        ["--model", "full-rank", "--zero-diagonal", "--lambda", "100", "--weighting", "log", "--alpha", "2", "--epsilon", "0.5"],
    ),
    "wmf_linear": (
        poise.WMF(factors=16, regularization=5, weighting="linear", alpha=0.5, iterations=5),
        ["--model", "wmf", "--rank", "16", "--lambda", "5", "--weighting", "linear", "--alpha", "0.5", "--rounds", "5"],
    ),
}


@pytest.mark.filterwarnings("ignore::poise.ConvergenceWarning")
@pytest.mark.parametrize(
    "name, case",
    [("long-tail", case) for case in CASES]
    + [shared("online-retail", case) for case in ("popularity", "ease", "awmf_closed_form")]
    + [shared("online-retail-head", case) for case in CASES],
)
def test_the_same_model(prepare, tmp_path, name, case):
    _, folder = prepare(name)
    model, flags = CASES[case]
    report = run_program("train", folder, *flags, "--out", tmp_path / "program")
    data = poise.Dataset.from_file(folder)

    by_data = model.clone().fit(data, show_progress=False)
    by_data.save(tmp_path / "data")
    assert (tmp_path / "data").read_bytes() == (tmp_path / "program").read_bytes(), "the whole file, for prepared data"
    for key in ("objective", "certificate", "iterations", "rounds", "converged"):
        assert by_data.report_[key] == report[key]

    # A matrix has other item ids, and is no prepared data: the tensors of the model are the same, byte for byte.
    by_matrix = model.clone().fit(data.train, show_progress=False)
    by_matrix.save(tmp_path / "matrix")
    ours, theirs = read_tensors(tmp_path / "matrix"), read_tensors(tmp_path / "program")
    compared = set(ours) - {"checksums", "item_ids", "item_id_offsets"}
    assert compared and compared == set(theirs) - {"checksums", "item_ids", "item_id_offsets"}
    for tensor in compared:
        assert ours[tensor] == theirs[tensor], tensor

    # What it measures.
    expected = run_program("evaluate", tmp_path / "program", folder)
    for measured in (poise.evaluate(by_matrix, data.test), poise.evaluate(poise.load(tmp_path / "program"), data.test)):
        for key in ("users", "users_without_targets", "metrics"):
            assert measured[key] == expected[key]


@pytest.mark.parametrize("name", SETS)
def test_reference_figures(prepare, name):
    """Independent float64 figures of the popularity baseline and of EASE."""
    source, _ = prepare(name)
    reference = json.loads((source / "reference.json").read_text())
    data = poise.Dataset.from_file(source / "pro_sg")
    result = poise.evaluate(poise.Popularity().fit(data, show_progress=False), data.test)
    assert result["users"] == reference["popularity"]["users"]
    for metric in ("recall@20", "recall@50", "ndcg@100"):
        assert result["metrics"][metric]["mean"] == pytest.approx(reference["popularity"][metric], abs=1e-6)
    for entry in reference["full_rank"]:
        if not entry["zero_diagonal"] or entry["alpha"] != 1 or entry["weighting"] != "constant" or entry["dropout"] > 0:
            continue
        exponent = entry.get("lambda_exponent", 0)
        model = poise.EASE(regularization=entry["lambda"], regularization_exponent=exponent).fit(data, show_progress=False)
        assert model.objective_ == pytest.approx(entry["objective"], rel=1e-5)
        measured = poise.evaluate(model, data.test)["metrics"]
        for metric in ("recall@20", "recall@50", "ndcg@100"):
            assert measured[metric]["mean"] == pytest.approx(entry["test"][metric], abs=2e-4 + entry.get("slack", {}).get(metric, 0))


@pytest.mark.parametrize("name", SETS)
def test_prepared_data_are_the_same_bytes(prepare, name, tmp_path):
    source, folder = prepare(name)
    poise.Dataset.from_file(source / "pro_sg").save(tmp_path / "data")
    assert (tmp_path / "data" / "data.poise").read_bytes() == (folder / "data.poise").read_bytes()


@pytest.mark.parametrize("name", SETS)
def test_recommendations_are_the_same(prepare, name, tmp_path):
    _, folder = prepare(name)
    data = poise.Dataset.from_file(folder)
    model = poise.EASE(regularization=100).fit(data, show_progress=False)
    model.save(tmp_path / "model")
    history = data.test.fold_in[3]
    items = data.items[history.indices]
    expected = run_program("recommend", tmp_path / "model", "--items", ",".join(map(str, items)), "-k", "7", "--explain")
    ids, scores = model.recommend(0, history, N=7)
    assert [str(item) for item in data.items[ids]] == [each["item"] for each in expected["recommendations"]]
    assert np.allclose(scores, [each["score"] for each in expected["recommendations"]], rtol=1e-6)
    why = model.explain(0, history, ids[0], N=None)
    because = expected["recommendations"][0]["because"]
    assert [str(data.items[item]) for item, _ in why.contributions] == [each["item"] for each in because]
    similar = run_program("similar", tmp_path / "model", "--item", data.items[5], "-k", "4")
    near, _ = model.similar_items(5, N=4)
    assert [str(item) for item in data.items[near]] == [each["item"] for each in similar["similar"]]


def same_split(tmp_path, log, columns, held_out):
    """A raw log with the program's options, split draw for draw."""
    counts = run_program(
        "prepare", log, "--columns", ",".join(columns), "--keep-above", "0", "--held-out-users", held_out, "--out", tmp_path / "program"
    )
    raw = poise.Dataset.from_file(log, columns=columns, keep_above=0, show_progress=False)
    data = poise.split(raw, held_out_users=held_out)
    data.save(tmp_path / "python")
    assert (tmp_path / "python" / "data.poise").read_bytes() == (tmp_path / "program" / "data.poise").read_bytes()
    assert {key: counts[key] for key in data.counts} == data.counts
    return data


def test_a_raw_log(tmp_path):
    """Ids with letters, quoted texts with commas, lines without a user, returns with negative quantities."""
    random = np.random.RandomState(3)
    rows = ["code,text,quantity,customer"]
    for _ in range(4000):
        item = random.randint(40)
        customer = "" if random.randint(20) == 0 else f"{random.randint(150)}.0"
        rows.append(f'P{item}{"AB"[item % 2]},"{item} pieces, red",{random.randint(-2, 12)},{customer}')
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    data = same_split(tmp_path, tmp_path / "log.csv", ["customer", "code", "quantity"], 20)
    assert data.users[0].endswith(".0") and data.items.dtype == object, "ids are taken as they stand"


@pytest.mark.shared_data
def test_online_retail_as_published(tmp_path):
    log = reference_data("online-retail") / "online_retail.csv.zst"
    data = same_split(tmp_path, log, ["CustomerID", "StockCode", "Quantity"], 400)
    assert data.users[0] == "16723.0" and data.items.dtype == object, "ids are taken as they stand"
