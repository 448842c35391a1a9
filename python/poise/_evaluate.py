"""Measures a model on held-out users."""
from __future__ import annotations

import json
import time
import warnings
from typing import Any, Dict, Iterable, Optional, Tuple, Union

import numpy as np
import scipy.sparse

from . import _html
from ._content import HeldOut
from ._dataset import Dataset
from ._ids import texts_of
from ._matrix import csr_arrays
from ._progress import Callback, Progress
from ._recommender import Recommender

DEFAULT_METRICS = ("recall@20", "recall@50", "ndcg@100")


def metric_list(metrics: Union[str, Iterable[str]]) -> str:
    return metrics if isinstance(metrics, str) else ",".join(metrics)


class Evaluation(Dict[str, Any]):
    """The dict that `evaluate` returns; a notebook shows its metrics as a table."""

    def _repr_html_(self) -> str:
        rows = [(name, each["mean"], each.get("stderr")) for name, each in self["metrics"].items()]
        return _html.titled(f"{self['users']} users", _html.table(("metric", "mean", "standard error"), rows))


def evaluate(
    model: Recommender,
    fold_in: Any,
    held_out: Any = None,
    *,
    metrics: Union[str, Iterable[str]] = DEFAULT_METRICS,
    recall_denominator: str = "min",
    train: Any = None,
    dislikes: Any = None,
    dislike_share: float = 0.0,
    per_user: bool = False,
    show_progress: bool = False,
    callback: Optional[Callback] = None,
) -> Evaluation:
    """Ranks all items outside the history for every user, and averages over the users that have targets.

    `fold_in` and `held_out` are CSR matrices, row k of both for one user, `held_out` without what `fold_in` has: that cannot be
    found, which a warning says ("known_targets"), and where it is all, an error. Or `fold_in` is a `poise.HeldOut`, such as
    `data.test`, with the dislikes of its users. `dislikes` and `dislike_share` are as in `recommend`.

    Returns a dict with the keys of `poise evaluate --json`; with `per_user` also "per_user": a dict with the rows
    ("row") and each metric's values. Metrics of accuracy are recall, ndcg, precision, map, hit-rate, mrr and stratified-recall,
    each @R, and auc; of what is shown: coverage, gini, entropy, popularity, tail-share, novelty, diversity and calibration, each
    @R (docs/metrics.md). Those that compare with the training data need `train`, the training matrix or Dataset, unless the
    model was just fitted.

    >>> import poise
    >>> data = poise.split(poise.synth("demo"))
    >>> model = poise.Popularity().fit(data, show_progress=False)
    >>> result = poise.evaluate(model, data.test)
    >>> result["users"], round(result["metrics"]["recall@20"]["mean"], 4)
    (240, 0.3409)
    """
    if isinstance(fold_in, HeldOut):
        if held_out is not None:
            raise ValueError("give either a poise.HeldOut alone, or two matrices")
        _check_items(model, fold_in)
        dislikes = fold_in.dislikes if dislikes is None else dislikes
        fold_in, held_out = fold_in.fold_in, fold_in.held_out
    if held_out is None:
        raise ValueError("held_out is missing: what is to be found, one row for each user")
    threads = model._threads()
    histories = model._rows(fold_in, dislikes, dislike_share)
    targets = csr_arrays(held_out, values=False, threads=threads, name="held_out")
    wanted = metric_list(metrics)
    training = _training_arrays(model, train, wanted, threads) if model._fitted().needs_training(wanted) else None
    begin = time.monotonic()
    with Progress(show_progress, callback) as progress:
        text, names, rows, values = model._fitted().evaluate(
            histories, targets, training, wanted, recall_denominator, model.device, threads, progress.report
        )
    result = Evaluation(json.loads(text))
    if result["known_targets"]:
        message = f"{result['known_targets']} targets are in their users' histories or disliked, and cannot be found"
        warnings.warn(message, UserWarning, stacklevel=2)
    result["seconds"] = time.monotonic() - begin
    if per_user:
        result["per_user"] = {"row": rows, **{name: values[:, k] for k, name in enumerate(names)}}
    return result


def _check_items(model: Recommender, part: HeldOut) -> None:
    """Checks that the items of model and data agree. A model trained on a matrix has no item ids."""
    known = texts_of(model._fitted_ids())
    bare = known == [str(number) for number in range(len(known))]
    if not bare and known != texts_of(part.items):
        raise ValueError("the model was trained on other items than those of the data; evaluate it on the data it was trained on")


def _training_arrays(model: Recommender, train: Any, wanted: str, threads: int) -> Any:
    train = model._training if train is None else train
    if train is None:
        raise ValueError(f"{wanted} needs the training matrix: evaluate(..., train=user_items)")
    if isinstance(train, Dataset):
        train = train.train
    return csr_arrays(train, values=False, threads=threads, name="train")


def hold_out(user_items: Any, share: float = 0.2, seed: int = 98765) -> Tuple[Any, Any]:
    """Histories and targets: a random `share` of the items of each user that has at least five."""
    (rows, columns), offsets, indices, values = csr_arrays(user_items, values=True)
    random = np.random.RandomState(seed)
    target = np.zeros(indices.size, dtype=bool)
    for begin, end in zip(offsets[:-1], offsets[1:]):
        if end - begin >= 5:
            target[begin + random.choice(end - begin, int(share * (end - begin)), replace=False)] = True
    row = np.repeat(np.arange(rows), np.diff(offsets))

    def part(chosen: Any) -> Any:
        assert values is not None
        return scipy.sparse.csr_matrix((values[chosen], (row[chosen], indices[chosen])), shape=(rows, columns))

    return part(~target), part(target)
