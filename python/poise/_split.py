"""Data split by users, in time or by items."""
from __future__ import annotations

import os
from typing import Any, Optional, Union

from . import _poise
from ._dataset import Dataset
from ._settings import number, seed_of, threads_of, whole


def split(
    data: Any,
    kind: str = "users",
    *,
    held_out_users: Optional[int] = None,
    target_share: float = 0.2,
    min_user_items: int = 5,
    min_item_users: int = 0,
    k_core: bool = False,
    seed: int = 98765,
    test_from: Any = None,
    test_to: Any = None,
    validation_from: Any = None,
    holdout: int = 1,
    time_unit: str = "auto",
    item_features: "Union[str, os.PathLike[str], None]" = None,
    num_threads: int = 0,
) -> Dataset:
    """Splits a Dataset (or a CSR matrix) by users, as `poise prepare` does: by the protocol of Liang et al. (2018),
    with the same random draws. Whole users are held out for validation and for test, `held_out_users` each (by default a tenth), and
    `target_share` of each user's items is to be found from the other items.

    With `kind="time"` the log is cut in time: what is before `test_from` (a date, a datetime, a number as in the log, or a share of the
    latest rows, "10%") is for training, strictly, and a user's later new items are to be found from its earlier ones. Validation
    is cut off before it at `validation_from` (the same, of the rows before `test_from`; "none" for no such part; by default the
    share of `test_from`, else "10%"); rows at or after `test_to` are left out. With `kind="last"` the `holdout` items that a user came
    to last are for test, and as many before them for validation. Both need data with times (`Dataset.from_file(..., times=True)`,
    `from_dataframe(..., time=...)`); filters count the rows before the cuts alone.

    `item_features` is a file of what is known of the items besides (see `Dataset.with_item_features`). With `kind="cold-items"` a tenth
    of the items that have features is held out wholly: no row of them is for training, half of them are to be found in validation and
    half in test. Searches and studies of such data rank these items alone.

    >>> import poise
    >>> data = poise.split(poise.synth("demo"), held_out_users=100)
    >>> data
    <poise.Dataset: 2200 users x 700 items, 92469 interactions, 100 users for validation, 100 users for test>
    >>> data.test.held_out.shape
    (100, 700)
    """
    if not isinstance(data, Dataset):
        data = Dataset.from_csr(data)
    if data.kind != "none":
        raise ValueError("the data is split already")
    filters = (whole(min_user_items, "min_user_items"), whole(min_item_users, "min_item_users"), bool(k_core))
    threads = threads_of(num_threads)
    if kind == "time":
        if test_from is None:
            raise ValueError('split "time" needs test_from: a date, a number as in the log, or a share such as "10%"')
        start = None if validation_from is None else str(validation_from)
        end = None if test_to is None else str(test_to)
        native = _poise.Data.split_time(data._as_log(), *filters, str(test_from), start, end, time_unit, threads, None)
    elif kind == "last":
        native = _poise.Data.split_last(data._as_log(), *filters, whole(holdout, "holdout"), threads, None)
    elif kind == "cold-items":
        if item_features is None:
            raise ValueError('split "cold-items" needs item_features: the file of what is known of the items')
        path = os.fspath(item_features)
        native = _poise.Data.split_cold_items(data._as_log(), *filters, path, seed_of(seed), threads, None)
    elif kind == "users":
        share = number(target_share, "target_share")
        if not 0 < share < 1:
            raise ValueError(f"target_share {share} is out of range: it has to be above 0 and below 1")
        held_out = None if held_out_users is None else whole(held_out_users, "held_out_users")
        native = _poise.Data.split_users(data._as_log(), *filters, held_out, share, seed_of(seed), threads, None)
    else:
        raise ValueError(f"kind has to be users, time, last or cold-items, not {kind!r}")
    if item_features is not None and kind != "cold-items":
        native = native.with_item_features(os.fspath(item_features))
    return Dataset._of(native, data._numbers)
