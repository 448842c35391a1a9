"""The fixtures of tests/cli."""
import importlib.util
import pathlib

_spec = importlib.util.spec_from_file_location("cli_conftest", pathlib.Path(__file__).parent.parent / "cli" / "conftest.py")
_cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_cli)
globals().update({name: value for name, value in vars(_cli).items() if not name.startswith("_")})

import atexit
import os
import shutil
import subprocess
import tempfile
import time

import pytest

PROGRAM, Result, HANG = _cli.PROGRAM, _cli.Result, _cli.HANG
SIZES = [1, 2, 3, 4]
# Several processes on one machine, as root and on fewer cores than processes.
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "OMPI_MCA_pml": "ob1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


# Open MPI's files; two jobs that make or remove the same folder at the same time may fail.
SETTINGS["TMPDIR"] = tempfile.mkdtemp(prefix="poise-")
atexit.register(shutil.rmtree, SETTINGS["TMPDIR"], ignore_errors=True)


def environment(**more):
    return {**os.environ, **SETTINGS, **more}


def left_behind(mark):
    """The processes of the program whose arguments contain this text."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                arguments = file.read().split(b"\0")
        except OSError:
            continue
        if os.path.basename(arguments[0]) == b"poise" and any(str(mark).encode() in each for each in arguments):
            found.append(int(entry))
    return found


def rank_of(pid):
    """The rank of such a process."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        variables = dict(each.split(b"=", 1) for each in file.read().split(b"\0") if b"=" in each)
    return int(variables[b"OMPI_COMM_WORLD_RANK"])


def none_left(mark):
    """Whether all of them have ended; mpirun returns when they are about to."""
    for _ in range(1000):
        if not left_behind(mark):
            return True
        time.sleep(0.02)
    return False


def mpirun(size, *arguments, code=0, program=(PROGRAM,), mark=None, **variables):
    """Starts so many processes and checks the exit code; an error is one sentence, said once."""
    process = subprocess.run(["mpirun", "-n", str(size), *map(str, program), *map(str, arguments)], capture_output=True, text=True,
                             timeout=HANG, env=environment(**variables))
    result = Result(process)
    assert result.code == code, f"exit {result.code}, expected {code}: {result.err}"
    sentences = [line for line in result.err.split("\n") if line.startswith("poise: ")]
    assert len(sentences) == (0 if code == 0 else 1), result.err
    result.sentence = sentences[0] if sentences else ""
    if mark is not None:
        assert none_left(mark)
    return result


def on_one_rank(folder, rank, there, elsewhere):
    """A script that runs the program with other arguments, or variables, on one rank."""
    path = folder / "on_one_rank.sh"
    path.write_text(f'#!/bin/sh\nif [ "$OMPI_COMM_WORLD_RANK" = {rank} ]; then exec {there}; else exec {elsewhere}; fi\n')
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def launcher():
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is not installed")
