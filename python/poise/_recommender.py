"""The base class of all models."""
from __future__ import annotations

from typing import Any, Optional, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _poise
from ._dataset import Dataset
from ._estimator import warn_of_training, warn_without_values
from ._fitted import Fitted
from ._lists import Explanation, Lists, choose, item_list
from ._matrix import Arrays, Rows, csr_arrays, features_by_row, warn_if_transposed
from ._progress import Callback, Progress
from ._settings import memory_of, number, whole

Self = TypeVar("Self", bound="Recommender")
Memory = Union[int, str, None]


class Recommender(Fitted):
    """Base of all models; use one of them.

    After `fit`: `certificate_` (how far the objective can be from its minimum), `objective_`, `n_iter_`, `converged_`,
    `report_` (the complete report, with the keys of `poise train --json`), `seconds_` by phase, `item_ids_`.
    """

    # Parameters of the models beside Popularity.
    regularization: float
    alpha: float
    weighting: str
    epsilon: float
    gamma: float
    clip: float
    alpha_negative: float
    tolerance: float
    random_state: Any

    def _history_values(self) -> bool:
        return False

    # Training.

    def fit(
        self: Self,
        user_items: Any,
        y: None = None,
        *,
        dislikes: Any = None,
        item_features: Any = None,
        keep_inverse: bool = False,
        show_progress: bool = True,
        callback: Optional[Callback] = None,
    ) -> Self:
        """Trains the model on a scipy CSR matrix, users as rows, or on a `poise.Dataset`.

        The stored entries are what users did; their values matter only for the weightings `linear`, `log` and
        `column`. Repeated entries are added, stored zeros are ignored. A matrix with float32 values, int32 indices and
        sorted rows is not copied. `dislikes`, a matrix of the same shape, holds what users are known to dislike; an entry of both is
        liked, and a Dataset has its own. With `alpha_negative` they are trained on. `item_features`, a matrix items x
        features of numbers of at least 0, is what full-rank models learn from besides (`feature_weight`); a Dataset has its own. With `keep_inverse` a dense full-rank model keeps what `poise.update` goes on from.
        `callback(task, done, total)` is called some times a second; an exception in it
        stops the training, as Ctrl-C does. `y` is ignored.

        >>> import poise, scipy.sparse
        >>> x = scipy.sparse.csr_matrix([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0]])
        >>> model = poise.EASE(regularization=1).fit(x, show_progress=False)
        >>> model.certificate_["relative"] < 1e-6
        True
        """
        values = self._native_parameters()
        threads = self._threads()
        memory_limit = memory_of(self.memory_limit)
        _poise.check_parameters(values)
        _poise.check_device(self.device)
        with Progress(show_progress, callback) as progress:
            common = (values, bool(keep_inverse), self.device, memory_limit, threads, progress.report)
            native = user_items._native_for_training() if isinstance(user_items, Dataset) else None
            if dislikes is not None and isinstance(user_items, Dataset):
                raise ValueError("a Dataset has its own dislikes; make it with them, e.g. Dataset.from_csr(..., dislikes=...)")
            if item_features is not None and isinstance(user_items, Dataset):
                raise ValueError("a Dataset has its own item features; give them to poise.split or Dataset.with_item_features")
            if native is not None:
                warn_without_values(native, [self._weighting()])
                model = _poise.train_data(native, user_items._folder or "", *common)
            else:
                dataset = isinstance(user_items, Dataset)
                matrix = user_items.train if dataset else user_items
                arrays = csr_arrays(matrix, values=self._training_values(), threads=threads)
                if not dataset:
                    warn_if_transposed(arrays[0])
                texts = user_items._item_texts() if dataset else [str(item) for item in range(arrays[0][1])]
                given = user_items.dislikes if dataset else dislikes
                disliked = None if given is None else csr_arrays(given, values=False, threads=threads, name="dislikes")
                features = None if item_features is None else features_by_row(item_features, threads)
                model = _poise.train_csr((arrays, disliked, 0.0), features, texts, *common)
        self._adopt(model, user_items.items if isinstance(user_items, Dataset) else np.arange(model.items, dtype=np.int64))
        self._training = user_items
        self._training_dislikes = user_items.dislikes if isinstance(user_items, Dataset) else dislikes
        self._warn()
        return self

    def _warn(self) -> None:
        warn_of_training(self.report_, self.n_iter_)

    @property
    def item_factors(self) -> Any:
        """items x k: scores are `fold_in(user_items) @ item_factors.T`."""
        raise NotImplementedError

    # Histories.

    def _histories(self, user_items: Any, users: Optional[int] = None) -> Arrays:
        items = self.n_items_
        arrays = csr_arrays(user_items, values=self._history_values(), threads=self._threads())
        rows, columns = arrays[0]
        if columns != items:
            hint = "; it looks transposed: users have to be the rows" if rows == items else ""
            raise ValueError(f"user_items has {columns} columns but the model knows {items} items{hint}")
        if users is not None and rows != users:
            raise ValueError(
                f"user_items has {rows} rows for {users} users: it has to hold one row for each, e.g. user_items[userid]"
            )
        return arrays

    def _rows(self, user_items: Any, dislikes: Any, dislike_share: float = 0.0, users: Optional[int] = None) -> Rows:
        """Histories with their dislikes, as the library takes them."""
        arrays = self._histories(user_items, users)
        disliked = None if dislikes is None else csr_arrays(dislikes, values=False, threads=self._threads(), name="dislikes")
        share = number(dislike_share, "dislike_share")
        if not 0 <= share < float("inf"):
            raise ValueError(f"dislike_share {share} is out of range: it has to be at least 0")
        return arrays, disliked, share

    # Recommending.

    def recommend(
        self,
        userid: Any,
        user_items: Any,
        N: int = 10,
        filter_already_liked_items: bool = True,
        filter_items: Any = None,
        recalculate_user: Optional[bool] = None,
        items: Any = None,
        *,
        dislikes: Any = None,
        dislike_share: float = 0.0,
        diversify: float = 0.0,
        filter_user_items: Any = None,
    ) -> Lists:
        """The N best items for a user, or for each of several: their numbers and scores, best first.

        `user_items` holds one row for each user, their history: `user_items[userid]`. `filter_items` are never
        recommended; with `items` only these are; `filter_user_items`, of the shape of `user_items`, holds what each
        user is not recommended either. `dislikes` holds the items that each user dislikes, a row for each as in
        `user_items`: they are never recommended either. WMF solves for users with them; in the other models with a history each
        counts -`dislike_share` where an item of the history counts 1. With `diversify`, 0 to 1, the list is ordered by maximal marginal
        relevance: the larger, the less alike its items are (docs/metrics.md); scores stay the model's. If fewer than N items remain the arrays are narrower; for
        several users a shorter row ends with -1 and NaN. Scores come from the histories in `user_items`;
        `recalculate_user=False` uses the factors of the training users `userid` instead (WMF only).

        >>> import poise, scipy.sparse
        >>> x = scipy.sparse.csr_matrix([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0]])
        >>> model = poise.EASE(regularization=1).fit(x, show_progress=False)
        >>> ids, scores = model.recommend(3, x[3], N=1)
        >>> ids.tolist()
        [1]
        >>> model.recommend([0, 3], x[[0, 3]], N=2)[0].tolist()
        [[2, -1], [1, 2]]
        """
        model = self._fitted()
        one = np.ndim(userid) == 0
        users = np.atleast_1d(np.asarray(userid))
        factors = None
        if recalculate_user is False:
            factors = self._factors_of(users)
        histories = self._rows(user_items, dislikes, dislike_share, len(users))
        threads = self._threads()
        filtered = None
        if filter_user_items is not None:
            filtered = csr_arrays(filter_user_items, values=False, threads=threads, name="filter_user_items")
        found = model.recommend(
            histories,
            whole(N, "N"),
            bool(filter_already_liked_items),
            item_list(filter_items),
            None if items is None else item_list(items),
            float(diversify),
            filtered,
            factors,
            self.device,
            threads,
        )
        return (found[0][0], found[1][0]) if one else found

    def _factors_of(self, users: npt.NDArray[Any]) -> Optional[npt.NDArray[np.float32]]:
        return None  # scores of these models depend on the history alone

    def similar_items(self, itemid: Any, N: int = 10, filter_items: Any = None, items: Any = None) -> Lists:
        """The N items nearest to an item (or to each of several), without itself: numbers and scores, best first.

        The score is that of the other item for a history of this item alone; for WMF the cosine of their factors.

        >>> import poise
        >>> model = poise.EASE(regularization=50).fit(poise.synth("demo"), show_progress=False)
        >>> ids, scores = model.similar_items(0, N=2)
        >>> len(ids), scores[0] >= scores[1]
        (2, True)
        """
        model = self._fitted()
        count = whole(N, "N")
        wanted = item_list(itemid)
        excluded = set(item_list(filter_items))
        only = None if items is None else set(item_list(items))
        if not excluded and only is None:
            found = model.similar(wanted, count, self._threads())
        else:
            asked = self.n_items_ if only is not None else count + len(excluded)
            found = choose(model.similar(wanted, asked, self._threads()), count, excluded, only)
        return (found[0][0], found[1][0]) if np.ndim(itemid) == 0 else found

    def explain(
        self,
        userid: int,
        user_items: Any,
        itemid: int,
        N: Optional[int] = 10,
        *,
        dislikes: Any = None,
        dislike_share: float = 0.0,
    ) -> Explanation:
        """Why an item has its score for a user: what each item of the history adds, largest first, N of them or all.

        `user_items` is the user's row, or the matrix in which it is row `userid`. The contributions of all history
        items, with a `dislike_share` of the `dislikes` too, add up to the score. A model that learnt from a Dataset's features names
        in `features` those that the item shares with each of them.

        >>> import poise, scipy.sparse
        >>> x = scipy.sparse.csr_matrix([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0]])
        >>> model = poise.EASE(regularization=1).fit(x, show_progress=False)
        >>> score, why = model.explain(0, x[0], 2)
        >>> abs(score - sum(part for item, part in why)) < 1e-6
        True
        """
        row, disliked = (each if each is None or each.shape[0] == 1 else each[userid] for each in (user_items, dislikes))
        (_, _, history, values), unwanted, share = self._rows(row, disliked, dislike_share, 1)
        found, shared = self._fitted().explain(history, values, None if unwanted is None else unwanted[2], share, item_list(whole(itemid, "itemid"))[0])
        score = float(sum(contribution for _, contribution in found))
        count = len(found) if N is None else whole(N, "N")
        return Explanation(score, found[:count], shared[:count])

    def fold_in(self, user_items: Any) -> Any:
        """The factors of users who were not in training: scores are `fold_in(user_items) @ item_factors.T`.

        For WMF the solved factors, for AWMF x U, for full-rank models the 0/1 history itself.
        """
        raise NotImplementedError

    def predict(
        self, user_items: Any, items: Any = None, *, dislikes: Any = None, dislike_share: float = 0.0
    ) -> npt.NDArray[np.float32]:
        """The scores of all items (or of these `items`) for each row of `user_items`: a dense users x items array. Dislikes are
        as in `recommend`.

        >>> import poise, scipy.sparse
        >>> x = scipy.sparse.csr_matrix([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0]])
        >>> poise.Popularity().fit(x, show_progress=False).predict(x[:2]).tolist()
        [[3.0, 3.0, 2.0], [3.0, 3.0, 2.0]]
        """
        model = self._fitted()
        histories = self._rows(user_items, dislikes, dislike_share)
        chosen = None if items is None else np.asarray(item_list(items), dtype=np.int64)
        if chosen is not None and chosen.size and (chosen.min() < 0 or chosen.max() >= self.n_items_):
            raise ValueError(f"items are numbered from 0 to {self.n_items_ - 1}")
        rows = histories[0][0][0]
        limit = memory_of(self.memory_limit)
        if 4 * rows * self.n_items_ > limit:
            raise MemoryError(
                f"the scores of {rows} users x {self.n_items_} items take more than the memory limit; "
                "predict fewer users at a time, or use recommend"
            )
        scores = model.scores(histories, self._threads())
        return scores if chosen is None else scores[:, chosen]

    def score(self, user_items: Any, y: None = None) -> float:
        """nDCG@100 on users who were not in training, for scikit-learn's searches: a fifth of the items of everyone who
        has at least five is to be found from the others."""
        from ._evaluate import evaluate, hold_out

        fold_in, held_out = hold_out(user_items)
        return float(evaluate(self, fold_in, held_out, metrics=("ndcg@100",))["metrics"]["ndcg@100"]["mean"])
