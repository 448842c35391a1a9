"""Exact, fast, certified linear recommendation from implicit feedback.

    >>> import poise
    >>> data = poise.split(poise.synth("demo"))
    >>> model = poise.EASE(regularization=50).fit(data, show_progress=False)
    >>> ids, scores = model.recommend(0, data.test.fold_in[0], N=3)
    >>> len(ids), scores[0] > scores[1] > scores[2]
    (3, True)
    >>> poise.evaluate(model, data.test)["metrics"]["ndcg@100"]["mean"] > 0.4
    True

Users are rows and items columns of scipy's CSR matrices; the models have the signatures of `implicit` and the parameter
protocol of scikit-learn. Every model says how far it can be from the optimum: `model.certificate_`.
"""
from ._launcher import refuse_several as _refuse_several
from ._runtime import settings as _settings_of_runtimes

_refuse_several()

# Here OpenBLAS and the OpenMP runtime are loaded, unless another package has loaded them before.
with _settings_of_runtimes():
    from ._content import HeldOut
    from ._dataset import Dataset, synth
    from ._estimator import ConvergenceWarning
    from ._evaluate import evaluate
    from ._lists import Explanation
    from ._matrix import TransposedWarning
    from . import _models
    from ._models import *
    from ._poise import NumericalError, __version__
    from ._recommender import Recommender
    from ._search import SearchResult, search
    from ._serve import Server, serve
    from ._split import split
    from ._study import StudyResult, study
    from ._update import Updated, update

__all__ = [
    "ConvergenceWarning",
    "Dataset",
    "Explanation",
    "HeldOut",
    "NumericalError",
    "Recommender",
    "SearchResult",
    "Server",
    "StudyResult",
    "TransposedWarning",
    "Updated",
    "__version__",
    "evaluate",
    "search",
    "serve",
    "split",
    "study",
    "synth",
    "update",
]
__all__ += _models.__all__
