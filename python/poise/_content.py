"""What a Dataset holds: its parts as matrices, which are made when they are asked for."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from . import _poise
from ._ids import Ids, Index, ids_of, texts_of
from ._matrix import Rows, as_scipy, csr_arrays


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


class Content:
    """The data of the library or of the caller, and what was made of it: matrices, ids, held-out users."""

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

    # What the library takes.

    def _has_features(self) -> bool:
        return self._native is not None and bool(self._native.feature_names())

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
