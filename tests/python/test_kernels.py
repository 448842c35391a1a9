"""OpenBLAS' kernels: chosen while the package is imported, before OpenBLAS is loaded."""
import os
import subprocess
import sys
import textwrap

import pytest

# Stands in for a processor that OpenBLAS does not know: every core type but Prescott's, which all can run, is a lesser one.
STRANGE_PROCESSOR = """
import sys, types, warnings
warnings.simplefilter("always")
sys.modules["poise._kernels"] = types.SimpleNamespace(better_core=lambda core: "" if core == "Prescott" else "Prescott")
"""
SHOW = """
import ctypes, os
openblas = ctypes.CDLL("libopenblas.so.0")
openblas.openblas_get_corename.restype = ctypes.c_char_p
print(openblas.openblas_get_corename().decode(), os.environ.get("OPENBLAS_CORETYPE"), os.environ.get("GOMP_SPINCOUNT"))
"""


def run(code, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=environment | variables, capture_output=True,
                             text=True, timeout=300)
    assert process.returncode == 0, process.stderr
    return process.stdout.split(), process.stderr


FIT = """
import poise
model = poise.EASE(regularization=50).fit(poise.split(poise.synth("demo")), show_progress=False)
assert model.converged_
"""


def test_lesser_kernels_are_replaced():
    assert run(STRANGE_PROCESSOR + FIT + SHOW) == (["Prescott", "None", "None"], "")


def test_the_users_setting_wins():
    found, errors = run(STRANGE_PROCESSOR + FIT + SHOW, OPENBLAS_CORETYPE="Core2", GOMP_SPINCOUNT="7")
    assert (found, errors) == (["Core2", "Core2", "7"], "")


def test_openblas_that_is_loaded_already_is_warned_about():
    loaded = 'import ctypes\nkept = ctypes.CDLL("libopenblas.so.0")\n'
    by_itself, _ = run(SHOW)
    if by_itself[0] == "Prescott":
        pytest.skip("OpenBLAS takes Prescott's kernels by itself")
    found, errors = run(loaded + STRANGE_PROCESSOR + FIT + SHOW)
    assert found == [by_itself[0], "None", "None"]
    assert errors.count("RuntimeWarning") == 1 and "set OPENBLAS_CORETYPE=Prescott" in errors


def test_the_processor_is_asked():
    found, errors = run('import poise\nfrom poise._kernels import better_core\n'
                        'print(*(repr(better_core(core)) for core in ("Prescott", "Cooperlake", "no such core")))')
    assert errors == "" and found[1:] == ["''", "''"]
    assert found[0] in ("''", "'Haswell'", "'Zen'", "'SkylakeX'")
