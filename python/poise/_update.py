"""New rows in a trained model."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

from . import _poise
from ._dataset import Dataset
from ._ids import ids_of
from ._progress import Callback, Progress
from ._recommender import Recommender
from ._settings import memory_of


class Updated(NamedTuple):
    """What `update` returns: the model of the merged data, these data, and what was done."""

    model: Recommender
    data: Dataset
    how: Dict[str, Any]


def update(
    model: Recommender,
    data: Dataset,
    new: Optional[Dataset] = None,
    *,
    remove: Optional[Dataset] = None,
    item_features: "Union[str, os.PathLike[str], None]" = None,
    keep_lambda: bool = False,
    refit: bool = False,
    show_progress: bool = True,
    callback: Optional[Callback] = None,
) -> Updated:
    """Brings new rows into a trained model, as `poise update` does: the result is that of a training on the merged data.

    `data` is what the model was trained on. `new` holds rows to add, of users and items that are there or not, `remove` pairs to
    take out, which happens first; both are Datasets that are not split. Rows of held-out users are left out. `item_features` is a file of what is
    known of items that have no features so far (see `Dataset.with_item_features`); features that the data lack are left out and
    counted. Where Lambda or the
    weights depend on counts the model is trained again, unless `keep_lambda` keeps those of the last training; with `refit` in any case. The rounds of a low-rank model begin at its factors,
    and may end at others than a training's ("warm" in the dict).

    Returns the new model, whose parameters are those that the old one was trained with, the merged data, which the next update
    needs, and a dict with the key "update" of `poise update --json`: what became of the rows, and in "refitted" why the model was
    trained again, or None. The model and the data that were given stay as they are.

    A dense full-rank model takes a part of the time of a training if it was trained with `fit(..., keep_inverse=True)`. It holds
    the inverse until it is pickled, and `save` writes it beside the model; a model that was loaded reads it from there.

    >>> import pandas, poise
    >>> data = poise.split(poise.synth("demo"))
    >>> model = poise.EASE(regularization=200).fit(data, keep_inverse=True, show_progress=False)
    >>> today = pandas.DataFrame({"user": ["ann", "ann", "ann"], "item": [17, 23, 701]})
    >>> model, data, how = poise.update(model, data, poise.Dataset.from_dataframe(today), show_progress=False)
    >>> how["new_users"], how["new_items"], how["refitted"], model.n_items_
    (1, 1, None, 701)
    """
    native, before = _pair(model, data)
    log, removed = _log_of(new, "new"), _log_of(remove, "remove")
    with Progress(show_progress, callback) as progress:
        made, merged, text = _poise.update(
            native,
            before,
            log,
            removed,
            None if item_features is None else os.fspath(item_features),
            bool(keep_lambda),
            bool(refit),
            model.device,
            memory_of(model.memory_limit),
            model._threads(),
            progress.report,
        )
    numbers = (_both_numbers(0, data, new), _both_numbers(1, data, new))
    result = Dataset._of(merged, numbers)
    updated = model.clone()
    updated._adopt(made, ids_of(made.item_ids, numbers[1]))
    updated._training = result
    updated._warn()
    return Updated(updated, result, json.loads(text))


def _pair(model: Recommender, data: Dataset) -> Tuple[_poise.Model, _poise.Data]:
    """The library's objects; ValueError unless the model was trained on these data."""
    if not isinstance(data, Dataset):
        raise TypeError(f"data has to be the poise.Dataset that the model was trained on, not {type(data).__name__}")
    native = model._identify()
    before = data._prepared()
    if model._training is not data and native.data_checksum != before.checksum(model._threads()):
        raise ValueError("the model was trained on other data; give the Dataset that it was trained on")
    return native, before


def _log_of(rows: Optional[Dataset], name: str) -> Optional[_poise.Log]:
    if rows is None:
        return None
    if not isinstance(rows, Dataset):
        raise TypeError(f"{name} has to be a poise.Dataset, not {type(rows).__name__}; Dataset.from_dataframe, from_arrow and from_file make one")
    if rows.kind != "none":
        raise ValueError(f"{name} is split; give a Dataset of the rows alone")
    return rows._as_log()


def _both_numbers(side: int, data: Dataset, new: Optional[Dataset]) -> Optional[bool]:
    """Whether the ids of users (side 0) or items (1) are numbers in the data and in the new rows; None: as they look."""
    known = [each._numbers[side] for each in (data, new) if each is not None]
    return False if False in known else None if None in known else True
