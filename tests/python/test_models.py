"""What every model must do, run over all of them."""
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import taste_matrix

import poise

MODELS = {
    "full_rank": poise.FullRank(regularization=10),
    "full_rank_weighted": poise.FullRank(regularization=10, alpha=5),
    "ease": poise.EASE(regularization=10),
    "ease_linear": poise.EASE(regularization=10, weighting="linear", alpha=2),
    "edlae": poise.EDLAE(regularization=10, dropout=0.4),
    "ease_exponent": poise.EASE(regularization=10, regularization_exponent=0.5),
    "full_rank_exponent": poise.FullRank(regularization=10, regularization_exponent=-0.5, alpha=3, dropout=0.2),
    "ease_neighbours": poise.EASE(regularization=10, neighbours=5),
    "full_rank_neighbours_weighted": poise.FullRank(regularization=10, neighbours=9, alpha=3, dropout=0.2, regularization_exponent=0.5),
    "awmf_weight_decay": poise.AWMF(factors=8, regularization=5),
    "awmf_dropout_weighted": poise.AWMF(factors=8, regularizer="dropout", regularization=5, alpha=3),
    "awmf_data_weight_decay": poise.AWMF(factors=8, regularizer="data-weight-decay", regularization=1),
    "wmf": poise.WMF(factors=8, regularization=1),
    "wmf_weighted": poise.WMF(factors=8, regularization=1, alpha=10, iterations=200),
    "wmf_log": poise.WMF(factors=8, regularization=1, weighting="log", alpha=2, iterations=200),
    "popularity": poise.Popularity(),
}


def dense(matrix):
    return np.asarray(matrix.todense()) if scipy.sparse.issparse(matrix) else np.asarray(matrix)


@pytest.fixture(scope="module", params=list(MODELS), ids=list(MODELS))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def train(name):
    return taste_matrix(values=True)


@pytest.fixture(scope="module")
def model(name, train):
    return MODELS[name].clone().fit(train, show_progress=False)


class TestEveryModel:
    def test_fit_sets_what_is_known(self, name, model):
        assert model.converged_ is True
        assert model.n_items_ == 60
        assert model.item_ids_.tolist() == list(range(60))
        assert model.n_iter_ >= 0
        if name == "popularity":
            assert model.certificate_ is None and model.objective_ is None
        else:
            assert 0 <= model.certificate_["relative"] < 1e-5
            assert 0 < model.objective_ < model.report_["observed_weight"]
            assert model.report_["model"] == model._family

    def test_single_user(self, model, train):
        ids, scores = model.recommend(3, train[3], N=7)
        assert ids.shape == scores.shape == (7,)
        assert ids.dtype == np.int32 and scores.dtype == np.float32
        assert np.all(scores[:-1] >= scores[1:])
        assert not set(ids) & set(train[3].indices)

    def test_a_batch_is_its_users(self, model, train):
        users = np.array([5, 0, 17, 100])
        ids, scores = model.recommend(users, train[users], N=9)
        assert ids.shape == scores.shape == (4, 9)
        for row, user in enumerate(users):
            alone_ids, alone_scores = model.recommend(user, train[user], N=9)
            assert np.array_equal(alone_ids, ids[row]) and np.array_equal(alone_scores, scores[row])

    def test_scores_are_those_of_predict(self, model, train):
        scores = model.predict(train)
        assert scores.shape == train.shape
        ids, best = model.recommend(np.arange(300), train, N=60, filter_already_liked_items=False)
        assert np.array_equal(np.take_along_axis(scores, ids, axis=1), best)
        # Best first, ties to the lower number.
        order = np.array([np.lexsort((np.arange(60), -row)) for row in scores])
        assert np.array_equal(order, ids)
        assert np.array_equal(model.predict(train[:9], items=[4, 2]), scores[:9, [4, 2]])

    def test_fold_in_times_item_factors_is_the_score(self, model, train):
        users = model.fold_in(train)
        assert users.shape[0] == train.shape[0]
        product = dense(users @ model.item_factors.T)
        assert np.allclose(product, model.predict(train), atol=2e-4)

    def test_filters_never_leak(self, model, train):
        users = np.arange(300)
        unwanted = [0, 1, 2, 30]
        ids, scores = model.recommend(users, train, N=60, filter_items=unwanted)
        for user in users:
            found = ids[user][ids[user] >= 0]
            assert not set(found) & set(unwanted)
            assert not set(found) & set(train[user].indices)
            assert set(found) == set(range(60)) - set(unwanted) - set(train[user].indices)
            assert np.isnan(scores[user][ids[user] < 0]).all() and np.isfinite(scores[user][ids[user] >= 0]).all()

    def test_only_these_items(self, model, train):
        ids, _ = model.recommend(4, train[4], N=10, items=[7, 9, 11], filter_already_liked_items=False)
        assert sorted(ids) == [7, 9, 11]
        ids, _ = model.recommend(4, train[4], N=10, items=[7, 9, 11], filter_items=[9], filter_already_liked_items=False)
        assert sorted(ids) == [7, 11]

    def test_pairs_never_leak(self, model, train):
        random = scipy.sparse.random(300, 60, 0.3, format="csr", random_state=5)
        ids, _ = model.recommend(np.arange(300), train, N=60, filter_user_items=random)
        for user in range(300):
            found = ids[user][ids[user] >= 0]
            assert set(found) == set(range(60)) - set(random[user].indices) - set(train[user].indices)
        with pytest.raises(ValueError, match="same shape"):
            model.recommend(0, train[0], filter_user_items=random)

    def test_diversify(self, model, train):
        plain = model.recommend([4, 5], train[[4, 5]], N=8)
        zero = model.recommend([4, 5], train[[4, 5]], N=8, diversify=0)
        assert all(np.array_equal(one, other) for one, other in zip(plain, zero))
        if isinstance(model, poise.Popularity):
            with pytest.raises(ValueError, match="similar items need a model"):
                model.recommend(4, train[4], diversify=0.5)
        else:
            ids, scores = model.recommend([4, 5], train[[4, 5]], N=60, diversify=0.9)
            every, its_scores = model.recommend([4, 5], train[[4, 5]], N=60)
            assert not np.array_equal(ids, every)
            for row in range(2):
                assert sorted(ids[row]) == sorted(every[row]) and ids[row][0] == every[row][0]
                assert dict(zip(ids[row], scores[row])).items() >= {(i, s) for i, s in zip(every[row], its_scores[row]) if i >= 0}
        for wrong in (-0.1, 1.1, float("nan")):
            with pytest.raises(ValueError, match="from 0 to 1"):
                model.recommend(4, train[4], diversify=wrong)

    def test_an_empty_user(self, model, train):
        assert train[299].nnz == 0
        ids, scores = model.recommend(299, train[299], N=5)
        assert ids.shape == (5,) and np.isfinite(scores).all()

    def test_more_than_the_catalogue(self, model, train):
        ids, scores = model.recommend(299, train[299], N=1000)
        assert sorted(ids) == list(range(60)) and scores.shape == (60,)
        assert model.recommend(3, train[3], N=1000)[0].size == 60 - train[3].nnz

    def test_unknown_items_are_refused(self, model, train):
        with pytest.raises(ValueError, match="60"):
            model.recommend(0, train[0], filter_items=[60])
        with pytest.raises(ValueError, match="-1"):
            model.recommend(0, train[0], items=[-1])
        for wrong in ([2**40], [1.5], ["tea"]):
            with pytest.raises(ValueError, match="number"):
                model.recommend(0, train[0], filter_items=wrong)
        with pytest.raises(ValueError, match="at least one"):
            model.recommend(0, train[0], N=0)

    def test_rows_have_to_fit_the_users(self, model, train):
        with pytest.raises(ValueError, match="one row for each"):
            model.recommend(0, train)
        with pytest.raises(ValueError, match="60 items"):
            model.recommend(0, train[0, :50])

    def test_transposed(self, name, model, train):
        with pytest.raises(ValueError, match="transposed"):
            model.predict(train.T.tocsr())
        fresh = MODELS[name].clone()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fresh.fit(train.T.tocsr(), show_progress=False)
        assert any(each.category is poise.TransposedWarning and "300 columns" in str(each.message) for each in caught)

    def test_no_warning_for_what_is_right(self, name, train):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            MODELS[name].clone().fit(train, show_progress=False)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("kind", [np.float32, np.float64])
    def test_not_finite_is_refused(self, name, model, train, bad, kind):
        broken = train.astype(kind)
        broken.data[17] = bad
        with pytest.raises(ValueError, match="NaN"):
            MODELS[name].clone().fit(broken, show_progress=False)
        with pytest.raises(ValueError, match="NaN"):
            model.recommend(np.arange(300), broken)

    def test_pickle(self, model, train):
        for protocol in (2, pickle.HIGHEST_PROTOCOL):
            twin = pickle.loads(pickle.dumps(model, protocol))
            assert type(twin) is type(model) and twin.get_params() == model.get_params()
            assert np.array_equal(twin.predict(train), model.predict(train))
            assert twin.report_ == model.report_

    def test_pickle_unfitted(self, name):
        twin = pickle.loads(pickle.dumps(MODELS[name]))
        assert repr(twin) == repr(MODELS[name])
        with pytest.raises(ValueError, match="not fitted"):
            twin.recommend(0, scipy.sparse.csr_matrix((1, 60)))

    def test_save_and_load(self, model, train, tmp_path):
        model.save(tmp_path / "model")
        for loaded in (poise.load(tmp_path / "model"), type(model).load(tmp_path / "model")):
            assert np.array_equal(loaded.predict(train), model.predict(train))
            assert loaded.report_ == model.report_ and loaded.certificate_ == model.certificate_
            assert loaded.objective_ == model.objective_ and loaded.n_iter_ == model.n_iter_
            shared = {key: value for key, value in model.get_params().items() if key in loaded.get_params()}
            assert all(loaded.get_params()[key] == value for key, value in shared.items() if key != "random_state")
            loaded.save(tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
        # A loaded model can be trained again.
        assert np.array_equal(poise.load(tmp_path / "model").fit(train, show_progress=False).predict(train), model.predict(train))

    def test_clone(self, model):
        twin = model.clone()
        assert type(twin) is type(model) and twin.get_params() == model.get_params()
        assert not hasattr(twin, "report_")

    def test_set_params(self, name):
        twin = MODELS[name].clone()
        assert twin.set_params(num_threads=1) is twin and twin.num_threads == 1
        with pytest.raises(ValueError, match="no parameter 'nonsense'"):
            twin.set_params(nonsense=1)

    def test_threads_do_not_matter(self, name, model, train, tmp_path):
        model.save(tmp_path / "all")
        for params in ({"num_threads": 1}, {"n_jobs": 3}, {"n_jobs": -1}):
            other = MODELS[name].clone().set_params(**params).fit(train, show_progress=False)
            other.save(tmp_path / "other")
            assert (tmp_path / "other").read_bytes() == (tmp_path / "all").read_bytes()
            assert np.array_equal(other.recommend(np.arange(300), train)[0], model.recommend(np.arange(300), train)[0])

    def test_fit_again_is_the_same(self, model, train):
        before = model.predict(train).copy()
        assert np.array_equal(model.fit(train, show_progress=False).predict(train), before)

    def test_evaluate(self, model, train):
        result = poise.evaluate(model, train[:200], taste_matrix(seed=6)[:200])
        assert list(result) == ["users", "users_without_targets", "known_targets", "metrics", "seconds"]
        assert list(result["metrics"]) == ["recall@20", "recall@50", "ndcg@100"]
        assert all(0 < entry["mean"] < 1 and entry["stderr"] > 0 for entry in result["metrics"].values())

    def test_targets_of_the_history(self, model, train):
        """Nothing is found that every list leaves out: an error where it is all, a warning where it is some."""
        with pytest.raises(ValueError, match="every target is in its user's history"):
            poise.evaluate(model, train, train)
        held = train.tolil()
        held[0, [i for i in range(train.shape[1]) if train[0, i] == 0][0]] = 1
        with pytest.warns(UserWarning, match="targets are in their users' histories"):
            result = poise.evaluate(model, train, held.tocsr())
        assert result["known_targets"] == train.nnz

    def test_item_index(self, model):
        assert model.item_index(7) == 7 and model.item_index(["3", 4.0]).tolist() == [3, 4]
        with pytest.raises(KeyError, match="no item 60"):
            model.item_index(60)

    def test_devices(self, name, train):
        MODELS[name].clone().set_params(device="cpu").fit(train, show_progress=False)
        with pytest.raises(ValueError, match="device"):
            MODELS[name].clone().set_params(device="gpu").fit(train, show_progress=False)


class TestItems:
    """What popularity refuses and all others do."""

    def test_similar_items(self, name, model):
        if name == "popularity":
            with pytest.raises(ValueError):
                model.similar_items(3)
            return
        ids, scores = model.similar_items(3, N=6)
        assert ids.shape == scores.shape == (6,) and 3 not in ids and np.all(scores[:-1] >= scores[1:])
        both_ids, both_scores = model.similar_items([3, 8], N=6)
        assert np.array_equal(both_ids[0], ids) and np.array_equal(both_scores[0], scores) and 8 not in both_ids[1]
        best = int(ids[0])
        assert best not in model.similar_items(3, N=6, filter_items=[best])[0]
        assert sorted(model.similar_items(3, items=[1, 2, 5])[0]) == [1, 2, 5]
        with pytest.raises(ValueError, match="60"):
            model.similar_items(60)

    def test_explanations_add_up(self, name, model, train):
        user = 3
        if name == "popularity":
            with pytest.raises(ValueError):
                model.explain(user, train, 5)
            return
        predicted = model.predict(train[user])[0]
        for item in (5, 11, 59):
            score, why = model.explain(user, train, item, N=None)
            assert score == pytest.approx(predicted[item], abs=1e-5)
            assert sum(part for _, part in why) == pytest.approx(score)
            assert sorted(item for item, _ in why) == train[user].indices.tolist()
            assert [part for _, part in why] == sorted((part for _, part in why), reverse=True)
            assert model.explain(0, train[user], item, N=2).contributions == why[:2]


def test_data_without_values():
    """What a weighting by values makes of data that have none."""
    plain = poise.split(poise.synth("demo", scale=0.1))
    for model in (poise.EASE(weighting="column"), poise.WMF(factors=4, weighting="column")):
        with pytest.raises(ValueError, match="have no values"):
            model.fit(plain, show_progress=False)
        with pytest.raises(ValueError, match="have no values"):
            poise.search(plain, model, regularization=[10], alpha=[1], show_progress=False)
    with pytest.warns(UserWarning, match="'log' takes each as 1"):
        poise.EASE(weighting="log", alpha=2).fit(plain, show_progress=False)
    with pytest.warns(UserWarning, match="'linear' takes each as 1"):
        poise.search(plain, poise.EASE(), regularization=[10], alpha=[1], weighting=["constant", "linear"], show_progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        poise.EASE(weighting="log", alpha=2).fit(poise.synth("demo", scale=0.1, values=True), show_progress=False)
        poise.EASE(alpha=2).fit(plain, show_progress=False)


def test_weighting_uses_the_values():
    train = taste_matrix(values=True)
    ones = train.copy()
    ones.data[:] = 1
    for name in ("ease_linear", "wmf_log"):
        model = MODELS[name].clone()
        assert model.fit(train, show_progress=False).objective_ != model.clone().fit(ones, show_progress=False).objective_
    model = MODELS["full_rank_weighted"].clone()
    assert model.fit(train, show_progress=False).objective_ == model.clone().fit(ones, show_progress=False).objective_


def test_ease_is_the_closed_form():
    """Against Steck's NumPy script."""
    train = taste_matrix()
    gram = (train.T @ train).toarray().astype(np.float64)
    inverse = np.linalg.inv(gram + 10 * np.eye(60))
    expected = inverse / -np.diag(inverse)
    np.fill_diagonal(expected, 0)
    model = poise.EASE(regularization=10).fit(train, show_progress=False)
    assert np.allclose(model.weights_, expected, atol=1e-6)
    assert np.all(np.diag(model.weights_) == 0)
    with pytest.raises(ValueError):
        model.weights_[0, 0] = 1  # the model's own memory


class TestWmfUsers:
    @pytest.fixture(scope="class")
    def fitted(self):
        train = taste_matrix(values=True)
        return MODELS["wmf_log"].clone().fit(train, show_progress=False), train

    def test_trained_factors_recommend_the_same(self, fitted):
        model, train = fitted
        users = np.arange(0, 299, 7)
        folded = model.recommend(users, train[users])
        stored = model.recommend(users, train[users], recalculate_user=False)
        assert (folded[0] == stored[0]).mean() > 0.99
        assert np.allclose(folded[1], stored[1], atol=1e-4)
        # The row then says only what to leave out.
        elsewhere = model.recommend(users, train[users + 1], recalculate_user=False, filter_already_liked_items=False)
        assert np.allclose(elsewhere[1], model.recommend(users, train[users], filter_already_liked_items=False)[1], atol=1e-4)
        with pytest.raises(ValueError, match="0 to 299"):
            model.recommend(300, train[0], recalculate_user=False)

    def test_similar_users(self, fitted):
        model, train = fitted
        ids, scores = model.similar_users(4, N=8)
        unit = model.user_factors / np.linalg.norm(model.user_factors, axis=1, keepdims=True).clip(1e-12)
        cosine = unit @ unit[4]
        assert 4 not in ids and np.allclose(scores, cosine[ids], atol=1e-5)
        assert scores[-1] >= np.sort(cosine)[-9] - 1e-5
        assert np.mean(ids % 4 == 0) > 0.5  # of one taste
        assert np.array_equal(model.similar_users([4, 5], N=8)[0][0], ids)
        assert sorted(model.similar_users(4, users=[1, 2, 4])[0]) == [1, 2]
        assert ids[0] not in model.similar_users(4, filter_users=[ids[0]])[0]

    def test_a_file_has_no_users(self, fitted, tmp_path):
        model, train = fitted
        model.save(tmp_path / "model")
        loaded = poise.load(tmp_path / "model")
        with pytest.raises(ValueError, match="fold_in"):
            loaded.user_factors
        assert np.array_equal(loaded.fold_in(train), model.user_factors)
