"""The low-rank models."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ._dataset import Dataset
from ._lists import Lists, item_list
from ._matrix import as_scipy
from ._recommender import Memory, Recommender
from ._settings import whole


class _LowRank(Recommender):
    factors: int
    iterations: int
    least_decrease: float
    start: str

    @property
    def item_factors(self) -> npt.NDArray[np.float32]:
        """V, items x factors."""
        V: npt.NDArray[np.float32] = self._fitted().tensors()["V"]
        return V


class AWMF(_LowRank):
    """The low-rank autoencoder: scores are x U V' with U and V items x factors, in closed form if unweighted.

    `regularizer` is `weight-decay` (|U|^2 + |V|^2), `dropout` (|U V'|^2) or `data-weight-decay` (|X U|^2 + |V|^2), each
    times `regularization`. At most `iterations` alternating rounds, until one lowers the objective by less than
    `least_decrease` of it, from the unweighted optimum or, with `start="random"`, from small factors of the seed
    `random_state`. The rest is as in FullRank.

    >>> import poise
    >>> model = poise.AWMF(factors=10, regularizer="dropout", regularization=50).fit(poise.synth("demo"), show_progress=False)
    >>> model.item_factors.shape, model.n_iter_
    ((700, 10), 0)
    """

    _family = "awmf"
    regularizer: str

    def __init__(
        self,
        factors: int = 100,
        *,
        regularizer: str = "weight-decay",
        regularization: float = 100.0,
        alpha: float = 1.0,
        weighting: str = "constant",
        epsilon: float = 1.0,
        gamma: float = 0.5,
        clip: float = 10.0,
        alpha_negative: float = 1.0,
        iterations: int = 100,
        tolerance: float = 1e-6,
        least_decrease: float = 1e-6,
        start: str = "closed-form",
        num_threads: int = 0,
        n_jobs: Optional[int] = None,
        memory_limit: Memory = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    @property
    def history_factors(self) -> npt.NDArray[np.float32]:
        """U, items x factors: the sum of a history's rows is its user's factors."""
        U: npt.NDArray[np.float32] = self._fitted().tensors()["U"]
        return U

    def fold_in(self, user_items: Any) -> npt.NDArray[np.float32]:
        """x U for each row.

        >>> import poise
        >>> data = poise.split(poise.synth("demo"))
        >>> model = poise.AWMF(factors=8).fit(data, show_progress=False)
        >>> model.fold_in(data.test.fold_in[:5]).shape
        (5, 8)
        """
        shape, offsets, indices, _ = self._histories(user_items)
        found: npt.NDArray[np.float32] = as_scipy((shape, offsets, indices, None)) @ self.history_factors
        return found


class WMF(_LowRank):
    """Weighted matrix factorization (Hu, Koren, Volinsky, 2008): U V' with users x factors and items x factors.

    Solved exactly in alternating rounds, or in closed form if unweighted. `regularization_exponent` scales the
    regularization of a user or item by its count to that power (Rendle et al., 2022). A user is scored by solving for the
    factors of the history given, as in training. The rest is as in AWMF.

    >>> import poise
    >>> data = poise.split(poise.synth("demo"))
    >>> model = poise.WMF(factors=8, regularization=5, alpha=5).fit(data, show_progress=False)
    >>> model.user_factors.shape, model.item_factors.shape
    ((1920, 8), (700, 8))
    """

    _family = "wmf"
    regularization_exponent: float

    def __init__(
        self,
        factors: int = 100,
        *,
        regularization: float = 100.0,
        alpha: float = 1.0,
        regularization_exponent: float = 0.0,
        weighting: str = "constant",
        epsilon: float = 1.0,
        gamma: float = 0.5,
        clip: float = 10.0,
        alpha_negative: float = 1.0,
        iterations: int = 100,
        tolerance: float = 1e-6,
        least_decrease: float = 1e-6,
        start: str = "closed-form",
        num_threads: int = 0,
        n_jobs: Optional[int] = None,
        memory_limit: Memory = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    def _history_values(self) -> bool:
        return self._training_values()  # a history is weighted like a training row

    @property
    def user_factors(self) -> npt.NDArray[np.float32]:
        """U, training users x factors: computed from the items' factors and the training matrix at the first access."""
        self._fitted()
        if self._user_factors is None:
            if self._training is None:
                raise ValueError(
                    "the users' factors are not kept in files; use fold_in(user_items), or recommend with the users' rows"
                )
            dataset = isinstance(self._training, Dataset)
            items = self._training.train if dataset else self._training
            self._user_factors = self.fold_in(items, dislikes=self._training_dislikes)
        return self._user_factors

    def fold_in(self, user_items: Any, *, dislikes: Any = None) -> npt.NDArray[np.float32]:
        """The factors of users with these histories, and dislikes, as training would find them.

        >>> import numpy, poise
        >>> data = poise.split(poise.synth("demo"))
        >>> model = poise.WMF(factors=8, regularization=5, alpha=5).fit(data, show_progress=False)
        >>> users = data.test.fold_in[:5]
        >>> numpy.allclose(model.fold_in(users) @ model.item_factors.T, model.predict(users), atol=1e-4)
        True
        """
        return self._fitted().factors(self._rows(user_items, dislikes), self._threads())

    def _factors_of(self, users: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        factors = self.user_factors
        if users.size and (users.min() < 0 or users.max() >= len(factors)):
            raise ValueError(f"training users are numbered from 0 to {len(factors) - 1}")
        return np.ascontiguousarray(factors[users])

    def similar_users(self, userid: Any, N: int = 10, filter_users: Any = None, users: Any = None) -> Lists:
        """The N training users nearest to one (or to each of several), without themselves, by the cosine of their factors.

        >>> import poise
        >>> model = poise.WMF(factors=8, regularization=5).fit(poise.synth("demo"), show_progress=False)
        >>> ids, scores = model.similar_users(7, N=3)
        >>> 7 in ids, scores.max() <= 1.0001
        (False, True)
        """
        factors = self.user_factors.astype(np.float64)
        count = whole(N, "N")
        if count < 1:
            raise ValueError(f"N is {count}: ask for at least one user")
        length = np.linalg.norm(factors, axis=1)
        unit = factors / np.where(length > 0, length, 1)[:, None]
        asked = np.atleast_1d(np.asarray(userid, dtype=np.int64))
        if asked.size and (asked.min() < 0 or asked.max() >= len(unit)):
            raise ValueError(f"training users are numbered from 0 to {len(unit) - 1}")
        allowed = np.ones(len(unit), dtype=bool)
        if users is not None:
            allowed[:] = False
            allowed[item_list(users)] = True
        allowed[item_list(filter_users)] = False
        rows = []
        for user in asked:
            candidates = np.flatnonzero(allowed & (np.arange(len(unit)) != user))
            cosine = (unit[candidates] @ unit[user]).astype(np.float32)
            order = np.lexsort((candidates, -cosine))[:count]
            rows.append((candidates[order].astype(np.int32), cosine[order]))
        if np.ndim(userid) == 0:
            return rows[0]
        width = max((len(ids) for ids, _ in rows), default=0)
        all_ids = np.full((len(rows), width), -1, dtype=np.int32)
        all_scores = np.full((len(rows), width), np.nan, dtype=np.float32)
        for k, (ids, scores) in enumerate(rows):
            all_ids[k, : len(ids)], all_scores[k, : len(scores)] = ids, scores
        return all_ids, all_scores
