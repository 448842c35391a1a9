"""Logs of tables in memory: a pandas.DataFrame, or what has `__arrow_c_stream__`."""
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _poise
from ._ids import are_numbers, texts_of
from ._settings import number


def log_of_frame(
    frame: Any, user: str, item: str, value: Optional[str], time: Optional[str], dislike_below: Optional[float], time_unit: str
) -> Tuple[_poise.Log, Tuple[Optional[bool], Optional[bool]]]:
    """A log with a row for each row that has both ids, and whether the ids of users and of items are whole numbers, where that is known."""
    others = [column for column in (value, time) if column is not None]
    for column in [user, item] + others:
        if column not in frame:
            raise ValueError(f"the frame has no column {column!r}; it has {', '.join(map(repr, frame.columns))}")
    frame = frame[[user, item] + others]
    whole_rows = frame[[user, item]].notna().all(axis=1).to_numpy()
    rows = frame[whole_rows]
    if len(rows) == 0:
        raise ValueError("the frame has no row with both a user and an item")
    (user_codes, users), (item_codes, items) = _numbered(rows[user]), _numbered(rows[item])
    log = _poise.Log.from_arrays(
        user_codes,
        item_codes,
        None if value is None else _values(rows[value].to_numpy(), value),
        None if time is None else _times(rows[time], time, time_unit),
        texts_of(users),
        texts_of(items),
        int(len(frame) - len(rows)),
        _threshold(dislike_below, value),
    )
    return log, (are_numbers(users), are_numbers(items))


def log_of_table(
    table: Any, user: str, item: str, value: Optional[str], time: Optional[str], dislike_below: Optional[float], time_unit: str
) -> Tuple[_poise.Log, Tuple[Optional[bool], Optional[bool]]]:
    """The same of an Arrow table."""
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(
            f"{type(table).__name__} has no __arrow_c_stream__: a table of polars, pyarrow or DuckDB is needed; "
            "from_dataframe takes frames of pandas"
        )
    stream = table.__arrow_c_stream__()  # named, so that it outlives an exception of the next line
    log, users, items = _poise.log_from_stream(stream, user, item, value, _threshold(dislike_below, value), time, time_unit)
    return log, (users, items)


def _threshold(dislike_below: Optional[float], value: Optional[str]) -> Optional[float]:
    """`dislike_below`, which goes with a column of values."""
    if dislike_below is None:
        return None
    if value is None:
        raise ValueError("dislike_below needs values: name their column in value")
    return number(dislike_below, "dislike_below")


def _numbered(column: Any) -> Tuple[npt.NDArray[np.int32], List[Any]]:
    """Each row's number by first appearance of its id, and the ids."""
    import pandas

    if column.dtype.kind == "f" and np.all(np.mod(column.to_numpy(), 1) == 0):
        column = column.astype(np.int64)  # whole numbers in a column with missing values
    codes, ids = pandas.factorize(column)
    return np.ascontiguousarray(codes, dtype=np.int32), list(ids)


def _values(values: Any, name: str) -> npt.NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(values, dtype=np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"the column {name!r} holds something that is not a number") from None
    if not np.isfinite(single).all():
        raise ValueError(f"the column {name!r} holds NaN, an infinite value or one beyond float32; remove such rows first")
    return single


def _times(column: Any, name: str, unit: str) -> npt.NDArray[np.int64]:
    """Microseconds since 1970."""
    if column.isna().any():
        raise ValueError(f"the column {name!r} lacks the time of a row; remove such rows first")
    if column.dtype.kind == "M":  # with a zone or without, which is UTC
        zoned = getattr(column.dt, "tz", None) is not None
        plain = column.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else column
        return np.ascontiguousarray(plain.to_numpy().astype("datetime64[us]").astype(np.int64))
    return np.asarray(_poise.parse_times([str(each) for each in column], unit), dtype=np.int64)
