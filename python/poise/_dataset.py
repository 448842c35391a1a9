"""Interactions with the ids of their users and items, whole or split."""
from __future__ import annotations

import os
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from . import _html, _poise
from ._content import Content, HeldOut  # noqa: F401, under this name HeldOut is in pickles of version 0.1
from ._frames import log_of_frame, log_of_table
from ._ids import are_numbers, given_ids
from ._progress import Progress
from ._settings import number, seed_of, threads_of

Path = Union[str, "os.PathLike[str]"]


class Dataset(Content):
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

    @classmethod
    def _of(cls, native: _poise.Data, numbers: Tuple[Optional[bool], Optional[bool]] = (None, None)) -> "Dataset":
        data = cls()
        data._native = native
        data._numbers = numbers
        return data

    @classmethod
    def _of_log(cls, log: _poise.Log, numbers: Tuple[Optional[bool], Optional[bool]]) -> "Dataset":
        data = cls()
        data._log = log
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
        return cls._of_log(*log_of_frame(frame, user, item, value, time, dislike_below, time_unit))

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
        return cls._of_log(*log_of_table(table, user, item, value, time, dislike_below, time_unit))

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
        data._users = given_ids(users, rows, "users")
        data._items = given_ids(items, columns, "items")
        data._numbers = (are_numbers(data._users), are_numbers(data._items))
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
            times = split in ("time", "last")
        paths = [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(each) for each in path]
        threads = threads_of(num_threads)
        with Progress(show_progress) as progress:
            names = [] if columns is None else [str(column) for column in columns]
            if len(paths) == 1 and os.path.exists(os.path.join(paths[0], "data.poise")):
                data = cls.load(paths[0], num_threads=num_threads, show_progress=show_progress)
            elif not names and _poise.detect_format(paths, format) == "pro-sg":
                data = cls._of(_poise.Data.read_pro_sg(paths[0], threads, progress.report))
            else:
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
        if split is None:
            return data
        from ._split import split as split_data

        return split_data(data, split, time_unit=time_unit, num_threads=num_threads, **split_options)

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
