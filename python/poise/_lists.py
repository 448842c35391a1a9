"""Lists of items and their scores."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

Lists = Tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]


class _Explanation(NamedTuple):
    score: float
    contributions: List[Tuple[int, float]]


class Explanation(_Explanation):
    """A score, and what each item of the history adds to it, largest first. `features` has for each of these the names of the
    features that it shares with the explained item; none where the model knows no features."""

    features: List[List[str]]

    def __new__(cls, score: float, contributions: List[Tuple[int, float]], features: Optional[List[List[str]]] = None) -> "Explanation":
        explanation = super().__new__(cls, score, contributions)
        explanation.features = [] if features is None else features
        return explanation


def item_list(items: Any) -> List[int]:
    """Numbers of items (or users), as the library takes them."""
    if items is None:
        return []
    array = np.atleast_1d(np.asarray(list(items) if isinstance(items, (set, frozenset)) else items))
    if array.size == 0:
        return []
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise ValueError(f"{items!r} are not the numbers of items; item_index finds those of ids")
    if array.min() < -(2**31) or array.max() >= 2**31:
        raise ValueError(f"{int(array.max())} is not the number of an item")
    return [int(item) for item in array]


def choose(found: Lists, count: int, excluded: Any, only: Any) -> Lists:
    """The first `count` of each row that are allowed, as wide as the longest."""
    rows = []
    for ids, scores in zip(*found):
        kept = [k for k, item in enumerate(ids) if item >= 0 and item not in excluded and (only is None or item in only)]
        rows.append((ids[kept[:count]], scores[kept[:count]]))
    width = max((len(ids) for ids, _ in rows), default=0)
    all_ids = np.full((len(rows), width), -1, dtype=np.int32)
    all_scores = np.full((len(rows), width), np.nan, dtype=np.float32)
    for k, (ids, scores) in enumerate(rows):
        all_ids[k, : len(ids)] = ids
        all_scores[k, : len(scores)] = scores
    return all_ids, all_scores
