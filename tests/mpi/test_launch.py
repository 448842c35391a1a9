"""How several processes start, what they refuse, and how they end."""
import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, SIZES, environment, left_behind, mpirun, none_left, on_one_rank, rank_of, run


def test_the_program_does_not_link_with_mpi():
    assert "libmpi" not in subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout


def test_without_a_launcher_nothing_is_different(data):
    assert "ranks" not in run("info", data, "--json").json
    assert run("doctor", "--json").json["mpi"] == {"built": True}


@pytest.mark.parametrize("size", SIZES)
def test_doctor_lists_the_ranks(size):
    result = mpirun(size, "doctor", "--json").json
    assert result["ranks"] == size
    if size == 1:
        assert "ranks" not in result["mpi"]
        return
    ranks = result["mpi"]["ranks"]
    assert len(ranks) == size and "Open MPI" in result["mpi"]["library"]
    assert len({(each["host"], each["kernels"], each["version"]) for each in ranks}) == 1
    # None of them is bound to cores of its own: they share.
    cores = ranks[0]["cores"]
    assert all(each["threads"] == max(1, cores // size) for each in ranks)
    assert result["threads"] == ranks[0]["threads"]
    text = mpirun(size, "doctor").out
    assert all(f"rank {k} " in text for k in range(size)) and text.count("blas ") == 1


def test_a_bound_rank_uses_its_own_cores():
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core")
    result = mpirun(2, "doctor", "--json", OMPI_MCA_hwloc_base_binding_policy="core", OMPI_MCA_rmaps_base_oversubscribe="0").json
    assert [each["threads"] for each in result["mpi"]["ranks"]] == [1, 1]


@pytest.mark.parametrize("size", [1, 3])
def test_commands_of_one_process_run_once(data, tmp_path, size):
    """And write what they write without a launcher."""
    arguments = ["--model", "popularity", "--memory-limit", "2G"]
    run("train", data, *arguments, "--out", tmp_path / "alone")
    result = mpirun(size, "train", data, *arguments, "--out", tmp_path / "launched", mark=tmp_path)
    assert (tmp_path / "alone").read_bytes() == (tmp_path / "launched").read_bytes()
    assert result.out.count("popularity over") == 1
    assert ("runs in the first of the 3 processes" in result.err) == (size > 1)
    result = mpirun(size, "info", data, "--json", mark=tmp_path)
    assert result.json["ranks"] == size
    assert mpirun(size, "--version").out.count("poise") == 1
    assert mpirun(size, "search", "--help").out.count("Examples") == 1


@pytest.mark.parametrize("arguments, code", [
    (("frobnicate",), 2),
    (("search", "x", "--model", "psychic"), 2),
    (("search", "x", "--no-such-flag"), 2),
    (("search", "/no/such/data", "--model", "ease"), 3),
    (("info", "/no/such/data"), 3),
])
@pytest.mark.parametrize("size", [1, 3])
def test_an_error_of_all_is_said_once(arguments, code, size):
    assert " on " not in mpirun(size, *arguments, code=code).sentence.split(":")[1]


def test_each_process_has_a_gpu():
    """As many as CUDA_VISIBLE_DEVICES lists: more processes that share a list are refused, and what is left is whether there are such GPUs."""
    cuda = ["doctor", "--device", "cuda"]
    for listed, size in (("0", 2), ("0,1,2", 4), ("1,-1,0", 2)):
        sentence = mpirun(size, *cuda, code=2, CUDA_VISIBLE_DEVICES=listed).sentence
        assert f"for {size} processes" in sentence and " on " not in sentence.split(":")[1]
    if not run("doctor", "--json").json["cuda"]["devices"]:
        for listed in ("", "0,1"):
            assert "--device cuda" in mpirun(2, *cuda, code=4, CUDA_VISIBLE_DEVICES=listed).sentence


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_data_that_one_host_lacks(data, tmp_path, rank):
    script = on_one_rank(tmp_path, rank, f"{PROGRAM} search {tmp_path}/nowhere --model ease", f"{PROGRAM} search {data} --model ease")
    result = mpirun(4, program=[script], code=3, mark=tmp_path)
    assert "nowhere" in result.sentence and (f"rank {rank} on " in result.sentence) == (rank > 0)
    assert not list(data.glob("*.journal"))


@pytest.mark.parametrize("first, second, said", [
    ("info {data}", "search {data} --model ease", ("`poise search`", "`poise info`")),
    ("search {data} --model ease", "info {data}", ("`poise info`", "`poise search`")),
    ("train {data} --model ease --out {out}", "train {data} --config {config} --out {out}", ("by the first process alone", "by all processes")),
    ("--version", "search {data} --model ease", ("`poise search`", "`poise --version`")),
    ("search {data} --model ease", "frobnicate", ("frobnicate", "`poise search`")),
])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_other_commands_on_other_ranks(data, tmp_path, first, second, said, order):
    """Where one rank works with all and another alone, or ends, nobody waits for the other for ever."""
    (tmp_path / "config.toml").write_text('model = "ease"\n')
    begin = [f"-n {count} {PROGRAM} {line.format(data=data, out=tmp_path / 'model', config=tmp_path / 'config.toml')}".split()
             for count, line in ((2, first), (1, second))]
    parts = [begin[k] for k in order]
    result = subprocess.run(["mpirun", *parts[0], ":", *parts[1]], capture_output=True, text=True, timeout=300, env=environment())
    assert result.returncode == 4, result.stderr
    sentences = [line for line in result.stderr.split("\n") if line.startswith("poise: ")]
    assert len(sentences) == 1 and all(each in sentences[0] for each in said), result.stderr
    assert "start every process with the same command line" in sentences[0]
    assert none_left(data) and none_left(tmp_path) and not (tmp_path / "model").exists()


def test_data_that_differ_between_hosts(data, shop, tmp_path):
    script = on_one_rank(tmp_path, 2, f"{PROGRAM} search {shop} --model ease", f"{PROGRAM} search {data} --model ease")
    result = mpirun(3, program=[script], code=4, mark=tmp_path)
    assert "rank 2 on" in result.sentence and "other data" in result.sentence


def test_kernels_that_differ_between_hosts(data, tmp_path):
    kernels = run("doctor", "--json").json["kernels"]["core"]
    other = "Prescott" if kernels != "Prescott" else "Nehalem"
    there = f"env OPENBLAS_CORETYPE={other} {PROGRAM}"
    script = on_one_rank(tmp_path, 1, f"{there} search {data} --model ease", f"{PROGRAM} search {data} --model ease")
    result = mpirun(2, program=[script], code=4, mark=tmp_path)
    assert "rank 1 on" in result.sentence and kernels in result.sentence and other in result.sentence
    # What is to be compared is shown first.
    script = on_one_rank(tmp_path, 1, f"{there} doctor --json", f"{PROGRAM} doctor --json")
    result = mpirun(2, program=[script], code=4, mark=tmp_path)
    assert [each["kernels"] for each in json.loads(result.out)["mpi"]["ranks"]] == [kernels, other]


@pytest.mark.parametrize("model", [["wmf", "--rank", 5], ["ease"], ["full-rank", "--alpha", 3], ["ease", "--neighbours", 7]], ids=str)
def test_a_full_disk(shop, tmp_path, model):
    """Of the first process, which alone writes: no file may have more than 512 bytes."""
    (tmp_path / "limited.sh").write_text(f'#!/bin/sh\nulimit -f 1\nexec {PROGRAM} "$@"\n')
    (tmp_path / "limited.sh").chmod(0o755)
    script = on_one_rank(tmp_path, 0, f'{tmp_path}/limited.sh "$@"', f'{PROGRAM} "$@"')
    # Shared memory is a file too.
    result = mpirun(3, "train", shop, "--model", *model, "--out", tmp_path / "model", program=[script], code=4, mark=tmp_path, OMPI_MCA_btl="self,tcp")
    assert "model" in result.sentence and not (tmp_path / "model").exists()


def test_an_installation_of_two_versions_on_one_host(data, tmp_path):
    """A program that says another version than its plug-in, on one host, ends all processes."""
    version = run("--version").out.split()[1]
    other = version[:-1] + ("1" if version[-1] == "0" else "0")
    for part in ("bin/poise", "lib/poise/poise_mpi.so"):
        (tmp_path / part).parent.mkdir(parents=True)
        shutil.copy(pathlib.Path(PROGRAM).parent.parent / part, tmp_path / part)
    program = tmp_path / "bin" / "poise"
    program.write_bytes(program.read_bytes().replace(version.encode(), other.encode()))
    script = on_one_rank(tmp_path, 1, f"{tmp_path}/bin/poise search {data} --model ease", f"{PROGRAM} search {data} --model ease")
    sentence = mpirun(3, program=[script], code=4, mark=data).sentence
    assert f"the plug-in is of version {version}" in sentence and "install both together" in sentence


def test_without_the_plugin_several_processes_are_refused(tmp_path):
    (tmp_path / "bin").mkdir()
    alone = shutil.copy(PROGRAM, tmp_path / "bin" / "poise")
    result = subprocess.run([alone, "--version"], env=environment(OMPI_COMM_WORLD_SIZE="4"), capture_output=True, text=True)
    assert result.returncode == 4 and "built without MPI" in result.stderr
    for size in ("1", ""):
        assert subprocess.run([alone, "--version"], env=environment(OMPI_COMM_WORLD_SIZE=size)).returncode == 0


def test_a_launcher_that_mpi_does_not_know_is_refused():
    """Each process would take itself for the only one."""
    result = subprocess.run([PROGRAM, "--version"], env=environment(PMI_RANK="0", PMI_SIZE="4"), capture_output=True, text=True,
                            timeout=900)
    assert result.returncode == 4 and "4 processes were started" in result.stderr and "srun --mpi=pmix" in result.stderr


def opened_when_read(pipe, process):
    """The writing end of a pipe, once somebody reads it."""
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            assert error.errno == errno.ENXIO and process.poll() is None
            time.sleep(0.01)


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_rank_that_is_killed_ends_the_job(tmp_path, number, rank):
    """The first one waits for rows from its pipe, the others for the first."""
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen(["mpirun", "-n", "3", PROGRAM, "prepare", tmp_path / "pipe", "--out", tmp_path / "out"],
                               env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len(left_behind(tmp_path)) < 3 or "runs in the first" not in process.stderr.readline():
        assert process.poll() is None
    pipe = opened_when_read(tmp_path / "pipe", process)  # now the first one has tried that it can write
    os.kill(next(pid for pid in left_behind(tmp_path) if rank_of(pid) == rank), number)
    err = process.communicate(timeout=900)[1]
    os.close(pipe)
    assert process.returncode != 0
    if number == signal.SIGTERM:
        # mpirun may interrupt the first one too, once another has ended the job by force.
        assert process.returncode == 130 and err.count("poise: interrupted") in ([1] if rank == 0 else [1, 2])
    assert none_left(tmp_path)
    assert not (tmp_path / "out").exists()
