"""The program restarts itself with the right kernels where OpenBLAS does not know the processor. POISE is the program,
POISE_UNKNOWN_PROCESSOR a library that lets OpenBLAS seem not to."""
import json
import os
import pathlib
import subprocess

import pytest

PROGRAM = os.environ["POISE"]
VARIABLES = ("OPENBLAS_CORETYPE", "POISE_OPENBLAS_FOUND", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


def poise(*arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment["LD_PRELOAD"] = os.environ["POISE_UNKNOWN_PROCESSOR"]
    process = subprocess.run([PROGRAM, *map(str, arguments)], env=environment | variables, capture_output=True, text=True,
                             timeout=300)
    assert process.returncode == 0, process.stderr
    return process


def kernels(**variables):
    return json.loads(poise("doctor", "--json", **variables).stdout)["kernels"]


@pytest.fixture(autouse=True)
def a_newer_processor():
    if "avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2: OpenBLAS' own choice stays")


def test_lesser_kernels_are_replaced():
    found = kernels()
    assert found["chosen_by"] == "poise" and found["found"] == "Prescott"
    assert found["core"] in ("Haswell", "Zen", "SkylakeX") and "better" not in found
    assert found["core"] in poise("doctor").stdout and "chosen by Poise" in poise("doctor").stdout


def test_the_users_setting_wins():
    found = kernels(OPENBLAS_CORETYPE="Core2")
    assert (found["core"], found["chosen_by"]) == ("Core2", "environment")
    assert found["better"] in ("Haswell", "Zen", "SkylakeX")
    unknown = kernels(OPENBLAS_CORETYPE="NoSuchCore")
    assert unknown["core"] != "NoSuchCore" and "none for NoSuchCore" in unknown["why"]


def test_training_takes_kernels_and_a_short_spin_in_one_restart(tmp_path):
    poise("synth", "--like", "demo", "--out", tmp_path / "data", "--quiet")
    train = ["train", tmp_path / "data", "--model", "full-rank", "--lambda", "20"]
    shown = poise(*train, "--out", tmp_path / "chosen", OMP_DISPLAY_ENV="VERBOSE").stderr
    assert shown.count("OPENMP DISPLAY ENVIRONMENT BEGIN") <= 2
    if "GOMP_SPINCOUNT" in shown:  # libgomp
        assert "GOMP_SPINCOUNT = '1000'" in shown
    # The same kernels by the user's own setting give the same bytes.
    poise(*train, "--out", tmp_path / "set", OPENBLAS_CORETYPE=kernels()["core"])
    assert (tmp_path / "chosen").read_bytes() == (tmp_path / "set").read_bytes()
