"""The parameters of the models, as the library declares them."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple

from . import _poise
from ._settings import number, seed_of, whole


class Parameter(NamedTuple):
    """One parameter: its `id` in the library, in flags and in files, its keyword in Python, and its help text for each family."""

    id: str
    keyword: str
    default: Any
    axis: str  # "none", or how a search varies it: "listed" (over values), "free" (these, or "auto")
    names: List[str]  # the possible values of a choice
    helps: Mapping[str, str]  # by family

    def read(self, value: Any) -> Any:
        """A value of this parameter as the library takes it."""
        if self.keyword == "random_state":
            return seed_of(value)
        kind = type(self.default)
        if kind is float:
            return number(value, self.keyword)
        return whole(value, self.keyword) if kind is int else kind(value)

    def parse(self, text: str) -> Any:
        """A value from the text that a model file has for it."""
        kind = type(self.default)
        if kind is float:
            value = float(text)
            return int(value) if value.is_integer() and text.lstrip("-").isdigit() else value
        return text == "true" if kind is bool else kind(text)

    def help(self, family: str) -> str:
        text = self.helps[family]
        if self.keyword == "weighting":
            text += ": " + "; ".join(f"`{name}` ({formula})" for name, (formula, _) in WEIGHTINGS.items())
        elif self.names and not all(name in text for name in self.names):
            text += ": " + ", ".join(self.names)
        return text


# By keyword.
PARAMETERS: Mapping[str, Parameter] = {row[1]: Parameter(*row) for row in _poise.parameters()}

# Name -> the weight of an entry of value r, and whether r is read: "no", "if any" or "always".
WEIGHTINGS: Mapping[str, Any] = _poise.weightings()


def of_family(family: str) -> Dict[str, Parameter]:
    """The parameters that a family reads, by keyword."""
    return {keyword: parameter for keyword, parameter in PARAMETERS.items() if family in parameter.helps}


def documentation(family: str, names: List[str]) -> str:
    """The parameters of a constructor, one a line."""
    own = of_family(family)
    return "\n".join(f"{name}: {own[name].help(family)}" for name in names if name in own)
