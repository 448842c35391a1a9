"""What a model has learned: its report, its ids, its file."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Tuple, Type, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _html, _poise
from ._dataset import Dataset
from ._estimator import Estimator
from ._ids import Index, ids_of
from ._parameters import PARAMETERS
from ._settings import threads_of

Self = TypeVar("Self", bound="Fitted")


class Fitted(Estimator):
    """A model that may have been trained. `fit` or `load` gives it what the library holds."""

    certificate_: Optional[Dict[str, Any]]
    objective_: Optional[float]
    n_iter_: int
    converged_: bool
    report_: Dict[str, Any]
    seconds_: Dict[str, float]
    item_ids_: npt.NDArray[Any]

    # Parameters of every model.
    num_threads: int
    n_jobs: Optional[int]
    memory_limit: Union[int, str, None]
    device: str

    def _threads(self) -> int:
        return threads_of(self.num_threads, self.n_jobs)

    # What was learned.

    def _adopt(self, model: _poise.Model, items: npt.NDArray[Any]) -> None:
        self._model = model
        self.item_ids_ = items
        self.report_ = json.loads(model.report)
        self.certificate_ = self.report_["certificate"]
        self.objective_ = self.report_["objective"]
        self.converged_ = self.report_["converged"]
        low_rank = self.report_["rank"] is not None
        self.n_iter_ = self.report_["rounds" if low_rank else "iterations"]
        self.seconds_ = model.seconds
        self._training: Any = None
        self._training_dislikes: Any = None
        self._index: Optional[Index] = None
        self._user_factors: Optional[npt.NDArray[np.float32]] = None

    def _fitted(self) -> _poise.Model:
        if not hasattr(self, "_model"):
            raise ValueError(f"this {type(self).__name__} is not fitted; call fit first")
        return self._model

    def _fitted_ids(self) -> npt.NDArray[Any]:
        self._fitted()
        return self.item_ids_

    @property
    def n_items_(self) -> int:
        """The size of the catalogue."""
        return self._fitted().items

    @property
    def trace_(self) -> List[Dict[str, Any]]:
        """Objective, inner iterations and seconds after each round of a low-rank model that was just trained."""
        return self._fitted().trace

    def item_index(self, ids: Any) -> Any:
        """The number of the item with this id, or an array of numbers for several ids.

        >>> import poise, pandas
        >>> log = pandas.DataFrame({"user": [1, 1, 2, 2], "item": ["tea", "cup", "tea", "pot"]})
        >>> model = poise.Popularity().fit(poise.Dataset.from_dataframe(log), show_progress=False)
        >>> model.item_index("pot"), model.item_ids_[2]
        (2, 'pot')
        """
        self._fitted()
        if self._index is None:
            self._index = Index(self.item_ids_, "item")
        return self._index.find(ids)

    def _repr_html_(self) -> str:
        parameters = _html.table(("parameter", "value"), self.get_params().items())
        if not hasattr(self, "_model"):
            return _html.titled(f"{type(self).__name__}, not fitted", parameters)
        facts: List[Tuple[str, Any]] = [
            ("items", self.n_items_),
            ("ids", _html.some_ids(self.item_ids_, self.n_items_)),
            ("objective", self.objective_),
            ("converged", "yes" if self.converged_ else "no"),
        ]
        if self.certificate_ is not None:
            facts += [(f"certificate, {name}", value) for name, value in self.certificate_.items() if isinstance(value, float)]
        return _html.titled(type(self).__name__, parameters, _html.table(("fitted", ""), facts))

    # Files and pickles.

    def save(self, path: "Union[str, os.PathLike[str]]") -> None:
        """Writes the model as `poise train` does: the program and `poise.load` read it."""
        self._identify().save(os.fspath(path))

    def _identify(self) -> _poise.Model:
        model = self._fitted()
        if isinstance(self._training, Dataset) and not model.data_checksum:
            native = self._training._native_for_training()
            if native is not None:
                model.data_checksum = native.checksum(self._threads())
        return model

    @classmethod
    def load(cls: Type[Self], path: "Union[str, os.PathLike[str]]") -> Self:
        """Reads a model of this class from a file; `poise.load` reads any."""
        return cls._from_native(_poise.Model.load(os.fspath(path), 0), os.fspath(path))

    @classmethod
    def _from_native(cls: Type[Self], native: _poise.Model, path: str) -> Self:
        if native.kind != cls._family:
            raise ValueError(f"{path} holds a model of the kind {native.kind}, not {cls.__name__}; use poise.load")
        model = cls()
        names = cls._names()
        for keyword, parameter in PARAMETERS.items():
            text = native.options.get(parameter.id)
            if text is None:
                continue
            value = parameter.parse(text)
            if keyword in names:
                setattr(model, keyword, value)
            elif getattr(model, keyword, value) != value:
                raise ValueError(f"{path} holds a model with {keyword}={value}, which is no {cls.__name__}; use poise.load")
        model._adopt(native, ids_of(native.item_ids))
        return model

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(self.__dict__)
        if "_model" in state:
            state["_model"] = self._identify().to_bytes()
            state["_training"] = None
            state["_training_dislikes"] = None
            state["_index"] = None
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_model" in state:
            array = np.ascontiguousarray(state["_model"], dtype=np.uint8)
            # The library reads numbers in place, so they must be aligned to their size.
            self._model = _poise.Model.from_bytes(array if array.ctypes.data % 8 == 0 else array.copy())
