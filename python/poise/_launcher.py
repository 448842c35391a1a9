"""The package works in one process; a launcher of several is refused."""
import os
from typing import Mapping

ALONE = "POISE_EACH_PROCESS"


def refuse_several(variables: Mapping[str, str] = os.environ) -> None:
    """RuntimeError if mpirun or srun started this program more than once: each process would do all the work and write the
    same files. A program whose processes have different work (mpi4py, say) sets POISE_EACH_PROCESS=1."""
    if variables.get(ALONE):
        return
    launchers = {"OMPI_COMM_WORLD_SIZE": "mpirun", "PMI_SIZE": "srun or mpiexec"}
    for name, launcher in launchers.items():
        count = variables.get(name, "")
        if count.isdecimal() and int(count) > 1:
            raise RuntimeError(
                f"{launcher} started {count} processes, and each of them would do all the work: start Python once, or run "
                f"`{launcher.split()[0]} ... poise COMMAND`, which divides it; set {ALONE}=1 if each has work of its own")
