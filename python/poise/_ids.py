"""User and item ids: whole numbers or texts. The library keeps texts; a number is its decimal text."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[Any]


def text_of(identifier: Any) -> str:
    """12, numpy.int64(12), 12.0 and "12" are the same id."""
    if isinstance(identifier, str):
        return identifier
    if isinstance(identifier, (float, np.floating)) and float(identifier).is_integer():
        return str(int(identifier))
    return str(identifier)


def texts_of(ids: Iterable[Any]) -> List[str]:
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return [str(each) for each in ids.tolist()]
    return [text_of(each) for each in ids]


def _is_number(text: str) -> bool:
    digits = text[1:] if text.startswith("-") else text
    return text.isascii() and digits.isdigit() and len(digits) < 19 and str(int(text)) == text


def ids_of(texts: Sequence[str], numbers: Optional[bool] = None) -> Ids:
    """An int64 array if all texts are whole numbers (or `numbers` is True), else an array of str."""
    if numbers or (numbers is None and len(texts) > 0 and all(map(_is_number, texts))):
        return np.array([int(text) for text in texts], dtype=np.int64)
    array = np.empty(len(texts), dtype=object)
    array[:] = list(texts)
    return array


def are_numbers(ids: Union[Sequence[Any], Ids]) -> bool:
    return len(ids) > 0 and all(isinstance(each, (int, np.integer)) and not isinstance(each, bool) for each in ids)


def given_ids(ids: Optional[Sequence[Any]], size: int, what: str) -> Ids:
    """The ids that a caller gives for rows or columns, or else their numbers."""
    if ids is None:
        return np.arange(size, dtype=np.int64)
    if len(ids) != size:
        raise ValueError(f"{len(ids)} ids for {size} {what}: one for each is needed")
    texts = texts_of(ids)
    if len(set(texts)) != size:
        raise ValueError(f"the ids of the {what} are not distinct")
    return ids_of(texts, are_numbers(list(ids)))


class Index:
    """Finds the positions of ids."""

    def __init__(self, ids: Iterable[Any], what: str) -> None:
        self._what = what
        self._positions: Dict[str, int] = {text: k for k, text in enumerate(texts_of(ids))}

    def find(self, ids: Any) -> Any:
        """The position of one id, or an array of positions for several; KeyError for an unknown id."""
        if isinstance(ids, (str, bytes)) or np.ndim(ids) == 0:
            return self._find(ids)
        return np.array([self._find(each) for each in ids], dtype=np.int64)

    def _find(self, identifier: Any) -> int:
        try:
            return self._positions[text_of(identifier)]
        except KeyError:
            raise KeyError(f"there is no {self._what} {identifier!r}") from None
