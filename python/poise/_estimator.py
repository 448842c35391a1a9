"""A model's parameters in scikit-learn's protocol, and their translation for the library."""
from __future__ import annotations

import inspect
import warnings
from typing import Any, ClassVar, Dict, Iterable, List, Type, TypeVar

from . import _poise
from ._parameters import PARAMETERS, WEIGHTINGS, documentation, of_family

Self = TypeVar("Self", bound="Estimator")


class ConvergenceWarning(UserWarning):
    """Training ended before it converged, or with a model whose scores are all 0; the certificate still holds."""


def warn_of_training(report: Dict[str, Any], rounds: int) -> None:
    if report.get("live_directions") == 0:
        message = "the regularization leaves no direction alive: every score is 0; lower regularization"
    elif report["converged"]:
        return
    elif report["rank"] is not None:
        message = f"the objective still fell after {rounds} rounds; raise iterations to continue"
    else:
        message = "the tolerance was not reached; certificate_ says how close the model is"
    warnings.warn(message, ConvergenceWarning, stacklevel=4)


def warn_without_values(data: _poise.Data, weightings: Iterable[str]) -> None:
    """Warns if a weighting reads values and the data has none; the library refuses weightings that require values."""
    for weighting in weightings:
        if WEIGHTINGS.get(weighting, ("", ""))[1] == "if any" and not data.has_values:
            message = f"the data has no values: weighting={weighting!r} takes each as 1, so all entries have the same weight"
            warnings.warn(message, UserWarning, stacklevel=3)


class Estimator:
    """Base of classes with parameters: the arguments of `__init__`, stored under the same names."""

    _family: ClassVar[str] = ""
    # The class of each family.
    _classes: ClassVar[Dict[str, Type[Any]]] = {}

    def __init_subclass__(cls) -> None:
        """A model of this package has to take every parameter that the library declares for its family, or fix it."""
        super().__init_subclass__()
        if not cls._family or not cls.__module__.startswith(__package__):
            return
        own = of_family(cls._family)
        for keyword in own:
            if keyword not in cls._names() and not hasattr(cls, keyword):
                raise TypeError(f"{cls.__name__} lacks the parameter {keyword} of {cls._family}")
        for name in cls._names():
            # Searches draw by a seed, too.
            if name in PARAMETERS and name not in own and name != "random_state":
                raise TypeError(f"{cls._family} has no parameter {name}, which {cls.__name__} takes")
        cls.__init__.__doc__ = documentation(cls._family, cls._names())
        if "_family" in cls.__dict__:
            cls._classes[cls._family] = cls

    def _keep(self, given: Dict[str, Any]) -> None:
        """Keeps what `__init__` was given, its locals(), under the same names."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    @classmethod
    def _names(cls) -> List[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters that `__init__` takes, by name.

        >>> import poise
        >>> poise.EASE(regularization=300).get_params()["regularization"]
        300
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Sets parameters by name; they take effect at the next `fit`."""
        names = self._names()
        for name, value in params.items():
            if name not in names:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names)}")
            setattr(self, name, value)
        return self

    def clone(self: Self) -> Self:
        """A new model with the same parameters, not fitted."""
        return type(self)(**self.get_params())

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name].default]
        return f"{type(self).__name__}({', '.join(given)})"

    def _native_parameters(self) -> Dict[str, Any]:
        values: Dict[str, Any] = {"model": self._family}
        for keyword, parameter in PARAMETERS.items():
            if hasattr(self, keyword):
                values[parameter.id] = parameter.read(getattr(self, keyword))
        return values

    def _weighting(self) -> str:
        return str(getattr(self, "weighting", "none"))

    def _training_values(self) -> bool:
        return bool(WEIGHTINGS.get(self._weighting(), ("", "no"))[1] != "no")
