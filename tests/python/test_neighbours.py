"""neighbours= in Python: the program's models, searches and studies."""
import numpy as np
import pytest
import scipy.sparse
from conftest import run_program
from test_search_study import without_times

import poise


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("neighbours") / "demo"
    run_program("synth", "--like", "demo", "--scale", "0.25", "--out", path)
    return path


def test_fit_is_the_programs(folder, tmp_path):
    expected = run_program(
        "train", folder, "--model", "ease", "--lambda", "20", "--alpha", "2", "--lambda-exponent", "0.5", "--neighbours", "7",
        "--out", tmp_path / "program.model",
    )
    data = poise.Dataset.from_file(folder)
    model = poise.EASE(regularization=20, alpha=2, regularization_exponent=0.5, neighbours=7).fit(data, show_progress=False)
    assert model.certificate_ == expected["certificate"] and model.objective_ == expected["objective"]
    assert model.report_["validation"] == expected["validation"]
    low, high = model.certificate_["explained_share"]
    assert 0 < low <= high <= 1 and model.converged_
    weights = model.weights_
    assert scipy.sparse.issparse(weights) and weights.tocsc().getnnz(axis=0).max() == 7 and weights.diagonal().max() == 0
    model.save(tmp_path / "python.model")
    loaded = poise.load(tmp_path / "python.model")
    assert loaded.neighbours == 7 and loaded.zero_diagonal
    assert run_program("certify", tmp_path / "python.model", folder)["certificate"] == model.certificate_
    history = data.train[:3]
    for ids, other in zip(model.recommend([0, 1, 2], history, N=5), loaded.recommend([0, 1, 2], history, N=5)):
        np.testing.assert_array_equal(ids, other)
    best = int(model.recommend(0, history[0], N=1)[0][0])
    score, because = model.explain(0, history, best)
    assert score == pytest.approx(float(model.predict(history[0])[0, best]), rel=1e-5) and len(because) > 0
    ids, _ = model.similar_items(best, N=4)
    assert len(ids) == 4 and best not in ids


def test_all_neighbours_are_the_dense_model(folder):
    data = poise.Dataset.from_file(folder)
    dense = poise.FullRank(regularization=20, alpha=2).fit(data, show_progress=False)
    every = poise.FullRank(regularization=20, alpha=2, neighbours=10**6).fit(data, show_progress=False)
    # The dense model is solved to its tolerance, this one directly.
    np.testing.assert_allclose(every.weights_.toarray(), dense.weights_, atol=2e-4)


@pytest.mark.parametrize("neighbours", [-1, 1.5, "many"])
def test_what_is_no_number(folder, neighbours):
    with pytest.raises((ValueError, TypeError), match="neighbours"):
        poise.EASE(neighbours=neighbours).fit(poise.Dataset.from_file(folder), show_progress=False)


def test_search(folder, tmp_path):
    expected = run_program(
        "search", folder, "--model", "ease", "--lambda", "10,100", "--alpha", "1", "--no-expand", "--grid", "paper", "--neighbours", "4,12",
        "--journal", tmp_path / "journal",
    )
    found = poise.search(
        poise.Dataset.from_file(folder), poise.EASE(), regularization=[10, 100], alpha=[1], neighbours=[4, 12], expand=False, grid="paper",
        show_progress=False,
    )
    assert without_times(found.results) == without_times(expected)
    assert {point["neighbours"] for point in found.points} == {4, 12}
    assert found.best_model.neighbours == expected["best"]["neighbours"]
    with pytest.raises(ValueError, match="neighbours"):
        poise.search(poise.Dataset.from_file(folder), poise.WMF(), neighbours=[4])


def test_study(folder, tmp_path):
    data = poise.Dataset.from_file(folder)
    found = poise.study({"demo": data}, models="ease", neighbours=[5], points=6, show_progress=False)
    assert {row["neighbours"] for row in found.table} == {0, 5}
    assert "zero diagonal, 5 neighbours" in found.markdown
    for neighbours, models in (([5], "wmf"), ([0], "ease")):
        with pytest.raises(ValueError, match="neighbours"):
            poise.study({"demo": data}, models=models, neighbours=neighbours, show_progress=False)
