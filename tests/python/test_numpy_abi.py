"""The extension module works with every NumPy, because it uses none of NumPy's C interface."""
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import HANG

import poise
from poise import _kernels, _poise

# Everything that has arrays in its arguments or results. Whoever asks for NumPy's table of C functions, as a module does that is
# compiled against it, finds none.
WITHOUT_TABLE = """
import pickle, sys, tempfile
import numpy, pandas, scipy.sparse
removed = 0
for name, module in list(sys.modules.items()):
    if name.startswith("numpy") and hasattr(module, "_ARRAY_API"):
        delattr(module, "_ARRAY_API")
        removed += 1
assert removed > 0
try:
    from numpy.core._multiarray_umath import _ARRAY_API
    raise SystemExit("the table is still there")
except ImportError:
    pass
import poise
data = poise.split(poise.synth("demo", values=True))
for model in (poise.EASE(50), poise.WMF(8, regularization=5, weighting="log"), poise.AWMF(8), poise.Popularity()):
    model.fit(data, show_progress=False)
    rows = data.test.fold_in[:70]
    ids, scores = model.recommend(range(70), rows, N=3)
    assert ids.shape == (70, 3) and ids.dtype == numpy.int32 and scores.dtype == numpy.float32
    model.predict(rows), model.fold_in(rows), model.item_factors
    if not isinstance(model, poise.Popularity):
        model.similar_items(0, N=2), model.explain(0, rows[0], 3)
    poise.evaluate(model, data.test, per_user=True, metrics="ndcg@100,stratified-recall@20")
    again = pickle.loads(pickle.dumps(model))
    assert (again.recommend(0, rows[0])[0] == model.recommend(0, rows[0])[0]).all()
model = poise.WMF(8).fit(data, show_progress=False)
model.recommend([0, 1], rows[:2], recalculate_user=False)
poise.Dataset.from_dataframe(pandas.DataFrame({"user": [1, 2], "item": ["a", "b"], "n": [1.0, 2.0]}), value="n").train
with tempfile.TemporaryDirectory() as folder:
    data.save(folder)
    poise.Dataset.load(folder, show_progress=False).train.toarray()
poise.search(data, poise.EASE(), regularization=[50], alpha=[1], show_progress=False)
print("done")
"""


def test_without_numpys_c_interface():
    out = subprocess.run([sys.executable, "-c", WITHOUT_TABLE], capture_output=True, text=True, timeout=HANG)
    assert out.returncode == 0 and out.stdout.strip() == "done", out.stderr


@pytest.mark.parametrize("module", [_poise, _kernels], ids=lambda module: module.__name__)
def test_the_module_does_not_name_it(module):
    contents = pathlib.Path(module.__file__).read_bytes()
    for name in (b"_ARRAY_API", b"multiarray", b"PyArray_"):
        assert name not in contents
    assert b"PyObject_GetBuffer" in contents or module is _kernels


def test_results_are_ordinary_arrays():
    model = poise.EASE(50).fit(poise.synth("demo"), show_progress=False)
    ids, scores = model.recommend(0, poise.synth("demo").train[0], N=5)
    assert type(ids) is np.ndarray and ids.dtype == np.dtype("int32") and ids.flags.writeable
    assert type(scores) is np.ndarray and scores.dtype == np.dtype("float32")
    B = model._fitted().tensors()["B"]
    assert not B.flags.writeable and B.flags.c_contiguous
    train = poise.synth("demo").train
    assert train.indptr.dtype.char == np.dtype(np.int64).char or train.indptr.dtype == np.int32


@pytest.mark.parametrize("bad", [np.zeros(3, dtype=np.float64), np.zeros((3, 1), dtype=np.int64), np.zeros(6, dtype=np.int64)[::2],
                                 np.zeros(3, dtype=">i8"), np.array(["a"]), 3, None], ids=repr)
def test_other_arrays_are_refused(bad):
    good = np.zeros(0, dtype=np.int32)
    with pytest.raises(TypeError):
        _poise.is_canonical(((2, 5), bad, good, None), 1)


def test_elements_outlive_their_model():
    model = poise.EASE(50).fit(poise.synth("demo"), show_progress=False)
    B = model._fitted().tensors()["B"]
    expected = B.copy()
    del model
    poise.EASE(10).fit(poise.synth("demo", seed=2), show_progress=False)
    assert (B == expected).all()
