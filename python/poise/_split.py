"""Data split by users."""
from __future__ import annotations

from typing import Any, Optional

from . import _poise
from ._dataset import Dataset
from ._settings import number, seed_of, threads_of, whole


def split(
    data: Any,
    *,
    held_out_users: Optional[int] = None,
    target_share: float = 0.2,
    min_user_items: int = 5,
    min_item_users: int = 0,
    k_core: bool = False,
    seed: int = 98765,
    num_threads: int = 0,
) -> Dataset:
    """Splits a Dataset (or a CSR matrix) by users, as `poise prepare` does: by the protocol of Liang et al. (2018),
    with the same random draws. Whole users are held out for validation and for test, `held_out_users` each (by default a tenth), and
    `target_share` of each user's items is to be found from the other items.

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
    share = number(target_share, "target_share")
    if not 0 < share < 1:
        raise ValueError(f"target_share {share} is out of range: it has to be above 0 and below 1")
    held_out = None if held_out_users is None else whole(held_out_users, "held_out_users")
    native = _poise.Data.split_users(
        data._as_log(),
        whole(min_user_items, "min_user_items"),
        whole(min_item_users, "min_item_users"),
        bool(k_core),
        held_out,
        share,
        seed_of(seed),
        threads_of(num_threads),
        None,
    )
    return Dataset._of(native, data._numbers)
