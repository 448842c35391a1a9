"""Sparse matrices as the library takes them: without a copy if the types allow it."""
from __future__ import annotations

import warnings
from typing import Any, Optional, Tuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from . import _poise

Arrays = Tuple[Tuple[int, int], npt.NDArray[np.int64], npt.NDArray[np.int32], Optional[npt.NDArray[np.float32]]]

# Users as the library takes them: their items, their dislikes, and dislike_share.
Rows = Tuple[Arrays, Optional[Arrays], float]

_MOST = 2**31 - 1


class TransposedWarning(UserWarning):
    """A matrix looks as if its rows were the items: users have to be the rows."""


def _as_csr(matrix: Any, name: str) -> Any:
    if scipy.sparse.issparse(matrix):
        return matrix.tocsr()  # the same object if it is CSR already
    if isinstance(matrix, np.ndarray) and matrix.ndim == 2:
        return scipy.sparse.csr_matrix(matrix)
    raise TypeError(f"{name} is {type(matrix).__name__}: a scipy.sparse matrix is needed, users as rows")


def _indices(indices: npt.NDArray[Any], columns: int) -> npt.NDArray[np.int32]:
    if indices.dtype != np.int32 and indices.size and (indices.min() < 0 or indices.max() >= columns):
        raise ValueError("the matrix is not a valid CSR matrix: an index lies outside its columns")
    return np.ascontiguousarray(indices, dtype=np.int32)


def _merged(matrix: Any) -> Any:
    """Sorted rows, repeated entries added up, zeros left out; values in float64, so that no small integer overflows."""
    # Not matrix.astype, which merges the entries of the matrix itself.
    arrays = (matrix.data.astype(np.float64), matrix.indices.copy(), matrix.indptr.copy())
    copy = scipy.sparse.csr_matrix(arrays, shape=matrix.shape)
    copy.has_canonical_format = False
    copy.sum_duplicates()
    copy.eliminate_zeros()
    return copy


def _refuse(name: str) -> ValueError:
    return ValueError(f"{name} holds NaN, an infinite value or one beyond float32; remove such entries first")


def features_by_row(item_features: Any, threads: int) -> Arrays:
    """The arrays of a matrix items x features, feature by feature."""
    return csr_arrays(_as_csr(item_features, "item_features").T.tocsr(), values=True, threads=threads, name="item_features")


def csr_arrays(matrix: Any, *, values: bool, threads: int = 0, name: str = "user_items") -> Arrays:
    """The arrays of a matrix: entries sorted and merged, stored zeros left out, values finite.

    float32 values, int32 indices, rows in order: nothing is copied but `indptr`. Without `values` no element type is.
    """
    matrix = _as_csr(matrix, name)
    rows, columns = (int(size) for size in matrix.shape)
    if max(rows, columns) > _MOST:
        raise ValueError(f"{name} is {rows} x {columns}: more than {_MOST} rows or columns are not supported")
    if matrix.data.dtype.kind not in "biuf":
        raise ValueError(f"{name} has values of type {matrix.data.dtype}: numbers are needed")
    entries = int(matrix.indptr[-1])
    offsets = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    indices = _indices(matrix.indices[:entries], columns)
    data = matrix.data[:entries]
    arrays: Arrays = ((rows, columns), offsets, indices, None)

    canonical = _poise.is_canonical(arrays, threads)
    if data.dtype.kind == "f":
        native = data.dtype.isnative and data.dtype.itemsize in (4, 8)
        checked = np.ascontiguousarray(data) if native else np.ascontiguousarray(data, dtype=np.float64)
        finite, zero = _poise.look_at_values(checked, threads)
        if not finite:
            raise _refuse(name)
    else:
        zero = np.count_nonzero(data) != data.size
    if zero or not canonical:
        return csr_arrays(_merged(matrix), values=values, threads=threads, name=name)
    if not values:
        return arrays
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(data, dtype=np.float32)
    if single.dtype != data.dtype and not _poise.look_at_values(single, threads)[0]:
        raise _refuse(name)
    return ((rows, columns), offsets, indices, single)


def warn_if_transposed(shape: Tuple[int, int]) -> None:
    """Warns if there are many more items than users, which is rare."""
    users, items = shape
    if items >= 100 and items > 2 * users:
        warnings.warn(
            f"the matrix has {users} rows and {items} columns: rows have to be users and columns items; "
            "if it is the other way round, pass matrix.T.tocsr()",
            TransposedWarning,
            stacklevel=3,
        )


def as_scipy(arrays: Arrays) -> Any:
    """The library's memory as a scipy matrix; values are 1 if it has none."""
    shape, offsets, indices, values = arrays
    if values is None:
        values = np.ones(indices.size, dtype=np.float32)
    matrix = scipy.sparse.csr_matrix((values, indices, offsets), shape=shape, copy=False)
    matrix.has_canonical_format = True
    return matrix
