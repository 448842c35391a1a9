"""Known dislikes in Python: data, training, lists, and the program on the same data."""
import numpy as np
import pandas
import pytest
import scipy.sparse

import poise
from conftest import run_program, taste_matrix


def dislikes_of(x, seed=1, density=0.15):
    random = np.random.RandomState(seed)
    dense = (random.rand(*x.shape) < density) & (x.toarray() == 0)
    return scipy.sparse.csr_matrix(dense.astype(np.float32))


@pytest.fixture(scope="module")
def x():
    return taste_matrix(users=120, items=30)


@pytest.fixture(scope="module")
def d(x):
    return dislikes_of(x)


def ridge(x, W, regularization, zero_diagonal):
    """The columns of B with every weight written out."""
    dense = (x.toarray() != 0).astype(float)
    B = np.zeros((dense.shape[1],) * 2)
    for i in range(dense.shape[1]):
        keep = np.arange(dense.shape[1]) != i if zero_diagonal else np.ones(dense.shape[1], bool)
        part = dense[:, keep]
        H = part.T @ (W[:, i, None] * part) + regularization * np.eye(keep.sum())
        B[keep, i] = np.linalg.solve(H, part.T @ (W[:, i] * dense[:, i]))
    return B


@pytest.mark.parametrize("alpha_negative", [0.1, 3, 20])
@pytest.mark.parametrize("Model, zero", [(poise.FullRank, False), (poise.EASE, True)])
def test_full_rank_is_the_weighted_ridge(x, d, Model, zero, alpha_negative):
    model = Model(regularization=4, alpha=2, alpha_negative=alpha_negative).fit(x, dislikes=d, show_progress=False)
    W = np.where(x.toarray() != 0, 2.0, np.where(d.toarray() != 0, alpha_negative, 1.0))
    np.testing.assert_allclose(model.weights_, ridge(x, W, 4, zero), atol=2e-4)
    assert model.converged_ and model.report_["alpha_negative"] == alpha_negative
    plain = Model(regularization=4, alpha=2).fit(x, dislikes=d, show_progress=False)
    assert np.array_equal(plain.weights_, Model(regularization=4, alpha=2).fit(x, show_progress=False).weights_)


def test_user_factors_are_solved_with_them(x, d):
    model = poise.WMF(factors=5, regularization=2, alpha=4, alpha_negative=7).fit(x, dislikes=d, show_progress=False)
    V = model.item_factors.astype(float)
    dense = (x.toarray() != 0).astype(float)
    W = np.where(dense != 0, 4.0, np.where(d.toarray() != 0, 7.0, 1.0))
    expected = np.array([np.linalg.solve(V.T @ (w[:, None] * V) + 2 * np.eye(5), V.T @ (w * row)) for w, row in zip(W, dense)])
    np.testing.assert_allclose(model.user_factors, expected, atol=1e-4)
    np.testing.assert_allclose(model.predict(x, dislikes=d), expected @ V.T, atol=1e-4)
    assert not np.allclose(model.fold_in(x), expected, atol=1e-3)
    score, why = model.explain(0, x, 3, N=None, dislikes=d)
    assert score == pytest.approx((expected @ V.T)[0, 3], abs=1e-4)
    users = [0, 5, 9]
    by_factors = model.recommend(users, x[users], N=30, recalculate_user=False, dislikes=d[users])[0]
    assert np.array_equal(by_factors, model.recommend(users, x[users], N=30, dislikes=d[users])[0])


@pytest.mark.parametrize("model", [poise.EASE(5), poise.AWMF(4, regularization=2), poise.WMF(4, regularization=2), poise.Popularity()])
def test_never_recommended(x, d, model):
    model.fit(x, show_progress=False)
    ids, scores = model.recommend(np.arange(120), x, N=30, dislikes=d)
    for user, row in enumerate(ids):
        found = row[row >= 0]
        assert not set(found) & set(d[user].indices) and not set(found) & set(x[user].indices)
        assert len(found) == 30 - x[user].nnz - d[user].nnz
    one = model.recommend(4, x[4], N=30, dislikes=d[4], filter_already_liked_items=False)[0]
    assert not set(one) & set(d[4].indices) and set(one) >= set(x[4].indices)


def test_share_of_a_sum(x, d):
    model = poise.EASE(5).fit(x, show_progress=False)
    expected = (x.toarray() != 0) @ model.weights_ - 0.5 * (d.toarray() != 0) @ model.weights_
    np.testing.assert_allclose(model.predict(x, dislikes=d, dislike_share=0.5), expected, atol=1e-5)
    score, why = model.explain(2, x, 7, N=None, dislikes=d, dislike_share=0.5)
    assert score == pytest.approx(expected[2, 7], abs=1e-5)
    assert {item for item, _ in why} == set(x[2].indices) | set(d[2].indices)
    with pytest.raises(ValueError, match="dislike_share"):
        model.predict(x, dislikes=d, dislike_share=-1)
    with pytest.raises(ValueError, match="dislike_share"):
        poise.WMF(4, regularization=2).fit(x, show_progress=False).predict(x, dislikes=d, dislike_share=1)


def test_liked_wins(x, d):
    both = d + x
    model = poise.EASE(5, alpha_negative=3).fit(x, dislikes=both, show_progress=False)
    assert np.array_equal(model.weights_, poise.EASE(5, alpha_negative=3).fit(x, dislikes=d, show_progress=False).weights_)


def test_what_does_not_fit(x, d):
    with pytest.raises(ValueError, match="the data have none"):
        poise.EASE(5, alpha_negative=3).fit(x, show_progress=False)
    with pytest.raises(ValueError, match="same shape"):
        poise.EASE(5, alpha_negative=3).fit(x, dislikes=d[:5], show_progress=False)
    with pytest.raises(ValueError, match="alpha_negative"):
        poise.EASE(5, alpha_negative=0).fit(x, dislikes=d, show_progress=False)
    model = poise.EASE(5).fit(x, show_progress=False)
    with pytest.raises(ValueError, match="same shape"):
        model.recommend(0, x[0], dislikes=d[:2])
    data = poise.Dataset.from_csr(x, dislikes=d)
    with pytest.raises(ValueError, match="its own dislikes"):
        model.fit(data, dislikes=d)
    with pytest.raises(ValueError, match="same shape"):
        poise.Dataset.from_csr(x, dislikes=d[:3])
    with pytest.raises(ValueError, match="value"):
        poise.Dataset.from_dataframe(pandas.DataFrame({"user": [1], "item": [2]}), dislike_below=3)


def ratings():
    random = np.random.RandomState(4)
    rows = [(f"u{u}", f"i{i}", int(random.randint(1, 6))) for u in range(80) for i in random.choice(25, 12, replace=False)]
    return pandas.DataFrame(rows, columns=["user", "item", "stars"])


def test_data_of_every_door(tmp_path, x, d):
    frame = ratings()
    frame.to_csv(tmp_path / "log.csv", index=False)
    data = poise.Dataset.from_dataframe(frame, value="stars", dislike_below=3)
    low = {(row.user, row.item) for row in frame.itertuples() if row.stars < 3}
    rows, columns = data.dislikes.nonzero()
    assert set(zip(data.users[rows], data.items[columns])) == low
    assert data.train.nnz + len(low) == len(frame)
    read = poise.Dataset.from_file(tmp_path / "log.csv", dislike_below=3, show_progress=False)
    assert (read.dislikes != data.dislikes).nnz == 0 and list(read.users) == list(data.users)
    data.save(tmp_path / "data")
    loaded = poise.Dataset.load(tmp_path / "data", show_progress=False)
    assert (loaded.dislikes != data.dislikes).nnz == 0
    given = poise.Dataset.from_csr(x, dislikes=d)
    given.save(tmp_path / "given")
    assert (poise.Dataset.load(tmp_path / "given", show_progress=False).dislikes != d).nnz == 0
    assert poise.Dataset.from_csr(x).dislikes is None
    arrays = poise.EASE(5, alpha_negative=3).fit(x, dislikes=d, show_progress=False).weights_
    for each in (given, poise.Dataset.load(tmp_path / "given", show_progress=False)):
        assert np.array_equal(poise.EASE(5, alpha_negative=3).fit(each, show_progress=False).weights_, arrays)


def test_equals_the_program(tmp_path):
    ratings().to_csv(tmp_path / "log.csv", index=False)
    report = run_program("prepare", tmp_path / "log.csv", "--dislike-below", 3, "--min-user-items", 2, "--out", tmp_path / "data")
    data = poise.split(poise.Dataset.from_file(tmp_path / "log.csv", dislike_below=3, show_progress=False), min_user_items=2)
    data.save(tmp_path / "own")
    assert (tmp_path / "own" / "data.poise").read_bytes() == (tmp_path / "data" / "data.poise").read_bytes()
    assert data.dislikes.nnz == report["train"]["dislikes"] and data.test.dislikes.nnz == report["test"]["dislikes"]
    assert data.counts["dropped_dislikes"] == report["dropped_dislikes"]
    model = poise.WMF(4, regularization=2, alpha=3, alpha_negative=5).fit(data, show_progress=False)
    model.save(tmp_path / "python.model")
    run_program("train", tmp_path / "data", "--model", "wmf", "--rank", 4, "--lambda", 2, "--alpha", 3, "--alpha-negative", 5,
                "--out", tmp_path / "program.model")
    program = poise.load(tmp_path / "program.model")
    assert np.array_equal(program.item_factors, model.item_factors) and program.alpha_negative == 5
    result = poise.evaluate(model, data.test)
    measured = run_program("evaluate", tmp_path / "program.model", tmp_path / "data")
    assert result["metrics"] == measured["metrics"]
    matrices = poise.evaluate(model, data.test.fold_in, data.test.held_out, dislikes=data.test.dislikes)
    assert matrices["metrics"] == result["metrics"]


def test_searched_with_them():
    data = poise.split(poise.Dataset.from_dataframe(ratings(), value="stars", dislike_below=3), min_user_items=2)
    found = poise.search(
        data, poise.EASE(alpha_negative=4), regularization=[1, 10], alpha=[1, 2], grid="paper", expand=False, show_progress=False
    )
    assert found.best_model.alpha_negative == 4 and found.best["alpha_negative"] == 4


def test_their_weight_is_searched():
    """As a list with a fixed grid, and over its range."""
    frame = [(u, i, 5 if i % 4 == u % 4 else 1) for u in range(80) for i in range(u % 3, 120, 3)]
    data = poise.split(poise.Dataset.from_dataframe(pandas.DataFrame(frame, columns=["user", "item", "rating"]), value="rating", dislike_below=3), min_user_items=2)
    fixed = {"regularization": [20], "alpha": [1], "show_progress": False}
    found = poise.search(data, poise.EASE(), alpha_negative=[0.5, 1, 4], grid="paper", expand=False, **fixed)
    assert sorted(point.get("alpha_negative", 1) for point in found.points) == [0.5, 1, 4]
    assert found.best_model.alpha_negative == found.best.get("alpha_negative", 1)
    profile = poise.search(data, poise.EASE(), alpha_negative="auto", points=6, **fixed)
    assert len({point.get("alpha_negative", 1) for point in profile.points}) > 1


def test_a_study_has_their_weight():
    frame = [(u, i, 5 if i % 4 == u % 4 else 1) for u in range(80) for i in range(u % 3, 120, 3)]
    data = poise.split(poise.Dataset.from_dataframe(pandas.DataFrame(frame, columns=["user", "item", "rating"]), value="rating", dislike_below=3), min_user_items=2)
    common = {"ranks": [], "models": "ease", "grid": "paper", "expand": False, "show_progress": False}
    study = poise.study(data, alpha_negative=[0.5, 4], **common)
    assert {point["alpha_negative"] for point in study.points} == {0.5, 4}
    assert study.results["options"]["--alpha-negative"] == "0.5,4.0"
    with pytest.raises(ValueError, match="auto"):
        poise.study(data, alpha_negative="auto", **common)
    with pytest.raises(ValueError, match="alpha_negative"):
        poise.study(data, alpha_negative=[0], **common)
