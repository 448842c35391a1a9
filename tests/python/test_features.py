"""Features of items: from files and matrices to models that know items which nobody has."""
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import poise

KINDS = 4
ITEMS = 40


def interactions():
    """Users of one kind of items; the last four items have a kind, but no user."""
    draw = np.random.default_rng(3)
    rows = np.repeat(np.arange(120), 8)
    taste = np.repeat(np.arange(120) % KINDS, 8)
    items = (draw.integers(0, ITEMS // KINDS - 1, rows.size) * KINDS + np.where(draw.random(rows.size) < 0.8, taste, draw.integers(0, KINDS, rows.size)))
    return sp.csr_matrix((np.ones(rows.size, np.float32), (rows, items)), shape=(120, ITEMS))


def kinds():
    return sp.csr_matrix((np.ones(ITEMS, np.float32), (np.arange(ITEMS), np.arange(ITEMS) % KINDS)), shape=(ITEMS, KINDS))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "features.csv"
    path.write_text("item,kind\n" + "".join(f"{i},kind {i % KINDS}\n" for i in range(ITEMS)))
    return path


def exact(x, f, regularization, beta):
    """EASE with features as rows, in dense float64."""
    a = (x.T @ x).toarray() + beta * (f @ f.T).toarray() + regularization * np.eye(ITEMS)
    p = np.linalg.inv(a)
    b = -p / np.diag(p)
    np.fill_diagonal(b, 0)
    return b


@pytest.mark.parametrize("beta", [0.5, 1, 20])
def test_a_fit_is_the_exact_model(beta):
    x = interactions()
    x.data[:] = 1
    f = kinds().multiply(np.linspace(0.5, 2, ITEMS)[:, None]).tocsr()
    model = poise.EASE(regularization=5, feature_weight=beta).fit(x, item_features=f, show_progress=False)
    assert np.abs(model.weights_ - exact(x, f, 5, beta)).max() < 1e-5
    assert model.converged_ and model.certificate_["worst_column"] < 1e-6


def test_neighbours_learn_from_features():
    x = interactions()
    x.data[:] = 1
    all_of_them = poise.EASE(regularization=5, feature_weight=2, neighbours=ITEMS).fit(x, item_features=kinds(), show_progress=False)
    assert np.abs(all_of_them.weights_.toarray() - exact(x, kinds(), 5, 2)).max() < 1e-5
    few = poise.EASE(regularization=5, feature_weight=2, neighbours=9).fit(x, item_features=kinds(), show_progress=False)
    cold = few.weights_.toarray()[:, 38]
    support = np.flatnonzero(cold)
    assert set(support) == set(range(2, 38, 4))  # of kind 2
    g = (x.T @ x).toarray() + 2 * (kinds() @ kinds().T).toarray()
    ridge = np.linalg.solve((g + 5 * np.eye(ITEMS))[np.ix_(support, support)], g[support, 38])
    assert np.abs(cold[support] - ridge).max() < 1e-6


def test_cold_items_follow_their_features():
    x = interactions()
    model = poise.EASE(regularization=5, feature_weight=5, alpha=2).fit(x, item_features=kinds(), show_progress=False)
    history = sp.csr_matrix((np.ones(3, np.float32), ([0, 0, 0], [2, 6, 10])), shape=(1, ITEMS))
    ids, scores = model.recommend(0, history, N=4, items=np.arange(36, 40))
    assert ids[0] == 38 and scores[0] > 0  # of kind 2
    plain = poise.EASE(regularization=5, alpha=2).fit(x, show_progress=False)
    none = poise.EASE(regularization=5, alpha=2, feature_weight=0).fit(x, item_features=kinds(), show_progress=False)
    assert np.array_equal(plain.weights_, none.weights_)
    assert not plain.weights_[:, 36:].any() and model.weights_[:, 36:].any()


def test_a_dataset_has_them(file, tmp_path):
    plain = poise.Dataset.from_csr(interactions())
    assert plain.item_features is None and plain.feature_names == []
    data = plain.with_item_features(file)
    assert data.feature_names == [f"kind=kind {k}" for k in range(KINDS)]
    assert np.array_equal(data.item_features.toarray(), kinds().toarray())
    data.save(tmp_path / "data")
    loaded = poise.Dataset.load(tmp_path / "data", show_progress=False)
    assert loaded.feature_names == data.feature_names
    models = [poise.EASE(regularization=5, feature_weight=3).fit(each, show_progress=False) for each in (data, loaded)]
    by_matrix = poise.EASE(regularization=5, feature_weight=3).fit(interactions(), item_features=kinds(), show_progress=False)
    assert all(np.array_equal(model.weights_, by_matrix.weights_) for model in models)


def test_cold_items_are_split_off(file):
    rows = interactions().tocoo()
    data = poise.Dataset.from_dataframe(pd.DataFrame({"user": rows.row, "item": rows.col}))
    split = poise.split(data, "cold-items", item_features=file, min_user_items=2)
    assert split.kind == "cold-items"
    taken = np.asarray(split.train.sum(axis=0)).ravel() > 0
    targets = split.test.held_out.tocoo().col
    assert not taken[targets].any() and set(targets).isdisjoint(split.validation.held_out.tocoo().col)
    found = poise.search(split, poise.EASE(), regularization=[5], alpha=[1], feature_weight=[0, 10], grid="paper", expand=False, show_progress=False)
    assert sorted(point["feature_weight"] for point in found.points) == [0, 10]
    by_users = poise.split(data, item_features=file, min_user_items=2)
    assert by_users.feature_names == split.feature_names


def test_what_cannot_be_is_refused(file):
    x = interactions()
    with pytest.raises(ValueError, match="item_features"):
        poise.split(x, "cold-items")
    with pytest.raises(ValueError, match="item features"):
        poise.EASE().fit(poise.Dataset.from_csr(x), item_features=kinds())
    with pytest.raises(ValueError, match="features are of 39 items"):
        poise.EASE().fit(x, item_features=kinds()[:39])
    with pytest.raises(ValueError, match="at least 0"):
        poise.EASE().fit(x, item_features=-kinds())
    with pytest.raises(ValueError, match="feature_weight"):
        poise.EASE(feature_weight=2).fit(x, show_progress=False)


def test_explanations_name_shared_features(file, tmp_path):
    """As `poise recommend --explain` does; a model that learnt from none, or from a matrix, names none."""
    data = poise.Dataset.from_csr(interactions()).with_item_features(file)
    model = poise.EASE(regularization=5, feature_weight=3).fit(data, show_progress=False)
    history = sp.csr_matrix((np.ones(3, np.float32), ([0, 0, 0], [2, 6, 11])), shape=(1, ITEMS))
    why = model.explain(0, history, 38)
    assert {item: names for (item, _), names in zip(why.contributions, why.features)} == {2: ["kind=kind 2"], 6: ["kind=kind 2"], 11: []}
    score, contributions = why
    assert score == why.score and contributions == why.contributions
    first = model.explain(0, history, 38, N=1)
    assert first.contributions == contributions[:1] and first.features == why.features[:1]
    model.save(tmp_path / "model")
    assert poise.load(tmp_path / "model").explain(0, history, 38).features == why.features
    by_matrix = poise.EASE(regularization=5, feature_weight=3).fit(interactions(), item_features=kinds(), show_progress=False)
    assert by_matrix.explain(0, history, 38).features == []
    assert poise.EASE(feature_weight=0).fit(data, show_progress=False).explain(0, history, 38).features == []
