"""How the tests of the program run it: POISE is the program, POISE_TEST_DATA the folder of shared reference data."""
import json
import os
import pathlib
import random
import subprocess

import pytest

PROGRAM = os.environ["POISE"]
DATA = pathlib.Path(os.environ["POISE_TEST_DATA"])
REFERENCE = pathlib.Path(__file__).resolve().parents[1] / "reference"
# Data with figures from independent float64 programs: the sets of this repository, and those that not everyone has.
REFERENCE_SETS = ["long-tail", "bundle"]
REFERENCE_SETS += [pytest.param(name, marks=pytest.mark.shared_data) for name in ("online-retail", "online-retail-head")]
HANG = 900  # seconds, after which a process is taken to hang; no test is about time


def pytest_configure(config):
    config.addinivalue_line("markers", "shared_data: needs data that is not part of this repository")


def pytest_sessionfinish(session, exitstatus):
    """77, which ctest shows as skipped, when something was skipped; a failure stays a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = 77


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    @property
    def json(self):
        assert self.out.count("\n") == 1, "one line of JSON and nothing else on stdout"
        return json.loads(self.out)


def run(*arguments, code=0, **kwargs):
    """Runs the program and checks its exit code; an error must be one sentence on stderr, and no traceback."""
    process = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=HANG, **kwargs)
    result = Result(process)
    assert result.code == code, f"exit {result.code}, expected {code}: {result.err}"
    if code != 0:
        last = result.err.strip().split("\n")[-1]
        assert last.startswith("poise: "), result.err
        assert result.out == ""
    return result


@pytest.fixture
def poise():
    return run


def reference_data(name):
    """The folder of a reference set, or a file of shared data, without which the test is skipped."""
    if (REFERENCE / name).exists():
        return REFERENCE / name
    path = DATA / name
    if not path.exists():
        pytest.skip(f"reference data not found: {path}")
    return path


@pytest.fixture
def log(tmp_path):
    """A small raw log: 60 users, 25 items, ratings 1 to 5."""
    path = tmp_path / "log.csv"
    rows = ["user,item,rating"]
    for u in range(60):
        for k in range(6 + u % 7):
            rows.append(f"u{(u * 7) % 60},i{(u * 3 + k * k + k) % 25},{1 + (u + k) % 5}")
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def data(log, tmp_path):
    """That log prepared."""
    run("prepare", log, "--out", tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def model(data, tmp_path):
    """A popularity model of it."""
    run("train", data, "--model", "popularity", "--out", tmp_path / "model")
    return tmp_path / "model"


def shop_log(seed):
    """A raw log: 240 users of 60 items in four departments, each user faithful to one."""
    draw = random.Random(seed)
    rows = ["user,item,count"]
    for user in range(240):
        for _ in range(draw.randrange(8, 20)):
            department = user % 4 if draw.random() < 0.7 else draw.randrange(4)
            item = department * 15 + min(int(draw.expovariate(0.25)), 14)
            rows.append(f"u{user},i{item},{draw.randrange(1, 6)}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """That log prepared: small, and yet models differ on it."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "log.csv").write_text(shop_log(7))
    run("prepare", folder / "log.csv", "--out", folder / "shop")
    return folder / "shop"
