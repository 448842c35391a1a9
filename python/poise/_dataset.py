"""Interactions with the ids of their users and items, whole or split."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _html, _poise
from ._ids import Ids, Index, ids_of, texts_of
from ._matrix import Rows, as_scipy, csr_arrays
from ._progress import Progress
from ._settings import number, seed_of, threads_of

Path = Union[str, "os.PathLike[str]"]


class HeldOut:
    """Users to score: `fold_in` holds their histories, `held_out` the items to be found; row k of both is `users[k]`, and
    column i is `items[i]`. `dislikes`, unless None, holds what they dislike."""

    def __init__(self, users: Ids, items: Ids, fold_in: Any, held_out: Any, dislikes: Any = None) -> None:
        self.users = users
        self.items = items
        self.fold_in = fold_in
        self.held_out = held_out
        self.dislikes = dislikes

    def __repr__(self) -> str:
        return f"<poise.HeldOut: {len(self.users)} users, {self.fold_in.nnz} + {self.held_out.nnz} interactions>"


class Dataset:
    """Interactions with ids: `train` is a CSR matrix, `users` and `items` are the ids of its rows and columns.

    Ids are whole numbers or texts. After `poise.split`, or if a file holds a split, `validation` and `test` are the
    held-out users, and `train` has the others. Made by `from_dataframe`, `from_arrow`, `from_csr`,
    `from_file`, `load` and `poise.synth`.

    >>> import pandas, poise
    >>> log = pandas.DataFrame({"user": ["ann", "ann", "bob"], "item": [10, 20, 20]})
    >>> data = poise.Dataset.from_dataframe(log)
    >>> data
    <poise.Dataset: 2 users x 2 items, 3 interactions>
    >>> data.users.tolist(), data.items.tolist()
    (['ann', 'bob'], [10, 20])
    >>> data.train[data.user_index("bob"), data.item_index(20)]
    1.0
    """

    def __init__(self) -> None:
        self._log: Optional[_poise.Log] = None
        self._native: Optional[_poise.Data] = None
        self._folder: Optional[str] = None  # the folder of the data and of their eigenpairs
        self._numbers: Tuple[Optional[bool], Optional[bool]] = (None, None)  # whether user and item ids are numbers
        self._train: Any = None
        self._dislikes: Any = None
        self._features: Any = None
        self._users: Optional[Ids] = None
        self._items: Optional[Ids] = None
        self._parts: Dict[str, HeldOut] = {}
        self._indices: Dict[str, Index] = {}

    @classmethod
    def _of(cls, native: _poise.Data, numbers: Tuple[Optional[bool], Optional[bool]] = (None, None)) -> "Dataset":
        data = cls()
        data._native = native
        data._numbers = numbers
        return data

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        user: str = "user",
        item: str = "item",
        value: Optional[str] = None,
        time: Optional[str] = None,
        *,
        dislike_below: Optional[float] = None,
        time_unit: str = "auto",
    ) -> "Dataset":
        """From a pandas.DataFrame, one row per interaction. Rows without user or item are left out; repeated pairs are merged
        and their values (of the column `value`) added. Rows whose value is less than `dislike_below` are dislikes. The column
        `time` (datetimes, ISO 8601 texts, or numbers that count `time_unit` since 1970) is for splits in time.

        >>> import pandas, poise
        >>> log = pandas.DataFrame({"who": [1, 1, 1], "what": ["tea", "cup", "tea"], "n": [1, 2, 3]})
        >>> poise.Dataset.from_dataframe(log, "who", "what", "n").train.toarray().tolist()
        [[4.0, 2.0]]
        """
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
        data = cls()
        data._numbers = (_are_numbers(users), _are_numbers(items))
        data._log = _poise.Log.from_arrays(
            user_codes,
            item_codes,
            None if value is None else _values(rows[value].to_numpy(), value),
            None if time is None else _times(rows[time], time, time_unit),
            texts_of(users),
            texts_of(items),
            int(len(frame) - len(rows)),
            _threshold(dislike_below, value),
        )
        return data

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        user: str = "user",
        item: str = "item",
        value: Optional[str] = None,
        time: Optional[str] = None,
        *,
        dislike_below: Optional[float] = None,
        time_unit: str = "auto",
    ) -> "Dataset":
        """From a table of polars, pyarrow, DuckDB or anything else with `__arrow_c_stream__`, one row per interaction; no package
        is needed for it. Ids are columns of whole numbers or texts, also as dictionaries (categories); values are numbers. A null is an
        error; repeated pairs are merged and their values added. Rows whose value is less than `dislike_below` are dislikes.
        `time` (timestamps, dates, ISO 8601 texts, or numbers that count `time_unit` since 1970) is for splits in time.

            poise.Dataset.from_arrow(polars.read_parquet("log.parquet"), "customer", "product")
        """
        if not hasattr(table, "__arrow_c_stream__"):
            raise TypeError(
                f"{type(table).__name__} has no __arrow_c_stream__: a table of polars, pyarrow or DuckDB is needed; "
                "from_dataframe takes frames of pandas"
            )
        data = cls()
        stream = table.__arrow_c_stream__()  # named, so that it outlives an exception of the next line
        data._log, users, items = _poise.log_from_stream(
            stream, user, item, value, _threshold(dislike_below, value), time, time_unit
        )
        data._numbers = (users, items)
        return data

    @classmethod
    def from_csr(
        cls,
        user_items: Any,
        users: Optional[Sequence[Any]] = None,
        items: Optional[Sequence[Any]] = None,
        *,
        dislikes: Any = None,
    ) -> "Dataset":
        """A CSR matrix, users as rows, with the ids of its rows and columns (by default their numbers). It is not copied.
        `dislikes`, a matrix of the same shape, holds what users are known to dislike; an entry of both is liked.

        >>> import poise, scipy.sparse
        >>> x = scipy.sparse.csr_matrix([[1, 0], [1, 1]])
        >>> poise.Dataset.from_csr(x, items=["tea", "cup"]).items.tolist()
        ['tea', 'cup']
        """
        data = cls()
        data._train = user_items.tocsr()
        if dislikes is not None:
            if dislikes.shape != user_items.shape:
                raise ValueError(f"dislikes is {dislikes.shape} but user_items is {user_items.shape}: give them the same shape")
            data._dislikes = dislikes.tocsr()
        rows, columns = data._train.shape
        data._users = _given(users, rows, "users")
        data._items = _given(items, columns, "items")
        data._numbers = (_are_numbers(data._users), _are_numbers(data._items))
        return data

    @classmethod
    def from_file(
        cls,
        path: Union[Path, Iterable[Path]],
        format: str = "auto",
        *,
        columns: Optional[Sequence[Union[str, int]]] = None,
        delimiter: str = "",
        header: Optional[bool] = None,
        keep_above: Optional[float] = None,
        dislike_below: Optional[float] = None,
        skip_bad_lines: bool = False,
        times: bool = False,
        time_unit: str = "auto",
        split: Optional[str] = None,
        num_threads: int = 0,
        show_progress: bool = True,
        **split_options: Any,
    ) -> "Dataset":
        """Reads what `poise prepare` reads (logs of any delimiter, MovieLens, Netflix, ..., plain, gzip or zstd; a log may
        be several files), a folder in Liang's `pro_sg` layout, or prepared data like `load`.

        `columns` names or numbers (from 1) the columns of user, item and optionally value and time ("" for no value). `keep_above`
        keeps rows whose value is greater; by default 3.5 for the movielens and netflix formats, as in the program. Rows whose value is less
        than `dislike_below` are dislikes. With `times` the rows' times are read, for a later `poise.split(data, "time", ...)`; with `split` ("users", "time" or "last") and the
        keywords of `poise.split` that is done at once:

            poise.Dataset.from_file("ratings.csv", split="time", test_from="2015-01-01")
        """
        if split is None and split_options:
            raise TypeError(f"from_file has no keyword {next(iter(split_options))!r} without split")
        if split is not None:
            from ._split import split as split_data

            log = cls.from_file(
                path,
                format,
                columns=columns,
                delimiter=delimiter,
                header=header,
                keep_above=keep_above,
                dislike_below=dislike_below,
                skip_bad_lines=skip_bad_lines,
                times=split in ("time", "last"),
                time_unit=time_unit,
                num_threads=num_threads,
                show_progress=show_progress,
            )
            return split_data(log, split, time_unit=time_unit, num_threads=num_threads, **split_options)
        paths = [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(each) for each in path]
        threads = threads_of(num_threads)
        with Progress(show_progress) as progress:
            if len(paths) == 1 and os.path.exists(os.path.join(paths[0], "data.poise")):
                return cls.load(paths[0], num_threads=num_threads, show_progress=show_progress)
            names = [] if columns is None else [str(column) for column in columns]
            if not names and _poise.detect_format(paths, format) == "pro-sg":
                return cls._of(_poise.Data.read_pro_sg(paths[0], threads, progress.report))
            data = cls()
            data._log = _poise.Log.read(
                paths,
                format,
                names,
                delimiter,
                header,
                keep_above,
                dislike_below,
                skip_bad_lines,
                bool(times),
                time_unit,
                threads,
                progress.report,
            )
            return data

    @classmethod
    def load(cls, folder: Path, *, num_threads: int = 0, show_progress: bool = True) -> "Dataset":
        """Prepared data: a folder that `save` or `poise prepare` wrote.

        >>> import os, poise, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     poise.split(poise.synth("demo")).save(folder)
        ...     poise.Dataset.load(folder, show_progress=False).kind
        'users'
        """
        path = os.fspath(folder)
        with Progress(show_progress) as progress:
            data = cls._of(_poise.Data.read(path, threads_of(num_threads), progress.report))
        data._folder = path
        return data

    def save(self, folder: Path) -> None:
        """Writes the data as `poise prepare` does; `load` and every command of the program take the folder."""
        self._prepared().write(os.fspath(folder), 0, None)

    def export_pro_sg(self, folder: Path, values: bool = False) -> None:
        """Writes the csv layout of Liang et al., for other programs."""
        if not self._has("validation") or not self._has("test"):
            raise ValueError("only data that is split has this layout; use poise.split")
        self._prepared().write_pro_sg(os.fspath(folder), values, 0)

    # Content.

    @property
    def train(self) -> Any:
        """Users x items, CSR; all interactions if the data is not split."""
        if self._train is None:
            self._train = as_scipy(self._prepared().train)
        return self._train

    @property
    def dislikes(self) -> Any:
        """What the users of `train` are known to dislike, users x items, CSR; None if nothing is.

        >>> import pandas, poise
        >>> log = pandas.DataFrame({"user": [1, 1, 2, 2], "item": ["tea", "cup", "tea", "cup"], "stars": [5, 1, 4, 5]})
        >>> poise.Dataset.from_dataframe(log, value="stars", dislike_below=3).dislikes.toarray().tolist()
        [[0.0, 1.0], [0.0, 0.0]]
        """
        if self._dislikes is None and self._native_for_training() is not None:
            arrays = self._prepared().dislikes("train")
            self._dislikes = None if arrays is None else as_scipy(arrays)
        return self._dislikes

    @property
    def users(self) -> Ids:
        """The ids of the rows of `train`."""
        if self._users is None:
            self._users = ids_of(self._prepared().users, self._numbers[0])
        return self._users

    @property
    def items(self) -> Ids:
        """The ids of the columns."""
        if self._items is None:
            self._items = ids_of(self._prepared().items, self._numbers[1])
        return self._items

    @property
    def validation(self) -> HeldOut:
        """Held-out users to choose parameters on; ValueError if the data is not split."""
        return self._part("validation")

    @property
    def test(self) -> HeldOut:
        """Held-out users to measure on; ValueError if the data is not split."""
        return self._part("test")

    @property
    def kind(self) -> str:
        """How it was split: users, given, none, time or last."""
        return "none" if self._native is None else self._native.split

    @property
    def counts(self) -> Dict[str, int]:
        """How much was merged and left out when it was read: the counts of `poise prepare --json`."""
        return self._prepared().counts

    @property
    def cuts(self) -> Dict[str, Optional[str]]:
        """Where the split "time" cuts the log: `validation_from`, `test_from` and `test_to`; empty for other splits."""
        return {} if self._native is None else self._native.cuts

    def user_index(self, ids: Any) -> Any:
        """The row of a user, or an array of rows for several ids; KeyError for an unknown id."""
        return self._index("user").find(ids)

    def item_index(self, ids: Any) -> Any:
        """The column of an item, or an array of columns for several ids; KeyError for an unknown id."""
        return self._index("item").find(ids)

    @property
    def shape(self) -> Tuple[int, int]:
        """The shape of `train`."""
        rows, columns = self.train.shape
        return int(rows), int(columns)

    def __repr__(self) -> str:
        rows, columns = self.shape
        parts = "".join(
            f", {len(self._part(name).users)} users for {name}" for name in ("validation", "test") if self._has(name)
        )
        return f"<poise.Dataset: {rows} users x {columns} items, {self.train.nnz} interactions{parts}>"

    def _repr_html_(self) -> str:
        rows: List[Tuple[str, int, int]] = [("train", self.shape[0], int(self.train.nnz))]
        for name in ("validation", "test"):
            if self._has(name):
                part = self._part(name)
                rows.append((name, len(part.users), int(part.fold_in.nnz + part.held_out.nnz)))
        ids = [(what, len(each), _html.some_ids(each, len(each))) for what, each in (("users", self.users), ("items", self.items))]
        return _html.titled(
            "poise.Dataset", _html.table(("part", "users", "interactions"), rows), _html.table(("", "number", "ids"), ids)
        )

    @property
    def item_features(self) -> Any:
        """What is known of the items besides who has them: items x features, CSR; None if nothing is. `feature_names` are the columns."""
        if not self._has_features():
            return None
        if self._features is None:
            self._features = as_scipy(self._prepared().features()).T.tocsr()
        return self._features

    @property
    def feature_names(self) -> List[str]:
        """The names of the columns of `item_features`."""
        return self._prepared().feature_names() if self._has_features() else []

    def with_item_features(self, path: Path) -> "Dataset":
        """The same data with features of its items from a file, as `poise prepare --item-features` reads it: a column of ids, and
        columns of categories and numbers, or `feature` and perhaps `value`.

        >>> import pathlib, tempfile, poise
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "features.csv"
        >>> _ = file.write_text("item,feature\\n0,heavy\\n1,heavy\\n")
        >>> data = poise.synth("demo").with_item_features(file)
        >>> data.feature_names, data.item_features.shape[1]
        (['heavy'], 1)
        """
        return Dataset._of(self._prepared().with_item_features(os.fspath(path)), self._numbers)

    def _has_features(self) -> bool:
        return self._native is not None and bool(self._native.feature_names())

    # Storage.

    def _prepared(self) -> _poise.Data:
        if self._native is None and self._log is not None:
            self._native = _poise.Data.split_none(self._log, 0, 0, False, 0, None)
        elif self._native is None:
            self._native = _poise.Data.from_csr(self._rows(), texts_of(self.users), texts_of(self.items))
        return self._native

    def _native_for_training(self) -> Optional[_poise.Data]:
        """None if the matrix is the caller's, which is used for training without a copy."""
        return self._prepared() if self._log is not None else self._native

    def _as_log(self) -> _poise.Log:
        if self._log is not None:
            return self._log
        return _poise.Log.from_csr(self._rows(), texts_of(self.users), texts_of(self.items))

    def _rows(self) -> Rows:
        dislikes = self.dislikes
        return (
            csr_arrays(self.train, values=True),
            None if dislikes is None else csr_arrays(dislikes, values=False, name="dislikes"),
            0.0,
        )

    def _item_texts(self) -> List[str]:
        return texts_of(self.items)

    def _has(self, part: str) -> bool:
        return self._native is not None and self._native.has_part(part)

    def _part(self, name: str) -> HeldOut:
        if name not in self._parts:
            if not self._has(name):
                raise ValueError(f"the data has no {name} part; split it with poise.split")
            native = self._prepared()
            disliked = native.dislikes(name)
            self._parts[name] = HeldOut(
                ids_of(native.part_users(name), self._numbers[0]),
                self.items,
                as_scipy(native.fold_in(name)),
                as_scipy(native.targets(name)),
                None if disliked is None else as_scipy(disliked),
            )
        return self._parts[name]

    def _index(self, what: str) -> Index:
        if what not in self._indices:
            self._indices[what] = Index(self.users if what == "user" else self.items, what)
        return self._indices[what]

    def __getstate__(self) -> Any:
        raise TypeError("a Dataset is not pickled; save it to a folder, which Dataset.load reads")


def synth(like: str = "demo", *, scale: float = 1.0, seed: int = 1, values: bool = False, num_threads: int = 0) -> Dataset:
    """Realistic synthetic feedback of the shape of ml-20m, netflix, msd, amazon-book, million or demo, as `poise synth` makes it.

    >>> import poise
    >>> poise.synth("demo", seed=2).shape
    (2400, 700)
    """
    data = Dataset()
    data._log = _poise.Log.synthesize(like, number(scale, "scale"), seed_of(seed), values, threads_of(num_threads))
    return data


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


def _threshold(dislike_below: Optional[float], value: Optional[str]) -> Optional[float]:
    if dislike_below is None:
        return None
    if value is None:
        raise ValueError("dislike_below needs values: name their column in value")
    return number(dislike_below, "dislike_below")


def _times(column: Any, name: str, unit: str) -> npt.NDArray[np.int64]:
    """Microseconds since 1970."""
    if column.isna().any():
        raise ValueError(f"the column {name!r} lacks the time of a row; remove such rows first")
    if column.dtype.kind == "M":  # with a zone or without, which is UTC
        zoned = getattr(column.dt, "tz", None) is not None
        plain = column.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else column
        return np.ascontiguousarray(plain.to_numpy().astype("datetime64[us]").astype(np.int64))
    return np.asarray(_poise.parse_times([str(each) for each in column], unit), dtype=np.int64)


def _are_numbers(ids: Union[Sequence[Any], Ids]) -> bool:
    return len(ids) > 0 and all(isinstance(each, (int, np.integer)) and not isinstance(each, bool) for each in ids)


def _given(ids: Optional[Sequence[Any]], size: int, what: str) -> Ids:
    if ids is None:
        return np.arange(size, dtype=np.int64)
    if len(ids) != size:
        raise ValueError(f"{len(ids)} ids for {size} {what}: one for each is needed")
    texts = texts_of(ids)
    if len(set(texts)) != size:
        raise ValueError(f"the ids of the {what} are not distinct")
    return ids_of(texts, _are_numbers(list(ids)))
