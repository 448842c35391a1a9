"""What ctest is told: skipped when something was skipped, failed when something failed."""
import pathlib
import shutil
import subprocess
import sys

import pytest

SKIP = "import pytest\ndef test_skip(): pytest.skip('no data')\n"


@pytest.mark.parametrize("tests, code", [
    ("def test(): pass\n", 0),
    (SKIP + "def test(): pass\n", 77),
    (SKIP + "def test(): assert False\n", 1),
])
def test_exit_code(tmp_path, tests, code):
    shutil.copy(pathlib.Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text(tests)
    process = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path / "test_it.py"],
                             capture_output=True, cwd=tmp_path)
    assert process.returncode == code
