"""How the tests of the Python package run. POISE is the program, POISE_TEST_DATA the folder of shared reference data; the
package is found through PYTHONPATH."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import scipy.sparse

import poise

PROGRAM = os.environ["POISE"]
DATA = pathlib.Path(os.environ["POISE_TEST_DATA"])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = SOURCE / "tests" / "reference"
HANG = 900  # seconds, after which a process is taken to hang; no test is about time


def pytest_configure(config):
    config.addinivalue_line("markers", "shared_data: needs data that is not part of this repository")


def pytest_sessionfinish(session, exitstatus):
    """77, which ctest shows as skipped, when something was skipped; a failure stays a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = 77


def run_program(*arguments):
    """The JSON that the program prints."""
    process = subprocess.run([PROGRAM, *map(str, arguments), "--json", "--quiet"], capture_output=True, text=True, timeout=HANG)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def reference_data(name):
    """The folder of a reference set, of this repository or shared; without it the test is skipped."""
    if (REFERENCE / name).exists():
        return REFERENCE / name
    path = DATA / name
    if not path.exists():
        pytest.skip(f"reference data not found: {path}")
    return path


def read_tensors(path):
    """A container's tensors by name, as bytes: an independent reader of the layout."""
    raw = pathlib.Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    header.pop("__metadata__")
    body = raw[8 + size :]
    return {
        name: (entry["dtype"], tuple(entry["shape"]), body[entry["data_offsets"][0] : entry["data_offsets"][1]])
        for name, entry in header.items()
    }


def taste_matrix(users=300, items=60, seed=5, values=False):
    """Users of four tastes: rows of 0 to 20 entries, the last user without any."""
    random = np.random.RandomState(seed)
    rows, columns = [], []
    for user in range(users - 1):
        liked = np.exp(2.0 * (np.arange(items) % 4 == user % 4)) / (1 + np.arange(items)) ** 0.4
        for item in random.choice(items, random.randint(1, 21), replace=False, p=liked / liked.sum()):
            rows.append(user)
            columns.append(item)
    data = random.randint(1, 5, len(rows)) if values else np.ones(len(rows))
    matrix = scipy.sparse.csr_matrix((data.astype(np.float32), (rows, columns)), shape=(users, items))
    matrix.sort_indices()
    return matrix


@pytest.fixture(scope="session")
def matrix():
    return taste_matrix()


@pytest.fixture(scope="session")
def demo():
    return poise.split(poise.synth("demo"))
