"""Four hosts, made of network namespaces with TCP between them, one of which is lost in the middle of training."""
import pytest

from conftest import HANG, PROGRAM, mpirun, none_left, run
from hosts import hosts_or_skip
from test_dense import WEIGHTED, metrics
from test_faults import LONG, MODELS, demo, sentences, wait_for  # noqa: F401


def lose(hosts, which, lost):
    hosts.kill(which) if lost == "killed" else hosts.cut_off(which)


def check_sentence(hosts, which, lost, error):
    if lost == "killed":
        assert "daemon" in error or sentences(error), error  # mpirun says so, in words of its own
    else:
        assert [line for line in sentences(error) if f"rank {which} on {hosts.names[which]} has been silent" in line], error


@pytest.mark.parametrize("lost", ["killed", "cut off"])
def test_a_lost_host_ends_the_job_and_the_next_run_goes_on(demo, tmp_path, lost):  # noqa: F811
    model = ["train", demo, *MODELS["wmf"], *LONG, "--threads", 1]
    run(*model, "--out", tmp_path / "wanted")
    command = [PROGRAM, *model, "--out", tmp_path / "model", "--checkpoint", tmp_path / "rounds", "--rank-timeout", 3]
    with hosts_or_skip(4, tmp_path) as hosts:
        process = hosts.begin([0, 1, 2, 3], *command)
        wait_for((tmp_path / "rounds" / "rounds.part").exists, process)
        lose(hosts, 3, lost)
        error = process.communicate(timeout=HANG)[1]
        assert process.returncode != 0 and not (tmp_path / "model").exists()
        check_sentence(hosts, 3, lost, error)
        assert none_left(tmp_path), [hosts.processes(k) for k in range(4)]
        process = hosts.begin([0, 1, 2], *command)
        error = process.communicate(timeout=HANG)[1]
        assert process.returncode == 0, error
        assert "rounds were in" in error
    assert (tmp_path / "model").read_bytes() == (tmp_path / "wanted").read_bytes()


@pytest.mark.parametrize("lost", ["killed", "cut off"])
def test_a_dense_model_goes_on_after_a_lost_host(demo, tmp_path, lost):  # noqa: F811
    """From the inverse of four hosts to the promise of three."""
    model = ["train", demo, "--model", "ease", *WEIGHTED, "--threads", 1]
    run(*model, "--out", tmp_path / "alone")
    command = [PROGRAM, *model, "--out", tmp_path / "model", "--checkpoint", tmp_path / "parts", "--rank-timeout", 3]
    last = tmp_path / "parts" / "inverse32-0000000512.part"
    with hosts_or_skip(4, tmp_path) as hosts:
        process = hosts.begin([0, 1, 2, 3], *command)
        wait_for(last.exists, process)
        lose(hosts, 3, lost)
        error = process.communicate(timeout=HANG)[1]
        assert process.returncode != 0 and not (tmp_path / "model").exists()
        check_sentence(hosts, 3, lost, error)
        assert none_left(tmp_path), [hosts.processes(k) for k in range(4)]
        assert last.exists()
        process = hosts.begin([0, 1, 2], *command)
        error = process.communicate(timeout=HANG)[1]
        assert process.returncode == 0, error
        assert "were in" in error
    assert run("certify", tmp_path / "model", demo, "--json").json["certificate"]["worst_column"] <= 1e-6
    wanted = metrics(tmp_path / "alone", demo)
    for name, mean in metrics(tmp_path / "model", demo).items():
        assert abs(mean - wanted[name]) <= 1e-6


@pytest.mark.parametrize("model", [["full-rank", *WEIGHTED], ["ease", "--lambda", 20]], ids=lambda each: each[0])
def test_a_dense_model_of_hosts_with_two_processes_each(demo, tmp_path, model):  # noqa: F811
    """Rows of A^-1 that lie on the host and rows that come from the other one: the bytes of four processes of one host."""
    command = ["train", demo, "--model", *model, "--threads", 1, "--out"]
    mpirun(4, *command, tmp_path / "wanted", mark=tmp_path)
    with hosts_or_skip(2, tmp_path) as hosts:
        process = hosts.begin([0, 0, 1, 1], PROGRAM, *command, tmp_path / "model")
        error = process.communicate(timeout=HANG)[1]
        assert process.returncode == 0, error
    assert (tmp_path / "model").read_bytes() == (tmp_path / "wanted").read_bytes()
