"""The inverse of several processes, and products with it, against ScaLAPACK's and the sweep's in one process."""
import pathlib

import pytest

from conftest import PROGRAM, mpirun

INVERSE = pathlib.Path(PROGRAM).parent / "poise_spread_inverse"
ROUNDING = {"4": 6e-8, "8": 1.2e-16}
CONDITION = {"plain": 20, "ill": 1.2e5, "indefinite": 0}


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.skipif(not INVERSE.exists(), reason="built without ScaLAPACK")
def test_the_inverse_of_one_process(size):
    lines = [line.split() for line in mpirun(size, program=[INVERSE]).out.splitlines()]
    assert len(lines) == 3 * 3 * 2
    for n, kind, bytes_of_number, *figures in lines:
        # Not positive definite: all processes learn of it, and go on to the next matrix.
        assert figures[:3] == 3 * ["0" if kind == "indefinite" else "1"]
        spread, sweep, scalapack, product = map(float, figures[3:])
        # The truth is the sweep's inverse in float64, which rounds too.
        rounding = ROUNDING[bytes_of_number] * CONDITION[kind]
        assert spread <= max(4 * sweep, rounding), (n, kind, bytes_of_number)
        assert spread <= max(4 * scalapack, rounding), (n, kind, bytes_of_number)
        assert abs(product - spread) <= 4 * ROUNDING[bytes_of_number]
