"""bench/peers compares with what is installed, and says what is not."""
import os
import re
import subprocess
import sys

import poise
import pytest
from conftest import HANG, SOURCE

# A package of the name and interface of implicit, whose "factors" are the users' and items' counts.
STAND_IN = """
import numpy
class AlternatingLeastSquares:
    def __init__(self, factors, regularization, alpha, iterations, random_state):
        assert (factors, regularization, alpha) == (64, 5.0, 10.0)
    def fit(self, user_items, show_progress):
        self.item_factors = numpy.asarray(user_items.sum(axis=0)).T
    def recalculate_user(self, userid, user_items):
        return numpy.ones((user_items.shape[0], 1))
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("peers")
    (folder / "implicit").mkdir()
    (folder / "implicit" / "__init__.py").write_text("")
    (folder / "implicit" / "als.py").write_text(STAND_IN)
    (folder / "sansa.py").write_text("raise RuntimeError('no licence')")
    poise.split(poise.synth("demo")).save(folder / "data")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    out = subprocess.run([sys.executable, SOURCE / "bench" / "peers" / "compare.py", folder / "data"], capture_output=True, text=True,
                         timeout=HANG, env={**os.environ, "PYTHONPATH": path})
    assert out.returncode == 0, out.stderr
    return out.stdout


def test_measures_are_those_of_the_library(printed, demo):
    row = re.search(r"\| implicit \|.*\| ([\d.]+) \| ([\d.]+) \|$", printed, re.M)
    ours = poise.evaluate(poise.Popularity().fit(demo, show_progress=False), demo.test)["metrics"]
    assert [float(each) for each in row.groups()] == pytest.approx([ours["recall@20"]["mean"], ours["ndcg@100"]["mean"]], abs=2e-3)
    ease = re.search(r"\| poise \| EASE, lambda 200 .*\| ([\d.]+) \|$", printed, re.M)
    assert float(ease[1]) > 0.47


def test_it_says_what_it_compared(printed):
    assert "1920 training users x 700 items" in printed
    assert re.search(r"^Compared: poise \(EASE.*implicit \(ALS", printed, re.M)
    assert re.search(r"^Not installed, and so not measured: .*cmfrec, irspack", printed, re.M)
    assert "| sansa | SANSA, 100 weights an item | failed: RuntimeError: no licence |" in printed
