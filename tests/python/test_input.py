"""Matrices of all kinds, and errors."""
import numpy as np
import pytest
import scipy.sparse
from conftest import taste_matrix

import poise
from poise._matrix import csr_arrays


def fit(matrix, **params):
    return poise.EASE(**{"regularization": 10, **params}).fit(matrix, show_progress=False)


@pytest.fixture(scope="module")
def expected():
    return fit(taste_matrix(values=True), weighting="linear").weights_


def raw_csr(matrix, data, indices, indptr):
    """scipy's constructor without its checks."""
    result = scipy.sparse.csr_matrix(matrix.shape, dtype=data.dtype)
    result.data, result.indices, result.indptr = data, indices, indptr
    return result


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16, np.int8, np.int32, np.int64, np.uint16, ">f4"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_element_types(expected, kind, index):
    matrix = taste_matrix(values=True)
    other = raw_csr(matrix, matrix.data.astype(kind), matrix.indices.astype(index), matrix.indptr.astype(index))
    assert np.array_equal(fit(other, weighting="linear").weights_, expected)


def test_bool():
    matrix = taste_matrix()
    assert np.array_equal(fit(matrix.astype(bool), weighting="linear").weights_, fit(matrix, weighting="linear").weights_)


@pytest.mark.parametrize("form", ["csc", "coo", "lil", "dok", "array"])
def test_other_formats(expected, form):
    matrix = taste_matrix(values=True)
    other = scipy.sparse.csr_array(matrix) if form == "array" else matrix.asformat(form)
    assert np.array_equal(fit(other, weighting="linear").weights_, expected)


def test_dense(expected):
    assert np.array_equal(fit(taste_matrix(values=True).toarray(), weighting="linear").weights_, expected)
    with pytest.raises(TypeError, match="scipy.sparse"):
        fit([[1, 0]])


def test_unsorted_and_repeated_entries(expected):
    matrix = taste_matrix(values=True)
    rows = np.repeat(np.arange(300), np.diff(matrix.indptr))
    # Every entry in two halves, in random order within its row.
    halves = np.concatenate([matrix.data / 2, matrix.data / 2])
    order = np.lexsort((np.random.RandomState(1).rand(halves.size), np.tile(rows, 2)))
    messy = raw_csr(matrix, halves[order], np.tile(matrix.indices, 2)[order], (2 * matrix.indptr).astype(np.int32))
    before = messy.indices.copy()
    assert np.array_equal(fit(messy, weighting="linear").weights_, expected)
    assert np.array_equal(messy.indices, before), "the caller's matrix is left as it is"
    ids, _ = poise.EASE(regularization=10).fit(matrix, show_progress=False).recommend(np.arange(300), messy)
    assert not any(set(ids[u]) & set(matrix[u].indices) for u in range(300))


def test_small_integers_do_not_overflow_when_they_add_up():
    whole = taste_matrix()
    indices = np.repeat(whole.indices, 2)
    matrix = raw_csr(whole, np.full(indices.size, 100, np.int8), indices, 2 * whole.indptr)
    other = whole.copy()
    other.data[:] = 200
    assert np.array_equal(fit(matrix, weighting="linear").weights_, fit(other, weighting="linear").weights_)


def test_stored_zeros_are_nothing(expected):
    matrix = taste_matrix(values=True)
    wider = matrix.tolil()
    for user in range(0, 290, 3):
        wider[user, int(np.setdiff1d(np.arange(60), matrix[user].indices)[0])] = 9
    wider = wider.tocsr()
    wider.data[wider.data == 9] = 0
    assert wider.nnz > matrix.nnz
    assert np.array_equal(fit(wider, weighting="linear").weights_, expected)


def test_nothing_is_copied():
    matrix = taste_matrix(values=True)
    shape, offsets, indices, values = csr_arrays(matrix, values=True)
    assert np.shares_memory(indices, matrix.indices) and np.shares_memory(values, matrix.data)
    assert shape == matrix.shape and offsets.dtype == np.int64
    # Without a need for values their type does not matter.
    _, _, indices, values = csr_arrays(matrix.astype(np.float64), values=False)
    assert values is None
    wide = raw_csr(matrix, matrix.data, matrix.indices, matrix.indptr.astype(np.int64))
    assert np.shares_memory(csr_arrays(wide, values=True)[1], wide.indptr)


@pytest.mark.parametrize(
    "damage",
    [
        lambda m: m.indices.__setitem__(5, 60),
        lambda m: m.indices.__setitem__(5, -1),
        lambda m: m.indptr.__setitem__(7, 10**6),
        lambda m: m.indptr.__setitem__(7, -3),
        lambda m: m.indptr.__setitem__(0, 1),
    ],
)
def test_damaged_matrices(damage):
    matrix = taste_matrix()
    damage(matrix)
    with pytest.raises(ValueError, match="not a valid CSR matrix"):
        fit(matrix)


def test_64_bit_indices_outside():
    matrix = taste_matrix()
    indices = matrix.indices.astype(np.int64)
    indices[5] += 2**32  # the same in 32 bits
    with pytest.raises(ValueError, match="outside"):
        fit(raw_csr(matrix, matrix.data, indices, matrix.indptr.astype(np.int64)))


def test_values_beyond_float32():
    matrix = taste_matrix().astype(np.float64)
    matrix.data[3] = 1e300
    with pytest.raises(ValueError, match="float32"):
        fit(matrix, weighting="linear")


def test_complex_is_refused():
    with pytest.raises(ValueError, match="numbers are needed"):
        fit(taste_matrix().astype(np.complex64))


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (4, 3)])
def test_empty_matrices(shape):
    matrix = scipy.sparse.csr_matrix(shape, dtype=np.float32)
    model = poise.Popularity().fit(matrix, show_progress=False)
    ids, scores = model.recommend(np.arange(shape[0]), matrix, N=2)
    assert ids.shape == (shape[0], min(2, shape[1]) if shape[0] else 0)
    try:
        poise.EASE().fit(matrix, show_progress=False)
    except ValueError:
        pass  # a sentence, not a crash


@pytest.mark.parametrize(
    "params, sentence",
    [
        ({"regularization": -1}, "regularization -1"),
        ({"regularization": "much"}, "'much' is not a number"),
        ({"alpha": 0}, "alpha must be .* not 0"),
        ({"weighting": "nonsense"}, "nonsense"),
        ({"weighting": "none", "alpha": 2}, "alpha"),
        ({"tolerance": 0}, "tolerance"),
        ({"num_threads": -1}, "num_threads"),
        ({"num_threads": 1.5}, "not a whole number"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"memory_limit": "lots"}, "memory_limit"),
        ({"memory_limit": "1M"}, "64M is the least"),
        ({"random_state": -1}, "random_state"),
        ({"device": "tpu"}, "no device"),
    ],
)
def test_parameters_out_of_range(params, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        fit(taste_matrix(), **params)
    assert "--" not in str(error.value), "flags are the program's"


def test_keywords_in_sentences():
    with pytest.raises(ValueError, match="^factors"):
        poise.AWMF(factors=0).fit(taste_matrix(), show_progress=False)
    with pytest.raises(ValueError, match="iterations"):
        poise.WMF(iterations=-1).fit(taste_matrix(), show_progress=False)
    with pytest.raises(ValueError, match="least.decrease"):
        poise.WMF(least_decrease=-1).fit(taste_matrix(), show_progress=False)
    with pytest.raises(ValueError, match="regularizer"):
        poise.AWMF(regularizer="nonsense").fit(taste_matrix(), show_progress=False)


def test_too_large_for_the_memory_limit():
    wide = scipy.sparse.random(50, 30000, density=0.001, format="csr", dtype=np.float32, random_state=1)
    with pytest.raises(MemoryError, match="memory"), pytest.warns(poise.TransposedWarning):
        poise.EASE(memory_limit="64M").fit(wide, show_progress=False)
    model = poise.Popularity(memory_limit="64M").fit(taste_matrix(), show_progress=False)
    many = scipy.sparse.csr_matrix((10**6, 60), dtype=np.float32)
    with pytest.raises(MemoryError, match="fewer users"):
        model.predict(many)


def test_files(tmp_path):
    with pytest.raises(OSError, match="cannot open"):
        poise.load(tmp_path / "missing")
    with pytest.raises(OSError):
        poise.Dataset.from_file(tmp_path / "missing.csv")
    model = fit(taste_matrix())
    with pytest.raises(OSError, match="cannot write"):
        model.save(tmp_path / "no" / "folder" / "model")
    (tmp_path / "text").write_text("not a model")
    with pytest.raises(ValueError, match="not a Poise file|damaged|not a"):
        poise.load(tmp_path / "text")
    model.save(tmp_path / "model")
    damaged = bytearray((tmp_path / "model").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "model").write_bytes(damaged)
    with pytest.raises(ValueError, match="checksum|damaged"):
        poise.load(tmp_path / "model")
    poise.Popularity().fit(taste_matrix(), show_progress=False).save(tmp_path / "popularity")
    with pytest.raises(ValueError, match="not EASE"):
        poise.EASE.load(tmp_path / "popularity")
    poise.FullRank(regularization=10).fit(taste_matrix(), show_progress=False).save(tmp_path / "full")
    with pytest.raises(ValueError, match="no EASE"):
        poise.EASE.load(tmp_path / "full")


def test_a_singular_problem_is_a_numerical_error():
    assert issubclass(poise.NumericalError, ArithmeticError)
    matrix = scipy.sparse.csr_matrix(np.ones((50, 80), dtype=np.float32))
    with pytest.raises(poise.NumericalError):
        poise.FullRank(regularization=1e-30).fit(matrix, show_progress=False)


def test_not_converged_is_a_warning():
    with pytest.warns(poise.ConvergenceWarning, match="raise iterations"):
        model = poise.WMF(factors=8, regularization=1, alpha=10, iterations=1).fit(taste_matrix(), show_progress=False)
    assert model.converged_ is False and model.n_iter_ == 1
    with pytest.warns(poise.ConvergenceWarning, match="no direction"):
        poise.WMF(factors=8, regularization=1e6).fit(taste_matrix(), show_progress=False)
