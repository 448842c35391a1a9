"""All models, and reading one from a file."""
from __future__ import annotations

import os
from typing import Any, Optional, Type, Union

import numpy as np
import numpy.typing as npt

from . import _poise
from ._full_rank import EASE, EDLAE, FullRank
from ._low_rank import AWMF, WMF
from ._recommender import Memory, Recommender

__all__ = ["AWMF", "EASE", "EDLAE", "FullRank", "Popularity", "WMF", "load"]


class Popularity(Recommender):
    """The baseline: an item's score is the number of its users.

    >>> import poise
    >>> poise.Popularity()
    Popularity()
    """

    _family = "popularity"

    def __init__(
        self,
        *,
        num_threads: int = 0,
        n_jobs: Optional[int] = None,
        memory_limit: Memory = None,
        device: str = "auto",
    ) -> None:
        self._keep(locals())

    @property
    def item_factors(self) -> npt.NDArray[np.float32]:
        """The counts, items x 1."""
        counts: npt.NDArray[np.float32] = self._fitted().tensors()["counts"]
        return counts[:, None]

    def fold_in(self, user_items: Any) -> npt.NDArray[np.float32]:
        """1 for each row: all users have the same scores."""
        return np.ones((self._histories(user_items)[0][0], 1), dtype=np.float32)


def load(path: "Union[str, os.PathLike[str]]") -> Recommender:
    """Reads a model that `save` or the program wrote. Large matrices stay in the file, which is mapped into memory.

    >>> import os, poise, tempfile
    >>> model = poise.EASE(regularization=50).fit(poise.synth("demo"), show_progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "ease.model"))
    ...     poise.load(os.path.join(folder, "ease.model"))
    FullRank(regularization=50, zero_diagonal=True)
    """
    native = _poise.Model.load(os.fspath(path), 0)
    model: Type[Recommender] = Recommender._classes[native.kind]
    return model._from_native(native, os.fspath(path))


if set(Recommender._classes) != set(_poise.families()):
    raise ImportError(f"the families {_poise.families()} and their classes here, {list(Recommender._classes)}, differ")
