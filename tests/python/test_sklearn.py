"""scikit-learn's tools on Poise's models, which inherit nothing from it."""
import numpy as np
import pytest
from conftest import taste_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, cross_val_score
from test_models import MODELS

import poise

quiet = {"show_progress": False}


@pytest.mark.parametrize("name", list(MODELS))
def test_clone(name):
    model = MODELS[name].clone().fit(taste_matrix(values=True), **quiet)
    twin = clone(model)
    assert type(twin) is type(model) and twin is not model
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "report_")
    assert clone(twin.set_params(num_threads=2)).num_threads == 2


@pytest.mark.parametrize("name", list(MODELS))
def test_parameters_are_kept_as_given(name):
    """What scikit-learn's own checks want: __init__ stores its arguments and does nothing else."""
    model = type(MODELS[name])
    for key, value in MODELS[name].get_params().items():
        marker = [value]
        assert getattr(model(**{key: marker}), key) is marker


def test_grid_search():
    matrix = taste_matrix(400)
    search = GridSearchCV(poise.EASE(), {"regularization": [0.01, 10, 1e6]}, cv=KFold(3, shuffle=True, random_state=1), n_jobs=1)
    search.fit(matrix, **quiet)
    assert search.best_params_ == {"regularization": 10}
    assert search.best_estimator_.n_items_ == 60
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] == search.best_score_ > scores[2]
    # In processes of its own the models travel as pickles.
    parallel = GridSearchCV(poise.EASE(), {"regularization": [0.01, 10, 1e6]}, cv=KFold(3, shuffle=True, random_state=1), n_jobs=2)
    parallel.fit(matrix, **quiet)
    assert np.array_equal(parallel.cv_results_["mean_test_score"], scores)


def test_parameter_grid():
    for params in ParameterGrid({"factors": [2, 4], "alpha": [1, 5]}):
        model = clone(poise.WMF(regularization=1, iterations=300)).set_params(**params).fit(taste_matrix(), **quiet)
        assert model.item_factors.shape == (60, params["factors"]) and model.report_["alpha"] == params["alpha"]


def test_cross_validation():
    matrix = taste_matrix(400)
    good = cross_val_score(poise.EASE(regularization=10), matrix, fit_params=quiet)
    popular = cross_val_score(poise.Popularity(), matrix, fit_params=quiet)
    assert good.shape == (5,) and good.mean() > popular.mean()
